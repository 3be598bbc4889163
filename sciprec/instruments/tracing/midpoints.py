"""Intervals about a midpoint, where code is emitted: the arithmetic of bounds on errors.

An interval is mid +- rad in binary64, rounded to nearest (Rump 1999). What rounding does to
midpoints and radii is covered without another rounding mode: an expression of at most sixteen
operations on terms of the sizes s1, s2, ... has an error below 16 u (s1 + s2 + ...), u = 2^-53, and
below 2^-1060 where products underflow. `closed` adds 32 u of the sizes and 2^-1060 to a radius, and
32 u of the radius itself. Where every term is zero nothing is added: such a number is exact.
What overflows is NaN or infinite, and becomes the interval of all numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from sciprec.precision.rounding.words import F64, call

SLACK = 2.0**-48
TINY = 2.0**-1060
UNDERFLOWS = 2.0**-900
"""Below this size the rest of a product or a quotient may not be a number of binary64."""


class Real:
    """A binary64 number where code is emitted, with Python's operators."""

    def __init__(self, b: ir.IRBuilder, value):
        self.b = b
        self.value = ir.Constant(F64, value) if isinstance(value, float) else value

    def _of(self, other) -> Real:
        return other if isinstance(other, Real) else Real(self.b, other)

    def __add__(self, other) -> Real:
        return Real(self.b, self.b.fadd(self.value, self._of(other).value))

    def __sub__(self, other) -> Real:
        return Real(self.b, self.b.fsub(self.value, self._of(other).value))

    def __mul__(self, other) -> Real:
        return Real(self.b, self.b.fmul(self.value, self._of(other).value))

    def __truediv__(self, other) -> Real:
        return Real(self.b, self.b.fdiv(self.value, self._of(other).value))

    def __neg__(self) -> Real:
        return Real(self.b, self.b.fneg(self.value))

    def __abs__(self) -> Real:
        return Real(self.b, call(self.b, "fabs", self.value))

    def sqrt(self) -> Real:
        """The square root."""
        return Real(self.b, call(self.b, "sqrt", self.value))

    def fused(self, y: Real, z: Real) -> Real:
        """self y + z, rounded once."""
        return Real(self.b, call(self.b, "fma", self.value, y.value, z.value))

    def compared(self, sign: str, other):
        """Whether a comparison holds; none does beside NaN."""
        return self.b.fcmp_ordered(sign, self.value, self._of(other).value)

    def unless(self, condition, other) -> Real:
        """This number, or another one where a condition holds."""
        return Real(self.b, self.b.select(condition, self._of(other).value, self.value))

    def is_finite(self):
        """Whether it is finite."""
        return (self - self).compared("==", 0.0)

    def larger(self, other) -> Real:
        """The larger one; NaN where this one is."""
        other = self._of(other)
        return self.unless(self.compared("<", other), other)

    def smaller(self, other) -> Real:
        """The smaller one; NaN where this one is."""
        other = self._of(other)
        return self.unless(self.compared(">", other), other)


def two_sum(x: Real, y: Real) -> tuple[Real, Real]:
    """x + y as its rounded sum and the rest, exactly (Knuth 1969)."""
    total = x + y
    y_part = total - x
    return total, (x - (total - y_part)) + (y - y_part)


def summed(terms: Sequence[Real]) -> Real:
    """The sum, from the first term to the last."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def sizes_of(terms: Sequence[Real]) -> Real:
    """The sum of absolute values."""
    return summed([abs(t) for t in terms])


def closed(mid: Real, radius: Real, sizes: Real, *inexact: Real) -> tuple[Real, Real]:
    """An interval, its radius grown by what rounding did to the midpoint and the radius.

    Args:
        mid: computed from terms.
        radius: computed from numbers that are not negative.
        sizes: of the midpoint's terms, their sum.
        inexact: sizes that are zero where underflow cannot have hidden a term.
    """
    total = summed([radius, sizes, *inexact])
    grown = (radius + sizes * SLACK) * (1.0 + SLACK) + TINY
    return finite_or_all(mid, grown.unless(total.compared("==", 0.0), 0.0))


def finite_or_all(mid: Real, radius: Real) -> tuple[Real, Real]:
    """An interval; all numbers where one of its two is not finite."""
    b = mid.b
    no = b.not_(b.and_(mid.is_finite(), radius.is_finite()))
    return mid.unless(no, 0.0), radius.unless(no, float("inf"))


def quotient(mid: Real, radius: Real, divisor: Real, apart: Real) -> tuple[Real, Real, Real]:
    """(mid +- radius) / (divisor +- apart): midpoint, radius and size, to be closed; NaN where the
    divisor may be zero.

    |n / d - mid / divisor| <= (radius + |mid / divisor| apart) / least |d|, beside underflows.
    """
    centre = mid / divisor
    least = (abs(divisor) * (1.0 - SLACK) - apart) * (1.0 - SLACK)
    bounded = (radius + abs(centre) * apart) / least + TINY
    nothing = mid.b.and_(mid.compared("==", 0.0), radius.compared("==", 0.0))
    bad = mid.b.not_(least.compared(">", 0.0))
    bounded = bounded.unless(bad, float("nan")).unless(nothing, 0.0)
    centre = centre.unless(nothing, 0.0)
    return centre, bounded, abs(centre)


def outward(x: Real, mid: Real, radius: Real) -> tuple[Real, Real]:
    """Numbers of binary64 around x + mid +- radius; x itself twice where both are zero."""
    near, residual = two_sum(x, mid)
    slack = (abs(residual) + radius) * SLACK
    low, below = two_sum(near, residual - (radius + slack))
    high, above = two_sum(near, residual + (radius + slack))
    low = low.unless(below.compared("<", 0.0), low - _unit(low))
    high = high.unless(above.compared(">", 0.0), high + _unit(high))
    return low, high


def _unit(x: Real) -> Real:
    return abs(x) * 2.0**-52 + 2.0**-1074
