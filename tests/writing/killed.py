"""Processes that are killed between any two steps on files."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

_EVENTS = ("open", "os.", "shutil.")
"""Starts of the names of audit events that a step on files raises."""


def killed_at_every_step(action: Callable[[], object], look: Callable[[], object]) -> int:
    """Do something again and again, each time in a process that is killed one step later, until one
    gets to its end.

    Args:
        action: done in a copy of this process, which therefore has one thread.
        look: done after each kill, in this process; it puts everything back.

    Returns:
        How many processes were killed.
    """
    for step in range(10_000):
        child = os.fork()
        if child == 0:
            left = [step]

            def hear(event: str, _: tuple, left: list[int] = left) -> None:
                if event.startswith(_EVENTS) and event != "os.kill":
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            try:
                sys.addaudithook(hear)
                action()
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        look()
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, "the action failed"
            return step
    raise AssertionError("the action has no end")
