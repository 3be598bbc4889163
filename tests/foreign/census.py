"""Offer every kernel of foreign packages to `lift`: how many are accepted, and what refuses others.

    python -m pip install --no-deps --target FOLDER -r tests/foreign/requirements.txt
    python -m tests.foreign.census FOLDER REPORT [PACKAGE ...]

Without packages, those of `requirements.txt`. Where SCIPREC_NPBENCH names a folder with NPBench's
files, its Numba kernels are offered, too. REPORT is a page of Markdown; beside it, with the ending
`.json`, lies what became of each kernel.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path

SECONDS, BYTES, SECONDS_OF_PACKAGE = 20, 8 << 30, 1800
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
NPBENCH = "SCIPREC_NPBENCH"
BESIDE = "beside"
"""The words of requirements on a package that others import, and that is not offered itself."""
LEFT_OUT = ("clifford", "numba_stats")
"""Packages that count apart: kernels around objects and around scipy's compiled functions."""
FIRST = (
    "hapsira", "quantecon", "umap", "stumpy", "numbagg", "interpolation", "tslearn", "pymatting",
    "numbacs", "arch", "librosa", "pynndescent",
)  # fmt: skip
OUTCOMES = ("accepted", "refused", "crashed")
_HEAD = """# Kernels of other people

Made by `python -m tests.foreign.census`, which imports every module of the packages in
`tests/foreign/requirements.txt` and offers each function that they give to Numba's `jit`, `njit`,
`vectorize` or `guvectorize` to `sciprec.lift(kernel, "fp64")`. Accepted means that the function and
all that it calls were rewritten, operation by operation; types are not known there, so that
compiling may still refuse arguments. Each kernel has {seconds} s, each package {gigabytes} GB.
Kernels of `npbench` are those of files `*_numba_n.py` in the folder that `SCIPREC_NPBENCH` names.

{date}, sciprec {version}, Numba {numba}: of {count} kernels of {packages} packages {whole:.1%} are
accepted; without {left_out} {share:.1%} of {usual}. Of the first projects that were looked
at, {first}, {first_share:.1%} of {first_count}.
"""
Row = tuple[str, str, str, str]  # package, kernel, outcome, words


def offer(folder: str, package: str) -> None:
    """Lift every kernel of a package, and print a line of JSON for each."""
    import sciprec
    from tests.foreign.collecting import kernels_of

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    sys.path.insert(1, folder)
    signal.signal(signal.SIGALRM, _too_long)
    for name, kernel in kernels_of(package):
        signal.alarm(SECONDS)
        try:
            sciprec.lift(kernel, "fp64")
            outcome, words = "accepted", ""
        except sciprec.LiftError as error:
            outcome, words = "refused", str(error)
        except Exception as error:
            outcome, words = "crashed", f"{type(error).__name__}: {error}"
        signal.alarm(0)
        print("ROW", json.dumps([package, name, outcome, words]), flush=True)


def _too_long(number, frame):
    raise TimeoutError(f"lifting takes more than {SECONDS} s")


def rows_of(folder: str, package: str) -> list[Row]:
    """The fate of every kernel of a package, found by a process of its own."""
    command = [sys.executable, "-m", "tests.foreign.census", "--offer", folder, package]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_OF_PACKAGE)
        text, ended = done.stdout, f"exit {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        text, ended = (late.stdout or b"").decode(), f"more than {SECONDS_OF_PACKAGE} s"
    rows: list[Row] = [
        tuple(json.loads(line[4:])) for line in text.splitlines() if line.startswith("ROW ")
    ]
    return rows + ([(package, "the rest", "crashed", ended)] if ended else [])


def packages_required() -> list[str]:
    """The names by which the packages of the requirements are imported."""
    lines = [line.split("#") for line in REQUIREMENTS.read_text().splitlines() if line.strip()]
    names = [(more[0] if more else name.split("==")[0]).strip() for name, *more in lines]
    return [name for name in names if name != BESIDE]


def construct_of(words: str) -> str:
    """The construct that a refusal names, without the names of the kernel."""
    found = re.search(r"\): (.+?) cannot be lifted", words)
    named = found[1] if found else re.sub(r"'[^']*'", "'...'", words)
    return re.sub(r"^'[^']*', (an? \w+),$", r"a constant, \1", named)[:80]


def report(rows: list[Row]) -> str:
    """The page."""
    import numba

    import sciprec

    usual = [r for r in rows if r[0] not in LEFT_OUT]
    first = [r for r in rows if r[0] in FIRST]
    whole, share, first_share = (
        sum(r[2] == "accepted" for r in some) / max(len(some), 1) for some in (rows, usual, first)
    )
    table = ["| package | " + " | ".join(OUTCOMES) + " |", "|---|---|---|---|"]
    for package in dict.fromkeys(r[0] for r in rows):
        counts = Counter(r[2] for r in rows if r[0] == package)
        table.append(f"| {package} | " + " | ".join(str(counts[o]) for o in OUTCOMES) + " |")
    total = Counter(r[2] for r in rows)
    table.append("| all | " + " | ".join(str(total[o]) for o in OUTCOMES) + " |")
    reasons = ["| refused by | kernels | packages |", "|---|---|---|"]
    found = Counter(construct_of(r[3]) for r in rows if r[2] == "refused")
    for construct, count in found.most_common(40):
        packages = {r[0] for r in rows if r[2] == "refused" and construct_of(r[3]) == construct}
        text = construct.replace("|", "\\|")
        reasons.append(f"| {text} | {count} | {', '.join(sorted(packages)[:3])} |")
    reasons.append(f"| {max(len(found) - 40, 0)} others | "
                   f"{sum(c for _, c in found.most_common()[40:])} | |")  # fmt: skip
    head = _HEAD.format(
        date=date.today(), version=sciprec.__version__, numba=numba.__version__, seconds=SECONDS,
        gigabytes=BYTES >> 30, count=len(rows), packages=len({r[0] for r in rows}), whole=whole,
        left_out=" and ".join(LEFT_OUT), share=share, usual=len(usual),
        first=", ".join(FIRST), first_share=first_share, first_count=len(first),
    )  # fmt: skip
    return "\n".join([
        head,
        *table, "", "What refuses the others, by the construct that comes first:", "", *reasons, "",
    ])  # fmt: skip


def main(arguments: list[str]) -> None:
    """Run the census, or offer one package."""
    if arguments[0] == "--offer":
        offer(*arguments[1:])
        return
    folder, page, *packages = arguments
    packages = packages or packages_required()
    if NPBENCH in os.environ:
        packages.append(os.environ[NPBENCH])
    rows: list[Row] = []
    for package in packages:
        found = rows_of(folder, package)
        print(package, dict(Counter(r[2] for r in found)), flush=True)
        rows += [(Path(package).name, *r[1:]) for r in found]
    Path(page).write_text(report(rows))
    Path(page).with_suffix(".json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
