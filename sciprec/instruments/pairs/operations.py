"""The operations of the backend `dd`, and decisions by pairs."""

from __future__ import annotations

import operator

from numba.core import types
from numba.extending import intrinsic, overload

from sciprec.instruments.pairs.technique import DTYPE, PAIRS
from sciprec.instruments.tracing import double_word
from sciprec.instruments.tracing.numbers import BY_PAIRS, CompanionNumber
from sciprec.instruments.tracing.operations import COMPARISONS, traced_operations
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.intrinsics import Operations


def pair_operations() -> Operations:
    """The (shared) operations on pairs."""
    return traced_operations(resolve_backend("fp64"), PAIRS, 1)


# ---- decisions that Numba makes -----------------------------------------------------------------


def _is_pair(kind) -> bool:
    return isinstance(kind, CompanionNumber) and kind.of.paired


def _comparing(function, sign: str) -> None:
    """Let a comparison that is no operation of a kernel, as in a sort, look at both numbers."""

    @intrinsic
    def compared(typingctx, x, y):
        kinds = [types.unliteral(k) for k in (x, y)]

        def codegen(context, b, signature, args):
            numbers = [context.cast(b, v, k, CompanionNumber(DTYPE))
                       for v, k in zip(args, signature.args, strict=True)]  # fmt: skip
            pairs = [(b.extract_value(n, 0), b.extract_value(n, 1)) for n in numbers]
            return double_word.compared(b, sign, *pairs)

        return types.boolean(*kinds), codegen

    @overload(function)
    def two(x, y):
        plain = types.Integer, types.Boolean, types.Float
        if any(map(_is_pair, (x, y))) and all(_is_pair(k) or isinstance(k, plain) for k in (x, y)):
            return lambda x, y: compared(x, y)
        return None


for _name, _sign in COMPARISONS.items():
    _comparing(getattr(operator, _name), _sign)


def _to_whole(function, by: str) -> None:
    """Let a function that makes an integer round both numbers."""

    @intrinsic
    def rounded(typingctx, x):
        def codegen(context, b, signature, args):
            pair = b.extract_value(args[0], 0), b.extract_value(args[0], 1)
            return double_word.to_integer(b, pair, by)

        return types.int64(types.unliteral(x)), codegen

    @overload(function)
    def of_pair(x):
        if _is_pair(x):
            return lambda x: rounded(x)
        return None


for _function, _by in zip(BY_PAIRS, ("trunc", "floor", "ceil", "trunc"), strict=True):
    _to_whole(_function, _by)
