"""Figures along a run: the estimate of an error beside the true one, and the rung of its ladder on
which each block was made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawable, drawn, legend, line_style, to_svg
from sciprec.results.comparison.wording import short

_TRUE = {"linewidth": 4, "alpha": 0.45, "marker": ""}


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
        what: course
        for what, course in courses.items()
        if np.isfinite(drawable(course.errors)).any()
    }
    if not visible:
        return None
    with drawn(name, 3.0) as figure:
        axes = figure.add_subplot()
        for what, course in visible.items():
            look = line_style(course.place) | (_TRUE if course.thick else {})
            axes.plot(course.along, drawable(course.errors), label=what, **look)
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
