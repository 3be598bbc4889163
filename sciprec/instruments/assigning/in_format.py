"""The technique of an operation whose format is known when it is compiled."""

from __future__ import annotations

from llvmlite import ir

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.rounding.native import Native, by_method
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.words import F64, V64, call


class TakingOperands(Native):
    """A technique whose operations get their operands by `taken`, in the operation's format. Their
    results, and these with another sign, are known to be in it.
    """

    takes = True

    def negated(self, b, x, row=None):
        """-x."""
        return _like(x, b.fneg(x))

    def magnitude(self, b, x, row=None):
        """|x|."""
        return _like(x, call(b, "fabs", x))


def _like(x, value):
    """A value that is in the same formats as x."""
    for mark in ("rounded_in", "rounded_to"):
        if hasattr(x, mark):
            setattr(value, mark, getattr(x, mark))
    return value


@by_method("rounded", "add", "sub", "mul", "sqrt", "fma", "from_binary64", "sum_of_binary64",
           "from_integer")  # fmt: skip
class InFormat(TakingOperands):
    """Takes operands rounded to its format and rounds once, on numbers of binary64.

    Numbers that are known to be in the format are taken as they are: constants, and results of
    operations in a format that this one holds.

    Args:
        arithmetic: of the operation.
    """

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.base = rounder(arithmetic, F64, 0)
        super().__init__(arithmetic, F64, F64, None)

    def taken(self, b, x):
        """An operand in the format."""
        if isinstance(x, ir.Constant) and isinstance(x.constant, float):
            return V64.constant(round_literal(x.constant, self.arithmetic))
        fmt = getattr(x, "rounded_to", None)
        if fmt is not None and self.format.holds(fmt):
            return x
        return self.from_binary64(b, x)

    def times(self, b, x, factor: float):
        """x times a power of two."""
        return self.mul(b, x, self.taken(b, V64.constant(factor)))

    def div(self, b, x, y):
        """x / y, where x may be the number one as it is."""
        return self.rounded(b, "div", self.taken(b, x), y)

    def rounded(self, b, name: str, *operands, **how):
        """The result of an operation, which is known to be in the format."""
        result = getattr(self.base, name)(b, *operands, **how)
        result.rounded_to = self.format
        return result
