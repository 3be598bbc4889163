"""Times and memory of runs, as ratios to reference kernels in the same process.

Seconds of another machine, or of this one at another hour, say nothing; the ratio to a kernel that
is timed beside the runs says something, and is noisy still. Of several runs the median and the
least count, and both have to be beyond the factor that is asked for.

Of memory, the most that the process holds at once during a run counts, less what it holds before.
The system counts it in pages and tells its peak (Linux); elsewhere nothing is known of memory.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.precision.compiled.disk_cache import kept

REPEATS = 5
"""Runs, at least, by which a check knows how long one takes."""
_TIMED = 9
_STEPS, _LANES = 400, 512
_REFERENCE_NUMBERS = 2**21
_SMALLEST = 2.0**22
"""The least amount, 4 MiB: what libraries keep and give back comes to a part of that."""
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_PEAK = "5"


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


def reference_room() -> float:
    """Bytes that the reference kernel takes: an array of 2^21 numbers, 16 MiB; 0 where nothing is
    known of memory.
    """
    return room_of(lambda: np.full(_REFERENCE_NUMBERS, 1.0))


def room_of(action: Callable[[], Any]) -> float:
    """Bytes that a process comes to hold during an action, 2^22 at least; 0 where they are not
    known.

    Args:
        action: done once, while nothing else goes on.
    """
    _give_back()
    try:
        _FORGET.write_text(_PEAK, encoding="ascii")
        before = _status_bytes("VmRSS")
        action()
        return max(_SMALLEST, _status_bytes("VmHWM") - before)
    except (OSError, StopIteration):
        return 0.0


def _status_bytes(name: str) -> float:
    """Bytes, a line of the status of this process."""
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return 1024.0 * float(line.split()[1])


def _give_back() -> None:
    """Give free memory back to the system, so that no run reuses what another one has freed."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
