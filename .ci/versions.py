#!/usr/bin/env python3
"""Whether sciprec works with the oldest versions that it says, or with the newest that there are.

    python3 .ci/versions.py floors [FOLDER]    every dependency as pyproject.toml says at least
    python3 .ci/versions.py newest [FOLDER]    whatever pip installs today

Makes a virtual environment in FOLDER (a new one that is removed afterwards), installs sciprec into
it, lifts a kernel into some arithmetics and holds the results to NumPy's numbers of that format and
to fractions, asks every verb for its help, and runs the quickstart. Some three minutes.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("floors", "newest")

KERNEL = """
def kernel(x, w, out):
    s = 0.0
    for i in range(x.size):
        s += x[i] * w[i]
        out[i] = (x[i] - w[i]) / (1.0 + x[i] * x[i])
    return s
"""
LIFT = """
import math
from fractions import Fraction

import numpy as np

import sciprec
from kernel import kernel


def in_format(x, w, number):
    s, left = number(0), []
    for a, b in zip(map(number, x), map(number, w)):
        s = s + a * b
        left.append((a - b) / (number(1) + a * a))
    return float(s), [float(value) for value in left]


class Truncated:  # 24 bits, rounded toward zero, far from both ends of the range
    def __init__(self, value):
        exact = Fraction(value)
        self.value = exact
        if exact:
            unit = Fraction(2) ** (math.frexp(float(exact))[1] - 24)
            self.value = math.trunc(exact / unit) * unit

    def __add__(self, other):
        return Truncated(self.value + other.value)

    def __sub__(self, other):
        return Truncated(self.value - other.value)

    def __mul__(self, other):
        return Truncated(self.value * other.value)

    def __truediv__(self, other):
        return Truncated(self.value / other.value)

    def __float__(self):
        return float(self.value)


rng = np.random.default_rng(1)
x, w = (rng.integers(64, 192, 40) / 64.0 for _ in range(2))
numbers = {"fp64": float, "fp32": np.float32, "fp16": np.float16,
           "float:p=24,round=rz": Truncated}
for name, number in numbers.items():
    out = np.zeros(x.size)
    result = sciprec.lift(kernel, name)(x.copy(), w.copy(), out)
    assert (float(result), list(out)) == in_format(x, w, number), name
    print(f"lift into {name}: every bit as expected", flush=True)
"""
HELP = """
from typer.main import get_command
from sciprec.cli.commands import app


def verbs(command, before=()):
    yield before
    for name, below in getattr(command, "commands", {}).items():
        yield from verbs(below, (*before, name))


for words in verbs(get_command(app)):
    try:
        app([*words, "--help"])
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


def floors() -> list[str]:
    """Every dependency in the oldest version that pyproject.toml takes."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.sub(r">=", "==", dependency) for dependency in told["dependencies"]]


def check(kind: str, folder: Path) -> None:
    """Install and run everything in a folder; CalledProcessError where something fails."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (folder / "versions.txt").write_text("\n".join(floors() if kind == "floors" else []))
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    environment["SCIPREC_CACHE_DIR"] = str(folder / "cache")

    def run(*words: str, **how) -> None:
        command = [str(python), *words]
        subprocess.run(command, cwd=folder, env=environment, check=True, **how)

    run("-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--constraint", "versions.txt", str(ROOT))  # fmt: skip
    names = [re.split(r"[=<>]", one)[0] for one in floors()]
    run("-c", "import sys, importlib.metadata as of; print('installed:', *(f'{n} {of.version(n)}' "
        "for n in sys.argv[1:]), sep='\\n  ', flush=True)", *names, "llvmlite")  # fmt: skip
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "lifts.py").write_text(textwrap.dedent(LIFT))
    run("lifts.py")
    (folder / "helps.py").write_text(HELP)
    run("helps.py", stdout=subprocess.DEVNULL)
    run("-m", "sciprec", "quickstart", "--out", "page", "--quiet")
    if not (folder / "page" / "index.html").is_file():
        raise FileNotFoundError(f"the quickstart wrote no page into {folder / 'page'}")


def main(words: list[str]) -> int:
    """An exit code: 0 all well, 1 something failed, whose own words stand above, 2 bad words."""
    if not 1 <= len(words) <= 2 or words[0] not in KINDS:
        given = " ".join(words)
        print(f"versions: given '{given}'; accepted: floors or newest, then a folder or nothing",
              file=sys.stderr)  # fmt: skip
        return 2
    kind = words[0]
    with tempfile.TemporaryDirectory(prefix="sciprec-versions-") as place:
        folder = Path(words[1] if len(words) == 2 else place).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            check(kind, folder)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            print(f"versions: {kind}: {error}", file=sys.stderr)
            return 1
    print(f"versions: {kind}: all well")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
