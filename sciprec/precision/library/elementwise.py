"""Functions of numbers, some of them of arrays too, that are more than one operation."""

from __future__ import annotations

import numpy as np

_PER_DEGREE = 0.017453292519943295
_PER_RADIAN = 57.29577951308232


def radians(x):
    """np.radians(x), np.deg2rad(x), math.radians(x): one product."""
    return x * _PER_DEGREE


def degrees(x):
    """np.degrees(x), np.rad2deg(x), math.degrees(x): one product."""
    return x * _PER_RADIAN


def rounded(number, ndigits=None):
    """round(x): the nearest integer, the even one of two; with a number of digits `to_decimals`."""
    if ndigits is None:
        return int(np.rint(number))
    return _to_decimals(number, ndigits)


def to_decimals(a, decimals=0):
    """np.round(a, decimals): with the power of ten t = 10 ** |decimals|, rounded, rint(a * t) / t,
    or rint(a / t) * t where decimals is negative; a itself where a * t overflows. Beyond 22
    decimals t has two factors, one of them 10 ** 22.
    """
    if isinstance(a, (int, float)):
        return _to_decimals(a, decimals)
    out = np.empty(a.shape)
    for index in np.ndindex(a.shape):
        out[index] = _to_decimals(a[index], decimals)
    return out


def _to_decimals(x, decimals):
    if decimals < 0:
        tens = _power_of_ten(-decimals)
        return np.rint(x / tens) * tens
    tens, more = _power_of_ten(decimals), 1.0
    if decimals > 22:
        tens, more = _power_of_ten(decimals - 22), 1e22
    scaled = x * tens * more
    if np.isfinite(scaled):
        return np.rint(scaled) / more / tens
    return float(x)


def _power_of_ten(n):
    """A whole number also where powers are within a unit: in more than 24 bits."""
    return np.rint(10.0**n)


def quotient_and_rest(x, y):
    """divmod(x, y)."""
    return x // y, x % y


def clip(a, a_min=None, a_max=None):
    """np.clip(a, a_min, a_max): exact; NaN stays. A limit None is none."""
    return _at_most(_at_least(a, a_min), a_max)


def _at_least(a, limit):
    if limit is None:
        return a
    return np.maximum(a, limit)


def _at_most(a, limit):
    if limit is None:
        return a
    return np.minimum(a, limit)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """np.isclose(a, b, rtol, atol, equal_nan): whether |a - b| <= atol + rtol |b|, of numbers or of
    arrays, which are broadcast; infinities are close to themselves alone.
    """
    if isinstance(a, (int, float)):
        if isinstance(b, (int, float)):
            return _is_close(a, b, rtol, atol, equal_nan)
        return _are_close(a, b, rtol, atol, equal_nan)
    return _are_close(a, b, rtol, atol, equal_nan)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """np.allclose(a, b, rtol, atol, equal_nan): whether all elements are `isclose`."""
    return np.all(_are_close(a, b, rtol, atol, equal_nan))


def _are_close(a, b, rtol, atol, equal_nan):
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    first, right = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
    out = np.empty(shape, np.bool_)
    for index in np.ndindex(shape):
        out[index] = _is_close(first[index], right[index], rtol, atol, equal_nan)
    return out


def _is_close(x, y, rtol, atol, equal_nan):
    if np.isnan(x) or np.isnan(y):
        return equal_nan and np.isnan(x) and np.isnan(y)
    if np.isinf(x) or np.isinf(y):
        return x == y
    return abs(x - y) <= atol + rtol * abs(y)
