"""Operations on whole arrays: the scalar operation on each element, with NumPy's broadcasting.

The loops are written as instructions: as functions of Numba's each would be compiled for the better
part of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref
from numba.np.arrayobj import _empty_nd_impl, load_item, make_array, store_item

from sciprec.precision.operations import complex_numbers, keys
from sciprec.precision.operations.number_types import is_complex, is_narrow

_INDEX = ir.IntType(64)
_MISMATCH = "shape mismatch: arrays of these shapes cannot be broadcast together"


def result_dtype(ops, kinds, pairs: bool):
    """The dtype of a new array: NumPy's for these arrays, where it holds the backend's numbers;
    `pairs` says that these are complex.
    """
    narrow = all(is_narrow(k.dtype) for k in kinds) and is_narrow(ops.carrier)
    if pairs:
        return types.complex64 if narrow else types.complex128
    return ops.dtype_of(narrow)


def elementwise(ops, op, kinds, key, gives: str):
    """op(x, ...) with at least one array among the operands: a new array, in NumPy's dtype for
    them; `gives` is "complex" or "real".
    """
    if gives == "polar":
        raise TypingError("cmath.polar of an array is given; it takes a number: write the loop")
    array_kinds = [k for k in kinds if isinstance(k, types.Array)]
    made = result_dtype(ops, array_kinds, gives == "complex")
    result = types.Array(made, max(k.ndim for k in array_kinds), "C")
    return _new_array(result, kinds, key, _operating(ops, op, kinds))


def mapped(ops, kind, key):
    """A new array of the elements, each rounded."""
    result = types.Array(result_dtype(ops, [kind], is_complex(kind.dtype)), kind.ndim, "C")
    return _new_array(result, [kind], key, _operating(ops, None, [kind]))


def stored(ops, target, kind, key):
    """What is stored when an array is assigned to (part of) the array `target`."""
    held = complex_numbers.carrier_of(ops) if is_complex(kind.dtype) else ops.carrier
    result = types.Array(held, kind.ndim, "C")
    put = _putting(ops, target)

    def codegen(context, b, signature, args):
        word, (array, value) = keys.split(key, args)
        given = [_Operand.of(context, b, kind, value)]
        out = _like(context, b, result, given)

        def element(inner, n, values):
            own = _own_key(ops, context, inner, word, n)
            return put(context, inner, own, array, kind.dtype, values[0])

        _loop(context, b, out, given, element)
        return impl_ret_new_ref(context, b, result, out.array._getvalue())

    return result(*keys.join(key, [target, kind])), codegen


def in_place(ops, op, target, kind, key):
    """target op= operand, written into target."""
    if getattr(kind, "ndim", 0) > target.ndim:
        raise TypingError(f"an array of {kind.ndim} axes does not fit into one of {target.ndim}")
    operate, put = _operating(ops, op, [target, kind]), _putting(ops, target)

    def codegen(context, b, signature, args):
        word, (array, value) = keys.split(key, args)
        out = _Operand.of(context, b, target, array)
        other = _Operand.of(context, b, kind, value)
        _require_broadcast(context, b, out.shape, [other])

        def element(inner, n, values):
            changed, made = operate(context, inner, word, n, values)
            own = _own_key(ops, context, inner, word, n)
            return put(context, inner, own, array, made, changed)

        _loop(context, b, out, [out, other], element)
        return impl_ret_borrowed(context, b, target, array)

    return target(*keys.join(key, [target, kind])), codegen


def _new_array(result, kinds, key, operate):
    """A signature and its instructions: a new array of what `operate` makes of the operands."""

    def codegen(context, b, signature, args):
        word, values = keys.split(key, args)
        given = [_Operand.of(context, b, k, v) for k, v in zip(kinds, values, strict=True)]
        out = _like(context, b, result, given)

        def element(inner, n, elements):
            return operate(context, inner, word, n, elements)

        _loop(context, b, out, given, element)
        return impl_ret_new_ref(context, b, result, out.array._getvalue())

    return result(*keys.join(key, kinds)), codegen


# ---- elements ----------------------------------------------------------------------------------


def _called(context, b, function, kinds, values):
    """The value and type of an operation of the backend on numbers of these types."""
    typing = context.typing_context
    known = _known(context, function)
    resolved = known.get_call_type(typing, tuple(kinds), {})
    cast = [
        context.cast(b, v, given, wanted)
        for v, given, wanted in zip(values, kinds, resolved.args, strict=True)
    ]
    return context.get_function(known, resolved)(b, cast), resolved.return_type


def _known(context, function) -> types.Type:
    """The Numba type of an operation, which may have been made since Numba last looked for new
    ones: it is made when it is first used.
    """
    try:
        return context.typing_context.resolve_value_type(function)
    except ValueError:
        context.typing_context.refresh()
        context.refresh()
        return context.typing_context.resolve_value_type(function)


def _operating(ops, op, kinds) -> Callable:
    """operate(context, b, key, n, elements) -> (value, type): the n-th element's operation on raw
    elements of arrays, and on numbers of the kernel's own beside them; None rounds alone. Where
    roles differ in format the result is rounded to that of the storage, since no load may do it.
    """
    element_kinds = [getattr(k, "dtype", k) for k in kinds]
    taken_as_it_is = [ops.backend.mixed and not isinstance(k, types.Array) for k in kinds]

    def operate(context, b, key, n, elements):
        own = _own_key(ops, context, b, key, n)
        operands, entered = [], []
        for part, (kind, x) in enumerate(zip(element_kinds, elements, strict=True)):
            row = 0 if op is None else 1 + part
            if not taken_as_it_is[part]:
                x, kind = _with_key(ops, context, b, ops.enter, own, row, [kind], [x])
            operands.append(x)
            entered.append(kind)
        if op is None:
            return operands[0], entered[0]
        made, kind = _with_key(ops, context, b, op, own, 0, entered, operands)
        if not ops.backend.mixed:
            return made, kind
        if ops.backend.random:
            one = ir.Constant(_INDEX, 1)
            own = _called(context, b, keys.descend, [types.uint32, types.int64], [own, one])[0]
        return _with_key(ops, context, b, ops.enter, own, 0, [kind], [made])

    return operate


def _putting(ops, target) -> Callable:
    """put(context, b, key, array, kind, x) -> (value, type): what is stored of a number."""

    def put(context, b, key, array, kind, x):
        x, kind = _with_key(ops, context, b, ops.enter, key, 0, [kind], [x])
        return _with_key(ops, context, b, ops.leave, key, 0, [target, kind], [array, x])

    return put


def _own_key(ops, context, b, key, n):
    """The key of the n-th element, where elements draw random bits."""
    if not ops.backend.random or ops.variant.row_bytes:
        return key
    return _called(context, b, keys.descend, [types.uint32, types.int64], [key, n()])[0]


def _with_key(ops, context, b, function, key, row: int, kinds, values):
    """A call of an operation that takes a key, and the number of a row, where the backend has them.
    """
    if ops.variant.row_bytes:
        kinds, values = [types.int64, *kinds], [ir.Constant(_INDEX, row), *values]
    if ops.key_type is not None:
        kinds, values = [ops.key_type, *kinds], [key, *values]
    return _called(context, b, function, kinds, values)


# ---- loops -------------------------------------------------------------------------------------


@dataclass
class _Operand:
    """An operand of a loop: an array, or a number that is the same for every element.

    Attributes:
        kind: its Numba type.
        value: the number.
        array: None, or the array.
        shape: its sizes.
    """

    kind: types.Type
    value: ir.Value
    array: object
    shape: list

    @classmethod
    def of(cls, context, b, kind, value) -> _Operand:
        if not isinstance(kind, types.Array):
            return cls(kind, value, None, [])
        array = make_array(kind)(context, b, value)
        return cls(kind, value, array, cgutils.unpack_tuple(b, array.shape, kind.ndim))

    @property
    def flat(self) -> bool:
        """Whether it may be gone through by one index."""
        return self.array is None or self.kind.layout == "C"

    def read(self, context, b, place):
        """The element at a place."""
        return self.value if self.array is None else load_item(context, b, self.kind, place)

    def place(self, context, b, indices, strides):
        """Where the element of broadcast indices lies; `strides` are zero along its sizes of 1."""
        own = indices[len(indices) - self.kind.ndim :]
        offset = ir.Constant(_INDEX, 0)
        for index, stride in zip(own, strides, strict=True):
            offset = b.add(offset, b.mul(index, stride))
        return cgutils.pointer_add(b, self.array.data, offset)


def _like(context, b, result, operands) -> _Operand:
    """A new array of the operands' broadcast shape."""
    arrays = [o for o in operands if o.array is not None]
    shape = _broadcast_shape(context, b, result.ndim, arrays)
    array = _empty_nd_impl(context, b, result, shape)
    return _Operand(result, array._getvalue(), array, shape)


def _broadcast_shape(context, b, ndim: int, arrays) -> list:
    """NumPy's: along each axis the size that is not one."""
    if len(arrays) == 1:
        return arrays[0].shape
    one, shape = ir.Constant(_INDEX, 1), []
    for axis in range(ndim):
        size = one
        for operand in arrays:
            own = axis - ndim + operand.kind.ndim
            if own >= 0:
                is_one = b.icmp_signed("==", operand.shape[own], one)
                size = b.select(is_one, size, operand.shape[own])
        shape.append(size)
    _require_broadcast(context, b, shape, arrays)
    return shape


def _require_broadcast(context, b, shape, operands) -> None:
    """Raise a ValueError where an operand's sizes are neither those of the shape nor one."""
    for operand in operands:
        if operand.array is None:
            continue
        for size, wanted in zip(reversed(operand.shape), reversed(shape), strict=False):
            fits = b.icmp_signed("==", size, ir.Constant(_INDEX, 1))
            fits = b.or_(fits, b.icmp_signed("==", size, wanted))
            with cgutils.if_unlikely(b, b.not_(fits)):
                context.call_conv.return_user_exc(b, ValueError, (_MISMATCH,))


def _loop(context, b, out: _Operand, operands: list[_Operand], element: Callable) -> None:
    """out[...] = element(builder, n, elements) for every element, in C order; n() is its number."""
    ndim = out.kind.ndim
    if out.flat and all(o.flat and o.kind.ndim == ndim for o in operands if o.array is not None):
        flat = _same_shapes(b, out, operands)
        if flat is True:
            _flat_loop(context, b, out, operands, element)
            return
        with b.if_else(flat) as (then, otherwise):
            with then:
                _flat_loop(context, b, out, operands, element)
            with otherwise:
                _nested_loop(context, b, out, operands, element)
        return
    _nested_loop(context, b, out, operands, element)


def _same_shapes(b, out: _Operand, operands):
    """Whether all arrays have the shape of the result; True where that is known beforehand."""
    same = True
    for operand in operands:
        if operand.array is None or operand.shape is out.shape:
            continue
        for size, wanted in zip(operand.shape, out.shape, strict=True):
            equal = b.icmp_signed("==", size, wanted)
            same = equal if same is True else b.and_(same, equal)
    return same


def _flat_loop(context, b, out, operands, element) -> None:
    count = ir.Constant(_INDEX, 1)
    for size in out.shape:
        count = b.mul(count, size)
    with cgutils.for_range(b, count, intp=_INDEX) as loop:
        index = loop.index
        values = [
            o.read(context, b, None if o.array is None else b.gep(o.array.data, [index]))
            for o in operands
        ]
        made, kind = element(b, lambda: index, values)
        made = context.cast(b, made, kind, out.kind.dtype)
        store_item(context, b, out.kind, made, b.gep(out.array.data, [index]))


def _nested_loop(context, b, out, operands, element) -> None:
    strides = [_strides(b, o) for o in operands]
    own_strides = _strides(b, out)
    with cgutils.loop_nest(b, out.shape, _INDEX) as indices:

        def number():
            n = ir.Constant(_INDEX, 0)
            for index, size in zip(indices, out.shape, strict=True):
                n = b.add(b.mul(n, size), index)
            return n

        values = [
            o.read(context, b, None if o.array is None else o.place(context, b, indices, s))
            for o, s in zip(operands, strides, strict=True)
        ]
        made, kind = element(b, number, values)
        made = context.cast(b, made, kind, out.kind.dtype)
        store_item(context, b, out.kind, made, out.place(context, b, indices, own_strides))


def _strides(b, operand: _Operand) -> list:
    """Bytes between neighbours along each axis, none along those of size one."""
    if operand.array is None:
        return []
    one, nothing = ir.Constant(_INDEX, 1), ir.Constant(_INDEX, 0)
    given = cgutils.unpack_tuple(b, operand.array.strides, operand.kind.ndim)
    return [
        b.select(b.icmp_signed("==", size, one), nothing, stride)
        for size, stride in zip(operand.shape, given, strict=True)
    ]
