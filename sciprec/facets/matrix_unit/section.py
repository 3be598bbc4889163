"""The section of runs whose Legendre products are those of a matrix unit.

The speed is modelled from published peak rates, and says so; nothing of it was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from sciprec.arrays.matrix_unit.unit import MatrixUnit, resolve_matrix_unit
from sciprec.cost.matrix_rates import (
    MATRIX_MACHINES,
    LegendreWork,
    assumptions,
    kind_of,
    operations_and_bytes,
    ridge_of,
    speed_modelled,
)
from sciprec.facets.compensation.section import drift_rows
from sciprec.facets.matrix_unit.attributes import MATRIX_UNITS
from sciprec.facets.sections import PageSection, SectionRun
from sciprec.foundation.plain_data import plain
from sciprec.results.comparison.rows import main_row

_WIND = ("u", "v")


def matrix_units_section(runs: Sequence[SectionRun]) -> dict[str, Any] | None:
    """A row for each run with a matrix unit, as plain data.

    Args:
        runs: of one scenario.

    Returns:
        None where no run has one; else `rows`, in the order of the runs: label, unit in words,
        table_error, the error of the main variable at the end, that of the wind, drift (the largest
        of the budgets', per day), kilobytes of tables, products, and the modelled `speeds`, for
        each of the `machines` that with tables read from memory, and that with tables on the chip;
        and `assumed`, what these rest on, a sentence each.
    """
    matrix_units = {
        run.label: content for run in runs if (content := MATRIX_UNITS.read(run.dataset))
    }
    if not matrix_units:
        return None
    truth = next((run for run in runs if run.is_truth and run.dataset is not None), None)
    drift = {row["label"]: row for row in drift_rows(runs)}
    rows = [
        _row(run, matrix_units[run.label], truth, drift)
        for run in runs
        if run.label in matrix_units
    ]
    return {
        "rows": rows,
        "variable": next((row["variable"] for row in rows if row["variable"]), ""),
        "per": next((row["per"] for row in drift.values()), "day"),
        "machines": [machine.title for machine in MATRIX_MACHINES.values()],
        "assumed": _assumed(matrix_units.values()),
    }


def _row(
    run: SectionRun,
    content: dict[str, Any],
    truth: SectionRun | None,
    drift: dict[str, dict[str, Any]],
) -> dict[str, Any]:
    """The row of a run: what its unit keeps and does, and its modelled cost."""
    units = [resolve_matrix_unit(part["unit"]) for part in content["units"]]
    work = _work(content["units"][0], content["fields"])
    has_exceptions = run.stages is not None and (
        run.stages["kept_orders"] or run.stages["kept_degrees"]
    )
    error, wind, variable = math.nan, math.nan, ""
    if truth is not None and run.comparison is not None and run.dataset is not None:
        variable = main_row(run.comparison).variable
        error = _error_at_end(truth.dataset, run.dataset, (variable,))
        wind = _error_at_end(truth.dataset, run.dataset, _WIND)
    entry = drift.get(run.label, {})
    drifts = [abs(entry[name]) for name in entry.get("budgets", ()) if entry[name] is not None]
    return {
        "label": run.label, "variable": variable,
        "unit": "; ".join(in_words(unit) for unit in units)
        + (", lowest orders or degrees apart" if has_exceptions else ""),
        "table_error": max(max(part["table_errors"]) for part in content["units"]),
        "error": plain(error), "wind": plain(wind),
        "drift": max(drifts) if drifts else None,
        "kilobytes": sum(part["bytes"] for part in content["units"]) / 1000,
        "products": units[0].products,
        "speeds": [
            None if has_exceptions else [speed_modelled(units[0], work, machine, on_chip)
                               for on_chip in (False, True)]
            for machine in MATRIX_MACHINES.values()
        ],
    }  # fmt: skip


def in_words(unit: MatrixUnit) -> str:
    """A unit in words: "int8 x fp16, a scale per channel, sums in fp32"."""
    scale = unit.scale if isinstance(unit.scale, str) else f"{unit.scale:g}"
    scales = {
        "none": [], "tensor": ["one scale"], "channel": ["a scale per channel"],
        "group": [f"a scale per group of {unit.group}"],
    }.get(scale, [f"scale {scale}"])  # fmt: skip
    parts = [f"{unit.table} x {unit.field}", *scales, f"sums in {unit.accumulate}"]
    parts += [f"{unit.slices} slices"] if unit.slices > 1 else []
    parts += ["two of four"] if unit.sparse else []
    parts += [f"clipped at {unit.clip:g} of the largest"] if unit.clip < 1 else []
    parts += [f"pruned below {unit.prune:g} of the largest"] if unit.prune > 0 else []
    return ", ".join(parts)


def roofline_rows(run: SectionRun, tendencies: int) -> Iterator[dict[str, Any]]:
    """The Legendre products of a run's matrix units in a step of so many tendencies."""
    content = MATRIX_UNITS.read(run.dataset) or {"units": ()}
    for part in content["units"]:
        unit = resolve_matrix_unit(part["unit"])
        operations, moved = operations_and_bytes(unit, _work(part, content["fields"]))
        yield {
            "label": run.label, "unit": unit.text, "operations": tendencies * operations,
            "bytes": tendencies * moved, "intensity": operations / moved,
            "ridges": [ridge_of(unit, machine) for machine in MATRIX_MACHINES.values()],
        }  # fmt: skip


def _work(part: dict[str, Any], fields: Sequence[int]) -> LegendreWork:
    names = ("numbers", "bytes", "multiplications", "field_numbers")
    return LegendreWork(*(part[name] for name in names), sum(fields))


def _assumed(contents: Any) -> list[str]:
    """Assumptions of the modelled speeds beside published figures of the machines themselves."""
    kinds = {kind_of(resolve_matrix_unit(content["units"][0]["unit"])) for content in contents}
    return [
        f"{machine.title}: {'; '.join(texts)}"
        for machine in MATRIX_MACHINES.values()
        if (texts := list(dict.fromkeys(s for kind in sorted(kinds)
                                        for s in assumptions(machine, kind))))
    ]  # fmt: skip


def _error_at_end(truth: xr.Dataset, run: xr.Dataset, names: Sequence[str]) -> float:
    """Relative l2 error of variables together over the sphere, at the last time of the run; NaN
    where one is missing or the run has no time of the truth's last.
    """
    if any(name not in truth or name not in run for name in names):
        return math.nan
    if float(run["time"][-1]) != float(truth["time"][-1]):
        return math.nan
    weights = np.cos(np.deg2rad(truth["lat"]))
    error, size = 0.0, 0.0
    for name in names:
        truth_values = truth[name].isel(time=-1).astype(np.float64)
        run_values = run[name].isel(time=-1).astype(np.float64)
        error += float((weights * (run_values - truth_values) ** 2).sum(skipna=False))
        size += float((weights * truth_values**2).sum(skipna=False))
    return math.sqrt(error / size) if size > 0 else math.nan


SECTION = PageSection(
    "matrix_units", lambda of: matrix_units_section(of.runs), file="facets/matrix_unit/section.html"
)
