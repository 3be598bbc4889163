"""The operations of a backend on numbers with a companion."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache, partial

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from sciprec.instruments.assigning.operations import in_format
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.enclosure import Enclosure
from sciprec.instruments.tracing.numbers import CompanionNumber, require_unwatched
from sciprec.instruments.tracing.parts import Parts, PartsByStep, PartsOfWider
from sciprec.instruments.tracing.technique import Companion, row_bytes
from sciprec.instruments.tracing.twin import Twin
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.operations import arrays, boundaries, keys
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.operations.number_types import (
    identity,
    is_float,
    is_numeric_array,
    is_whole,
)
from sciprec.precision.rounding.variant import RowVariant
from sciprec.precision.rounding.words import F64, I64, call

TECHNIQUES: dict[str, type[Companion]] = {
    "parts": Parts, "by step": PartsByStep, "wider": PartsOfWider, "twin": Twin,
    "enclosure": Enclosure,
}  # fmt: skip
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
PASS, OUTERMOST_PASS, END = "pass_of_loop", "pass_of_outermost_loop", "end_of_outermost_loop"
DECISIONS = (*COMPARISONS, "to_integer", "classified")
"""Operations that follow the tested run, and round nothing."""
LOOP_BEGINS, PASS_BEGINS, LOOP_ENDS = "loop_begins", "pass_begins", "loop_ends"
LOOPS = (PASS, OUTERMOST_PASS, END, LOOP_BEGINS, PASS_BEGINS, LOOP_ENDS)
"""Places in loops, which round nothing either."""


def _literal(ops: Operations, text: str):
    """literal(): a number of the source, rounded where it stands."""
    value = float.fromhex(text)

    def resolve(typingctx, key, nothing):
        def codegen(context, b, signature, args):
            return ops.compute.from_binary64(b, ir.Constant(F64, value), row=args[0])

        return ops.carrier(key, nothing), codegen

    return ops.intrinsic(1, resolve)


def _as_it_is(ops: Operations, b, kind, value, key):
    """A number as it is, in whichever role's format: those of arrays are in the storage's, and
    sums in their own. Plain ones and raw ones are rounded as ever.
    """
    if isinstance(kind, CompanionNumber) and not kind.of.raw:
        return value
    return ops.rounded(b, kind, value, ops.storage, key, 0)


def _comparison(ops: Operations, name: str):
    """A comparison of tested values; of other things Numba's own."""
    native, sign = getattr(operator, name), COMPARISONS[name]

    def resolve(typingctx, key, x, y):
        kinds = [types.unliteral(k) for k in (x, y)]
        if any(is_numeric_array(k) for k in kinds) and any(
            is_float(getattr(k, "dtype", k)) for k in kinds
        ):
            return arrays.compared(ops, comparison, kinds, key)
        if not any(is_float(k) for k in kinds):
            return ops._pass_to(typingctx, native, (x, y), key)
        if not all(is_float(k) or is_whole(k) for k in kinds):
            raise TypingError(f"a comparison of {x} and {y} is given; it takes numbers")

        def codegen(context, b, signature, args):
            tested = [
                b.extract_value(v, 0) if isinstance(k, CompanionNumber)
                else context.cast(b, v, k, types.float64)
                for k, v in zip(kinds, args[1:], strict=True)
            ]  # fmt: skip
            compared = b.fcmp_unordered if name == "ne" else b.fcmp_ordered
            decision, numbers = compared(sign, *tested), []
            for kind, operand, value in zip(kinds, args[1:], tested, strict=True):
                if not isinstance(kind, CompanionNumber):
                    operand = ops.compute.plain_number(b, ops, kind, operand, value, args[0])
                numbers.append(operand)
            return ops.compute.compared(b, sign, *numbers, decision, args[0])

        return types.boolean(*keys.join(key, kinds)), codegen

    comparison = ops.intrinsic(2, resolve)
    return comparison


def _to_integer(ops: Operations, function: str):
    """to_integer(x): x, which is about to become an integer by a function of LLVM's."""

    def resolve(typingctx, key, x):
        kind = types.unliteral(x)
        if not isinstance(kind, CompanionNumber):
            return identity(x, key)

        def codegen(context, b, signature, args):
            role, value = ops.compute, ops.compute.value(b, args[1])
            rounded = call(b, function, value)
            chosen = role.stepped(b, lambda v: call(b, function, v), args[1], rounded, args[0])
            alike = b.fcmp_unordered("==", chosen, rounded)
            return role.with_value(b, args[1], b.select(alike, value, chosen))

        return kind(key, kind), codegen

    return ops.intrinsic(1, resolve)


def _classified(ops: Operations):
    """classified(x): x, which is about to be asked whether it is finite, infinite or NaN."""

    def resolve(typingctx, key, x):
        kind = types.unliteral(x)
        if isinstance(getattr(kind, "dtype", None), CompanionNumber):
            require_unwatched(kind.dtype, "a question for NaN or infinity of an array")
        if not isinstance(kind, CompanionNumber):
            return identity(x, key)

        def codegen(context, b, signature, args):
            ops.compute.classified(b, args[1], args[0])
            return args[1]

        return kind(key, kind), codegen

    return ops.intrinsic(1, resolve)


def _loop(ops: Operations, name: str):
    """pass_of_loop(index): a loop begins a pass; end_of_outermost_loop(0): it has ended;
    loop_begins(length): whether its passes are counted, which the others are given.
    """

    def resolve(typingctx, key, index):
        def codegen(context, b, signature, args):
            if name == LOOP_BEGINS:
                return rows.loop_begins(b, *args)
            if name == PASS_BEGINS:
                rows.pass_begins(b, *args)
            elif name == LOOP_ENDS:
                rows.loop_ends(b, *args)
            elif name == END:
                ops.compute.ended(b, args[0])
            else:
                ops.compute.passed(b, args[1], args[0], name == OUTERMOST_PASS)
            return ir.Constant(I64, 0)

        return types.int64(key, types.int64), codegen

    return ops.intrinsic(1, resolve)


OWN: dict[str, Callable] = {
    **{name: partial(_comparison, name=name) for name in COMPARISONS},
    **{name: partial(_loop, name=name) for name in LOOPS},
    "classified": _classified, "to_integer": lambda ops: partial(_to_integer, ops),
    "literal": lambda ops: partial(_literal, ops),
    "trusted": lambda ops: boundaries.enter(ops, partial(_as_it_is, ops)),
}  # fmt: skip
"""Operation -> what makes it."""


@lru_cache(maxsize=64)
def traced_operations(
    backend: Backend, technique: str, lanes: int, arithmetic: Arithmetic | None = None
) -> Operations:
    """The (shared) operations of a backend on numbers with a companion.

    Args:
        backend: the arithmetic of tested values.
        technique: which companion, of `TECHNIQUES`.
        lanes: how many binary64 numbers are beside a value.
        arithmetic: that of operations, which take operands in any other; left out, the backend's
            of numbers that are in the format already.
    """
    plain, companion = (
        in_format(arithmetic) if arithmetic else Operations(backend, 0),
        TECHNIQUES[technique],
    )
    inside = plain.compute, plain.accumulate_role, plain.matmul_role
    bases = [role.base for role in inside] if arithmetic else inside
    roles = [companion(base, lanes, plain) for base in (plain.storage, *bases)]
    roles[0].takes, roles[0].one_row = False, arithmetic is not None
    return Operations(backend, 0, RowVariant(technique, row_bytes(companion, lanes)), roles, OWN)
