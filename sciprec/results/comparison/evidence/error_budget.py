"""The rounding error beside the other errors of a result: which of them is larger, how much."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.evidence.markets import is_surface
from sciprec.results.comparison.wording import number, times

INPUT, OPERATIONS = "input rounding", "input rounding and operations"
DISCRETISATION, SAMPLING, INITIAL = "discretisation", "sampling", "initial state"
BOUND_PARTS = ("statistical", DISCRETISATION, "rounding")
REFERENCE = "reference_"
"""Prefix of variables that hold a solution of much higher resolution at the last time."""


@dataclass(frozen=True)
class ErrorBudget:
    """Parts of the error of one variable.

    Args:
        variable: name.
        measure: what the numbers are, such as "relative l2 error at day 5".
        parts: name -> size; only what could be had.
        rounding: the size of the rounding error.
        others: the largest of the other parts; NaN without any.
        below_by: others / rounding: above 1 the rounding error is the smaller one.
        missing: names of parts that could not be had.
        sentence: what it comes to.
    """

    variable: str
    measure: str
    parts: dict[str, float]
    rounding: float
    others: float
    below_by: float
    missing: tuple[str, ...]
    sentence: str


def error_budget(
    golden: xr.Dataset,
    actual: xr.Dataset,
    variable: str,
    *,
    reference: xr.Dataset | None = None,
    initial_spread: float = math.nan,
) -> ErrorBudget:
    """The parts of a result's error, as far as files tell them.

    Args:
        golden, actual: truth and run.
        variable: of a flow over time, lat and lon, or "price".
        reference: a solution of much higher resolution on the points of the runs, at their last
            time; left out, what the truth's file holds as reference_NAME.
        initial_spread: what uncertain initial states make of the variable at the last time, as a
            relative l2 error; NaN: not known.

    Returns:
        An ErrorBudget.

    Raises:
        InputError: the reference has no such variable, or is on other points; prices have no
            parts of an error.
    """
    if is_surface(golden):
        return _of_prices(golden, actual)
    return _of_flow(golden, actual, variable, reference, initial_spread)


def _of_flow(golden, actual, variable, reference, initial_spread) -> ErrorBudget:
    """Initial and last rounding errors, the distance of the truth from a finer solution."""
    last = min(golden.sizes["time"], actual.sizes["time"]) - 1
    area = golden["cell_area"].values
    exact, run = (d[variable].values for d in (golden, actual))
    parts = {
        INPUT: _relative_l2(run[0], exact[0], area),
        OPERATIONS: _relative_l2(run[last], exact[last], area),
    }
    finer = _reference_values(golden, variable, reference)
    if finer is not None and last == golden.sizes["time"] - 1:
        parts[DISCRETISATION] = _relative_l2(exact[last], finer, area)
    if math.isfinite(initial_spread):
        parts[INITIAL] = initial_spread
    measure = f"relative l2 error at day {float(golden['time'][last]):g}"
    return _budget(variable, measure, parts, parts[OPERATIONS], (DISCRETISATION, INITIAL))


def _of_prices(golden: xr.Dataset, actual: xr.Dataset) -> ErrorBudget:
    """Parts of the bound, or standard errors, at the price where rounding weighs most."""
    if all(name in actual for name in BOUND_PARTS):
        values = {n: actual[n].values for n in BOUND_PARTS}
        other_errors = values["statistical"] + values[DISCRETISATION]
        at = _worst(values["rounding"], other_errors)
        parts = {
            SAMPLING: float(values["statistical"][at]),
            DISCRETISATION: float(values[DISCRETISATION][at]),
            OPERATIONS: float(values["rounding"][at]),
        }
        measure = f"part of the bound, {_place(actual, at)}"
        return _budget("price", measure, parts, parts[OPERATIONS], (SAMPLING, DISCRETISATION))
    if "standard_error" not in golden:
        raise InputError(
            "the prices have neither a standard error nor the parts of a bound "
            f"({', '.join(BOUND_PARTS)}); accepted: files of a scenario of kind 'heston'"
        )
    error = np.abs(actual["price"].values - golden["price"].values)
    sampling = golden["standard_error"].values
    at = _worst(error, sampling)
    parts = {OPERATIONS: float(error[at]), SAMPLING: float(sampling[at])}
    if "analytic_price" in golden and np.isfinite(golden["analytic_price"].values[at]):
        gap = abs(float(golden["price"].values[at] - golden["analytic_price"].values[at]))
        if gap > 3.0 * parts[SAMPLING]:  # what three standard errors may explain is no bias
            parts[DISCRETISATION] = gap
    measure = f"error of the price (sampling: standard error), {_place(actual, at)}"
    return _budget("price", measure, parts, parts[OPERATIONS], (SAMPLING, DISCRETISATION))


def _budget(variable, measure, parts, rounding, other_names) -> ErrorBudget:
    """The budget with its sentence."""
    known_parts = {n: parts[n] for n in other_names if n in parts}
    missing = tuple(n for n in other_names if n not in parts)
    largest = max(known_parts, key=lambda n: known_parts[n], default=None)
    largest_error = math.nan if largest is None else known_parts[largest]
    below = math.nan if largest is None else _ratio(largest_error, rounding)
    if rounding == 0.0:
        sentence = f"there is no rounding error in {variable}"
    elif largest is None:
        sentence = (
            f"the rounding error of {variable} is {number(rounding)} ({measure}); other errors "
            "are not known"
        )
    else:
        sentence = (
            f"the rounding error of {variable} is {_beside(below)} the error of the {largest} "
            f"({number(rounding)} and {number(largest_error)}, {measure})"
        )
    return ErrorBudget(variable, measure, parts, rounding, largest_error, below, missing, sentence)


def _beside(below: float) -> str:
    """ "5 times below", "just above", "far above"."""
    if below >= 1.0:
        return times(below, "below")
    return times(1.0 / below, "above") if below > 0.0 else "far above"


def _reference_values(golden, variable, reference) -> np.ndarray | None:
    """The finer solution on the points of the truth, or None."""
    if reference is None:
        name = REFERENCE + variable
        return golden[name].values if name in golden else None
    if variable not in reference:
        raise InputError(
            f"the reference has no variable '{variable}'; it has "
            f"{', '.join(map(str, reference.data_vars))}"
        )
    field = reference[variable]
    values = field.isel(time=-1).values if "time" in field.dims else field.values
    if values.shape != golden[variable].shape[1:]:
        raise InputError(
            f"the reference has the shape {values.shape} in '{variable}'; accepted: "
            f"{golden[variable].shape[1:]}, the points of the truth"
        )
    return values


def _relative_l2(run: np.ndarray, exact: np.ndarray, area: np.ndarray) -> float:
    """sqrt(sum w (run - exact)^2 / sum w exact^2)."""
    error, size = (float(np.sum(area * x * x)) for x in (run - exact, exact))
    return math.sqrt(_ratio(error, size))


def _ratio(numerator: float, denominator: float) -> float:
    """The ratio, where nothing of nothing is 0."""
    if denominator == 0.0:
        return 0.0 if numerator == 0.0 else math.inf
    return numerator / denominator


def _worst(rounding: np.ndarray, other_errors: np.ndarray) -> tuple[int, ...]:
    """The place where rounding is largest against the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rounding == 0.0, 0.0, rounding / other_errors)
    share = np.where(np.isnan(share), -1.0, share)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(share)), share.shape))


def _place(dataset: xr.Dataset, at: tuple[int, ...]) -> str:
    """Maturity and strike of a price."""
    maturity, strike = float(dataset["maturity"][at[0]]), float(dataset["strike"][at[1]])
    return f"maturity {maturity:g}, strike {strike:g}"
