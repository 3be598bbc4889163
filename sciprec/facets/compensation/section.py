"""Drift of global budgets and error at the end of each run, and what compensation gains."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sciprec.facets.compensation import PLAIN
from sciprec.facets.sections import PageSection, SectionRun
from sciprec.results.comparison.evidence.drift import BudgetDrift, drifts, gain
from sciprec.results.comparison.rows import growth
from sciprec.results.comparison.verdicts import main_row
from sciprec.results.comparison.wording import moment, time_unit
from sciprec.results.output.stated import BUDGETS


def drift_rows(runs: Sequence[SectionRun]) -> list[dict[str, Any]]:
    """One row for each run of a scenario whose files hold budgets over time, as plain data.

    Args:
        runs: those of one scenario.

    Returns:
        label, days, variable, error (relative l2 at the end), error_gain, and for each of the
        `budgets` its name (relative drift per day beyond fp64) and NAME_gain. A gain is the factor
        against the uncompensated run of the same arithmetic; None where there is none, or nothing
        to reduce. `per` and `end` say what a day is called, and the last time, in words; `named`
        whether the files name their budgets.
    """
    measured = [run for run in runs if run.dataset is not None and run.comparison is not None]
    truth = next((run for run in measured if run.is_truth), None)
    compared = [run for run in measured if not run.is_truth]
    if truth is None:
        return []
    drift_of = {run.label: drifts(truth.dataset, run.dataset) for run in compared}
    if not any(drift_of.values()):
        return []
    ends = {run.label: _error_at_end(truth, run) for run in compared}
    names = tuple(dict.fromkeys(name for by_name in drift_of.values() for name in by_name))
    time, rows = truth.dataset["time"], []
    for run in compared:
        if drift_of[run.label]:
            at_end = float(time[0]) + next(iter(drift_of[run.label].values())).days
            about = {"budgets": names, "per": time_unit(time.attrs),
                     "end": moment(at_end, time.attrs), "named": BUDGETS in truth.dataset.attrs}
            rows.append(_row(run, compared, drift_of, ends, names) | about)
    return rows


def _error_at_end(truth: SectionRun, run: SectionRun) -> float:
    """Relative l2 error of the main variable at the run's last time."""
    variable = main_row(run.comparison).variable
    ends = (side.dataset.isel(time=[-1]) for side in (truth, run))
    return float(growth(*ends, variable)[1][-1])


def _row(run: SectionRun, compared, drift_of, ends, names: Sequence[str]) -> dict[str, Any]:
    """A run's own numbers, and how many times smaller than those of its uncompensated twin."""
    alike = (o for o in compared if (o.backend, o.stages) == (run.backend, run.stages))
    twin = next((o for o in alike if o.compensation == PLAIN), None)
    if twin is run or (twin is not None and not drift_of[twin.label]):
        twin = None
    drifts = drift_of[run.label]
    error_gain = None if twin is None else _number_or_none(gain(ends[twin.label], ends[run.label]))
    row = {
        "label": run.label,
        "compensation": run.compensation,
        "days": next(iter(drifts.values())).days,
        "variable": main_row(run.comparison).variable,
        "error": _number_or_none(ends[run.label]),
        "error_gain": error_gain,
    }
    for name in names:
        theirs = None if twin is None else drift_of[twin.label].get(name)
        row[name] = _value(drifts.get(name))
        row[f"{name}_gain"] = _drift_gain(theirs, drifts.get(name))
    return row


def _value(drift: BudgetDrift | None) -> float | None:
    """Drift per day; 0 where it is no more than the rounding of the means."""
    if drift is None or math.isnan(drift.per_day):
        return None
    return drift.per_day if drift.resolved else 0.0


def _drift_gain(without: BudgetDrift | None, with_it: BudgetDrift | None) -> float | None:
    """The factor by which compensation reduces a drift; None where nothing drifted without."""
    if without is None or with_it is None or not without.resolved:
        return None
    return _number_or_none(gain(without.per_day, with_it.per_day if with_it.resolved else 0.0))


def _number_or_none(value: float) -> float | None:
    """The number, or None for NaN."""
    return None if math.isnan(value) else value


SECTION = PageSection(
    "drift", lambda of: drift_rows(of.runs), file="facets/compensation/section.html"
)
