"""The course of a batch: runs done and left, and a line of words for each thing that happens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from sciprec.results.comparison.wording import duration
from sciprec.workbench.batch.estimate import estimates
from sciprec.workbench.kinds import kind_of

_LEAST_WORK = 0.1
"""Seconds that every run takes in the forecast, whatever its model."""


class BatchProgress:
    """Progress of a batch: what is done, how fast it goes, and how long the rest may take."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._count = self._begun = self._to_compile = 0
        self._work: dict[str, float] = {}
        self._total = 0.0
        self._compiling: dict[tuple[str, str], float] = {}
        self._announced: set[tuple[str, str]] = set()
        self._done = self._restored = 0.0
        self._shares: dict[str, float] = {}

    def planned(self, runs: Sequence[Any]) -> None:
        """Note the plan; runs before it are not counted."""
        self._start = time.perf_counter()
        self._work, self._compiling = work_of(runs)
        self._total = sum(self._work.values()) + sum(self._compiling.values())
        self._to_compile = len(self._compiling)

    def days(self, run: Any, days: float) -> str:
        """A run has come so far, in the unit of its kind's length: simulated days of a climate."""
        length = length_of(run)
        if length is None:
            at = f"at {days:.4g}"
        else:
            total, unit = length
            self._shares[run.file] = min(1.0, days / total)
            at = f"{unit} {days:.4g} of {total:g}"
        self._compiled(run.scenario.name, run.label)
        notes = f"{self.seconds:.1f} s so far", self.left()
        name = name_of(run.scenario.name, run)
        return f"{name}: {at} ({'; '.join(filter(None, notes))})"

    def compiling(self, run: Any) -> str:
        """The kernels of a run are being compiled."""
        self._begun += 1
        self._announced.add((run.scenario.name, run.label))
        count = f"; {self._begun} of {self._to_compile}" if self._begun <= self._to_compile else ""
        return f"{name_of(run.scenario.name, run)}: compiling (first time only{count})"

    def done(self, outcome: Any) -> str:
        """A run ended."""
        self._count += 1
        self._shares.pop(outcome.file, None)
        work = self._work.get(outcome.file, 0.0)
        self._done += work
        if not outcome.kept:
            self._compiled(outcome.scenario, outcome.label)
        self._restored += work if outcome.kept else 0.0
        ending = "kept, computed before" if outcome.kept else "" if outcome.failure else "done"
        failed = f"failed: {outcome.failure}" if outcome.failure else ""
        failed += _alerts(outcome.alerts)
        ending = ", ".join(words for words in (ending, failed) if words)
        ending += "".join(f"; {note}" for note in outcome.notes)
        elapsed = f"{self.seconds:.1f} s so far"
        notes = (f"{outcome.seconds:.1f} s", outcome.pace, elapsed, self.left())
        return (
            f"[{self._count}/{len(self._work)}] {name_of(outcome.scenario, outcome)}: {ending} "
            f"({'; '.join(words for words in notes if words)})"
        )

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self._start

    def left(self) -> str:
        """The time that the rest may take at the pace so far; empty where it is not known yet."""
        begun = sum(share * self._work.get(file, 0.0) for file, share in self._shares.items())
        computed = self._done - self._restored + begun
        remaining = self._total - self._done - begun
        if not computed or remaining <= 1e-9:
            return ""
        return f"about {duration(self.seconds * remaining / computed)} left"

    def _compiled(self, scenario: str, label: str) -> None:
        """One of the runs with these kernels is beyond compiling them, whichever was the first; so
        are those whose compiling was told of before.
        """
        for kernels in (*self._announced, (scenario, label)):
            self._done += self._compiling.pop(kernels, 0.0)
        self._announced.clear()


def _alerts(alerts: Sequence[str]) -> str:
    """The first alert of a run's monitor, and how many more there are."""
    if not alerts:
        return ""
    further = f", and {len(alerts) - 1} more" if len(alerts) > 1 else ""
    return f" ALERT: {alerts[0]}{further}"


def work_of(runs: Sequence[Any]) -> tuple[dict[str, float], dict[tuple[str, str], float]]:
    """The work of runs by file, in seconds of their forecasts, all alike where one has none; and by
    scenario and label what is to be compiled.
    """
    forecasts = list(zip(runs, estimates(runs), strict=True))
    if any(forecast.seconds is None for _, forecast in forecasts):
        return {run.file: 1.0 for run in runs}, {}
    compiling = {
        (run.scenario.name, run.label): forecast.compile_seconds
        for run, forecast in forecasts
        if forecast.compile_seconds
    }
    return {
        run.file: _LEAST_WORK + (forecast.seconds or 0.0) for run, forecast in forecasts
    }, compiling


def length_of(run: Any) -> tuple[float, str] | None:
    """The length of a run and its unit, by its kind; None where the kind does not say."""
    return kind_of(run.scenario).length(run.scenario.table)


def name_of(scenario: str, run: Any) -> str:
    """The name of a run or its outcome: "mountain in fp16, member 3"."""
    return f"{scenario} in {run.label}" + (f", member {run.member}" if run.member else "")
