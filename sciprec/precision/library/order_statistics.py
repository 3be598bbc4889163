"""Medians and percentiles: exact where an element is the answer."""

from __future__ import annotations

import numpy as np

from sciprec.precision.library.places import fraction_of_rank, index_of_rank
from sciprec.precision.operations.reduce import largest, smallest


def median(a):
    """np.median(a): exact, or half of the sum of the two in the middle; NaN if any element is."""
    order = np.sort(a.ravel())
    if order.size == 0 or np.isnan(order[order.size - 1]):
        return np.nan
    return _middle(order)


def nanmedian(a):
    """np.nanmedian(a): the median of the elements that are no NaN."""
    order = _numbers_in_order(a)
    if order.size == 0:
        return np.nan
    return _middle(order)


def _middle(order):
    n = order.size
    if n % 2 == 1:
        return order[n // 2]
    return (order[n // 2 - 1] + order[n // 2]) / 2.0


def _numbers_in_order(a):
    """The elements that are no NaN, sorted: np.sort puts NaN last."""
    order = np.sort(a.ravel())
    n = order.size
    while n > 0 and np.isnan(order[n - 1]):
        n -= 1
    return order[:n]


def spread(a):
    """np.ptp(a): the largest element less the smallest."""
    return largest(a) - smallest(a)


def percentile(a, q):
    """np.percentile(a, q), q a number or a vector of numbers in [0, 100]: between the two nearest
    elements, lower * (1 - part) + upper * part; NaN if any element is.

    The rank 1 + (n - 1) q / 100 and its part behind the point are found in binary64, for
    it is an index; `part` is then rounded like everything else.
    """
    order = _in_order(a)
    return _at_ranks(order, not np.isnan(order[order.size - 1]), q, 1)


def nanpercentile(a, q):
    """np.nanpercentile(a, q): `percentile` of the elements that are no NaN."""
    order = _numbers_in_order(a)
    return _at_ranks(order, order.size > 0, q, 1)


def quantile(a, q):
    """np.quantile(a, q), q in [0, 1]: the percentile at 100 q."""
    order = _in_order(a)
    return _at_ranks(order, not np.isnan(order[order.size - 1]), q, 100)


def nanquantile(a, q):
    """np.nanquantile(a, q): `quantile` of the elements that are no NaN."""
    order = _numbers_in_order(a)
    return _at_ranks(order, order.size > 0, q, 100)


def _in_order(a):
    """Return all elements in order, NaN last; of none NumPy has no percentile either."""
    if a.size == 0:
        raise IndexError("a percentile or a quantile of no elements")
    return np.sort(a.ravel())


def _at_ranks(order, is_defined, q, percent):
    if isinstance(q, (int, float)):
        return _at_rank(order, is_defined, q, percent)
    out = np.empty(q.size)
    for i in range(q.size):
        out[i] = _at_rank(order, is_defined, q[i], percent)
    return out


def _at_rank(order, is_defined, q, percent):
    """Return the number at a rank; between infinite neighbours none is known: NaN, as in NumPy."""
    n = order.size
    below = index_of_rank(max(n, 1), q, percent)
    if below < 0:
        raise ValueError("a percentile outside 0 to 100, or a quantile outside 0 to 1")
    if not is_defined:
        return np.nan
    lower = order[below]
    if n == 1 or below == n - 1:
        return lower if np.isfinite(lower) else np.nan
    part = fraction_of_rank(n, q, percent)
    upper = order[below + 1]
    if part == 0.0 and below == 0:
        return np.nan if np.isinf(upper) else lower
    return lower * (1.0 - part) + upper * part
