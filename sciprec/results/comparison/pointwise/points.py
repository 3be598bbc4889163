"""Points of two datasets: whether they are the same along axes and in coordinates beside these."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from sciprec.results.comparison.pointwise.blocks import blocks_of
from sciprec.results.comparison.pointwise.times import same_times

_OF_GRIDS = {"lat", "lon", "latitude", "longitude", "x", "y", "rlat", "rlon", "cell", "ncells",
             "lev", "level", "plev", "height", "depth", "nlat", "nlon", "xc", "yc", "nav_lat",
             "nav_lon", "xlat", "xlong", "tlat", "tlong", "ulat", "ulong"}  # fmt: skip
"""Names of the axes and coordinates of grids."""
NUMBERS = "fiub"
"""Kinds of values that are compared as numbers; truth values are 0 and 1."""


def same_values(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether arrays of one shape hold the same, a NaN being like any other."""
    if a.dtype.kind == "f" and b.dtype.kind == "f":
        return np.array_equal(a, b, equal_nan=True)
    if (a.dtype.kind == "V") != (b.dtype.kind == "V"):  # records, which numbers never equal
        return False
    return np.array_equal(a, b)


def aligned(golden: xr.Dataset, actual: xr.Dataset) -> xr.Dataset:
    """The run with its coordinates in the order of the truth's, where they are the same ones."""
    for axis in set(golden.sizes) & set(actual.sizes):
        if not (axis in golden.coords and axis in actual.coords):
            continue
        truth_values, run_values = golden[axis].values, actual[axis].values
        if truth_values.shape != run_values.shape or same_values(truth_values, run_values):
            continue
        try:
            truth_order, run_order = np.argsort(truth_values), np.argsort(run_values)
        except TypeError:  # names among numbers have no order
            continue
        if same_values(truth_values[truth_order], run_values[run_order]):
            places = np.empty_like(truth_order)
            places[truth_order] = run_order
            actual = actual.isel({axis: places})
    return actual


def axis_difference(golden: xr.Dataset, actual: xr.Dataset, axis: str) -> str:
    """A phrase on how an axis differs, or nothing; an early end of `time` is no difference."""
    truth_size, run_size = golden.sizes[axis], actual.sizes[axis]
    if truth_size != run_size and not (axis == "time" and 0 < run_size < truth_size):
        return f"axis '{axis}' has {truth_size} and {run_size} points"
    if axis in golden.coords and axis in actual.coords:
        truth_values, run_values = golden[axis].values[:run_size], actual[axis].values
        if not same_values(truth_values, run_values):
            return f"the values of axis '{axis}' differ{_by_up_to(truth_values, run_values)}"
    return ""


def _by_up_to(truth_values: np.ndarray, run_values: np.ndarray) -> str:
    if any(values.dtype.kind not in NUMBERS for values in (truth_values, run_values)):
        return ""
    apart = _distance(truth_values, run_values)
    return f" by up to {apart:.2g}" if np.isfinite(apart) else ""


def _distance(truth_values: np.ndarray, run_values: np.ndarray) -> float:
    with np.errstate(all="ignore"):
        return float(
            np.max(np.abs(truth_values.astype(float) - run_values.astype(float)), initial=0.0)
        )


def shared_coordinates(golden: xr.Dataset, actual: xr.Dataset) -> Iterator[str]:
    """Names of coordinates of numbers that both have beside the values of their axes, such as the
    latitudes of a curvilinear grid.
    """
    for name, expected in golden.coords.items():
        theirs = actual.coords.get(name)
        if theirs is None or name in golden.sizes or name in actual.sizes:
            continue
        if all(coordinate.dtype.kind in NUMBERS for coordinate in (expected, theirs)) and (
            set(expected.dims) == set(theirs.dims)
        ):
            yield str(name)


def both_coordinates(
    golden: xr.Dataset, actual: xr.Dataset, name: str
) -> tuple[xr.DataArray, xr.DataArray]:
    """A coordinate of both on the same axes, as far as both have these."""
    expected, theirs = golden[name], actual[name]
    if "time" in expected.dims:
        expected = expected.isel(time=slice(0, theirs.sizes["time"]))
    return expected, theirs.transpose(*expected.dims)


def coordinate_differences(golden: xr.Dataset, actual: xr.Dataset) -> Iterator[tuple[str, str]]:
    """Coordinates beside the axes that differ, each with a phrase; of single numbers none.

    The axes are the same ones already.
    """
    for name in shared_coordinates(golden, actual):
        expected, theirs = both_coordinates(golden, actual, name)
        if not expected.ndim:
            continue
        if not same_times(expected.attrs, theirs.attrs) and all(
            "units" in coordinate.attrs for coordinate in (expected, theirs)
        ):
            units = (coordinate.attrs["units"] for coordinate in (expected, theirs))
            yield name, "'{}' is in '{}' and in '{}'".format(name, *units)
            continue
        blocks = list(_apart(expected, theirs))
        if blocks:
            by = f" by up to {max(blocks):.2g}" if np.isfinite(max(blocks)) else ""
            yield name, f"the values of the coordinate '{name}' differ{by}"


def _apart(expected: xr.DataArray, theirs: xr.DataArray) -> Iterator[float]:
    """The largest distance of values in each block that differs."""
    for block in blocks_of(expected, theirs, np.ones(()), None):
        if not same_values(block.golden, block.actual):
            yield _distance(block.golden, block.actual)


def advice(golden: xr.Dataset, actual: xr.Dataset, missing: bool) -> str:
    """Advice about axes, coordinates or variables that are not the same, as ends of a sentence.

    Args:
        golden, actual: the datasets.
        missing: whether the second lacks variables or axes of the first.
    """
    text = ""
    if missing:
        text += (
            "; --rename A=B pairs the run's A with the truth's B, --ignore NAME leaves a variable "
            "out, --select AXIS=VALUE takes a part"
        )
    axes = [
        str(axis) for axis in golden.sizes
        if axis in actual.sizes and axis_difference(golden, actual, str(axis))
    ]  # fmt: skip
    unlike = [] if axes else [name for name, _ in coordinate_differences(golden, actual)]
    if {name.lower() for name in (*axes, *unlike)} & _OF_GRIDS:
        text += (
            "; values on other grids are not comparable point by point: put one of them onto the "
            "other's grid first, for instance with `cdo remapcon,TRUTH RUN regridded.nc`, or "
            "in Python with xesmf.Regridder, or give --coords-atol where the points are meant to "
            "be the same"
        )
    elif axes:
        text += (
            f"; --select {axes[0]}=... takes the part that both have, --coords-atol says how far "
            "values may be apart that are meant to be the same"
        )
    if unlike:
        text += f"; --ignore {unlike[0]} leaves the coordinate out"
    return text
