"""Loops over the elements of arrays, with NumPy's broadcasting, written as instructions.

As functions of Numba's each would be compiled for the better part of a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir
from numba.core import cgutils, types
from numba.np.arrayobj import _empty_nd_impl, load_item, make_array, store_item

INDEX = ir.IntType(64)
_MISMATCH = "shape mismatch: arrays of these shapes cannot be broadcast together"


@dataclass
class Operand:
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
    def of(cls, context, b, kind, value) -> Operand:
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
        """Address of the element of broadcast indices; `strides` are zero along its sizes of 1."""
        trailing = indices[len(indices) - self.kind.ndim :]
        offset = ir.Constant(INDEX, 0)
        for index, stride in zip(trailing, strides, strict=True):
            offset = b.add(offset, b.mul(index, stride))
        return cgutils.pointer_add(b, self.array.data, offset)


def like(context, b, result, operands) -> Operand:
    """A new array of the operands' broadcast shape."""
    arrays = [o for o in operands if o.array is not None]
    shape = _broadcast_shape(context, b, result.ndim, arrays)
    plain = types.Array(result.dtype, result.ndim, result.layout)
    array = _empty_nd_impl(context, b, plain, shape)
    return Operand(result, array._getvalue(), array, shape)


def _broadcast_shape(context, b, ndim: int, arrays) -> list:
    """NumPy's: along each axis the size that is not one."""
    if len(arrays) == 1:
        return arrays[0].shape
    one, shape = ir.Constant(INDEX, 1), []
    for axis in range(ndim):
        size = one
        for operand in arrays:
            own_axis = axis - ndim + operand.kind.ndim
            if own_axis >= 0:
                is_one = b.icmp_signed("==", operand.shape[own_axis], one)
                size = b.select(is_one, size, operand.shape[own_axis])
        shape.append(size)
    require_broadcast(context, b, shape, arrays)
    return shape


def require_broadcast(context, b, shape, operands) -> None:
    """Raise a ValueError where an operand's sizes are neither those of the shape nor one."""
    for operand in operands:
        if operand.array is None:
            continue
        for size, expected in zip(reversed(operand.shape), reversed(shape), strict=False):
            fits = b.icmp_signed("==", size, ir.Constant(INDEX, 1))
            fits = b.or_(fits, b.icmp_signed("==", size, expected))
            with cgutils.if_unlikely(b, b.not_(fits)):
                context.call_conv.return_user_exc(b, ValueError, (_MISMATCH,))


def loop(context, b, out: Operand, operands: list[Operand], element: Callable) -> None:
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


def _same_shapes(b, out: Operand, operands):
    """Whether all arrays have the shape of the result; True where that is known beforehand."""
    same = True
    for operand in operands:
        if operand.array is None or operand.shape is out.shape:
            continue
        for size, expected in zip(operand.shape, out.shape, strict=True):
            equal = b.icmp_signed("==", size, expected)
            same = equal if same is True else b.and_(same, equal)
    return same


def _flat_loop(context, b, out, operands, element) -> None:
    count = ir.Constant(INDEX, 1)
    for size in out.shape:
        count = b.mul(count, size)
    with cgutils.for_range(b, count, intp=INDEX) as counting:
        index = counting.index
        values = [
            o.read(context, b, None if o.array is None else b.gep(o.array.data, [index]))
            for o in operands
        ]
        result, kind = element(b, lambda: index, values)
        result = context.cast(b, result, kind, out.kind.dtype)
        store_item(context, b, out.kind, result, b.gep(out.array.data, [index]))


def _nested_loop(context, b, out, operands, element) -> None:
    strides = [_strides(b, o) for o in operands]
    own_strides = _strides(b, out)
    with cgutils.loop_nest(b, out.shape, INDEX) as indices:

        def number():
            n = ir.Constant(INDEX, 0)
            for index, size in zip(indices, out.shape, strict=True):
                n = b.add(b.mul(n, size), index)
            return n

        values = [
            o.read(context, b, None if o.array is None else o.place(context, b, indices, s))
            for o, s in zip(operands, strides, strict=True)
        ]
        result, kind = element(b, number, values)
        result = context.cast(b, result, kind, out.kind.dtype)
        store_item(context, b, out.kind, result, out.place(context, b, indices, own_strides))


def _strides(b, operand: Operand) -> list:
    """Bytes between neighbours along each axis, none along those of size one."""
    if operand.array is None:
        return []
    one, nothing = ir.Constant(INDEX, 1), ir.Constant(INDEX, 0)
    strides = cgutils.unpack_tuple(b, operand.array.strides, operand.kind.ndim)
    return [
        b.select(b.icmp_signed("==", size, one), nothing, stride)
        for size, stride in zip(operand.shape, strides, strict=True)
    ]
