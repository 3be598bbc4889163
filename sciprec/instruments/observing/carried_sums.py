"""Functions that a kernel calls at its carried sums: each addend, and what its addition lost.

r = (x + d) - stored, of what is carried x and what is to be added d, by TwoSum in binary64. Of an
array up to `ELEMENTS` elements are followed, evenly apart; each has its own sums of r and d. A sum
that begins again, as that of a row, is another one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import numpy as np
from numba import njit
from numba.core import types

from sciprec.instruments.observing.watch import reached
from sciprec.precision.compiled.lowering import by_type

PLACES, ELEMENTS = 128, 8192
"""How many sums can be looked at, and how many elements of each."""
_WAITS, _X, _D, _SIZES, _ZEROED, _SQUARES, _COUNT, _NONZERO, _UNCHANGED, _LOGS, _LOGGED = range(11)
_LOST, _ASKED, _SIZE, _NET_SQUARES, _CHAINS = range(11, 16)
_USED, _R, _SUM, _LAST = range(4)
_SUMS = np.zeros((PLACES, 16))
_ELEMENTS = np.zeros((PLACES, ELEMENTS, 4))
_HELD = np.zeros((2, ELEMENTS))
_ARRAY = np.zeros(2, np.int64)
"""The sum whose arrays are held, counted from 1, and how many elements."""
_sums, _elements, _held, _array = (reached(a) for a in (_SUMS, _ELEMENTS, _HELD, _ARRAY))
_LOGGED_OF = 16
"""Of additions of something each so many tells the bits between x and d."""
_Key = TypeVar("_Key")


class Totals(NamedTuple):
    """The totals of a carried sum, over its elements and the whole run.

    Args:
        lost, asked: sums over elements of |sum r| and of |sum d|.
        size: the sum of |x| at the end.
        sizes, zeroed: sums of |d|, of all and of those that changed nothing.
        squares, net_squares: the sum of r^2, and that of (sum r)^2 over elements.
        additions, nonzero, unchanged: how many there were, with d other than 0, and of these
            without effect.
        bits: the mean of log2 |x / d|, of some.
        chains: sums that were begun.
    """

    lost: float
    asked: float
    size: float
    sizes: float
    zeroed: float
    squares: float
    net_squares: float
    additions: int
    nonzero: int
    unchanged: int
    bits: float
    chains: int


@contextmanager
def looking(places: Mapping[_Key, int]) -> Iterator[dict[_Key, Totals]]:
    """Look at the sums of kernels that run inside; what is given is filled when they have ended.

    Args:
        places: the numbers of sums, as of `losing`.
    """
    _SUMS[:] = 0.0
    _ARRAY[:] = 0
    _ELEMENTS[: len(places)] = 0.0
    totals: dict[_Key, Totals] = {}
    yield totals
    for key, place in places.items():
        if _SUMS[place, _COUNT]:
            totals[key] = _totals(_SUMS[place], _ELEMENTS[place])


def _totals(row: np.ndarray, elements: np.ndarray) -> Totals:
    used = elements[elements[:, _USED] > 0.0]
    lost, asked_for, size = np.abs(used[:, [_R, _SUM, _LAST]]).sum(axis=0).tolist()
    net, of = float((used[:, _R] ** 2).sum()), row.tolist()
    return Totals(
        of[_LOST] + lost, of[_ASKED] + asked_for, of[_SIZE] + size, of[_SIZES], of[_ZEROED],
        of[_SQUARES], of[_NET_SQUARES] + net, int(of[_COUNT]), int(of[_NONZERO]),
        int(of[_UNCHANGED]), of[_LOGS] / max(of[_LOGGED], 1.0), int(of[_CHAINS]) + len(used),
    )  # fmt: skip


# ---- calls in a kernel -------------------------------------------------------------------------


@njit
def begun():
    """The kernel begins; what an earlier run of it has left is forgotten."""
    sums = _sums()
    for place in range(PLACES):
        if sums[place, _COUNT] != 0.0:
            _elements()[place] = 0.0
            sums[place] = 0.0
    _array()[0] = 0


@by_type
def both(left, right, sign, place, first):
    """The operands of the first addition of a sum.

    Args:
        left, right: numbers or arrays.
        sign: of what is added.
        place: the sum's number.
        first: 1 where the left one is carried; None where the right one is.
    """
    left_carried = not isinstance(first, types.NoneType)
    carried, added = (left, right) if left_carried else (right, left)
    numbers = types.Float, types.Integer
    if isinstance(carried, types.Float) and isinstance(added, numbers):

        def keep(left, right, sign, place, first):
            row = _sums()[place]
            row[_WAITS] = 1.0
            if left_carried:
                row[_X], row[_D] = left, sign * np.float64(right)
            else:
                row[_X], row[_D] = right, sign * np.float64(left)
            return left, right

        return keep
    if _is_array(carried) and (_is_array(added) or isinstance(added, numbers)):

        def hold(left, right, sign, place, first):
            if left_carried:
                _hold(left, right, sign, place)
            else:
                _hold(right, left, sign, place)
            return left, right

        return hold
    return lambda left, right, sign, place, first: (left, right)


@by_type
def asked(x, sign, place):
    """A further term of a sum of numbers."""
    if isinstance(x, (types.Float, types.Integer)):

        def add(x, sign, place):
            _sums()[place, _D] += sign * np.float64(x)
            return x

        return add

    def forget(x, sign, place):
        _array()[0] = 0
        return x

    return forget


@by_type
def stored(x, array, index, place):
    """The stored value of a sum: a number, in a variable or an array, or an array."""
    if isinstance(x, types.Float):

        def note(x, array, index, place):
            row = _sums()[place]
            if row[_WAITS] != 0.0:
                row[_WAITS] = 0.0
                element = _element(array, index)
                if element >= 0:
                    _note(row, _elements()[place, element], row[_X], row[_D], np.float64(x))

        return note
    if _is_array(x):

        def note_all(x, array, index, place):
            about = _array()
            if about[0] == place + 1:
                about[0] = 0
                if about[1] == x.size:
                    _note_held(x, place)

        return note_all
    return lambda x, array, index, place: None


def _is_array(x) -> bool:
    return isinstance(x, types.Array) and isinstance(x.dtype, types.Float)


@njit
def _note(row, element, x, d, new):
    """Take down an addition."""
    asked_for = x + d
    if not (math.isfinite(asked_for) and math.isfinite(new)):
        row[_COUNT] += 1.0
        return
    part = asked_for - x
    r = (asked_for - new) + ((x - (asked_for - part)) + (d - part))
    last = element[_LAST]
    if element[_USED] != 0.0 and abs(x - last) > 0.5 * abs(last):  # another sum begins
        row[_LOST] += abs(element[_R])
        row[_ASKED] += abs(element[_SUM])
        row[_SIZE] += abs(last)
        row[_NET_SQUARES] += element[_R] ** 2
        row[_CHAINS] += 1.0
        element[_R] = element[_SUM] = 0.0
    element[_USED] = 1.0
    element[_R] += r
    element[_SUM] += d
    element[_LAST] = new
    row[_COUNT] += 1.0
    row[_SIZES] += abs(d)
    row[_SQUARES] += r * r
    if d != 0.0:
        row[_NONZERO] += 1.0
        if x != 0.0 and int(row[_NONZERO]) % _LOGGED_OF == 1:
            row[_LOGS] += math.log2(abs(x)) - math.log2(abs(d))
            row[_LOGGED] += 1.0
        if new == x:
            row[_UNCHANGED] += 1.0
            row[_ZEROED] += abs(d)


@njit
def _step(size):
    """The distance between the elements of an array that are followed."""
    return 1 + (size - 1) // ELEMENTS


@by_type
def _element(array, index):
    """The number of an element, or -1 where it is not followed."""
    if not isinstance(array, types.Array):
        return lambda array, index: 0
    if isinstance(index, types.Integer):

        def of_one(array, index):
            at = index if index >= 0 else index + array.shape[0]
            step = _step(array.shape[0])
            return at // step if at % step == 0 else -1

        return of_one
    if isinstance(index, types.UniTuple) and isinstance(index.dtype, types.Integer):

        def of_several(array, index):
            at = 0
            for axis in range(len(index)):
                position = index[axis]
                position = position if position >= 0 else position + array.shape[axis]
                at = at * array.shape[axis] + position
            step = _step(array.size)
            return at // step if at % step == 0 else -1

        return of_several
    return lambda array, index: 0


@by_type
def _hold(carried, added, sign, place):
    """Keep arrays, of which one is changed next."""
    if not isinstance(added, types.Array):

        def hold_one(carried, added, sign, place):
            buffer, step, n = _held(), _step(carried.size), 0
            for value in carried.flat:
                if n % step == 0:
                    buffer[0, n // step], buffer[1, n // step] = value, sign * np.float64(added)
                n += 1
            _array()[:] = place + 1, n

        return hold_one
    if added.ndim > carried.ndim:
        return lambda carried, added, sign, place: None

    def hold_both(carried, added, sign, place):
        for axis in range(added.ndim):
            size = added.shape[added.ndim - 1 - axis]
            if size != 1 and size != carried.shape[carried.ndim - 1 - axis]:
                return
        buffer, step, n = _held(), _step(carried.size), 0
        terms = np.broadcast_to(added, carried.shape)
        for value in carried.flat:
            if n % step == 0:
                buffer[0, n // step] = value
            n += 1
        n = 0
        for value in terms.flat:
            if n % step == 0:
                buffer[1, n // step] = sign * value
            n += 1
        _array()[:] = place + 1, n

    return hold_both


@njit
def _note_held(x, place):
    """Take down the additions of an array; an element's first one rounds what the kernel was
    given, and only begins a sum.
    """
    row, elements, buffer, step, n = _sums()[place], _elements()[place], _held(), _step(x.size), 0
    for value in x.flat:
        if n % step == 0:
            element = elements[n // step]
            if element[_USED] != 0.0:
                _note(row, element, buffer[0, n // step], buffer[1, n // step], np.float64(value))
            element[_USED], element[_LAST] = 1.0, value
        n += 1
