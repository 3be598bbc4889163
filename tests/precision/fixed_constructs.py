"""Kernels of every construct that fixed point takes, for tests against Python's integers."""

import math

import numpy as np
from numba import prange

from sciprec.precision.operations.reduce import accumulate, product

TENTH = 0.1
TABLE = np.array([0.5, 1.5, -2.25, 3.3])


def literals(x, out):
    for i in range(x.size):
        out[i] = x[i] + 1e-30


def an_array_called_accumulator(accumulator, b, out):
    total = 0.0
    for i in range(accumulator.size):
        total = accumulate(total, product(accumulator[i], b[i]))
    out[0] = total


def sums_of_tuples(x, out):
    """All of a sum's additions are in one place (found by a random kernel)."""
    for i in range(x.size):
        out[i] = sum((TENTH, TENTH)) + sum((x[i], 0.3, x[i] * 0.7), 1)


def integers(n, x, out):
    for i in range(out.size):
        out[i] = n + x[i]


def stored_integers(n, x, out):
    for i in range(out.size):
        out[i] = n * i
        out[i] += x[i]


def extremes(x, n, out):
    for i in range(x.size):
        out[i] = max(x[i], n) + min(x[i], 0) + max(x[i], TENTH, -0.5)


def remainders(x, y, out):
    for i in range(x.size):
        out[i] = x[i] % y[i] + math.fmod(x[i], y[i])


def remainders_of_zero(x, y, out):
    """What has no remainder is counted and is zero, as with % (found by a random kernel)."""
    for i in range(x.size):
        out[i] = math.acosh(math.fmod(x[i], np.floor(y[i]))) + math.fmod(y[i], x[i])


def copies_that_change(x, y, out):
    """A copy is rounded once, in a place of its own (found by random kernels)."""
    kept, also = x.copy(), np.copy(y)
    kept[2:] = kept[2:] - (kept[:-2] ** 2) ** 2
    kept[:] = kept * also - x * y
    also[:] = 0.75
    out[:] = kept + also


def whole_parts(x, y, out):
    for i in range(x.size):
        rounded = np.floor(x[i]) * 0.5 + np.rint(x[i]) - np.ceil(y[i]) * np.trunc(x[i])
        out[i] = x[i] // y[i] + rounded + np.sign(x[i]) + math.copysign(x[i], y[i])


def newton(x, out):
    for i in range(x.size):
        r = x[i]
        k = 0
        while abs(r * r - x[i]) > 1e-4 and k < 30:
            r = 0.5 * (r + x[i] / r)
            k += 1
        if k > 5:
            out[i] = r
            continue
        elif k == 3:
            out[i] = -r
        else:
            out[i] = r + k


def pair(a, b):
    s = a + b
    return s, a - s, 3


def tuples(x, y, out):
    for i in range(x.size):
        s, d, n = pair(x[i], 100.0 * y[i])
        t = (s, d)
        out[i] = t[0] * n + t[1] + pair(s, d)[0]


def early(x, limit):
    total = 0.0
    for i in range(x.size):
        if x[i] > limit:
            return total, i
        total += x[i] * x[i]
    return total, -1


def nothing_returned(x):
    if x[0] > 10.0:
        return
    x[1] = x[0] * 0.3


def row_sum(row, factor=0.3):
    s = 0.0
    for j in range(row.size):
        s += row[j] * factor
    row[0] = s
    return s


def rows(x, out):
    for i in range(x.shape[0]):
        out[i] = row_sum(x[i]) + row_sum(x[i], 0.7) + row_sum(x[i, 1:3], factor=TENTH)


def nested(x, out):
    def half(v):
        return v * 0.5

    def both(v, w):
        return v + w

    for i in range(out.size):
        out[i] = half(x[i]) + half(both(x[i], TENTH))


def accumulators(x, y, out):
    def around(v):
        far = accumulate(v, product(1e5, 1e5))
        return accumulate(far, product(-1e5, 1e5))

    for i in range(out.size):
        first = accumulate(x[i], product(x[i], y[i]))
        second = accumulate(first, product(y[i], y[i]))
        out[i] = around(second)


def powers(x, out):
    for i in range(out.size):
        out[i] = x[i] ** 2 + x[i] ** 5 - x[i] ** -3 + x[i] ** 0
        y = x[i]
        y **= 3
        out[i] -= y


def functions(x, out):
    for i in range(out.size):
        value = math.exp(x[i]) + math.log(x[i] + 3.0) + np.sin(x[i]) + math.atan2(x[i], 2.0)
        value += math.hypot(x[i], 0.75) - np.cbrt(x[i]) * math.erf(x[i])
        out[i] = value + x[i] ** 2.5 if x[i] > 0 else -x[i]


def parallel(x, out):
    total = 1.0
    best = x[0]
    for i in prange(1, x.size, 2):
        v = x[i] * x[i]
        out[i] = v - 0.3
        total += v
        best = max(best, v)
    return total * 0.1, best


def casts_inside(x, out):
    """A type that has its name outside of the function and of the parallel loop that cast to it
    (found by a random kernel).
    """
    kind = type(x[0])

    def scaled(value):
        return value / kind(3)

    for i in prange(x.size):
        out[i] = x[i] / kind(2049)
    for i in range(x.size):
        out[i] -= scaled(x[i])


def called_in_chunks(x, out):
    def halved(value):
        return value / 2.0

    for i in prange(x.size):
        out[i] = halved(x[i])


def named_and_written(x, out):
    """Two operations of one name that begin at one place: a call, and what is done with it."""
    for i in range(out.size):
        out[i] = np.subtract(x[i], x[i]) - 1.7
        out[i] *= np.multiply(x[i], 0.007) * 31.0


def infinities(x, out):
    best = np.inf
    for i in range(x.size):
        best = min(best, x[i])
    out[0] = best
    out[1] = -np.inf


def iterated(x, y, out):
    s = 0.0
    for v in x:
        s += v * 0.7
    for a, b in zip(x, y):  # noqa: B905 - Numba knows no strict
        s += a * b
    for i, a in enumerate(y):
        out[i] = (a - 0.25) * i
    out[0] = s


def views(x, out):
    top = x[1:]
    low = x[:-1]
    flat = x.reshape(2, x.size // 2)
    for i in range(out.size):
        out[i] = top[i] - low[i] + flat[1, i % 3]
    out[:] = out + top
    out *= 0.7
    out[1:3] = 0.25


def reductions(x, y):
    return np.sum(x), np.max(x), np.dot(x, y), np.mean(x * y), y.min()


def comprehensions(x):
    return np.sum(np.array([v * 2.0 for v in x])) + 0.5


# ---- what a repeated call starts from ------------------------------------------------------------


def through_a_slice(x, gain):
    part = slice(0, x.size)
    view = x[part]
    for i in range(view.size):
        view[i] = view[i] * gain


def through_a_given_slice(x, part, gain):
    view = x[part]
    for i in range(view.size):
        view[i] = view[i] * gain


def through_a_new_axis(x, gain):
    view = x[0, np.newaxis]
    for i in range(view.size):
        view[0, i] = view[0, i] * gain


def scale(row, gain):
    for i in range(row.size):
        row[i] = row[i] * gain


def through_calls(x, weights, gain):
    for i in range(x.shape[0]):
        scale(x[i], gain * row_total(weights))


def row_total(row):
    s = 0.0
    for j in range(row.size):
        s += row[j]
    return s


def through_a_tuple(state, gain):
    for i in range(state[0].size):
        state[0][i] = state[0][i] * gain


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


def through_fields(state, gain):
    for i in range(12):
        state.size[i] = state.size[i] * gain


def unused(function, x):
    x[0] = x[1] * 2.0
