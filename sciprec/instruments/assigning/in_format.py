"""The technique of an operation whose format is known when it is compiled."""

from __future__ import annotations

from llvmlite import ir

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.words import F64, V64, call


class InFormat(Native):
    """Takes operands rounded to its format and rounds once, on numbers of binary64.

    Numbers that are known to be in the format are taken as they are: constants, and results of
    operations in a format that this one holds.

    Args:
        arithmetic: of the operation.
    """

    takes = True

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.base = rounder(arithmetic, F64, 0)
        super().__init__(arithmetic, F64, F64, None)

    def taken(self, b, x):
        """An operand in the format."""
        if isinstance(x, ir.Constant) and isinstance(x.constant, float):
            return V64.constant(round_literal(x.constant, self.arithmetic))
        known = getattr(x, "rounded_to", None)
        if known is not None and self.format.holds(known):
            return x
        return self.from_binary64(b, x)

    def _made(self, b, operation: str, *operands):
        taken = [self.taken(b, x) for x in operands]
        return self._marked(getattr(self.base, operation)(b, *taken))

    def _marked(self, value):
        value.rounded_to = self.format
        return value

    def negated(self, b, x):
        """-x."""
        return _like(x, b.fneg(x))

    def magnitude(self, b, x):
        """|x|."""
        return _like(x, call(b, "fabs", x))

    def add(self, b, x, y):
        """x + y, rounded once; so are the operations below."""
        return self._made(b, "add", x, y)

    def sub(self, b, x, y):
        """x - y."""
        return self._made(b, "sub", x, y)

    def accumulate(self, b, total, term):
        """A sum that goes on."""
        return self._made(b, "add", total, term)

    def mul(self, b, x, y):
        """x y."""
        return self._made(b, "mul", x, y)

    def times(self, b, x, factor: float):
        """x times a power of two."""
        return self._made(b, "mul", x, V64.constant(factor))

    def div(self, b, x, y):
        """x / y."""
        return self._made(b, "div", x, y)

    def sqrt(self, b, x):
        """The square root of x."""
        return self._made(b, "sqrt", x)

    def fma(self, b, x, y, z):
        """x y + z."""
        return self._made(b, "fma", x, y, z)

    def from_binary64(self, b, x):
        """Any binary64 number."""
        return self._marked(self.base.from_binary64(b, x))

    def sum_of_binary64(self, b, x, y):
        """x + y of binary64 numbers, one of them in the format."""
        return self._marked(self.base.sum_of_binary64(b, x, y))

    def from_integer(self, b, i, signed: bool):
        """Any 64-bit integer."""
        return self._marked(self.base.from_integer(b, i, signed))


def _like(x, value):
    """A value that is in the same formats as x."""
    known = getattr(x, "rounded_to", None)
    if known is not None:
        value.rounded_to = known
    return value
