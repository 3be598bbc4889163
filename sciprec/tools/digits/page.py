"""The page of digits: a table of results, and a picture of their numbers, without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, INK, MOST_INTERVALS, drawn, legend, to_svg
from sciprec.drawing.templating import page_style, template

_MOST_PANELS, _MOST_POINTS = 6, 480


@dataclass(frozen=True)
class Panel:
    """The digits of a result, number by number.

    Attributes:
        right: those that are right; NaN where they are not known.
        left: those that data leave, or None where that was not asked for.
    """

    right: np.ndarray
    left: np.ndarray | None


def digits_page(
    title: str, verdict: str, heads: Sequence[str], rows: Sequence[Sequence[str]],
    notes: Sequence[str], panels: Mapping[str, Panel], backend: str, most: float,
) -> str:  # fmt: skip
    """The page as text; the same digits give the same bytes.

    Args:
        title, verdict: of the page.
        heads, rows: of the table of results.
        notes: sentences on decisions.
        panels: result -> what is drawn of it.
        backend: the arithmetic of the run.
        most: digits of its format.
    """
    return template("digits.html").render(
        style=page_style(), title=title, verdict=verdict, heads=heads, rows=rows,
        most=f"{most:.1f}", notes=notes, picture=_picture(panels, backend, most),
    )  # fmt: skip


def _picture(every: Mapping[str, Panel], backend: str, most: float) -> Picture | None:
    """The digits of results of several numbers, a panel for each, in C order."""
    several = {name: panel for name, panel in every.items() if panel.right.size > 1}
    pictured = dict(list(several.items())[:_MOST_PANELS])
    if not pictured:
        return None
    with drawn("digits", 0.6 + 1.7 * len(pictured)) as figure:
        panels = figure.subplots(len(pictured), squeeze=False)[:, 0]
        for axes, (name, panel) in zip(panels, pictured.items(), strict=True):
            places, fewest = _thinned(panel.right)
            axes.plot(places, fewest, color=COLOURS[0], label=f"right in {backend}")
            if panel.left is not None:
                axes.plot(*_thinned(panel.left), color=COLOURS[1], linestyle="--",
                          label="left by data")  # fmt: skip
            unknown = places[np.isnan(fewest)]
            if unknown.size:
                axes.plot(unknown, np.zeros(unknown.size), color=INK, marker="|", linewidth=0.0,
                          label="not known")  # fmt: skip
            axes.set(ylim=(-0.4, most + 0.6), ylabel="digits", title=name)
            axes.xaxis.set_major_locator(MaxNLocator(MOST_INTERVALS, integer=True))
        panels[-1].set_xlabel("number of the result, in C order")
        legend(figure)
        svg = to_svg(figure, "Right decimal digits of each number of the results")
    more = len(several) - len(pictured)
    also = f" Of {more} more results the table tells." if more else ""
    thinned = any(panel.right.size > _MOST_POINTS for panel in pictured.values())
    fewest = " Of many numbers the fewest digits of neighbours are drawn." * thinned
    caption = "Right digits of each number, and those that are left where data are wrong by half a"
    return Picture(svg, f"{caption} unit.{fewest}{also}")


def _thinned(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and the fewest digits of so many groups of neighbours; NaN where none are known."""
    flat = array.ravel()
    starts = np.unique(np.linspace(0, flat.size, _MOST_POINTS, endpoint=False).astype(int))
    return starts, np.fmin.reduceat(flat, starts)
