"""Distances of results from their truth: the metrics that every verb about a kernel knows by the
same names, and the worst element.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.foundation.arguments import refused, word

MetricFunction = Callable[[np.ndarray, np.ndarray], float]
"""Of the values of one result and of its truth, where both are finite."""
FAR, WRONG = 100.0, 0.5
"""An element is hidden by the norm if its relative error is so many times the relative l2 error,
and so large: no digit of it is right."""


def relative_l2(found: np.ndarray, truth: np.ndarray) -> float:
    """The l2 norm of the difference over that of the truth."""
    return error_by("relative_l2", found - truth, truth)


def relative_max(found: np.ndarray, truth: np.ndarray) -> float:
    """The largest difference over the largest size of the truth."""
    return error_by("relative_max", found - truth, truth)


def max_relative(found: np.ndarray, truth: np.ndarray) -> float:
    """The largest difference over the size of the truth, number by number."""
    return error_by("max_relative", found - truth, truth)


def max_abs(found: np.ndarray, truth: np.ndarray) -> float:
    """The largest difference, in units of the result."""
    return error_by("max_abs", found - truth, truth)


def rms(found: np.ndarray, truth: np.ndarray) -> float:
    """The root of the mean square of the difference, in units of the result."""
    return error_by("rms", found - truth, truth)


METRICS: Mapping[str, MetricFunction] = {
    one.__name__: one for one in (relative_l2, relative_max, max_relative, max_abs, rms)
}
TITLES = {
    "relative_l2": "relative l2 error", "relative_max": "relative largest error",
    "max_relative": "worst relative error", "max_abs": "largest error", "rms": "RMS error",
}  # fmt: skip
OF_ONE = ("relative_max", "max_relative", "max_abs")
"""Metrics that a single element decides."""


def error_by(metric: str, error: np.ndarray, truth: np.ndarray) -> float:
    """Return the value of a metric for errors, result - truth.

    Args:
        metric: of METRICS.
        error, truth: (...), of one element at least.
    """
    if metric == "rms":
        return float(np.sqrt(np.mean(error**2)))
    if metric == "relative_l2":
        return _over(float(np.linalg.norm(error)), float(np.linalg.norm(truth)))
    if metric == "max_relative":
        return float(of_elements(error, truth).max())
    largest = float(np.abs(error).max())
    return largest if metric == "max_abs" else _over(largest, float(np.abs(truth).max()))


def deciding(metric: str, error: np.ndarray, truth: np.ndarray, usable: np.ndarray) -> np.ndarray:
    """Return the usable elements that a metric depends on: the worst one alone, or all."""
    if metric not in OF_ONE or not usable.any():
        return usable
    sizes = of_elements(error, truth) if metric == "max_relative" else np.abs(error)
    at = int(np.argmax(np.where(usable, sizes, -1.0)))
    return usable & (np.arange(usable.size).reshape(usable.shape) == at)


def of_elements(error: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """|error| over |truth|, number by number: 0 without an error, else infinite where the truth is
    zero.
    """
    with np.errstate(all="ignore"):
        return np.where(error == 0.0, 0.0, np.abs(error) / np.abs(truth))


def _over(size: float, scale: float) -> float:
    return 0.0 if size == 0.0 else size / scale if scale else float("inf")


def metric_of(metric: Any) -> tuple[str, MetricFunction]:
    """The name of a metric and the metric; `max`, as tune called `relative_max` before, with a
    warning.

    Raises:
        InputError: it is neither a known name nor a function.
    """
    if callable(metric):
        return getattr(metric, "__name__", "own metric"), metric
    if not isinstance(metric, str):
        raise refused("metric", metric, f"{', '.join(METRICS)}, or a function (found, truth)")
    if metric == "max":
        message = "metric 'max' is called 'relative_max' in every verb now; write that"
        warnings.warn(message, FutureWarning, stacklevel=3)
        metric = "relative_max"
    return metric, METRICS[word("metric", metric, METRICS)]


@dataclass(frozen=True)
class Worst:
    """The element of a result whose error is largest beside its own size.

    Attributes:
        name: the result's, with the index: "out[4]".
        found, truth: the element.
        relative: its error over its size.
        at_most: whether the truth is known to be at most of that size, and no more of it is.
    """

    name: str
    found: float
    truth: float
    relative: float
    at_most: bool = False

    def is_far(self, norm: float) -> bool:
        """Whether an error of all elements together, relative by the l2 norm, hides it."""
        return self.relative >= max(WRONG, FAR * norm)

    def __str__(self) -> str:
        if self.at_most:
            within = f"{abs(self.truth):.1g}"
            return f"{self.name} is {self.found:.6g}, where exact values are below {within}"
        return f"{self.name} is {self.found:.6g} for {self.truth:.6g}"


def worst_element(
    name: str, values: np.ndarray, error: np.ndarray, truth: np.ndarray | None = None
) -> Worst | None:
    """The element with the largest relative error, of those whose truth is not zero; None without
    one.

    Args:
        name: of the result.
        values: (...), its values.
        error: (...), values - truth, or a bound of its size.
        truth: (...), exact values; left out, those of values and error.
    """
    with np.errstate(all="ignore"):
        truth = values - error if truth is None else truth
        usable = np.isfinite(error) & np.isfinite(values) & (truth != 0.0)
        relative = np.where(usable, of_elements(error, truth), -1.0)
    if not usable.any():
        return None
    at = np.unravel_index(int(np.argmax(relative)), relative.shape)
    index = f"[{', '.join(map(str, at))}]" if at else ""
    return Worst(f"{name}{index}", float(values[at]), float(truth[at]), float(relative[at]))
