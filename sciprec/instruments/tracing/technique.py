"""Techniques that round a tested value as ever, and keep something beside it: the base of `Parts`,
its error in parts, of `Twin`, the exact value, and of `Enclosure`, an interval for that.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils

from sciprec.instruments.tracing.numbers import beside_type, number_type, with_companion
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.words import F32, F64, I64, call

SEEN_BITS = 30
"""The most bits of a format in which an elementary function's value in binary64, which is right to
2^-49, shows its own rounding; in others its residual does."""


class Companion:
    """A technique with a companion beside every value; the base of those here.

    Args:
        base: the technique that rounds tested values, in the processor's normal mode.
        lanes: how many binary64 numbers are beside a value.
    """

    placed, observes, in_units, takes, mode, ask = True, False, False, False, None, None
    one_row = counts_passes = False
    counts = ""
    words: int
    """Words of a row before its mask, see `rows`."""

    def __init__(self, base: Native, lanes: int):
        self.base, self.lanes = base, lanes
        self.arithmetic, self.format, self.rule = base.arithmetic, base.format, base.rule
        self.wide = base.wide
        self.kind = number_type(lanes)
        self.beside_kind = beside_type(lanes)

    # ---- numbers -------------------------------------------------------------------------------

    def value(self, b, x):
        """The tested value of a number, in binary64."""
        return b.extract_value(x, 0)

    def beside(self, b, x):
        """The value beside the tested one."""
        return b.extract_value(x, 1)

    def with_value(self, b, x, value):
        """The same companion beside another value."""
        return b.insert_value(x, value, 0)

    def made(self, b, value, beside):
        """A number."""
        return with_companion(b, value, beside)

    def lane(self, b, x, number: int):
        """One of the numbers beside a value."""
        beside = self.beside(b, x)
        return beside if self.lanes == 1 else b.extract_element(beside, ir.Constant(I64, number))

    def settled(self, b, x):
        """The same number, no zero beside it negative: these mark what was never stored."""
        nothing = ir.Constant(self.beside_kind, 0.0 if self.lanes == 1 else [0.0] * self.lanes)
        return self.made(b, self.value(b, x), b.fadd(self.beside(b, x), nothing))

    def spread(self, b, value):
        """A value in every lane."""
        if self.lanes == 1:
            return value
        one = ir.Constant(ir.VectorType(F64, 1), ir.Undefined)
        one = b.insert_element(one, value, ir.Constant(I64, 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return b.shuffle_vector(one, ir.Constant(one.type, ir.Undefined), places)

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
        near = (b.sitofp if signed else b.uitofp)(i, F64)
        small = b.icmp_unsigned("<", b.add(i, ir.Constant(I64, 1 << 53)), ir.Constant(I64, 1 << 54))
        back = b.select(small, i, (b.fptosi if signed else b.fptoui)(near, I64))
        rest = b.sitofp(b.sub(i, back), F64)
        return self.entered(b, near, rounded, rest, row)

    def rounded(self, b, x, row):
        """A number of another format of the backend, rounded once."""
        value = self.value(b, x)
        return self.rerounded(b, x, self._widened(b, self.base.from_binary64(b, value)), row)

    taken = rounded

    def negated(self, b, x, row=None):
        """-x."""
        return self.made(b, b.fneg(self.value(b, x)), b.fneg(self.beside(b, x)))

    def decides_otherwise(self, b, exact, first, sign: float):
        """Whether exact values choose the other one of two operands as the larger one, or where the
        sign is -1 the smaller one.

        Args:
            exact: the difference of the exact values.
            first: whether the tested run chose the first.
        """
        favour = b.fmul(exact, ir.Constant(F64, sign))
        zero = ir.Constant(F64, 0.0)
        return b.select(
            first, b.fcmp_ordered("<", favour, zero), b.fcmp_ordered(">", favour, zero)
        )

    def remainder(self, b, values, rest, missing, q, of_dividend: bool, row):
        """x - q y, an integer q times.

        Args:
            rest, missing: x - q y of tested values, as a sum.
            of_dividend: whether the remainder has the sign of x, else that of y.
        """
        return self.made(b, rest, self.difference(b, *values, q))

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
        """How often a remainder takes y away from x, where `floors` as a division that rounds down
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
