"""Remedies for an arithmetic, suggested only where a run of the same batch shows that they help."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.cost.work import stored_bytes
from sciprec.facets.compensation import PLAIN
from sciprec.report.stored.batch import StoredRun
from sciprec.report.stored.shown import main_error
from sciprec.results.comparison.rows import ComparisonRow, main_row
from sciprec.results.comparison.verdicts import STATUS_WORDS, SUFFICIENT, margin_in_words
from sciprec.results.comparison.wording import factor, short_names

LEAST_GAIN = 3.0
"""A suggestion has to reduce the error by this factor in the run that verifies it."""
RELATIVE = 0.9
"""The correlation of logarithms from which on an error is said to follow the magnitude."""
LEAST_SIZES = 4
_NOT_OF_RESULTS = ("name", "title", "backends", "compensation", "monitor", "trace")
"""Keys of scenarios that tell nothing of what a run in one arithmetic comes to."""


@dataclass(frozen=True)
class Suggestion:
    """One change that a run of the batch has tried.

    Args:
        label: of the arithmetic that is helped.
        scenario: in which.
        observed: what its errors show; empty where they show nothing in particular.
        change: what to do.
        gain: error without over error with it, by the verifying run; of the error that the
            tolerances hold, or else of relative l2 of the main variable.
        result: what the verifying run shows.
        command: that shows the gain again from the stored files.
        file: of the run that shows it.
    """

    label: str
    scenario: str
    observed: str
    change: str
    gain: float
    result: str
    command: str
    file: str

    @property
    def sentence(self) -> str:
        """ "...: keep the residual; verified by a run: × 31 becomes ÷ 3.1, good enough"."""
        prefix = f"{self.observed}: " if self.observed else ""
        return f"{prefix}{self.change}; verified by a run: {self.result}"


def suggestions(
    runs: Sequence[StoredRun], folder: str, others: Sequence[StoredRun] = ()
) -> list[Suggestion]:
    """Suggestions for each arithmetic of a scenario, the largest gain for each kind of change. Of
    an arithmetic those that are not good enough come last.

    Args:
        runs: of one scenario.
        folder: of their files, for the commands.
        others: of the batch's other scenarios; one that differs by a switch of its model alone,
            such as `carried`, shows what that does.

    Returns:
        Suggestions for runs that miss a tolerance or have none to meet; nothing where no run of
        the batch verifies any.
    """
    compared = [run for run in runs if run.comparison is not None and not run.is_truth]
    stopped = [run for run in runs if run.verdict.status == "failed" and not run.is_truth]
    names = short_names(run.label for run in runs)
    switched = _switched(runs, others) if others else []
    result = []
    for run in [run for run in runs if run in compared or (compared and run in stopped)]:
        if run.verdict.status in SUFFICIENT or run.is_truth:
            continue
        changes = _changes(run, compared, names)
        changes += [
            (change, o) for change, o in switched
            if o.label == run.label and o.verdict.status in SUFFICIENT
        ]  # fmt: skip
        for change, helper in sorted(changes, key=lambda c: c[1].verdict.status not in SUFFICIENT):
            gain = _gain(run, helper)
            mended = helper.verdict.status in SUFFICIENT and not run.verdict.acceptable
            if mended or (gain >= LEAST_GAIN and run not in stopped):
                truth = next(
                    r for r in (*runs, *others) if r.is_truth and r.scenario == helper.scenario
                )
                command = f"sciprec compare {folder}/{truth.file} {folder}/{helper.file}"
                result.append(Suggestion(
                    run.label, run.scenario, observed(run), change, gain,
                    _result(run, helper, gain), command, helper.file,
                ))  # fmt: skip
    return result


def _switched(
    runs: Sequence[StoredRun], more_runs: Sequence[StoredRun]
) -> list[tuple[str, StoredRun]]:
    """Runs of scenarios that differ from one by a switch alone, with the switch in words."""
    stated = {run.scenario: _stated(run.description) for run in (*more_runs, *runs) if run.is_truth}
    base = stated.get(runs[0].scenario, {}) if runs else {}
    result = []
    for run in more_runs:
        changed = stated.get(run.scenario, {})
        keys = [k for k in base.keys() | changed.keys() if base.get(k) != changed.get(k)]
        if len(keys) == 1 and {type(base.get(keys[0])), type(changed.get(keys[0]))} == {bool}:
            switch = f"{keys[0][-1]} = {str(changed[keys[0]]).lower()}"
            result.append((f"{switch}, by which alone {run.scenario} differs", run))
    return result


def _stated(description: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    """The values by which a scenario's results can differ, each under the keys that lead to it."""
    if not description:
        return {}
    values, pending = {}, [((), {k: v for k, v in description.items() if k not in _NOT_OF_RESULTS})]
    while pending:
        keys, value = pending.pop()
        if isinstance(value, Mapping):
            pending += [((*keys, k), v) for k, v in value.items()]
        else:
            values[keys] = value
    return values


def observed(run: StoredRun) -> str:
    """A sentence on where a run's errors come from, as far as they show it; else empty.

    The error follows the magnitude where the logarithms of the typical error and of the size of the
    values, by powers of two and weighted by their numbers, correlate by 0.9 or more.
    """
    if run.comparison is None:
        return ""
    row = main_row(run.comparison)
    correlation = magnitude_correlation(row)
    if correlation >= RELATIVE:
        return f"the error of {row.variable} follows the magnitude (correlation {correlation:.2f})"
    return ""


def magnitude_correlation(row: ComparisonRow) -> float:
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


def _changes(
    run: StoredRun, runs: Sequence[StoredRun], names: Mapping[str, str]
) -> list[tuple[str, StoredRun]]:
    """Changes that other runs of the scenario stand for, with the run that shows the best gain."""
    runs = [o for o in runs if o.stages == run.stages]
    carried = [o for o in runs if o.backend == run.backend and o.compensation != PLAIN]
    compared = [o for o in runs if o.compensation == run.compensation and o.backend != run.backend]
    single = [o for o in compared if o.width[0]]
    as_wide = [] if not run.width[0] else [
        o for o in single if stored_bytes(o.backend) == stored_bytes(run.backend)
    ]  # fmt: skip
    wider = [o for o in single
             if (o.size > run.size or not run.width[0]) and o.verdict.acceptable]  # fmt: skip
    mixed = [o for o in compared if not o.width[0] and o.verdict.acceptable]
    changes = []
    if run.compensation == PLAIN and carried:
        best = min(carried, key=_error)
        changes.append((f"keep the residual (compensation '{best.compensation}')", best))
    smallest = min(wider, key=lambda o: (o.size, _error(o)), default=None)
    nearest = min(as_wide, key=_error, default=None)
    if nearest is not None and (nearest is not smallest or run.verdict.acceptable):
        changes.append((f"take {names[nearest.label]} instead, of as many bytes", nearest))
    if run.verdict.acceptable:
        return changes
    if smallest is not None:
        suffix = "out compensation" if run.compensation == PLAIN else f" '{run.compensation}'"
        size = f"{names[smallest.label]} ({smallest.width[0]} bits)"
        of_all = f"smallest{' single format' * bool(mixed)} with{suffix}"
        changes.append((f"take {size} instead, the {of_all} that is good enough", smallest))
    if mixed:
        best = max(mixed, key=_error)  # the tightest, which has most narrow places
        changes.append((f"take {names[best.label]} instead, of mixed formats", best))
    return changes


def _margin(run: StoredRun) -> float:
    """The error over the tolerance, as a cell of the matrix has it; NaN where it has none."""
    verdict = run.verdict
    fixed = {"identical": 0.0, "broken": math.inf, "failed": math.inf}
    if verdict.status in fixed:
        return fixed[verdict.status]
    judged = verdict.status == "good" or (verdict.status == "beyond" and verdict.margin > 1.0)
    return verdict.margin if judged else math.nan


def _relative_l2(run: StoredRun) -> float:
    """The relative l2 error of the main variable; infinite where the run broke or stopped."""
    if run.comparison is None:
        return math.inf
    error = main_error(run).errors["relative_l2"]
    return math.inf if run.verdict.status == "broken" or math.isnan(error) else error


def _error(run: StoredRun) -> tuple[float, float]:
    """Order of runs by their errors: over the tolerances where these can be held."""
    margin = _margin(run)
    return math.inf if math.isnan(margin) else margin, _relative_l2(run)


def _gain(run: StoredRun, helper: StoredRun) -> float:
    """The factor by which the helper's error is smaller; 0 where it is not known."""
    without, with_it = _margin(run), _margin(helper)
    if math.isnan(without) or math.isnan(with_it):
        without, with_it = _relative_l2(run), _relative_l2(helper)
    if not math.isfinite(with_it):
        return 0.0
    return math.inf if with_it == 0.0 else without / with_it


def _result(run: StoredRun, helper: StoredRun, gain: float) -> str:
    """The gain in words: by the cells of the matrix, or of an error that is named."""
    before, after = (
        "still (moves too little)" if verdict.status == "still" else margin_in_words(verdict)
        for verdict in (run.verdict, helper.verdict)
    )
    outcome = STATUS_WORDS[helper.verdict.status]
    if helper.verdict.status in ("beyond", "still"):
        outcome = "which helps, and not enough"
    is_judged = {run.verdict.status, helper.verdict.status}.isdisjoint(("unjudged", "doubtful"))
    if is_judged and before != after:
        return f"{before} becomes {after}" + (f", {outcome}" if after != outcome else "")
    smaller = "0" if math.isinf(gain) else f"{factor(gain)} times smaller"
    error = f"the relative l2 error of {main_error(helper).variable} over all stored values"
    return f"{error} is {smaller}, {outcome}"
