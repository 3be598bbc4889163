"""The course of a batch: runs done and left, estimates of what is left from speeds that were
measured elsewhere, and a line of words for each thing that happens; one line in a notebook.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import replace
from typing import Any

from sciprec.facets.stages.keys import MODEL_STAGES
from sciprec.foundation.listing import counted
from sciprec.foundation.notebook import NotebookLine
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.results.comparison.wording import duration
from sciprec.workbench.batch.compiling import is_compiled, kernels_of
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds import Estimate, kind_of

_LEAST_WORK = 0.1
"""Seconds that every run takes in the forecast, whatever its model."""
_STAGED = 3.0
"""The factor by which a run takes longer if its transforms have arithmetics of their own (the
scenarios transform_stages and transform_stages_wave).
"""
_SLOW_TO_COMPILE = 3.0
"""The factor by which compiling takes longer in fixed point (docs/lab/engine.md)."""
_SECONDS_BETWEEN_DAYS = 0.5


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


def estimate(run: Run) -> Estimate:
    """The forecast of a run, from its scenario alone, its kernels being compiled."""
    backend = resolve_backend(run.backend)
    slowness = _slowness(backend) * (1.0 if run.variant.stages == MODEL_STAGES else _STAGED)
    return kind_of(run.scenario).estimate(run.scenario.table, run.variant, slowness)


def estimates(runs: Iterable[Run], existing: Container[str] = ()) -> list[Estimate]:
    """The forecasts of runs; members of an ensemble share theirs.

    Args:
        runs: of a batch; of those with the same kernels the first one compiles them.
        existing: names of files that are there already.
    """
    by_kind: dict[tuple[str, str], tuple[Estimate, str]] = {}
    compiled: set[str] = set()
    result = []
    for run in runs:
        kind = run.scenario.name, run.label
        if kind not in by_kind:
            by_kind[kind] = estimate(run), kernels_of(run)
            if is_compiled(run):
                compiled.add(by_kind[kind][1])
        about, kernels = by_kind[kind]
        if run.file not in existing and kernels not in compiled:
            compiled.add(kernels)
            about = replace(about, compile_seconds=compile_seconds(run))
        result.append(about)
    return result


def compile_seconds(run: Run) -> float:
    """Seconds to compile the kernels of a run, roughly."""
    slowness = _SLOW_TO_COMPILE if resolve_backend(run.backend).fixed else 1.0
    return kind_of(run.scenario).compile_seconds * slowness


def _slowness(backend: Backend) -> float:
    """Time over that of fp64: float32 carriers in the processor's modes are faster, software
    roundings slower, fixed point the slowest.
    """
    arithmetic = backend.compute
    if backend.fixed:
        return 8.0
    if arithmetic.format.significand_bits >= 53 and not arithmetic.rule.random:
        return 1.0
    natural = arithmetic.format.significand_bits == 24 or arithmetic.rounding != "rn"
    if natural and not arithmetic.rule.random and backend.noise is None:
        return 0.8
    return 1.7 if arithmetic.format.significand_bits <= 11 and not arithmetic.rule.random else 8.0


def listeners() -> dict[str, Callable]:
    """The callbacks of `sciprec.run` that write the line."""
    return _BatchLine().callbacks()


class _BatchLine:
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
