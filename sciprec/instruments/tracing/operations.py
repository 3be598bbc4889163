"""The operations of a backend on numbers with a companion."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError

from sciprec.instruments.assigning.operations import in_format
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.enclosure import Enclosure
from sciprec.instruments.tracing.numbers import CompanionDtype, CompanionNumber, require_unwatched
from sciprec.instruments.tracing.parts import Parts, PartsByStep, PartsOfWider
from sciprec.instruments.tracing.technique import SEEN_BITS, Companion, row_bytes
from sciprec.instruments.tracing.twin import Twin
from sciprec.precision.elementary import slopes
from sciprec.precision.elementary.residuals import BITS, MOST_BITS, RESIDUALS
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.operations import arrays, boundaries, keys
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.operations.number_types import (
    call_inlined,
    identity,
    is_float,
    is_narrow,
    is_numeric_array,
    is_whole,
)
from sciprec.precision.operations.operation import Operation
from sciprec.precision.rounding.sticky import two_sum
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.variant import Variant
from sciprec.precision.rounding.words import F32, F64, I64, V64, call

TECHNIQUES: dict[str, type[Companion]] = {
    "parts": Parts, "by step": PartsByStep, "wider": PartsOfWider, "twin": Twin,
    "enclosure": Enclosure,
}  # fmt: skip
UNSEEN = 2.0**-900
"""Below this size residuals, whose terms underflow, are noise."""
BITS_OF_VALUES = 52
"""Of most values of elementary functions in binary64, without a residual."""
COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
PASS, OUTERMOST_PASS, END = "pass_of_loop", "pass_of_outermost_loop", "end_of_outermost_loop"
DECISIONS = (*COMPARISONS, "to_integer", "classified")
"""Operations that follow the tested run, and round nothing."""
LOOP_BEGINS, PASS_BEGINS, LOOP_ENDS = "loop_begins", "pass_begins", "loop_ends"
LOOPS = (PASS, OUTERMOST_PASS, END, LOOP_BEGINS, PASS_BEGINS, LOOP_ENDS)
"""Places in loops, which round nothing either."""


class TracedOperations(Operations):
    """The operations of a backend whose numbers have companions.

    Args:
        backend: the arithmetic of tested values.
        technique: which companion, of `TECHNIQUES`.
        lanes: how many binary64 numbers are beside a value.
        own: the arithmetic of operations, which take operands in any other; left out, the backend's
            of numbers that are in the format already.
    """

    def __init__(
        self, backend: Backend, technique: str, lanes: int, own: Arithmetic | None = None
    ) -> None:
        self.technique, self.lanes, self.own = TECHNIQUES[technique], lanes, own
        self.plain = in_format(own) if own else Operations(backend, 0)
        super().__init__(backend, 0, Variant(technique, row_bytes(self.technique, lanes)), own=OWN)
        self.carrier = self.dtype_of(self.kind == F32)
        if own:
            self.storage = self.technique(rounder(backend.storage, F64, 0), lanes)

    def _rounder(self, arithmetic: Arithmetic, others: tuple = ()) -> Companion:
        made = self.technique(rounder(self.own or arithmetic, self.kind, 0, others), self.lanes)
        made.takes = self.own is not None
        return made

    def dtype_of(self, narrow: bool) -> types.Type:
        """The type of an array's elements that stand for binary32 or binary64 numbers."""
        kinds = self.technique is Twin, self.technique is Enclosure
        return CompanionNumber(CompanionDtype(self.lanes, narrow, *kinds))

    # ---- numbers that enter --------------------------------------------------------------------

    def rounded(self, b, kind, value, role: Companion, key, salt: int):
        """A number of any real type in the role's format; one with a companion is in it already,
        unless its type says that it is raw, or roles or operations differ in format.
        """
        if isinstance(kind, CompanionNumber):
            if not (kind.of.raw or self.backend.mixed or self.own):
                return value
            return role.rounded(b, value, **self.draw(b, role, key, salt))
        return super().rounded(b, kind, value, role, key, salt)

    def _operand(self, b, kind, value, key, salt: int, role=None):
        """An operand; in binary64 where its operation takes it in a format, but what is stored."""
        if self.own is None or salt == 0 or kind == self.carrier:
            return super()._operand(b, kind, value, key, salt, role)
        return self.rounded(b, kind, value, self.storage, key, 0)

    emit_of_sum = Operations.emit_in_role

    def literal(self, text: str):
        """literal(): a number of the source, rounded where it stands."""
        value = float.fromhex(text)

        def resolve(typingctx, key, nothing):
            def codegen(context, b, signature, args):
                held = ir.Constant(F64, value)
                return self.compute.from_binary64(b, held, **self.draw(b, self.compute, args[0]))

            return self.carrier(key, nothing), codegen

        return self.intrinsic(1, resolve)

    def as_it_is(self, b, kind, value, key):
        """A number as it is, in whichever role's format: those of arrays are in the storage's, and
        sums in their own. Plain ones and raw ones are rounded as ever.
        """
        if isinstance(kind, CompanionNumber) and not kind.of.raw:
            return value
        return self.rounded(b, kind, value, self.storage, key, 0)

    def left(self, b, kind, value, key, dtype, narrow):
        """What is stored into an array, narrowed where that is narrower."""
        role, draw = self.storage, self.draw(b, self.storage, key)
        if self.backend.mixed:
            value = self.rounded(b, kind, value, role, key, 0)
        else:
            value = self._operand(b, kind, value, key, 0)
        if dtype is not None and is_narrow(dtype) and not is_narrow(self.carrier):
            tested = role.value(b, value)
            fewer = b.fptrunc(tested, F32) if narrow is None else None
            rounded = b.fpext(fewer, F64) if fewer else narrow.from_binary64(b, tested)
            value = role.rerounded(b, value, rounded, draw["row"])
        return role.settled(b, value)

    # ---- operations ----------------------------------------------------------------------------

    def _reround(self, b, role: Companion, value, key):
        """A number of another format of the backend."""
        return role.rounded(b, value, **self.draw(b, role, key))

    def one(self, b):
        """The number one, without error."""
        return self.compute.exactly(b, V64.constant(1.0))

    def _by_plain(self, context, b, name: str, tested):
        """An operation on tested values as in a program without companions; in binary64."""
        narrow = [b.fptrunc(v, F32) if self.kind == F32 else v for v in tested]
        made = self.plain._emitted(name, self.plain.compute)(context, b, narrow, None)
        return b.fpext(made, F64) if self.kind == F32 else made

    def by_toward(self, context, b, row: Operation, values, role, key):
        """A whole number beside x."""
        (x,), function = values, row.toward
        value = call(b, function, role.value(b, x))
        place = self.draw(b, role, key)["row"]
        chosen = role.stepped(b, lambda v: call(b, function, v), x, value, place)
        return self._stepped(b, role, chosen, key)

    def _stepped(self, b, role, value, key):
        """A function that is constant between steps: it follows the tested run, without error."""
        return role.from_binary64(b, value, **self.draw(b, role, key))

    def by_sign(self, context, b, row: Operation, values, role, key):
        """-1 or 1; of a zero or NaN its tested value."""
        (x,) = values
        value, one = role.signed(b, x, self.draw(b, role, key)["row"]), V64.constant(1.0)
        signed = call(b, "copysign", one, value)
        moved = b.select(b.fcmp_ordered("!=", value, V64.constant(0.0)), signed, value)
        return role.exactly(b, moved)

    def by_copysign(self, context, b, row: Operation, values, role, key):
        """|x| with the sign of y."""
        (x, y), place, role = values, self.draw(b, role, key)["row"], self.compute
        size, sign = role.magnitude(b, x), role.signed(b, y, place, of_zero=True)
        negative = b.icmp_signed("<", b.bitcast(sign, I64), ir.Constant(I64, 0))
        return b.select(negative, role.negated(b, size), size)

    def by_exact(self, context, b, row: Operation, values, role, key):
        """The smaller or the larger one of two operands."""
        tested = [role.value(b, v) for v in values]
        chosen = self._native(context, b, row.exact, tested, types.float64)
        first = b.icmp_unsigned("==", b.bitcast(chosen, I64), b.bitcast(tested[0], I64))
        less = b.fcmp_ordered("<", *tested)
        role.compared(b, "<", *values, less, self.draw(b, role, key)["row"])
        sign = 1.0 if row.largest else -1.0
        return role.with_value(b, role.chosen(b, *values, first, sign), chosen)

    def by_mod(self, context, b, row: Operation, values, role, key):
        """x - q y with the integer q of the tested run, rounded once; so is `by_fmod`."""
        x, y = (role.value(b, v) for v in values)
        exact, zero, place = b.frem(x, y), V64.constant(0.0), self.draw(b, role, key)["row"]
        is_mod = row.name == "mod"
        if is_mod:
            other = b.xor(b.fcmp_ordered("<", exact, zero), b.fcmp_ordered("<", y, zero))
            other = b.and_(other, b.fcmp_ordered("!=", exact, zero))
        rounded = self._by_plain(context, b, row.name, (x, y))
        rest, missing = two_sum(b, exact, b.select(other, y, zero)) if is_mod else (exact, zero)
        q = call(b, "roundeven", b.fdiv(b.fsub(x, rest), y))
        chosen = role.times(b, values, q, place, is_mod)
        made = role.remainder(b, values, rest, missing, chosen, not is_mod, place)
        other = b.fsub(rest, b.fmul(b.fsub(chosen, q), y))
        alike = b.fcmp_unordered("==", chosen, q)
        made = role.with_value(b, made, b.select(alike, role.value(b, made), other))
        return role.rerounded(b, made, b.select(alike, rounded, other), place, values)

    by_fmod = by_mod

    def by_floordiv(self, context, b, row: Operation, values, role, key):
        """The quotient of the tested run."""
        tested = [role.value(b, v) for v in values]
        quotient = self._native(context, b, row.whole, tested, types.float64)
        chosen = role.divided(b, values, quotient, self.draw(b, role, key)["row"])
        return self._stepped(b, role, chosen, key)

    def by_evaluate(self, context, b, row: Operation, values, role, key):
        """Evaluated as ever and rounded once; errors of operands go through it along secants."""
        tested = [role.value(b, v) for v in values]
        rounded = self._by_plain(context, b, row.name, tested)
        place = self.draw(b, role, key)["row"]
        function = _Function(context, b, row, role.format.significand_bits, place)
        near = function.value(*tested) if function.is_seen else rounded
        made = role.of_function(b, values, tested, near, function)
        rest = function.rest(tested, near)
        return role.rerounded(b, made, rounded, place, values, rest)

    # ---- decisions -----------------------------------------------------------------------------

    def _comparison(self, name: str):
        """A comparison of tested values; of other things Numba's own."""
        native, sign = getattr(operator, name), COMPARISONS[name]

        def resolve(typingctx, key, x, y):
            kinds = [types.unliteral(k) for k in (x, y)]
            if any(is_numeric_array(k) for k in kinds) and any(
                is_float(getattr(k, "dtype", k)) for k in kinds
            ):
                return arrays.compared(self, made, kinds, key)
            if not any(is_float(k) for k in kinds):
                return self._pass_to(typingctx, native, (x, y), key)
            if not all(is_float(k) or is_whole(k) for k in kinds):
                raise TypingError(f"a comparison of {x} and {y} is given; it takes numbers")

            def codegen(context, b, signature, args):
                tested = [
                    b.extract_value(v, 0) if isinstance(k, CompanionNumber)
                    else context.cast(b, v, k, types.float64)
                    for k, v in zip(kinds, args[1:], strict=True)
                ]  # fmt: skip
                compared = b.fcmp_unordered if name == "ne" else b.fcmp_ordered
                made, numbers = compared(sign, *tested), []
                for kind, given, value in zip(kinds, args[1:], tested, strict=True):
                    with_one = isinstance(kind, CompanionNumber)
                    plain = None if with_one else self.plain_number(b, kind, given, value, args[0])
                    numbers.append(plain or given)
                return self.compute.compared(b, sign, *numbers, made, args[0])

            return types.boolean(*keys.join(key, kinds)), codegen

        made = self.intrinsic(2, resolve)
        return made

    def plain_number(self, b, kind, given, value, key):
        """A plain operand of a comparison, its value in binary64."""
        return self.compute.exactly(b, value)

    def to_integer(self, function: str):
        """to_integer(x): x, which is about to become an integer by a function of LLVM's."""

        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            if not isinstance(kind, CompanionNumber):
                return identity(x, key)

            def codegen(context, b, signature, args):
                role, value = self.compute, self.compute.value(b, args[1])
                made = call(b, function, value)
                chosen = role.stepped(b, lambda v: call(b, function, v), args[1], made, args[0])
                alike = b.fcmp_unordered("==", chosen, made)
                return role.with_value(b, args[1], b.select(alike, value, chosen))

            return kind(key, kind), codegen

        return self.intrinsic(1, resolve)

    def _classified(self):
        """classified(x): x, which is about to be asked whether it is finite, infinite or NaN."""

        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            if isinstance(getattr(kind, "dtype", None), CompanionNumber):
                require_unwatched(kind.dtype, "a question for NaN or infinity of an array")
            if not isinstance(kind, CompanionNumber):
                return identity(x, key)

            def codegen(context, b, signature, args):
                self.compute.classified(b, args[1], args[0])
                return args[1]

            return kind(key, kind), codegen

        return self.intrinsic(1, resolve)

    def _loop(self, name: str):
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
                    self.compute.ended(b, args[0])
                else:
                    self.compute.passed(b, args[1], args[0], name == OUTERMOST_PASS)
                return ir.Constant(I64, 0)

            return types.int64(key, types.int64), codegen

        return self.intrinsic(1, resolve)


OWN: dict[str, Callable] = {
    **{name: lambda ops, name=name: ops._comparison(name) for name in COMPARISONS},
    **{name: lambda ops, name=name: ops._loop(name) for name in LOOPS},
    "classified": TracedOperations._classified,
    "trusted": lambda ops: boundaries.enter(ops, ops.as_it_is),
}
"""Operation -> what makes it."""


def sees(row: Operation, bits: int) -> bool:
    """Whether an elementary function's own rounding to a format of so many bits is seen."""
    return bits <= SEEN_BITS or row.evaluate in RESIDUALS


class _Function:
    """An elementary function and its slopes, on binary64 numbers where code is emitted.

    Args:
        bits: of the format that its values are rounded to.
        place: the address of the operation's row.
    """

    def __init__(self, context, b, row: Operation, bits: int, place):
        self.context, self.b, self.evaluate, self.place = context, b, row.evaluate, place
        self.residual = RESIDUALS.get(row.evaluate) if bits > SEEN_BITS else None
        self.is_seen = sees(row, bits)
        self.derivatives = slopes.DERIVATIVES.get(row.evaluate, (None,) * row.arity)

    def called(self, function, *values):
        """A jitted function of binary64 numbers."""
        kinds = (types.float64,) * len(values)
        return call_inlined(self.context, self.b, function, kinds, values)

    def value(self, *operands):
        """Its value."""
        return self.called(self.evaluate, *operands)

    def rest(self, operands, value):
        """By how much a value in binary64 misses the function; nothing that matters in narrow
        formats, nor where the value is so small that its residual may be no number of binary64.
        """
        if self.residual is None:
            return None
        found, b = self.called(self.residual, *operands, value), self.b
        tiny = b.fcmp_ordered("<", call(b, "fabs", value), V64.constant(UNSEEN))
        return b.select(tiny, V64.constant(0.0), found)

    def missed(self, value):
        """By how much a value and its rest may miss the function, of a random sign."""
        b, size = self.b, call(self.b, "fabs", value)
        bits, floor = BITS.get(self.evaluate, (MOST_BITS, 0.0))
        least = V64.constant(floor)
        larger = b.select(b.fcmp_ordered("<", size, least), least, size)
        shares = [V64.constant(2.0**-n) for n in (BITS_OF_VALUES, bits)]
        share = shares[int(not self.is_seen)]  # what is not seen counts as exact
        if self.residual is not None:
            share = b.select(b.fcmp_ordered("<", size, V64.constant(UNSEEN)), *shares)
        return b.fmul(rows.random_share(b, self.place), b.fmul(share, larger))

    def slope(self, x, error, near):
        """The slope between x and x - error, where it is `near` at x."""
        return self.called(slopes.secant(self.evaluate, self.derivatives[0]), x, error, near)

    def slope_along(self, first: bool, x, error, other):
        """The slope along the first operand or the second, the other one fixed."""
        derivative = self.derivatives[0 if first else 1]
        secant = slopes.secant_along(self.evaluate, derivative, first)
        return self.called(secant, x, error, other)


traced_operations = lru_cache(maxsize=64)(TracedOperations)
"""The (shared) operations of a backend on numbers with a companion."""
