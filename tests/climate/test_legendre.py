"""Nodes and Legendre functions against multiple precision, and their orthonormality."""

import mpmath
import numpy as np
import pytest

from sciprec.climate.transform.grid import TRUNCATIONS, GaussianGrid
from sciprec.climate.transform.legendre import (
    coefficient_orders,
    gauss_nodes,
    legendre_table,
    slope_table,
)

EPS = np.finfo(float).eps


def exact_function(degree, order, x):
    """Normalised P(l, m) at x by the explicit sum over powers of x, in the precision of mpmath."""
    total = mpmath.mpf(0)
    for k in range((degree - order) // 2 + 1):
        power = degree - 2 * k - order
        size = mpmath.factorial(2 * degree - 2 * k) * (-1) ** k * x**power
        parts = mpmath.factorial(k) * mpmath.factorial(degree - k) * mpmath.factorial(power)
        total += size / parts
    square = (2 * degree + 1) * mpmath.factorial(degree - order) / mpmath.factorial(degree + order)
    return mpmath.sqrt(square * (1 - x * x) ** order) * total / mpmath.mpf(2) ** degree


def polynomial_and_slope(count, x):
    """P_n(x) and P_n'(x) by the recurrence in the working precision of mpmath."""
    previous, value = mpmath.mpf(1), x
    for n in range(2, count + 1):
        previous, value = value, ((2 * n - 1) * x * value - (n - 1) * previous) / n
    return value, count * (x * value - previous) / (x * x - 1)


@pytest.mark.parametrize("count", [1, 2, 5, 32, 128])
def test_nodes_are_roots_with_their_weights(count):
    nodes, weights = gauss_nodes(count)
    assert abs(weights.sum() - 1) < count * EPS
    with mpmath.workdps(40):
        for x, w in zip(nodes, weights, strict=True):
            value, slope = polynomial_and_slope(count, mpmath.mpf(float(x)))
            root = x - value / slope
            assert abs(x - root) <= EPS * abs(x)
            _, slope = polynomial_and_slope(count, root)
            assert abs(w * (1 - root**2) * slope**2 - 1) < 4 * EPS


def test_functions_at_t85_agree_with_multiple_precision():
    grid = GaussianGrid(TRUNCATIONS["T85"])
    points = grid.sin_lat_north[[0, 7, 31, 63]]
    table, slopes = legendre_table(85, points), slope_table(85, points)
    degree, order = coefficient_orders(85)
    with mpmath.workdps(120):
        for row in np.random.default_rng(1).choice(degree.size, 20, replace=False):
            n, m = int(degree[row]), int(order[row])
            for column, x in enumerate(map(mpmath.mpf, points.tolist())):
                value = exact_function(n, m, x)
                assert abs(table[row, column] - value) <= 1e-13
                below = exact_function(n - 1, m, x) if n > m else 0
                ratio = mpmath.sqrt((mpmath.mpf(n) ** 2 - m**2) / (4 * mpmath.mpf(n) ** 2 - 1))
                slope = (2 * n + 1) * ratio * below - n * x * value
                assert abs(slopes[row, column] - slope) <= 1e-13 * max(n, 1)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision here")
def test_functions_at_the_true_gaussian_latitudes_of_t85_are_right_to_an_ulp():
    """Latitudes of the transform's tables: nodes are kept in extended precision for them."""
    nodes = gauss_nodes(128, np.longdouble)[0]
    columns = [0, 1, 7, 31, 63]
    table = legendre_table(85, nodes[columns])
    degree, order = coefficient_orders(85)
    with mpmath.workdps(120):
        roots = []
        for start in nodes[columns]:
            x = mpmath.mpf(float(start))
            for _ in range(4):
                value, slope = polynomial_and_slope(128, x)
                x = x - value / slope
            roots.append(x)
        for row in np.random.default_rng(2).choice(degree.size, 20, replace=False):
            values = [exact_function(int(degree[row]), int(order[row]), x) for x in roots]
            largest = max(abs(value) for value in values)
            for column, value in enumerate(values):
                assert abs(table[row, column] - value) <= EPS * largest


def test_coefficients_are_m_major_with_one_degree_more():
    degree, order = coefficient_orders(2)
    assert list(zip(order.tolist(), degree.tolist(), strict=True)) == [
        (0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3)
    ]  # fmt: skip
