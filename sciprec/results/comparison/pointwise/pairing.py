"""Pairs of values: which variables of two datasets can be compared, point by point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.pointwise.attributes import json_attribute, steps_attribute
from sciprec.results.comparison.pointwise.blocks import PairBlock, blocks_of
from sciprec.results.comparison.pointwise.change import Change, change_of
from sciprec.results.comparison.pointwise.number_format import (
    NumberFormat,
    Packing,
    number_format,
    packing_of,
)
from sciprec.results.comparison.pointwise.one_pass import INF
from sciprec.results.comparison.pointwise.points import (
    NUMBERS,
    advice,
    aligned,
    axis_difference,
    coordinate_differences,
)
from sciprec.results.comparison.pointwise.statistics import Statistics, statistics_of
from sciprec.results.comparison.pointwise.tally import Tally
from sciprec.results.comparison.pointwise.times import are_times, same_times, time_conversion
from sciprec.results.comparison.pointwise.units import Converted, UnitConversion, conversion
from sciprec.results.output.stated import (
    FREE_LENGTHS,
    START,
    budget_names,
    is_compared,
    without_history,
)
from sciprec.results.output.variables import GLOBAL_MEANS

MOST_DIFFERENCES = 4  # named in a message
_FREE = (
    "backends", "compensation", "stages", "scaling", "scales", "scale_factors", "unclipped",
    "policy", "narrow", "wide", "allow", "deny", "adaptive", "monitor", "trace", "tolerance",
    "ensemble", "title", "source", "name",
)  # fmt: skip
"""Keys of scenarios that choose arithmetics, and what is seen, judged and written of runs."""


@dataclass(frozen=True)
class VariablePair:
    """One variable in truth and in the run, on the same points.

    Args:
        name, units: of the variable; of dates that of their differences.
        truth, run: arrays of one shape, in memory or read block by block (DataArrays, and converted
            ones).
        weights: non-negative, broadcastable to that shape (areas of grid cells), or 1.
        scale: None, or the statistical standard error of the golden values.
        dims: names of the axes.
        number_format: of the run's values.
        coordinates: values along axes that have some.
        packing: of the truth's values in their file, and of the run's in its own, in the truth's
            units; None where they are kept as they are.
        start: values of truth and run before the first step, where no axis of time has them.
        steps: of the run, at least as many as there are times after the first.
        truth_roundoff: unit roundoff of the truth's values.
        is_budget: whether it is a mean over the globe that the flow keeps but for small terms, so
            that its change tells nothing of whether the state moves.
    """

    name: str
    units: str
    truth: np.ndarray | xr.DataArray
    run: np.ndarray | xr.DataArray | Converted
    weights: np.ndarray
    scale: np.ndarray | None = None
    dims: tuple[str, ...] = ()
    number_format: NumberFormat = field(default_factory=lambda: number_format({}))
    coordinates: Mapping[str, np.ndarray] = field(default_factory=dict)
    packing: tuple[Packing | None, Packing | None] = (None, None)
    start: tuple[np.ndarray, np.ndarray] | None = None
    steps: int = 1
    truth_roundoff: float = 2.0**-53
    is_budget: bool = False

    def blocks(self) -> Iterator[PairBlock]:
        """Both variables with weights and scales, in blocks: memory does not depend on the size."""
        return blocks_of(self.truth, self.run, self.weights, self.scale, self.name)

    @cached_property
    def tally(self) -> Tally:
        """All counts and sums, in one pass over the blocks."""
        weighted = self.weights.size > 1
        tally = Tally(np.shape(self.truth), self.number_format, weighted=weighted)
        for block in self.blocks():
            weights = block.weights if weighted else None
            tally.add(block.golden, block.actual, weights, block.start)
        return tally

    @cached_property
    def statistics(self) -> Statistics:
        """The numbers of the tally."""
        return statistics_of(self.tally, self.dims, self.coordinates)

    @cached_property
    def change(self) -> Change | None:
        """The way of truth and run from their beginning; None without an axis of time, and
        for a budget.
        """
        if self.is_budget:
            return None
        noise = self.truth_roundoff * math.sqrt(self.steps)
        return change_of((self.truth, self.run), self.weights, self.dims, self.start, noise)

    @cached_property
    def golden(self) -> np.ndarray:
        """The truth, all of it in memory, as binary64."""
        return np.ascontiguousarray(self.truth, np.float64).reshape(np.shape(self.truth))

    @cached_property
    def actual(self) -> np.ndarray:
        """The run, all of it in memory, as binary64."""
        return np.ascontiguousarray(self.run, np.float64).reshape(np.shape(self.run))

    @cached_property
    def finite(self) -> np.ndarray:
        """Mark places where both values are finite: the points that statistics are over."""
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

    @property
    def identical(self) -> bool:
        """Whether every value agrees bit for bit; any NaN equals any other."""
        return not self.tally.differing[0]

    @property
    def nonfinite(self) -> tuple[int, int]:
        """Points where truth, and where run, is not finite."""
        matrix = self.tally.matrix
        return int(matrix[INF:].sum()), int(matrix[:, INF:].sum())

    @property
    def changed_nonfinite(self) -> int:
        """Points where one value is finite and the other is not, or the two non-finites differ."""
        matrix = self.tally.matrix
        return int(matrix.sum() - matrix[:INF, :INF].sum() - np.trace(matrix[INF:, INF:]))

    def at(self, index: int) -> VariablePair:
        """The pair at one position along the first axis."""
        full = np.broadcast_to(self.weights, np.shape(self.truth))
        scale = None if self.scale is None else self.scale[index]
        return replace(
            self, truth=self.truth[index], run=self.run[index], weights=full[index], scale=scale,
            dims=self.dims[1:], start=None,
        )  # fmt: skip


Pair = VariablePair  # its name in older pickles


def pair(golden: xr.Dataset, actual: xr.Dataset) -> Iterator[VariablePair]:
    """Pair the variables of two runs by name, after checking that they lie on the same points.

    Points in another order, such as latitudes from north to south, are put into the truth's, and
    values in other units into the truth's. A run that stopped early is paired over the times that
    it has. How runs went, what was watched of them above all, may differ.

    Raises:
        InputError: variables or coordinates differ; all differing ones are named.
    """
    golden, actual = without_history(golden), without_history(actual)
    if unlike := other_shapes(golden, actual):
        golden, actual = golden.drop_vars(unlike), actual.drop_vars(unlike)
        if not compared_names(golden):
            raise InputError("; ".join(shape_phrases(unlike)) + ": nothing can be compared")
    names = compared_names(golden)
    actual = aligned(golden, actual)
    differing = _differences(golden, actual, names)
    if differing:
        n_hidden = len(differing) - MOST_DIFFERENCES
        listed = differing[:MOST_DIFFERENCES] + ([f"and {n_hidden} more"] if n_hidden > 0 else [])
        of_scenarios = all("sciprec_scenario" in dataset.attrs for dataset in (golden, actual))
        end = "; compare a run with the truth of the same scenario" if of_scenarios else ""
        missing = any(
            name not in actual or set(golden[name].dims) != set(actual[name].dims)
            for name in names
        )
        end += advice(golden, actual, missing)
        raise InputError("these runs are not comparable: " + "; ".join(listed) + end)
    for name in names:
        yield _pair_of(golden, actual, name)


def other_shapes(
    golden: xr.Dataset, actual: xr.Dataset
) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Shapes in truth and in run of the variables that have another one there, where both files
    say that they may.
    """
    if not all(dataset.attrs.get(FREE_LENGTHS) for dataset in (golden, actual)):
        return {}
    return {
        name: (golden[name].shape, actual[name].shape)
        for name in compared_names(golden)
        if name in actual and golden[name].shape != actual[name].shape
    }


def shape_phrases(others: Mapping[str, tuple[tuple[int, ...], tuple[int, ...]]]) -> list[str]:
    """A phrase for each variable of another shape: "history has 12 values, and 13 in the truth"."""
    words = []
    for name, (truth, run) in others.items():
        if len(truth) == len(run) == 1:
            words.append(f"{name} has {run[0]} values, and {truth[0]} in the truth")
        else:
            words.append(f"{name} has the shape {run}, and {truth} in the truth")
    return words


def compared_names(dataset: xr.Dataset) -> list[str]:
    """Numeric variables that hold results: no cell bounds, nothing that no arithmetic changes."""
    bounds = {v.attrs.get("bounds") for v in dataset.variables.values()}
    about = dataset.attrs
    return [
        str(name)
        for name, variable in dataset.data_vars.items()
        if variable.dtype.kind in NUMBERS and name not in bounds and is_compared(str(name), about)
    ]


def _pair_of(golden: xr.Dataset, actual: xr.Dataset, name: str) -> VariablePair:
    """One pair, cut to the times that the run has."""
    truth, run = golden[name], actual[name]
    if "time" in truth.dims:
        truth = truth.isel(time=slice(0, run.sizes["time"]))
    weights = np.ones(())
    area = golden.get("cell_area")
    if area is not None and area.dtype.kind in NUMBERS and set(area.dims) <= set(truth.dims):
        axes = [d for d in truth.dims if d in area.dims]
        weights = area.transpose(*axes).values
        weights = weights.reshape([truth.sizes[d] if d in axes else 1 for d in truth.dims])
    error = str(truth.attrs.get("ancillary_variables", ""))
    has_error = (
        error.endswith("standard_error") and error in golden
        and golden[error].dtype.kind in NUMBERS
    )  # fmt: skip
    other = converted(golden, actual, name)
    values = run.transpose(*truth.dims)
    scale = golden[error].values.astype(np.float64) if has_error else None
    packed = packing_of(run) if other is None else None
    kept_in = number_format(actual.attrs, run.dtype) if packed is None else packed.number_format
    return VariablePair(
        name, str(truth.attrs.get("units", "")).partition(" since ")[0], truth,
        values if other is None else Converted(values, other), weights, scale,
        tuple(str(d) for d in truth.dims), kept_in,
        {str(d): truth[d].values for d in truth.dims if d in truth.coords},
        (packing_of(truth), packed), _started(golden, actual, name),
        max(steps_attribute(actual.attrs), actual.sizes.get("time", 1) - 1, 1),
        number_format(golden.attrs, truth.dtype).unit_roundoff,
        is_budget=name in GLOBAL_MEANS.union(budget_names(golden.attrs))
        and "area: mean" in str(truth.attrs.get("cell_methods", "")),
    )  # fmt: skip


def _started(
    golden: xr.Dataset, actual: xr.Dataset, name: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """The values that a result began with in truth and run, where both files have them."""
    starts = [data.get(str(data[name].attrs.get(START, ""))) for data in (golden, actual)]
    starts_that_fit = [s for s in starts if s is not None and s.shape == golden[name].shape]
    if len(starts_that_fit) < len(starts):
        return None
    first, second = (np.asarray(start.values, np.float64) for start in starts_that_fit)
    return first, second


def _differences(golden: xr.Dataset, actual: xr.Dataset, names: list[str]) -> list[str]:
    """Reasons against the comparison of two datasets, one phrase each."""
    phrases = _scenario_differences(golden, actual)
    missing = [name for name in names if name not in actual]
    if missing:
        phrases.append(f"variables missing from the run: {', '.join(missing)}")
    if not names:
        phrases.append("the truth holds no numeric variable")
    for name in names:
        if name in actual and set(golden[name].dims) != set(actual[name].dims):
            phrases.append(f"'{name}' has axes {golden[name].dims} and {actual[name].dims}")
        elif name in actual and actual[name].dtype.kind not in NUMBERS:
            phrases.append(f"'{name}' of the run holds no numbers")
        elif name in actual:
            phrases += _units_difference(golden, actual, name)
    axes = len(phrases)
    for axis in golden.sizes:
        if axis in actual.sizes:
            phrase = axis_difference(golden, actual, str(axis))
            phrases += [phrase] * bool(phrase) + _units_difference(golden, actual, str(axis))
    if len(phrases) == axes:
        phrases += [phrase for _, phrase in coordinate_differences(golden, actual)]
    return phrases


def converted(golden: xr.Dataset, actual: xr.Dataset, name: str) -> UnitConversion | None:
    """The conversion of a variable of the run into the truth's units; None where it is in them,
    where one of the two states none, or where none is known.

    Raises:
        InputError: both are times, of calendars with other days.
    """
    if not _in_other_units(golden, actual, name):
        return None
    golden_attrs, actual_attrs = golden.variables[name].attrs, actual.variables[name].attrs
    if are_times(str(golden_attrs["units"]), str(actual_attrs["units"])):
        return time_conversion(actual_attrs, golden_attrs, actual[name], f"the times '{name}'")
    units, golden_units = (str(attrs["units"]).strip() for attrs in (actual_attrs, golden_attrs))
    return conversion(units, golden_units, actual_attrs)


def _in_other_units(golden: xr.Dataset, actual: xr.Dataset, name: str) -> bool:
    """Whether both state units of a variable, and these are not the same."""
    both = [data.variables[name] for data in (golden, actual) if name in data.variables]
    if len(both) < 2 or any(variable.dtype.kind not in NUMBERS for variable in both):
        return False
    first, second = (variable.attrs for variable in both)
    stated = all(str(about.get("units", "")).strip() for about in (first, second))
    return stated and not same_times(first, second)


def _units_difference(golden: xr.Dataset, actual: xr.Dataset, name: str) -> list[str]:
    """A phrase on a variable or axis in units that cannot be converted; of an axis, whose values
    are the same, in any other ones.
    """
    if not _in_other_units(golden, actual, name):
        return []
    if name not in golden.sizes and converted(golden, actual, name) is not None:
        return []
    truth_units, run_units = (data.variables[name].attrs["units"] for data in (golden, actual))
    return [f"'{name}' is in '{truth_units}' and in '{run_units}': convert one of them first"]


def _scenario_differences(golden: xr.Dataset, actual: xr.Dataset) -> list[str]:
    """Keys of the stored scenarios that differ, except those that change no result in itself."""
    if not all("sciprec_scenario" in d.attrs for d in (golden, actual)):
        return []
    scenarios = (json_attribute(d.attrs, "sciprec_scenario") for d in (golden, actual))
    truth, run = (dict(_flat(scenario)) for scenario in scenarios)
    keys = sorted(k for k in truth.keys() | run.keys() if k.split(".")[0] not in _FREE)
    return [
        f"scenario key '{k}' is {truth.get(k)!r} and {run.get(k)!r}"
        for k in keys
        if truth.get(k) != run.get(k)
    ]


def _flat(tree: dict, prefix: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of nested dictionaries under dotted keys."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
