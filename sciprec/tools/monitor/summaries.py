"""A watched array as a row of numbers: sizes, shares, exponents, its distance from the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciprec.precision.compiled.disk_cache import kept as compile_kept
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import Format

COLUMNS = (
    "count", "minimum", "maximum", "mean", "norm", "zeros", "subnormals", "nans", "overflows",
    "saturated", "first_nan", "first_overflow", "largest",
)  # fmt: skip
"""Numbers of a row: how many values; of the finite ones the least, the greatest, their mean and the
root of the sum of their squares; how many are zero, subnormal in the format, NaN, infinite, and at
the largest number of a format that saturates; places (of all values in order, from 0, else -1) of
the first NaN, the first infinity and the value that is largest in size."""
Allocator = Callable[..., np.ndarray]
"""Makes arrays of a shape and a type as `numpy.empty` does, which it is where nothing is given."""
LEAST_EXPONENT, GREATEST_EXPONENT = -150, 128
BINS = GREATEST_EXPONENT - LEAST_EXPONENT + 1
"""Exponents floor(log2 |x|) that are counted; what is beyond counts at the ends."""
_SAFE = 2.0**-400, 2.0**400
"""Sizes whose squares are far from both ends of binary64."""


@dataclass(frozen=True)
class FormatEnds:
    """The ends of a format that summaries count: subnormal and largest numbers.

    Args:
        least_normal: smaller numbers are subnormal; 0 where the format has none.
        largest: the largest number of a format that saturates; else infinity.
    """

    least_normal: float = 0.0
    largest: float = math.inf

    @classmethod
    def of(cls, arithmetic: Arithmetic) -> FormatEnds:
        """The limits of an arithmetic; fixed point counts its saturations itself."""
        fmt = arithmetic.format
        if not isinstance(fmt, Format):
            return cls()
        largest = fmt.max_finite if fmt.overflow == "saturate" else math.inf
        return cls(fmt.min_normal, largest)


def row_of(values: np.ndarray, limits: FormatEnds, room: Allocator = np.empty) -> np.ndarray:
    """The numbers of `COLUMNS` of some values.

    Args:
        values: of any shape; taken in their order in memory as by `ravel`.
        limits: of their format.
        room: makes the arrays that are needed on the way.
    """
    x = np.asarray(values, np.float64).ravel()
    row = np.zeros(len(COLUMNS))
    row[10:] = -1.0
    if not x.size:
        row[1:5] = np.nan
        return row
    sizes, finite, which = np.abs(x, out=room(x.shape)), room(x.shape, bool), room(x.shape, bool)
    np.isfinite(x, out=finite)
    numbers, size = (x, sizes) if finite.all() else (x[finite], sizes[finite])
    row[0] = x.size
    row[1:5] = _moments(numbers, size)
    row[5] = np.count_nonzero(np.equal(sizes, 0.0, out=which))
    row[6] = np.count_nonzero(np.less(size, limits.least_normal, out=which[: size.size])) - row[5]
    if limits.least_normal == 0.0:
        row[6] = 0.0
    if numbers.size < x.size:
        nans, infinite = np.isnan(x), np.isinf(x)
        row[7], row[8] = np.count_nonzero(nans), np.count_nonzero(infinite)
        row[10] = int(nans.argmax()) if row[7] else -1
        row[11] = int(infinite.argmax()) if row[8] else -1
    if limits.largest < math.inf:
        row[9] = np.count_nonzero(np.greater_equal(size, limits.largest, out=which[: size.size]))
    np.copyto(sizes, -1.0, where=np.isnan(sizes, out=which))
    row[12] = int(sizes.argmax())
    return row


def _moments(x: np.ndarray, sizes: np.ndarray) -> tuple[float, float, float, float]:
    """Least, greatest, mean and norm of finite numbers; NaN where there is none."""
    if not x.size:
        return (math.nan,) * 4
    low, high, most = float(x.min()), float(x.max()), float(sizes.max())
    if most == 0.0:
        return low, high, 0.0, 0.0
    if _SAFE[0] < most < _SAFE[1]:
        return low, high, float(x.mean()), math.sqrt(float(np.dot(x, x)))
    exponent = math.frexp(most)[1]
    scaled = np.ldexp(x, -exponent)
    norm = math.sqrt(float(np.dot(scaled, scaled)))
    return low, high, _ldexp(float(scaled.mean()), exponent), _ldexp(norm, exponent)


def _ldexp(x: float, exponent: int) -> float:
    """x 2^exponent; infinite where that is too large."""
    try:
        return math.ldexp(x, exponent)
    except OverflowError:
        return math.copysign(math.inf, x)


def exponents(values: np.ndarray) -> np.ndarray:
    """Counts of finite values other than zero by their exponent floor(log2 |x|): (BINS,)."""
    counts = np.zeros(BINS, np.int64)
    _count_exponents(np.asarray(values, np.float64).ravel(), counts)
    return counts


@compile_kept(nogil=True, error_model="numpy")
def _count_exponents(x, counts):
    for i in range(x.size):
        if x[i] != 0.0 and abs(x[i]) < np.inf:
            power = math.frexp(x[i])[1] - 1
            counts[min(max(power, LEAST_EXPONENT), GREATEST_EXPONENT) - LEAST_EXPONENT] += 1


def relative_error(tested: np.ndarray, truth: np.ndarray) -> float:
    """|tested - truth| / |truth| in the l2 norm over places where both are finite; infinite where a
    value is finite in one run only, NaN where none is in both, or their numbers differ.
    """
    x, t = (np.asarray(a, np.float64).ravel() for a in (tested, truth))
    if x.size != t.size:
        return math.nan
    both = np.isfinite(x)
    if (both != np.isfinite(t)).any():
        return math.inf
    if not both.any():
        return math.nan
    with np.errstate(over="ignore", invalid="ignore"):
        error, size = (_moments(a, np.abs(a))[3] for a in (x[both] - t[both], t[both]))
    return quotient(error, size)


def quotient(error: float, size: float) -> float:
    """error / size; 0 where there is no error, infinite beside nothing."""
    if error == 0.0:
        return 0.0
    return error / size if size else math.inf


def largest_errors(tested: np.ndarray, truth: np.ndarray, count: int) -> np.ndarray:
    """(count, 2): places of the largest errors and their sizes, the largest first; a value that is
    finite in one run only is the largest of all. Missing ones are -1 and 0.
    """
    result = np.zeros((count, 2))
    result[:, 0] = -1.0
    x, t = (np.asarray(a, np.float64).ravel() for a in (tested, truth))
    if x.size != t.size:
        return result
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(x - t)
        error[(x == t) | (np.isnan(x) & np.isnan(t))] = 0.0
    error[np.isnan(error)] = math.inf
    order = np.argsort(-error, kind="stable")[:count]
    order = order[error[order] > 0.0]
    result[: order.size, 0], result[: order.size, 1] = order, error[order]
    return result


def digits(error: float) -> float:
    """Decimal digits that are right, -log10 of a relative error, from 0 to 17."""
    if math.isnan(error):
        return math.nan
    return min(max(0.0, -math.log10(error)), 17.0) if error > 0.0 else 17.0
