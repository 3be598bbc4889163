"""Figures of any variable: its values as lines at the last time in each arithmetic, and its power
spectrum beside that of its error.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawable, drawn, label_style, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.wording import axis_label, short

LEAST_TIMES = 10
"""Stored times from which on their mean spectrum is shown at once."""


def lines_picture(
    runs: Sequence[StoredRun], variable: str, order: Sequence[str], name: str
) -> Picture:
    """The values of a variable along its last axis, at the end of all others.

    Args:
        runs: the runs of the scenario, the truth first.
        variable: its name.
        order: all labels of the batch; a label keeps its colour on the whole page.
        name: unique on the page, for identifiers.
    """
    axis = str(runs[0].dataset[variable].dims[-1])
    dims = runs[0].dataset[variable].dims[:-1]
    when = f"at the last {' and '.join(map(str, dims))}" if dims else ""
    title = f"{variable} {when}".strip()
    with drawn(name, 3.5) as figure:
        axes = figure.add_subplot()
        for run in runs:
            values = run.dataset[variable]
            values = values.isel({dim: -1 for dim in values.dims[:-1]})
            look = {"color": "#808080", "linewidth": 4, "alpha": 0.4}
            look = look if run.is_truth else label_style(run.label, order)
            finite = np.where(np.isfinite(values), values, np.nan)
            axes.plot(values[axis].values, finite, label=short(run.label), **look)
        units = str(values.attrs.get("units", ""))
        along = axis_label(axis, runs[0].dataset[axis].attrs)
        axes.set(xlabel=along, ylabel="" if units == "1" else units, title=title)
        legend(figure)
        svg = to_svg(figure, f"{title}, along {axis}, in each arithmetic")
    return Picture(svg, f"Values of {title}, along {axis}; grey: fp64.")


def power_spectrum(values: np.ndarray) -> np.ndarray:
    """Mean power by wavenumber along the last axis (n // 2 + 1,): sum is the mean of squares.

    Args:
        values: (..., n), equally spaced along the last axis, which is taken as periodic.
    """
    n = values.shape[-1]
    power = np.abs(np.fft.rfft(values, axis=-1) / n) ** 2
    power[..., 1 : (n + 1) // 2] *= 2.0  # the negative wavenumbers
    return power.reshape(-1, power.shape[-1]).mean(axis=0)


def spectrum_picture(
    runs: Sequence[StoredRun], variable: str, order: Sequence[str], name: str
) -> Picture:
    """Power of a variable by wavenumber along its last axis, and that of the errors beside it.

    Args:
        runs: the runs of the scenario, the truth first.
        variable: its name.
        order: all labels of the batch; a label keeps its colour on the whole page.
        name: unique on the page, for identifiers.
    """
    truth = runs[0].dataset[variable]
    axis, times = str(truth.dims[-1]), "time" in truth.dims
    golden = _second_half(truth)
    with drawn(name, 3.2) as figure:
        left, right = figure.subplots(1, 2, sharex=True)
        for run in runs:
            actual = _second_half(run.dataset[variable])
            if actual.shape != golden.shape or not np.isfinite(actual).all():
                continue
            if run.is_truth:
                look = {"color": "#808080", "linewidth": 4, "alpha": 0.5}
            else:
                look = label_style(run.label, order) | {"marker": ""}
                power = power_spectrum(actual - golden)
                right.loglog(np.arange(1, power.size), drawable(power[1:]), **look)
            power = power_spectrum(actual)
            left.loglog(np.arange(1, power.size), drawable(power[1:]), label=short(run.label),
                        **look)  # fmt: skip
        left.set(xlabel=f"wavenumber along {axis}", title=f"power of {variable}")
        right.set(xlabel=f"wavenumber along {axis}", title="power of its error")
        legend(figure)
        svg = to_svg(figure, f"Power of {variable} and of its error, by wavenumber along {axis}")
    mean = ", mean over the second half of the stored times" if times else ""
    few = times and truth.sizes["time"] < LEAST_TIMES
    return Picture(
        svg,
        f"Squared amplitudes by wavenumber along {axis}{mean}; grey: fp64.",
        f"Spectra along {axis}, of {truth.sizes['time']} stored times only" if few else "",
    )


def _second_half(values: xr.DataArray) -> np.ndarray:
    """The values at the later half of the times, where there are times."""
    count = values.sizes.get("time", 1)
    return values.isel({"time": slice(count // 2, None)}, missing_dims="ignore").values
