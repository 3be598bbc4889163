"""The section of adaptive runs: arithmetics over time, estimates beside the true error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.drawing.courses import ErrorCourse, courses_picture, rungs_picture
from sciprec.facets.adaptive.attributes import PLAN, history_of
from sciprec.facets.sections import PageSection, SectionRun
from sciprec.results.comparison.wording import number

_FIELDS = {"geopotential": "height"}
"""Fields of files that hold a variable of the state under another name."""


def adaptive_rows(runs: Sequence[SectionRun], prefix: str) -> list[dict[str, Any]]:
    """A row for each adaptive run; empty where no run is adaptive.

    Args:
        runs: of one scenario.
        prefix: unique on the page, for identifiers.
    """
    chosen = [r for r in runs if PLAN.read(r.dataset) is not None]
    truth = next((r.dataset for r in runs if r.is_truth and r.dataset is not None), None)
    return [_row(run, truth, f"{prefix}-adaptive{place}") for place, run in enumerate(chosen)]


def _row(run: SectionRun, truth: xr.Dataset | None, name: str) -> dict[str, Any]:
    dataset = run.dataset
    plan, history = history_of(dataset)
    accepted = history["kept"] == 1
    steps = np.where(accepted, history["steps"], 0)
    total = max(int(steps.sum()), 1)
    label = "days" if "step_seconds" in dataset.attrs else "step"
    days = dataset.attrs["step_seconds"] / 86400.0 if label == "days" else 1.0
    ends = (history["first"] + history["steps"] - 1) * days
    when, true = true_errors(dataset, truth, plan["variable"].split(", "))
    if label == "step":  # of the end alone it is known which step it is
        when, true = ends[accepted][-1:], true[-1:]
    courses = {
        "estimated": ErrorCourse(ends[accepted], history["estimate"][accepted], 0),
        "true": ErrorCourse(when, true, 0, thick=True),
    }
    caption = (
        f"Relative l2 error of {plan['variable']}: estimated after each block; wide: against fp64; "
        "grey: the tolerance."
    )
    error = float(true[-1]) if true.size else None
    return {
        "label": run.label,
        "variable": plan["variable"],
        "tolerance": number(plan["tolerance"]),
        "estimate": number(float(history["estimate"][accepted][-1]) if accepted.any() else None),
        "error": number(error),
        "met": error is not None and error <= plan["tolerance"] and not dataset.attrs["blow_up"],
        "known": error is not None,
        "vain": plan["vain"],
        "rungs": [
            {
                "name": rung,
                "share": f"{100 * int(steps[history['rung'] == place].sum()) / total:.0f} %",
                "again": int(np.sum(~accepted & (history["rung"] == place))),
            }
            for place, rung in enumerate(plan["ladder"])
        ],
        "strip": rungs_picture(
            plan["ladder"], (history["first"] - 1) * days, ends, history["rung"], accepted,
            f"{name}-rungs", label,
        ),
        "picture": courses_picture(courses, label, f"{name}-error", caption, plan["tolerance"]),
    }  # fmt: skip


def true_errors(
    dataset: xr.Dataset, truth: xr.Dataset | None, variables: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Times after the first, and the largest of the relative l2 errors then; none where files do
    not say.

    Args:
        dataset: of a run.
        truth: of the same scenario in fp64, or None.
        variables: of the state, whose fields both files must have along time.
    """
    fields = [_FIELDS.get(name, name) for name in variables]
    has_fields = truth is not None and all(
        field in data and "time" in data[field].dims
        for field in fields
        for data in (dataset, truth)
    )
    if not has_fields:
        return np.zeros(0), np.zeros(0)
    count = min(dataset.sizes["time"], truth.sizes["time"])
    pairs = zip(variables, fields, strict=True)
    each = [_errors_of(*pair, dataset, truth, count) for pair in pairs]
    return dataset["time"].values[1:count], np.max(each, axis=0)


def _errors_of(
    variable: str, field: str, dataset: xr.Dataset, truth: xr.Dataset, count: int
) -> np.ndarray:
    """The relative l2 errors of a variable at the first times but the initial one."""
    values, exact = (data[field].isel(time=slice(1, count)) for data in (dataset, truth))
    area = truth["cell_area"] if {"lat", "lon"} <= set(exact.dims) else xr.DataArray(1.0)
    mean = (area * exact).sum(("lat", "lon")) / area.sum() if field != variable else 0.0
    over = [dim for dim in exact.dims if dim != "time"]  # the state has no mean
    wrong = (area * (values - exact) ** 2).sum(over) / (area * (exact - mean) ** 2).sum(over)
    return np.sqrt(wrong.values)


SECTION = PageSection(
    "adaptive", lambda of: adaptive_rows(of.runs, of.prefix), file="facets/adaptive/section.html"
)
