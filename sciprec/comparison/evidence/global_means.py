"""Global means of a stored flow: the numbers by which ensembles are compared."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations_with_replacement

import numpy as np
import xarray as xr

from sciprec.errors import InputError

HORIZONTAL = ("lat", "lon")


def global_means(dataset: xr.Dataset, time: int = -1) -> dict[str, float]:
    """Area-weighted means and covariances of all fields at one time, and the budgets.

    "u": <u>;  "u*v": <(u - <u>)(v - <v>)>, with < > the mean over the sphere

    Args:
        dataset: of a run on a latitude-longitude grid with `cell_area`.
        time: index of the stored time.

    Returns:
        Name -> number: each field, each product of two fields with the same axes, and whatever has
        the axis time alone. With levels it is the plain mean over them.

    Raises:
        InputError: there is no field on the sphere, or no cell_area.

    Source: Baker et al. (2015), 10.5194/gmd-8-2829-2015, section 3.1: area-weighted global means.
    Differs from the source: a climate model with physics has some hundred variables; a dynamical
        core has few, and their second moments stand for the others.
    """
    names = [str(n) for n, v in dataset.data_vars.items() if v.dims[-2:] == HORIZONTAL]
    fields = {n: dataset[n] for n in names if "time" in dataset[n].dims}
    if not fields or "cell_area" not in dataset:
        raise InputError(
            f"the dataset has the variables {', '.join(map(str, dataset.data_vars))}; accepted: "
            "fields with the axes time, lat and lon, and cell_area, as climate runs store them"
        )
    weights = dataset["cell_area"].values / float(dataset["cell_area"].sum())
    anomalies, found = {}, {}
    for name, field in fields.items():
        values = field.isel(time=time).values.astype(np.float64)
        means = np.sum(values * weights, axis=(-2, -1))
        anomalies[name] = values - means[..., None, None]
        found[name] = float(np.mean(means))
    for one, two in combinations_with_replacement(anomalies, 2):
        if anomalies[one].shape == anomalies[two].shape:
            product = np.sum(anomalies[one] * anomalies[two] * weights, axis=(-2, -1))
            found[f"{one}*{two}"] = float(np.mean(product))
    for name, budget in dataset.data_vars.items():
        if budget.dims == ("time",):
            found[str(name)] = float(budget[time])
    return found


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
    found = [_means_at(run, days) for run in runs]
    if names is None:
        names = next((one for one in found if one), None)
        if names is None:
            raise InputError(
                f"none of {len(found)} runs has stored day {days:g}; accepted: a time of one run "
                "at least"
            )
    names = list(names)
    table = [[one.get(name, np.nan) for name in names] for one in found]
    table = np.array(table, float).reshape(len(found), len(names))
    return xr.DataArray(table, dims=("run", "variable"), coords={"variable": names})


def _means_at(run: xr.Dataset, days: float) -> dict[str, float]:
    """The global means of a run at a time; nothing where it has no such time."""
    found = np.flatnonzero(np.abs(run["time"].values - days) < 1e-9)
    return global_means(run, int(found[0])) if found.size else {}
