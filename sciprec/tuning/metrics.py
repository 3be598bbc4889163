"""How far results are from those of binary64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sciprec.checks.arguments import refused, word
from sciprec.errors import InputError

Metric = Callable[[np.ndarray, np.ndarray], float]
"""Of the values of one result and of its truth, where both are finite."""


def relative_l2(found: np.ndarray, truth: np.ndarray) -> float:
    """The l2 norm of the difference over that of the truth."""
    return _over(float(np.linalg.norm(found - truth)), float(np.linalg.norm(truth)))


def largest(found: np.ndarray, truth: np.ndarray) -> float:
    """The largest difference over the largest size of the truth."""
    return _over(float(np.abs(found - truth).max()), float(np.abs(truth).max()))


def largest_relative(found: np.ndarray, truth: np.ndarray) -> float:
    """The largest difference over the size of the truth, number by number."""
    with np.errstate(all="ignore"):
        relative = np.abs(found - truth) / np.abs(truth)
    return float(np.where(found == truth, 0.0, relative).max())


def rms(found: np.ndarray, truth: np.ndarray) -> float:
    """The root of the mean square of the difference, in units of the result."""
    return float(np.sqrt(np.mean((found - truth) ** 2)))


METRICS: Mapping[str, Metric] = {
    "relative_l2": relative_l2, "max": largest, "max_relative": largest_relative, "rms": rms,
}  # fmt: skip


def _over(size: float, scale: float) -> float:
    return 0.0 if size == 0.0 else size / scale if scale else float("inf")


def metric_of(given: Any) -> tuple[str, Metric]:
    """The name of a metric and the metric.

    Raises:
        InputError: it is neither a known name nor a function.
    """
    if callable(given):
        return getattr(given, "__name__", "own metric"), given
    if not isinstance(given, str):
        raise refused("metric", given, f"{', '.join(METRICS)}, or a function (found, truth)")
    return given, METRICS[word("metric", given, METRICS)]


def error_of(
    metric: Metric, found: Mapping[str, np.ndarray], truth: Mapping[str, np.ndarray]
) -> float:
    """The largest error of some results; infinite where one run alone has a number that is not
    finite, or another one.

    Raises:
        InputError: the metric gives no error.
    """
    worst = 0.0
    for name, right in truth.items():
        values, usable = found[name], np.isfinite(right)
        if values.shape != right.shape or not np.array_equal(np.isfinite(values), usable):
            return float("inf")
        if not np.array_equal(values[~usable], right[~usable], equal_nan=True):
            return float("inf")
        if not usable.any():
            continue
        error = _value_of(metric, values[usable], right[usable])
        real = isinstance(error, (int, float, np.integer, np.floating))
        same = real and np.isnan(error) and np.array_equal(values[usable], right[usable])
        if not real or isinstance(error, bool) or error < 0.0 or same:
            raise InputError(
                f"the metric gives {error!r} of '{name}'; accepted: a number from zero, zero where "
                "nothing differs"
            )
        worst = max(worst, float("inf") if np.isnan(error) else float(error))
    return worst


def _value_of(metric: Metric, found: np.ndarray, truth: np.ndarray) -> Any:
    """What a metric gives; it may be a function of the user's."""
    try:
        with np.errstate(all="ignore"):
            return metric(found, truth)
    except Exception as error:
        raise InputError(
            f"the metric raised {type(error).__name__}: {error}; it is called with two arrays, "
            "(found, truth), and gives a number"
        ) from error
