"""Remedies for an arithmetic, suggested only where a run of the same batch shows that they help."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.cost.work import stored_bytes
from sciprec.facets.compensation import PLAIN
from sciprec.precision.formats.backend import resolve_backend
from sciprec.report.stored.batch import StoredRun
from sciprec.report.stored.shown import main_error
from sciprec.results.comparison.rows import Row, main_row
from sciprec.results.comparison.verdicts import outcome_in_words
from sciprec.results.comparison.wording import factor, short

LEAST_GAIN = 3.0
"""A suggestion has to reduce the error by this factor in the run that verifies it."""
RELATIVE = 0.9
"""The correlation of logarithms from which on an error is said to follow the magnitude."""
LEAST_SIZES = 4


@dataclass(frozen=True)
class Suggestion:
    """One change that a run of the batch has tried.

    Args:
        label: of the arithmetic that is helped.
        scenario: in which.
        observed: what its errors show; empty where they show nothing in particular.
        change: what to do.
        gain: error without over error with it, by the verifying run.
        command: that shows the gain again from the stored files.
        file: of the run that shows it.
        outcome: the verdict on that run, in words.
    """

    label: str
    scenario: str
    observed: str
    change: str
    gain: float
    command: str
    file: str
    outcome: str

    @property
    def sentence(self) -> str:
        """ "...: carry the residual; verified by a run: the error is 41 times smaller, ..."."""
        prefix = f"{self.observed}: " if self.observed else ""
        gain = f"the error is {factor(self.gain)} times smaller, {self.outcome}"
        return f"{prefix}{self.change}; verified by a run: {gain}"


def suggestions(runs: Sequence[StoredRun], folder: str) -> list[Suggestion]:
    """Suggestions for each arithmetic of a scenario, the largest gain for each kind of change.

    Args:
        runs: of one scenario.
        folder: of their files, for the commands.

    Returns:
        Suggestions for runs that miss a tolerance or have none to meet; nothing where no run of
        the batch verifies any.
    """
    compared = [run for run in runs if run.comparison is not None and not run.is_truth]
    result = []
    for run in compared:
        if run.verdict.status == "good":
            continue
        for change, helper in _changes(run, compared):
            gain = _gain(run, helper)
            if gain >= LEAST_GAIN:
                truth = next(r for r in runs if r.is_truth)
                command = f"sciprec compare {folder}/{truth.file} {folder}/{helper.file}"
                result.append(Suggestion(
                    run.label, run.scenario, observed(run), change, gain, command, helper.file,
                    outcome_in_words(helper.verdict),
                ))  # fmt: skip
    return result


def observed(run: StoredRun) -> str:
    """A sentence on where a run's errors come from, as far as they show it; else empty.

    The error follows the magnitude where the logarithms of the typical error and of the size of the
    values, by powers of two and weighted by their numbers, correlate by 0.9 or more.
    """
    row = main_row(run.comparison)
    correlation = magnitude_correlation(row)
    if correlation >= RELATIVE:
        return f"the error of {row.variable} follows the magnitude (correlation {correlation:.2f})"
    return ""


def magnitude_correlation(row: Row) -> float:
    """Correlation of log2(typical error) with log2(size), weighted by values; NaN below 4 sizes."""
    if row.statistics is None:
        return math.nan
    points = [
        (m["exponent"], math.log2(m["typical"]), m["points"] - m["exact"])
        for m in row.statistics.magnitudes
        if m["exponent"] is not None and m["typical"] > 0
    ]
    if len(points) < LEAST_SIZES:
        return math.nan
    sizes, errors, weights = np.array(points, float).T
    covariance = np.cov(sizes, errors, aweights=weights)
    spread = math.sqrt(covariance[0, 0] * covariance[1, 1])
    return float(covariance[0, 1] / spread) if spread > 0 else math.nan


def _changes(run: StoredRun, runs: Sequence[StoredRun]) -> list[tuple[str, StoredRun]]:
    """Changes that other runs of the scenario stand for, with the run that shows the best gain."""
    runs = [o for o in runs if o.stages == run.stages]
    carried = [o for o in runs if o.backend == run.backend and o.compensation != PLAIN]
    width = stored_bytes(run.backend)
    same_compensation = [
        o for o in runs if o.compensation == run.compensation and o.backend != run.backend
    ]
    as_wide = [o for o in same_compensation if stored_bytes(o.backend) == width]
    wider = [o for o in same_compensation if _size(o) > _size(run) and o.verdict.acceptable]
    changes = []
    if run.compensation == PLAIN and carried:
        best = min(carried, key=_error)
        changes.append((f"keep the residual (compensation '{best.compensation}')", best))
    smallest = min(wider, key=lambda o: (_size(o), _error(o)), default=None)
    nearest = min(as_wide, key=_error, default=None)
    if nearest is not None and (nearest is not smallest or run.verdict.acceptable):
        changes.append((f"{short(nearest.backend)} takes as many bytes", nearest))
    if smallest is not None and not run.verdict.acceptable:
        suffix = "out compensation" if run.compensation == PLAIN else f" '{run.compensation}'"
        by_place = smallest.backend.startswith("assignment:")
        bits = "formats by place" if by_place else f"{_size(smallest)[1]} bits"
        size = f"{short(smallest.backend)} ({bits})"
        changes.append((f"{size} is the smallest with{suffix} that meets the tolerances", smallest))
    return changes


def _size(run: StoredRun) -> tuple[int, int]:
    """Bytes of a number, then bits of its significand: a format of fewer is smaller."""
    return stored_bytes(run.backend), resolve_backend(run.backend).storage.format.significand_bits


def _error(run: StoredRun) -> float:
    """The relative l2 error of the main variable; infinite where the run broke."""
    error = main_error(run).errors["relative_l2"]
    return math.inf if run.verdict.status == "broken" or math.isnan(error) else error


def _gain(run: StoredRun, helper: StoredRun) -> float:
    """The factor by which the helper's error is smaller; 0 where it is not known."""
    without, with_it = _error(run), _error(helper)
    if not math.isfinite(with_it):
        return 0.0
    return math.inf if with_it == 0.0 else without / with_it
