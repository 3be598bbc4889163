"""The figures of a scenario, named by its files or chosen by their axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import xarray as xr
from cmcrameri import cm

from sciprec.drawing.picture import WIDTH, Picture, Switch
from sciprec.drawing.svg import drawn, label_style, legend, to_svg
from sciprec.report.sections.bounded import bounded_pictures, maturity_rows
from sciprec.report.stored.batch import StoredRun
from sciprec.report.stored.curves import lines_picture, spectrum_picture
from sciprec.results.comparison.rows import growth
from sciprec.results.comparison.verdicts import main_row
from sciprec.results.comparison.wording import LONGEST_LABEL, axis_label, moment, short
from sciprec.results.output.stated import DRAWN

MAP_ROWS, MAP_COLUMNS = 96, 192  # finer maps are reduced by block maximum
SPHERES = (("lat", "lon"), ("latitude", "longitude"))
LEAST_ROUND = 270.0
"""Degrees of longitude from which on a map goes round the sphere."""
LEAST_OF_MAP = 4  # rows and columns; less is no picture
ALIKE = 0.1
"""Standard errors that a figure of some does not show."""


def pictures(
    runs: Sequence[StoredRun], order: Sequence[str], prefix: str
) -> list[Picture | Switch]:
    """The figures of one scenario.

    Args:
        runs: all its runs, the truth first.
        order: all labels of the batch; a label keeps its colour on the whole page.
        prefix: unique on the page, for identifiers.
    """
    stored = [run for run in runs if run.dataset is not None and run.comparison is not None]
    compared = [run for run in stored if not run.is_truth]
    if not compared:
        return []
    truth = next(run for run in stored if run.is_truth)
    variable = main_row(compared[0].comparison).variable
    begun = [run for run in runs if run.dataset is not None and not run.is_truth]
    drawing: dict[str, Callable[[], list[Picture | Switch]]] = {
        "growth": lambda: [_growth_picture(truth, begun, variable, order, f"{prefix}-growth")],
        "map": lambda: [_maps(truth, compared, variable, f"{prefix}-map")],
        "lines": lambda: [lines_picture(stored, variable, order, f"{prefix}-lines")],
        "spectrum": lambda: [spectrum_picture(stored, variable, order, f"{prefix}-spectrum")],
        "bounds": lambda: bounded_pictures(stored, order, prefix),
        "prices": lambda: [
            _rounding_picture(truth, compared, order, f"{prefix}-rounding"),
            _analytic_picture(stored, order, f"{prefix}-analytic"),
        ],
    }
    named = str(truth.dataset.attrs.get(DRAWN, "")).split() or _by_axes(truth.dataset, variable)
    return [picture for name in named if name in drawing for picture in drawing[name]()]


def _by_axes(dataset: xr.Dataset, variable: str) -> tuple[str, ...]:
    """Names of the figures of a dataset that names none itself."""
    dims = set(dataset[variable].dims)
    if {"maturity", "strike"} <= dims:
        return ("bounds",) if "bound" in dataset else ("prices",)
    growth = ("growth",) if dataset[variable].dims[:1] == ("time",) else ()
    sizes = [dataset.sizes[dim] for dim in dataset[variable].dims if dim != "time"]
    if len(sizes) > 1 and min(sizes[-2:]) >= LEAST_OF_MAP:
        return *growth, "map"
    return (*growth, "lines") if sizes and sizes[-1] > 1 else growth


def block_maximum(values: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Reduce a map to at most rows x columns, keeping the value of largest magnitude of a block."""
    step_y, step_x = -(-values.shape[0] // rows), -(-values.shape[1] // columns)
    if step_y == step_x == 1:
        return values
    padding = ((0, -values.shape[0] % step_y), (0, -values.shape[1] % step_x))
    padded = np.pad(values, padding, mode="edge")
    blocks = padded.reshape(padded.shape[0] // step_y, step_y, padded.shape[1] // step_x, step_x)
    flat = blocks.swapaxes(1, 2).reshape(blocks.shape[0], blocks.shape[2], -1)
    largest = np.argmax(np.where(np.isnan(flat), np.inf, np.abs(flat)), axis=2)
    return np.take_along_axis(flat, largest[..., None], axis=2)[..., 0]


def _badness(run: StoredRun) -> tuple[bool, float]:
    """Order of runs from best to worst."""
    return not run.verdict.acceptable, main_row(run.comparison).errors["relative_l2"]


def _growth_picture(
    truth: StoredRun, runs: Sequence[StoredRun], variable: str, order: Sequence[str], name: str
) -> Picture:
    """Relative l2 error over time, one line per arithmetic, logarithmic."""
    limits = [t for t in truth.description["tolerance"] if t["variable"] == variable]
    limits = [t for t in limits if t["metric"] == "relative_l2" and t.get("times") != "all"]
    with drawn(name, 3.5) as figure:
        axes = figure.add_subplot()
        for run in runs:
            days, errors = growth(truth.dataset, run.dataset, variable)
            drawable_errors = np.isfinite(errors) & (errors > 0)
            axes.plot(days[drawable_errors], errors[drawable_errors], label=short(run.label),
                      **label_style(run.label, order))  # fmt: skip
        for limit in limits:
            axes.axhline(limit["at_most"], linestyle="--", linewidth=1, color="#808080")
            axes.annotate(
                "tolerance", (0.005, limit["at_most"]), xycoords=("axes fraction", "data"),
                xytext=(0, 3), textcoords="offset points", color="#808080",
            )  # fmt: skip
        axes.set_yscale("log")
        along = axis_label("time", truth.dataset["time"].attrs)
        axes.set(xlabel=along, ylabel="relative l2 error")
        axes.set_title(f"Error of {variable} against fp64")
        legend(figure)
        svg = to_svg(figure, f"Growth of the relative l2 error of {variable} with time")
    weighted = ", area-weighted" if "cell_area" in truth.dataset else ""
    return Picture(
        svg,
        f"How far {variable} is from the fp64 run at each stored time{weighted}; a point is "
        "missing where a run has the same bits as fp64 or stopped."
        + (" Dashed: the tolerance, which counts at the last time." if limits else ""),
    )


def _maps(truth: StoredRun, runs: Sequence[StoredRun], variable: str, name: str) -> Switch:
    """The error map of every arithmetic beside the field, the worst first."""
    ordered = sorted(runs, key=_badness, reverse=True)
    choices = {
        run.label: _error_map(truth, run, variable, f"{name}-{place}")
        for place, run in enumerate(ordered)
    }
    return Switch(f"Error map of {variable} in", name, choices, _field_map(truth, variable, name))


def _field_map(truth: StoredRun, variable: str, name: str) -> Picture:
    """The field of the truth at its last time."""
    last = truth.dataset.sizes.get("time", 1) - 1
    field = _at(truth, variable, last)
    title = f"{variable}, fp64{_when(truth, variable, last)}"
    svg = _map(field, field.values, f"{name}-field", title, cmap="cividis")
    at_last = " at the last time" if "time" in truth.dataset[variable].dims else ""
    return Picture(svg, f"The field in fp64{at_last}.")


def _error_map(truth: StoredRun, other: StoredRun, variable: str, name: str) -> Picture:
    """The error of an arithmetic at the last time that both have."""
    last = min(run.dataset.sizes.get("time", 1) for run in (truth, other)) - 1
    field = _at(truth, variable, last)
    error = _at(other, variable, last).values - field.values.astype(float)
    reach = float(np.max(np.abs(error[np.isfinite(error)]), initial=0.0)) or 1.0
    between = "\n" if len(other.label) > LONGEST_LABEL // 2 else " "
    minus = f"minus fp64{_when(truth, variable, last)}"
    title = f"{short(other.label)}{between}{minus}"
    svg = _map(field, error, name, title, cmap=cm.vik, vmin=-reach, vmax=reach)
    return Picture(svg, "Finer grids are reduced to the error of largest size in each block.")


def _when(run: StoredRun, variable: str, time: int) -> str:
    """The time of a field, where it has one, as the end of a title."""
    if "time" not in run.dataset[variable].dims:
        return ""
    return f", {moment(float(run.dataset['time'][time]), run.dataset['time'].attrs)}"


def _at(run: StoredRun, variable: str, time: int) -> xr.DataArray:
    """The last two axes of a field at a time; of several levels the lowest, the last of others."""
    field = run.dataset[variable].isel({"time": time}, missing_dims="ignore")
    return field.isel({dim: -1 for dim in field.dims[:-2]})


def _map(grid: xr.DataArray, values: np.ndarray, name: str, title: str, **colours) -> str:
    """A map with its colour bar, half as wide as the page: of latitude and longitude, or of any
    other two axes, the first one downwards as in a printed matrix.
    """
    coarse = block_maximum(values, MAP_ROWS, MAP_COLUMNS)
    down, along = map(str, grid.dims)
    sphere = (down, along) in SPHERES and {down, along} <= set(grid.coords)
    sphere = sphere and float(np.ptp(grid[along].values)) > LEAST_ROUND
    with drawn(name, 2.9, WIDTH / 2) as figure:
        axes = figure.add_subplot()
        if sphere:
            south_first = grid[down].values[0] < grid[down].values[-1]
            look = {"origin": "lower" if south_first else "upper", "extent": (0, 360, -90, 90)}
        else:
            left, right, along = _ends(grid, along)
            top, bottom, down = _ends(grid, down)
            look = {"origin": "upper", "extent": (left, right, bottom, top)}
        image = axes.imshow(coarse, aspect="auto", **look, **colours)
        axes.grid(False)
        if sphere:
            axes.set(xticks=(0, 90, 180, 270, 360), yticks=(-60, -30, 0, 30, 60))
        labels = ("longitude", "latitude") if sphere else (along, down)
        axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
        figure.colorbar(image, ax=axes, label=_unit(grid), shrink=0.95)
        return to_svg(figure, f"Map: {title}")


def _ends(grid: xr.DataArray, dim: str) -> tuple[float, float, str]:
    """The ends of a map's axis and its label: those of evenly spaced coordinates, or of numbers
    from 0.
    """
    places, label = np.arange(grid.sizes[dim], dtype=float), f"{dim}, number"
    if dim in grid.coords and grid[dim].dtype.kind in "iuf":
        steps = np.diff(grid[dim].values.astype(float))
        if steps[0] and np.allclose(steps, steps[0]):
            places, label = grid[dim].values.astype(float), dim
    half = 0.5 * (places[1] - places[0])
    return float(places[0] - half), float(places[-1] + half), label


def _unit(grid: xr.DataArray) -> str:
    """The unit of a field, where it has one."""
    units = str(grid.attrs.get("units", ""))
    return "" if units == "1" else units


def _rounding_picture(
    truth: StoredRun, runs: Sequence[StoredRun], order: Sequence[str], name: str
) -> Picture:
    """|price - fp64 price| in standard errors against the strike, logarithmic."""
    golden = truth.dataset
    chosen = maturity_rows(golden)
    limits = [
        limit["at_most"]
        for limit in truth.description["tolerance"]
        if (limit["variable"], limit["metric"]) == ("price", "standard_errors")
    ]
    with drawn(name, 3.3) as figure:
        panels = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
        for axes, row in zip(panels, chosen, strict=True):
            for run in runs:
                error = np.abs(run.dataset["price"][row] - golden["price"][row])
                error = (error / golden["standard_error"][row]).values
                drawable_errors = np.isfinite(error) & (error > 0)
                axes.plot(golden["strike"].values[drawable_errors], error[drawable_errors],
                          label=short(run.label), **label_style(run.label, order))  # fmt: skip
            for limit in limits or [1.0]:
                axes.axhline(limit, linestyle="--", linewidth=1, color="#808080")
            axes.set_yscale("log")
            axes.set(xlabel="strike", title=f"maturity {float(golden['maturity'][row]):g} y")
        panels[0].set_ylabel("|price - fp64| / standard error")
        legend(figure)
        svg = to_svg(figure, "Rounding error of prices in standard errors, by strike")
    return Picture(
        svg,
        "The rounding error alone, because both runs use the same random numbers, over the "
        "sampling error of this number of paths. Dashed: "
        f"{'the tolerance' if limits else 'that error'}.",
    )


def _analytic_picture(runs: Sequence[StoredRun], order: Sequence[str], name: str) -> Picture:
    """(price - analytic price) in standard errors against the strike, with the band of 2."""
    first = runs[0].dataset
    chosen, errors = maturity_rows(first), [_sampled(run.dataset) for run in runs]
    apart = max(float(np.max(np.abs(error - errors[0]).fillna(np.inf))) for error in errors)
    with drawn(name, 3.3) as figure:
        panels = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
        for axes, row in zip(panels, chosen, strict=True):
            axes.axhspan(-2, 2, color="#808080", alpha=0.16, linewidth=0)
            for place, run in enumerate(runs):  # the first markers are larger: lines coincide
                size = 4 + 9 * (len(runs) - 1 - place) / len(runs)
                axes.plot(first["strike"], errors[place][row].values, label=short(run.label),
                          markersize=size, **label_style(run.label, order))  # fmt: skip
            axes.set(xlabel="strike", title=f"maturity {float(first['maturity'][row]):g} y")
        panels[0].set_ylabel("(price - analytic) / standard error")
        legend(figure)
        svg = to_svg(figure, "Difference to the analytic price in standard errors, by strike")
    return Picture(
        svg,
        "The whole error, against the semi-analytic price: sampling, discretisation and rounding. "
        "The band is two standard errors; strikes share their paths, so that errors move together.",
        "Against the analytic price: all arithmetics lie on one another" if apart < ALIKE else "",
    )


def _sampled(dataset: xr.Dataset) -> xr.DataArray:
    """(price - analytic price) in standard errors."""
    return (dataset["price"] - dataset["analytic_price"]) / dataset["standard_error"]
