"""Techniques that round a tested value as ever, and keep something beside it: the base of `Parts`,
its error in parts, of `Twin`, the exact value, and of `Enclosure`, an interval for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir
from numba.core import cgutils, types

from sciprec.instruments.tracing import double_word, rows, slopes
from sciprec.instruments.tracing.numbers import (
    beside_type,
    number_type,
    types_of,
    with_companion,
)
from sciprec.precision.elementary.residuals import BITS, MOST_BITS, RESIDUALS
from sciprec.precision.operations.number_types import call_inlined, is_narrow
from sciprec.precision.operations.operation import Operation
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.sticky import two_sum
from sciprec.precision.rounding.words import F32, F64, I64, ONE, V64, ZERO, call

if TYPE_CHECKING:
    from sciprec.precision.operations.intrinsics import Operations

SEEN_BITS = 30
"""The most bits of a format in which an elementary function's value in binary64, which is right to
2^-49, shows its own rounding; in others its residual does."""
UNSEEN = 2.0**-900
"""Below this size residuals, whose terms underflow, are noise."""
BITS_OF_VALUES = 52
"""Of most values of elementary functions in binary64, without a residual."""


class Companion(Native):
    """A technique with a companion beside every value; the base of those here.

    Args:
        base: the technique that rounds tested values, in the processor's normal mode.
        lanes: how many binary64 numbers are beside a value.
        plain: the operations of tested values in a program without companions; where they take
            operands in a format of their own, so do these.

    Attributes:
        marks: of `CompanionDtype`, those of its numbers.
    """

    placed, counts_passes = True, False
    marks: tuple[str, ...] = ()
    words: int
    """Words of a row before its mask, see `rows`."""

    def __init__(self, base: Native, lanes: int, plain: Operations):
        super().__init__(base.arithmetic, F64, F64, None)
        self.base, self.lanes, self.plain = base, lanes, plain
        self.takes = self.own = plain.compute.takes
        self.wide = base.wide
        self.kind = number_type(lanes)
        self.beside_kind = beside_type(lanes)

    @property
    def dtypes(self) -> tuple[types.Type, ...]:
        """The types of numbers that stand for binary64 and binary32 numbers."""
        return types_of(self.lanes, self.marks)

    # ---- numbers -------------------------------------------------------------------------------

    def of_kind(self, b, ops: Operations, kind, value, key, salt: int):
        """A number with a companion in the format: it is in it already, unless its type says that
        it is raw, or roles or operations differ in format.
        """
        if not (kind.of.raw or ops.backend.mixed or self.own):
            return value
        return self.again(b, value, **ops.draw(b, self, key, salt))

    def left(self, b, ops: Operations, kind, value, key, dtype, narrow):
        """A number that is stored into an array, narrowed where that is narrower."""
        if ops.backend.mixed:
            value = ops.rounded(b, kind, value, self, key, 0)
        else:
            value = ops._operand(b, kind, value, key, 0)
        if dtype is not None and is_narrow(dtype) and not is_narrow(ops.carrier):
            tested = self.value(b, value)
            fewer = b.fptrunc(tested, F32) if narrow is None else None
            rounded = b.fpext(fewer, F64) if fewer else narrow.from_binary64(b, tested)
            value = self.rerounded(b, value, rounded, key)
        return self.settled(b, value)

    def plain_number(self, b, ops: Operations, kind, operand, value, key):
        """A plain operand of a comparison, its value in binary64."""
        return self.exactly(b, value)

    def value(self, b, x):
        """The tested value of a number, in binary64."""
        return b.extract_value(x, 0)

    def beside(self, b, x):
        """The value beside the tested one."""
        return b.extract_value(x, 1)

    def with_value(self, b, x, value):
        """Put the companion beside another value."""
        return b.insert_value(x, value, 0)

    def joined(self, b, value, beside):
        """A number of a value and its companion."""
        return with_companion(b, value, beside)

    def lane(self, b, x, number: int):
        """One of the numbers beside a value."""
        beside = self.beside(b, x)
        return beside if self.lanes == 1 else b.extract_element(beside, ir.Constant(I64, number))

    def settled(self, b, x):
        """Return the number, no zero beside it negative: these mark what was never stored."""
        nothing = ir.Constant(self.beside_kind, 0.0 if self.lanes == 1 else [0.0] * self.lanes)
        return self.joined(b, self.value(b, x), b.fadd(self.beside(b, x), nothing))

    def spread(self, b, value):
        """A value in every lane."""
        if self.lanes == 1:
            return value
        vector = ir.Constant(ir.VectorType(F64, 1), ir.Undefined)
        vector = b.insert_element(vector, value, ir.Constant(I64, 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return b.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), places)

    def fused(self, b, x, y, z):
        """x y + z in every lane."""
        if self.lanes == 1:
            return call(b, "fma", x, y, z)
        kind = self.beside_kind
        function = cgutils.get_or_insert_function(
            b.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.v{self.lanes}f64"
        )
        return b.call(function, [x, y, z])

    def _tested(self, b, operation: str, *values):
        """An operation of the base technique on tested values; the result in binary64."""
        carried = [b.fptrunc(v, F32) if self.base.carrier == F32 else v for v in values]
        return self._widened(b, getattr(self.base, operation)(b, *carried))

    def _widened(self, b, value):
        return b.fpext(value, F64) if value.type == F32 else value

    # ---- operations ----------------------------------------------------------------------------

    def add(self, b, x, y, row):
        """x + y, rounded once; so are the operations below."""
        values = self.value(b, x), self.value(b, y)
        return self._sum(b, x, y, self._tested(b, "add", *values), row, +1)

    def sub(self, b, x, y, row):
        """x - y."""
        values = self.value(b, x), self.value(b, y)
        return self._sum(b, x, y, self._tested(b, "sub", *values), row, -1)

    def from_binary32(self, b, x, row):
        """Any binary32 number, rounded once."""
        return self.from_binary64(b, b.fpext(x, F64), row)

    def from_binary64(self, b, x, row):
        """Any binary64 number, rounded once."""
        return self.entered(b, x, self._widened(b, self.base.from_binary64(b, x)), None, row)

    def from_integer(self, b, i, signed: bool, row):
        """Any 64-bit integer, rounded once."""
        rounded = self._widened(b, self.base.from_integer(b, i, signed))
        near, residual = double_word.of_integer(b, i, signed)
        return self.entered(b, near, rounded, residual, row)

    def rounded(self, b, x, row):
        """A number of another format of the backend, rounded once."""
        value = self.value(b, x)
        return self.rerounded(b, x, self._widened(b, self.base.from_binary64(b, value)), row)

    taken = again = rounded

    def negated(self, b, x, row=None):
        """-x."""
        return self.joined(b, b.fneg(self.value(b, x)), b.fneg(self.beside(b, x)))

    def decides_otherwise(self, b, exact, first, sign: float):
        """Whether exact values choose the other one of two operands as the larger one, or where the
        sign is -1 the smaller one.

        Args:
            exact: the difference of the exact values.
            first: whether the tested run chose the first.
        """
        favour = b.fmul(exact, ir.Constant(F64, sign))
        return b.select(first, b.fcmp_ordered("<", favour, ZERO), b.fcmp_ordered(">", favour, ZERO))

    def remainder(self, b, values, remainder, missing, q, of_dividend: bool, row):
        """x - q y, an integer q times.

        Args:
            remainder, missing: x - q y of tested values, as a sum.
            of_dividend: whether the remainder has the sign of x, else that of y.
        """
        return self.joined(b, remainder, self.difference(b, *values, q))

    # ---- operations that are no methods of all techniques --------------------------------------

    def _plainly(self, context, b, name: str, tested):
        """An operation on tested values as in a program without companions; in binary64."""
        narrow = [b.fptrunc(v, F32) if self.plain.kind == F32 else v for v in tested]
        result = self.plain._emitted(name, self.plain.compute)(context, b, narrow, None)
        return self._widened(b, result)

    def by_toward(self, context, b, row: Operation, values, ops, key):
        """A whole number beside x."""
        (x,), function = values, row.toward
        value = call(b, function, self.value(b, x))
        chosen = self.stepped(b, lambda v: call(b, function, v), x, value, key)
        return self.from_binary64(b, chosen, key)

    def by_sign(self, context, b, row: Operation, values, ops, key):
        """-1 or 1; of a zero or NaN its tested value."""
        (x,) = values
        value = self.signed(b, x, key)
        signed = call(b, "copysign", ONE, value)
        moved = b.select(b.fcmp_ordered("!=", value, ZERO), signed, value)
        return self.exactly(b, moved)

    def by_copysign(self, context, b, row: Operation, values, ops, key):
        """|x| with the sign of y."""
        x, y = values
        size, sign = self.magnitude(b, x), self.signed(b, y, key, of_zero=True)
        negative = b.icmp_signed("<", b.bitcast(sign, I64), ir.Constant(I64, 0))
        return b.select(negative, self.negated(b, size), size)

    def by_exact(self, context, b, row: Operation, values, ops, key):
        """The smaller or the larger one of two operands."""
        tested = [self.value(b, v) for v in values]
        chosen = ops._native(context, b, row.exact, tested, types.float64)
        first = b.icmp_unsigned("==", b.bitcast(chosen, I64), b.bitcast(tested[0], I64))
        less = b.fcmp_ordered("<", *tested)
        self.compared(b, "<", *values, less, key)
        sign = 1.0 if row.largest else -1.0
        return self.with_value(b, self.chosen(b, *values, first, sign), chosen)

    def by_mod(self, context, b, row: Operation, values, ops, key):
        """x - q y with the integer q of the tested run, rounded once; so is `by_fmod`."""
        x, y = (self.value(b, v) for v in values)
        exact = b.frem(x, y)
        is_mod = row.name == "mod"
        if is_mod:
            other = b.xor(b.fcmp_ordered("<", exact, ZERO), b.fcmp_ordered("<", y, ZERO))
            other = b.and_(other, b.fcmp_ordered("!=", exact, ZERO))
        rounded = self._plainly(context, b, row.name, (x, y))
        remainder, missing = (
            two_sum(b, exact, b.select(other, y, ZERO)) if is_mod else (exact, ZERO)
        )
        q = call(b, "roundeven", b.fdiv(b.fsub(x, remainder), y))
        chosen = self.times(b, values, q, key, is_mod)
        result = self.remainder(b, values, remainder, missing, chosen, not is_mod, key)
        other = b.fsub(remainder, b.fmul(b.fsub(chosen, q), y))
        alike = b.fcmp_unordered("==", chosen, q)
        result = self.with_value(b, result, b.select(alike, self.value(b, result), other))
        return self.rerounded(b, result, b.select(alike, rounded, other), key, values)

    by_fmod = by_mod

    def by_floordiv(self, context, b, row: Operation, values, ops, key):
        """The quotient of the tested run."""
        tested = [self.value(b, v) for v in values]
        quotient = ops._native(context, b, row.whole, tested, types.float64)
        chosen = self.divided(b, values, quotient, key)
        return self.from_binary64(b, chosen, key)

    def by_evaluate(self, context, b, row: Operation, values, ops, key):
        """Evaluated as ever and rounded once; errors of operands go through it along secants."""
        tested = [self.value(b, v) for v in values]
        rounded = self._plainly(context, b, row.name, tested)
        function = _Function(context, b, row, self.format.significand_bits, key)
        near = function.value(*tested) if function.is_seen else rounded
        result = self.of_function(b, values, tested, near, function)
        residual = function.rest(tested, near)
        return self.rerounded(b, result, rounded, key, values, residual)

    # ---- notes, of those that make some --------------------------------------------------------

    def compared(self, b, sign: str, x, y, tested, row):
        """Decide a comparison: as the tested values do."""
        return tested

    def stepped(self, b, function, x, tested, row):
        """The value of a function that is constant between steps: that of the tested value."""
        return tested

    def signed(self, b, x, row, of_zero: bool = False):
        """The value whose sign is taken, where `of_zero` of a zero, too: the tested one."""
        return self.value(b, x)

    def classified(self, b, x, row) -> None:
        """The tested value was asked whether it is finite, infinite or NaN."""

    def divided(self, b, values, q, row):
        """The integer that a quotient of two numbers is rounded down to: q, that of tested ones."""
        return q

    def times(self, b, values, q, row, floors: bool):
        """The times that a remainder takes y from x, where `floors` as a division that rounds down
        has it, else one towards zero: q times, as of tested values.
        """
        return q

    def passed(self, b, index, row, outermost: bool) -> None:
        """A loop begins a pass."""

    def ended(self, b, row) -> None:
        """An outermost loop has ended."""


def row_bytes(technique: type[Companion], lanes: int) -> int:
    """The size of an operation's row: words, and a mask of one number a lane."""
    return 8 * (technique.words + lanes)


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
        """The value of the function."""
        return self.called(self.evaluate, *operands)

    def rest(self, operands, value):
        """The error of a value in binary64 of the function; nothing that matters in narrow
        formats, nor where the value is so small that its residual may be no number of binary64.
        """
        if self.residual is None:
            return None
        residual, b = self.called(self.residual, *operands, value), self.b
        tiny = b.fcmp_ordered("<", call(b, "fabs", value), V64.constant(UNSEEN))
        return b.select(tiny, ZERO, residual)

    def missed(self, value):
        """The possible error of a value and its rest, of a random sign."""
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
