"""Global means of a stored flow or model: the numbers by which ensembles are compared."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.output.dates import in_numbers
from sciprec.results.output.stated import is_compared

HORIZONTAL = ("lat", "lon")


def global_means(dataset: xr.Dataset, time: int = -1) -> dict[str, float]:
    """Area-weighted means and covariances of all fields at one time, and the budgets.

    "u": <u>;  "u*v": <(u - <u>)(v - <v>)>, with < > the mean over the sphere, or over all axes but
    time of what is not on a sphere

    Args:
        dataset: of a run on a latitude-longitude grid with `cell_area`, or of any model.
        time: index of the stored time.

    Returns:
        Name -> number: each field, each product of two fields with the same axes, and whatever has
        the axis time alone. With levels it is the plain mean over them.

    Raises:
        InputError: nothing varies over time, or it is on a sphere without areas.

    Source: Baker et al. (2015), 10.5194/gmd-8-2829-2015, section 3.1: area-weighted global means.
    Differs from the source: a climate model with physics has some hundred variables; a dynamical
        core has few, and their second moments stand for the others.
    """
    fields = fields_of(dataset)
    over_time = [n for n, v in dataset.data_vars.items() if v.dims == ("time",)]
    if not fields and (not over_time or {*HORIZONTAL} & {*dataset.dims}):
        raise InputError(
            f"the dataset has the variables {', '.join(map(str, dataset.data_vars))}; accepted: "
            "fields with the axes time, lat and lon, and cell_area, as climate runs store them, or "
            "variables of a model with the axis time first"
        )
    anomalies, averages = {}, {}
    for name, field in fields.items():
        values = field.isel(time=time).values.astype(np.float64)
        means = spatial_means(values, dataset)
        anomalies[name] = values - means.reshape(means.shape + (1,) * (values.ndim - means.ndim))
        averages[name] = float(np.mean(means))
    for first, second in combinations_with_replacement(anomalies, 2):
        if anomalies[first].shape == anomalies[second].shape:
            product = spatial_means(anomalies[first] * anomalies[second], dataset)
            averages[f"{first}*{second}"] = float(np.mean(product))
    for name in over_time:
        averages[str(name)] = float(dataset[name][time])
    return averages


def fields_of(dataset: xr.Dataset) -> dict[str, xr.DataArray]:
    """Variables over time and space: on the sphere where a dataset has areas of cells, and none on
    a sphere of which it has none.
    """

    def is_there(dims: tuple) -> bool:
        return dims[-2:] == HORIZONTAL if "cell_area" in dataset else not {*HORIZONTAL} & {*dims}

    return {
        str(name): variable
        for name, variable in dataset.data_vars.items()
        if variable.dims[:1] == ("time",) and variable.ndim > 1 and variable.dtype.kind == "f"
        and is_compared(str(name), dataset.attrs)
        and is_there(variable.dims)
    }  # fmt: skip


def spatial_means(values: np.ndarray, dataset: xr.Dataset, axes_before: int = 0) -> np.ndarray:
    """Means over the sphere (...,), weighted by areas; without a sphere, over all axes.

    Args:
        values: (..., nlat, nlon), or (..., any).
        dataset: with `cell_area` (nlat, nlon), or without.
        axes_before: how many axes stay where there is no sphere.
    """
    if "cell_area" in dataset:
        weights = dataset["cell_area"].values / float(dataset["cell_area"].sum())
        return np.sum(values * weights, axis=(-2, -1))
    return values.mean(axis=tuple(range(axes_before, values.ndim)))


def table_of_means(
    runs: Iterable[xr.Dataset], days: float, names: Iterable[str] | None = None
) -> xr.DataArray:
    """The global means of several runs at one time.

    Args:
        runs: members of an ensemble; they are gone through once.
        days: the time.
        names: of the means; those of the first run that has this time when left out.

    Returns:
        Dimensions run and variable; NaN for what a run does not have, at that time or at all.

    Raises:
        InputError: no run has such a time, and no names are given.
    """
    means = [_means_at(run, days) for run in runs]
    if names is None:
        names = next((row for row in means if row), None)
        if names is None:
            raise InputError(
                f"none of {len(means)} runs has stored day {days:g}; accepted: a time of one run "
                "at least"
            )
    names = list(names)
    table = [[row.get(name, np.nan) for name in names] for row in means]
    table = np.array(table, float).reshape(len(means), len(names))
    return xr.DataArray(table, dims=("run", "variable"), coords={"variable": names})


def _means_at(run: xr.Dataset, days: float) -> dict[str, float]:
    """The global means of a run at a time; nothing where it has no such time."""
    run = in_numbers(run)
    places = np.flatnonzero(np.abs(run["time"].values - days) < 1e-9)
    return global_means(run, int(places[0])) if places.size else {}
