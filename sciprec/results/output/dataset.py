"""Labelled datasets made of the plain arrays that models return."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.dates import USUAL_START, StartDate
from sciprec.foundation.time_methods import over_time
from sciprec.results.output.pieces import TIME, read_later
from sciprec.results.output.variables import VARIABLES, ZONAL_MEAN, Variable, describe, of_equations

CONVENTIONS = "CF-1.11"
CIRCLE = "circle"
"""Name of the longitude of zonal means."""
EARTH_RADIUS_M = 6.37122e6  # Williamson et al. (1992)
PROCESSOR_SECONDS = "processor_seconds"
"""Attribute of a file: processor time inside the model, without compilation."""
PROCESSOR_SECONDS_RANGE = "processor_seconds_range"
"""Attribute of a file: the least and the most that this time may be."""


def trajectory_dataset(trajectory: Any, since: StartDate = USUAL_START) -> xr.Dataset:
    """The dataset of a model's trajectory on a latitude-longitude grid.

    Args:
        trajectory: has time_days (nt,), lat (nlat,) and lon (nlon,) in degrees, fields and budgets
            (dictionaries of arrays (nt, nlat, nlon) or (nt, levels, nlat, nlon), and (nt,); fields
            may be what reads them when it is indexed), units (of variables whose unit is not the
            table's), vertical (sigma and sigma_bnds, or nothing), radius_m, step_seconds, steps,
            blow_up, timing, fixed_point; with statistics over time sample_seconds and since_days.
        since: the date from which its days count.

    Returns:
        Dimensions time, sigma where there are levels, lat, lon and bounds; the run's own numbers as
        attributes.
    """
    lat, lon = np.asarray(trajectory.lat, float), np.asarray(trajectory.lon, float)
    bounds = {"lat": latitude_bounds(lat), "lon": longitude_bounds(lon)}
    areas = cell_areas(bounds["lat"], bounds["lon"], trajectory.radius_m)
    coordinates = {"time": np.asarray(trajectory.time_days, float), "lat": lat, "lon": lon}
    if "sigma" in trajectory.vertical:
        coordinates["sigma"] = np.asarray(trajectory.vertical["sigma"], float)
        bounds["sigma"] = np.asarray(trajectory.vertical["sigma_bnds"], float)
    dataset = xr.Dataset(
        {
            name: _placed(name, values)
            for name, values in {**trajectory.fields, **trajectory.budgets}.items()
        }
        | {"cell_area": (("lat", "lon"), areas)},
        coords=coordinates,
    )
    if "total_wavenumber" in dataset.dims:
        dataset["total_wavenumber"] = np.arange(dataset.sizes["total_wavenumber"])
    rows = of_equations(trajectory.fields, trajectory.budgets, trajectory.units)
    dataset = _described(dataset, rows)
    dataset[TIME].attrs |= {"units": since.units, "calendar": since.calendar}
    for axis, edges in bounds.items():
        dataset[f"{axis}_bnds"] = ((axis, "bnds"), edges)
        dataset[axis].attrs["bounds"] = f"{axis}_bnds"
    dataset = _with_intervals(_with_whole_circle(_with_formula_terms(dataset)), trajectory)
    dataset.attrs = {
        "step_seconds": float(trajectory.step_seconds),
        "steps": int(trajectory.steps),
        "blow_up": trajectory.blow_up or "",
        **timing_attributes(trajectory.timing),
        **fixed_point_attributes(trajectory.fixed_point),
    }
    return dataset


def prices_dataset(
    strikes: np.ndarray, maturities_years: np.ndarray, values: Mapping[str, np.ndarray], **run: Any
) -> xr.Dataset:
    """The dataset of a grid of option prices.

    Args:
        strikes, maturities_years: the axes, (nk,) and (nt,).
        values: arrays (nt, nk) or (nt,) by variable name: price, standard_error, martingale, ...
        run: the run's own numbers, kept as attributes.
    """
    grid = ("maturity", "strike")
    dataset = xr.Dataset(
        {
            name: (grid[: np.ndim(array)], np.asarray(array, float))
            for name, array in values.items()
        },
        coords={"maturity": np.asarray(maturities_years, float), "strike": np.asarray(strikes)},
    )
    dataset = _described(dataset)
    dataset.attrs = run
    return dataset


def timing_attributes(timing: Any) -> dict[str, Any]:
    """The processor time of a run as attributes of its file.

    Args:
        timing: has seconds, low and high, as `sciprec.foundation.timing.Timing`.
    """
    return {
        PROCESSOR_SECONDS: float(timing.seconds),
        PROCESSOR_SECONDS_RANGE: [float(timing.low), float(timing.high)],
    }


def idle_roles_attributes(sentence: str) -> dict[str, str]:
    """The attribute that says which roles of its arithmetic no operation of a run has."""
    return {"sciprec_idle_roles": sentence} if sentence else {}


def fixed_point_attributes(summary: Mapping[str, Any] | None) -> dict[str, str]:
    """Counts of fixed point in a run as an attribute of its file; none for a run in floats."""
    return {} if summary is None else {"sciprec_fixed_point": json.dumps(summary, sort_keys=True)}


def latitude_bounds(lat: np.ndarray) -> np.ndarray:
    """Edges of latitude bands (nlat, 2) in degrees: midpoints between centres, and the poles."""
    edges = np.concatenate(([-90.0], (lat[:-1] + lat[1:]) / 2, [90.0]))
    if lat.size > 1 and lat[0] > lat[-1]:
        edges[[0, -1]] = edges[[-1, 0]]
    return np.stack([edges[:-1], edges[1:]], axis=1)


def longitude_bounds(lon: np.ndarray) -> np.ndarray:
    """Edges of equally spaced meridional sectors (nlon, 2) in degrees."""
    half = 180.0 / lon.size
    return np.stack([lon - half, lon + half], axis=1)


def cell_areas(
    lat_bounds: np.ndarray, lon_bounds: np.ndarray, radius_m: float = EARTH_RADIUS_M
) -> np.ndarray:
    """Areas (nlat, nlon) in m2: a^2 (lon2 - lon1) |sin lat2 - sin lat1|."""
    height = np.abs(np.diff(np.sin(np.radians(lat_bounds)), axis=1))
    width = np.diff(np.radians(lon_bounds), axis=1)
    return radius_m**2 * height * width.T


def _placed(name: str, values: Any) -> tuple[tuple[str, ...], Any]:
    """A trajectory's variable with its axes: time, levels where it has them, and its own.

    Wavenumbers are no place, and CF has such axes in front of time and space.
    """
    if np.ndim(values) == 1:
        return ("time",), values
    if name.endswith("_spectrum"):
        levels = ("sigma",) if np.ndim(values) == 3 else ()
        return ("total_wavenumber", "time", *levels), np.moveaxis(np.asarray(values), -1, 0)
    values = values if isinstance(values, np.ndarray) else read_later(values)
    own_axes = ("lat",) if over_time(name)[1].startswith(ZONAL_MEAN) else ("lat", "lon")
    return ("time", *(["sigma"] if np.ndim(values) > 1 + len(own_axes) else []), *own_axes), values


def _with_intervals(dataset: xr.Dataset, trajectory: Any) -> xr.Dataset:
    """The dataset with the bounds of time that its statistics are over."""
    statistics = [name for name in dataset.data_vars if over_time(str(name))[0]]
    if not statistics:
        return dataset
    for name in statistics:
        dataset[name].attrs["cell_methods"] += f" (interval: {trajectory.sample_seconds:.12g} s)"
    days = dataset[TIME].values
    edges = np.stack([np.asarray(trajectory.since_days, float), days], axis=1)
    dataset[f"{TIME}_bnds"] = ((TIME, "bnds"), edges)
    dataset[TIME].attrs["bounds"] = f"{TIME}_bnds"
    return dataset


def _with_whole_circle(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with the scalar longitude that stands for the circle of zonal means."""
    means = [n for n in dataset.data_vars if over_time(str(n))[1].startswith(ZONAL_MEAN)]
    if not means:
        return dataset
    for name in means:
        dataset[name].attrs["coordinates"] = CIRCLE
    return dataset.assign({CIRCLE: ((), 180.0, describe(CIRCLE).as_attributes())})


def _with_formula_terms(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with what CF needs to make pressures of sigma: p = p_top + sigma (ps - p_top).

    Without surface pressure there is no formula, and sigma is a plain coordinate.
    """
    if "sigma" not in dataset.coords:
        return dataset
    if "surface_pressure" not in dataset:
        for name in ("standard_name", "computed_standard_name"):
            dataset["sigma"].attrs.pop(name, None)
        return dataset
    dataset["top_pressure"] = ((), 0.0, describe("top_pressure").as_attributes())
    for name in ("sigma", "sigma_bnds"):
        terms = f"sigma: {name} ps: surface_pressure ptop: top_pressure"
        dataset[name].attrs["formula_terms"] = terms
    return dataset


def _described(dataset: xr.Dataset, rows: Mapping[str, Variable] = VARIABLES) -> xr.Dataset:
    """The dataset with the CF table's attributes on every variable and coordinate."""
    for name in dataset.variables:
        dataset[name].attrs = describe(str(name), rows).as_attributes()
    return dataset
