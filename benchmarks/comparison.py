"""Time of a comparison of two arrays with every statistic, beside what other tools do with them."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

import numpy as np

from benchmarks.precision import machine
from sciprec.results.comparison.pointwise.number_format import number_format
from sciprec.results.comparison.pointwise.statistics import statistics_of
from sciprec.results.comparison.pointwise.tally import Tally

TITLE = "Comparison of two binary64 arrays"
CAPTION = "shortest of several rounds, one thread; CPU seconds leave out what others compute"
PAIRS = 16_000_000
GOAL = 0.5
RTOL = 1e-5

Contender = Callable[[np.ndarray, np.ndarray], object]


def measure(
    small: bool = False, rounds: int = 5, say: Callable[[str], None] = lambda text: None
) -> dict:
    """Run the benchmark.

    Args:
        small: a quick run of tiny arrays (for tests; its times mean nothing).
        rounds: how often each contender is timed, after a first time that is not counted.
        say: is told what is being measured.

    Returns:
        The machine, and per contender what it computes and its seconds, as plain data.
    """
    pairs = 16_000 if small else PAIRS
    golden, actual = _arrays(pairs)
    cases = []
    for name, (what, function) in contenders().items():
        say(name)
        seconds, busy = _shortest(function, golden, actual, 1 if small else rounds)
        cases.append({"tool": name, "computes": what, "pairs": pairs,
                      "seconds": seconds, "cpu_seconds": busy})  # fmt: skip
    return {"benchmark": "compare", "machine": machine(), "goal_seconds": GOAL, "cases": cases}


def contenders() -> dict[str, tuple[str, Contender]]:
    """Ours, NumPy's, and those of others that are installed."""
    found: dict[str, tuple[str, Contender]] = {
        "sciprec": ("every statistic", _ours),
        "NumPy": ("largest, means, centiles, correlation", _numpy),
        "numpy.testing.assert_allclose": ("whether within rtol", _testing),
    }
    if importlib.util.find_spec("polygraphy"):
        found["Polygraphy"] = ("largest, mean, median, percentile of two errors", _polygraphy())
    return found


def timings(result: dict) -> dict[str, float]:
    """Processor seconds of ours."""
    ours = (case for case in result["cases"] if case["tool"] == "sciprec")
    return {f"{one['pairs']:,} pairs": one["cpu_seconds"] for one in ours}


def tables(result: dict) -> dict[str, list[dict]]:
    """The table: one row per tool."""
    rows = [
        {
            "tool": case["tool"],
            "computes": case["computes"],
            "seconds": f"{case['seconds']:.3f}",
            "CPU": f"{case['cpu_seconds']:.3f}",
            "goal": result["goal_seconds"] if case["tool"] == "sciprec" else "",
        }
        for case in result["cases"]
    ]
    pairs = max(case["pairs"] for case in result["cases"])
    return {f"{TITLE}, {pairs:,} pairs": rows}


def _arrays(pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """A field of temperatures (time, level, lat, lon) and a run that is off by about 1e-7."""
    rng = np.random.default_rng(7)
    shape = (pairs // 1600, 10, 8, 20) if pairs < PAIRS else (pairs // 1_000_000, 10, 250, 400)
    golden = 280.0 + 20.0 * rng.standard_normal(shape)
    return golden, golden * (1.0 + 1e-7 * rng.standard_normal(shape))


def _shortest(
    function: Contender, golden: np.ndarray, actual: np.ndarray, rounds: int
) -> tuple[float, float]:
    """The shortest wall and processor seconds after a first round."""
    function(golden, actual)
    times = []
    for _ in range(rounds):
        start, busy = time.perf_counter(), time.process_time()
        function(golden, actual)
        times.append((time.perf_counter() - start, time.process_time() - busy))
    wall, cpu = zip(*times, strict=True)
    return min(wall), min(cpu)


def _ours(golden: np.ndarray, actual: np.ndarray) -> object:
    """Every statistic of a comparison."""
    tally = Tally(golden.shape, number_format({}))
    tally.add(golden, actual)
    return statistics_of(tally)


def _numpy(golden: np.ndarray, actual: np.ndarray) -> object:
    """A part of the same, with whole arrays."""
    error = actual - golden
    size = np.abs(error)
    relative = size / np.abs(golden)
    percentiles = [np.percentile(x, [50, 90, 95, 99]) for x in (size, relative)]
    correlation = np.corrcoef(golden.ravel(), actual.ravel())[0, 1]
    return (
        size.max(), size.mean(), np.sqrt(np.mean(error**2)), error.mean(), relative.max(),
        percentiles, correlation,
    )  # fmt: skip


def _testing(golden: np.ndarray, actual: np.ndarray) -> object:
    """Whether all values are close."""
    return np.testing.assert_allclose(actual, golden, rtol=RTOL)


def _polygraphy() -> Contender:
    """Polygraphy's comparison, which prints nothing here."""
    from polygraphy.comparator import IterationResult, SimpleCompareFunc
    from polygraphy.logger import G_LOGGER

    G_LOGGER.module_severity = G_LOGGER.CRITICAL
    compare = SimpleCompareFunc(rtol=RTOL, atol=0.0)
    return lambda golden, actual: compare(
        IterationResult({"x": actual}), IterationResult({"x": golden})
    )
