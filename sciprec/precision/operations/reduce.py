"""Reductions with a named order and accumulator: what np.sum, np.mean, @ and np.dot become in a
lifted kernel.

They are kernels like any other, lifted together with the one that calls them. `accumulate` is the
addition of the backend's accumulate role, `product` the multiplication of its matmul role; in
plain Numba both are binary64's.

Orders. `pairwise` is NumPy's: blocks of at most 128 terms in eight interleaved partial sums,
combined as ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)), blocks combined by halving; of
complex numbers blocks of 64 in four partial sums. Its error grows like log n. `sequential` is from
the first term to the last. Neither depends on threads or on the memory layout.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from sciprec.foundation.errors import InputError
from sciprec.precision.operations.by_type import COMPLEX_BLOCK, sum_block, zeros_for
from sciprec.precision.registry import kernel
from sciprec.precision.rounding.words import call


@njit(forceinline=True, error_model="numpy")
def accumulate(total, term):
    """total + term, in the accumulate role of the backend it is lifted to."""
    return total + term


@njit(forceinline=True, error_model="numpy")
def product(x, y):
    """x * y, in the matmul role of the backend it is lifted to."""
    return x * y


@intrinsic
def _fused(typingctx, x, y, z):
    """x * y + z of numbers, rounded once, in binary64."""
    for value in (x, y, z):
        if not isinstance(value, types.Integer | types.Float | types.Boolean):
            raise InputError(
                f"fma takes three real numbers (given: {value}); arrays it takes in a lifted kernel"
            )

    def codegen(context, builder, signature, args):
        return call(builder, "fma", *args)

    return types.float64(*[types.float64] * 3), codegen


@njit(forceinline=True)
def fma(x, y, z):
    """x * y + z of three numbers, rounded once: in a lifted kernel to its arithmetic, else (from
    Python, or plainly compiled) to binary64.
    """
    return _fused(x, y, z)


def block_sum(a, low, high):
    """Sum of the terms a[low:high] of a block."""
    if sum_block(a) == COMPLEX_BLOCK:
        return _sum_of_four(a, low, high)
    return _sum_of_eight(a, low, high)


def _sum_of_four(a, low, high):
    """Sum of at most 64 complex terms a[low:high] in four interleaved partial sums (fewer than 4:
    in order).
    """
    n = high - low
    if n < 4:
        short = a[low]
        for i in range(low + 1, high):
            short = accumulate(short, a[i])
        return short
    r0, r1, r2, r3 = a[low], a[low + 1], a[low + 2], a[low + 3]
    last = low + n - n % 4
    for i in range(low + 4, last, 4):
        r0 = accumulate(r0, a[i])
        r1 = accumulate(r1, a[i + 1])
        r2 = accumulate(r2, a[i + 2])
        r3 = accumulate(r3, a[i + 3])
    result = accumulate(accumulate(r0, r1), accumulate(r2, r3))
    for i in range(last, high):
        result = accumulate(result, a[i])
    return result


def _sum_of_eight(a, low, high):
    """Sum of at most 128 terms a[low:high] in eight interleaved partial sums (fewer than 8: in
    order).
    """
    n = high - low
    if n < 8:
        short = a[low]
        for i in range(low + 1, high):
            short = accumulate(short, a[i])
        return short
    r0, r1, r2, r3 = a[low], a[low + 1], a[low + 2], a[low + 3]
    r4, r5, r6, r7 = a[low + 4], a[low + 5], a[low + 6], a[low + 7]
    last = low + n - n % 8
    for i in range(low + 8, last, 8):
        r0 = accumulate(r0, a[i])
        r1 = accumulate(r1, a[i + 1])
        r2 = accumulate(r2, a[i + 2])
        r3 = accumulate(r3, a[i + 3])
        r4 = accumulate(r4, a[i + 4])
        r5 = accumulate(r5, a[i + 5])
        r6 = accumulate(r6, a[i + 6])
        r7 = accumulate(r7, a[i + 7])
    lower = accumulate(accumulate(r0, r1), accumulate(r2, r3))
    upper = accumulate(accumulate(r4, r5), accumulate(r6, r7))
    result = accumulate(lower, upper)
    for i in range(last, high):
        result = accumulate(result, a[i])
    return result


def pairwise(a, low, high):
    """Sum of a[low:high] in NumPy's pairwise order, by an explicit stack of halves still to be
    added.

    A half is n // 2 terms rounded down to a multiple of 8, of complex ones of 4, as in NumPy's
    recursion.
    """
    ends = np.empty(64, np.int64)
    block = sum_block(a)
    sums = zeros_for(64, a, a)
    added = np.zeros(64, np.int64)
    depth, start, ends[0] = 0, low, high
    while low < high:
        while ends[depth] - start > block:
            half = (ends[depth] - start) // 2
            half -= half % (block // 16)
            ends[depth + 1] = start + half
            added[depth + 1] = 0
            depth += 1
        result = block_sum(a, start, ends[depth])
        start = ends[depth]
        while depth > 0 and added[depth] == 1:
            depth -= 1
            result = accumulate(sums[depth + 1], result)
        if depth == 0:
            return result
        sums[depth] = result
        added[depth] = 1
        ends[depth] = ends[depth - 1]
    return sums[0]  # a zero of the array's kind: an integer would make every sum binary64 to Numba


def total(a):
    """np.sum(a): pairwise over the elements in C order, in the accumulate role."""
    flat = a.ravel()
    return pairwise(flat, 0, flat.size)


def mean(a):
    """np.mean(a): the pairwise sum divided by the number of elements."""
    return total(a) / a.size


def running_product(a):
    """np.prod(a): sequential, in the compute role."""
    result = 1.0
    for x in a.ravel():
        result = result * x
    return result


def running_sum(a):
    """np.cumsum(a): sequential over the elements in C order, in the accumulate role."""
    flat, carried = a.ravel(), 0.0
    out = zeros_for(flat.size, a, a)
    for i in range(flat.size):
        carried = accumulate(carried, flat[i])
        out[i] = carried
    return out


def largest(a):
    """np.max(a): exact; NaN if any element is."""
    flat = a.ravel()
    if flat.size == 0:
        raise ValueError("the largest element of an empty array")
    result = flat[0]
    for x in flat:
        result = np.maximum(result, x)
    return result


def smallest(a):
    """np.min(a): exact; NaN if any element is."""
    flat = a.ravel()
    if flat.size == 0:
        raise ValueError("the smallest element of an empty array")
    result = flat[0]
    for x in flat:
        result = np.minimum(result, x)
    return result


def dot(a, b):
    """np.dot(a, b) and a @ b of 1- and 2-D arrays: products in the matmul role, sums in the
    accumulate role.

    Every sum runs sequentially over the contracted index.
    """
    if a.ndim == 1:
        if b.ndim == 1:
            return _vector_vector(a, b)
        return _vector_matrix(a, b)
    if b.ndim == 1:
        return _matrix_vector(a, b)
    return matrix_product(a, b)


def _vector_vector(a, b):
    if a.size != b.size:
        raise ValueError("dot of vectors of different sizes")
    result = 0.0
    for k in range(a.size):
        result = accumulate(result, product(a[k], b[k]))
    return result


def vdot(a, b):
    """np.vdot(a, b): the same of the elements in C order, the first ones conjugated."""
    one, two, result = a.ravel(), b.ravel(), 0.0
    if one.size != two.size:
        raise ValueError("vdot of arrays of different sizes")
    for k in range(one.size):
        result = accumulate(result, product(np.conj(one[k]), two[k]))
    return result


def _matrix_vector(a, b):
    if a.shape[1] != b.size:
        raise ValueError("matrix product of shapes that do not match")
    out = zeros_for(a.shape[0], a, b)
    for i in range(a.shape[0]):
        result = 0.0
        for k in range(b.size):
            result = accumulate(result, product(a[i, k], b[k]))
        out[i] = result
    return out


def _vector_matrix(a, b):
    if a.size != b.shape[0]:
        raise ValueError("matrix product of shapes that do not match")
    out = zeros_for(b.shape[1], a, b)
    for k in range(a.size):
        for j in range(b.shape[1]):
            out[j] = accumulate(out[j], product(a[k], b[k, j]))
    return out


def matrix_product(a, b):
    """a @ b of 2-D arrays, in a new array."""
    if a.shape[1] != b.shape[0]:
        raise ValueError("matrix product of shapes that do not match")
    out = zeros_for((a.shape[0], b.shape[1]), a, b)
    multiply_into(a, b, out)
    return out


def _multiply_example() -> tuple:
    rng = np.random.default_rng(7)
    return rng.uniform(-1, 1, (4, 5)), rng.uniform(-1, 1, (5, 6)), np.zeros((4, 6))


@kernel(example=_multiply_example)
def multiply_into(a, b, out):
    """out += a @ b, sequential over the contracted index, vectorised over the columns."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            x = a[i, k]
            for j in range(b.shape[1]):
                out[i, j] = accumulate(out[i, j], product(x, b[k, j]))


def _sum_example() -> tuple:
    return np.random.default_rng(8).uniform(-1, 1, 300), 0, 300


kernel(example=_sum_example)(pairwise)
