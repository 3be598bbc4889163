# ruff: noqa: E704
"""Kernels of whole arrays: expressions, parts that are stored, views that are written through, and
arrays that change between two operations.
"""

import numpy as np

from tests.precision.corpus import has, kernels_of, numbers

ARGUMENTS = {
    "x": lambda: numbers(1, 3, 4), "y": lambda: numbers(2, 3, 4), "row": lambda: numbers(3, 4),
    "column": lambda: numbers(4, 3, 1), "a": lambda: numbers(5, 6), "b": lambda: numbers(6, 6),
    "out": lambda: np.zeros((9, 3, 4)), "m": lambda: numbers(7, 2, 4), "factor": lambda: 0.3,
    "places": lambda: np.array([4, 0, 2]), "axis": lambda: 1,
}  # fmt: skip


# fmt: off
def both(x, y): return (x * y - x) / 3.0
def along_rows(x, row): return x * row - row / x
def along_columns(x, column): return column * x - x
def outer(row, column): return row * column + 0.1
def alone(x): return -x * 0.5
def with_a_number(x, factor): return x * factor + 0.1
def by_function(x, y): return np.multiply(x, y) - np.square(x)
def long(a, b): return (a * 0.1 + b) * (a - b) / (b * b + 1.0) - abs(a) ** 2
def long_stored(a, b): b[:] = (a * 0.1 + b) * (a - b) / (b * b + 1.0) - abs(a) ** 2
@has("elementary")
def of_a_function(a, b): return np.exp(a * b - 1.0) - np.exp(a) * b
# fmt: on


def added(x, row):
    x += row
    x[...] = x * 0.5
    return x


def twice(a, b):
    product = a * b
    return product + product * 0.1


def _written(a):
    for i in range(a.size):
        a[i] = 7.0
    return 1.0


def written_by_a_kernel(a):
    return a * 2.0 + _written(a)


def written_in_place(a):
    product = a * 2.0
    a += 1.0
    return product - a * 3.0


def written_by_an_element(a):
    product = a * 2.0
    a[0] = 100.0
    return product - a * 3.0


def written_by_a_part(a):
    product = a * 2.0
    a[1:] = a[:-1] - 0.5
    return product - a * 3.0


def in_a_loop(a):
    total = np.zeros(a.size)
    for i in range(3):
        total = total * 0.5 + a * i - 0.1
        a[i] = 2.0
    return total


def along(a):
    a[1:] = a[:-1] * 2.0 + 1.0
    a[::-1] = a * 0.5 + a


def by_mask(a, places):
    a[a > 0.0] = a[a > 0.0] * 0.5
    a[places] = a[:3] * 2.0 + 1.0


def of_one_row(a):
    a[:] = np.expand_dims(a, 0) * 2.0 - 1.0
    a[:] = a[:1] * 0.5


def rows(m):
    m[1] = m[0] * 2.0 - 1.0
    m[:, 0] = m[0, :2] * 0.5 + 1.0
    m[0, ...] = m[1] + m[0]
    m[...] = m[0] - m
    m[:, 1:] = m[:, :1] * 3.0
    m[:, -1] = m[0, :1] * 3.0


# ---- views --------------------------------------------------------------------------------------


def views(x, out):
    """What functions show of an array is the array: written through, and read."""
    np.reshape(out[0], (2, 6))[1, 0] = x[0, 0] / 3
    np.ravel(out[1])[7] = x[0, 1] / 3
    np.transpose(out[2])[2, 1] = x[0, 2] / 3
    np.asarray(out[3])[2, 3] = x[1, 1] / 3
    np.ascontiguousarray(out[4])[0, 3] = x[1, 2] / 3
    np.ascontiguousarray(out[4].T)[0, 0] = 77.0  # of other strides: a copy
    np.expand_dims(out[5], 0)[0, 1, 1] = x[2, 0] / 3
    np.flip(out[6])[0, 0] = x[2, 1] / 3
    np.atleast_1d(out[7])[1, 2] = x[2, 2] / 3
    shown = np.broadcast_to(out[8], (2, 3, 4))
    out[8, 2, 0] = x[2, 3] / 3
    first = np.reshape(x, (2, 6))[1, 1], np.ravel(x)[5], np.transpose(x)[3, 0], np.asarray(x)[0, 0]
    last = np.expand_dims(x, 1)[2, 0, 1], np.flip(x)[0, 1], np.atleast_1d(x)[1, 3]
    return *first, *last, shown[1, 2, 0]


def swapped_axes(x, row, axis):
    np.swapaxes(row.reshape((1, 2, 2)), 1, 2)[0, 0, 1] = x[1, 0] / 3
    return np.swapaxes(x, 0, -1)[2, 2] - np.swapaxes(x, 0, axis)[1, 0]


KERNELS = kernels_of(globals(), ARGUMENTS)
