"""Arrays of nested lists and tuples of numbers with companions: np.array([x, 0.5]).

Numba's own asks NumPy for the dtype of an element.
"""

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.core.imputils import impl_ret_new_ref
from numba.extending import intrinsic, overload
from numba.np.arrayobj import (
    _empty_nd_impl,
    assign_sequence_to_array,
    check_sequence_shape,
    compute_sequence_shape,
)

from sciprec.instruments.tracing.numbers import CompanionNumber


def _leaves(kind) -> list[types.Type]:
    """The types of what is in nested lists and tuples."""
    if isinstance(kind, types.Sequence):
        return _leaves(kind.dtype)
    if isinstance(kind, types.BaseTuple):
        return [leaf for item in kind for leaf in _leaves(types.unliteral(item))]
    return [kind]


def _axes(kind) -> int:
    """The number of axes, along the first element of each."""
    if isinstance(kind, types.Sequence):
        return 1 + _axes(kind.dtype)
    return 1 + _axes(kind[0]) if isinstance(kind, types.BaseTuple) else 0


@intrinsic
def array_of(typingctx, items):
    """The array of nested lists or tuples of numbers."""
    result = types.Array(typingctx.unify_types(*_leaves(items)), _axes(items), "C")

    def codegen(context, b, signature, args):
        kind, value = signature.args[0], args[0]
        shape = compute_sequence_shape(context, b, result.ndim, kind, value)
        check_sequence_shape(context, b, kind, value, shape)
        array = _empty_nd_impl(context, b, result, shape)
        assign_sequence_to_array(context, b, array.data, shape, array.strides, result, kind, value)
        return impl_ret_new_ref(context, b, result, array._getvalue())

    return result(items), codegen


@overload(np.array)
def _array(object, dtype=None):
    leaves = _leaves(types.unliteral(object))
    numbers = [k for k in leaves if isinstance(k, CompanionNumber)]
    if not numbers:
        return None
    if dtype is None or isinstance(dtype, (types.NoneType, types.Omitted)):
        return lambda object, dtype=None: array_of(object)
    element = getattr(dtype, "dtype", None)
    are_narrow = len(numbers) == len(leaves) and all(k.narrow for k in numbers)
    if isinstance(element, CompanionNumber) and (are_narrow or not element.narrow):
        return lambda object, dtype=None: array_of(object).astype(dtype)
    return None
