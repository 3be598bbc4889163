"""The run on the truth's points: coordinates converted, put in order, and taken within a tolerance.

What is not compared after that is told.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.comparison.inputs import NAMELESS
from sciprec.results.comparison.pointwise.blocks import blocks_of
from sciprec.results.comparison.pointwise.pairing import compared_names, converted
from sciprec.results.comparison.pointwise.points import (
    NUMBERS,
    aligned,
    both_coordinates,
    same_values,
    shared_coordinates,
)
from sciprec.results.comparison.pointwise.units import Converted, UnitConversion, same_units
from sciprec.results.comparison.selecting import Nearness
from sciprec.results.output.stated import is_compared

_CONVERTED = 4.0 * float(np.finfo(float).eps)
"""The distance of converted coordinates by rounding alone, relative to the largest."""
_TURN = 360.0
_MOST_NAMED = 4


def with_coordinates_of(
    truth: xr.Dataset, run: xr.Dataset, near: Nearness
) -> tuple[xr.Dataset, list[str]]:
    """The run with the truth's values along axes, and of coordinates beside them, where its own are
    in other units, turns of a circle away, or no farther from them than the tolerance.

    Raises:
        InputError: times are dates of different calendars.
    """
    notes = []
    for axis in map(str, truth.sizes):
        if axis in run.sizes and axis in truth.coords and axis in run.coords:
            run, messages = _with_axis_of(truth, run, axis, near)
            notes += messages
    run = aligned(truth, run)
    for name in list(shared_coordinates(truth, run)):
        run, messages = _with_coordinate_of(truth, run, name, near)
        notes += messages
    return run, notes


def _with_axis_of(
    truth: xr.Dataset, run: xr.Dataset, axis: str, near: Nearness
) -> tuple[xr.Dataset, list[str]]:
    run, rounding, notes = _in_units_of(truth, run, axis)
    truth_values, run_values = np.asarray(truth[axis].values), np.asarray(run[axis].values)
    if axis == "time" and run_values.size < truth_values.size:
        truth_values = truth_values[: run_values.size]
    if truth_values.shape != run_values.shape or same_values(truth_values, run_values):
        return run, notes
    if any(values.dtype.kind not in "fiu" for values in (truth_values, run_values)):
        return run, notes
    places = _places_of(truth_values, run_values, near, rounding)
    turned = False
    if places is None and is_longitude(truth, axis) and is_longitude(run, axis):
        run_values = _turned(run_values.astype(float), truth_values.astype(float), near)
        places = _places_of(truth_values, run_values, near, _CONVERTED * _TURN)
        turned = True
    if places is None:
        return run, notes
    apart = float(np.nanmax(np.abs(run_values[places].astype(float) - truth_values), initial=0.0))
    attributes = run[axis].attrs
    run = run.isel({axis: places})
    run = run.assign_coords({axis: (axis, truth_values, attributes)})
    if turned:
        notes.append(f"the values of '{axis}' of the run are taken as those of the truth, turns "
                     "of 360 degrees away")  # fmt: skip
    if apart > _CONVERTED * _TURN * turned and not rounding:
        notes.append(f"the values of '{axis}' are up to {apart:.2g} apart")
    return run, notes


def is_longitude(dataset: xr.Dataset, name: str) -> bool:
    """Whether a coordinate is in degrees around a circle."""
    units = str(dataset[name].attrs.get("units", "")).strip()
    if same_units(units, "degrees_east"):
        return True
    return name.lower() in ("lon", "longitude") and (not units or same_units(units, "degrees"))


def _turned(run_values: np.ndarray, truth_values: np.ndarray, near: Nearness) -> np.ndarray:
    """Longitudes, by whole turns from the least of the truth's on."""
    least = float(np.nanmin(truth_values, initial=np.inf))
    room = float(near.of(_TURN)) + _CONVERTED * _TURN
    with np.errstate(invalid="ignore"):
        return run_values - _TURN * np.floor((run_values - least + room) / _TURN)


def _places_of(
    truth_values: np.ndarray, run_values: np.ndarray, near: Nearness, rounding: float
) -> np.ndarray | None:
    """The run's places of the truth's values along an axis, within the tolerance; None where it
    lacks one.
    """
    truth_order, run_order = (
        np.argsort(truth_values, kind="stable"),
        np.argsort(run_values, kind="stable"),
    )
    if not _are_near(truth_values[truth_order], run_values[run_order], near, rounding):
        return None
    places = np.empty_like(truth_order)
    places[truth_order] = run_order
    return places


def _are_near(
    truth_values: np.ndarray, run_values: np.ndarray, near: Nearness, rounding: float
) -> bool:
    """Whether values are no farther apart than the tolerance, a NaN being like any other."""
    a, b = truth_values.astype(float), run_values.astype(float)
    with np.errstate(invalid="ignore"):
        alike = np.abs(a - b) <= near.of(a) + rounding
    return bool(np.all(alike | (a == b) | (np.isnan(a) & np.isnan(b))))


def _in_units_of(
    truth: xr.Dataset, run: xr.Dataset, axis: str
) -> tuple[xr.Dataset, float, list[str]]:
    """The run with an axis in the truth's units, where these are others that it can be converted
    from; and how far that rounds its values.
    """
    linear = converted(truth, run, axis)
    if linear is None:
        return run, 0.0, []
    original = np.asarray(run[axis].values)
    values = linear(original)
    largest = max(
        float(np.nanmax(np.abs(array), initial=0.0)) for array in (values, truth[axis].values)
    )
    rounding = _CONVERTED * (largest + abs(float(linear.offset)))
    run = run.assign_coords({axis: (axis, values, _in_the_units_of(truth[axis], run[axis]))})
    return run, rounding, _conversion_note(axis, linear)


def _in_the_units_of(truth: xr.DataArray, run: xr.DataArray) -> dict[str, Any]:
    """The run's attributes but for those that say what its numbers mean, which are the truth's."""
    meaning = ("units", "calendar")
    attributes = {name: value for name, value in run.attrs.items() if name not in meaning}
    return attributes | {name: truth.attrs[name] for name in meaning if name in truth.attrs}


def _conversion_note(name: str, linear: UnitConversion | None) -> list[str]:
    """A note that a coordinate was converted."""
    if linear is None or not linear.changes:
        return []
    return [f"the values of '{name}' of the run are converted {linear}"]


def _with_coordinate_of(
    truth: xr.Dataset, run: xr.Dataset, name: str, near: Nearness
) -> tuple[xr.Dataset, list[str]]:
    """The run with a coordinate of the truth's that is beside the axes, where its own is near it;
    of single numbers what they are is told.
    """
    linear = converted(truth, run, name)
    exact, theirs = both_coordinates(truth, run, name)
    if exact.shape != theirs.shape:
        return run, []
    values = theirs if linear is None else Converted(theirs, linear)
    turns = is_longitude(truth, name) and is_longitude(run, name)
    rounding = _CONVERTED * _TURN * turns
    rounding += 0.0 if linear is None else _CONVERTED * abs(float(linear.offset))
    identical = near_too = True
    for block in blocks_of(exact, values, np.ones(()), None):
        truth_values, run_values = block.golden, block.actual
        if same_values(truth_values, run_values):
            continue
        identical = False
        if turns:
            run_values = run_values + _TURN * np.round((truth_values - run_values) / _TURN)
        relative = 0.0 if linear is None else _CONVERTED
        nearness = Nearness(near.atol, near.rtol + relative)
        near_too = near_too and _are_near(truth_values, run_values, nearness, rounding)
    if identical and linear is None:
        return run, []
    if near_too:
        coordinate = (exact.dims, exact.data, _in_the_units_of(exact, theirs))
        return run.assign_coords({name: coordinate}), _conversion_note(name, linear)
    if not exact.ndim:
        first, second = (np.asarray(x).item() for x in (exact, values))
        return run, [f"the coordinate '{name}' is {first} in the truth and {second} in the run"]
    return run, []


def left_out(truth: xr.Dataset, run: xr.Dataset) -> list[str]:
    """Sentences about what two datasets hold that is not compared."""
    notes = []
    names = set(compared_names(truth))
    bounds = {v.attrs.get("bounds") for dataset in (truth, run) for v in dataset.variables.values()}
    added = [name for name in compared_names(run) if name not in truth.variables]
    if added:
        notes.append(f"only the run has {_listed(added)}")
    texts = [
        str(name) for name, variable in truth.data_vars.items()
        if variable.dtype.kind not in NUMBERS and name not in names and name not in bounds
        and is_compared(str(name), truth.attrs)
    ]  # fmt: skip
    if texts:
        notes.append(f"no numbers, and not compared: {_listed(texts)}")
    if not any(dataset.attrs.get(NAMELESS) for dataset in (truth, run)):
        both = [str(axis) for axis in truth.sizes if axis in run.sizes]
        for data, other, which in ((truth, run, "truth"), (run, truth, "run")):
            alone = [a for a in both if a in data.coords and a not in other.coords]
            notes += [f"the axis '{axis}' has values in the {which} only" for axis in alone]
    times = [dataset.sizes.get("time", 0) for dataset in (truth, run)]
    if 0 < times[1] < times[0]:
        notes.append(f"the run ends early: {times[1]} of {times[0]} times are compared")
    return notes


def _listed(names: list[str]) -> str:
    count = len(names) - _MOST_NAMED
    text = ", ".join(f"'{name}'" for name in names[:_MOST_NAMED])
    return f"{text} and {count} more" if count > 0 else text
