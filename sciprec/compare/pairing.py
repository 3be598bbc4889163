"""Pairs of values: which variables of two datasets can be compared, point by point."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import xarray as xr

from sciprec.errors import InputError
from sciprec.output.variables import VARIABLES

MOST_DIFFERENCES = 4  # named in a message


@dataclass(frozen=True)
class Pair:
    """One variable in truth and in the run, on the same points.

    Args:
        name, units: of the variable.
        golden, actual: arrays of one shape, float64.
        weights: non-negative, broadcastable to that shape (areas of grid cells), or 1.
        scale: None, or the statistical standard error of the golden values.
        dims: names of the axes.
    """

    name: str
    units: str
    golden: np.ndarray
    actual: np.ndarray
    weights: np.ndarray
    scale: np.ndarray | None = None
    dims: tuple[str, ...] = field(default=())

    @cached_property
    def finite(self) -> np.ndarray:
        """Where both values are finite: the points that statistics are over."""
        return np.isfinite(self.golden) & np.isfinite(self.actual)

    @cached_property
    def difference(self) -> np.ndarray:
        """actual - golden on the finite points, flat."""
        with np.errstate(over="ignore"):
            return self.actual[self.finite] - self.golden[self.finite]

    @cached_property
    def reference(self) -> np.ndarray:
        """golden on the finite points, flat."""
        return self.golden[self.finite]

    @cached_property
    def weight(self) -> np.ndarray:
        """Weights on the finite points, flat."""
        return np.broadcast_to(self.weights, self.golden.shape)[self.finite]

    @cached_property
    def identical(self) -> bool:
        """Whether every value agrees bit for bit; any NaN equals any other."""
        same_bits = self.golden.view(np.int64) == self.actual.view(np.int64)
        return bool(np.all(same_bits | (np.isnan(self.golden) & np.isnan(self.actual))))

    @cached_property
    def changed_nonfinite(self) -> int:
        """Points where one value is finite and the other is not, or the two non-finites differ."""
        both = ~np.isfinite(self.golden) & ~np.isfinite(self.actual)
        alike = (self.golden == self.actual) | (np.isnan(self.golden) & np.isnan(self.actual))
        return int(np.count_nonzero(~self.finite & ~(both & alike)))

    def at(self, index: int) -> Pair:
        """The pair at one position along the first axis."""
        full = np.broadcast_to(self.weights, self.golden.shape)
        scale = None if self.scale is None else self.scale[index]
        return Pair(
            self.name, self.units, np.ascontiguousarray(self.golden[index]),
            np.ascontiguousarray(self.actual[index]), full[index], scale, self.dims[1:],
        )  # fmt: skip


def pair(golden: xr.Dataset, actual: xr.Dataset) -> Iterator[Pair]:
    """Pair the variables of two runs by name, after checking that they lie on the same points.

    A run that stopped early is paired over the times that it has.

    Raises:
        InputError: variables or coordinates differ; all differing ones are named.
    """
    names = compared_names(golden)
    differing = _differences(golden, actual, names)
    if differing:
        more = len(differing) - MOST_DIFFERENCES
        shown = differing[:MOST_DIFFERENCES] + ([f"and {more} more"] if more > 0 else [])
        raise InputError(
            "these runs are not comparable: "
            + "; ".join(shown)
            + "; compare a run with the truth of the same scenario"
        )
    for name in names:
        yield _pair_of(golden, actual, name)


def compared_names(dataset: xr.Dataset) -> list[str]:
    """Numeric variables that hold results: no cell bounds, nothing that no arithmetic changes."""
    bounds = {v.attrs.get("bounds") for v in dataset.variables.values()}
    return [
        str(name)
        for name, variable in dataset.data_vars.items()
        if variable.dtype.kind in "fiu" and name not in bounds and _compared(str(name))
    ]


def _compared(name: str) -> bool:
    """Whether the table of variables lets this one be compared; unknown ones are."""
    return name not in VARIABLES or VARIABLES[name].compared


def _pair_of(golden: xr.Dataset, actual: xr.Dataset, name: str) -> Pair:
    """One pair, cut to the times that the run has."""
    truth, run = golden[name], actual[name]
    if "time" in truth.dims:
        truth = truth.isel(time=slice(0, run.sizes["time"]))
    weights = np.ones(())
    if "cell_area" in golden and set(golden["cell_area"].dims) <= set(truth.dims):
        area = golden["cell_area"]
        kept = [d for d in truth.dims if d in area.dims]
        weights = area.transpose(*kept).values
        weights = weights.reshape([truth.sizes[d] if d in kept else 1 for d in truth.dims])
    error = str(truth.attrs.get("ancillary_variables", ""))
    known = error.endswith("standard_error") and error in golden
    scale = golden[error].values.astype(np.float64) if known else None
    return Pair(
        name, str(truth.attrs.get("units", "")),
        np.ascontiguousarray(truth.values, np.float64),
        np.ascontiguousarray(run.transpose(*truth.dims).values, np.float64),
        weights, scale, tuple(str(d) for d in truth.dims),
    )  # fmt: skip


def _differences(golden: xr.Dataset, actual: xr.Dataset, names: list[str]) -> list[str]:
    """What keeps two datasets from being compared, one phrase each."""
    found = _scenario_differences(golden, actual)
    missing = [name for name in names if name not in actual]
    if missing:
        found.append(f"variables missing from the second: {', '.join(missing)}")
    if not names:
        found.append("the first holds no numeric variable")
    for name in names:
        if name in actual and set(golden[name].dims) != set(actual[name].dims):
            found.append(f"'{name}' has axes {golden[name].dims} and {actual[name].dims}")
    for axis in golden.sizes:
        if axis in actual.sizes:
            phrase = _axis_difference(golden, actual, str(axis))
            found += [phrase] if phrase else []
    return found


def _axis_difference(golden: xr.Dataset, actual: xr.Dataset, axis: str) -> str:
    """How an axis differs, or nothing; an early end of `time` is no difference."""
    one, two = golden.sizes[axis], actual.sizes[axis]
    if one != two and not (axis == "time" and two < one):
        return f"axis '{axis}' has {one} and {two} points"
    if axis in golden.coords and axis in actual.coords:
        if not np.array_equal(golden[axis].values[:two], actual[axis].values):
            return f"the values of axis '{axis}' differ"
    return ""


def _scenario_differences(golden: xr.Dataset, actual: xr.Dataset) -> list[str]:
    """Keys of the stored scenarios that differ, except those that change no result in itself."""
    texts = [d.attrs.get("sciprec_scenario") for d in (golden, actual)]
    if None in texts:
        return []
    one, two = (dict(_flat(json.loads(text))) for text in texts)
    free = ("backends", "compensation", "tolerance", "title", "source", "name")
    keys = sorted(k for k in one.keys() | two.keys() if k.split(".")[0] not in free)
    return [
        f"scenario key '{k}' is {one.get(k)!r} and {two.get(k)!r}"
        for k in keys
        if one.get(k) != two.get(k)
    ]


def _flat(tree: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of nested dictionaries under dotted keys."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
