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


def calls_itself(n, x):
    if n == 0:
        return x
    return calls_itself(n - 1, x * 0.5)


def given_function(f, x):
    return f(x) * 0.5


def opposite(x, out):
    for i in range(x.size):
        out[i] = -x[i]


def opposite_on_threads(x, out):
    for i in prange(x.size):
        out[i] = -x[i]


def literals(x, out):
    for i in range(x.size):
        out[i] = x[i] + 1e-30


def integers(n, x, out):
    for i in range(out.size):
        out[i] = n + x[i]


def stored_integers(n, x, out):
    for i in range(out.size):
        out[i] = n * i
        out[i] += x[i]


def called_in_chunks(x, out):
    def halved(value):
        return value / 2.0

    for i in prange(x.size):
        out[i] = halved(x[i])


def in_two_arrays(x, y, gain):
    """Doubles x gain times where x and y overlap by all but one."""
    for i in range(y.size):
        y[i] = x[i] * gain


def raises_above(x, limit, out):
    for i in range(x.size):
        y = x[i] * x[i]
        out[i] = y
        if y > limit:
            raise ValueError("above the limit")
