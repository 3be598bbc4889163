"""Times of runs, as ratios to a reference kernel in the same process.

Seconds of another machine, or of this one at another hour, say nothing; the ratio to a kernel that
is timed beside the runs says something, and is noisy still. Of several runs the median and the
least count, and both have to be beyond the factor that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from sciprec.precision.compiled.disk_cache import kept

REPEATS = 5
"""Runs, at least, by which a check knows how long one takes."""
_TIMED = 9
_STEPS, _LANES = 400, 512


@kept(nogil=True)
def _reference(x, steps):
    """Logistic maps side by side, 3 operations each: no memory, no library, no branches."""
    for _ in range(steps):
        for i in range(x.size):
            x[i] = 3.7 * x[i] * (1.0 - x[i])


def reference_seconds() -> float:
    """Processor seconds of the reference kernel: the least of some calls."""
    x = np.linspace(0.1, 0.9, _LANES)
    _reference(x, 1)
    times = []
    for _ in range(_TIMED):
        begun = time.thread_time()
        _reference(x, _STEPS)
        times.append(time.thread_time() - begun)
    return min(times)


def ratios_of(amounts: Sequence[float], reference: float) -> dict[str, float]:
    """Median and least of amounts, as ratios to a reference; empty where none is known.

    Args:
        amounts: processor seconds or bytes of each run; those that are not known are 0.
        reference: of the reference kernel.
    """
    ratios = [amount / reference for amount in amounts if amount > 0.0]
    return {"median": float(np.median(ratios)), "least": min(ratios)} if ratios else {}


def growth(then: Mapping[str, float], now: Mapping[str, float]) -> float | None:
    """The factor by which a run has become slower for sure: the smaller ratio of medians and of
    least ones; None where one of the two is not known.
    """
    if not then or not now:
        return None
    return min(now[name] / then[name] for name in ("median", "least"))
