"""Processor time of a model's function, without compilation."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from numba.core import event

from sciprec.foundation.timing import Timing


@dataclass
class ProcessorTime:
    """Processor seconds of a block on its thread, without compilation.

    Attributes:
        seconds: zero until the block ends.
    """

    seconds: float = 0.0


@contextlib.contextmanager
def processor_seconds() -> Iterator[ProcessorTime]:
    """Time a block on this thread, without Numba's compilation."""
    clock, compiling = ProcessorTime(), _Compiling()
    event.register("numba:compile", compiling)
    start = time.thread_time()
    try:
        yield clock
    finally:
        clock.seconds = time.thread_time() - start - compiling.seconds
        event.unregister("numba:compile", compiling)


class _Compiling(event.Listener):
    """Processor seconds that one thread compiles, nested compilations included.

    Attributes:
        seconds: so far.
    """

    def __init__(self) -> None:
        self._thread, self._depth, self._start = threading.get_ident(), 0, 0.0
        self.seconds = 0.0

    def on_start(self, event: event.Event) -> None:
        """Numba begins."""
        if threading.get_ident() == self._thread:
            self._start = self._start if self._depth else time.thread_time()
            self._depth += 1

    def on_end(self, event: event.Event) -> None:
        """Numba is done."""
        if threading.get_ident() == self._thread:
            self._depth -= 1
            self.seconds += 0.0 if self._depth else time.thread_time() - self._start


def timing_of(spent: Sequence[float]) -> Timing:
    """Processor time of a run that was repeated; the first one loads what the others find, and does
    not count where there are others.

    Args:
        spent: seconds of each.
    """
    ordered = sorted(spent[1:] or spent)
    return Timing(ordered[len(ordered) // 2], ordered[0], ordered[-1])
