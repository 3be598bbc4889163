"""Kernels that show which role makes and holds a number: operations that are exact within one
format, sums of products, tuples, lists, arrays of the kernel's own.
"""

import math
from collections import namedtuple

import numpy as np

from sciprec.precision.operations.reduce import accumulate, fma, product
from tests.precision.corpus import has, kernels_of

Point = namedtuple("Point", "x y")
THIRD, PAIR = 1 / 3, (0.1, 1 / 3)
LANDMARKS = (1.0 + 2.0**-11, 3.14159274, -0.3333, 1.0 + 2.0**-11 + 2.0**-23, 5.0, 2.0**-20, 7.1)
ARGUMENTS = {
    "x": lambda: np.array(LANDMARKS), "out": lambda: np.zeros(14),
    "point": lambda: Point(1 / 3, 0.1), "every": lambda: np.zeros((7, 7, 25)),
}  # fmt: skip


def thirds(x):
    return x[1] / 3.0, x * THIRD


def selections(x, out):
    """Operations that are exact within one format."""
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0] = math.fmod(b, a)
    out[1] = -d
    out[2] = abs(c)
    out[3] = max(a, d)
    out[4] = np.fmin(b, 9.0)
    out[5] = math.copysign(d, c)
    out[6] = np.floor(b * 2049.0)
    out[7] = float(d)
    out[8] = +d
    out[9] = d**1
    out[10] = b % a
    out[11] = c // a
    out[12] = 1.0 * d
    out[13] = d
    d **= 1
    return d, (a if b > c else d)


def sums(x, out):
    """Operands of every role in operations of every other."""
    s = 0.1
    for i in range(x.size):
        s = accumulate(s, product(x[i], x[i]))
        out[i] = s * x[i] + s
    out[7] = fma(s, x[1], -s)
    out[8] = np.sum(x) / x.size
    out[9] = x[1:3] @ x[1:3] - s
    out[10] = math.sqrt(s)
    out[11], out[12] = np.square(x.sum()), np.mean(x) / 3.0
    for i in range(3):
        out[13] += np.square(np.sum(x[i:])) - np.mean(x[: 6 - i])
    return s, s - x[0], x.sum()


def scaled(x, out):
    """Products with powers of two of what was loaded, and of what was accumulated."""
    s = x[0]
    for i in range(x.size):
        s = accumulate(s, x[i])
        out[i] = 1.0 * x[i]
    return 2 * s, s / 0.5, 1.0 * s


def _both(x):
    return x[0] * x[1], THIRD


def tuples(x, out):
    """Numbers that go through tuples, lists and loops over them."""
    first, second = _both(x)
    first, second = second, first
    out[0] = _both(x)[1] * 3.0
    for v in (first, second, 0.1):
        out[1] += v * 3.0
    for i, v in enumerate(PAIR):
        out[2 + i] = v * 3.0
    many = [u * 0.1 for u in x]
    out[4] = many[1] * 3.0
    for u, v in zip(many, PAIR):  # noqa: B905 - Numba
        out[5] += u * v
    for u, v in zip(x, out):  # noqa: B905 - Numba
        out[6] += u * v
    out[7] = PAIR[1]
    nested = ((first, x[1]), 2)
    out[8] = nested[0][0] - nested[0][1]
    out[9], out[10] = x[1:3]
    return first, second, PAIR


def whole_arrays(x, out):
    """Numbers in arrays that the kernel makes: of the storage, where elements are trusted, too."""
    made = np.full(3, 1 / 3)
    scaled = x * THIRD + x
    out[:7] = scaled * scaled
    out[7:10] = made * 3.0
    made += 1.0
    out[10] = made[0]
    return made, scaled, scaled * x - scaled, made.max(), scaled[1] - x[1] * 1.1


def named_inside(x):
    point = Point(x[0] * x[1], x[1])
    return x[0] * x[1] + x[1], point.x + point[1]


@has("untwinned")
def fields(point):
    x, y = point
    return x, y, point.x, point[1]


def every_operation(x, every):
    for i in range(x.size):
        for j in range(x.size):
            a, b, c, to = x[i], x[j], x[(i + j) % x.size], every[i, j]
            to[0], to[1], to[2], to[3] = a + b, a - b, a * b, a / b
            to[4], to[5], to[6] = fma(a, b, c), accumulate(a, b), product(a, b)
            to[7], to[8], to[9] = a % b, a // b, math.fmod(a, b)
            to[10], to[11], to[12] = max(a, b), np.fmin(a, b), np.maximum(a, b)
            to[13], to[14], to[15] = -a, abs(a), math.copysign(a, b)
            to[16], to[17], to[18] = np.floor(a), np.rint(a), np.sign(a)
            to[19], to[20], to[21] = a**2, a**-1, math.sqrt(abs(a))
            to[22], to[23] = a * c - (b - b), float(a)
            to[24] = 1.0 if a < b else 2.0 if a == b else 3.0


KERNELS = kernels_of(globals(), ARGUMENTS)
