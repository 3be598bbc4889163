"""Numbers that are pairs of binary64 numbers, 106 bits, as a technique of operations."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

from numba.core import types

from sciprec.instruments.pairs.functions import FUNCTIONS
from sciprec.instruments.tracing import double_word
from sciprec.instruments.tracing.numbers import CompanionDtype, CompanionNumber
from sciprec.instruments.tracing.operations import TECHNIQUES
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.operations.number_types import call_inlined, is_whole
from sciprec.precision.operations.operation import Operation
from sciprec.precision.rounding.native import by_method
from sciprec.precision.rounding.words import I64, ONE, V64, ZERO, call

if TYPE_CHECKING:
    from sciprec.precision.operations.intrinsics import Operations

PAIRS = "pairs"
DTYPE = CompanionDtype(1, paired=True)
"""The `dtype` of arrays of pairs."""
WHOLE = 2.0**53
"""The number of whole numbers of one sign that binary64 holds without a gap."""


@by_method("of_pairs", add="plus", sub="minus", mul="times", div="over", sqrt="root")
class Pairs(Companion):
    """A number as a normalised pair: the value is its high number, the low one beside it.

    Rows are neither read nor written: they are a place to add marks at, as long as others.
    """

    words = 7

    @property
    def dtypes(self) -> tuple[CompanionNumber, ...]:
        """The type of pairs: there is one."""
        return (CompanionNumber(DTYPE),) * 2

    def plain_number(self, b, ops: Operations, kind, operand, value, key):
        """A plain operand of a comparison; integers with all of their bits."""
        if is_whole(kind):
            return ops.rounded(b, kind, operand, self, key, 0)
        return self.exactly(b, value)

    def pair(self, b, x):
        """A number's high and low numbers."""
        return self.value(b, x), self.beside(b, x)

    def of(self, b, pair):
        """The number of a normalised pair."""
        return self.joined(b, *pair)

    def exactly(self, b, value):
        """A binary64 number."""
        return self.joined(b, value, ZERO)

    def settled(self, b, x):
        """Return the number."""
        return x

    def entered(self, b, x, rounded, residual, row):
        """A plain number x + residual."""
        if residual is None:
            return self.exactly(b, x)
        return self.of(b, double_word.normalised(b, x, residual))

    def rerounded(self, b, x, rounded, row, operands=None, residual=None):
        """A number that was rounded to fewer bits."""
        return self.exactly(b, rounded)

    def rounded(self, b, x, row):
        """Return the number: there is one format."""
        return x

    again = rounded

    def of_pairs(self, b, function: str, *operands, row):
        """An operation, by a function of `double_word`."""
        return self.of(b, getattr(double_word, function)(b, *(self.pair(b, x) for x in operands)))

    def fma(self, b, x, y, z, row):
        """x y + z: a product and a sum."""
        return self.add(b, self.mul(b, x, y, row=row), z, row=row)

    def magnitude(self, b, x, row=None):
        """|x|."""
        high, low = self.pair(b, x)
        negative = b.fcmp_ordered("<", high, ZERO)
        return self.joined(b, call(b, "fabs", high), b.select(negative, b.fneg(low), low))

    def compared(self, b, sign: str, x, y, tested, row):
        """The decision of a comparison: that of both numbers of the two."""
        return double_word.compared(b, sign, self.pair(b, x), self.pair(b, y))

    # ---- operations that are no methods of all techniques --------------------------------------

    def by_toward(self, context, b, row: Operation, values, ops, key):
        """A whole number beside x."""
        (x,) = values
        return self.of(b, double_word.toward(b, row.toward, self.pair(b, x)))

    def by_exact(self, context, b, row: Operation, values, ops, key):
        """The smaller or the larger one of two operands; of equal high numbers by the low ones."""
        highs = [self.value(b, v) for v in values]
        chosen = ops._native(context, b, row.exact, highs, types.float64)
        first = b.icmp_unsigned("==", b.bitcast(chosen, I64), b.bitcast(highs[0], I64))
        sign, lows = ">" if row.largest else "<", [self.beside(b, v) for v in values]
        alike = b.fcmp_ordered("==", *highs)
        apart = b.and_(alike, b.fcmp_ordered("!=", *lows))
        first = b.select(apart, b.fcmp_ordered(sign, *lows), first)
        low = b.select(first, *lows)
        none = b.fcmp_unordered("uno", chosen, chosen)
        return self.joined(b, chosen, b.select(none, ZERO, low))

    def by_evaluate(self, context, b, row: Operation, values, ops, key):
        """An elementary function of pairs."""
        kinds = [types.UniTuple(types.float64, 2)] * len(values) + [types.float64]
        args = [context.make_tuple(b, kinds[0], self.pair(b, v)) for v in values]
        args.append(self._plainly(context, b, row.name, [self.value(b, v) for v in values]))
        assert row.evaluate is not None
        result = call_inlined(context, b, FUNCTIONS[row.evaluate], tuple(kinds), args)
        high, low = (b.extract_value(result, n) for n in (0, 1))
        return self.of(b, double_word.normalised(b, high, low, high))

    def _left(self, b, values):
        """The remainder of x beside multiples of y, within a few y, and whether it is known: where
        y has no low number, or the quotient is a whole number of binary64.
        """
        (x, x_low), (y, y_low) = (self.pair(b, v) for v in values)
        remainder, of_low = b.frem(x, y), b.frem(x_low, y)
        times = call(b, "roundeven", b.fdiv(b.fsub(x, remainder), y))
        near = b.fcmp_ordered("<", call(b, "fabs", times), V64.constant(WHOLE))
        plain = b.fcmp_ordered("==", y_low, ZERO)
        less = double_word.times(b, (b.fneg(times), ZERO), (y_low, ZERO))
        less = [b.select(plain, ZERO, n) for n in less]
        of_low = b.select(plain, of_low, x_low)
        total = double_word.plus(b, (remainder, ZERO), (of_low, ZERO))
        return double_word.plus(b, total, less), b.or_(plain, near)

    def _modulo(self, b, values, sign):
        """The remainder of x / y that has a sign, that of +1 or -1; NaN where it is not known."""
        remainder, is_known = self._left(b, values)
        y = self.pair(b, self.magnitude(b, values[1]))
        nothing = (ZERO,) * 2
        remainder = [b.fmul(sign, n) for n in remainder]
        for _ in range(3):
            more = double_word.plus(b, remainder, y)
            below = double_word.compared(b, "<", remainder, nothing)
            remainder = [b.select(below, m, r) for m, r in zip(more, remainder, strict=True)]
        for _ in range(3):
            fewer = double_word.minus(b, remainder, y)
            above = double_word.compared(b, ">=", remainder, y)
            remainder = [b.select(above, f, r) for f, r in zip(fewer, remainder, strict=True)]
        high, low = (b.fmul(sign, n) for n in remainder)
        high = b.select(b.fcmp_ordered("==", high, nothing[0]),
                        call(b, "copysign", high, sign), high)  # fmt: skip
        return b.select(is_known, high, V64.constant(math.nan)), b.select(is_known, low, nothing[0])

    def _remainder(self, b, row: Operation, values, native):
        """The rest of a division; of what is not finite, and beside a zero, that of binary64."""
        floors = row.name != "fmod"
        highs = [self.value(b, v) for v in values]
        sign = call(b, "copysign", ONE, highs[int(floors)])
        high, low = self._modulo(b, values, sign)
        usual = self._usual(b, highs)
        low = b.select(usual, low, ZERO)
        return self.joined(b, b.select(usual, high, native), low)

    def _usual(self, b, highs):
        """Whether two numbers are finite, and the second one is not zero."""
        x, y = highs
        finite = b.fcmp_ordered("==", b.fsub(x, x), b.fsub(y, y))
        return b.and_(finite, b.fcmp_ordered("!=", y, ZERO))

    def by_fmod(self, context, b, row: Operation, values, ops, key):
        """The rest of C's division."""
        native = b.frem(*(self.value(b, v) for v in values))
        return self._remainder(b, row, values, native)

    def by_mod(self, context, b, row: Operation, values, ops, key):
        """The rest of Python's division."""
        highs = [self.value(b, v) for v in values]
        native = ops._native(context, b, operator.mod, highs, types.float64)
        return self._remainder(b, row, values, native)

    def by_floordiv(self, context, b, row: Operation, values, ops, key):
        """The quotient of Python's division: (x - x mod y) / y, a whole number."""
        pairs, highs = [self.pair(b, v) for v in values], [self.value(b, v) for v in values]
        sign = call(b, "copysign", ONE, highs[1])
        remainder = self._modulo(b, values, sign)
        quotient = double_word.over(b, double_word.minus(b, pairs[0], remainder), pairs[1])
        quotient = double_word.toward(b, "roundeven", quotient)
        native = ops._native(context, b, row.whole, highs, types.float64)
        usual = self._usual(b, highs)
        high = b.select(b.fcmp_ordered("==", quotient[0], ZERO), native, quotient[0])
        high = b.select(b.fcmp_ordered("==", high, ZERO), high, quotient[0])
        return self.joined(b, b.select(usual, high, native), b.select(usual, quotient[1], ZERO))


TECHNIQUES[PAIRS] = Pairs
