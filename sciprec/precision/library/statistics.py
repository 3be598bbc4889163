"""Moments, and functions that leave NaN out; sums are `reduce.total`'s."""

from __future__ import annotations

import numpy as np

from sciprec.precision.operations.reduce import accumulate, mean, total


def var(a):
    """np.var(a): the mean of the squared differences from np.mean(a)."""
    flat, middle = a.ravel(), mean(a)
    squares = np.empty(flat.size)
    for i in range(flat.size):
        apart = flat[i] - middle
        squares[i] = apart * apart
    return total(squares) / a.size


def std(a):
    """np.std(a): the square root of np.var(a)."""
    return np.sqrt(var(a))


def average(a, axis=None, weights=None):
    """np.average(a, weights=weights): the sum of the weighted elements over that of the weights."""
    if weights is None:
        return mean(a)
    if a.shape != weights.shape:
        raise ValueError("np.average of arrays and weights of different shapes")
    flat, heavy = a.ravel(), weights.ravel()
    weighted = np.empty(flat.size)
    for i in range(flat.size):
        weighted[i] = flat[i] * heavy[i]
    return total(weighted) / total(heavy)


def _without_nan(a):
    """The elements in C order, zeros in place of NaN, and how many are none."""
    flat, count = a.ravel(), 0
    numbers = np.zeros(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            numbers[i] = flat[i]
            count += 1
    return numbers, count


def nansum(a):
    """np.nansum(a): the sum with zeros in place of NaN."""
    numbers, _ = _without_nan(a)
    return total(numbers)


def nanmean(a):
    """np.nanmean(a): np.nansum(a) divided by the number of elements that are no NaN."""
    numbers, count = _without_nan(a)
    return total(numbers) / count


def nanvar(a):
    """np.nanvar(a): the mean of the squared differences from np.nanmean(a), NaN left out."""
    numbers, count = _without_nan(a)
    flat, middle = a.ravel(), total(numbers) / count
    for i in range(flat.size):
        numbers[i] = 0.0
        if not np.isnan(flat[i]):
            apart = flat[i] - middle
            numbers[i] = apart * apart
    return total(numbers) / count


def nanstd(a):
    """np.nanstd(a): the square root of np.nanvar(a)."""
    return np.sqrt(nanvar(a))


def nanprod(a):
    """np.nanprod(a): the sequential product of the elements that are no NaN."""
    result = 1.0
    for x in a.ravel():
        if not np.isnan(x):
            result = result * x
    return result


def cumprod(a):
    """np.cumprod(a): sequential over the elements in C order."""
    flat, result = a.ravel(), 1.0
    out = np.empty(flat.size)
    for i in range(flat.size):
        result = result * flat[i]
        out[i] = result
    return out


def nancumprod(a):
    """np.nancumprod(a): the same with ones in place of NaN."""
    flat, result = a.ravel(), 1.0
    out = np.empty(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            result = result * flat[i]
        out[i] = result
    return out


def nancumsum(a):
    """np.nancumsum(a): np.cumsum with zeros in place of NaN."""
    flat, carried = a.ravel(), 0.0
    out = np.empty(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            carried = accumulate(carried, flat[i])
        out[i] = carried
    return out


def nanmax(a):
    """np.nanmax(a): exact; NaN where all elements are."""
    flat = a.ravel()
    if flat.size == 0:
        raise ValueError("the largest element of an empty array")
    result = flat[0]
    for x in flat:
        result = np.fmax(result, x)
    return result


def nanmin(a):
    """np.nanmin(a): exact; NaN where all elements are."""
    flat = a.ravel()
    if flat.size == 0:
        raise ValueError("the smallest element of an empty array")
    result = flat[0]
    for x in flat:
        result = np.fmin(result, x)
    return result
