"""Foreign kernels on arguments found by trial: lifted to fp64 beside the original, and in narrow
arithmetics beside fp64.

    python -m tests.foreign.running FOLDER REPORT SECONDS PACKAGE ...

A kernel takes part if it runs in plain Python on some arguments of `arguments.candidates`, and
gives or writes finite numbers. In fp64 its lifted form has to have the original's bits; where it
has not, its source on exact scalars has to have the lifted form's (the documented differences:
sums in another order, and elementary functions, which are rounded once or, in a second twin, the
engine's own, each within a unit in the last place). In a narrow arithmetic with unit roundoff u
(2 u toward zero) the largest error relative to the largest number of a result is held against u
times the measured condition: how much more the fp64 result changes, relatively, than arguments
that are changed by 2^-30; kernels whose numbers leave fp32's range are left out. REPORT is a page
of Markdown, SECONDS the time of one package.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

BACKENDS = ("fp32", "mlu370", "bf16", "float:p=14,round=rz")
CHANGE, MULTIPLE = 2.0**-30, 64
SECONDS, BYTES = 60, 8 << 30


def numbers_of(value: Any) -> list[np.ndarray]:
    """The arrays of numbers in a result, in order."""
    if isinstance(value, (tuple, list)):
        return [a for item in value for a in numbers_of(item)]
    if value is None or isinstance(value, str):
        return []
    array = np.asarray(value)
    return [array] if array.dtype.kind in "fiub" else []


def count_of(arguments: list[Any]) -> int:
    """How many arrays of numbers there are in arguments."""
    return len(numbers_of(arguments))


def outcome(run, arguments: list[Any]) -> list[np.ndarray]:
    """The result of a call, and what it leaves in its arguments."""
    given = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    with np.errstate(all="ignore"):
        result = run(*given)
    return [np.array(a) for a in numbers_of([result, *given])]


def arguments_of(function) -> list[Any] | None:
    """Arguments on which a kernel runs in plain Python, to finite numbers of its own."""
    from tests.foreign.arguments import candidates

    for arguments in candidates(function):
        try:
            found = outcome(function, arguments)
        except (TimeoutError, MemoryError):
            raise
        except BaseException:
            continue
        given = [None] * (len(found) - count_of(arguments)) + numbers_of(arguments)
        own = [
            a for a, before in zip(found, given, strict=True)
            if a.dtype.kind == "f" and (before is None or not same([a], [before]))
        ]  # fmt: skip
        if own and all(a.size and np.all(np.isfinite(a)) for a in own):
            return arguments
    return None


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Whether two outcomes are equal to the last bit."""
    return len(one) == len(other) and all(
        a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(one, other, strict=True)
    )


def distance(found: list[np.ndarray], truth: list[np.ndarray]) -> float:
    """The largest error of an array relative to its largest number; infinity where integers or
    shapes differ, or a number is none.
    """
    worst = 0.0
    for a, b in zip(found, truth, strict=True):
        if a.shape != b.shape:
            return np.inf
        if b.dtype.kind != "f":
            worst = max(worst, 0.0 if np.array_equal(a, b) else np.inf)
        elif b.size:
            error, scale = np.max(np.abs(np.float64(a) - b)), np.max(np.abs(b))
            if not np.all(np.isfinite(a)):
                return np.inf
            worst = max(worst, float(error / scale) if scale else float(np.inf if error else 0))
    return worst


def changed(arguments: list[Any], seed: int) -> list[Any]:
    """Arguments whose floating-point numbers are changed by about CHANGE, relatively."""
    rng = np.random.default_rng(seed)

    def one(a: Any) -> Any:
        floating = isinstance(a, float) or isinstance(a, np.ndarray) and a.dtype.kind == "f"
        return a * (1 + CHANGE * rng.choice([-1.0, 1.0], np.shape(a))) if floating else a

    return [one(a) for a in arguments]


def rounded(arguments: list[Any], backend: str) -> list[Any]:
    """Arguments that are numbers of a backend."""
    import sciprec

    def one(a: Any) -> Any:
        floating = isinstance(a, float) or isinstance(a, np.ndarray) and a.dtype.kind == "f"
        if not floating:
            return a
        kept = sciprec.quantize(np.atleast_1d(np.float64(a)), backend)
        return kept if isinstance(a, np.ndarray) else float(kept[0])

    return [one(a) for a in arguments]


def examined(kernel, function, backends=BACKENDS) -> dict | None:
    """Results of a kernel in fp64 and in narrow arithmetics; None where no arguments are found."""
    import numba

    import sciprec

    try:
        lifted = sciprec.lift(function)
    except sciprec.LiftError:
        return None
    arguments = arguments_of(function)
    if arguments is None:
        return None
    native = numba.njit(error_model="numpy")(function)
    try:
        original = outcome(native, arguments)
    except (TimeoutError, MemoryError):
        raise
    except Exception:
        return None
    truth = outcome(lifted, arguments)
    row: dict = {"fp64": "equal" if same(truth, original) else "differs"}
    if row["fp64"] == "differs":
        row["distance"] = distance(truth, original)
        narrow = [t.astype(o.dtype) for t, o in zip(truth, original, strict=False)]
        if same(narrow, original):
            row |= {"fp64": "equal in float32"}
        else:
            row |= proof(function, truth, arguments)
    return row | beside_fp64(function, lifted, arguments, backends)


def proof(function, truth: list[np.ndarray], arguments: list[Any]) -> dict[str, str]:
    """How twins in binary64 have the lifted form's bits, or why they have not."""
    import sciprec
    from sciprec.precision import resolve_backend
    from tests.foreign.own_functions import OwnFunctions
    from tests.oracles.twin import Twin, run_twin

    backend, row = resolve_backend("fp64"), {"fp64": "differs"}
    for kind, said in ((Twin, "proved"), (OwnFunctions, "proved, functions within an ulp")):
        try:
            exact = outcome(lambda *a, k=kind: run_twin(function, backend, a, k), arguments)
            if same(truth, exact):
                return {"fp64": said}
        except TimeoutError:
            raise
        except BaseException as error:
            row["twin"] = f"{type(error).__name__}: {error}"[:200]
    every = sciprec.check_memory(function, "fp64", tuple(arguments)).findings
    found = [one for one in every if one.kind != "integer overflow"]  # the same in each run
    if found:
        return {"fp64": "gives what it has not written", "words": str(found[0])}
    return row


def beside_fp64(function, lifted, arguments: list[Any], backends=BACKENDS) -> dict[str, float]:
    """Errors in narrow arithmetics over u times the measured condition, as far as the kernel raises
    nothing of its own there (an iteration that does not converge).
    """
    import sciprec
    from sciprec.precision import resolve_backend

    row: dict[str, float] = {}
    for backend in backends:
        given = rounded(arguments, backend)
        reference = outcome(lifted, given)
        moves = [distance(outcome(lifted, changed(given, s)), reference) for s in range(4)]
        condition = max([1.0, *(m / CHANGE for m in moves if m < np.inf)])
        unit = float(resolve_backend(backend).compute.rounding_error)
        try:
            found = outcome(sciprec.lift(function, backend), given)
        except (sciprec.LiftError, TimeoutError, MemoryError):
            raise
        except Exception:
            row["raises"] = row.get("raises", 0) + 1
            continue
        floats = [a for a in found if a.dtype.kind == "f"]
        if backend == "fp32" and not all(np.all(np.isfinite(a)) for a in floats):
            return {"range": np.inf}
        row[backend] = distance(found, reference) / (unit * condition)
    return row


def run(folder: str, package: str, first: str, *backends: str) -> None:
    """Examine the kernels of a package from a number on, a line of JSON for each."""
    from tests.foreign.collecting import function_of, kernels_of

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    sys.path.insert(1, folder)
    signal.signal(signal.SIGPROF, _too_long)
    for number, (name, kernel) in enumerate(list(kernels_of(package))):
        if number < int(first):
            continue
        print("AT", number, flush=True)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            row = examined(kernel, function_of(kernel), backends)
        except BaseException as error:
            row = {"fp64": "failed", "words": f"{type(error).__name__}: {error}"[:400]}
        signal.setitimer(signal.ITIMER_PROF, 0)
        if row is not None:
            print("ROW", json.dumps([package, name, row]), flush=True)


def _too_long(number, frame):
    raise TimeoutError(f"more than {SECONDS} s of processor time")


def rows_of(folder: str, package: str, seconds: float, backends=BACKENDS) -> list[list]:
    """The rows of a package; a kernel that ends its process is left behind by the next one."""
    rows, first = [], 0
    while True:
        command = [sys.executable, "-m", "tests.foreign.running", "--run", folder, package]
        try:
            done = subprocess.run(
                [*command, str(first), *backends], capture_output=True, text=True, timeout=seconds
            )
            text, ended = done.stdout, done.returncode
        except subprocess.TimeoutExpired as late:
            text, ended = (late.stdout or b"").decode(), 0
        lines = text.splitlines()
        rows += [json.loads(line[4:]) for line in lines if line.startswith("ROW ")]
        places = [int(line[3:]) for line in lines if line.startswith("AT ")]
        if ended == 0 or not places:
            return rows
        first = places[-1] + 1
        rows.append([package, f"number {first - 1}", {"fp64": "ended the process"}])


_HEAD = """# Kernels of other people, run

Made by `python -m tests.foreign.running`: kernels of packages in `tests/foreign/requirements.txt`
that run in plain Python on arguments found by trial (numbers, vectors of 6, matrices of 6 x 6,
integers, indices), to finite numbers; {left_out}

In fp64, beside the original under `numba.njit(error_model="numpy")`: *equal* to the last bit;
*equal in float32* where the kernel names `np.float32`, which in a lifted kernel means its own
numbers, and these are the original's when they are rounded to it; *proved* where the bits differ
and the kernel's source on exact scalars has the lifted form's; *proved, functions within an ulp*
where it has them with the engine's elementary functions, each within a unit in the last place of
the exact value; *gives what it has not written* where elements of `np.empty` are among the results;
*differs* where no such twin could be made. In a narrow arithmetic, the largest
error relative to the largest number of a result over u c: u is the unit roundoff (2^-p, toward
zero 2^(1-p)), c the condition that was measured in fp64 with arguments changed by 2^-30, one at
least. Kernels whose numbers leave fp32's range on these arguments ({left} of them) are not counted
there, nor where they raise an exception of their own, as iterations do that do not converge
({raising} of them).
"""


def report(rows: list[list], left_out: str = "each package had a limited time.") -> str:
    """A page of Markdown."""
    kinds = list(dict.fromkeys(row["fp64"] for _, _, row in rows))
    left, raising = (sum(key in row for _, _, row in rows) for key in ("range", "raises"))
    lines = [_HEAD.format(left_out=left_out, left=left, raising=raising)]
    lines.append(f"| package | {' | '.join(kinds)} |")
    lines.append("|---|" + "---|" * len(kinds))
    for package in [*dict.fromkeys(p for p, _, _ in rows), "all"]:
        counts = Counter(r["fp64"] for p, _, r in rows if package in (p, "all"))
        lines.append(f"| {package} | " + " | ".join(str(counts[k]) for k in kinds) + " |")
    for _, name, row in rows:
        if row["fp64"] != "equal" and not row["fp64"].startswith("proved"):
            words = row.get("words") or f"{row.get('distance', 0):.1e}"
            lines += ["", f"- `{name}` ({row['fp64']}): {words[:160]}"]
    lines += [
        "", "| arithmetic | kernels | median of error / (u c) | largest | "
        f"above {MULTIPLE} | others |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for backend in BACKENDS:
        found = np.array([row[backend] for _, _, row in rows if backend in row])
        finite = found[np.isfinite(found)]
        if finite.size:
            lines.append(
                f"| `{backend}` | {found.size} | {np.median(finite):.2g} | {finite.max():.3g} | "
                f"{np.sum(finite > MULTIPLE)} | {found.size - finite.size} |"
            )
    return "\n".join(lines) + "\n"


def main(arguments: list[str], backends=BACKENDS) -> None:
    """Run packages, or a part of one, in fp64 and in some narrow arithmetics."""
    if arguments[0] == "--run":
        run(*arguments[1:])
        return
    folder, page, seconds, *packages = arguments
    rows: list[list] = []
    for package in packages:
        rows += rows_of(folder, package, float(seconds), backends)
        print(package, Counter(r[2]["fp64"] for r in rows), flush=True)
        Path(page).write_text(report(rows))
        Path(page).with_suffix(".json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
