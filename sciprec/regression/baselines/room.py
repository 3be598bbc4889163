"""Memory of runs, as ratios to a reference kernel in the same process.

What counts is the most that the process holds at once during a run, less what it holds before. The
system counts it in pages and tells its peak (Linux); elsewhere nothing is known of memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

REPEATS = 3
"""Runs by which it is known how much memory one takes."""
_REFERENCE_NUMBERS = 2**21
_SMALLEST = 2.0**22
"""The least amount, 4 MiB: what libraries keep and give back comes to a part of that."""
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_PEAK = "5"


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
