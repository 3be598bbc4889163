"""Progress of long work: whoever does it tells, and whoever shows it listens."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar

Tell = Callable[[str, int, int], None]
"""A listener: called with the name of the work, how much of it is done, and how much there is, or 0
where nobody knows."""
SECONDS_BETWEEN_LOOKS = 0.2
"""Seconds between looks at how far a compiled call is."""
_listener: ContextVar[Tell | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def listening(tell: Tell) -> Iterator[None]:
    """Hear of long work on this thread, for a `with` statement."""
    before = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(before)


def tell(label: str, count: int, total: int) -> None:
    """Say how far long work has come, to nobody where nobody listens.

    Example:
        `tell("comparing height", 3_000_000, 40_000_000)`
    """
    listener = _listener.get()
    if listener is not None:
        listener(label, count, total)


@contextlib.contextmanager
def followed(read: Callable[[], tuple[str, int, int] | None]) -> Iterator[None]:
    """Tell how far a compiled call is that counts in memory as it goes, for a `with` statement.

    A thread of its own looks, and tells the listener of this thread whenever the count has grown.
    The call has to let go of the interpreter's lock. Where nobody listens, nothing looks.

    Args:
        read: gives the name of the work, how much of it is done and how much there is; None while
            nothing is counted.
    """
    listener = _listener.get()
    if listener is None:
        yield
        return
    end, last = threading.Event(), [read()]

    def look() -> None:
        while not end.wait(SECONDS_BETWEEN_LOOKS):
            now = read()
            if now != last[0]:
                last[0] = now
                listener(*(now or ("the rest of the call", 0, 0)))

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        end.set()
        looking.join()
