"""Numbers with a companion, as a type for Numba: (tested value, a few binary64 numbers beside it).

A companion is whatever a technique keeps beside the tested value: the number's error in parts, or
its exact twin. Such numbers are elements of arrays like any other, so that Numba's own slices,
copies, reshapes and loops move both together. Outside of kernels an array of them is a
`CompanionArray`: binary64 numbers along a further last axis.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed, lower_cast, lower_constant
from numba.core.pythonapi import NativeValue
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, overload, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array

from sciprec.instruments.tracing import double_word
from sciprec.precision.operations import arrays
from sciprec.precision.operations.number_types import Companioned, identity
from sciprec.precision.rounding.words import F64, I64, ZERO

_REAL = (types.Integer, types.Boolean, types.Float)


@dataclass(frozen=True)
class CompanionDtype:
    """The `dtype` of arrays of numbers with companions; `np.float64` in the kernel's source.

    Args:
        lanes: how many binary64 numbers are beside each.
        narrow: whether they stand for binary32 numbers.
        twin: whether the first number beside a plain one is that number itself, else all are zero.
        watched: whether what decides by them has to be noted; what cannot be is refused.
        raw: whether they are in no format yet, and are rounded where they are used: constants of
            the source, and variables that are integers at times.
        paired: whether the one number beside each is the low one of a pair, which decides, too.
    """

    lanes: int
    narrow: bool = False
    twin: bool = False
    watched: bool = False
    raw: bool = False
    paired: bool = False

    def __call__(self, value) -> float:
        """A number of the source as a default value: rounded where it is used."""
        return float(value)


class CompanionNumber(Companioned):
    """Numba's type of numbers of such a dtype."""

    def __init__(self, dtype: CompanionDtype):
        self.of, self.lanes, self.narrow = dtype, dtype.lanes, dtype.narrow
        self.wide_dtype = replace(dtype, narrow=False, raw=False)
        marks = "twin" * dtype.twin + "watched" * dtype.watched + "raw" * dtype.raw
        marks += "paired" * dtype.paired
        super().__init__(name=f"companion{32 if self.narrow else 64}x{self.lanes}{marks}")

    def can_convert_from(self, typingctx, other):
        """Plain numbers become such numbers with nothing beside them."""
        if isinstance(other, CompanionNumber) and other.lanes == self.lanes:
            return Conversion.unsafe if self.narrow else Conversion.promote
        return Conversion.safe if isinstance(other, _REAL) else None

    def unify(self, typingctx, other):
        """The wider of two, as Numba has it of binary32, binary64 and integers."""
        if isinstance(other, CompanionNumber) and other.lanes == self.lanes:
            return self._with(self.narrow and other.narrow, self.of.raw or other.of.raw)
        if isinstance(other, _REAL):
            return self._with(False, self.of.raw or self.narrow)
        return None

    def _with(self, narrow: bool, raw: bool) -> CompanionNumber:
        return CompanionNumber(replace(self.of, narrow=narrow, raw=raw))


class _DtypeOf(types.DType):
    """The type of a `CompanionDtype`."""


@typeof_impl.register(CompanionDtype)
def _typeof_dtype(value, context):
    return _DtypeOf(CompanionNumber(value))


def types_of(lanes: int, marks: tuple[str, ...]) -> tuple[CompanionNumber, ...]:
    """The types of numbers that stand for binary64 and binary32 numbers.

    Args:
        marks: those of `CompanionDtype`.
    """
    more = dict.fromkeys(marks, True)
    return tuple(CompanionNumber(CompanionDtype(lanes, n, **more)) for n in (False, True))


def number_type(lanes: int) -> ir.Type:
    """The LLVM type of such a number: packed, so that an array has no gaps."""
    return ir.LiteralStructType([F64, beside_type(lanes)], packed=True)


def beside_type(lanes: int) -> ir.Type:
    """The LLVM type of what is beside a value: a single number is none of a vector, which would
    keep loops from being vectorised.
    """
    return F64 if lanes == 1 else ir.VectorType(F64, lanes)


@register_model(CompanionNumber)
class _NumberModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, number_type(fe_type.lanes))


register_model(_DtypeOf)(models.OpaqueModel)


def with_companion(b: ir.IRBuilder, value, beside):
    """The number of a value and what is beside it."""
    number = ir.Constant(ir.LiteralStructType([F64, beside.type], packed=True), ir.Undefined)
    return b.insert_value(b.insert_value(number, value, 0), beside, 1)


@lower_cast(types.Integer, CompanionNumber)
@lower_cast(types.Boolean, CompanionNumber)
@lower_cast(types.Float, CompanionNumber)
def _from_plain(context, b, source, target, value):
    number, value = value, context.cast(b, value, source, types.float64)
    beside = ir.Constant(beside_type(target.lanes), None)
    if target.of.paired and isinstance(source, types.Integer) and source.bitwidth == 64:
        value, beside = double_word.of_integer(b, number, source.signed)
    if target.of.twin:
        beside = b.insert_element(beside, value, ir.Constant(I64, 0))
    return with_companion(b, value, beside)


@lower_cast(CompanionNumber, CompanionNumber)
def _same(context, b, source, target, value):
    return value


@lower_cast(CompanionNumber, types.Integer)
@lower_cast(CompanionNumber, types.Float)
def _to_plain(context, b, source, target, value):
    if source.of.paired and isinstance(target, types.Integer):
        integer = double_word.to_integer(b, (b.extract_value(value, 0), b.extract_value(value, 1)))
        return context.cast(b, integer, types.int64, target)
    return context.cast(b, b.extract_value(value, 0), types.float64, target)


def require_unwatched(kind: CompanionNumber, operation: str) -> None:
    """Refuse an operation that would decide by watched numbers without a note."""
    if kind.of.watched:
        raise TypingError(
            f"{operation} decides by numbers where bound cannot follow: compare two numbers, as in "
            "`if x != 0.0`"
        )


@lower_cast(CompanionNumber, types.Boolean)
def _to_boolean(context, b, source, target, value):
    require_unwatched(source, "a number as a condition")
    return b.fcmp_unordered("!=", b.extract_value(value, 0), ZERO)


@intrinsic
def tested(typingctx, x):
    """The tested value of a number; plain numbers as they are."""
    kind = types.unliteral(x)
    if not isinstance(kind, CompanionNumber):
        return identity(x, None)
    return types.float64(kind), lambda context, b, signature, args: b.extract_value(args[0], 0)


@intrinsic
def followed(typingctx, x):
    """The tested value of a number that indices are computed of."""
    kind = types.unliteral(x)
    if not isinstance(kind, CompanionNumber):
        return identity(x, None)
    require_unwatched(kind, "a range or a rank of floating-point numbers")
    return types.float64(kind), lambda context, b, signature, args: b.extract_value(args[0], 0)


def _follow_tested_values_alone(function, of_one: bool, noted: bool) -> None:
    """Let a function that decides, and gives no number of the kernel's own, look at these."""

    def one(x):
        if isinstance(x, CompanionNumber) and not (x.of.paired and function in BY_PAIRS):
            if not noted:
                require_unwatched(x, f"`{function.__name__}`")
            return lambda x: function(tested(x))

    def two(x, y):
        are_numbers = all(isinstance(k, (CompanionNumber, *_REAL)) for k in (x, y))
        numbers = [k for k in (x, y) if isinstance(k, CompanionNumber)]
        if are_numbers and numbers and not any(k.of.paired for k in numbers):
            for kind in numbers:
                require_unwatched(kind, "a sort, or a comparison of arrays or in a chain,")
            return lambda x, y: function(tested(x), tested(y))

    overload(function)(one if of_one else two)


BY_PAIRS = int, math.floor, math.ceil, math.trunc
"""Functions that round both numbers of a pair."""
CLASSIFIES = (math.isnan, math.isinf, math.isfinite, np.isnan, np.isinf, np.isfinite)
for _function in (bool, operator.truth, operator.not_, np.signbit):
    _follow_tested_values_alone(_function, of_one=True, noted=False)
for _function in (*BY_PAIRS, *CLASSIFIES):
    _follow_tested_values_alone(_function, of_one=True, noted=True)
for _function in (*(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),):
    _follow_tested_values_alone(_function, of_one=False, noted=False)


@intrinsic
def _selected(typingctx, condition, x, y):
    """A new array of elements of x where the condition holds, else of y."""
    kinds = [types.unliteral(k) for k in (condition, x, y)]
    truth, *elements = (getattr(k, "dtype", k) for k in kinds)
    result = types.Array(
        typingctx.unify_types(*elements), max(getattr(k, "ndim", 0) for k in kinds), "C"
    )

    def operate(context, b, key, n, values):
        holds = context.cast(b, values[0], truth, types.boolean)
        cast = [
            context.cast(b, value, kind, result.dtype)
            for value, kind in zip(values[1:], elements, strict=True)
        ]
        return b.select(holds, *cast), result.dtype

    return arrays.new_array(result, kinds, None, operate)


@overload(np.where)
def _where(condition, x, y):
    """Numba's own takes a number's dtype apart; of numbers it gives an array without axes, too."""
    numbers = [getattr(k, "dtype", k) for k in (x, y)]
    if any(isinstance(k, CompanionNumber) for k in numbers):
        return lambda condition, x, y: _selected(condition, x, y)


@intrinsic
def _dtype_of(typingctx, x):
    def codegen(context, b, signature, args):
        return context.get_dummy_value()

    return _DtypeOf(types.unliteral(x))(x), codegen


def type_of(x):
    """type(x), where a number's is its dtype."""
    return type(x)


@overload(type_of)
def _type_of(x):
    if isinstance(x, CompanionNumber):
        return lambda x: _dtype_of(x)
    return lambda x: type(x)


# ---- arrays from and to Python -----------------------------------------------------------------


@dataclass(frozen=True)
class CompanionArray:
    """An array of such numbers: `numbers` has shape (..., 1 + lanes), in C order."""

    numbers: np.ndarray
    dtype: CompanionDtype


@dataclass(frozen=True)
class CompanionValue:
    """A single number, as an argument: `numbers` has shape (1 + lanes,). It is rounded on entry."""

    numbers: np.ndarray
    dtype: CompanionDtype


def constant_array(values: np.ndarray, dtype: CompanionDtype) -> np.ndarray | CompanionArray:
    """A constant array as kernels of numbers with companions hold it; whole numbers as they are."""
    if values.dtype.kind != "f":
        return values
    numbers = np.zeros((*values.shape, 1 + dtype.lanes))
    numbers[..., 0] = values
    if dtype.twin:
        numbers[..., 1] = values
    narrow = values.dtype == np.float32 and not dtype.paired
    return CompanionArray(numbers, replace(dtype, narrow=narrow, raw=True))


class _CompanionArgument(types.Type):
    """The type of a `CompanionArray`, or of a `CompanionValue`, as an argument."""

    def __init__(self, inside: types.Array | CompanionNumber):
        self.inside = inside
        self.numbers = types.Array(types.float64, getattr(inside, "ndim", 0) + 1, "C")
        super().__init__(name=f"given({inside})")


@typeof_impl.register(CompanionArray)
def _typeof_array(value, context):
    return _given_array(value.dtype, value.numbers.ndim - 1)


@lru_cache(maxsize=256)
def _given_array(dtype: CompanionDtype, ndim: int) -> _CompanionArgument:
    return _CompanionArgument(types.Array(CompanionNumber(dtype), ndim, "C"))


@register_model(_CompanionArgument)
class _CompanionArgumentModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("numbers", fe_type.numbers)])


@unbox(_CompanionArgument)
def _unboxed(kind, value, c):
    attribute = c.pyapi.object_getattr_string(value, "numbers")
    numbers = c.unbox(kind.numbers, attribute)
    struct = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    struct.numbers = numbers.value
    c.pyapi.decref(attribute)
    return NativeValue(struct._getvalue(), is_error=numbers.is_error)


@lower_constant(_CompanionArgument)
def _lowered_constant(context, b, kind, value):
    struct = cgutils.create_struct_proxy(kind)(context, b)
    numbers = np.ascontiguousarray(value.numbers)
    struct.numbers = context.make_constant_array(b, kind.numbers, numbers)
    return struct._getvalue()


@typeof_impl.register(CompanionValue)
def _typeof_value(value, context):
    return _CompanionArgument(CompanionNumber(replace(value.dtype, raw=True)))


def _viewed(context, b, source: types.Array, target: types.Array, value):
    """View the memory as an array of another type, with one axis more or less at its end; the
    reference to it is borrowed.
    """
    array, view = make_array(source)(context, b, value), make_array(target)(context, b)
    shape, strides = (cgutils.unpack_tuple(b, part) for part in (array.shape, array.strides))
    eight = ir.Constant(I64, 8)
    if target.ndim < source.ndim:
        shape, strides, size = shape[:-1], strides[:-1], b.mul(shape[-1], eight)
    else:
        lanes = ir.Constant(I64, 1 + source.dtype.lanes)
        shape, strides, size = [*shape, lanes], [*strides, eight], eight
    populate_array(
        view,
        data=b.bitcast(array.data, view.data.type),
        shape=shape,
        strides=strides,
        itemsize=size,
        meminfo=array.meminfo,
        parent=array.parent,
    )
    return view._getvalue()


def _crossing(moved: Callable):
    """An intrinsic that moves numbers and arrays, in tuples too, across the entry.

    Args:
        moved: of a type gives that on the other side, and emit(context, builder, value).
    """

    def across(kind):
        if not isinstance(kind, types.BaseTuple):
            return moved(kind)
        kinds, emits = zip(*map(across, kind), strict=True) if len(kind) else ((), ())
        tuple_type = types.BaseTuple.from_types(kinds, getattr(kind, "instance_class", None))

        def emit(context, b, value):
            items = zip(emits, cgutils.unpack_tuple(b, value), strict=True)
            return context.make_tuple(
                b, tuple_type, [of_item(context, b, x) for of_item, x in items]
            )

        return tuple_type, emit

    @intrinsic
    def crossing(typingctx, x):
        kind = types.unliteral(x)
        result, emit = across(kind)

        def codegen(context, b, signature, args):
            value = context.cast(b, args[0], signature.args[0], kind)
            return impl_ret_borrowed(context, b, result, emit(context, b, value))

        return result(kind), codegen

    return crossing


def _as_it_is(kind):
    if isinstance(getattr(kind, "dtype", kind), types.Complex):
        raise TypingError("complex numbers are given; a trace takes real ones")
    return kind, lambda context, b, value: value


def _adopted(kind):
    if not isinstance(kind, _CompanionArgument):
        return _as_it_is(kind)
    result = kind.inside

    def emit(context, b, value):
        numbers = cgutils.create_struct_proxy(kind)(context, b, value).numbers
        if isinstance(result, types.Array):
            return _viewed(context, b, kind.numbers, result, numbers)
        data = make_array(kind.numbers)(context, b, numbers).data
        return b.load(b.bitcast(data, number_type(result.lanes).as_pointer()), align=8)

    return result, emit


adopt = _crossing(_adopted)
"""Arguments as a kernel takes them: a `CompanionArray` as an array, a `CompanionValue` as a number,
all else as it is.
"""


def _released(kind):
    if isinstance(getattr(kind, "dtype", None), CompanionNumber):
        array = types.Array(types.float64, kind.ndim + 1, "C" if kind.layout == "C" else "A")
        return array, lambda context, b, value: _viewed(context, b, kind, array, value)
    if not isinstance(kind, CompanionNumber):
        return _as_it_is(kind)
    result = types.UniTuple(types.float64, 1 + kind.lanes)

    def emit(context, b, value):
        beside, places = b.extract_value(value, 1), range(kind.lanes)
        items = [b.extract_value(value, 0)]
        if kind.lanes == 1:
            items.append(beside)
        else:
            items += [b.extract_element(beside, ir.Constant(I64, n)) for n in places]
        return context.make_tuple(b, result, items)

    return result, emit


release = _crossing(_released)
"""Results as Python takes them: numbers as tuples, arrays with a further axis."""
