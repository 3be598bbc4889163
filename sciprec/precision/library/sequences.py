"""Functions along a sequence of numbers: differences, integrals, interpolation, convolution."""

from __future__ import annotations

import numpy as np

from sciprec.precision.operations.reduce import accumulate, product, total

FULL, SAME, VALID = 0, 1, 2
MODES = {"full": FULL, "same": SAME, "valid": VALID}
"""Modes of a convolution as numbers: Numba compiles comparisons of strings for seconds."""


def diff(a, n=1):
    """np.diff(a, n) along the last axis of a 1- or 2-D array: n times the differences of
    neighbours.
    """
    if n < 0:
        raise ValueError("np.diff of a negative order")
    if a.ndim == 1:
        return _diff_of_vector(a.copy(), n)
    return _diff_of_rows(a.copy(), n)


def _diff_of_vector(work, n):
    size = work.size
    for _ in range(n):
        size = max(size - 1, 0)
        for i in range(size):
            work[i] = work[i + 1] - work[i]
    return work[:size].copy()


def _diff_of_rows(work, n):
    size = work.shape[1]
    for _ in range(n):
        size = max(size - 1, 0)
        for i in range(work.shape[0]):
            for j in range(size):
                work[i, j] = work[i, j + 1] - work[i, j]
    return work[:, :size].copy()


def ediff1d(ary):
    """np.ediff1d(ary): differences of neighbours in C order."""
    return _diff_of_vector(ary.ravel().copy(), 1)


def trapezoid(y, x=None, dx=1.0):
    """np.trapezoid(y, x, dx) of vectors: the pairwise sum of d * ((y[i + 1] + y[i]) / 2)."""
    areas = np.empty(max(y.size - 1, 0))
    for i in range(areas.size):
        height = (y[i + 1] + y[i]) / 2.0
        if x is None:
            areas[i] = dx * height
        else:
            areas[i] = (x[i + 1] - x[i]) * height
    return total(areas)


def interp(x, xp, fp):
    """np.interp(x, xp, fp), x a number or an array: fp[j] + slope * (x - xp[j]) with the slope
    (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]) between the points j and j + 1 around x; the first or
    last of fp beyond them, NaN of NaN.
    """
    if xp.size == 0 or xp.size != fp.size:
        raise ValueError("np.interp takes as many points as values, one at least")
    if isinstance(x, (int, float)):
        return _interpolated(x, xp, fp)
    out = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        out[index] = _interpolated(x[index], xp, fp)
    return out


def _interpolated(x, xp, fp):
    last = xp.size - 1
    if np.isnan(x):
        return float(x)
    if x < xp[0]:
        return fp[0]
    if x >= xp[last]:
        return fp[last]
    low, high = 0, last
    while high - low > 1:
        middle = (low + high) // 2
        if xp[middle] <= x:
            low = middle
        else:
            high = middle
    if xp[low] == x:
        return fp[low]
    slope = (fp[low + 1] - fp[low]) / (xp[low + 1] - xp[low])
    value = slope * (x - xp[low]) + fp[low]
    if np.isnan(value):  # an infinite value: from the other side, as NumPy does
        value = slope * (x - xp[low + 1]) + fp[low + 1]
        if np.isnan(value) and fp[low] == fp[low + 1]:
            value = fp[low]
    return value


def convolve(a, v, mode=FULL):
    """np.convolve(a, v, mode) of vectors: sums of products in the order of the shorter one's
    backward index, in the roles of `reduce.dot`.
    """
    if a.size == 0 or v.size == 0:
        raise ValueError("np.convolve of an empty vector")
    if a.size < v.size:
        return _slid(v, a[::-1], mode)
    return _slid(a, v[::-1], mode)


def correlate(a, v, mode=VALID):
    """np.correlate(a, v, mode) of vectors: sums of products in the order of the index, in the roles
    of `reduce.dot`.
    """
    if a.size == 0 or v.size == 0:
        raise ValueError("np.correlate of an empty vector")
    if a.size < v.size:
        return _slid(v, a, mode)[::-1].copy()
    return _slid(a, v, mode)


def _slid(long, short, mode):
    """The sums of products of `short` and the elements below it as it slides along `long`."""
    first, count = 0, long.size - short.size + 1
    if mode == FULL:
        first, count = short.size - 1, long.size + short.size - 1
    elif mode == SAME:
        first, count = short.size // 2, long.size
    out = np.empty(count)
    for i in range(count):
        offset, result = i - first, 0.0
        for k in range(max(-offset, 0), min(short.size, long.size - offset)):
            result = accumulate(result, product(long[offset + k], short[k]))
        out[i] = result
    return out


def added_up(iterable, start=0):
    """sum(iterable, start): sequential, in the compute role."""
    result = start
    for x in iterable:
        result = result + x
    return result


def bincount(x, weights, minlength=0):
    """np.bincount(x, weights, minlength): the sequential sums of the weights of each integer."""
    size = minlength
    for place in x:
        if place < 0:
            raise ValueError("np.bincount of a negative number")
        size = max(size, place + 1)
    sums = np.zeros(size)
    for i in range(x.size):
        sums[x[i]] = accumulate(sums[x[i]], weights[i])
    return sums
