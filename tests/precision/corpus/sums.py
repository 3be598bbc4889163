"""Kernels that sum products in loops, which is what `@` and `np.dot` do, and kernels that step a
state, which is not.
"""

import numpy as np
from numba import prange

from sciprec.precision.operations.reduce import fma
from tests.precision.corpus import kernels_of


def _vector(seed: int, size: int = 40):
    return np.random.default_rng(seed).normal(size=size)


ARGUMENTS = {
    "a": lambda: _vector(1), "b": lambda: _vector(2), "out": lambda: np.ones(5),
    "zeros": lambda: np.zeros(7), "many": lambda: _vector(3, 200), "more": lambda: _vector(4, 200),
    "m": lambda: _vector(5, 25).reshape(5, 5), "n": lambda: _vector(6, 25).reshape(5, 5),
    "c": lambda: np.zeros((5, 5)),
}  # fmt: skip


def plus(a, b):
    s = 0.0
    for i in range(a.size):
        s += a[i] * b[i]
    return s


def fused(a, b):
    s = 0.0
    for i in range(a.size):
        s = fma(a[i], b[i], s)
    return s


def from_an_integer(a, b):
    s = 0
    for x, y in zip(a, b):  # noqa: B905 - Numba
        s += x * y
    return s


def by_element(a, b):
    out = np.zeros(1)
    i = 0
    while i < a.size:
        x = a[i]
        out[0] += x * b[i]
        i += 1
    return out[0]


def dotted(a, b):
    return np.dot(a, b)


LOOPS = (plus, fused, from_an_integer, by_element)
"""Kernels that are `dotted`."""


def product_by_rows(m, n, c):
    c[:] = 0.0
    for i in range(m.shape[0]):
        for k in range(m.shape[1]):
            x = m[i, k]
            for j in range(n.shape[1]):
                c[i, j] = c[i, j] + x * n[k, j]


def product_of_engine(m, n, c):
    c[:, :] = m @ n


def several(a, b, zeros):
    """Two sums in turn, one of them of differences; integers; a sum in an array; a name again."""
    re, im, count = 0.0, 0, 0
    for i in range(a.size):
        x = a[i]
        re += x * b[i]
        re -= b[i] * b[i]
        im = im + x * b[i] - b[i] * -a[i]
    for i in range(4):
        count += (i + 1) * (i + 1)
    for i in range(1, zeros.size):
        s = b[i]
        for k in range(i):
            s -= zeros[k] * a[k]
        zeros[i] = s
    s = 0.0
    for i in range(a.size):
        s += a[i] * a[i]
    return re, im, zeros[count % zeros.size], s * re


def in_threads(many, more):
    s, t, largest = 0.0, 0.0, 0.0
    for i in prange(many.size):
        s += many[i] * more[i]
        t = t - more[i] * more[i]
        largest = max(largest, many[i])
    return s, t, largest


def of_arrays(a, b):
    rows = np.zeros(4)
    square = a[:16].reshape(4, 4)
    for k in range(4):
        rows += square[k] * b[k]
    return rows


def of_pairs(a, b):
    s = 0j
    z = a[:8] + 1j * b[:8]
    for k in range(8):
        s += z[k] * b[k]
    return s.real, s.imag


def looked_at(a, b, out):
    """A state that is stepped: no sum of products."""
    state = 0.0
    for n in range(a.size):
        state = state + a[n] * b[n]
        out[n % out.size] = state


KERNELS = kernels_of(globals(), ARGUMENTS)
