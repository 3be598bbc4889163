"""Faults as they are spelt: each of many spellings, in hosts that put it somewhere else.

A spelling is a piece of a function's body, with what stands above the function; «» stand around the
line that explains the fault. A host is a kernel with the piece in itself, in a function that it
calls, in one of another file, or in a loop; names and what stands around it are drawn. Run as a
program this counts in how many the line is named, and with `run` whether `sciprec repeat` finds the
fault, with its answer and line.

    python -m tests.repetition.spellings FOLDER FIRST LAST [run]
"""

from __future__ import annotations

import importlib.util
import random
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path

from sciprec.regression.repetition.circumstances import AGAIN, BLOCKS, MEMORY, ORDER, THREADS, WAYS
from sciprec.regression.repetition.kernels import repeat_kernel
from sciprec.regression.repetition.sources import behind_kernel
from sciprec.regression.repetition.suspects import explained


@dataclass(frozen=True)
class Spelling:
    """One.

    Args:
        way: of WAYS, in which runs differ.
        above: what stands above the function.
        body: a piece that makes `r` of `x`, an array.
        decorator: of the function; no host calls another function then.
        aspects: answers that are right, where it is run; that of the way, if left out.
        block: an argument that says how many at a time.
    """

    way: str
    above: str
    body: str
    decorator: str = ""
    aspects: tuple[str, ...] = ()
    block: str = ""


_NUMBA = "import numba\nfrom numba import njit, prange"
_SUM = "r = 0.0\nfor i in prange(x.size):\n    «r += x[i] * 0.1»"
MEMORIES = (
    Spelling("memory", "", "a = «np.empty(x.size + 3)»\na[1:x.size] = x[1:]\nr = a.sum()"),
    Spelling("memory", "from numpy import empty_like", "a = «empty_like(x)»\nr = a + x"),
    Spelling("memory", "", "a = «np.ndarray(x.shape)»\na[2:] = 1.0\nr = a + x"),
    Spelling("memory", "import numpy", "r = «numpy.log(x * x, where=x > 0.0)»"),
    Spelling("memory", "", "r = np.add(x, 1.0, where=x > 0.0, out=«np.empty(x.size)»)"),
)
OF_THREADS = (
    Spelling("threads", _NUMBA, _SUM, "@njit(parallel=True)", (THREADS, BLOCKS)),
    Spelling("threads", _NUMBA, _SUM, "@numba.jit(nopython=True, parallel=True)",
             (THREADS, BLOCKS)),
    Spelling("threads", f"{_NUMBA}\nOPTIONS = dict(parallel=True)", _SUM, "@njit(**OPTIONS)",
             (THREADS, BLOCKS)),
    Spelling("threads", _NUMBA, _SUM.replace("r += ", "r = r + "), "=njit(parallel=True)({})",
             (THREADS, BLOCKS)),
    Spelling("threads", _NUMBA, _SUM, "=njit({}, parallel=True)", (THREADS, BLOCKS)),
    Spelling("threads", "import numba as nb", _SUM.replace("prange", "nb.prange")
             .replace("r += x[i] * 0.1", "r = r + x[i] * 0.1"),
             "@nb.njit(parallel=True, cache=False)", (THREADS, BLOCKS)),
    Spelling("threads", "import os", "parts = «int(os.environ['OMP_NUM_THREADS'])»\n"
             "r = sum(float(np.sum(x[k::parts])) for k in range(parts))"),
    Spelling("threads", "import os", "n = «int(os.environ.get('OMP_NUM_THREADS', 1))»\nr = x * n"),
)  # fmt: skip
OF_BLOCKS = (
    Spelling("block size", "", "r = 0.0\nfor a in range(0, x.size, block):\n"
             "    «r += np.cumsum(x[a:a + block])[-1]»", block="block"),
    Spelling("block size", "", "r = 0.0\nfor a in range(0, x.size, block):\n"
             "    «r = r + np.cumsum(x[a:a + block])[-1]»", block="block"),
    Spelling("block size", "", "parts = []\nfor a in range(0, x.size, block):\n"
             "    «parts.append(np.cumsum(x[a:a + block])[-1])»\nr = np.cumsum(parts)[-1]",
             block="block"),
    Spelling("block size", "", "r, a = 0.0, 0\nwhile a < x.size:\n"
             "    «r += np.cumsum(x[a:a + block])[-1]»\n    a += block", block="block"),
    Spelling("block size", "", "y = np.zeros(-(-x.size // block) * block)\ny[:x.size] = x\n"
             "r = np.cumsum(«y.reshape(-1, block).cumsum(axis=1)»[:, -1])[-1]", block="block"),
    Spelling("block size", "", "«parts = [np.cumsum(x[a:a + block])[-1] for a in "
             "range(0, x.size, block)]»\nr = np.cumsum(parts)[-1]", block="block"),
)  # fmt: skip
ORDERS = (
    Spelling("hash seed", "", "names = {f'n{i}' for i in range(x.size)}\n"
             "r = np.cumsum([x[int(n[1:])] for n in «names»])"),
    Spelling("hash seed", "", "names = set()\nfor i in range(x.size):\n    names.add(str(i))\n"
             "r = x[[int(n) for n in «list(names)»]]"),
    Spelling("hash seed", "", "a = {str(i): i for i in range(x.size)}\nb = dict(a)\n"
             "r = x[[a[n] for n in «a.keys() & b.keys()»]]"),
    Spelling("hash seed", "", "a = {str(i): i for i in range(x.size)}\n"
             "r = x[[a[n] for n in «set(a)»]]"),
    Spelling("hash seed", "", "names = frozenset(map(str, range(x.size)))\n"
             "r = np.array([x[int(n)] for n in «sorted(names, key=len)»])"),
    Spelling("hash seed", "", "names = [*«{str(i) for i in range(x.size)}»]\n"
             "r = x[[int(n) for n in names]]"),
    Spelling("hash seed", "", "names = {str(i) for i in range(x.size)}\nr = []\nwhile names:\n"
             "    r.append(x[int(«names.pop()»)])\nr = np.array(r)"),
    Spelling("hash seed", "", "r = x * («hash('flux')» % 97)"),
    Spelling("hash seed", "", "first, *_ = «{str(i) for i in range(x.size)}»\nr = x * int(first)"),
    Spelling("hash seed", "", "names: set[str] = {str(i) for i in range(x.size)}\n"
             "r = x[np.fromiter((int(n) for n in «names»), int)]"),
    Spelling("order of files", "import os, tempfile",
             "d = tempfile.mkdtemp()\nfor n in 'cab':\n    open(os.path.join(d, n), 'w').close()\n"
             "r = x[:3] * [ord(n) for n in «os.listdir(d)»]", aspects=(ORDER,)),
    Spelling("order of files", "import tempfile\nfrom pathlib import Path",
             "d = Path(tempfile.mkdtemp())\nfor n in 'cab':\n    (d / n).touch()\n"
             "r = x[:3] * [ord(p.name) for p in «d.iterdir()»]", aspects=(ORDER,)),
)  # fmt: skip
KEPT = (
    Spelling("a second call", "seen = []", "«seen.append(1.0)»\nr = x * len(seen)"),
    Spelling("a second call", "total = 0.0", "global total\n«total += x[0]»\nr = x * total"),
    Spelling("a second call", "memo: dict = {}",
             "«memo['n'] = memo.get('n', 0) + 1»\nr = x * memo['n']"),
    Spelling("a second call", "import itertools\ncounter = itertools.count()",
             "r = x * «next(counter)»"),
    Spelling("a second call", "class State:\n    n = 0", "«State.n += 1»\nr = x * State.n"),
    Spelling("a second call", "buffer = np.zeros(400)",
             "b = buffer[:x.size]\n«np.add(buffer, 0.5, out=buffer)»\nr = x + b"),
    Spelling("a second call", "def grown(seen=[]):\n    «seen.append(1.0)»\n    return len(seen)",
             "r = x * grown()"),
    Spelling("a second call", "rng = np.random.default_rng(3)",
             "r = x + «rng.standard_normal(x.size)»"),
    Spelling("a second call", "np.random.seed(3)", "r = x + «np.random.rand(x.size)»"),
)  # fmt: skip
AGAINS = (
    Spelling("another process", "from numpy.random import default_rng as new",
             "r = x + «new()».normal(size=x.size)"),
    Spelling("another process", "", "r = x + «np.random.Generator(np.random.PCG64())».normal()"),
    Spelling("another process", "from random import gauss", "r = x + «gauss(0.0, 1.0)»"),
    Spelling("another process", "import random", "p = list(range(x.size))\n«random.shuffle(p)»\n"
             "r = x[p]"),
    Spelling("another process", "import scipy.stats",
             "r = x + «scipy.stats.norm.rvs(size=x.size)»"),
    Spelling("another process", "from scipy.stats import qmc", "r = «qmc.Sobol(2)».random(8)"),
    Spelling("another process", "from datetime import datetime",
             "r = x * «datetime.now()».microsecond"),
    Spelling("another process", "import datetime as dt",
             "r = x * «dt.datetime.now(dt.timezone.utc)».timestamp()"),
    Spelling("another process", "from time import perf_counter_ns as now", "r = x * «now()»"),
    Spelling("another process", "import time", "r = x * float(«time.strftime('%s')»)",
             aspects=(AGAIN,)),
    Spelling("another process", "import os", "r = x * «os.getpid()»"),
    Spelling("another process", "import os", "r = x * «os.urandom(1)»[0]"),
    Spelling("another process", "import secrets", "r = x * «secrets.choice(range(9999))»"),
    Spelling("another process", "import uuid", "r = x * («uuid.uuid4()».int % 997)"),
    Spelling("another process", "", "r = x * («id(x)» % 4099)"),
    Spelling("another process", "import pandas as pd", "r = x * «pd.Timestamp.now()».nanosecond"
             " + pd.Timestamp.now().microsecond"),
    Spelling("another process", "from concurrent.futures import ThreadPoolExecutor, as_completed\n"
             "import os, time\ndef late(i):\n    time.sleep(os.urandom(1)[0] / 4e4)\n    return i",
             "with ThreadPoolExecutor(4) as pool:\n    jobs = [pool.submit(late, i) for i in "
             "range(40)]\n    r = np.array([j.result() for j in «as_completed(jobs)»])"),
)  # fmt: skip
SPELLINGS = (*MEMORIES, *OF_THREADS, *OF_BLOCKS, *ORDERS, *KEPT, *AGAINS)
HOSTS = ("itself", "a function", "another file", "a branch", "a class")
_CALLS = """

def inputs():
    rng = np.random.default_rng({seed})
    return {{"x": rng.standard_normal({size}) * 10.0 ** rng.integers(-3, 4, {size})}} | {blocks}
"""


@dataclass(frozen=True)
class Program:
    """A kernel with a fault.

    Args:
        spelling: of the fault.
        host: of HOSTS.
        file: of the kernel `f` and its `inputs`.
        at: file and line of what explains it.
    """

    spelling: Spelling
    host: str
    file: Path
    at: tuple[str, int]


def program(seed: int, folder: Path) -> Program:
    """The program of a seed: all spellings in turn, in hosts that are drawn."""
    rng = random.Random(seed)
    spelling = SPELLINGS[seed % len(SPELLINGS)]
    host = "itself" if spelling.decorator else rng.choice(HOSTS)
    given = ", block" if spelling.block else ""
    unused = [f"unused{k} = {rng.randint(1, 9)}" for k in range(rng.randint(0, 3))]
    body = "\n".join([*unused, *spelling.body.splitlines()])
    if host == "a branch":
        body = "r = x\nif x.size > 1:\n" + textwrap.indent(body, "    ")
    body = textwrap.indent(body + "\nreturn r", "    ")
    made = spelling.decorator.startswith("=")
    inner = "work" if host in ("a function", "another file", "a class") or made else "f"
    head = spelling.decorator + "\n" if spelling.decorator and not made else ""
    function = f"{head}def {inner}(x{given}):\n{body}\n"
    above = f"import numpy as np\n{spelling.above}\n\n\n"
    name = f"spelt_{seed}"
    files = {f"{name}.py": f"{above}{function}\n"}
    call = f"def f(x{given}):\n    return {{}}(x{given})\n"
    if made:
        files[f"{name}.py"] += f"f = {spelling.decorator[1:].format(inner)}\n"
    elif host == "a function":
        files[f"{name}.py"] += "\n" + call.format("work")
    elif host == "a class":
        method = textwrap.indent(f"@staticmethod\n{function}", "    ")
        text = f"{above}class Model:\n{method}\n\n" + call.format("Model.work")
        files[f"{name}.py"] = text
    elif host == "another file":
        files = {
            f"beside_{seed}.py": f"{above}{function}\n",
            f"{name}.py": f"import numpy as np\nfrom beside_{seed} import work\n\n\n"
            + call.format("work"),
        }
    blocks = {spelling.block: 8} if spelling.block else {}
    files[f"{name}.py"] += _CALLS.format(seed=seed, size=rng.randint(60, 300), blocks=blocks)
    at = ("", 0)
    for file, text in files.items():
        lines = [n for n, line in enumerate(text.splitlines(), 1) if "«" in line]
        at = (file, lines[0]) if lines else at
        (folder / file).write_text(text.replace("«", "").replace("»", ""), encoding="utf-8")
    return Program(spelling, host, folder / f"{name}.py", at)


def _imported(file: Path):
    """The kernel of a file, as one that is imported."""
    sys.path.insert(0, str(file.parent))
    try:
        found = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return module.f
    finally:
        sys.path.remove(str(file.parent))


def unnamed(one: Program) -> str:
    """The words in place of the line, where that is not named; found without a run."""
    places = explained(
        (one.spelling.way,), behind_kernel(_imported(one.file)), [one.spelling.block]
    )
    named = [(place.file, place.line) for place in places]
    return "" if one.at in named else f"{named or 'nothing'}, not {one.at}"


def missed(one: Program) -> str:
    """The fault of the answer of `sciprec repeat`; empty where nothing is."""
    spelling = one.spelling
    blocks = {spelling.block: [3, 16]} if spelling.block else {}
    found = repeat_kernel(f"{one.file}:f", f"{one.file}:inputs", blocks=blocks)
    right = [f for f in found.findings if found.answer == f"differs {f.aspect}"]
    if not right or right[0].aspect not in (spelling.aspects or (WAYS[spelling.way],)):
        return f"answered '{found.answer}'"
    named = [(place.file, place.line) for place in right[0].places]
    if right[0].difference is None and right[0].aspect != MEMORY:
        return "no element"
    return "" if one.at in named else f"{named or 'nothing'}, not {one.at}"


if __name__ == "__main__":
    folder, asked = Path(sys.argv[1]), range(int(sys.argv[2]), int(sys.argv[3]))
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for seed in asked:
        begun, one = time.perf_counter(), program(seed, folder)
        words = missed(one) if "run" in sys.argv else unnamed(one)
        wrong += bool(words)
        if words or "run" in sys.argv:
            said = words or "right"
            print(f"{time.perf_counter() - begun:5.1f} s  {one.file.stem}, {one.spelling.way}, in "
                  f"{one.host}: {said}", flush=True)  # fmt: skip
    print(f"{len(asked) - wrong} of {len(asked)} right")
