"""Distances of results from those of binary64."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sciprec.arrays.metrics import MetricFunction, relative_l2, worst_element
from sciprec.foundation.errors import InputError


def error_of(
    metric: MetricFunction, results: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> float:
    """The largest error of some results; infinite where one run alone has a number that is not
    finite, or another one.

    Raises:
        InputError: the metric gives no error.
    """
    worst = 0.0
    for name in truth:
        values, right = (np.asarray(run[name], np.float64) for run in (results, truth))
        usable = np.isfinite(right)
        if values.shape != right.shape or not np.array_equal(np.isfinite(values), usable):
            return float("inf")
        if not np.array_equal(values[~usable], right[~usable], equal_nan=True):
            return float("inf")
        if not usable.any():
            continue
        error = _value_of(metric, values[usable], right[usable])
        real = isinstance(error, (int, float, np.integer, np.floating))
        is_equal = real and np.isnan(error) and np.array_equal(values[usable], right[usable])
        if not real or isinstance(error, bool) or error < 0.0 or is_equal:
            raise InputError(
                f"the metric gives {error!r} of '{name}'; accepted: a number from zero, zero where "
                "nothing differs"
            )
        worst = max(worst, float("inf") if np.isnan(error) else float(error))
    return worst


def hidden_element(results: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]) -> str:
    """Name the worst element of some results where their norm hides it; "" where none is."""
    for name in truth:
        values, right = (np.asarray(run[name], np.float64) for run in (results, truth))
        if values.shape != right.shape:
            continue
        with np.errstate(all="ignore"):
            worst = worst_element(name, values, values - right)
            usable = np.isfinite(right) & np.isfinite(values)
            norm = relative_l2(values[usable], right[usable])
        if worst is not None and worst.is_far(norm):
            return str(worst)
    return ""


def _value_of(metric: MetricFunction, values: np.ndarray, truth: np.ndarray) -> Any:
    """Return the value of a metric; it may be a function of the user's."""
    try:
        with np.errstate(all="ignore"):
            return metric(values, truth)
    except Exception as error:
        raise InputError(
            f"the metric raised {type(error).__name__}: {error}; it is called with two arrays, "
            "(found, truth), and gives a number"
        ) from error
