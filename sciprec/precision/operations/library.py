"""NumPy's functions as kernels: what `np.var`, `np.linspace`, `np.outer` and others become in a
lifted kernel.

They are kernels like any other, lifted together with the one that calls them, in NumPy's order of
operations: sums are `reduce.total`'s. Functions of a table of `symbols` have the same arguments.
"""

from __future__ import annotations

import numpy as np

from sciprec.precision.operations.reduce import largest, mean, smallest, total

_PER_DEGREE = 0.017453292519943295
_PER_RADIAN = 57.29577951308232


def radians(x):
    """np.radians(x), np.deg2rad(x), math.radians(x): one product."""
    return x * _PER_DEGREE


def degrees(x):
    """np.degrees(x), np.rad2deg(x), math.degrees(x): one product."""
    return x * _PER_RADIAN


def rounded(x):
    """round(x): the nearest integer, the even one of two."""
    return int(np.rint(x))


def quotient_and_rest(x, y):
    """divmod(x, y)."""
    return x // y, x % y


def clip(a, a_min, a_max):
    """np.clip(a, a_min, a_max): exact; NaN stays."""
    return np.minimum(np.maximum(a, a_min), a_max)


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


def median(a):
    """np.median(a): exact, or half of the sum of the two in the middle; NaN if any element is."""
    order = np.sort(a.ravel())
    n = order.size
    if n == 0:
        return np.nan
    if np.isnan(order[n - 1]):
        return order[n - 1]
    if n % 2 == 1:
        return order[n // 2]
    return (order[n // 2 - 1] + order[n // 2]) / 2.0


def spread(a):
    """np.ptp(a): the largest element less the smallest."""
    return largest(a) - smallest(a)


def _without_nan(a):
    """The elements in C order, zeros in place of NaN, and how many are none."""
    flat, count = a.ravel(), 0
    kept = np.zeros(flat.size)
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            kept[i] = flat[i]
            count += 1
    return kept, count


def nansum(a):
    """np.nansum(a): the sum with zeros in place of NaN."""
    kept, _ = _without_nan(a)
    return total(kept)


def nanmean(a):
    """np.nanmean(a): np.nansum(a) divided by the number of elements that are no NaN."""
    kept, count = _without_nan(a)
    return total(kept) / count


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


def trace(a):
    """np.trace(a) of a 2-D array: the pairwise sum of its diagonal."""
    n = min(a.shape[0], a.shape[1])
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = a[i, i]
    return total(diagonal)


def diff(a):
    """np.diff(a) of a 1- or 2-D array: differences of neighbours along the last axis."""
    if a.ndim == 1:
        return _diff_of_vector(a)
    return _diff_of_rows(a)


def _diff_of_vector(a):
    out = np.empty(max(a.size - 1, 0))
    for i in range(out.size):
        out[i] = a[i + 1] - a[i]
    return out


def _diff_of_rows(a):
    out = np.empty((a.shape[0], max(a.shape[1] - 1, 0)))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i, j + 1] - a[i, j]
    return out


def outer(a, b):
    """np.outer(a, b): every product of two elements, in the compute role."""
    one, two = a.ravel(), b.ravel()
    out = np.empty((one.size, two.size))
    for i in range(one.size):
        for j in range(two.size):
            out[i, j] = one[i] * two[j]
    return out


def cross(a, b):
    """np.cross(a, b) of two vectors of three numbers: differences of two products."""
    if a.ndim == 1:
        return _cross_of_vectors(a, b)
    raise ValueError("np.cross in a lifted kernel takes vectors of three numbers")


def _cross_of_vectors(a, b):
    if a.size != 3 or b.size != 3:
        raise ValueError("np.cross in a lifted kernel takes vectors of three numbers")
    out = np.empty(3)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def identity(n):
    """np.identity(n)."""
    return eye(n)


def eye(N, M=-1, k=0):  # noqa: N803  NumPy's names
    """np.eye(N, M, k): ones on the diagonal k, zeros elsewhere."""
    columns = N if M < 0 else M
    out = np.zeros((N, columns))
    for i in range(N):
        if 0 <= i + k < columns:
            out[i, i + k] = 1.0
    return out


def linspace(start, stop, num=50):
    """np.linspace(start, stop, num): start + i * step, step = (stop - start) / (num - 1), and the
    end itself.
    """
    out = np.empty(num)
    if num == 1:
        out[0] = start
    if num > 1:
        step = (stop - start) / (num - 1)
        for i in range(num - 1):
            out[i] = start + i * step
        out[num - 1] = stop
    return out
