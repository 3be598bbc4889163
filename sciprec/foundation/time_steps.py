"""Time steps as a model makes them: a listener on its thread hears where they begin."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable, Iterator
from typing import Protocol


class Listener(Protocol):
    """A listener that is told what a model does."""

    def begins(self, step: int, inside: bool) -> None:
        """A time step begins; `inside`: and further ones with the passes of a kernel's loop."""
        ...

    def ends(self) -> None:
        """End the steps: later values belong to no step."""
        ...

    def shown(self) -> None:
        """Note a step whose beginning was not announced."""
        ...

    def updated(self, state: Hashable) -> None:
        """An increment has been added to a state."""
        ...


_of_thread = threading.local()


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let somebody listen on this thread, alone."""
    before = _listener()
    _of_thread.listener = listener
    try:
        yield
    finally:
        _of_thread.listener = before


def step_begins(step: int, inside: bool = False) -> None:
    """Say that a time step begins.

    Args:
        step: its number, from 1.
        inside: whether each pass of the outermost loop of the kernels that are called next is a
            step, the first one of this number.
    """
    if (listener := _listener()) is not None:
        listener.begins(step, inside)


def steps_end() -> None:
    """Announce that later values belong to no step."""
    if (listener := _listener()) is not None:
        listener.ends()


def step_was_shown() -> None:
    """Say that a step has been made, whose beginning is not known."""
    if (listener := _listener()) is not None:
        listener.shown()


def state_was_updated(state: Hashable) -> None:
    """Say that an increment has been added.

    Args:
        state: what tells one state from others.
    """
    if (listener := _listener()) is not None:
        listener.updated(state)


def _listener() -> Listener | None:
    return getattr(_of_thread, "listener", None)
