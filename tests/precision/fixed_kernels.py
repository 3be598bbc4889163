"""Kernels for the tests of fixed point."""

import math

from numba import prange

from sciprec.precision.operations.reduce import accumulate, fma, product


def every_operation(a, b, c, total, difference, multiple, quotient, root, negative, size, fused):
    """Each operation into an array of its own, and so into a unit of its own."""
    for i in range(a.size):
        total[i] = a[i] + b[i]
        difference[i] = a[i] - b[i]
        multiple[i] = a[i] * b[i]
        quotient[i] = a[i] / b[i]
        root[i] = math.sqrt(a[i])
        negative[i] = -a[i]
        size[i] = abs(a[i])
        fused[i] = fma(a[i], b[i], c[i])


def accumulated(a, b, out):
    for i in range(out.size):
        out[i] = accumulate(a[i], b[i])


def dot(a, b, out):
    total = 0.0
    for i in range(a.size):
        total = accumulate(total, product(a[i], b[i]))
    out[0] = total


def decay(x, rate):
    """In place: a repeated call after a left range has to start from what was given."""
    for i in range(x.size):
        x[i] = x[i] - rate * x[i]


def growing(x, factor):
    for i in range(x.size):
        x[i] = x[i] * factor


def scaled(x, factor):
    return x * factor


def two_calls(small, large, out):
    for i in range(out.size):
        out[i] = scaled(small[i], 0.7) * scaled(large[i], 0.3)


def in_parallel(x, out):
    total = 0.0
    for i in prange(x.size):
        y = x[i] * x[i]
        out[i] = y - 0.3
        total += y
    return total


def whole_arrays(x, y):
    return x * y + 2.0 * x


def calls_itself(n, x):
    if n == 0:
        return x
    return calls_itself(n - 1, x * 0.5)


def given_function(f, x):
    return f(x) * 0.5


def cubes(x, out):
    for i in range(out.size):
        out[i] = x[i] ** 3 + 1.0 / x[i]


def update(x, dx, residual):
    """A residual that is zero wherever sums are exact, as in binary64."""
    for i in range(x.size):
        y = dx[i] + residual[i]
        total = x[i] + y
        residual[i] = y - (total - x[i])
        x[i] = total


def opposite(x, out):
    for i in range(x.size):
        out[i] = -x[i]


def opposite_on_threads(x, out):
    for i in prange(x.size):
        out[i] = -x[i]
