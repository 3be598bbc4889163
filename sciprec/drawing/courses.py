"""A figure of errors along a run: the estimate beside the true error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawable, drawn, legend, line_style, to_svg

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
