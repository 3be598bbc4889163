"""The distance that rounding has moved a run: its monitor's estimate, beside the true error."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.drawing.courses import ErrorCourse, courses_picture
from sciprec.results.comparison.wording import number
from sciprec.results.output.stated import MONITOR
from sciprec.tools.monitor.drifted import estimates_of

_Errors = tuple[np.ndarray, Sequence[str], np.ndarray | None]


def drift_part(dataset: xr.Dataset, errors: _Errors, name: str) -> dict[str, Any] | None:
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
    plan = json.loads(dataset.attrs[MONITOR])
    seconds = plan.get("step_seconds")
    scale = seconds / 86400.0 if seconds else 1.0
    rows, courses = [], {}
    for place, (variable, estimated) in enumerate(estimates.items()):
        watched, true = _error_of(variable, errors)
        rows.append(_row(variable, (steps, estimated), (watched, true)))
        courses[f"{variable}, estimated"] = ErrorCourse(steps * scale, estimated, place)
        courses[f"{variable}, true"] = ErrorCourse(watched * scale, true, place, thick=True)
    caption = (
        "What rounding has added to each variable of the state, estimated from every "
        f"{plan['drift_every']}th step; wide: the error against fp64, growth by the flow included."
    )
    picture = courses_picture(courses, "days" if seconds else "step", name, caption)
    return {"rows": rows, "picture": picture, "every": plan["drift_every"]}


def _error_of(name: str, errors: _Errors) -> tuple[np.ndarray, np.ndarray]:
    """Steps and true errors of a variable; none where it was not watched, or without fp64."""
    steps, names, all_errors = errors
    if all_errors is None or name not in names:
        return np.zeros(0, np.int64), np.zeros(0)
    return steps, all_errors[list(names).index(name)]


def _row(name: str, estimated: tuple, true: tuple) -> dict[str, Any]:
    """A variable after the last step of which both are known, or else of which the estimate is."""
    _, mine, its = np.intersect1d(estimated[0], true[0], return_indices=True)
    at = int(mine[-1]) if mine.size else -1
    estimate = float(estimated[1][at])
    error = float(true[1][its[-1]]) if its.size else None
    comparable = error is not None and error > 0.0 and estimate > 0.0
    return {
        "name": name, "step": int(estimated[0][at]), "estimate": number(estimate),
        "error": number(error), "factor": number(estimate / error) if comparable else "–",
    }  # fmt: skip
