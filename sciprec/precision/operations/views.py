"""Views of arrays with two axes exchanged. Numba's own np.swapaxes compiles a general permutation
of axes with its messages, for more than two seconds.
"""

from __future__ import annotations

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


@intrinsic(prefer_literal=True)
def swapped(typingctx, a, first, second):
    """np.swapaxes(a, first, second) with axes that are literal integers."""
    if not isinstance(a, types.Array):
        raise TypingError(f"np.swapaxes takes an array, not {a}")
    axes = [_axis(a, axis) for axis in (first, second)]
    result = a.copy(layout="A")

    def codegen(context, builder, signature, args):
        source = make_array(a)(context, builder, args[0])
        view = make_array(result)(context, builder)
        populate_array(
            view,
            data=source.data,
            shape=_exchanged(builder, source.shape, axes),
            strides=_exchanged(builder, source.strides, axes),
            itemsize=source.itemsize,
            meminfo=source.meminfo,
            parent=source.parent,
        )
        return impl_ret_borrowed(context, builder, result, view._getvalue())

    return result(a, first, second), codegen


def _axis(a: types.Array, axis) -> int:
    if not isinstance(axis, types.IntegerLiteral) or not -a.ndim <= axis.literal_value < a.ndim:
        raise TypingError(f"Invalid axis of np.swapaxes: {axis} of an array with {a.ndim} axes")
    return axis.literal_value % a.ndim


def _exchanged(builder, packed, axes: list[int]):
    """A tuple of sizes or strides with two of them exchanged."""
    values = cgutils.unpack_tuple(builder, packed)
    i, j = axes
    values[i], values[j] = values[j], values[i]
    return cgutils.pack_array(builder, values)
