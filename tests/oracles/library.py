"""NumPy's functions on self-rounding scalars, in words of their own: what each kernel of the
engine's library has to give.

Every function takes the twin that it works for first. Sums are NumPy's: in eight lanes, of more
than 128 terms by halves. Numbers that a function keeps in an array are those of the storage role.

Source: NumPy's documentation, and `pairwise_sum` of its source for the order of sums.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from tests.oracles import exact
from tests.oracles.linear_algebra import Rounded, Singular

COUNTERPARTS: dict = {}
"""Function -> what it is on self-rounding scalars."""


def counterpart(*functions):
    """Register what functions are."""

    def register(own):
        COUNTERPARTS.update(dict.fromkeys(functions, own))
        return own

    return register


def terms(a) -> list:
    """The elements in C order."""
    return [a[index] for index in np.ndindex(a.shape)] if np.ndim(a) else [a]


def summed(twin, numbers: list):
    """The pairwise sum."""
    plus = functools.partial(twin.apply, exact.add, arithmetic=twin.backend.accumulate)
    count = len(numbers)
    if count == 0:
        return 0
    if count < 8:
        return functools.reduce(plus, numbers)
    if count > 128:
        half = count // 2 // 8 * 8
        return plus(summed(twin, numbers[:half]), summed(twin, numbers[half:]))
    whole = count // 8 * 8
    lanes = [functools.reduce(plus, numbers[lane:whole:8]) for lane in range(8)]
    while len(lanes) > 1:
        lanes = [plus(a, b) for a, b in zip(lanes[::2], lanes[1::2], strict=True)]
    return functools.reduce(plus, numbers[whole:], lanes[0])


def most(twin, numbers: list):
    """The largest number; NaN if any is."""
    return functools.reduce(functools.partial(twin._operation, np.maximum), numbers)


def least(twin, numbers: list):
    """The smallest number; NaN if any is."""
    return functools.reduce(functools.partial(twin._operation, np.minimum), numbers)


def is_nan(x) -> bool:
    return math.isnan(x.value)


# ---- numbers -----------------------------------------------------------------------------------


@counterpart(np.radians, np.deg2rad, math.radians)
def radians(twin, x):
    return x * twin.literal(math.pi / 180.0)


@counterpart(np.degrees, np.rad2deg, math.degrees)
def degrees(twin, x):
    return x * twin.literal(180.0 / math.pi)


@counterpart(np.clip)
def clip(twin, a, a_min=None, a_max=None):
    for function, limit in ((np.maximum, a_min), (np.minimum, a_max)):
        a = a if limit is None else twin._operation(function, a, limit)
    return a


@counterpart(divmod)
def floored(twin, x, y):
    return x // y, x % y


# ---- statistics --------------------------------------------------------------------------------


@counterpart(np.var)
def var(twin, a):
    numbers = terms(a)
    mean = twin.divide(summed(twin, numbers), len(numbers))
    squares = [twin.stored((x - mean) * (x - mean)) for x in numbers]
    return twin.divide(summed(twin, squares), len(numbers))


@counterpart(np.std)
def std(twin, a):
    return twin._operation(np.sqrt, var(twin, a))


@counterpart(np.median)
def median(twin, a):
    numbers = terms(a)
    if not numbers or any(map(is_nan, numbers)):
        return twin.literal(math.nan)
    numbers.sort(key=lambda x: x.value)
    above, below = numbers[len(numbers) // 2], numbers[(len(numbers) - 1) // 2]
    return above if len(numbers) % 2 else (below + above) / twin.literal(2.0)


@counterpart(np.ptp)
def spread(twin, a):
    return most(twin, terms(a)) - least(twin, terms(a))


@counterpart(np.nansum)
def nansum(twin, a):
    return summed(twin, [twin.literal(0.0) if is_nan(x) else x for x in terms(a)])


@counterpart(np.nanmean)
def nanmean(twin, a):
    return twin.divide(nansum(twin, a), sum(not is_nan(x) for x in terms(a)))


@counterpart(np.nanmax)
def nanmax(twin, a):
    numbers = [x for x in terms(a) if not is_nan(x)]
    return most(twin, numbers) if numbers else twin.literal(math.nan)


@counterpart(np.nanmin)
def nanmin(twin, a):
    numbers = [x for x in terms(a) if not is_nan(x)]
    return least(twin, numbers) if numbers else twin.literal(math.nan)


# ---- arrays ------------------------------------------------------------------------------------


@counterpart(np.diff)
def diff(twin, a, n=1):
    for _ in range(n):
        out = a[..., 1:].copy()
        for index in np.ndindex(out.shape):
            out[index] = out[index] - a[index]
        a = out
    return a


@counterpart(np.outer)
def outer(twin, a, b):
    return twin.array([[x * y for y in terms(b)] for x in terms(a)], (np.size(a), np.size(b)))


@counterpart(np.cross)
def cross(twin, a, b):
    around = [(1, 2), (2, 0), (0, 1)]
    return twin.array([a[i] * b[j] - a[j] * b[i] for i, j in around], (3,))


@counterpart(np.trace)
def trace(twin, a):
    return summed(twin, [a[i, i] for i in range(min(a.shape))])


@counterpart(np.eye, np.identity)
def eye(twin, N, M=None, k=0, dtype=None):  # noqa: N803
    return twin.argument(np.eye(N, M, k))


@counterpart(np.linspace)
def linspace(twin, start, stop, num=50):
    if num == 1:
        return twin.array([start], (1,))
    step = twin.divide(stop - start, num - 1)
    return twin.array([start + i * step for i in range(num - 1)] + [stop][:num], (num,))


# ---- linear algebra ----------------------------------------------------------------------------


def _values(a):
    if a.ndim == 1:
        return [x.value for x in a]
    return [_values(row) for row in a]


def _or_error(function, *given):
    try:
        return function(*given)
    except Singular:
        raise np.linalg.LinAlgError from None


@counterpart(np.linalg.solve)
def solve(twin, a, b):
    columns = [_values(b)] if b.ndim == 1 else _values(b.T)
    solutions = [_or_error(Rounded(twin.backend).solve, _values(a), c) for c in columns]
    return twin.array(solutions[0] if b.ndim == 1 else np.array(solutions).T, b.shape)


@counterpart(np.linalg.inv)
def inv(twin, a):
    return twin.array(_or_error(Rounded(twin.backend).inv, _values(a)), a.shape)


@counterpart(np.linalg.det)
def det(twin, a):
    return twin.known(Rounded(twin.backend).det(_values(a)))


@counterpart(np.linalg.cholesky)
def cholesky(twin, a):
    return twin.array(_or_error(Rounded(twin.backend).cholesky, _values(a)), a.shape)


@counterpart(np.linalg.qr)
def qr(twin, a):
    least_size = min(a.shape)
    q, r = Rounded(twin.backend).qr(_values(a))
    return (
        twin.array(q, (a.shape[0], least_size)),
        twin.array(r, (least_size, a.shape[1])),
    )


@counterpart(np.linalg.norm)
def norm(twin, x, ord=None):
    """Of the orders that are written as literals."""
    order = getattr(ord, "value", ord)
    sizes = [twin.stored(abs(v)) for v in terms(x)]
    if order in (None, "fro") or order == 2 and x.ndim == 1:
        return twin.known(Rounded(twin.backend).norm([v.value for v in terms(x)]))
    if x.ndim == 2:
        lines = x if abs(order) == math.inf else x.T
        sizes = [twin.stored(summed(twin, [twin.stored(abs(v)) for v in line])) for line in lines]
        return most(twin, sizes) if order > 0 else least(twin, sizes)
    if abs(order) == math.inf:
        return most(twin, sizes) if order > 0 else least(twin, sizes)
    if order == 0:
        return twin.literal(sum(v.value != 0.0 for v in sizes))
    if order == 1:
        return summed(twin, sizes)
    powers = [twin.stored(twin.elementary("pow", abs(v), float(order))) for v in terms(x)]
    return twin.elementary("pow", summed(twin, powers), twin.divide(twin.literal(1.0), order))
