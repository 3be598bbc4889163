"""Progress on standard error, of batches and of long steps: on a terminal bars and a line that is
written anew, elsewhere plain lines.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from sciprec.foundation.errors import printable
from sciprec.workbench.batch.course import Course, length_of, name_of

SECONDS_BETWEEN_LINES = 10.0
"""Seconds between lines about one run where there is no terminal."""
SECONDS_IN_SILENCE = 2.0
"""Seconds of waiting before a terminal shows it."""


class Progress:
    """The course of a batch on standard error.

    Args:
        quiet: say nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            disable=quiet or not self._console.is_terminal,
        )
        self._course = Course()
        self._said: dict[str, float] = {}
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def planned(self, runs: Sequence[Any]) -> None:
        """The plan is known."""
        self._course.planned(runs)
        for words in () if self._quiet else dict.fromkeys(w for run in runs for w in _resets(run)):
            self._line(words)
        self._task = self._bar.add_task("runs", total=len(runs), left="")

    def cluster(self, words: str) -> None:
        """Print where the runs are computed, if not in this process."""
        if not self._quiet:
            self._line(words)

    def days(self, run: Any, days: float) -> None:
        """Report the progress of a run; at once on a terminal, else every ten seconds."""
        words = self._course.days(run, days)
        if not self._bar.disable:
            if run.file not in self._tasks:
                name = printable(name_of(run.scenario.name, run))
                length, unit = length_of(run) or (None, "progress")
                title = f"{unit}s of {name}" if length else name
                self._tasks[run.file] = self._bar.add_task(title, total=length, left="")
            self._bar.update(self._tasks[run.file], completed=round(days, 1))
            return
        now = time.perf_counter()
        if now - self._said.setdefault(run.file, now) < SECONDS_BETWEEN_LINES:
            return
        self._said[run.file] = now
        if not self._quiet:
            self._line(words)

    def compiling(self, run: Any) -> None:
        """The kernels of a run are being compiled."""
        words = self._course.compiling(run)
        if not self._quiet:
            self._line(words)

    def done(self, outcome: Any) -> None:
        """A run ended."""
        words = self._course.done(outcome)
        self._bar.update(self._task, advance=1, left=self._course.left())
        if outcome.file in self._tasks:
            self._bar.remove_task(self._tasks.pop(outcome.file))
        if not self._quiet:
            self._line(words, style="red" if outcome.failure else "default")

    def _line(self, text: str, style: str = "default") -> None:
        """A line of plain words on standard error."""
        self._console.print(
            printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True, style=style
        )


class Waiting:
    """Progress of long work in one step, on standard error: from two seconds on on a terminal, else
    a line every ten seconds.

    Args:
        words: what is done, until `tell` says more.
    """

    def __init__(self, words: str) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status(_words(words))
        self._words = words
        self._begun = time.perf_counter()
        self._said = time.perf_counter()
        self._timer = threading.Timer(SECONDS_IN_SILENCE, self._show)
        self._ending = threading.Lock()
        self._ended = False

    def __enter__(self) -> Waiting:
        self._timer.daemon = True
        if self._console.is_terminal:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._ending:
            self._timer.cancel()
            self._ended = True
            self._status.stop()

    def _show(self) -> None:
        with self._ending:
            if not self._ended:
                self._status.start()

    def every_ten_seconds(self) -> None:
        """Say on a line of its own, where there is no terminal, for how long the work has been
        going on, also while nobody tells how far it is.
        """
        if not self._console.is_terminal:
            self._timer = threading.Timer(SECONDS_BETWEEN_LINES, self._goes_on)
            self._timer.daemon = True
            self._timer.start()

    def _goes_on(self) -> None:
        with self._ending:
            if self._ended:
                return
            now = time.perf_counter()
            if now - self._said >= SECONDS_BETWEEN_LINES / 2.0:
                self._said = now
                words = f"{self._words} ({now - self._begun:.0f} s)"
                self._console.print(_words(words), soft_wrap=True)
            self.every_ten_seconds()

    def tell(self, what: str, done: int, whole: int) -> None:
        """Work has come so far."""
        self._words = f"{what}: {done:,} of {whole:,}"
        words = _words(self._words)
        if self._console.is_terminal:
            return self._status.update(words)
        now = time.perf_counter()
        if now - self._said >= SECONDS_BETWEEN_LINES:
            self._said = now
            self._console.print(words, soft_wrap=True)


def _words(words: str) -> Text:
    return Text(printable(words))


def _resets(run: Any) -> list[str]:
    """Sentences on the resets of a run's compensation."""
    from sciprec.arrays.sums.compensation import Compensation, reset_sentence

    choice = run.variant.compensation
    resolved = choice.resolved()
    shares = resolved.values() if isinstance(resolved, dict) else (resolved,)
    sentences = [reset_sentence(share) for share in shares if isinstance(share, Compensation)]
    return [f"compensation '{choice.name}': {words}" for words in sentences if words]
