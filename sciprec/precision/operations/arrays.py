"""Operations on whole arrays: the scalar operation on each element, with NumPy's broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed, impl_ret_new_ref

from sciprec.precision.operations import complex_numbers, keys
from sciprec.precision.operations.array_loops import INDEX, Operand, like, loop, require_broadcast
from sciprec.precision.operations.number_types import forward, is_complex, is_narrow
from sciprec.precision.operations.placing import Rounded


def result_dtype(ops, kinds, pairs: bool):
    """The dtype of a new array: NumPy's for these arrays, where it holds the backend's numbers;
    `pairs` says that these are complex.
    """
    narrow = all(is_narrow(k.dtype) for k in kinds) and is_narrow(ops.carrier)
    if pairs:
        return types.complex64 if narrow else types.complex128
    return ops.dtypes[narrow]


def elementwise(ops, op, kinds, key, gives: str):
    """op(x, ...) with at least one array among the operands: a new array, in NumPy's dtype for
    them; `gives` is "complex" or "real".
    """
    if gives == "polar":
        raise TypingError("cmath.polar of an array is given; it takes a number: write the loop")
    array_kinds = [k for k in kinds if isinstance(k, types.Array)]
    dtype = result_dtype(ops, array_kinds, gives == "complex")
    result = types.Array(dtype, max(k.ndim for k in array_kinds), "C")
    return new_array(result, kinds, key, _operating(ops, op, kinds))


def compared(ops, comparison, kinds, key):
    """comparison(x, y) with at least one array among the operands: a new array of truths."""
    result = types.Array(types.boolean, max(getattr(k, "ndim", 0) for k in kinds), "C")
    return new_array(result, kinds, key, _operating(ops, comparison, kinds))


def mapped(ops, kind, key):
    """A new array of the elements, each rounded."""
    result = types.Array(result_dtype(ops, [kind], is_complex(kind.dtype)), kind.ndim, "C")
    return new_array(result, [kind], key, _operating(ops, None, [kind]))


def stored(ops, target, kind, key):
    """Decide how an array is stored when it is assigned to (part of) the array `target`."""
    carrier = complex_numbers.carrier_of(ops) if is_complex(kind.dtype) else ops.carrier
    placed = isinstance(target, types.Array)
    result = (Rounded if placed else types.Array)(carrier, kind.ndim, "C")
    put = _putting(ops, target)

    def codegen(context, b, signature, args):
        word, (array, value) = keys.split(key, args)

        def element(inner, n, values):
            element_key = _own_key(ops, context, inner, word, n)
            return put(context, inner, element_key, array, kind.dtype, values[0])

        return _filled(context, b, result, [kind], [value], element)

    return result(*keys.join(key, [target, kind])), codegen


def in_place(ops, op, target, kind, key):
    """target op= operand, written into target."""
    if getattr(kind, "ndim", 0) > target.ndim:
        raise TypingError(f"an array of {kind.ndim} axes does not fit into one of {target.ndim}")
    if not target.mutable:
        raise TypingError(f"Cannot modify readonly array of type: {target}")
    operate, put = _operating(ops, op, [target, kind]), _putting(ops, target)

    def codegen(context, b, signature, args):
        word, (array, value) = keys.split(key, args)
        out = Operand.of(context, b, target, array)
        operand = Operand.of(context, b, kind, value)
        require_broadcast(context, b, out.shape, [operand])

        def element(inner, n, values):
            changed, result_kind = operate(context, inner, word, n, values)
            element_key = _own_key(ops, context, inner, word, n)
            return put(context, inner, element_key, array, result_kind, changed)

        loop(context, b, out, [out, operand], element)
        return impl_ret_borrowed(context, b, target, array)

    return target(*keys.join(key, [target, kind])), codegen


def new_array(result, kinds, key, operate):
    """A signature and its instructions: a new array of what `operate` makes of the operands."""

    def codegen(context, b, signature, args):
        word, values = keys.split(key, args)

        def element(inner, n, elements):
            return operate(context, inner, word, n, elements)

        return _filled(context, b, result, kinds, values, element)

    return result(*keys.join(key, kinds)), codegen


def _filled(context, b, result, kinds, values, element):
    """A new array of what element(builder, n, elements) gives for those of the operands."""
    operands = [Operand.of(context, b, k, v) for k, v in zip(kinds, values, strict=True)]
    out = like(context, b, result, operands)
    loop(context, b, out, operands, element)
    return impl_ret_new_ref(context, b, result, out.array._getvalue())


# ---- elements ----------------------------------------------------------------------------------


def _called(context, b, function, kinds, values):
    """The value and type of an operation of the backend on numbers of these types."""
    typing = context.typing_context
    function_type = _type_of(context, function)
    resolved = function_type.get_call_type(typing, tuple(kinds), {})
    result = resolved.return_type
    return forward(function_type, resolved)(context, b, result(*kinds), values), result


def _type_of(context, function) -> types.Type:
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
    elements of arrays, and on numbers of the kernel's own beside them; None rounds alone.
    """
    as_they_are = [ops.backend.mixed and not isinstance(k, types.Array) for k in kinds]

    def operate(context, b, key, n, elements):
        element_key = _own_key(ops, context, b, key, n)
        operands = zip(elements, [getattr(k, "dtype", k) for k in kinds], as_they_are, strict=True)
        return _applied(ops, op, context, b, element_key, operands)

    return operate


def _applied(ops, op, context, b, key, elements):
    """An operation on elements (value, type, whether it is taken as it is): a value and its type.
    Where roles differ in format the result is rounded to that of the storage, since no load may do
    it.
    """
    operands, entered = [], []
    for part, (x, kind, as_it_is) in enumerate(elements):
        row = 0 if op is None else 1 + part
        if not as_it_is:
            x, kind = _with_key(ops, context, b, ops.enter, key, row, [kind], [x])
        operands.append(x)
        entered.append(kind)
    if op is None:
        return operands[0], entered[0]
    result, kind = _with_key(ops, context, b, op, key, 0, entered, operands)
    if not ops.backend.mixed:
        return result, kind
    if ops.backend.random:
        one = ir.Constant(INDEX, 1)
        key = _called(context, b, keys.descend, [keys.KEY, types.int64], [key, one])[0]
    return _with_key(ops, context, b, ops.enter, key, 0, [kind], [result])


def _putting(ops, target) -> Callable:
    """put(context, b, key, array, kind, x) -> (value, type): what is stored of a number, which
    whoever observes it sees once.
    """

    def put(context, b, key, array, kind, x):
        if not ops.storage.observes:
            x, kind = _with_key(ops, context, b, ops.enter, key, 0, [kind], [x])
        return _with_key(ops, context, b, ops.leave, key, 0, [target, kind], [array, x])

    return put


def _own_key(ops, context, b, key, n):
    """The key of the n-th element, where elements draw random bits."""
    if not ops.backend.random or ops.variant.row_bytes:
        return key
    return _called(context, b, keys.descend, [keys.KEY, types.int64], [key, n()])[0]


def _with_key(ops, context, b, function, key, row: int, kinds, values):
    """A call of an operation that takes a key, and the number of a row, where the backend has them.
    """
    if ops.variant.row_bytes:
        kinds, values = [types.int64, *kinds], [ir.Constant(INDEX, row), *values]
    if ops.key_type is not None:
        kinds, values = [ops.key_type, *kinds], [key, *values]
    return _called(context, b, function, kinds, values)


# ---- expressions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Node:
    """An operation on whole arrays as a part of an expression, in a backend without keys.

    Attributes:
        ops, op: the backend's operations, and which of them; `ops.leave` is what is stored.
        kinds: the types of its operands; the first of `leave` is that of the array stored into.
        operands: numbers of leaves, which are arrays or numbers, or nodes; those of `leave` are
            what is stored alone.
    """

    ops: object
    op: object
    kinds: tuple
    operands: tuple

    @property
    def size(self) -> int:
        """The number of operations of the tree."""
        return 1 + sum(o.size for o in self.operands if isinstance(o, Node))

    def renumbered(self, numbers: list[int]) -> Node:
        """The node with other numbers of the leaves."""
        operands = [
            o.renumbered(numbers) if isinstance(o, Node) else numbers[o] for o in self.operands
        ]
        return replace(self, operands=tuple(operands))

    def evaluated(self, context, b, leaves):
        """The value and type of an element, from those of the leaves. What a node makes is in the
        format already.
        """
        stores = self.op is self.ops.leave
        operands = []
        for kind, operand in zip(self.kinds[stores:], self.operands, strict=True):
            if isinstance(operand, Node):
                operands.append((*operand.evaluated(context, b, leaves), True))
            else:
                as_it_is = self.ops.backend.mixed and not isinstance(kind, types.Array)
                operands.append((leaves[operand], getattr(kind, "dtype", kind), as_it_is))
        if not stores:
            return _applied(self.ops, self.op, context, b, None, operands)
        (x, kind, _), target = operands[0], self.kinds[0]
        array = ir.Constant(context.get_value_type(target), ir.Undefined)
        return _with_key(self.ops, context, b, self.ops.leave, None, 0, [target, kind], [array, x])


def expression(context, b, node: Node, result, kinds, values):
    """A new array of the type `result`: the elements of a node whose leaves have these types and
    values.
    """

    def element(inner, n, elements):
        return node.evaluated(context, inner, elements)

    return _filled(context, b, result, kinds, values, element)
