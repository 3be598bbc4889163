"""The section of monitored runs: alerts, errors over variables and time, drift by rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.drawing.courses import ErrorCourse, courses_picture, error_map
from sciprec.facets.monitor.attributes import PLAN, STEP, estimates_of
from sciprec.facets.sections import PageSection, SectionRun
from sciprec.results.comparison.wording import number
from sciprec.results.output.stated import MONITORED
from sciprec.tools.monitor.sketches import WITHIN, sketched_error
from sciprec.tools.monitor.summaries import digits, relative_error

_StoredErrors = tuple[np.ndarray, Sequence[str], np.ndarray | None]
_SHARES = ("zeros", "subnormals", "nans", "overflows", "saturated")


def monitored_rows(runs: Sequence[SectionRun], prefix: str) -> list[dict[str, Any]]:
    """A row for each monitored run; empty where none was monitored.

    Args:
        runs: of one scenario.
        prefix: unique on the page, for identifiers.
    """
    monitored_runs = [r for r in runs if PLAN.read(r.dataset) is not None]
    truth = next((r.dataset for r in monitored_runs if r.is_truth), None)
    return [
        _row(run, None if run.is_truth else truth, f"{prefix}-monitor{place}")
        for place, run in enumerate(monitored_runs)
    ]


def _row(run: SectionRun, truth: xr.Dataset | None, name: str) -> dict[str, Any]:
    dataset = run.dataset
    plan = PLAN.read(dataset)
    names = plan["watch"]
    steps, errors = watched_errors(dataset, truth)
    beside = f"Of steps every {plan['every']}th was watched."
    heat = along = None
    if errors is not None and steps.size:
        days = plan.get("step_seconds")
        along = steps * days / 86400.0 if days else steps
        heat = error_map(names, along, errors, "days" if days else "step", name, beside)
    return {
        "label": run.label,
        "alerts": [alert["text"] for alert in plan["alerts"]] + _fewer_digits(plan, steps, errors),
        "sums": plan.get("sums", []), "not_looked_at": plan.get("not_looked_at", ""),
        "every": plan["every"],
        "within": f"{100 * WITHIN:.1f} %",
        "steps": int(dataset.sizes[STEP]),
        "variables": [_variable(dataset, n, variable, errors) for n, variable in enumerate(names)],
        "parts": _parts(dataset, truth, names),
        "heat": heat,
        "drift": _drift(dataset, (steps, names, errors), f"{name}-drift"),
    }


def _fewer_digits(plan: dict[str, Any], steps: np.ndarray, errors) -> list[str]:
    """Say in words what the rule `digits` finds, which needs the run in fp64."""
    value = plan["rules"].get("digits")
    if errors is None or value is None:
        return []
    phrases = []
    for name, course in zip(plan["watch"], errors, strict=True):
        agree = np.array([digits(error) for error in course.tolist()])
        below = np.flatnonzero(agree < value)
        if below.size:
            words = f"{agree[below[0]]:.1f} digits agree with fp64, fewer than {value:g},"
            phrases.append(f"{name}: {words} in step {steps[below[0]]}")
    return phrases


def _variable(dataset: xr.Dataset, place: int, name: str, errors) -> dict[str, Any]:
    """A line of the table: a variable over all watched steps."""
    def column(column_name: str) -> np.ndarray:
        return dataset[f"{MONITORED}{column_name}"].values[place]

    counts = column("count")
    total = max(int(counts.sum()), 1)
    known_errors = [] if errors is None else [e for e in errors[place].tolist() if not np.isnan(e)]
    return {
        "name": name,
        "minimum": number(_extreme(column("minimum"), np.fmin)),
        "maximum": number(_extreme(column("maximum"), np.fmax)),
        **{column_name: _percent(column(column_name).sum() / total) for column_name in _SHARES},
        "least_digits": f"{min(map(digits, known_errors)):.1f}" if known_errors else "–",
        "last_digits": f"{digits(known_errors[-1]):.1f}" if known_errors else "–",
    }


def _extreme(values: np.ndarray, which: np.ufunc) -> float:
    return float(which.reduce(values)) if values.size else float("nan")


def watched_errors(
    dataset: xr.Dataset, truth: xr.Dataset | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Steps that two runs have watched, and the relative l2 errors: (variables, steps); of whole
    arrays where both files have them, else by sketches.

    Args:
        dataset: of a run.
        truth: of the same scenario in fp64; None where there is none.

    Returns:
        The steps, and the errors; None without a truth that watched the same.
    """
    steps = dataset[STEP].values
    if truth is None or f"{MONITORED}sketch" not in truth or f"{MONITORED}sketch" not in dataset:
        return steps, None
    if PLAN.read(truth)["watch"] != PLAN.read(dataset)["watch"]:
        return steps, None
    common, at, true_at = np.intersect1d(steps, truth[STEP].values, return_indices=True)
    errors = sketched_error(
        dataset[f"{MONITORED}sketch"].values[:, at], truth[f"{MONITORED}sketch"].values[:, true_at],
        truth[f"{MONITORED}norm"].values[:, true_at],
    )  # fmt: skip
    for place in range(errors.shape[0]):
        name = f"{MONITORED}values_{place}"
        if name in dataset and name in truth:
            pairs = zip(dataset[name].values[at], truth[name].values[true_at], strict=True)
            errors[place] = [relative_error(*pair) for pair in pairs]
    return common, errors


def _parts(dataset: xr.Dataset, truth: xr.Dataset | None, names: Sequence[str]) -> list[str]:
    """The places of the largest errors, at the last step that both runs have watched."""
    name = f"{MONITORED}sketch_of_parts"
    if truth is None or name not in dataset or name not in truth:
        return []
    common, at, true_at = np.intersect1d(
        dataset[STEP].values, truth[STEP].values, return_indices=True
    )
    if not common.size:
        return []
    apart = dataset[name].values[:, at[-1]] - truth[name].values[:, true_at[-1]]
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.sqrt(np.sum(apart**2, axis=-1))
    sentences = []
    for place, variable in enumerate(names):
        total = float(np.sqrt(np.sum(sizes[place] ** 2)))
        if not np.isfinite(total) or total == 0.0:
            continue
        order = np.argsort(-sizes[place], kind="stable")[:3]
        shares = ", ".join(
            f"{part} ({100 * (sizes[place][part] / total) ** 2:.0f} %)" for part in order.tolist()
        )
        sentences.append(f"{variable} at step {int(common[-1])}: total wavenumbers {shares}")
    return sentences


def _percent(share: float) -> str:
    return "0" if share == 0.0 else f"{100 * share:.2g} %"


def _drift(dataset: xr.Dataset, errors: _StoredErrors, name: str) -> dict[str, Any] | None:
    """The table and the figure of a run; None where no drift was estimated.

    Args:
        dataset: of the run.
        errors: steps, names of the watched variables, and their errors against fp64 after these
            steps (variables, steps), or None without an fp64 run.
        name: of the figure, unique on the page.
    """
    steps, estimates = estimates_of(dataset)
    if not steps.size:
        return None
    plan = PLAN.read(dataset)
    seconds = plan.get("step_seconds")
    scale = seconds / 86400.0 if seconds else 1.0
    rows, courses = [], {}
    for place, (variable, estimated) in enumerate(estimates.items()):
        watched, true = _error_of(variable, errors)
        rows.append(_drift_row(variable, (steps, estimated), (watched, true)))
        courses[f"{variable}, estimated"] = ErrorCourse(steps * scale, estimated, place)
        courses[f"{variable}, true"] = ErrorCourse(watched * scale, true, place, thick=True)
    caption = (
        "What rounding has added to each variable of the state, estimated from every "
        f"{plan['drift_every']}th step; wide: the error against fp64, growth by the flow included."
    )
    picture = courses_picture(courses, "days" if seconds else "step", name, caption)
    return {"rows": rows, "picture": picture, "every": plan["drift_every"]}


def _error_of(name: str, errors: _StoredErrors) -> tuple[np.ndarray, np.ndarray]:
    """Steps and true errors of a variable; none where it was not watched, or without fp64."""
    steps, names, all_errors = errors
    if all_errors is None or name not in names:
        return np.zeros(0, np.int64), np.zeros(0)
    return steps, all_errors[list(names).index(name)]


def _drift_row(name: str, estimated: tuple, true: tuple) -> dict[str, Any]:
    """A variable after the last step of which both are known, or else of which the estimate is."""
    _, rows, true_rows = np.intersect1d(estimated[0], true[0], return_indices=True)
    at = int(rows[-1]) if rows.size else -1
    estimate = float(estimated[1][at])
    error = float(true[1][true_rows[-1]]) if true_rows.size else None
    comparable = error is not None and error > 0.0 and estimate > 0.0
    return {
        "name": name, "step": int(estimated[0][at]), "estimate": number(estimate),
        "error": number(error), "factor": number(estimate / error) if comparable else "–",
    }  # fmt: skip


SECTION = PageSection(
    "monitored", lambda of: monitored_rows(of.runs, of.prefix), file="facets/monitor/section.html"
)
