"""What an instrumented kernel calls: new arrays filled, indices checked, steps counted.

One table of the process holds what is asked for and what was found. Places are numbers; see
`watched_program`. Its address is a constant of the compiled code, which is not kept on disk.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from llvmlite import ir
from numba import carray, njit
from numba.core import types
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import intrinsic, overload

from sciprec.precision.elementary.bits import bits

ALONE, ZERO, NAN, LARGEST, SMALLEST = range(5)
"""What the chosen place's arrays are filled with; all others are filled with ones."""
PLACES = 1 << 16
"""How many places a check can have."""
_PLACE, _FILLING, _STEPS, _FOUND, _READ, _MOST, _LONGEST = range(7)
_HEAD = 8
_RECORDS, _WIDTH = 256, 4
_TABLE = np.zeros(_HEAD + PLACES + _RECORDS * _WIDTH, np.int64)
_NOWHERE = -1
_MARK = np.uint32(0x7FC5C1F0)  # a quiet NaN of binary32 that no operation makes
_MARK32 = np.array(_MARK).view(np.float32)[()]
_MARK64 = np.float64(_MARK32)
_MARK_BITS = int(np.array(_MARK64).view(np.int64))


@dataclass(frozen=True)
class Overrun:
    """An index beyond an array's axis, at a place."""

    place: int
    axis: int
    index: int
    size: int


@dataclass(frozen=True)
class Seen:
    """What was seen in a run.

    Attributes:
        reached: places where arrays were made.
        overruns: the first one of each place.
        read: the place of the first element read that had never been written, or -1; known where
            the filling was NAN.
        steps: iterations of loops.
        longest: elements of the largest array that was made.
    """

    reached: frozenset[int]
    overruns: tuple[Overrun, ...]
    read: int
    steps: int
    longest: int


@contextmanager
def watching(place: int | None, filling: int, most_steps: int, most_elements: int):
    """Watch the instrumented kernels that run inside; gives a function that says what was seen.

    Args:
        place: whose arrays are filled with `filling`; None, no place's.
        filling: ALONE, ZERO, NAN, LARGEST or SMALLEST.
        most_steps: after so many iterations of loops the next one raises an exception.
        most_elements: so does an array made with more elements.
    """
    _TABLE[:] = 0
    _TABLE[[_PLACE, _FILLING]] = _NOWHERE if place is None else place, filling
    _TABLE[[_STEPS, _MOST, _READ]] = most_steps, most_elements, _NOWHERE
    yield lambda: _seen(most_steps)


def _seen(most_steps: int) -> Seen:
    records = _TABLE[_HEAD + PLACES :].reshape(_RECORDS, _WIDTH)[: _TABLE[_FOUND]]
    return Seen(
        reached=frozenset(np.flatnonzero(_TABLE[_HEAD : _HEAD + PLACES]).tolist()),
        overruns=tuple(Overrun(*row) for row in records.tolist()),
        read=int(_TABLE[_READ]),
        steps=most_steps - int(_TABLE[_STEPS]),
        longest=int(_TABLE[_LONGEST]),
    )


def reached(array: np.ndarray):
    """A compiled function that gives an array of this process, whose address is a constant of the
    compiled code.
    """
    shape, kind = array.shape, array.dtype.type

    @intrinsic
    def address(typingctx):
        def codegen(context, b, signature, args):
            place = ir.Constant(ir.IntType(64), array.ctypes.data)
            return b.inttoptr(place, context.get_value_type(types.voidptr))

        return types.voidptr(), codegen

    @njit
    def given():
        return carray(address(), shape, kind)

    return given


_table = reached(_TABLE)


# ---- arrays that are made ----------------------------------------------------------------------


def _fillings(array):
    raise NotImplementedError


@overload(_fillings)
def _fillings_of(array):
    """(one, zero, NaN, largest, smallest) as this array has them; None for other dtypes."""
    kind = getattr(array, "dtype", None)
    found, real = None, getattr(kind, "underlying_float", kind)
    if isinstance(real, types.Float):
        number, mark, huge = (
            (np.float32, _MARK32, 1e38) if real.bitwidth == 32 else (np.float64, _MARK64, 1e300)
        )
        found = number(1.0), number(0.0), mark, number(huge), number(-huge)
        if kind != real:
            found = tuple(np.dtype(kind.name).type(complex(x, x)) for x in found)
    elif isinstance(kind, types.Boolean):
        found = True, False, False, True, False
    elif isinstance(kind, types.Integer):
        number = np.dtype(kind.name).type
        ends = np.iinfo(number)
        found = number(1), number(0), number(0), number(ends.max), number(ends.min)
    return lambda array: found


def _put(array, fillings, which):
    raise NotImplementedError


@overload(_put)
def _put_in(array, fillings, which):
    if isinstance(fillings, types.NoneType):
        return lambda array, fillings, which: None

    def put(array, fillings, which):
        array.fill(fillings[which])

    return put


@njit
def filled(array, place):
    """A new array, filled with what is asked for at its place."""
    table = _table()
    table[_HEAD + place] = 1
    table[_LONGEST] = max(table[_LONGEST], array.size)
    if array.size > table[_MOST]:
        raise MemoryError("too large an array")
    _put(array, _fillings(array), table[_FILLING] if table[_PLACE] == place else ALONE)
    return array


def seen(x, place):
    """A number that was read, noted if it is the mark of memory that was never written."""
    raise NotImplementedError


@overload(seen)
def _seen_of(x, place):
    if isinstance(x, types.Complex):

        def look_at_parts(x, place):
            seen(x.real, place)
            seen(x.imag, place)
            return x

        return look_at_parts
    if not isinstance(x, types.Float):
        return lambda x, place: x

    def look(x, place):
        if bits(np.float64(x)) == _MARK_BITS:
            table = _table()
            if table[_READ] == _NOWHERE:
                table[_READ] = place
        return x

    return look


# ---- indices -----------------------------------------------------------------------------------


@njit
def _note(place, axis, index, size):
    """Keep the first overrun of a place."""
    table = _table()
    first, count = _HEAD + PLACES, table[_FOUND]
    for n in range(count):
        if table[first + n * _WIDTH] == place:
            return
    if count < _RECORDS:
        row = first + count * _WIDTH
        table[row], table[row + 1], table[row + 2], table[row + 3] = place, axis, index, size
        table[_FOUND] = count + 1


@njit
def _within(index, size, axis, place):
    """An index, or the nearest one that there is; where there is none, an exception."""
    if -size <= index < size:
        return index
    _note(place, axis, index, size)
    if size == 0:
        raise IndexError("an element of an empty array")
    return np.int64(0) if index < 0 else np.int64(size - 1)


def inside(array, index, axis, place):
    """An index into an axis (from the end, if negative) of an array, brought inside."""
    raise NotImplementedError


@overload(inside)
def _inside(array, index, axis, place):
    if not isinstance(array, types.Array):
        return lambda array, index, axis, place: index
    if isinstance(index, types.Integer):

        def one(array, index, axis, place):
            n = axis if axis >= 0 else array.ndim + axis
            return _within(np.int64(index), array.shape[n], n, place)

        return one
    if isinstance(index, types.Array) and isinstance(index.dtype, types.Integer):

        def several(array, index, axis, place):
            n = axis if axis >= 0 else array.ndim + axis
            made = np.empty(index.shape, np.int64)
            for where, value in np.ndenumerate(index):
                made[where] = _within(np.int64(value), array.shape[n], n, place)
            return made

        return several
    if isinstance(index, types.Array) and isinstance(index.dtype, types.Boolean):

        def mask(array, index, axis, place):
            for k in range(index.ndim):
                n = k + (axis if axis >= 0 else array.ndim + axis)
                if index.shape[k] != array.shape[n]:
                    _note(place, n, index.shape[k], array.shape[n])
                    raise IndexError("a mask of another size")
            return index

        return mask
    if isinstance(index, types.UniTuple) and isinstance(index.dtype, types.Integer):

        def each(array, index, axis, place):
            made = index
            for k in range(len(index)):
                size = array.shape[k]
                made = tuple_setitem(made, k, _within(np.int64(index[k]), size, k, place))
            return made

        return each
    return lambda array, index, axis, place: index


def containing(array, index, place):
    """An array, or anything else, that has an element at a constant index; else an exception."""
    raise NotImplementedError


@overload(containing)
def _containing(array, index, place):
    if not isinstance(array, types.Array):
        return lambda array, index, place: array

    def checked(array, index, place):
        size = array.shape[0]
        if not -size <= index < size:
            _note(place, 0, index, size)
            raise IndexError("an index beyond an array")
        return array

    return checked


# ---- steps -------------------------------------------------------------------------------------


@njit
def expired():
    """Count an iteration of a loop; whether there were too many."""
    table = _table()
    table[_STEPS] -= 1
    return table[_STEPS] < 0
