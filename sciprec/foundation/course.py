"""Progress of long work: whoever does it tells, and whoever shows it listens."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

Tell = Callable[[str, int, int], None]
"""A listener: called with the name of the work, how much of it is done, and how much there is, or 0
where nobody knows."""
_listener: ContextVar[Tell | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def listening(tell: Tell) -> Iterator[None]:
    """Hear of long work on this thread, for a `with` statement."""
    before = _listener.set(tell)
    try:
        yield
    finally:
        _listener.reset(before)


def tell(what: str, done: int, whole: int) -> None:
    """Say how far long work has come, to nobody where nobody listens.

    Example:
        `tell("comparing height", 3_000_000, 40_000_000)`
    """
    listener = _listener.get()
    if listener is not None:
        listener(what, done, whole)
