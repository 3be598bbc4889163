"""Gauss nodes and normalised associated Legendre functions, made in extended precision.

The functions are normalised so that half the integral of P**2 over sin(lat) from -1 to 1 is one:
the coefficient (0, 0) of a field is its global mean. There is no Condon-Shortley sign.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_NEWTON_STEPS = 8


def gauss_nodes(count: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of Gauss-Legendre quadrature, from +1 down to -1; the weights add up to 1.

    Newton's iteration on P_n from the estimate cos(pi (k + 3/4) / (n + 1/2)), in extended precision
    where the platform has it.

    Args:
        count: number of nodes, at least 1.
        dtype: what they are rounded to. Near a pole a function of degree l changes by l**2 times
            the rounding of a node: tables of functions take np.longdouble.

    Returns:
        sin_lat (count,) and weights (count,), symmetric about the equator to the last bit.

    Source: Abramowitz and Stegun (1964), eqs 22.16.6 and 25.4.29.
    """
    k = np.arange((count + 1) // 2)
    x = np.cos(np.pi * (np.longdouble(k) + 0.75) / (count + 0.5))
    if count % 2:
        x[-1] = 0
    for _ in range(_NEWTON_STEPS):
        value, slope = _polynomial_and_slope(count, x)
        x = x - value / slope
    _, slope = _polynomial_and_slope(count, x)
    weights = 1 / ((1 - x * x) * slope * slope)
    mirrored = slice(None, None, -1) if count % 2 == 0 else slice(-2, None, -1)
    nodes = np.concatenate([x, -x[mirrored]])
    return nodes.astype(dtype), np.concatenate([weights, weights[mirrored]]).astype(dtype)


def _polynomial_and_slope(count, x):
    """P_n(x) and P_n'(x) by the three-term recurrence."""
    previous, value = np.ones_like(x), x.copy()
    for n in range(2, count + 1):
        previous, value = value, ((2 * n - 1) * x * value - (n - 1) * previous) / n
    return value, count * (x * value - previous) / (x * x - 1)


def coefficient_orders(truncation: int) -> tuple[np.ndarray, np.ndarray]:
    """Total and zonal wavenumber of each coefficient, m-major: l = m ... truncation + 1.

    The degree above the truncation holds what a derivative in latitude needs; there the state is
    zero.

    Returns:
        l and m, integer arrays of shape ((truncation + 1) (truncation + 4) / 2,).
    """
    m = np.repeat(np.arange(truncation + 1), np.arange(truncation + 2, 1, -1))
    l_by_m = [np.arange(order, truncation + 2) for order in range(truncation + 1)]
    return np.concatenate(l_by_m), m


def epsilon(l: ArrayLike, m: ArrayLike) -> np.ndarray:  # noqa: E741
    """The recurrence coefficient sqrt((l**2 - m**2) / (4 l**2 - 1)) in extended precision."""
    degree, order = np.asarray(l, np.longdouble), np.asarray(m, np.longdouble)
    return np.sqrt((degree * degree - order * order) / (4 * degree * degree - 1))


def legendre_table(truncation: int, sin_lat: np.ndarray) -> np.ndarray:
    """Normalised associated Legendre functions of every coefficient at the given latitudes.

    P(m, m) = sqrt((2m + 1) / (2m)) cos(lat) P(m-1, m-1)
    eps(l) P(l) = sin(lat) P(l-1) - eps(l-1) P(l-2)

    Args:
        truncation: largest zonal wavenumber; degrees go one further.
        sin_lat: (points,), sines of latitude.

    Returns:
        (coefficients, points) float64, rows ordered as `coefficient_orders`.

    Source: Holmes and Featherstone (2002), eqs 11 and 13, with another normalisation.
    """
    x = np.asarray(sin_lat, np.longdouble)
    cos_lat = np.sqrt((1 - x) * (1 + x))
    rows = []
    sectoral = np.ones_like(x)
    for m in range(truncation + 1):
        if m:
            sectoral = sectoral * cos_lat * np.sqrt(np.longdouble(2 * m + 1) / (2 * m))
        before, last = np.zeros_like(x), sectoral
        rows.append(last)
        for degree in range(m + 1, truncation + 2):
            step = x * last - epsilon(degree - 1, m) * before if degree > m + 1 else x * last
            before, last = last, step / epsilon(degree, m)
            rows.append(last)
    return np.array(rows, np.float64)


def slope_table(truncation: int, sin_lat: np.ndarray) -> np.ndarray:
    """cos(lat) dP/dlat of every coefficient at the given latitudes.

    cos(lat) dP(l)/dlat = (2l + 1) eps(l) P(l-1) - l sin(lat) P(l)

    Args:
        truncation: largest zonal wavenumber; degrees go one further.
        sin_lat: (points,), sines of latitude.

    Returns:
        (coefficients, points) float64, rows ordered as `coefficient_orders`.
    """
    table = legendre_table(truncation, sin_lat)
    degree, order = coefficient_orders(truncation)
    below = np.vstack([np.zeros_like(table[:1]), table[:-1]])
    below[degree == order] = 0.0
    factor = ((2 * degree + 1) * epsilon(degree, order)).astype(np.float64)
    return factor[:, None] * below - degree[:, None] * np.asarray(sin_lat) * table
