"""The section of the errors' distribution: figures over all arithmetics, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, label_style, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.report.stored.shown import is_bounded
from sciprec.results.comparison.pointwise.histograms import PERCENTILES
from sciprec.results.comparison.pointwise.statistics import Statistics
from sciprec.results.comparison.rows import ComparisonRow, main_row
from sciprec.results.comparison.wording import short

PROFILES = ("lat", "sigma", "strike", "maturity", "update", "time")
"""Axes along which an error is drawn, the first that a variable has."""
MOST_WORST = 5
LEAST_OF_PERCENTILES = 100
"""Values from which on percentiles say more than the largest error."""
BY_SIZE = (
    " By size: the typical (geometric mean) error of values of a size, those without any error "
    "left out; a line that rises with the size is an error relative to the value itself."
)


def distribution_picture(
    runs: Sequence[StoredRun], order: Sequence[str], name: str
) -> Picture | None:
    """Share of values by error, error by magnitude of the truth, and error along an axis.

    Args:
        runs: of one scenario.
        order: all labels of the batch.
        name: unique on the page.

    Returns:
        The picture of the main variable in all arithmetics; None where every bit is the same.
    """
    differing_rows = differing(runs)
    if not differing_rows:
        return None
    main = differing_rows[0][1]
    axis = next((profile for profile in PROFILES if profile in main.statistics.profiles), None)
    by_size = any(len(row.statistics.magnitudes) > 2 for _, row in differing_rows)
    units = "" if main.units == "1" else f" in {main.units}"
    with drawn(name, 3.2) as figure:
        panels = figure.subplots(1, 1 + by_size + (axis is not None), squeeze=False)[0].tolist()
        first = panels.pop(0)
        for run, row in differing_rows:
            look = label_style(run.label, order) | {"marker": ""}
            _draw_share(first, row, short(run.label), look)
            if by_size:
                _draw_magnitudes(panels[0], row, look)
            if axis:
                _draw_profile(panels[-1], row.statistics.profiles[axis], look)
        first.set(xlabel=f"error{units}", ylabel="share of values", ylim=(0.0, 1.02))
        first.set(xscale="log", title=f"errors of {main.variable}")
        if by_size:
            panels[0].set(xlabel=f"size of the value{units}", title="typical error by size")
            panels[0].set(xscale="log", yscale="log")
        if axis:
            panels[-1].set(xlabel=axis, title=f"RMS error{units} along {axis}", yscale="log")
        legend(figure)
        svg = to_svg(figure, f"Distribution of the errors of {main.variable}")
    return Picture(
        svg,
        "Share of values: those whose error is at most so large, a step for each power of two."
        + (BY_SIZE if by_size else ""),
    )


def share_by_error(statistics: Statistics) -> tuple[np.ndarray, np.ndarray]:
    """The distribution function of |e| at powers of two.

    Returns:
        Errors (n,), within what an axis can show, and the share of finite pairs with an error of at
        most so much (n,).
    """
    counts = statistics.histograms["absolute"]
    edges = np.array([2.0 ** min(e + 1, 1023) for e, _ in counts])
    below = statistics.exact + np.cumsum([n for _, n in counts])
    return np.clip(edges, 1e-300, 1e300), below / max(statistics.finite, 1)


def differing(runs: Sequence[StoredRun]) -> list[tuple[StoredRun, ComparisonRow]]:
    """Runs with the row of their main variable, where some of its bits differ from the truth's.

    Prices with bounds are left out: their differences are those of other paths.
    """
    rows = [
        (run, main_row(run.comparison))
        for run in runs
        if run.comparison is not None and not run.is_truth and not is_bounded(run)
    ]
    return [(run, row) for run, row in rows if row.statistics is not None and any(
        count for _, count in row.statistics.histograms["absolute"])]  # fmt: skip


def quantile_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """Percentiles of the main variable's error, a row for each arithmetic, as plain data.

    Returns:
        label, variable, values (how many), units, p50 ... max of the error, and ulp_p99 and ulp_max
        in units in the last place of the run's own format (None in fixed point and where it has
        several).
    """
    return [
        {
            "label": run.label,
            "variable": row.variable,
            "values": row.statistics.finite,
            "units": "" if row.units == "1" else row.units,
            **{f"p{p}": row.statistics.absolute[f"p{p}"] for p in PERCENTILES},
            "max": row.statistics.absolute["max"],
            "bias": row.statistics.absolute["bias"],
            "ulp_p99": row.statistics.ulp.get("p99"),
            "ulp_max": row.statistics.ulp.get("max"),
        }
        for run, row in differing(runs)
    ]


def worst_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """The largest errors of runs, with both values: label, place, error, golden, actual."""
    return [
        {"label": run.label, "place": _place(worst["at"]), **worst}
        for run, row in differing(runs)
        for worst in row.statistics.worst[:MOST_WORST]
    ]


def class_rows(runs: Sequence[StoredRun]) -> list[dict[str, Any]]:
    """Values that became another class of number: label, variable, golden, actual, count.

    Classes are normal, subnormal, zero, saturated, infinity and NaN in the run's own format.
    """
    rows = []
    for run in runs:
        if run.comparison is None or run.is_truth:
            continue
        for row in run.comparison.rows:
            if row.statistics is None:
                continue
            names = row.statistics.classes
            rows += [
                {"label": run.label, "variable": row.variable, "golden": names[i],
                 "actual": names[j], "count": count}
                for i, line in enumerate(row.statistics.matrix)
                for j, count in enumerate(line)
                if i != j and count
            ]  # fmt: skip
    return rows


def _place(coordinates: dict[str, Any]) -> str:
    """ "time 5, lat 43.3, lon 120"."""
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in coordinates.items()
    )


def _draw_share(axes: Any, row: ComparisonRow, label: str, look: dict[str, Any]) -> None:
    """The distribution function of |e|."""
    axes.step(*share_by_error(row.statistics), where="post", label=label, **look)


def _draw_magnitudes(axes: Any, row: ComparisonRow, look: dict[str, Any]) -> None:
    """Typical error against the size of the truth."""
    known_sizes = [
        m for m in row.statistics.magnitudes if m["exponent"] is not None and m["typical"] > 0
    ]
    sizes = [1.5 * 2.0 ** m["exponent"] for m in known_sizes]
    marked = look | {"marker": "o", "markersize": 3}
    axes.plot(np.clip(sizes, 1e-300, 1e300), [m["typical"] for m in known_sizes], **marked)


def _draw_profile(axes: Any, profile: dict[str, Any], look: dict[str, Any]) -> None:
    """RMS error along an axis."""
    rms = np.array(profile["rms"], float)
    axes.plot(profile["coordinate"], np.where(rms > 0, rms, np.nan), **look)
