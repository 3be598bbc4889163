# ruff: noqa: B905, E701, E704
"""Kernels that return, store, convert and compare numbers: none may leave, or take part, that the
format does not hold.
"""

import enum
import math
import operator
from collections import namedtuple

import numpy as np
from numpy import add as plus
from numpy import sqrt as root

from tests.precision.corpus import has, kernels_of

Point = namedtuple("Point", "x y")
WEIGHTS, FACTOR, PLACE = np.array([0.1, 0.7, 1.3]), 0.1, Point(0.1, 3)
VALUES = (1.1, -2.3, 1 / 3, 4.7, 1e-3, 12.3456789)
ARGUMENTS = {
    "x": lambda: np.array(VALUES),
    "out": lambda: np.full(6, 0.5),
    "u": lambda: np.array(VALUES, np.float32),
    "close": lambda: np.array([1.0001, 1.0002, 1e-60, 1.0]),  # equal in narrow formats
    "k": lambda: np.array([1, 5, 10003, 7]),
    "zeros": lambda: np.zeros(4),
    "narrow": lambda: np.zeros(6, np.float32),
    "point": lambda: Point(0.1, 0.7),
    "nested": lambda: (0.1, (2, 0.7)),
    "many": lambda: 10003, "half": lambda: 0.5, "two": lambda: 2, "less": lambda: -1,
    "a": lambda: 7.3, "b": lambda: -2.1, "c": lambda: 1.7,
}  # fmt: skip


class Index(enum.IntEnum):
    """Members that are integers."""

    SECOND = 1


# fmt: off
def whole_array(x): return x
def view(x): return x[1:], x[::-1], x.real, x.ravel(), x.reshape(2, 3)
@has("untwinned")
def moved(x): return x.T, x.flatten(), np.concatenate((x[:2], x[3:])), np.vstack((x, x))
def selected(x): return x[np.array([0, 2])], x[x > 0]
def chosen(x): return np.where(x > 0, x, 0.1), np.copy(x), x.copy()
@has("untwinned")
def converted(x): return x.astype(np.float64), x.astype(np.float32), np.zeros_like(x) + x
def named_tuple(point): return point
def nested_tuple(nested): return nested
def from_module(x): return WEIGHTS
def constants(x): return WEIGHTS[0] + FACTOR, WEIGHTS[1] * WEIGHTS[2], PLACE.x, x[Index.SECOND]
def stored_whole(u, out): out[:] = u
@has("untwinned")
def filled(out): out.fill(0.1)
def stored_integers(k, zeros): zeros[:] = k
def spelt(x): return root(abs(x[0])), plus(x[0], x[1]), operator.mul(x[0], x[2])
@has("elementary")
def cube_root(x): return np.cbrt(x[2])
def promoted(many, half):
    return float(many), many / 3, many * 1.0, half + many, many // 2, many % 7, math.sqrt(many)
def remainders(a, b): return a % b, a // b, math.fmod(a, b), np.fmod(a, b)
@has("elementary")
def powers(two, less): return math.pow(two, less), two**3, 1.7**2, 2.0**less, two**0.5
@has("elementary")
def constant_expressions(x): return 0.1 + 0.2, 1 / 3, math.sqrt(2.0), 2**0.5, 0.1 * 0.1
def compared(close):
    first, second = close[0], close[1]
    return first == second, first < second, first == 1.0001, (first + 0.0) == second
@has("untwinned")
def decided(close):
    return close.argmax(), np.argmax(close), (close == close[1]).sum(), close.astype(np.int64)[0]
def _with_default(x, a=0.1): return a
def _recursive(x, n): return 0.0 if n == 0 else _recursive(x, n - 1) + x[n - 1]
def called(x): return _with_default(x), _recursive(x, x.size)
# fmt: on


def stored(x, out):
    for i in range(x.size):
        out[i] = x[i]


def stored_constants(out):
    out[:] = 0.1
    out[0], out[1:3] = 10003, 0.7


def stored_narrow(x, narrow):
    for i in range(x.size):
        narrow[i] = x[i] / 3


@has("untwinned")
def in_place(x):
    x += 0.1
    x *= 1.1
    x[0] /= 3


def swapped(x):
    x[0], x[1] = x[1], x[0]
    x[2:] = x[2:] * 1.0


def iterated(u, x):
    s = 0.0
    for a, b in zip(u, x):
        s += a * b
    for i, v in enumerate(u):
        s += v * i
    for v in u.flat:
        s = s - v * v
    return s


def comprehended(u, x):
    return [a * b for a, b in zip(u, x)][2], [v * v for i, v in enumerate(u) if v > 0][1]


def unpacked(x):
    a, b = x[:2]
    c = d = x[2]
    return a, b, c, d


def augmented_powers(c):
    c **= 3
    y = np.full(2, c)
    y **= 2
    y[1] **= -1
    n = 3
    n **= 2
    return c, y[0], y[1], n


def nested(x):
    factor = 0.3

    def inner(a):
        return a * factor

    return inner(x[0])


def shadowing(x):
    inf, nan = 1.5, 2.5
    return inf, nan, np.inf, math.nan


def guarded(x):
    try:
        y = x[0] * 0.1
    except Exception:
        y = 0.5
    return y


def copied_from_narrow(u):
    """A new array, which holds what is computed, of whatever it was copied."""
    made = u.copy()
    for i in range(u.size):
        made[i] = u[i] / 3
    return made, np.diff(u)


def filled_like_narrow(u):
    """By the dtype of an array and like an array, of a literal and of what an operation made."""
    third = u[0] / 3
    of_literals = np.full(2, 0.7, u.dtype), np.full_like(u, 0.1)
    return *of_literals, np.full((2, 1), third, dtype=u.dtype), np.full_like(u, fill_value=third)


KERNELS = kernels_of(globals(), ARGUMENTS)
