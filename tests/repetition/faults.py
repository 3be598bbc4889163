"""Seeded faults: programs that leave other bits when they run again, and the same ones mended.

Each is written anew for a seed: names, sizes, and where in the program the fault stands. In a
template `«wrong¦right»` is the line that has to be found. Run as a program this counts how many of
all kinds are found, with the right answer and line, and how many clean programs are blamed. Those
that people spell in many ways are in `spellings`.
"""

from __future__ import annotations

import random
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from sciprec.regression.repetition.circumstances import AGAIN, BLOCKS, MEMORY, ORDER, THREADS
from sciprec.regression.repetition.commands import repeat_command
from sciprec.regression.repetition.kernels import repeat_kernel

_WORDS = ("rain", "wind", "heat", "flux", "mass", "vapour", "cloud", "ice", "salt", "spin")
_CHOICE = re.compile(r"«(.*?)¦(.*?)»", re.DOTALL)
HEAD = """
import glob, os, random, sys, time
import numpy as np
<numba>

"""
NUMBA = "from numba import get_num_threads, njit, prange"


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Args:
        name: of it.
        aspects: answers that are right.
        source: the template.
        command: whether it is a program, else a kernel `f` with `inputs`.
        numba: whether it is compiled.
    """

    name: str
    aspects: tuple[str, ...]
    source: str
    command: bool = False
    numba: bool = False


_INPUTS = """

def inputs():
    rng = np.random.default_rng(<seed>)
    return {"x": rng.standard_normal(<n>) * 10.0 ** rng.integers(-3, 4, <n>)}
"""
_SAVED = """
np.savez(os.path.join(sys.argv[1], "result.npz"), <a>=result)
print("done")
"""

KINDS = (
    Kind("a border never written", (MEMORY,), """
@njit
def f(x):
    <pad>
    <a> = np.empty((x.size, <k> + 2))
    for i in range(x.size):
        for j in range(<k> + 1):
            <a>[i, j] = x[i] + j
    <b> = np.zeros(x.size)
    for i in range(x.size):
        «<b>[i] = <a>[i, <k> + 1] * 0.5¦<b>[i] = <a>[i, <k>] * 0.5»
    return <b>
""", numba=True),
    Kind("a sum in prange", (THREADS, BLOCKS), """
@njit(parallel=True)
def f(x):
    <pad>
    <b> = 0.0
    for i in prange(x.size):
        <a> = x[i] * x[i]
        «<b> += <a> + 0.1¦<b> = max(<b>, <a>)»
    return <b>
""", numba=True),
    Kind("threads that write the same element", (THREADS, BLOCKS), """
@njit(parallel=True)
def f(x):
    <pad>
    <a> = np.zeros(3)
    for i in prange(x.size):
        for j in range(2000):
            «<a>[j % 3] += x[i] * 0.1¦pass»
    return <a>
""", numba=True),
    Kind("a mean of all threads", (THREADS, BLOCKS), """
@njit(parallel=True)
def f(x):
    <pad>
    <a> = x * 0.1 + 1.0
    «<b> = np.mean(<a>) + np.sum(x * <a>)¦<b> = np.max(<a>)»
    return <b>
""", numba=True),
    Kind("as many parts as threads", (THREADS,), """
@njit(parallel=True)
def f(x):
    <pad>
    «parts = get_num_threads()¦parts = <k>»
    <b> = 0.0
    for p in range(parts):
        <a> = 0.0
        for i in range(p, x.size, parts):
            <a> += x[i]
        <b> += <a>
    return <b>
""", numba=True),
    Kind("fastmath", (BLOCKS,), """
«@njit(fastmath=True)¦@njit»
def f(x):
    <pad>
    <b> = np.zeros(20)
    for j in range(20):
        <a> = 0.0
        for i in range(j, x.size):
            <a> += x[i] * 0.1
        <b>[j] = <a>
    return <b>
""", numba=True),
    Kind("the order of a set", (ORDER, AGAIN), """
def f(x):
    <pad>
    <a> = {f"<b>{i}" for i in range(x.size)}
    <b> = 0.0
    «for name in <a>:¦for name in sorted(<a>):»
        <b> += x[int(name[len("<b>"):])]
    return <b>
"""),
    Kind("a state of Numba's without seed", (AGAIN,), """
np.random.seed(1)


@njit
def f(x):
    <pad>
    <a> = np.zeros(x.size)
    for i in range(x.size):
        «<a>[i] = x[i] + np.random.random()¦<a>[i] = x[i] + 0.25»
    return <a>
""", numba=True),
    Kind("the last one that writes", (THREADS, BLOCKS), """
@njit(parallel=True)
def f(x):
    <pad>
    <a> = np.zeros(2)
    for i in prange(x.size):
        for j in range(200):
            if j % 3 == i % 3:
                «<a>[j % 2] = x[i] * j¦<b> = x[i] * j»
    return <a>
""", numba=True),
    Kind("a count that is kept", (ORDER,), """
def f(x):
    <pad>
    if x.size > 1:
        «f.<a> = getattr(f, "<a>", 0) + 1¦f.<a> = 1»
    return x * f.<a>
"""),
    Kind("files as the system lists them", (ORDER,), """
folder = os.path.join(sys.argv[1], "<a>")
os.makedirs(folder)
for i in range(<n>):
    np.save(f"{folder}/{(7 * i) % 401:03d}.npy", np.float32(0.1 * i))
<pad>
result = np.float32(0.0)
«for file in glob.glob(folder + "/*.npy"):¦for file in sorted(glob.glob(folder + "/*.npy")):»
    result = result + np.load(file) * np.float32(1.1)
""" + _SAVED, command=True),
    Kind("a draw without seed", (AGAIN,), """
x = np.arange(<n>, dtype=float)
<pad>
«result = x + np.random.rand(<n>)¦result = x + 0.5»
""" + _SAVED, command=True),
    Kind("memory of an array", (MEMORY,), """
x = np.linspace(0.0, 1.0, <n>)
<pad>
«result = np.empty((<n>, 300))¦result = np.zeros((<n>, 300))»
result[:, <k>:] = x[:, None]
""" + _SAVED, command=True),
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """A program.

    Args:
        kind: of fault.
        file: of the program.
        lines: that may be named; none of a clean program.
    """

    kind: Kind
    file: Path
    lines: tuple[int, ...]


def written(kind: Kind, seed: int, folder: Path, *, clean: bool = False) -> Written:
    """A program with a fault of a kind, or the mended one."""
    rng = random.Random(f"{kind.name} {seed}")
    a, b = rng.sample(_WORDS, 2)
    unused = [f"unused{i} = {rng.randint(1, 9)} * {i}" for i in range(rng.randint(0, 4))]
    given = {
        "a": a, "b": b, "k": rng.randint(2, 5), "n": rng.randint(60, 400), "seed": seed,
        "pad": ("\n" if kind.command else "\n    ").join(unused) or "pass",
        "numba": NUMBA if kind.numba else "",
    }  # fmt: skip
    text = HEAD + kind.source + ("" if kind.command else _INPUTS)
    for name, value in given.items():
        text = text.replace(f"<{name}>", str(value))
    lines = [n for n, line in enumerate(text.splitlines(), 1) if "«" in line]
    name = re.sub(r"\W+", "_", kind.name) + f"_{seed}{'_clean' * clean}.py"
    path = folder / name
    path.write_text(_CHOICE.sub(r"\2" if clean else r"\1", text), encoding="utf-8")
    return Written(kind, path, () if clean else tuple(lines))


def repeated(program: Written, runs: int | None = None):
    """The answer of `sciprec repeat` on a program."""
    if program.kind.command:
        return repeat_command([sys.executable, str(program.file), "{out}"], runs=runs)
    return repeat_kernel(f"{program.file}:f", f"{program.file}:inputs", runs=runs)


def missed(program: Written, found) -> str:
    """The fault of an answer; empty where nothing is."""
    if not program.lines:
        return "" if found.identical else f"blamed: {found.answer}: {found.sentences()[0]}"
    right = [one for one in found.findings if found.answer == f"differs {one.aspect}"]
    if found.identical or right[0].aspect not in program.kind.aspects:
        return f"answered '{found.answer}'"
    named = [place.line for place in right[0].places]
    if not named:
        return "no line"
    return "" if set(named) & set(program.lines) else f"lines {named}, not {program.lines}"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    seeds = range(int(sys.argv[2]), int(sys.argv[3]))
    kinds = [one for one in KINDS if len(sys.argv) < 5 or sys.argv[4] in one.name]
    for clean in (False, True):
        wrong = 0
        for kind in kinds:
            for seed in seeds:
                program = written(kind, seed, folder, clean=clean)
                begun = time.perf_counter()
                words = missed(program, repeated(program))
                wrong += bool(words)
                seconds = time.perf_counter() - begun
                print(f"{seconds:5.1f} s  {program.file.stem}: {words or 'right'}", flush=True)
        total = len(kinds) * len(seeds)
        print(f"{'clean' if clean else 'faulty'}: {total - wrong} of {total} right", flush=True)
