"""Verdicts of traces of random kernels that overflow, underflow and give NaN, held against what
`lift` gives of every line and against 1,200 bits of mpmath; what is done is kept.

    python -m tests.diagnosis.headline_survey FOLDER FIRST LAST

A kernel has one operation a line, so that its lines' numbers, stored by a second kernel, say what
happened where. What a seed was found to say wrongly is in FOLDER/seed_N.json as soon as it is done.
"""

from __future__ import annotations

import math
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import mpmath
import numpy as np

from sciprec import lift, trace
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.traces import Trace
from tests.diagnosis.kept_seeds import kept
from tests.oracles.reals import real_kernel
from tests.random_kernels.trials import kernel_in

ARITHMETICS = (
    "fp16", "e5m2", "float:p=8,emin=-14,emax=15,overflow=saturate", "e4m3fn", "bf16",
    "float:p=13,emin=-20,emax=21,round=rz",
)  # fmt: skip
FORMS = (
    *(3 * ("{} * {}", "{} / {}")), *(2 * ("{} + {}", "{} - {}", "math.sqrt({})")), "math.exp({})",
    "math.exp(-{})", "math.log({})", "math.asin({})", "math.log1p({})",
)  # fmt: skip
PLAIN = {
    "math": SimpleNamespace(sqrt=np.sqrt, exp=np.exp, log=np.log, asin=np.arcsin, log1p=np.log1p)
}
ELEMENTS = 6
_DIGITS = 1e-9
"""How exactly exact values are known to a trace, of functions' sums and differences."""


@dataclass(frozen=True)
class Case:
    """A kernel, and what its lines give.

    Attributes:
        first: absolute number of its first line.
        text: of every line.
        args: of the kernel; x may have other zeros in `out`.
        tested, exact, plain: (lines, elements), in the arithmetic, by reals, and each operation in
            binary64 of tested operands.
        given: name -> tested operands.
    """

    kernel: object
    backend: str
    first: int
    text: list[str]
    args: tuple
    tested: np.ndarray
    exact: np.ndarray
    plain: np.ndarray
    operands: np.ndarray


def drawn(seed: int, folder: Path) -> Case | None:
    """The case of a seed; None where binary64 cannot follow it."""
    rng, backend = np.random.default_rng(seed), ARITHMETICS[seed % len(ARITHMETICS)]
    number_format = resolve_backend(backend).compute.format
    known, forms = ["x[i]", "y[i]"], []
    for n in range(int(rng.integers(3, 7))):
        form = str(rng.choice(FORMS))
        names = [str(rng.choice(known[-4:])) for _ in range(form.count("{}"))]
        forms.append(form.format(*names))
        known.append(f"v{n}")
    lines = [f"        v{n} = {form}" for n, form in enumerate(forms)]
    head = "import math\n\n\ndef kernel(x, y, out):\n    for i in range(x.size):\n"
    last = f"v{len(forms) - 1}"
    kernel = kernel_in("\n".join([head[:-1], *lines, f"        out[i] = {last}\n"]), folder)
    stored = [line for n, one in enumerate(lines) for line in (one, f"        out[{n}, i] = v{n}")]
    every = kernel_in("\n".join([head[:-1], *stored]) + "\n", folder)
    wide = rng.uniform(-0.8, 0.8, 2) * math.log2(number_format.max_finite)
    x, y = (
        2.0 ** (w + rng.uniform(-3.0, 3.0, ELEMENTS)) * rng.choice([1.0, 1.0, -1.0], ELEMENTS)
        for w in wide
    )
    if rng.random() < 0.3:  # some do not fit
        x[rng.integers(ELEMENTS)] *= 4.0 * number_format.max_finite
    shape = len(forms), ELEMENTS
    tested, entered = np.zeros(shape), np.zeros((2, ELEMENTS))
    lift(every, backend)(x, y, tested)
    for value, into in zip((x, y), entered, strict=True):
        lift(copied, backend)(value, into)
    if _is_beyond(forms, x, y):
        return None
    exact = real_kernel(every)((x, y, np.zeros(shape)))[1][2]
    plain, whole = np.zeros(shape), np.ones(shape, bool)
    names = {"x": entered[0], "y": entered[1]} | {f"v{n}": t for n, t in enumerate(tested)}
    for n, form in enumerate(forms):
        used = {k: v for k, v in names.items() if re.search(rf"\b{k}\b", form)}
        for i in range(ELEMENTS):
            own = {k: np.float64(v[i]) for k, v in used.items()}
            whole[n, i] = all(map(np.isfinite, own.values()))
            with np.errstate(all="ignore"):
                plain[n, i] = eval(re.sub(r"\[i\]", "", form), PLAIN | own)
    case = Case(kernel, backend, 4, forms, (x, y, np.zeros(ELEMENTS)), tested, exact, plain, whole)
    return case if _can_be_followed(case) else None


def _is_beyond(forms: list[str], x: np.ndarray, y: np.ndarray) -> bool:
    """Whether a number leaves the range of binary64, or nearly."""
    known = {"x": x, "y": y}
    for n, form in enumerate(forms):
        with np.errstate(all="ignore"):
            known[f"v{n}"] = eval(re.sub(r"\[i\]", "", form), PLAIN | known)
        if np.any(abs(known[f"v{n}"]) > 1e250):
            return True
    return False


def copied(x, out):
    for i in range(x.size):
        out[i] = x[i]


def _can_be_followed(case: Case) -> bool:
    """Whether pairs of binary64 numbers hold exact values, and their differences are known."""
    for n, form in enumerate(case.text):
        for i, value in enumerate(case.exact[n]):
            if mpmath.isfinite(value) and value != 0 and not 1e-250 < abs(value) < 1e250:
                return False
            if not re.search(r"[+-] |log|asin", form):
                continue
            names = re.findall(r"v(\d+)", form)
            sizes = [abs(case.exact[int(m)][i]) for m in names]
            sizes += [abs(v[i]) for k, v in zip("xy", case.args, strict=False) if k in form]
            near = [s for s in sizes if mpmath.isfinite(s)]
            if near and 0 <= abs(value) < _DIGITS * max(near):
                return False
            if "log" in form or "asin" in form:
                if any(abs(s - 1) < 1e-3 for s in near):
                    return False
    return True


def wrong(case: Case) -> list[str]:
    """What a trace says of a case that is not so."""
    found = trace(case.kernel, case.backend, case.args, samples=1)
    return _Held(case, found).faults


class _Held:
    """A trace, sentence by sentence."""

    def __init__(self, case: Case, found: Trace) -> None:
        self.case, self.found, self.faults = case, found, []
        self.fmt = resolve_backend(case.backend).compute.format
        self.tested = case.tested[-1]
        self.exact = np.array([_number(v) for v in case.exact[-1]])
        if "Exact values cannot be followed here" in found.verdict:
            return  # nothing is said of errors
        self._counts()
        self._events()
        self._verdict(found.verdict)

    def _hold(self, condition: bool, what: str) -> None:
        if not condition:
            self.faults.append(f"{what} | {self.found.verdict}")

    def _counts(self) -> None:
        found, t, e = self.found.outcome, np.isfinite(self.tested), np.isfinite(self.exact)
        self.lost = e & ~t
        self._hold(found.lost == self.lost.sum(), f"{found.lost} lost, {self.lost.sum()} are")
        self._hold(found.endless == (~e).sum(), f"{found.endless} endless, {(~e).sum()} are")
        both = t & e
        exact = self._of(both)
        with mpmath.workprec(400):
            errors = [mpmath.mpf(a) - b for a, b in zip(self.tested[both], exact, strict=True)]
            size = mpmath.norm(exact) if both.any() else mpmath.mpf(0)
            error = mpmath.norm(errors) if both.any() else mpmath.mpf(0)
            self.error = float(error / size if size else error)
        told = found.relative["out"]
        near = abs(told - self.error) <= 1e-6 * self.error + 1e-12
        self._hold(near, f"error {self.error:.6g}, told {told:.6g}")
        shares = [line.share for line in self.found.lines]
        self._hold(bool(np.isfinite(shares).all()), "a share that is no number")
        total = sum(shares)
        self._hold(abs(total) < 1e-6 or abs(total - 1.0) < 1e-5, f"shares add up to {total:.6g}")
        self._hold("nan" not in repr(self.found).split("\n", 1)[-1], "nan in the table")

    def _of(self, where: np.ndarray) -> list:
        return [v for v, w in zip(self.case.exact[-1], where, strict=True) if w]

    def _is(self, kind: str, n: int) -> np.ndarray:
        """Elements in which a line has an event."""
        case, t = self.case, self.case.tested[n]
        beyond = abs(case.plain[n]) > self.fmt.max_finite
        made = {
            "NaN": np.isnan(t), "infinity": np.isinf(t),
            "saturation": np.isfinite(t) & beyond,
            "underflow to zero": (t == 0.0) & (case.plain[n] != 0.0) & ~np.isnan(case.plain[n]),
        }  # fmt: skip
        return made[kind] & case.operands[n]

    def _events(self) -> None:
        for kind in ("NaN", "infinity", "saturation", "underflow to zero"):
            told = {e.line: e for e in self.found.events if e.kind == kind and not e.argument}
            for n in range(len(self.case.text)):
                event, own = told.get(self._line(n)), self._is(kind, n)
                count = 0 if event is None else event.count
                self._hold(count == own.sum(), f"{kind} {count} times in line {n}, {own.sum()} are")
                if event is not None and own.any():
                    self._hold(event.index == f"i = {np.argmax(own)}", f"{kind} at {event.index}")

    def _line(self, n: int) -> int:
        return self.case.first + 2 + n

    def _verdict(self, said: str) -> None:
        t, u = self.tested, self.fmt.unit_roundoff
        is_lost = re.search(r"gives (NaN|an infinity) first in (line (\d+)|argument (\w))", said)
        self._hold(bool(is_lost) or not self.lost.any(), "lost numbers are not the verdict")
        if is_lost and is_lost[3]:
            self._lost("NaN" if is_lost[1] == "NaN" else "infinity", int(is_lost[3]), said)
        elif is_lost:
            given = self.case.args["xy".index(is_lost[4])]
            self._hold(bool((abs(given) > self.fmt.max_finite).any()), "an argument that fits")
        if "makes no error" in said:
            self._hold(self.error < 1e-12 and not self.lost.any(), "there is an error")
        if match := re.search(r"gives no finite number in (\d) of 6 numbers", said):
            self._hold(int(match[1]) == (~np.isfinite(self.exact)).sum(), "another count")
        elif "Exact arithmetic gives no finite number" in said:
            self._hold(not np.isfinite(self.exact).any(), "there are exact numbers")
        if match := re.search(r"is ([\d.e+-]+), ([\d.]+) roundings", said):
            self._hold(_close(float(match[1]), self.error), "another error")
            self._hold(float(match[2]) < 8.05, "many roundings")
        if match := re.search(r"in \S+, ([\d.e+-]+), becomes large in line (\d+)", said):
            self._hold(_close(float(match[1]), self.error), "another error")
        if match := re.search(r"(underflows to zero|saturates) first in line (\d+)", said):
            kind = "saturation" if match[1] == "saturates" else "underflow to zero"
            self._hold(bool(self._is(kind, int(match[2]) - self._line(0)).any()), "no such event")
        if "counts as none" in said:
            self._hold(self.error < u * 2.0**-9, "an error that is none")
        if match := re.search(r"hides that out\[(\d)\] is (\S+) for (\S+)\.$", said):
            i = int(match[1])
            self._hold(_close(float(match[2]), t[i], 1e-5), "another number")
            self._hold(_close(float(match[3]), self.exact[i], 1e-5), "another exact number")

    def _lost(self, kind: str, line: int, said: str) -> None:
        n = line - self._line(0)
        own = self._is(kind, n)
        if not self._hold_any(own, "no such event in that line"):
            return
        i = int(np.argmax(own))
        self._hold(f"at i = {i}:" in said, f"first at {i}")
        wrong = self.lost if self.lost.any() else ~np.isfinite(self.exact) | (
            abs(self.tested - self.exact) > 0)  # fmt: skip
        self._hold(bool((own & wrong).any()), "no lost number has that event")
        value = _number(self.case.exact[n][i])
        if "exact operands give it, too (the format" in said:
            beyond = math.isfinite(value) and abs(value) > 0.99 * self.fmt.max_finite
            self._hold(beyond, "exact operands do not")
        elif "exact operands give it, too" in said:
            self._hold(not math.isfinite(value), "exact operands give a number")
        elif match := re.search(r"the cause is .*?line (\d+)", said):
            self._hold(int(match[1]) < line, "a cause that comes later")

    def _hold_any(self, where: np.ndarray, what: str) -> bool:
        self._hold(bool(where.any()), what)
        return bool(where.any())


def _number(value) -> float:
    return float(value) if mpmath.isfinite(value) else math.nan


def _close(told: float, value: float, digits: float = 0.06) -> bool:
    return abs(told - value) <= digits * abs(value) + 1e-15


def surveyed(seed: int) -> dict[str, object]:
    """Whether a seed's kernel can be followed, and what is said wrongly of it."""
    with tempfile.TemporaryDirectory() as folder:
        case = drawn(seed, Path(folder))
        return {"followed": case is not None, "faults": [] if case is None else wrong(case)}


def survey(folder: Path, first: int, last: int) -> dict[str, int | list[int]]:
    """Run every seed that the folder does not hold yet; the sum over all that it holds."""
    every = kept(folder, range(first, last), surveyed)
    return {
        "kernels": sum(one["followed"] for one in every),
        "wrong": [one["seed"] for one in every if one["faults"]],
    }


if __name__ == "__main__":
    print(survey(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
