"""The figure of any variable as lines: its values at the last time in each arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, label_style, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.wording import axis_label, short


def lines_picture(
    done: Sequence[StoredRun], variable: str, order: Sequence[str], name: str
) -> Picture:
    """The values of a variable along its last axis, at the end of all others.

    Args:
        done: the runs of the scenario, the truth first.
        variable: its name.
        order: all labels of the batch; a label keeps its colour on the whole page.
        name: unique on the page, for identifiers.
    """
    axis = str(done[0].dataset[variable].dims[-1])
    dims = done[0].dataset[variable].dims[:-1]
    when = f"at the last {' and '.join(map(str, dims))}" if dims else ""
    title = f"{variable} {when}".strip()
    with drawn(name, 3.5) as figure:
        axes = figure.add_subplot()
        for run in done:
            values = run.dataset[variable]
            values = values.isel({dim: -1 for dim in values.dims[:-1]})
            look = {"color": "#808080", "linewidth": 4, "alpha": 0.4}
            look = look if run.is_truth else label_style(run.label, order)
            shown = np.where(np.isfinite(values), values, np.nan)
            axes.plot(values[axis].values, shown, label=short(run.label), **look)
        units = str(values.attrs.get("units", ""))
        along = axis_label(axis, done[0].dataset[axis].attrs)
        axes.set(xlabel=along, ylabel="" if units == "1" else units, title=title)
        legend(figure)
        svg = to_svg(figure, f"{title}, along {axis}, in each arithmetic")
    return Picture(svg, f"Values of {title}, along {axis}; grey: fp64.")
