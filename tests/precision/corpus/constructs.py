"""Kernels of what people write around their arithmetic: types as values, starred arguments, named
tuples, typed lists, decorated functions, default values, optional arguments, parallel loops.

What the oracle does not know stands beside a plain kernel that says the same.
"""

import enum
import functools
import heapq
from collections import namedtuple

import numba
import numpy
import numpy as np
from numba import float64, njit, prange, vectorize
from numba.typed import List

from tests.precision.corpus import has, kernels_of, numbers

Point = namedtuple("Point", "x y")
_VECTOR = float64[::1]
ARGUMENTS = {
    "x": lambda: 1.3, "y": lambda: 2.2, "z": lambda: 3.3, "a": lambda: np.array([1.1, 2.2, -0.7]),
    "k": lambda: np.array([1, 3, 0]), "A": lambda: numbers(1, 4, 5), "v": lambda: numbers(2, 5),
    "rows": lambda: numbers(3, 150, 3) + 5.0, "given": lambda: (0.1, (0.7, 3)),
    "held": lambda: (np.full(8, 0.1), 0.3),
}  # fmt: skip


def _plainly_typed(x, a):
    out = np.zeros(4)
    out[0] = 0.1 * x
    out[1] = 0.1 + x * 0.7
    out[2] = 3 / x
    out[3] = 2.220446049250313e-16
    whole = np.array([7, -2])
    return out, whole, a * x, np.array([2, 5, 10]), np.array([0.0, 0.1, 0.1 + 0.1])


@has("one format", plain=_plainly_typed)
def typed(x, a):
    T, U = type(x), float64
    number = a.dtype.type
    out = np.zeros(4, dtype=T)
    out[0] = T(0.1) * x
    out[1] = number(0.1) + U(x) * float64(0.7)
    out[2] = type(x)(3) / x
    out[3] = np.finfo(a.dtype).eps
    whole = np.empty(2, numba.int32)
    whole[0], whole[1] = numba.int32(7.9), type(a.size)(-2.7)
    every = np.arange(0, 3, 1, np.dtype(np.int32))
    bits = np.bitwise_xor(np.left_shift(every, 2), every) + np.bitwise_and(a > 0, a < 2)
    bits[0] += np.eye(2, dtype=whole.dtype)[0, 0] + np.identity(2, dtype=T)[0, 1]
    return out, whole, a.astype(T) * x, bits, np.arange(0, 0.25, 0.1, np.dtype(np.float64))


def _traced(function):
    """A decorator that leaves the function's name."""

    @functools.wraps(function)
    def wrapper(*args, **options):
        return function(*args, **options)

    return wrapper


@_traced
@njit
def _third(x):
    return x / 3.0


@functools.lru_cache
def _remembered(x):
    return _third(x) * 0.7


def _plainly_decorated(x, a):
    return x / 3.0 + a[0] / 3.0 * 0.7


@has(plain=_plainly_decorated)
def decorated(x, a):
    return _third(x) + _remembered(a[0])


@njit
def _summed(x, *rest):
    s = x
    for value in rest:
        s += value * 0.1
    return s + len(rest)


def _plainly_starred(x, y, z):
    first = x + y * 0.1 + z * 0.1 + 2
    return first * first - (y + z * 0.1 + 1), z * 0.3


@has(plain=_plainly_starred)
def starred(x, y, z):
    rest = (y, z)
    both = (x, *rest)
    return _summed(x, *rest) * _summed(*both) - _summed(*rest), rest[1] * 0.3


def _plainly_named(x, a):
    y = x * 0.1 + 1.0
    return (a[0], y), y * 0.7, 3


@has(plain=_plainly_named)
def named(x, a):
    p = Point(x * 0.1, y=a[0])
    q = Point(p.y, p.x + 1.0)
    return q, q.y * 0.7, len(set(a))


def _plainly_collected(x, a):
    return 0.0 + (x * 0.7 * x + 0.1) + 2.5, 0.1, np.min(a) * 0.3, np.argmin(a), a[1] * x * x


@has("one format", plain=_plainly_collected)
def collected(x, a):
    some = List()
    some.append(x * 0.7)
    more = List.empty_list(float64)
    more.append(some[0] * x)
    more[0] += 0.1
    more.append(9.5)
    more.append(2.5)
    del more[1]
    s = 0.0
    for value in more:
        s += value
    heap = [(a[i], i) for i in range(a.size)]
    heapq.heapify(heap)
    least, place = heapq.heappop(heap)
    vectors = List.empty_list(_VECTOR)
    vectors.append(a * x)
    return s, sorted([x, 0.1])[0], least * 0.3, place, vectors[0][1] * x


class Colour(enum.Enum):
    """No numbers."""

    RED, GREEN = 1, 2


class Share(enum.Enum):
    """Numbers; the values of members are literals."""

    TENTH, TWO = 0.1, 2


def _plain_shares(x):
    return 0.1 * x, 2 * x, x + 3, x * 0.3


@has(plain=_plain_shares)
def shares(x):
    colour = Colour.RED if x > 0.5 else Colour.GREEN
    known = x * 0.3 if colour == Colour.RED else x
    return Share.TENTH.value * x, Share.TWO.value * x, x + len(Share.TWO.name), known


@vectorize
def _clipped(a, b):
    if a > b:
        return a * b
    return a - b * 0.3


def _plain_ufuncs(x, a):
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = a[i] * 0.3 if a[i] > 0.3 else a[i] - 0.3 * 0.3
    return (x * 0.5 if x > 0.5 else x - 0.5 * 0.3), out


@has("one format", plain=_plain_ufuncs)
def ufuncs(x, a):
    return _clipped(x, 0.5), _clipped(a, 0.3)


def of_tuples(given):
    first, (second, count) = given
    return second * 0.1, (first, count)


def arrays_in_tuples(held):
    array, factor = held
    return array[0] * factor, array, held


# ---- what once ended in raw errors ----------------------------------------------------------


def eliminated(A, k):
    for i in range(k.size):
        A[i, i + 1 :] -= A[i, i] * 0.3
        A[k[i] :, abs(i)] *= 1.1
        k[i] |= 2


def _difference_of(a, b):
    return a - b * 0.7


def _total(x, k, of=_difference_of, b=None):
    s = 0.3
    for i in range(k.size):
        if b is None:
            s += of(x[i], 0.1)
        else:
            s += of(x[i], b[i])
    return s


def with_and_without(v, k):
    return _total(v, k), _total(v, k, b=v)


def in_parallel(rows):
    s, q, m, a = 0.3, 1.5, -9.0, rows[0]
    for i in prange(1, rows.shape[0]):
        s = s + rows[i, 0]
        q /= 2.0
        m = max(m, rows[i, 1], 0.1)
        a += rows[i]
        rows[i, 2] = max(rows[i, 2], 1.0)
    return s, q, m


def own_np(v, k):
    np = numpy.zeros(2)
    sp_value1 = sp_index1 = 1.7
    for sp_low in prange(k.size):
        v[sp_low] *= 1.1
        v[abs(sp_low)] += sp_value1
    return np[0] + v[0] * sp_index1


KERNELS = kernels_of(globals(), ARGUMENTS)
