# ruff: noqa: E704
"""NumPy's functions that the engine has as kernels of its own, in kernels."""

import math

import numba
import numpy as np

from tests.precision.corpus import has, kernels_of, numbers

ARGUMENTS = {
    "x": lambda: numbers(1, 9), "m": lambda: numbers(2, 3, 4), "out": lambda: np.zeros(9),
    "square": lambda: numbers(3, 4, 4), "sides": lambda: numbers(4, 4, 2),
    "gap": lambda: np.where(np.arange(9) == 1, np.nan, 0.7),
}  # fmt: skip


# fmt: off
def angles(x): return np.deg2rad(x), np.radians(x[1]) * math.radians(x[2])
def degrees(x): return np.degrees(x[0]) - np.rad2deg(x[1]) * math.degrees(x[2])
@has("NumPy")
def clipped(x): return np.clip(x, -0.5, a_max=0.25), np.clip(x[0], -0.1, 0.1)
@has("NumPy")
def moments(x): return np.var(x), np.std(x), x.var(), x.std(), np.median(x), np.ptp(x)
@has("NumPy")
def moments_of_rows(m): return np.var(m), np.std(m), m.var(), m.std(), np.median(m), np.ptp(m)
@has("NumPy")
def differences(x, m): return np.diff(x), np.diff(m), np.diff(x, 2), np.ediff1d(x)
@has("NumPy")
def products(x): return np.outer(x, 0.5 * x), np.cross(x[:3], x[1:4]), np.kron(x[:3], x[3:5])
@has("NumPy")
def points(x): return np.linspace(x[0], x[1], 7), np.linspace(0.1, 0.7, num=1)
@has("NumPy")
def sums_along(m): return np.sum(m, axis=0), np.sum(m, 1), m.sum(axis=-1), np.cumsum(m, axis=0)
@has("NumPy")
def sums_of_all(x): return np.cumsum(x), np.sum(x, axis=None), x.sum(dtype=np.float64), x.cumsum()
def running_products(m): return np.cumprod(m[0]), m.cumsum(1)
@has("NumPy")
def triangles(x): return np.tril(np.outer(x, x)), np.tri(3, k=1), np.triu(x[:3]), np.tri(2, 4, -1)
def vandermonde(x): return np.vander(x, 3), np.vander(x[:2], increasing=True), np.kron(x, x)
def ranks(x): return np.percentile(x, np.array([10.0, 50.0, 99.0])), np.percentile(x, 100)
def some_ranks(x): return np.percentile(x, 30.0), np.quantile(x, 0.25)
def decimals(x): return np.round(x, 2), round(x[0], 1), np.round(x[1], -1), np.around(x)
def areas(x): return np.trapezoid(x) + np.trapezoid(x, dx=0.1), np.trapezoid(x, x * x)
def correlated(x): return np.correlate(x, x[:2]), np.correlate(x[:2], x, mode="full")
def convolved(x): return np.convolve(x, x[:3]), np.convolve(x[:3], x, "same")
def casts(x): return numba.float64(x[0]) * numba.float32(x[1]) + np.finfo(np.float64).eps * x[2]
def solved(square, sides): return np.linalg.solve(square, sides), np.linalg.solve(square, square[0])
def sized(x, m): return np.linalg.norm(x), np.linalg.norm(m), np.linalg.norm(m, "fro")
def sized_by_ones(x, m): return np.linalg.norm(x, 1), np.linalg.norm(x, 0), np.linalg.norm(m, 1)
def sized_by_largest(x, m): return np.linalg.norm(x, np.inf), np.linalg.norm(m, ord=-np.inf)
# fmt: on


def halves(x, out):
    for i in range(x.size):
        q, r = divmod(x[i], 0.3)
        out[i] = np.round(2.0 * x[i]) + round(3.0 * x[i]) * q + r


def without_nan(gap):
    sums = np.nancumsum(gap) + np.nancumprod(gap)
    return np.nansum(gap), np.nanmean(gap), np.nanmax(gap), np.nanmin(gap), np.nanprod(gap), sums


def moments_without_nan(gap):
    ranks = np.nanmedian(gap), np.nanquantile(gap, 0.6), np.nanpercentile(gap, 40)
    return np.nanvar(gap), np.nanstd(gap), *ranks, np.percentile(gap, 20), np.median(gap)


def averages(x):
    return np.average(x) * np.average(x, weights=x * x)


def in_a_tuple(x):
    """Sums, of nothing too, are of one type with other numbers, as in plain Numba."""
    sums = (x[0] * 0.7, np.sum(x), x[:0].sum(), np.nansum(x), np.trapezoid(x), np.trace(np.eye(3)))
    s = 0.3
    for value in sums:
        s += value
    return s, sum(sums), sums[x.size // 3]


def diagonals(x):
    scaled = np.eye(3, dtype=np.float64) * x[0]
    square = np.outer(x[0], x[1]) + np.outer(x[2], x)
    return np.trace(np.outer(x, x)), scaled, np.eye(2, 3, k=1) + np.identity(3)[:2], square


def ranges(x):
    whole = np.arange(5) + x[0]
    return np.arange(x[0], 2.0, 0.25), np.arange(5, dtype=np.float64), whole, np.arange(0.5, 2)


def interpolated(x):
    points = np.linspace(-1.0, 1.0, 6)
    return np.interp(x, points, points * points), np.interp(x[2], points, points)


def close_ones(x):
    y = 1.001 * x
    return np.isclose(x, y, 1e-2), np.allclose(x, y), np.isclose(x[0], y[0]), np.isclose(x, x[0])


def taken(x):
    m = np.outer(x[:3], x[:2])
    total = 0.0
    for (i, j), element in np.ndenumerate(m):
        total += element * (i - j)
    return np.take(x, np.array([2, 0])), np.append(x, x[0]), np.fliplr(m) * 0.5, total


def gathered(x):
    places, m = np.array([0, 2, 2, 1, 0, 4, 4, 4, 1]), np.outer(x[:3], x[:2])
    np.fill_diagonal(m, x[3])
    three = sum((x[0], x[1], x[2]))
    return np.bincount(places, x), np.bincount(places)[2] * x[0], m, sum(x), three


def kinds(x):
    total = 0.0
    if isinstance(x[0], float):
        total += x[0]
    if isinstance(x, (int, float)):
        total += 1.0
    return total


def places(x):
    total = 0.0
    for i, j in np.ndindex(2, 2):
        total += x[i + 2 * j] * (i - j)
    return total, np.flipud(x), np.atleast_2d(x).shape[0]


KERNELS = kernels_of(globals(), ARGUMENTS)
