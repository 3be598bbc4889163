"""The figure of a long accumulation: where sums stagnate or drift, and by how many u."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, label_style, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.wording import short

SUM, ERROR = "parameter", "largest_error_in_u"


def accumulation_picture(
    truth: StoredRun, others: Sequence[StoredRun], order: Sequence[str], name: str
) -> Picture:
    """Mean of all sums, and the largest error in unit roundoffs, against the number of updates.

    Args:
        truth, others: the runs of the scenario.
        order: all labels of the batch; a label keeps its colour on the whole page.
        name: unique on the page, for identifiers.
    """
    limits = [t["at_most"] for t in truth.description["tolerance"] if t["variable"] == ERROR]
    with drawn(name, 3.5) as figure:
        left, right = figure.subplots(1, 2)
        exact = truth.dataset[SUM].mean("member")
        left.plot(exact["update"].values, exact.values, color="#808080", linewidth=4, alpha=0.4,
                  label="exact")  # fmt: skip
        for run in others:
            look = label_style(run.label, order)
            updates = run.dataset["update"].values
            left.plot(
                updates, run.dataset[SUM].mean("member").values, label=short(run.label), **look
            )
            error = run.dataset[ERROR].values
            shown = np.isfinite(error) & (error > 0) & (updates > 0)
            right.plot(updates[shown], error[shown], **look)
        for limit in limits:
            right.axhline(limit, linestyle="--", linewidth=1, color="#808080")
        right.set(yscale="log", xlabel="updates", ylabel="u")
        left.set(xlabel="updates", ylabel="mean of all sums")
        left.set_title("Sums")
        right.set_title("Largest relative error, in u of the format")
        legend(figure)
        svg = to_svg(figure, "Sums and their errors against the number of updates")
    return Picture(
        svg,
        "Left: a sum that stays level has stagnated: every increment is lost in its rounding. "
        "Right: the largest error of all sums, relative to the exact sum, in unit roundoffs "
        "u = 2^-p of each arithmetic's own storage format."
        + (" Dashed: the tolerance." if limits else ""),
    )
