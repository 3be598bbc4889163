"""The operations of the backend `dd`, and decisions by pairs."""

from __future__ import annotations

import math
import operator
from functools import lru_cache

from numba.core import types
from numba.extending import intrinsic, overload

from sciprec.instruments.pairs.functions import FUNCTIONS
from sciprec.instruments.pairs.technique import PAIRS, Pairs
from sciprec.instruments.tracing import double_word
from sciprec.instruments.tracing.numbers import BY_PAIRS, CompanionDtype, CompanionNumber
from sciprec.instruments.tracing.operations import COMPARISONS, TracedOperations
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.number_types import call_inlined, is_whole
from sciprec.precision.operations.operation import Operation
from sciprec.precision.rounding.words import I64, V64, call

DTYPE = CompanionDtype(1, paired=True)
"""The `dtype` of arrays of pairs."""
WHOLE = 2.0**53
"""The number of whole numbers of one sign that binary64 holds without a gap."""


class PairOperations(TracedOperations):
    """The operations of binary64 on pairs."""

    def __init__(self) -> None:
        super().__init__(resolve_backend("fp64"), PAIRS, 1)

    def dtype_of(self, narrow: bool) -> types.Type:
        """The type of pairs: there is one."""
        return CompanionNumber(DTYPE)

    def plain_number(self, b, kind, given, value, key):
        """A plain operand of a comparison; integers with all of their bits."""
        if is_whole(kind):
            return self.rounded(b, kind, given, self.compute, key, 0)
        return self.compute.exactly(b, value)

    # ---- operations ----------------------------------------------------------------------------

    def by_toward(self, context, b, row: Operation, values, role, key):
        """A whole number beside x."""
        (x,) = values
        return role.of(b, double_word.toward(b, row.toward, role.pair(b, x)))

    def by_exact(self, context, b, row: Operation, values, role, key):
        """The smaller or the larger one of two operands; of equal high numbers by the low ones."""
        highs = [role.value(b, v) for v in values]
        chosen = self._native(context, b, row.exact, highs, types.float64)
        first = b.icmp_unsigned("==", b.bitcast(chosen, I64), b.bitcast(highs[0], I64))
        sign, lows = ">" if row.largest else "<", [role.beside(b, v) for v in values]
        alike = b.fcmp_ordered("==", *highs)
        apart = b.and_(alike, b.fcmp_ordered("!=", *lows))
        first = b.select(apart, b.fcmp_ordered(sign, *lows), first)
        low = b.select(first, *lows)
        none = b.fcmp_unordered("uno", chosen, chosen)
        return role.made(b, chosen, b.select(none, V64.constant(0.0), low))

    def by_evaluate(self, context, b, row: Operation, values, role, key):
        """An elementary function of pairs."""
        kinds = [types.UniTuple(types.float64, 2)] * len(values) + [types.float64]
        given = [context.make_tuple(b, kinds[0], role.pair(b, v)) for v in values]
        given.append(self._by_plain(context, b, row.name, [role.value(b, v) for v in values]))
        assert row.evaluate is not None
        made = call_inlined(context, b, FUNCTIONS[row.evaluate], tuple(kinds), given)
        high, low = (b.extract_value(made, n) for n in (0, 1))
        return role.of(b, double_word.normalised(b, high, low, high))

    def _left(self, b, role: Pairs, values):
        """The rest of x beside multiples of y, within a few y, and whether it is known: where y has
        no low number, or the quotient is a whole number of binary64.
        """
        (x, x_low), (y, y_low) = (role.pair(b, v) for v in values)
        zero = V64.constant(0.0)
        rest, of_low = b.frem(x, y), b.frem(x_low, y)
        times = call(b, "roundeven", b.fdiv(b.fsub(x, rest), y))
        near = b.fcmp_ordered("<", call(b, "fabs", times), V64.constant(WHOLE))
        plain = b.fcmp_ordered("==", y_low, zero)
        less = double_word.times(b, (b.fneg(times), zero), (y_low, zero))
        less = [b.select(plain, zero, n) for n in less]
        of_low = b.select(plain, of_low, x_low)
        left = double_word.plus(b, (rest, zero), (of_low, zero))
        return double_word.plus(b, left, less), b.or_(plain, near)

    def _modulo(self, b, role: Pairs, values, sign):
        """The rest of x / y that has a sign, that of +1 or -1; NaN where it is not known."""
        rest, known = self._left(b, role, values)
        y = role.pair(b, role.magnitude(b, values[1]))
        nothing = (V64.constant(0.0),) * 2
        rest = [b.fmul(sign, n) for n in rest]
        for _ in range(3):
            more = double_word.plus(b, rest, y)
            below = double_word.compared(b, "<", rest, nothing)
            rest = [b.select(below, m, r) for m, r in zip(more, rest, strict=True)]
        for _ in range(3):
            fewer = double_word.minus(b, rest, y)
            above = double_word.compared(b, ">=", rest, y)
            rest = [b.select(above, f, r) for f, r in zip(fewer, rest, strict=True)]
        high, low = (b.fmul(sign, n) for n in rest)
        high = b.select(b.fcmp_ordered("==", high, nothing[0]),
                        call(b, "copysign", high, sign), high)  # fmt: skip
        return b.select(known, high, V64.constant(math.nan)), b.select(known, low, nothing[0])

    def _remainder(self, context, b, row: Operation, values, role: Pairs, native):
        """The rest of a division; of what is not finite, and beside a zero, that of binary64."""
        one, floors = V64.constant(1.0), row.name != "fmod"
        highs = [role.value(b, v) for v in values]
        sign = call(b, "copysign", one, highs[int(floors)])
        high, low = self._modulo(b, role, values, sign)
        usual = self._usual(b, highs)
        low = b.select(usual, low, V64.constant(0.0))
        return role.made(b, b.select(usual, high, native), low)

    def _usual(self, b, highs):
        """Whether two numbers are finite, and the second one is not zero."""
        x, y = highs
        finite = b.fcmp_ordered("==", b.fsub(x, x), b.fsub(y, y))
        return b.and_(finite, b.fcmp_ordered("!=", y, V64.constant(0.0)))

    def by_fmod(self, context, b, row: Operation, values, role, key):
        """The rest of C's division."""
        native = b.frem(*(role.value(b, v) for v in values))
        return self._remainder(context, b, row, values, role, native)

    def by_mod(self, context, b, row: Operation, values, role, key):
        """The rest of Python's division."""
        highs = [role.value(b, v) for v in values]
        native = self._native(context, b, operator.mod, highs, types.float64)
        return self._remainder(context, b, row, values, role, native)

    def by_floordiv(self, context, b, row: Operation, values, role, key):
        """The quotient of Python's division: (x - x mod y) / y, a whole number."""
        pairs, highs = [role.pair(b, v) for v in values], [role.value(b, v) for v in values]
        sign = call(b, "copysign", V64.constant(1.0), highs[1])
        rest = self._modulo(b, role, values, sign)
        quotient = double_word.over(b, double_word.minus(b, pairs[0], rest), pairs[1])
        quotient = double_word.toward(b, "roundeven", quotient)
        native = self._native(context, b, row.whole, highs, types.float64)
        usual, zero = self._usual(b, highs), V64.constant(0.0)
        high = b.select(b.fcmp_ordered("==", quotient[0], zero), native, quotient[0])
        high = b.select(b.fcmp_ordered("==", high, zero), high, quotient[0])
        return role.made(b, b.select(usual, high, native), b.select(usual, quotient[1], zero))


pair_operations = lru_cache(maxsize=1)(PairOperations)
"""The (shared) operations on pairs."""


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
    def one(x):
        if _is_pair(x):
            return lambda x: rounded(x)
        return None


for _function, _by in zip(BY_PAIRS, ("trunc", "floor", "ceil", "trunc"), strict=True):
    _to_whole(_function, _by)
