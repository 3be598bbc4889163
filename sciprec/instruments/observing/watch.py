"""Functions that an instrumented kernel calls: new arrays filled, indices and integers checked,
steps counted.

One table of the process holds what is asked for and what was found. Places are numbers; see
`watching`. Its address is a constant of the compiled code, which is not kept on disk.
"""

from __future__ import annotations

import operator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from llvmlite import ir
from numba import carray, njit
from numba.core import types
from numba.core.registry import cpu_target
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import intrinsic

from sciprec.precision.compiled.lowering import by_type
from sciprec.precision.elementary.bits import bits

ALONE, ZERO, NAN, LARGEST, SMALLEST = range(5)
"""Fillings of the chosen place's arrays; all other arrays are filled with ones."""
PLACES = 1 << 16
"""How many places a check can have."""
_PLACE, _FILLING, _STEPS, _OVERRUN, _OVERFLOWN, _READ, _MOST, _LONGEST = range(8)
_HEAD = 8
_RECORDS, _WIDTH = 256, 4
_TABLE = np.zeros(_HEAD + PLACES + 2 * _RECORDS * _WIDTH, np.int64)
_NOWHERE = -1
_MARK = np.uint32(0x7FC5C1F0)  # a quiet NaN of binary32 that no operation makes
_MARK32 = np.array(_MARK).view(np.float32)[()]
_MARK64 = np.float64(_MARK32)
_MARK_BITS = int(np.array(_MARK64).view(np.int64))
ADD, SUB, MUL, POWER, _STORE, _STORE_UNSIGNED, _STORE_FLOAT = range(7)
"""Operations on integers that may overflow, and stores into arrays of integers."""
_SIGNED = ("int8", "int16", "int32", "int64")
_LARGEST_TOLD = 10**30


@dataclass(frozen=True)
class Overrun:
    """An index beyond an array's axis, at a place."""

    place: int
    axis: int
    index: int
    size: int


@dataclass(frozen=True)
class Overflow:
    """An integer beyond the range of its type, at a place.

    Attributes:
        value: the exact value, in words.
        kind: "int8", "int16", "int32" or "int64".
        wrapped: what it became, in words; of a floating-point number the processor decides that.
    """

    place: int
    value: str
    kind: str
    wrapped: str


@dataclass(frozen=True)
class Seen:
    """The findings of one run.

    Attributes:
        reached: places where arrays were made.
        overruns, overflows: the first one of each place.
        read: the place of the first element read that had never been written, or -1; known where
            the filling was NAN.
        steps: iterations of loops.
        longest: elements of the largest array that was made.
    """

    reached: frozenset[int]
    overruns: tuple[Overrun, ...]
    overflows: tuple[Overflow, ...]
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
    yield lambda: _findings(most_steps)


def _findings(most_steps: int) -> Seen:
    overruns, overflows = _TABLE[_HEAD + PLACES :].reshape(2, _RECORDS, _WIDTH).tolist()
    return Seen(
        reached=frozenset(np.flatnonzero(_TABLE[_HEAD : _HEAD + PLACES]).tolist()),
        overruns=tuple(Overrun(*row) for row in overruns[: _TABLE[_OVERRUN]]),
        overflows=tuple(_overflow(*row) for row in overflows[: _TABLE[_OVERFLOWN]]),
        read=int(_TABLE[_READ]),
        steps=most_steps - int(_TABLE[_STEPS]),
        longest=int(_TABLE[_LONGEST]),
    )


def _overflow(place: int, code: int, left: int, right: int) -> Overflow:
    """A record in words: of an operation its operands, of a store the value and what it became."""
    operation, number = divmod(code, len(_SIGNED))
    kind = _SIGNED[number]
    if operation == _STORE_FLOAT:
        return Overflow(place, f"{np.int64(left).view(np.float64):,}", kind, f"it became {right:,}")
    if operation == _STORE_UNSIGNED:
        return Overflow(place, f"{left % 2**64:,}", kind, f"it wrapped to {right:,}")
    if operation == _STORE:
        return Overflow(place, f"{left:,}", kind, f"it wrapped to {right:,}")
    bits = np.iinfo(kind).bits
    if operation == POWER:
        result = pow(left, right, 2**bits)
        small = right < 128 and abs(left**right) < _LARGEST_TOLD
        value = f"{left**right:,}" if small else f"{left:,}**{right:,}"
    else:
        result = {ADD: left + right, SUB: left - right, MUL: left * right}[operation]
        value = f"{result:,}"
    half = 2 ** (bits - 1)
    wrapped = (result + half) % 2**bits - half
    return Overflow(place, value, kind, f"it wrapped to {wrapped:,}")


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
    def viewed():
        return carray(address(), shape, kind)

    return viewed


_table = reached(_TABLE)


# ---- arrays that are made ----------------------------------------------------------------------


@by_type
def _fillings(array):
    """(one, zero, NaN, largest, smallest) as this array has them; None for other dtypes."""
    kind = getattr(array, "dtype", None)
    values, real = None, getattr(kind, "underlying_float", kind)
    if isinstance(real, types.Float):
        number, mark, huge = (
            (np.float32, _MARK32, 1e38) if real.bitwidth == 32 else (np.float64, _MARK64, 1e300)
        )
        values = number(1.0), number(0.0), mark, number(huge), number(-huge)
        if kind != real:
            values = tuple(np.dtype(kind.name).type(complex(x, x)) for x in values)
    elif isinstance(kind, types.Boolean):
        values = True, False, False, True, False
    elif isinstance(kind, types.Integer):
        number = np.dtype(kind.name).type
        ends = np.iinfo(number)
        values = number(1), number(0), number(0), number(ends.max), number(ends.min)
    return lambda array: values


@by_type
def _put(array, fillings, which):
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


@by_type
def seen(x, place):
    """A number that was read, noted if it is the mark of memory that was never written."""
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
def _note(count, place, a, b, c):
    """Keep the first record of a place, in the list of overruns or in that of overflows."""
    table = _table()
    first, number = _HEAD + PLACES + (count - _OVERRUN) * _RECORDS * _WIDTH, table[count]
    for n in range(number):
        if table[first + n * _WIDTH] == place:
            return
    if number < _RECORDS:
        row = first + number * _WIDTH
        table[row], table[row + 1], table[row + 2], table[row + 3] = place, a, b, c
        table[count] = number + 1


@njit
def _within(index, size, axis, place):
    """An index, or the nearest one that there is; where there is none, an exception."""
    if -size <= index < size:
        return index
    _note(_OVERRUN, place, axis, index, size)
    if size == 0:
        raise IndexError("an element of an empty array")
    return np.int64(0) if index < 0 else np.int64(size - 1)


@by_type
def inside(array, index, axis, place):
    """An index into an axis (from the end, if negative) of an array, brought inside."""
    if not isinstance(array, types.Array):
        return lambda array, index, axis, place: index
    if isinstance(index, types.Integer):

        def scalar(array, index, axis, place):
            n = axis if axis >= 0 else array.ndim + axis
            return _within(np.int64(index), array.shape[n], n, place)

        return scalar
    if isinstance(index, types.Array) and isinstance(index.dtype, types.Integer):

        def several(array, index, axis, place):
            n = axis if axis >= 0 else array.ndim + axis
            result = np.empty(index.shape, np.int64)
            for where, value in np.ndenumerate(index):
                result[where] = _within(np.int64(value), array.shape[n], n, place)
            return result

        return several
    if isinstance(index, types.Array) and isinstance(index.dtype, types.Boolean):

        def mask(array, index, axis, place):
            for k in range(index.ndim):
                n = k + (axis if axis >= 0 else array.ndim + axis)
                if index.shape[k] != array.shape[n]:
                    _note(_OVERRUN, place, n, index.shape[k], array.shape[n])
                    raise IndexError("a mask of another size")
            return index

        return mask
    if isinstance(index, types.UniTuple) and isinstance(index.dtype, types.Integer):

        def each(array, index, axis, place):
            result = index
            for k in range(len(index)):
                size = array.shape[k]
                result = tuple_setitem(result, k, _within(np.int64(index[k]), size, k, place))
            return result

        return each
    return lambda array, index, axis, place: index


@by_type
def containing(array, index, place):
    """An array, or anything else, that has an element at a constant index; else an exception."""
    if not isinstance(array, types.Array):
        return lambda array, index, place: array

    def checked(array, index, place):
        size = array.shape[0]
        if not -size <= index < size:
            _note(_OVERRUN, place, 0, index, size)
            raise IndexError("an index beyond an array")
        return array

    return checked


# ---- integers ----------------------------------------------------------------------------------


@njit
def _product(a, b):
    """The product of two integers modulo 2^64, and whether it is another one.

    Of unsigned integers: of signed ones the compiler assumes that none overflows.
    """
    product = np.int64(np.uint64(a) * np.uint64(b))
    return product, _product_wraps(a, b, product)


@njit
def _product_wraps(a, b, product):
    half = 1 << 31
    if -half <= a < half and -half <= b < half or a == 0 or b == 0:
        return False
    if a == -1 or b == -1:
        return min(a, b) == product  # only the smallest integer is its own negative
    return product // a != b


@njit
def _power(a, b):
    """A power of two integers, or a part of it, and whether it is beyond 64 bits."""
    result = 1
    if -1 <= a <= 1:
        return result, False
    for _ in range(b):
        result, wraps = _product(result, a)
        if wraps:
            return result, True
    return result, False


@njit
def _look(a, b, operation, number, place):
    """Note a result of integers that does not fit into the type of a number."""
    if operation == ADD:
        result = np.int64(np.uint64(a) + np.uint64(b))
        wraps = ((a ^ result) & (b ^ result)) < 0
    elif operation == SUB:
        result = np.int64(np.uint64(a) - np.uint64(b))
        wraps = ((a ^ b) & (a ^ result)) < 0
    elif operation == MUL:
        result, wraps = _product(a, b)
    else:
        result, wraps = _power(a, b)
    unused = 64 - (8 << number)
    if wraps or (result << unused) >> unused != result:
        _note(_OVERFLOWN, place, operation * len(_SIGNED) + number, a, b)


@by_type
def computed(a, b, operation, like, place):
    """Look at an operation on two integers, or on arrays of them.

    `like` is None where operands make a new type, True where an array `a` keeps its own (in
    place, signs), and a number where `a` does, whatever it is.
    """
    ours, theirs = (types.unliteral(getattr(x, "dtype", x)) for x in (a, b))
    integers = [isinstance(x, (types.Integer, types.Boolean)) for x in (ours, theirs)]
    if not all(integers) or types.uint64 in (ours, theirs):
        return lambda a, b, operation, like, place: None
    if not all(isinstance(x, types.Number | types.Boolean | types.Array) for x in (a, b)):
        return lambda a, b, operation, like, place: None
    arrays = [isinstance(x, types.Array) for x in (a, b)]
    if isinstance(like, types.Integer) or arrays[0] and isinstance(like, types.Boolean):
        kind = ours
    else:
        operands = types.unliteral(a), types.unliteral(b)
        product = cpu_target.typing_context.resolve_function_type(operator.mul, operands, {})
        kind = getattr(product.return_type, "dtype", product.return_type)
    if str(kind) not in _SIGNED:
        return lambda a, b, operation, like, place: None
    number = _SIGNED.index(str(kind))
    if not any(arrays):
        return lambda a, b, operation, like, place: _look(
            np.int64(a), np.int64(b), operation, number, place
        )

    def each(a, b, operation, like, place):
        shape = (a + b).shape
        pairs = zip(np.broadcast_to(a, shape).flat, np.broadcast_to(b, shape).flat)  # noqa: B905
        for x, y in pairs:
            _look(np.int64(x), np.int64(y), operation, number, place)

    return each


@njit
def left_of(a, b, operation, like, place):
    """The left one of two operands, both looked at."""
    computed(a, b, operation, like, place)
    return a


@njit
def right_of(a, b, operation, like, place):
    """The right one of two operands, both looked at."""
    computed(a, b, operation, like, place)
    return b


@njit
def both_of(a, b, operation, like, place):
    """Two operands, looked at."""
    computed(a, b, operation, like, place)
    return a, b


@by_type
def _stored(x, kind, number, place):
    if isinstance(x, types.Float):

        def look_at_float(x, kind, number, place):
            half = 2.0 ** ((8 << number) - 1)
            if not -half <= np.trunc(x) < half:
                _note(_OVERFLOWN, place, _STORE_FLOAT * len(_SIGNED) + number,
                      bits(np.float64(x)), np.int64(kind(x)))  # fmt: skip

        return look_at_float
    operation = _STORE if x.signed else _STORE_UNSIGNED

    def look(x, kind, number, place):
        became = np.int64(kind(x))
        if became != x or (became < 0) != (x < 0):
            code = operation * len(_SIGNED) + number
            _note(_OVERFLOWN, place, code, np.int64(x), became)

    return look


@by_type
def fitting(container, value, place):
    """A value that is stored into an array, list or field, noted if its integers cannot hold it.

    Unsigned integers count modulo a power of two, and hold every integer.
    """
    kind = str(getattr(container, "dtype", container))
    x = types.unliteral(getattr(value, "dtype", value))
    of_numbers = isinstance(value, types.Number | types.Array)
    if kind not in _SIGNED or not of_numbers or not isinstance(x, types.Integer | types.Float):
        return lambda container, value, place: value
    number, scalar_type = _SIGNED.index(kind), np.dtype(kind).type
    if isinstance(x, types.Integer) and x.bitwidth + (not x.signed) <= 8 << number:
        return lambda container, value, place: value
    if not isinstance(value, types.Array):

        def scalar(container, value, place):
            _stored(value, scalar_type, number, place)
            return value

        return scalar

    def each(container, value, place):
        for item in value.flat:
            _stored(item, scalar_type, number, place)
        return value

    return each


@njit
def fitting_of(container, value, place):
    """A container, and what is stored into it, looked at."""
    return container, fitting(container, value, place)


# ---- steps -------------------------------------------------------------------------------------


@njit
def expired():
    """Count an iteration of a loop; whether there were too many."""
    table = _table()
    table[_STEPS] -= 1
    return table[_STEPS] < 0
