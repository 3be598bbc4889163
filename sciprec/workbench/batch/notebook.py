"""The course of a batch, in one line of a notebook's output."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from sciprec.foundation.listing import counted
from sciprec.foundation.notebook import NotebookLine
from sciprec.workbench.batch.course import BatchProgress

_SECONDS_BETWEEN_DAYS = 0.5


def listeners() -> dict[str, Callable]:
    """The callbacks of `sciprec.run` that write the line."""
    return _Told().callbacks()


class _Told:
    """A batch in one line: the last event, and how much is left."""

    def __init__(self) -> None:
        self._course, self._line = BatchProgress(), NotebookLine()
        self._runs = self._done = self._failed = 0
        self._reported = 0.0

    def callbacks(self) -> dict[str, Callable]:
        return {
            "on_plan": self._planned, "on_done": self._finished, "on_days": self._days,
            "on_compiling": lambda run: self._line.write(self._course.compiling(run)),
            "on_cluster": self._line.write,
        }  # fmt: skip

    def _planned(self, runs: Sequence[Any]) -> None:
        self._course.planned(runs)
        self._runs = len(runs)
        self._line.write(f"{counted(self._runs, 'run')} to do")

    def _days(self, run: Any, days: float) -> None:
        words = self._course.days(run, days)
        if time.perf_counter() - self._reported >= _SECONDS_BETWEEN_DAYS:
            self._reported = time.perf_counter()
            self._line.write(words)

    def _finished(self, outcome: Any) -> None:
        words = self._course.done(outcome)
        self._done += 1
        self._failed += bool(outcome.failure)
        if self._done == self._runs:
            words = f"{counted(self._runs, 'run')} in {self._course.seconds:.1f} s"
        failed = f"; {self._failed} failed" if self._failed else ""
        self._line.write(words + failed)
