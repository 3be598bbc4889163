"""Error metrics: one function each, over the finite points of a pair, registered by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciprec.compare.pairing import Pair

MOST_DIGITS = -math.log10(2.0**-53)  # binary64 has no more to agree on


@dataclass(frozen=True)
class Metric:
    """A registered metric.

    Args:
        name: its key in tables and scenarios.
        title: the head of its column.
        absolute: whether its values carry the variable's units.
        compute: a pair to a number; NaN where it does not apply.
    """

    name: str
    title: str
    absolute: bool
    compute: Callable[[Pair], float]


_METRICS: dict[str, Metric] = {}


def metric(title: str, *, absolute: bool = False) -> Callable:
    """Register a function Pair -> float as a metric under its own name."""

    def register(function: Callable[[Pair], float]) -> Callable[[Pair], float]:
        _METRICS[function.__name__] = Metric(function.__name__, title, absolute, function)
        return function

    return register


def metrics() -> dict[str, Metric]:
    """All registered metrics by name, in the order of registration."""
    return dict(_METRICS)


def weighted_rms(values: np.ndarray, weight: np.ndarray) -> float:
    """sqrt(sum w x^2 / sum w), scaled by max |x| so that squares neither over- nor underflow."""
    largest = float(np.max(np.abs(values), initial=0.0))
    total = float(np.sum(weight))
    if largest == 0.0 or total == 0.0:
        return 0.0
    if math.isinf(largest):
        return math.inf
    return largest * math.sqrt(float(np.sum(weight * (values / largest) ** 2)) / total)


def ratio(numerator: float, denominator: float) -> float:
    """numerator / denominator, where 0 / 0 is 0: no error of nothing."""
    if denominator == 0.0:
        return 0.0 if numerator == 0.0 else math.inf
    return numerator / denominator


@metric("largest error", absolute=True)
def max_abs(pair: Pair) -> float:
    """max |actual - golden|."""
    return float(np.max(np.abs(pair.difference), initial=0.0))


@metric("RMS error", absolute=True)
def rms(pair: Pair) -> float:
    """sqrt(sum w (actual - golden)^2 / sum w), weighted by area where there is one."""
    return weighted_rms(pair.difference, pair.weight)


@metric("bias", absolute=True)
def bias(pair: Pair) -> float:
    """sum w (actual - golden) / sum w."""
    return ratio(float(np.sum(pair.weight * pair.difference)), float(np.sum(pair.weight)))


@metric("relative l2 error")
def relative_l2(pair: Pair) -> float:
    """sqrt(sum w (actual - golden)^2 / sum w golden^2).

    Source: Williamson et al. (1992), equation 83.
    """
    return ratio(rms(pair), weighted_rms(pair.reference, pair.weight))


@metric("relative largest error")
def relative_max(pair: Pair) -> float:
    """max |actual - golden| / max |golden|.

    Source: Williamson et al. (1992), equation 84.
    """
    return ratio(max_abs(pair), float(np.max(np.abs(pair.reference), initial=0.0)))


@metric("decimal digits")
def decimal_digits(pair: Pair) -> float:
    """-log10(relative l2 error), between 0 and the 15.95 digits of binary64."""
    error = relative_l2(pair)
    if error == 0.0:
        return MOST_DIGITS
    return min(max(-math.log10(error), 0.0), MOST_DIGITS)


@metric("error in standard errors")
def standard_errors(pair: Pair) -> float:
    """max |actual - golden| / (standard error of golden), where the truth is a Monte Carlo mean."""
    if pair.scale is None:
        return math.nan
    scale, difference = pair.scale[pair.finite], np.abs(pair.difference)
    usable = scale > 0.0
    if np.any(difference[~usable] > 0.0):
        return math.inf
    return float(np.max(difference[usable] / scale[usable], initial=0.0))
