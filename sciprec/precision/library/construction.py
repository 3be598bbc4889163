"""Arrays that are made of numbers or of other arrays' elements."""

from __future__ import annotations

import numpy as np

from sciprec.precision.library.places import number_of_steps
from sciprec.precision.operations.by_type import zeros_for
from sciprec.precision.operations.reduce import total


def identity(n):
    """np.identity(n)."""
    return eye(n)


def eye(N, M=None, k=0):  # noqa: N803  NumPy's names
    """np.eye(N, M, k): ones on the diagonal k, zeros elsewhere."""
    columns = N if M is None else M
    out = np.zeros((N, columns))
    for i in range(N):
        if 0 <= i + k < columns:
            out[i, i + k] = 1.0
    return out


def tri(N, M=None, k=0):  # noqa: N803
    """np.tri(N, M, k): ones on and below the diagonal k, zeros above it."""
    columns = N if M is None else M
    out = np.zeros((max(N, 0), max(columns, 0)))
    for i in range(out.shape[0]):
        for j in range(max(min(i + k + 1, out.shape[1]), 0)):
            out[i, j] = 1.0
    return out


def tril(m, k=0):
    """np.tril(m, k) of a matrix, or of a vector as every row: zeros above the diagonal k."""
    out = _rows_of(m)
    for i in range(out.shape[0]):
        for j in range(max(i + k + 1, 0), out.shape[1]):
            out[i, j] = 0.0
    return out


def triu(m, k=0):
    """np.triu(m, k) of a matrix, or of a vector as every row: zeros below the diagonal k."""
    out = _rows_of(m)
    for i in range(out.shape[0]):
        for j in range(max(min(i + k, out.shape[1]), 0)):
            out[i, j] = 0.0
    return out


def _rows_of(m):
    if m.ndim == 1:
        out = np.empty((m.size, m.size))
        for i in range(m.size):
            out[i] = m
        return out
    return m.copy()


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


def filled(made, value):
    """np.full(shape, value, dtype), np.full_like(a, value): a value stored in every element of an
    array that has just been made.
    """
    made[...] = value
    return made


def arange(start, stop, step):
    """np.arange(start, stop, step) of floating-point numbers, as in Numba: each the one before plus
    step. How many is (stop - start) / step, rounded up, in binary64.
    """
    out = np.empty(number_of_steps(start, stop, step))
    value = float(start)
    for i in range(out.size):
        out[i] = value
        value = value + step
    return out


def vander(x, N=None, increasing=False):  # noqa: N803
    """np.vander(x, N, increasing): powers by repeated products with x."""
    columns = x.size if N is None else N
    if columns < 0:
        raise ValueError("np.vander with a negative number of columns")
    out = np.empty((x.size, columns))
    for i in range(x.size):
        power = 1.0
        for j in range(columns):
            out[i, j if increasing else columns - 1 - j] = power
            power = power * x[i]
    return out


def outer(a, b):
    """np.outer(a, b): every product of two elements, in the compute role."""
    first, two = np.asarray(a).ravel(), np.asarray(b).ravel()
    out = zeros_for((first.size, two.size), a, b)
    for i in range(first.size):
        for j in range(two.size):
            out[i, j] = first[i] * two[j]
    return out


def kron(a, b):
    """np.kron(a, b) of two matrices or two vectors: every product of two elements."""
    if a.ndim == 1:
        return outer(a, b).ravel()
    out = zeros_for((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]), a, b)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            factor = a[i // b.shape[0], j // b.shape[1]]
            out[i, j] = factor * b[i % b.shape[0], j % b.shape[1]]
    return out


def cross(a, b):
    """np.cross(a, b) of two vectors of three numbers: differences of two products."""
    if a.ndim == 1:
        return _cross_of_vectors(a, b)
    raise ValueError("np.cross in a lifted kernel takes vectors of three numbers")


def _cross_of_vectors(a, b):
    if a.size != 3 or b.size != 3:
        raise ValueError("np.cross in a lifted kernel takes vectors of three numbers")
    out = zeros_for(3, a, b)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


def trace(a):
    """np.trace(a) of a 2-D array: the pairwise sum of its diagonal."""
    n = min(a.shape[0], a.shape[1])
    diagonal = zeros_for(n, a, a)
    for i in range(n):
        diagonal[i] = a[i, i]
    return total(diagonal)


def fill_diagonal(a, val):
    """np.fill_diagonal(a, val) of a matrix and a number: in place."""
    for i in range(min(a.shape[0], a.shape[1])):
        a[i, i] = val
