"""Error metrics: one function each, over the finite points of a pair, registered by name.

A metric is a function of a VariablePair with the decorator `metric`. Those of other packages are
found in their plugins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.arguments import share
from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_plugins
from sciprec.results.comparison.pointwise.histograms import (
    PERCENTILES,
    bounds_of_quantile,
    exact_quantile,
)
from sciprec.results.comparison.pointwise.one_pass import HISTOGRAMS
from sciprec.results.comparison.pointwise.pairing import VariablePair
from sciprec.results.comparison.pointwise.statistics import digits_of


@dataclass(frozen=True)
class Metric:
    """A registered metric.

    Args:
        name: its key in tables and scenarios.
        title: the head of its column.
        absolute: whether its values carry the variable's units.
        compute: a pair to a number; NaN where it does not apply.
        of_end: whether it is of the last stored time in any case.
    """

    name: str
    title: str
    absolute: bool
    compute: Callable[[VariablePair], float]
    of_end: bool = False


_METRICS: dict[str, Metric] = {}


def metric(title: str, *, absolute: bool = False, of_end: bool = False) -> Callable:
    """Register a function VariablePair -> float as a metric under its own name."""

    def register(function: Callable[[VariablePair], float]) -> Callable[[VariablePair], float]:
        _METRICS[function.__name__] = Metric(
            function.__name__, title, absolute, function, of_end
        )
        return function

    return register


def metrics() -> dict[str, Metric]:
    """All registered metrics by name, those of this package first.

    Raises:
        InputError: a plugin cannot be imported.
    """
    load_plugins()
    return dict(_METRICS)


def ratio(numerator: float, denominator: float) -> float:
    """numerator / denominator, where 0 / 0 is 0: no error of nothing."""
    if denominator == 0.0:
        return 0.0 if numerator == 0.0 else math.inf
    return numerator / denominator


@metric("largest error", absolute=True)
def max_abs(pair: VariablePair) -> float:
    """max |actual - golden|."""
    return pair.statistics.absolute["max"]


@metric("RMS error", absolute=True)
def rms(pair: VariablePair) -> float:
    """sqrt(sum w (actual - golden)^2 / sum w), weighted by area where there is one."""
    return pair.statistics.absolute["rms"]


@metric("mean error", absolute=True)
def mean_abs(pair: VariablePair) -> float:
    """sum w |actual - golden| / sum w."""
    return pair.statistics.absolute["mean"]


@metric("bias", absolute=True)
def bias(pair: VariablePair) -> float:
    """sum w (actual - golden) / sum w."""
    return pair.statistics.absolute["bias"]


@metric("relative l2 error")
def relative_l2(pair: VariablePair) -> float:
    """sqrt(sum w (actual - golden)^2 / sum w golden^2).

    Source: Williamson et al. (1992), equation 83.
    """
    return ratio(rms(pair), pair.statistics.rms_truth)


@metric("relative largest error")
def relative_max(pair: VariablePair) -> float:
    """max |actual - golden| / max |golden|.

    Source: Williamson et al. (1992), equation 84.
    """
    return ratio(max_abs(pair), pair.statistics.max_truth)


@metric("share of change", of_end=True)
def share_of_change(pair: VariablePair) -> float:
    """sqrt(sum w (actual - golden)^2 / sum w (golden - golden at the first time)^2), both at the
    last stored time.

    NaN without an axis of time (`time` or `update`); where golden has changed by less than ten
    times its own error u |golden| sqrt(n) after n steps; and where it was more than ten times as
    far from its start before.
    """
    return math.nan if pair.change is None else pair.change.share


@metric("decimal digits")
def decimal_digits(pair: VariablePair) -> float:
    """-log10(relative l2 error), between 0 and the 15.95 digits of binary64."""
    return digits_of(relative_l2(pair))


@metric("worst relative error")
def max_relative(pair: VariablePair) -> float:
    """max |(actual - golden) / golden|; infinite where something stands against a truth of 0."""
    return pair.statistics.relative["max"]


@metric("fewest decimal digits")
def fewest_digits(pair: VariablePair) -> float:
    """-log10 of the largest relative error at a point, between 0 and 15.95."""
    return digits_of(max_relative(pair))


@metric("largest error in ulps")
def max_ulp(pair: VariablePair) -> float:
    """max |actual - golden| / ulp(golden), in the run's own number format.

    ulp(x) = 2^(max(exponent of x, emin) - p + 1); NaN in fixed point and for a run of several
    formats, which have no one unit.
    """
    return pair.statistics.ulp.get("max", math.nan)


@metric("correlation")
def correlation(pair: VariablePair) -> float:
    """Pearson's correlation of run and truth, weighted; NaN where the truth hardly varies."""
    return pair.statistics.correlation


@metric("error in standard errors")
def standard_errors(pair: VariablePair) -> float:
    """max |actual - golden| / (standard error of golden), where the truth is a Monte Carlo mean."""
    if pair.scale is None or not pair.tally.finite:
        return math.nan
    most = 0.0
    for block in pair.blocks():
        golden, actual = (np.asarray(x, np.float64) for x in (block.golden, block.actual))
        finite = np.isfinite(golden) & np.isfinite(actual)
        error = np.abs(actual[finite] - golden[finite])
        scale = np.broadcast_to(np.asarray(block.scale), golden.shape)[finite]
        if np.any(error[~(scale > 0.0)] > 0.0):
            return math.inf
        usable = scale > 0.0
        most = max(most, float(np.max(error[usable] / scale[usable], initial=0.0)))
    return most


def _percentile(kind: str, percent: int) -> Callable[[VariablePair], float]:
    """The metric of one percentile of one kind of error."""

    def percentile(pair: VariablePair) -> float:
        return getattr(pair.statistics, kind)[f"p{percent}"]

    percentile.__name__ = f"p{percent}_{_SHORT[kind]}"
    percentile.__doc__ = f"The {percent}th percentile of the {_MEANT[kind]}, within 0.8 %."
    return percentile


_SHORT = {"absolute": "abs", "relative": "relative"}
_MEANT = {"absolute": "error", "relative": "relative error"}
_PERCENTILES = {
    f"p{p}_{_SHORT[kind]}": (kind, p) for kind in _SHORT for p in PERCENTILES
}  # fmt: skip
for _kind, _p in _PERCENTILES.values():
    metric(f"{_MEANT[_kind]}, {_p} %", absolute=_kind == "absolute")(_percentile(_kind, _p))


def refined(name: str, pair: VariablePair, limit: float) -> float | None:
    """A percentile to the last bit, where the limit it is held against lies in its own bin.

    Args:
        name: of a metric.
        pair: the values.
        limit: what the metric is held against.

    Returns:
        The exact percentile; None where the metric is no percentile or the limit not near.
    """
    if name not in _PERCENTILES or not pair.tally.finite:
        return None
    kind, percent = _PERCENTILES[name]
    histogram = pair.tally.histograms[HISTOGRAMS.index(kind)]
    low, high = bounds_of_quantile(histogram, percent)
    if not low <= limit <= high or math.isinf(low):
        return None
    return exact_quantile(lambda: _sizes(pair, kind), histogram, percent)


def _sizes(pair: VariablePair, kind: str) -> Iterator[np.ndarray]:
    """|e| or |e / truth| of the finite pairs, block by block, as the compiled loops have them."""
    most = np.finfo(np.float64).max
    for block in pair.blocks():
        golden, actual = (np.asarray(x, np.float64) for x in (block.golden, block.actual))
        finite = np.isfinite(golden) & np.isfinite(actual)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            error = np.minimum(np.abs(actual[finite] - golden[finite]), most)
            share = np.where(error == 0.0, 0.0, error / np.abs(golden[finite]))
        yield error if kind == "absolute" else share


def limit_of(name: str, text: str, metric: str) -> float:
    """A tolerance as a number; of relative metrics also in per cent.

    Args:
        name: of the tolerance, for the sentence.
        text: as it was given.
        metric: that it is of.

    Raises:
        InputError: it is no number, or a percentage of a metric with units.
    """
    entry = metrics().get(metric)
    units = text.strip().endswith("%") and entry is not None and entry.absolute
    try:
        if not units:
            return share(text)
    except ValueError:
        pass
    of = f" of the metric {metric}, which has units" if units else ""
    raise InputError(
        f"{name} is given '{text}'{of}; it takes a number, of relative metrics also per cent"
    )
