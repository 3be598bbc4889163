"""Progress of a batch on standard error: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from sciprec.batch.estimate import estimates
from sciprec.comparison.wording import duration
from sciprec.errors import printable

SECONDS_BETWEEN_LINES = 10.0
"""Between lines about one run where there is no terminal."""
_LEAST_WORK = 0.1
"""Seconds that every run takes in the forecast, whatever its model."""


class Progress:
    """What of a batch is done, how fast it goes, and how long the rest may take.

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
        self._start = time.perf_counter()
        self._count = self._begun = self._to_compile = 0
        self._work: dict[str, float] = {}
        self._whole = 0.0
        self._compiling: dict[tuple[str, str], float] = {}
        self._told: set[tuple[str, str]] = set()
        self._done = self._kept = 0.0
        self._said: dict[str, float] = {}
        self._shares: dict[str, float] = {}
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def planned(self, runs: Sequence[Any]) -> None:
        """The plan is known."""
        self._work, self._compiling = _work_of(runs)
        self._whole = sum(self._work.values()) + sum(self._compiling.values())
        self._to_compile = len(self._compiling)
        self._task = self._bar.add_task("runs", total=len(runs), left="")

    def cluster(self, words: str) -> None:
        """Where the runs are computed, if not in this process."""
        if not self._quiet:
            self._line(words)

    def days(self, run: Any, days: float) -> None:
        """A run is at a simulated day; said at once on a terminal, else every ten seconds."""
        name, whole = _name(run.scenario.name, run), run.scenario.climate.days
        self._shares[run.file] = days / whole
        self._compiled(run.scenario.name, run.label)
        if not self._bar.disable:
            if run.file not in self._tasks:
                task = self._bar.add_task(f"days of {printable(name)}", total=whole, left="")
                self._tasks[run.file] = task
            self._bar.update(self._tasks[run.file], completed=round(days, 1))
            return
        now = time.perf_counter()
        if now - self._said.setdefault(run.file, now) < SECONDS_BETWEEN_LINES:
            return
        self._said[run.file] = now
        if not self._quiet:
            told = f"{now - self._start:.1f} s so far", self._left()
            self._line(f"{name}: day {days:.4g} of {whole:g} ({'; '.join(filter(None, told))})")

    def compiling(self, run: Any) -> None:
        """The kernels of a run are being compiled."""
        self._begun += 1
        self._told.add((run.scenario.name, run.label))
        count = f"; {self._begun} of {self._to_compile}" if self._begun <= self._to_compile else ""
        if not self._quiet:
            self._line(f"{_name(run.scenario.name, run)}: compiling (first time only{count})")

    def done(self, outcome: Any) -> None:
        """A run ended."""
        self._count += 1
        self._shares.pop(outcome.file, None)
        work = self._work.get(outcome.file, 0.0)
        self._done += work
        if not outcome.kept:
            self._compiled(outcome.scenario, outcome.label)
        self._kept += work if outcome.kept else 0.0
        left = self._left()
        self._bar.update(self._task, advance=1, left=left)
        if outcome.file in self._tasks:
            self._bar.remove_task(self._tasks.pop(outcome.file))
        if self._quiet:
            return
        ending = "kept, computed before" if outcome.kept else "" if outcome.failure else "done"
        failed = f"failed: {outcome.failure}" if outcome.failure else ""
        ending = ", ".join(words for words in (ending, failed) if words)
        elapsed = f"{time.perf_counter() - self._start:.1f} s so far"
        told = (f"{outcome.seconds:.1f} s", outcome.pace, elapsed, left)
        self._line(
            f"[{self._count}/{len(self._work)}] {_name(outcome.scenario, outcome)}: {ending} "
            f"({'; '.join(words for words in told if words)})",
            style="red" if outcome.failure else "default",
        )

    def _compiled(self, scenario: str, label: str) -> None:
        """One of the runs with these kernels is beyond compiling them, whichever was the first; so
        are those whose compiling was told of before.
        """
        for kernels in (*self._told, (scenario, label)):
            self._done += self._compiling.pop(kernels, 0.0)
        self._told.clear()

    def _left(self) -> str:
        """How long the rest may take at the pace so far; empty where that is not known yet."""
        begun = sum(share * self._work.get(file, 0.0) for file, share in self._shares.items())
        computed = self._done - self._kept + begun
        rest = self._whole - self._done - begun
        if not computed or rest <= 1e-9:
            return ""
        return f"about {duration((time.perf_counter() - self._start) * rest / computed)} left"

    def _line(self, text: str, style: str = "default") -> None:
        """A line of plain words on standard error."""
        self._console.print(
            printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True, style=style
        )


def _work_of(runs: Sequence[Any]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """By file, the work of each run in seconds of its forecast, all alike where one has none; and
    by scenario and label what is to be compiled.
    """
    told = list(zip(runs, estimates(runs), strict=True))
    if any(forecast.seconds is None for _, forecast in told):
        return {run.file: 1.0 for run in runs}, {}
    compiling = {
        (run.scenario.name, run.label): forecast.compile_seconds
        for run, forecast in told
        if forecast.compile_seconds
    }
    return {run.file: _LEAST_WORK + forecast.seconds for run, forecast in told}, compiling


def _name(scenario: str, run: Any) -> str:
    """What a run or its outcome is called: "mountain in fp16, member 3"."""
    return f"{scenario} in {run.label}" + (f", member {run.member}" if run.member else "")
