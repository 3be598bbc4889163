"""Cost of the backend `dd`: kernels whose numbers are pairs, against fp64 and the exact twin that
`digits` and `trace` run beside a kernel, in one run.

Wall seconds of whole calls, which make pairs of their arguments, and of the run alone; the least of
some rounds, one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.kernels import matrix_product
from benchmarks.precision import machine
from benchmarks.traced import traced_run
from sciprec.instruments.pairs.lifted import PairLifted
from sciprec.precision import lift
from sciprec.tools.trace.attribution import LANES_BESIDE

TITLE = "Cost of pairs"
CAPTION = "ns: of fp64, a result; dd and the exact twin: over the kernel lifted to fp64"
GOAL = 25.0
"""Of the stencil in dd over fp64."""


def heat(u, new, c, steps):
    """Explicit steps of the heat equation, one after another."""
    for _ in range(steps):
        for i in range(1, u.size - 1):
            new[i] = u[i] + c * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        for i in range(1, u.size - 1):
            u[i] = new[i]


def inner_product(x, y, out):
    """The sum of x y."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    out[0] = total


def waves(x, out):
    """A sine and an exponential of every number."""
    for i in range(x.size):
        out[i] = np.sin(x[i]) * np.exp(-x[i])


def cases(small: bool) -> dict[str, tuple[Callable, tuple, int]]:
    """Name -> kernel, arguments, and how many results it makes."""
    rng, shrink = np.random.default_rng(5), 50 if small else 1
    sizes = {"heat stencil, 4,096 numbers": (4096 // shrink, 200 // shrink),
             "heat stencil, 10^6 numbers": (10**6 // shrink, 10)}  # fmt: skip
    made: dict[str, tuple[Callable, tuple, int]] = {}
    for name, (size, steps) in sizes.items():
        u = rng.random(size)
        made[name] = heat, (u, u.copy(), 0.1, steps), size * steps
    x, y, out = rng.random((3, 10**5 // shrink))
    a, b = rng.random((2, 160 // (8 if small else 1), 160 // (8 if small else 1)))
    made["inner product"] = inner_product, (x, y, out), x.size
    made["matrix product"] = matrix_product, (a, b, np.zeros_like(a)), a.size * a.shape[0]
    made["sine and exponential"] = waves, (x, out), x.size
    return made


def measure(
    small: bool = False, rounds: int = 15, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how often each is timed.
        say: is told what is being measured.

    Returns:
        The machine, and per kernel the seconds, as plain data.
    """
    results = []
    for name, (function, args, count) in cases(small).items():
        say(name)
        seconds = _seconds(function, args, 2 if small else rounds)
        results.append({"kernel": name, "results": count, "seconds": seconds})
    return {"benchmark": "pairs", "machine": machine(), "small": small, "results": results}


def _seconds(function: Callable, args: tuple, rounds: int) -> dict[str, float]:
    """The least wall seconds, round by round one after the other."""
    plain, pairs = lift(function, "fp64"), lift(function, "dd")
    assert isinstance(pairs, PairLifted)
    taken = pairs.taken(args, args)
    runs = {
        "fp64": lambda: plain(*args),
        "dd, the call": lambda: pairs(*args),
        "dd, the run": lambda: pairs.entered(taken),
        "twin": traced_run(function, args, "fp64", "twin", LANES_BESIDE["twin"]),
    }
    for run in runs.values():
        run()
    least = dict.fromkeys(runs, np.inf)
    for number in range(rounds):
        for name, run in runs.items():
            if name == "twin" and number >= max(2, rounds // 5):
                continue
            start = time.perf_counter()
            run()
            least[name] = min(least[name], time.perf_counter() - start)
    return least


def timings(result: dict) -> dict[str, float]:
    """Seconds of each run in pairs, by name."""
    return {
        f"{row['kernel']}, {name}": seconds
        for row in result["results"] for name, seconds in row["seconds"].items()
        if name != "fp64"
    }  # fmt: skip


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per kernel; that of the goal last."""
    rows = []
    for row in result["results"]:
        seconds = dict(row["seconds"])
        plain = seconds.pop("fp64")
        over = {name: round(s / max(plain, 1e-9), 1) for name, s in seconds.items()}
        rows.append({"kernel": row["kernel"], "ns": round(1e9 * plain / row["results"], 2)} | over)
    return {TITLE: [*rows, {"kernel": "goal of the stencil", "dd, the run": GOAL}]}
