"""Numbers that are pairs of binary64 numbers, 106 bits, as a technique of operations."""

from __future__ import annotations

from sciprec.instruments.tracing import double_word
from sciprec.instruments.tracing.operations import TECHNIQUES
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.rounding.words import V64, call

PAIRS = "pairs"


class Pairs(Companion):
    """A number as a normalised pair: the value is its high number, the low one beside it.

    Rows are neither read nor written: they are a place to add marks at, as long as others.
    """

    words = 7

    def pair(self, b, x):
        """A number's high and low numbers."""
        return self.value(b, x), self.beside(b, x)

    def of(self, b, pair):
        """The number of a normalised pair."""
        return self.made(b, *pair)

    def exactly(self, b, value):
        """A binary64 number."""
        return self.made(b, value, V64.constant(0.0))

    def settled(self, b, x):
        """The same number."""
        return x

    def entered(self, b, x, rounded, rest, row):
        """A plain number x + rest."""
        if rest is None:
            return self.exactly(b, x)
        return self.of(b, double_word.normalised(b, x, rest))

    def rerounded(self, b, x, rounded, row, operands=None, rest=None):
        """A number that was rounded to fewer bits."""
        return self.exactly(b, rounded)

    def rounded(self, b, x, row):
        """The same number: there is one format."""
        return x

    def add(self, b, x, y, row):
        """x + y."""
        return self.of(b, double_word.plus(b, self.pair(b, x), self.pair(b, y)))

    def sub(self, b, x, y, row):
        """x - y."""
        return self.of(b, double_word.minus(b, self.pair(b, x), self.pair(b, y)))

    def mul(self, b, x, y, row):
        """x y."""
        return self.of(b, double_word.times(b, self.pair(b, x), self.pair(b, y)))

    def fma(self, b, x, y, z, row):
        """x y + z: a product and a sum."""
        return self.add(b, self.mul(b, x, y, row), z, row)

    def div(self, b, x, y, row):
        """x / y."""
        return self.of(b, double_word.over(b, self.pair(b, x), self.pair(b, y)))

    def sqrt(self, b, x, row):
        """The square root of x."""
        return self.of(b, double_word.root(b, self.pair(b, x)))

    def magnitude(self, b, x, row=None):
        """|x|."""
        high, low = self.pair(b, x)
        negative = b.fcmp_ordered("<", high, V64.constant(0.0))
        return self.made(b, call(b, "fabs", high), b.select(negative, b.fneg(low), low))

    def compared(self, b, sign: str, x, y, tested, row):
        """The decision of a comparison: that of both numbers of the two."""
        return double_word.compared(b, sign, self.pair(b, x), self.pair(b, y))


TECHNIQUES[PAIRS] = Pairs
