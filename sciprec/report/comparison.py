"""The page of one comparison of two files: self-contained, without scripts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawn, to_svg
from sciprec.drawing.templating import page_style, template
from sciprec.report.sections.distribution import LEAST_OF_PERCENTILES, share_by_error
from sciprec.results.comparison.rows import (
    SETTLED,
    Comparison,
    ComparisonRow,
    main_row,
    shown_metrics,
)

SHOWN_METRICS = ("max_abs", "rms", "bias", "relative_l2", "share_of_change", "max_relative",
                 "max_ulp", "decimal_digits", "correlation")  # fmt: skip
CHIPS = {"identical": "identical", "noise": "good", "still": "still", "changed": "beyond",
         "broken": "broken", "empty": "unjudged"}  # fmt: skip
MOST_PICTURES, MOST_NAMED = 8, 3
_KINDS = (("absolute", "error"), ("relative", "relative error"), ("ulp", "ulps"))


def comparison_page(comparison: Comparison, *, golden: str, actual: str) -> str:
    """The page as text; the same comparison gives the same bytes.

    Args:
        comparison: of two files, or of stored metrics, which have no figures.
        golden, actual: what the sides are called.
    """
    differing = [r for r in comparison.rows if r.verdict not in SETTLED and r.statistics]
    main = main_row(comparison) if differing else None
    order = sorted(differing, key=lambda row: (row is main, _badness(row)), reverse=True)
    pictured = order[:MOST_PICTURES]
    return template("comparison.html").render(
        style=page_style(),
        title=_title(comparison),
        golden=golden,
        actual=actual,
        tolerances=[
            f"{option} {name + ' ' if name else ''}{value}"
            for option, limits in vars(comparison.tolerances).items()
            for name, value in limits.items()
        ],
        notes=[*(f"'{name}' is missing" for name in comparison.missing), *comparison.notes],
        rows=[(row, row.reason()) for row in comparison.rows],
        metrics=shown_metrics(comparison.rows, SHOWN_METRICS),
        chips=CHIPS,
        sections=[_section(row, f"v{i}") for i, row in enumerate(pictured)],
        left_out=len(differing) - len(pictured),
    )


def _badness(row: ComparisonRow) -> tuple[bool, float]:
    """Order of variables from the least error to the largest; broken ones come last."""
    error = row.errors["relative_l2"]
    return row.verdict == "broken", error if error == error else np.inf


def _title(comparison: Comparison) -> str:
    """The answer in one line."""
    beyond = [r.variable for r in comparison.rows if r.verdict in ("still", "changed", "broken")]
    if comparison.missing and not beyond:
        return f"Files are missing: {', '.join(comparison.missing)}"
    if not beyond:
        if comparison.of_nothing:
            return "Nothing was compared: no value is finite in both"
        unchanged = all(row.verdict in SETTLED for row in comparison.rows)
        return "All bits are the same" if unchanged else "All variables are within the tolerances"
    more = len(beyond) - MOST_NAMED
    named = ", ".join(beyond[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{len(beyond)} of {len(comparison.rows)} variables differ: {named}"


def _section(row: ComparisonRow, prefix: str) -> dict[str, Any]:
    """The section of one variable: its row, its picture and its tables."""
    statistics = row.statistics
    used = [k for k, name in enumerate(statistics.classes)
            if any(statistics.matrix[k]) or any(line[k] for line in statistics.matrix)]  # fmt: skip
    return {
        "row": row,
        "picture": _picture(row, prefix),
        "quantiles": [(title, getattr(statistics, kind)) for kind, title in _KINDS],
        "enough": statistics.finite >= LEAST_OF_PERCENTILES,
        "digits": statistics.digits,
        "classes": [statistics.classes[k] for k in used],
        "matrix": [[statistics.matrix[i][j] for j in used] for i in used],
        "magnitudes": statistics.magnitudes,
        "worst": statistics.worst,
    }


def _picture(row: ComparisonRow, name: str) -> Picture:
    """The distribution of errors, their profile along an axis, and their map."""
    statistics = row.statistics
    profile = next(iter(statistics.profiles.items()), None)
    panels = 1 + (profile is not None) + bool(statistics.map)
    with drawn(name, 2.9) as figure:
        axes = np.atleast_1d(figure.subplots(1, panels)).tolist()
        _draw_distribution(axes.pop(0), statistics)
        if profile is not None:
            _draw_profile(axes.pop(0), *profile)
        if statistics.map:
            _draw_map(figure, axes.pop(0), statistics.map)
        svg = to_svg(figure, f"Errors of {row.variable}: distribution, profile and map")
    return Picture(
        svg,
        f"Errors of {row.variable}: the share of values whose error is at most so large; the "
        "largest and the RMS error along the first axis; the largest error of each block of the "
        "map, over all other axes, so that no spike is averaged away.",
    )


def _drawable(values: Any) -> np.ndarray:
    """Errors on a logarithmic axis: nothing for 0, and the axis ends before binary64 does."""
    values = np.array(values, float)
    return np.where(values > 0.0, np.clip(values, 1e-300, 1e300), np.nan)


def _draw_distribution(axes: Any, statistics: Any) -> None:
    """Share of values with an error of at most 2^e."""
    edges, below = share_by_error(statistics)
    if edges.size:
        axes.step(edges, below, where="post", color=COLOURS[0])
        axes.set_xscale("log")
    axes.set(xlabel="error", ylabel="share of values", ylim=(0.0, 1.02))


def _draw_profile(axes: Any, dim: str, profile: dict[str, Any]) -> None:
    """Largest and RMS error along an axis."""
    places = profile["coordinate"]
    if not all(isinstance(p, (int, float)) for p in places):
        places = range(len(places))
    for key, colour in (("largest", COLOURS[1]), ("rms", COLOURS[0])):
        axes.plot(places, _drawable(profile[key]), color=colour, label=key)
    if np.nanmax(profile["largest"], initial=0.0) > 0.0:
        axes.set_yscale("log")
    axes.set(xlabel=dim)
    axes.legend()


def _draw_map(figure: Any, axes: Any, blocks: dict[str, Any]) -> None:
    """Largest error of each block."""
    from matplotlib.colors import LogNorm

    values = _drawable(blocks["largest"])
    positive = values[~np.isnan(values)]
    if positive.size:
        low, high = positive.min(), positive.max()
        norm = LogNorm(max(low, high * 1e-6), high) if low < high else None
        image = axes.imshow(values, norm=norm, cmap="cividis",
                            aspect="auto", origin="lower")  # fmt: skip
        figure.colorbar(image, ax=axes)
    axes.set(xticks=[], yticks=[], xlabel=blocks["axes"][1], ylabel=blocks["axes"][0])
    axes.grid(False)
