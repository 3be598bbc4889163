"""A strip of arithmetics over time: on which rung of its ladder a run made each block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawn, to_svg
from sciprec.results.comparison.wording import short


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
