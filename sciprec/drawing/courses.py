"""Figures along a run: the estimate of an error beside the true one, the rung of its ladder on
which each block was made, and the digits that errors leave, over variables and time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawable, drawn, legend, line_style, to_svg
from sciprec.results.comparison.wording import short

_TRUE = {"linewidth": 4, "alpha": 0.45, "marker": ""}
_COLUMNS = 160
_MOST = 17.0
"""Decimal digits; no error at all leaves so many."""


@dataclass(frozen=True)
class ErrorCourse:
    """An error along a run.

    Args:
        along: (n,), times or steps.
        errors: (n,).
        place: a number that gives it its colour.
        thick: whether it is the true one.
    """

    along: np.ndarray
    errors: np.ndarray
    place: int
    thick: bool = False


def courses_picture(
    courses: Mapping[str, ErrorCourse],
    label: str,
    name: str,
    caption: str,
    limit: float | None = None,
) -> Picture | None:
    """Errors as lines on a logarithmic axis; None where none is above zero.

    Args:
        courses: by what the legend calls them.
        label: of the axis of times.
        name: of the figure, unique on the page.
        caption: under it.
        limit: a level to draw, or None.
    """
    visible = {
        words: course
        for words, course in courses.items()
        if np.isfinite(drawable(course.errors)).any()
    }
    if not visible:
        return None
    with drawn(name, 3.0) as figure:
        axes = figure.add_subplot()
        for words, course in visible.items():
            look = line_style(course.place) | (_TRUE if course.thick else {})
            axes.plot(course.along, drawable(course.errors), label=words, **look)
        if limit is not None:
            axes.axhline(limit, color="#808080", linewidth=1)
        axes.set(yscale="log", xlabel=label, ylabel="relative l2 error")
        legend(figure)
        svg = to_svg(figure, f"{', '.join(visible)} over {label}")
    return Picture(svg, caption)


def rungs_picture(
    ladder: Sequence[str], begins: np.ndarray, ends: np.ndarray, rungs: np.ndarray,
    stayed: np.ndarray, name: str, label: str,
) -> Picture:  # fmt: skip
    """Blocks as bars, a row for each arithmetic, the narrowest lowest.

    Args:
        ladder: names of arithmetics, from narrow to wide.
        begins, ends: (n,), times or steps.
        rungs: (n,), places in the ladder.
        stayed: (n,), whether a block stayed; others are hollow.
        name: of the figure, unique on the page.
        label: of the axis of times.
    """
    with drawn(name, 0.7 + 0.32 * len(ladder)) as figure:
        axes = figure.add_subplot()
        for stays, look in ((False, {"facecolor": "none"}), (True, {"facecolor": COLOURS[0]})):
            chosen = stayed == stays
            axes.barh(
                rungs[chosen], (ends - begins)[chosen], left=begins[chosen], height=0.7,
                edgecolor=COLOURS[0], linewidth=0.6, **look,
            )  # fmt: skip
        axes.grid(False)
        axes.set(xlabel=label, yticks=range(len(ladder)), ylim=(-0.5, len(ladder) - 0.5))
        axes.set_yticklabels([short(arithmetic) for arithmetic in ladder])
        svg = to_svg(figure, f"The arithmetic of each block, of {', '.join(ladder)}, over {label}")
    return Picture(svg, "The arithmetic of each block; hollow: blocks that were made again.")


def error_map(
    names: Sequence[str], along: np.ndarray, errors: np.ndarray, label: str, name: str, beside: str
) -> Picture | None:
    """Decimal digits left as colours: a row for each variable, time from left to right.

    Args:
        names: of the variables.
        along: (n,), times or steps.
        errors: (variables, n); NaN where they are not known.
        label: of the axis of times.
        name: of the figure, unique on the page.
        beside: what else the caption says.

    Returns:
        The figure; None where no error is known.
    """
    if not np.isfinite(errors).any():
        return None
    with np.errstate(divide="ignore"):
        digits = np.clip(-np.log10(_widest(errors)), 0.0, _MOST)
    with drawn(name, 0.9 + 0.32 * len(names)) as figure:
        axes = figure.add_subplot()
        ends = float(along[0]), float(along[-1])
        half = 0.5 * (ends[1] - ends[0]) / max(len(along) - 1, 1) or 0.5
        extent = (ends[0] - half, ends[1] + half, len(names) - 0.5, -0.5)
        low = int(np.nanmin(digits))
        high = max(math.ceil(np.nanmax(digits)), low + 1)
        image = axes.imshow(
            digits, aspect="auto", extent=extent, cmap="cividis_r", vmin=low, vmax=high
        )
        axes.grid(False)
        axes.set(xlabel=label, yticks=range(len(names)))
        axes.set_yticklabels([short(variable) for variable in names])
        ticks = MaxNLocator(4, integer=True)
        figure.colorbar(image, ax=axes, label="digits left", ticks=ticks, shrink=0.95)
        svg = to_svg(figure, f"Decimal digits left of {', '.join(names)} over {label}")
    return Picture(
        svg,
        "Decimal digits left of each watched variable: -log10 of the relative l2 error against "
        f"fp64, from 0 to 17. {beside} Nothing is drawn where it is not known; values that are "
        "finite in one run only have no digit left.",
    )


def _widest(errors: np.ndarray) -> np.ndarray:
    """At most _COLUMNS columns, each the largest error of its steps."""
    step = -(-errors.shape[1] // _COLUMNS)
    padded = np.pad(errors, ((0, 0), (0, -errors.shape[1] % step)), constant_values=np.nan)
    blocks = padded.reshape(errors.shape[0], -1, step)
    largest = np.where(np.isnan(blocks), -1.0, blocks).max(axis=2)
    return np.where(largest < 0.0, np.nan, largest)
