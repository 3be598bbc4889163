"""Arrays that are stored into parts of others, `a[1:] = x`.

Numba's own assignment is compiled for the better part of two seconds, nearly all of them for the
text of an error.
"""

from __future__ import annotations

import operator

from numba.core import types
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing.arraydecl import get_array_index_type
from numba.np.arrayobj import setitem_array

from sciprec.precision.operations.array_loops import Operand, loop, require_broadcast


class Rounded(types.Array):
    """A new array of what is about to be stored: nothing else names it, so it shares no memory."""

    def __init__(self, dtype, ndim: int, layout: str):
        name = f"rounded({dtype}, {ndim}d, {layout})"
        super().__init__(dtype, ndim, layout, name=name)


register_default(Rounded)(models.ArrayModel)


@lower_builtin(operator.setitem, types.Buffer, types.Any, Rounded)
def _placed(context, b, signature, args):
    """array[index] = rounded, broadcast into the part; elements at other places, and one number,
    are left to Numba.
    """
    array, index, rounded = signature.args
    indexing = get_array_index_type(array, index)
    part = indexing.result
    if indexing.advanced or not isinstance(part, types.Array) or part.ndim < rounded.ndim:
        plain = types.Array(rounded.dtype, rounded.ndim, rounded.layout)
        return setitem_array(context, b, types.none(array, index, plain), args)
    place = args[1]
    if not isinstance(index, types.BaseTuple):
        index = types.Tuple([index])
        place = context.make_tuple(b, index, [place])
    viewed = context.get_function(operator.getitem, part(array, index))
    view = viewed(b, [args[0], place])
    out, source = Operand.of(context, b, part, view), Operand.of(context, b, rounded, args[2])
    require_broadcast(context, b, out.shape, [source])
    loop(context, b, out, [source], lambda inner, n, elements: (elements[0], rounded.dtype))
    context.nrt.decref(b, part, view)
    return None
