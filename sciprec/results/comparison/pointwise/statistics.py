"""Statistics of a tally: the numbers of one variable's errors, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sciprec.results.comparison.pointwise.histograms import PERCENTILES, octaves, quantile
from sciprec.results.comparison.pointwise.one_pass import CLASSES, HISTOGRAMS
from sciprec.results.comparison.pointwise.tally import Tally

_RESOLVED = Fraction(1, 2**40)
"""A variance below this share of the mean square is that of rounded squares, not of the values."""
_DIGITS = ("max", *(f"p{p}" for p in PERCENTILES))
MOST_DIGITS = -math.log10(2.0**-53)  # binary64 has no more to agree on


@dataclass(frozen=True)
class Statistics:
    """The errors of one variable; all over the finite pairs, weighted where there are areas.

    Numbers over no pair are NaN.

    Args:
        points, finite, differing, exact: pairs in all, of finite values, of other bits, and finite
            ones without error.
        classes: CLASSES, the order of the matrix.
        matrix: pairs by class of the truth (rows) and of the run, in the run's number format.
        absolute, relative, ulp: max, mean, rms and percentiles of |e|, |e / truth| and |e| in units
            in the last place of the truth in the run's format; absolute also has the bias, and
            relative the number of pairs where something stands against a truth of 0.
        digits: decimal digits that agree: of the worst value, and percentiles (99 % of the values
            have at least `p99`).
        rms_truth, max_truth: of the truth.
        correlation, lack_of_correlation: r and 1 - r, the latter without cancellation.
        magnitudes: by exponent of the truth: pairs, pairs without error, largest and typical
            (geometric mean) error.
        histograms: pairs by power of two of the error.
        worst: the largest errors with place, coordinates and values.
        first_change: where the pattern of non-finite values first changes, or None.
        profiles: by axis: largest, rms and bias along it, with its coordinates.
        map: the largest error by block of the last two axes.
    """

    points: int
    finite: int
    differing: int
    exact: int
    classes: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    absolute: dict[str, float]
    relative: dict[str, float]
    ulp: dict[str, float]
    digits: dict[str, float]
    rms_truth: float
    max_truth: float
    correlation: float
    lack_of_correlation: float
    magnitudes: tuple[dict[str, float], ...]
    histograms: dict[str, tuple[tuple[int, int], ...]]
    worst: tuple[dict[str, Any], ...]
    first_change: dict[str, Any] | None
    profiles: dict[str, dict[str, Any]]
    map: dict[str, Any]


def statistics_of(
    tally: Tally, dims: Sequence[str] = (), coordinates: Mapping[str, np.ndarray] | None = None
) -> Statistics:
    """The numbers of a tally.

    Args:
        tally: of all blocks.
        dims: names of the axes.
        coordinates: values along axes that have some.
    """
    dims = tuple(dims) or tuple(f"axis_{i}" for i in range(len(tally.shape)))
    relative = _of_something(tally.finite, _relative(tally))
    axis_values = dict(coordinates or {})
    return Statistics(
        points=int(tally.matrix.sum()),
        finite=tally.finite,
        differing=int(tally.differing[0]),
        exact=tally.exact,
        classes=CLASSES,
        matrix=tuple(tuple(int(n) for n in row) for row in tally.matrix),
        absolute=_of_something(tally.finite, _absolute(tally)),
        relative=relative,
        ulp=_of_something(tally.finite, _ulp(tally)),
        digits={key: digits_of(relative[key]) for key in _DIGITS},
        **_of_something(tally.finite, {
            "rms_truth": root(_ratio(tally.sum("wgg"), tally.sum("w"))),
            "max_truth": tally.largest[3],
        }),
        **_correlation(tally),
        magnitudes=_magnitudes(tally),
        histograms={
            name: tuple(octaves(h)) for name, h in zip(HISTOGRAMS, tally.histograms, strict=True)
        },
        worst=tuple(_worst(tally, dims, axis_values)),
        first_change=_first_change(tally, dims, axis_values),
        profiles=_profiles(tally, dims, axis_values),
        map=_map(tally, dims, axis_values),
    )


def _of_something(count: int, numbers: dict[str, float]) -> dict[str, float]:
    """Numbers over some values; of none there is neither an error nor the lack of one: NaN."""
    return numbers if count else {name: math.nan for name in numbers}


def digits_of(error: float) -> float:
    """-log10 of a relative error, between 0 and the 15.95 digits of binary64."""
    if error == 0.0:
        return MOST_DIGITS
    return min(max(-math.log10(error), 0.0), MOST_DIGITS)


def root(square: Fraction) -> float:
    """The square root of an exact number; scaling it by 4^k scales the root by 2^k exactly."""
    if square <= 0:
        return 0.0
    shift = (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    scaled = square / Fraction(4) ** shift
    return _ldexp(math.sqrt(float(scaled)), shift)


def number(exact: Fraction) -> float:
    """The nearest binary64 number; beyond the largest, infinity."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _ldexp(x: float, exponent: int) -> float:
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.inf


def _ratio(sum_: Fraction, total: Fraction | int) -> Fraction:
    """A mean; 0 of nothing."""
    return sum_ / total if total else Fraction(0)


def _percentiles(tally: Tally, kind: int, largest: float) -> dict[str, float]:
    """p50, p90, ... of one kind of error."""
    histogram = tally.histograms[kind]
    return {f"p{p}": quantile(histogram, p, tally.exact, largest) for p in PERCENTILES}


def _absolute(tally: Tally) -> dict[str, float]:
    """Statistics of |e|."""
    total = tally.sum("w")
    largest = tally.largest[0]
    return {
        "max": largest,
        "mean": number(_ratio(tally.sum("w|e|"), total)),
        "rms": root(_ratio(tally.sum("wee"), total)),
        "bias": number(_ratio(tally.sum("we"), total)),
    } | _percentiles(tally, 0, largest)


def _relative(tally: Tally) -> dict[str, float]:
    """Statistics of |e / truth|; mean and RMS leave out where the truth is 0."""
    infinite = int(tally.histograms[1, -(1 << 6)])
    counted = tally.finite - infinite
    largest = tally.largest[1]
    return {
        "max": largest,
        **_of_something(counted, {
            "mean": number(_ratio(tally.sum("r"), counted)),
            "rms": root(_ratio(tally.sum("rr"), counted)),
        }),
        "of_zero": infinite,
    } | _percentiles(tally, 1, largest)


def _ulp(tally: Tally) -> dict[str, float]:
    """Statistics of the error in units in the last place; nothing where there is no one unit."""
    if not tally.number_format.limits.significand_bits:
        return {}
    infinite = int(tally.histograms[2, -(1 << 6)])
    largest = tally.largest[2]
    counted = tally.finite - infinite
    mean = _of_something(counted, {"mean": number(_ratio(tally.sum("u"), counted))})
    return {"max": largest} | mean | _percentiles(tally, 2, largest)


def _correlation(tally: Tally) -> dict[str, float]:
    """Pearson's r of truth and run, and 1 - r.

    With V = var g, C = cov(g, e), E = var e, and var a = V + 2 C + E:
    r = (V + C) / sqrt(V var a), and 1 - r = (1 - r^2) / (1 + r) with r^2 in exact fractions.
    """
    total = tally.sum("w")
    mean_square = _ratio(tally.sum("wgg"), total)
    g, e = (_ratio(tally.sum(name), total) for name in ("wg", "we"))
    v = mean_square - g * g
    c = _ratio(tally.sum("wge"), total) - g * e
    spread = _ratio(tally.sum("wee"), total) - e * e
    other = v + 2 * c + spread
    if v <= mean_square * _RESOLVED or other <= 0:
        return {"correlation": math.nan, "lack_of_correlation": math.nan}
    square = min((v + c) ** 2 / (v * other), Fraction(1))
    r = root(square) if v + c > 0 else -root(square)
    lack = number(1 - square) / (1.0 + r) if r > 0.0 else 1.0 - r
    return {"correlation": r, "lack_of_correlation": lack}


def _magnitudes(tally: Tally) -> tuple[dict[str, float], ...]:
    """Error against magnitude, one entry per exponent of the truth."""
    rows = []
    for row in np.flatnonzero(tally.magnitudes[:, 0]):
        count, exact, pattern, logs = (int(x) for x in tally.magnitudes[row])
        typical = _ldexp(2.0 ** ((logs / 2**20 / (count - exact)) % 1.0), math.floor(
            logs / 2**20 / (count - exact))) if count > exact else 0.0  # fmt: skip
        largest = float(np.int64(pattern).view(np.float64))
        rows.append({
            "exponent": int(row) - 1023 if row else None, "points": count, "exact": exact,
            "largest": largest, "typical": min(typical, largest),
        })  # fmt: skip
    return tuple(rows)


def _where(place: int, tally: Tally, dims, axis_values) -> dict[str, Any]:
    """A place as indices and, where axes have them, coordinates."""
    index = [int(i) for i in np.unravel_index(place, tally.shape)]
    coordinates = {}
    for dim, i in zip(dims, index, strict=True):
        coordinates[dim] = _plain(axis_values[dim][i]) if dim in axis_values else i
    return {"index": index, "at": coordinates}


def _plain(value: Any) -> Any:
    """A coordinate that JSON can hold."""
    value = value.item() if isinstance(value, np.generic) and value.dtype.kind in "fiub" else value
    return value if isinstance(value, (int, float, bool)) else str(value)


def _worst(tally: Tally, dims, axis_values) -> list[dict[str, Any]]:
    return [
        {**_where(w.place, tally, dims, axis_values), "error": -w.negative_error,
         "golden": w.golden, "actual": w.actual}
        for w in tally.worst
    ]  # fmt: skip


def _first_change(tally: Tally, dims, axis_values) -> dict[str, Any] | None:
    if tally.changed_place >= math.prod(tally.shape):
        return None
    return _where(tally.changed_place, tally, dims, axis_values)


def _profiles(tally: Tally, dims, axis_values) -> dict[str, dict[str, Any]]:
    """Errors along each axis that has more than one place."""
    profiles = {}
    for dim, step, sums in zip(dims, tally.strides, tally.profiles, strict=True):
        if sums.shape[0] < 2:
            continue
        weight = np.where(sums[:, 3] > 0.0, sums[:, 3], np.nan)
        with np.errstate(over="ignore", invalid="ignore"):
            rms, bias = np.sqrt(sums[:, 1] / weight), sums[:, 2] / weight
        profiles[dim] = {
            "coordinate": [_plain(x) for x in axis_values[dim][::step]] if dim in axis_values else
            [i * step for i in range(sums.shape[0])],
            "places_each": step,
            "largest": sums[:, 0].tolist(),
            "rms": rms.tolist(),
            "bias": bias.tolist(),
        }  # fmt: skip
    return profiles


def _map(tally: Tally, dims, axis_values) -> dict[str, Any]:
    """The map of largest errors; nothing where there are fewer than two axes."""
    if len(tally.shape) < 2 or 1 in tally.shape[-2:]:
        return {}
    axes = dims[-2:]
    return {
        "axes": list(axes),
        "cell": list(tally.cell),
        "corners": [
            [_plain(x) for x in axis_values[dim][::step]] if dim in axis_values else
            list(range(0, size, step))
            for dim, step, size in zip(axes, tally.cell, tally.shape[-2:], strict=True)
        ],
        "largest": tally.map.tolist(),
    }  # fmt: skip
