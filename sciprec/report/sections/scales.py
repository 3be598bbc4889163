"""The figure of errors by scale: by total wavenumber, and by bands of zonal wavenumbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawable, drawn, label_style, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.wording import short


def scales_picture(
    found: Sequence[tuple[StoredRun, dict[str, Any]]], order: Sequence[str], name: str
) -> Picture | None:
    """Relative error of the wind by total wavenumber, and by bands of orders.

    Args:
        found: runs with what `evidence.error_scales` says of them, as plain data.
        order: all labels of the batch.
        name: identifier of the figure.

    Returns:
        The picture; None where no run has an error of the wind at all.
    """
    found = [(run, part) for run, part in found if np.isfinite(drawable(part["by_degree"])).any()]
    if not found:
        return None
    bands = list(dict.fromkeys(band for _, part in found for band in part["by_band"]))
    with drawn(name, 3.4) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        for run, part in found:
            look = label_style(run.label, order)
            left.loglog(part["wavenumber"], drawable(part["by_degree"]), label=short(run.label),
                        **look | {"marker": ""})  # fmt: skip
            values = drawable([part["by_band"].get(band) for band in bands])
            right.plot(np.arange(len(bands)), values, **look)
        right.set_xticks(np.arange(len(bands)), [band.removeprefix("m ").strip("= ")
                                                 for band in bands])  # fmt: skip
        left.set(xlabel="total wavenumber", ylabel="relative error of the wind")
        right.set(xlabel="zonal wavenumber")
        left.set_title(f"Error of the wind by scale, day {found[0][1]['days']:g}")
        legend(figure)
        svg = to_svg(figure, "Relative error of the wind by total and zonal wavenumber")
    return Picture(
        svg,
        "Root of the kinetic energy of the difference from fp64 over that of fp64, at each total "
        "wavenumber and in bands of zonal wavenumbers, at the last time; 0 is the zonal mean. At "
        "1 nothing of fp64's wind is left at that scale.",
    )
