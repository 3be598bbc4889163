"""The page of a kernel that was watched: alerts, errors over steps, summaries; without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from sciprec.drawing.courses import error_map
from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawn, legend, to_svg
from sciprec.drawing.templating import page_style, template
from sciprec.foundation.listing import Summary
from sciprec.results.comparison.wording import short
from sciprec.tools.monitor.history import History
from sciprec.tools.monitor.summaries import BINS, LEAST_EXPONENT


def monitor_page(
    name: str, listed: Summary, watch: Sequence[str], every: int, history: History | None
) -> str:
    """The page as text; the same run gives the same bytes.

    Args:
        name: of the kernel and the arithmetic.
        listed: verdict, table and notes.
        watch: variables.
        every: how many passes of outermost loops go from one watched step to the next.
        history: of the watched steps; None where nothing was watched.
    """
    heat = exponents = None
    if history is not None and history.steps.size:
        errors = history.errors
        if errors is not None:
            beside = f"Every {every}th pass of the outermost loops was watched."
            if every == 1:
                beside = "Every pass of the outermost loops was watched."
            heat = error_map(watch, history.steps, errors.T, "step", "errors", beside)
        exponents = exponents_picture(watch, history.exponents, "exponents")
    return template("monitor.html").render(
        style=page_style(),
        title=f"{name}, watched",
        verdict=listed.title,
        heads=() if listed.listing is None else listed.listing.heads,
        rows=() if listed.listing is None else listed.listing.rows,
        notes=listed.notes,
        heat=heat,
        exponents=exponents,
    )


def exponents_picture(names: Any, counts: np.ndarray, name: str) -> Picture | None:
    """Counts of each exponent, variable by variable.

    Args:
        names: of the variables.
        counts: (variables, BINS).
        name: of the figure, unique on the page.
    """
    present = np.flatnonzero(counts.any(axis=0))
    if not present.size:
        return None
    first, last = max(present[0] - 1, 0), min(present[-1] + 1, BINS - 1)
    along = np.arange(first, last + 1) + LEAST_EXPONENT
    with drawn(name, 2.6) as figure:
        axes = figure.add_subplot()
        for number, variable in enumerate(names):
            share = counts[number] / max(counts[number].sum(), 1)
            axes.step(along, share[first : last + 1], where="mid", label=short(variable),
                      color=COLOURS[number % len(COLOURS)],
                      linestyle=("-", "--", ":")[number // len(COLOURS) % 3])  # fmt: skip
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set(xlabel="exponent floor(log2 |x|)", ylabel="share of values",
                 xlim=(along[0] - 0.5, along[-1] + 0.5))  # fmt: skip
        legend(figure)
        svg = to_svg(figure, "Shares of values by exponent")
    return Picture(
        svg,
        "Values other than zero by exponent, over all watched steps. The first bin "
        f"({LEAST_EXPONENT}) and the last ({LEAST_EXPONENT + BINS - 1}) also hold everything "
        "beyond them.",
    )
