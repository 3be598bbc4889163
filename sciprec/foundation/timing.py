"""Processor time of a model in sections of known work, and its spread.

Only the time that the section's own thread was on a processor counts. Runs that share the machine
make each other wait, and compile while others compute: neither is in these numbers, and what is
compiled within a section makes that section slow without moving the median.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

OUTER = 0.1
"""Share of the work that is left out at each end of a range."""


@dataclass(frozen=True)
class Timing:
    """Processor seconds of some work.

    Args:
        seconds: all of it at the median pace of its sections.
        low, high: all of it at the paces between which the sections of 80 % of the work were.
    """

    seconds: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def __add__(self, other: Timing) -> Timing:
        """The timing of one work after the other."""
        return Timing(self.seconds + other.seconds, self.low + other.low, self.high + other.high)


class Sections:
    """The clock of a model that works in sections of one kind.

    Args:
        done: (n, 2), the work and the processor seconds of sections that were timed before.

    Attributes:
        done: a list of such pairs.
    """

    def __init__(self, pairs: np.ndarray = ()) -> None:
        self.done = [(float(work), float(seconds)) for work, seconds in pairs]

    @contextlib.contextmanager
    def timed(self, work: float) -> Iterator[None]:
        """Time a section on this thread.

        Args:
            work: how much it does, in any unit that all sections share.
        """
        start = time.thread_time()
        yield
        self.done.append((work, time.thread_time() - start))

    @property
    def timing(self) -> Timing:
        """The timing of all sections."""
        return timing_of(self.done)


def timing_of(pairs: list[tuple[float, float]]) -> Timing:
    """The time of sections of one kind.

    Args:
        pairs: the work of each and its processor seconds.

    Returns:
        A Timing: zeros without sections.
    """
    sections = np.array([pair for pair in pairs if pair[0] > 0], float).reshape(-1, 2)
    if not sections.size:
        return Timing()
    work, paces = sections[:, 0], sections[:, 1] / sections[:, 0]
    order = np.argsort(paces, kind="stable")
    below = np.cumsum(work[order]) - 0.5 * work[order]
    shares = below / work.sum()
    at = np.interp((0.5, OUTER, 1.0 - OUTER), shares, paces[order])
    return Timing(*(float(pace * work.sum()) for pace in at))
