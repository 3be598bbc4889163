"""Boundaries where numbers enter and leave a lifted kernel, its functions and its chunks."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from sciprec.precision.operations import arrays, complex_numbers, keys, stores
from sciprec.precision.operations.evaluation import Evaluation
from sciprec.precision.operations.number_types import (
    has_float,
    identity,
    is_complex,
    is_float,
    is_inexact,
    passing,
)
from sciprec.precision.rounding.fixed_rounding import SATURATED, add_marks, marks_slot, word_at
from sciprec.precision.rounding.words import I64, View

RoundNumber = Callable[..., Any]
"""(builder, type, value, key) -> the number in a format."""


def enter(ops: Evaluation, rounded: RoundNumber | None = None):
    """Numbers from outside (arguments, array elements) into the format; everything else as it
    is.

    Args:
        rounded: gives a number in the format; left out, in that of the storage.
    """

    def resolve(typingctx, key, x):
        complex_numbers.refuse(ops, "", [x])
        kind = types.unliteral(x)
        if not has_float(kind):
            return identity(x, key)

        def codegen(context, b, signature, args):
            word, (value,) = keys.split(key, args)
            entered = _entered(ops, context, b, kind, value, word, rounded)
            return impl_ret_borrowed(context, b, signature.return_type, entered)

        return _entered_type(ops, kind)(*keys.join(key, [x])), codegen

    return ops.intrinsic(1, resolve)


def taken(ops: Evaluation):
    """taken(container, x): what is read out of an array is rounded as by `enter`; numbers of the
    kernel's own, in tuples and lists, stay as they are.
    """

    def resolve(typingctx, key, container, x):
        kind = types.unliteral(x)
        if not has_float(kind) or not _is_stored(types.unliteral(container)):
            return identity(x, key, before=[container])

        def codegen(context, b, signature, args):
            word, (_, value) = keys.split(key, args)
            entered = _entered(ops, context, b, kind, value, word)
            return impl_ret_borrowed(context, b, signature.return_type, entered)

        return _entered_type(ops, kind)(*keys.join(key, [container, x])), codegen

    return ops.intrinsic(2, resolve)


def item(ops: Evaluation):
    """item(container, index): the same, of a container that is made where it is read."""

    def resolve(typingctx, key, container, index):
        position = getattr(index, "literal_value", None)
        if isinstance(container, types.BaseTuple) and isinstance(position, int):
            kind = container[position]

            def read(context, b, values):
                return cgutils.unpack_tuple(b, values[0])[position]

        else:
            kinds = container, types.unliteral(index)
            kind, read = passing(typingctx, operator.getitem, kinds)

        stored = has_float(kind) and _is_stored(container)

        def codegen(context, b, signature, args):
            word, values = keys.split(key, args)
            value = read(context, b, values)
            if stored:
                value = _entered(ops, context, b, kind, value, word)
            return impl_ret_borrowed(context, b, signature.return_type, value)

        result = _entered_type(ops, kind) if stored else kind
        return result(*keys.join(key, [container, index])), codegen

    return ops.intrinsic(2, resolve)


def _is_stored(kind) -> bool:
    """Whether the numbers of a container, or of what is iterated over, are in the storage format:
    those of arrays and of named tuples (which are given) are, the kernel's own are not.
    """
    if isinstance(kind, (types.ZipType, types.EnumerateType)):
        sources = getattr(kind, "source_types", None) or (kind.source_type,)
        stored = {_is_stored(s) for s in sources if has_float(_yielded(s))}
        if len(stored) > 1:
            raise TypingError(
                "zip of an array and a tuple of numbers is given, in roles of several formats; it "
                "takes arrays, or tuples: loop over the places, and read by index"
            )
        return stored == {True}
    kernel_kinds = (
        types.BaseTuple, types.List, types.ListType, types.ListIter, types.Set, types.UniTupleIter,
    )  # fmt: skip
    return isinstance(kind, types.BaseNamedTuple) or not isinstance(kind, kernel_kinds)


def _yielded(kind):
    return getattr(kind, "yield_type", None) or getattr(kind, "dtype", types.none)


def _entered_type(ops: Evaluation, kind):
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        return types.Tuple([_entered_type(ops, k) for k in kind])
    return complex_numbers.held_as(ops, kind)


def _entered(ops: Evaluation, context, b, kind, value, key, rounded: RoundNumber | None = None):

    def of_storage(b, kind, value, key):
        return ops.rounded(b, kind, value, ops.storage, key, 0)

    rounded = rounded or of_storage
    if is_float(kind):
        return rounded(b, kind, value, key)
    if is_complex(kind):
        return complex_numbers.each_part(
            ops, context, b, kind, value, key, lambda *part: rounded(b, *part)
        )
    if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
        items = cgutils.unpack_tuple(b, value)
        entered = [
            _entered(ops, context, b, k, item, key, rounded)
            for k, item in zip(kind, items, strict=True)
        ]
        return context.make_tuple(b, _entered_type(ops, kind), entered)
    return value


def returned(ops: Evaluation):
    """Results of the entry: numbers and arrays that the kernel passes on without an operation
    are rounded here (arrays into new ones); arrays that can hold no other number are left.
    """

    def resolve(typingctx, key, x):
        complex_numbers.refuse(ops, "", [x])
        kind = types.unliteral(x)

        def codegen(context, b, signature, args):
            word, (value,) = keys.split(key, args)
            return _let_out(ops, context, b, kind, value, word)

        return _let_out_type(ops, kind)(*keys.join(key, [x])), codegen

    return ops.intrinsic(1, resolve)


def _holds_more(ops: Evaluation, kind) -> bool:
    """Whether an array of this type may hold numbers that are not in the storage format."""
    if not isinstance(kind, types.Array) or not is_inexact(kind.dtype):
        return False
    storage = ops.backend.storage.format
    narrow = kind.dtype in (types.float32, types.complex64)
    return not (storage.is_binary64 or narrow and storage.is_binary32)


def _let_out_type(ops: Evaluation, kind):
    if isinstance(kind, types.BaseNamedTuple):
        items = [_let_out_type(ops, k) for k in kind]
        return types.NamedTuple(items, kind.instance_class)
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_let_out_type(ops, k) for k in kind])
    if _holds_more(ops, kind):
        return arrays.mapped(ops.careful, kind, None)[0].return_type
    return _entered_type(ops, kind)


def _let_out(ops: Evaluation, context, b, kind, value, key):
    if isinstance(kind, types.BaseTuple):
        items = cgutils.unpack_tuple(b, value)
        out = [_let_out(ops, context, b, k, x, key) for k, x in zip(kind, items, strict=True)]
        return context.make_tuple(b, _let_out_type(ops, kind), out)
    if _holds_more(ops, kind):
        key_type = None if key is None else ops.key_type
        signature, codegen = arrays.mapped(ops.careful, kind, key_type)
        return codegen(context, b, signature, [value] if key is None else [key, value])
    entered = _entered(ops, context, b, kind, value, key)
    return impl_ret_borrowed(context, b, _entered_type(ops, kind), entered)


def trusted(ops: Evaluation):
    """Array elements that the caller guarantees to be in the format, in the carrier."""

    def resolve(typingctx, key, x):
        kind = types.unliteral(x)
        noted = ops.storage.observes
        entered = _entered_type(ops, kind)
        if not is_inexact(kind) or kind == entered and not noted:
            return identity(x, key)

        def codegen(context, b, signature, args):
            value = context.cast(b, args[-1], kind, entered)
            return ops.storage.noted(b, value, row=args[0]) if noted else value

        return entered(*keys.join(key, [x])), codegen

    return ops.intrinsic(1, resolve)


def changed(ops: Evaluation):
    """The bits of an array's element that rounding on loading changes."""

    def resolve(typingctx, key, x):
        kind = types.unliteral(x)

        def codegen(context, b, signature, args):
            value = args[-1]
            entered = _entered(ops, context, b, kind, value, None)
            if kind != ops.carrier:
                entered, value = (context.cast(b, v, k, types.float64)
                                  for v, k in ((entered, ops.carrier), (value, kind)))  # fmt: skip
            view = View(value.type)
            return b.zext(b.xor(view.to_word(b, entered), view.to_word(b, value)), I64)

        return types.int64(*keys.join(key, [x])), codegen

    return ops.intrinsic(1, resolve)


def viewed(ops: Evaluation, label: str = ""):
    """Operands of comparisons and of data movement: arrays of floats are rounded, the rest is
    as it is.

    Args:
        label: that complex numbers do not have.
    """

    def resolve(typingctx, key, x):
        complex_numbers.refuse(ops, label, [x])
        if isinstance(x, types.Array) and is_inexact(x.dtype):
            return arrays.mapped(ops.careful, x, key)
        return identity(x, key)

    return ops.intrinsic(1, resolve)


def ordered(ops: Evaluation):
    """Operands of <, <=, > and >=: as by `viewed`, but complex ones, without order, are refused."""
    return viewed(ops, "an order")


@intrinsic
def closed(typingctx, x):
    """The result of a function of a program with a table: (x, its marks)."""
    kind = types.unliteral(x)
    pair = types.Tuple([kind, types.int64])

    def codegen(context, b, signature, args):
        value = context.cast(b, args[0], signature.args[0], kind)
        result = context.make_tuple(b, pair, [value, b.load(marks_slot(b))])
        return impl_ret_borrowed(context, b, pair, result)

    return pair(x), codegen


@intrinsic
def opened(typingctx, pair):
    """The value that a call gave; its marks become the caller's."""

    def codegen(context, b, signature, args):
        return impl_ret_borrowed(context, b, pair[0], take_marks(b, args[0]))

    return pair[0](pair), codegen


def take_marks(b, value):
    """The first of (value, marks); the marks become those of the function being compiled."""
    add_marks(b, b.extract_value(value, 1))
    return b.extract_value(value, 0)


@intrinsic
def kept(typingctx, key, pair):
    """The value that a chunk of a parallel loop gave, as a tuple; its marks go into the row at key.
    """

    def codegen(context, b, signature, args):
        marks = b.extract_value(args[1], 1)
        b.atomic_rmw("or", word_at(b, args[0], SATURATED, I64), marks, "monotonic")
        return impl_ret_borrowed(context, b, pair[0], b.extract_value(args[1], 0))

    return pair[0](key, pair), codegen


def filling(ops: Evaluation):
    """The number that np.full fills with, in NumPy's type: binary64 (exactly) for floats."""

    def resolve(typingctx, key, x):
        kind = types.unliteral(x)
        if not is_inexact(kind):
            return identity(x, key)
        dtype = types.complex128 if is_complex(kind) else ops.dtypes[False]

        def codegen(context, b, signature, args):
            return context.cast(b, args[-1], kind, dtype)

        return dtype(*keys.join(key, [x])), codegen

    return ops.intrinsic(1, resolve)


def held(ops: Evaluation):
    """held(x): a number of the carrier or a constant array, out of the compiler's sight.

    Under a directed processor mode the compiler would compute with what it can see, to nearest.
    """

    @intrinsic
    def unseen(typingctx, x):
        kind = types.unliteral(x)

        def codegen(context, b, signature, args):
            zero = ops.zero_word(b)
            if kind == ops.carrier:
                view = View(ops.kind)
                word = b.add(view.to_word(b, args[0]), b.trunc(zero, view.integer))
                return view.to_float(b, word)
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, b, args[0])
                array.data = b.gep(array.data, [zero])
                return impl_ret_borrowed(context, b, kind, array._getvalue())
            return impl_ret_borrowed(context, b, kind, args[0])

        return kind(x), codegen

    return unseen


def constant(ops: Evaluation, text: str):
    """An intrinsic without operands: a number of the carrier, given by its hexadecimal text."""
    value = float.fromhex(text)
    return _without_operands(ops, lambda b: ops.number(b, value))


def literal(ops: Evaluation, text: str):
    """An intrinsic without operands: a number that is rounded to the format, given by its text."""
    value = float.fromhex(text)
    return _without_operands(ops, lambda b: ops.rounded_number(b, value, ops.compute))


def _without_operands(ops: Evaluation, emit: Callable):
    @intrinsic
    def number(typingctx):
        def codegen(context, b, signature, args):
            return emit(b)

        return ops.carrier(), codegen

    return number


BOUNDARIES = {
    made.__name__: made
    for made in (
        *(enter, taken, item, trusted, changed, viewed, ordered, returned),
        *(stores.leave, stores.stored, stores.put),
        *(filling, held),
    )
}
"""Operation -> what makes it for the operations of a backend."""
