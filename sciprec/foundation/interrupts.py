"""Ctrl-C where it would break something: deferred while modules are imported or kernels compiled,
and raised again where Python drops it.

All of it concerns the main thread, the only one in which Python handles signals; elsewhere, and
where a program has no SIGINT handler in Python, nothing is changed.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

INSIST_SECONDS = 1.0
LONGEST_DEFERRAL = 0.05
"""Seconds after which a command that was interrupted ends in the middle of what it defers for."""


class _Deferral:
    """A SIGINT handler that notes the first signal; the second goes to the handler before it.

    Args:
        before: that handler.
    """

    def __init__(self, before: Callable[[int, FrameType | None], object]) -> None:
        self._before = before
        self._noted = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._noted += 1
        if _deferral is not self or self._noted > 1:
            self.end()

    def begin(self) -> None:
        """Take the place of the handler."""
        global _deferral
        signal.signal(signal.SIGINT, self)
        _deferral = self

    def end(self) -> None:
        """Put the handler back, if nobody has put another, and call it for each noted signal."""
        global _deferral
        _deferral = None
        if signal.getsignal(signal.SIGINT) is self:
            signal.signal(signal.SIGINT, self._before)
        while self._noted:
            self._noted -= 1
            self._before(signal.SIGINT, sys._getframe())


_deferral: _Deferral | None = None
"""The one in force."""


@contextlib.contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Handle Ctrl-C when the block ends, for a `with` statement: by a handler that the program has
    set, or as KeyboardInterrupt. A second Ctrl-C does not wait. Blocks inside one another are one.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(before) or _deferral is not None:
        yield
        return
    deferral = _Deferral(before)
    try:
        deferral.begin()
    except ValueError:  # an interpreter beside the main one
        yield
        return
    try:
        yield
    finally:
        deferral.end()


@contextlib.contextmanager
def ended_if_deferred(leave: Callable[[], object]) -> Iterator[None]:
    """Let Ctrl-C end a process soon, for a `with` statement: where it is still deferred after
    LONGEST_DEFERRAL, `leave` is called from another thread. It has to end the process.
    """
    import socket

    sending, hearing = socket.socketpair()
    sending.setblocking(False)
    try:
        before = signal.set_wakeup_fd(sending.fileno(), warn_on_full_buffer=False)
    except ValueError:  # not the main thread
        before = None

    def listen() -> None:
        while heard := hearing.recv(1):
            deferral = _deferral
            if heard[0] in (signal.SIGINT, signal.SIGTERM) and deferral is not None:
                time.sleep(LONGEST_DEFERRAL)
                if _deferral is deferral:
                    leave()

    listening = threading.Thread(target=listen, daemon=True)
    listening.start()
    try:
        yield
    finally:
        if before is not None:
            signal.set_wakeup_fd(before)
        sending.close()
        listening.join()
        hearing.close()


@contextlib.contextmanager
def terminated_as_by_interrupts() -> Iterator[None]:
    """Let SIGTERM end a process as Ctrl-C does, for a `with` statement, so that what is temporary
    goes; a program that handles or ignores it goes on to do so.
    """

    def interrupt(_: int, frame: FrameType | None) -> None:
        handler = signal.getsignal(signal.SIGINT)
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextlib.contextmanager
def insistent_interrupts() -> Iterator[None]:
    """Let Ctrl-C leave the block: the interrupt is raised again every second until it does.

    Python drops an exception that is raised while a destructor or a callback of its own runs, and
    with it the only KeyboardInterrupt.
    """
    main = threading.main_thread()
    if threading.current_thread() is not main or not hasattr(signal, "pthread_kill"):
        yield
        return
    has_left = threading.Event()

    def insist() -> None:
        while not has_left.wait(INSIST_SECONDS):
            signal.pthread_kill(main.ident, signal.SIGINT)

    insisting = threading.Thread(target=insist, daemon=True)

    def interrupted(*_: object) -> None:
        if insisting.ident is None:
            insisting.start()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        has_left.set()
        signal.signal(signal.SIGINT, before)
