"""Kernels of loops: stencils, polynomials, parallel loops with steps, private variables, sums of
numbers and of arrays, calls of other parallel kernels.
"""

import math

import numpy as np
from numba import njit, prange

from tests.precision.corpus import has, kernels_of, numbers

ARGUMENTS = {
    "x": lambda: numbers(1, 70), "out": lambda: np.zeros(70), "n": lambda: 70,
    "rows": lambda: 1.0 + 0.1 * numbers(2, 70, 3), "total": lambda: np.full(3, 0.3),
    "start": lambda: 1.25,
}  # fmt: skip


def mixture(x, out):
    """Stencil, polynomial, quotient, root, integer conversion, reductions."""
    for i in range(1, x.size - 1):
        lap = x[i - 1] - 2 * x[i] + x[i + 1]
        y = ((0.3 * x[i] - 1.7) * x[i] + 0.1) / (x[i + 1] + i) + math.sqrt(abs(lap))
        out[i] = y - x[i - 1] * 1e-3 + i // 3 * 0.7
    out[0], out[-1] = np.sum(x), x[1:] @ x[:-1]


@has("elementary")
def functions(x, out):
    for i in range(x.size):
        out[i] = math.exp(x[i] * 0.1) - math.log(abs(x[i]) + 0.5) + math.tanh(x[i]) * math.sin(x[i])


def linear_step(x, out):
    for i in range(1, x.size - 1):
        out[i] = x[i] - 0.3 * (x[i] - x[i - 1]) + (x[i + 1] - 2 * x[i] + x[i - 1]) / 7
    out[0], out[-1] = np.sum(x) / 3, np.max(x)


def parallel_thirds(x, out):
    total = 0.0
    for i in prange(x.size):
        out[i] = x[i] / 3 + 0.1
        total += x[i] / 7
    return total


def sections(x, n, out):
    """Steps, empty ranges, private variables, nested loops, a call into another parallel kernel."""
    for i in prange(1, n, 3):
        out[i] += x[i] * 0.1
    for i in prange(n - 1, 0, -4):
        out[i] += 0.3
    for i in prange(5, 2):
        out[i] = 9.0
    for i in prange(n):
        private = 0.0
        for j in range(3):
            for _ in prange(2):
                private += x[i] / (j + 3)
        out[i] -= private
    for i in prange(n):
        own = 1.0
        own *= x[i]
        out[i] += own
    return parallel_thirds(x, x)


def sums_of_rows(rows, total):
    product = np.ones(total.size)
    for i in prange(rows.shape[0]):
        total += rows[i] * 0.1
        total -= rows[i, 0]
        product *= rows[i]
    return product


def _several_in_chunks(x, start):
    total, rest, largest, quotient, count = 1.0, 1.0, start, start, 64
    for c in range(count):
        s, t, m, q = 0, 0, largest, 1
        for i in range(x.size * c // count, x.size * (c + 1) // count):
            s, m, q = s + x[i], max(m, x[i], 0.3), q / x[i]
            t = t - x[i]
        total, rest, largest, quotient = total + s, rest + t, max(largest, m), quotient * q
    return total, rest, largest, quotient


@has(plain=_several_in_chunks)
def several(x, start):
    """Reductions in a tuple, and of several kinds in one loop: at most 64 chunks, in order."""
    s = t = 1.0
    m = q = start
    for i in prange(x.size):
        s, m, q = s + x[i], max(m, x[i], 0.3), q / x[i]
        t = t - x[i]
    return s, t, m, q


def count_and_extremes(x):
    positive, low, high = 0, x[0], x[0]
    for i in prange(x.size):
        if x[i] > 0:
            positive += 1
        low = min(low, x[i])
        high = max(high, x[i])
    return positive, low, high


@njit
def in_turn(x, out):
    """Iterations that need the one before: below `@njit` without `parallel`, prange is range."""
    s, k = 0.0, 0
    for i in prange(x.size):
        s += x[i] * 0.7
        out[k] = s
        k += 1
    return s


KERNELS = kernels_of(globals(), ARGUMENTS)
