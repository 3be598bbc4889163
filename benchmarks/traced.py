"""Cost of tracing: a run whose numbers carry their error, against the lifted kernel and plain
Numba, in one run.

Only the run itself is timed: arguments are converted once. Processor seconds, the least of some
rounds, one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numba import njit

from benchmarks.kernels import advect, matrix_product
from benchmarks.precision import machine
from sciprec.precision import lift, resolve_backend
from sciprec.tools.trace.attribution import LANES_BESIDE, TracedKernel

TITLE = "Cost of tracing"
CAPTION = (
    "lifted: over plain Numba; numbers beside each value, and the exact twin that notes what "
    "happens: over the lifted kernel"
)
BACKENDS = ("bf16", "fp32")
LANES = (1, 4, 8, 16, 32)
GOALS = {1: 2.0, 8: 12.0}


def inner_product(x, y):
    """The sum of x y."""
    total = x[0] * y[0]
    for i in range(1, x.size):
        total += x[i] * y[i]
    return total


def pendulum(angle, speed, step, six, count):
    """The angle after so many steps, the sine by two terms."""
    for _ in range(count):
        speed = speed - step * (angle - angle * angle * angle / six)
        angle = angle + step * speed
    return angle


def cases(small: bool) -> dict[str, tuple[Callable, tuple]]:
    """Name -> kernel and arguments."""
    rng, size = np.random.default_rng(2), 20 if small else 256
    q, u, v = rng.uniform(-1, 1, (3, size, size))
    a, b = rng.uniform(-1, 1, (2, size // 2, size // 2))
    x, y = rng.uniform(-1, 1, (2, size * size))
    return {
        "inner product": (inner_product, (x, y)),
        "pendulum": (pendulum, (0.3, 0.1, 0.01, 6.0, 10 * size * size // 8)),
        "stencil, 15 operations": (advect, (q, u, v, 0.3, 0.2, 0.05, 4.0, np.zeros_like(q))),
        "matrix product": (matrix_product, (a, b, np.zeros_like(a))),
    }


def measure(
    small: bool = False, rounds: int = 7, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny sizes (for tests; its ratios mean nothing).
        rounds: how often each is timed.
        say: is told what is being measured.

    Returns:
        The machine, and per kernel and backend the seconds, as plain data.
    """
    results = []
    chosen = list(cases(small).items())
    for backend in BACKENDS[:1] if small else BACKENDS:
        for name, (function, args) in chosen[:1] if small else chosen:
            say(f"{name} in {backend}")
            seconds = _seconds(function, args, backend, 2 if small else rounds)
            results.append({"kernel": name, "backend": backend, "seconds": seconds})
    return {"benchmark": "trace", "machine": machine(), "cases": results}


def _seconds(function, args: tuple, backend: str, rounds: int) -> dict[str, float]:
    calls = {
        "native": _bound(njit(function), args),
        "lifted": _bound(lift(function, backend), args),
    }
    for lanes in LANES:
        calls[str(lanes)] = traced_run(function, args, backend, "parts", lanes)
    calls["twin"] = traced_run(function, args, backend, "twin", LANES_BESIDE["twin"])
    for call in calls.values():
        call()
    times = {name: [_timed(call) for _ in range(rounds)] for name, call in calls.items()}
    return {name: min(found) for name, found in times.items()}


def _bound(function, args: tuple) -> Callable[[], object]:
    return lambda: function(*args)


def traced_run(function, args, backend: str, technique: str, lanes: int) -> Callable[[], object]:
    """A run of the traced kernel alone, its arguments converted before."""
    traced = TracedKernel(function, resolve_backend(backend), technique, lanes)
    table = traced.table()
    table.begin()
    taken = traced.taken(args)
    return lambda: traced.entered(table, taken)


def _timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def timings(result: dict) -> dict[str, float]:
    """Seconds of each traced run, by name."""
    return {
        f"{case['kernel']}, {case['backend']}, {name}": seconds
        for case in result["cases"] for name, seconds in case["seconds"].items()
        if name != "native"
    }  # fmt: skip


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per kernel and arithmetic; the row of goals last."""
    rows = []
    for entry in result["cases"]:
        seconds = entry["seconds"]
        lifted = seconds["lifted"]
        row = {"kernel": entry["kernel"], "in": entry["backend"],
               "lifted": _ratio(lifted, seconds["native"])}  # fmt: skip
        row |= {str(n): _ratio(seconds[str(n)], lifted) for n in LANES}
        rows.append(row | {"twin": _ratio(seconds["twin"], lifted)})
    goals = {str(n): goal for n, goal in GOALS.items()}
    return {TITLE: [*rows, {"kernel": "goal"} | goals]}


def _ratio(seconds: float, base: float) -> float:
    return round(seconds / max(base, 1e-9), 1)
