"""Evaluation in binary64 with the sign of its error: every rounding of every format.

Source: Boldo & Melquiond (2008) for round to odd and sticky evaluation; Dekker (1971), Knuth
(TAOCP 2, 4.2.2) for the error of a sum.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from llvmlite import ir

from sciprec.precision.formats.rounding_rules import Lost
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.words import BIT, F64, I64, V64, View, call, in_two_parts, jammed


class Condition:
    """A condition of the code that is emitted, with Python's operators."""

    def __init__(self, b, value):
        self.b, self.value = b, value

    def __and__(self, other):
        return Condition(self.b, self.b.and_(self.value, other.value))

    def __or__(self, other):
        return Condition(self.b, self.b.or_(self.value, other.value))

    def __invert__(self):
        return Condition(self.b, self.b.not_(self.value))


class Sticky(Native):
    """Evaluation in binary64 with the sign of its error: every rounding of every format, in
    nearest mode.
    """

    @property
    def exact_products(self) -> bool:
        """Whether binary64 holds every product of two operands."""
        return self.format.significand_bits <= 26

    def finish(self, b, r, error=None, ties=True):
        """Round r + error once; without `ties`, the error's sign alone is known, and that the
        number is no middle of neighbours in binary64.
        """
        fmt = self.format
        sign, size = V64.sign_word(b, r), call(b, "fabs", r)
        inexact = below = ir.Constant(BIT, 0)
        if error is not None:
            inexact = b.fcmp_ordered("!=", error, V64.constant(0.0))
            opposite = b.icmp_unsigned("!=", V64.sign_word(b, error), sign)
            below = b.and_(inexact, opposite)  # in size, the number is below r
            size = V64.to_float(b, b.sub(V64.to_word(b, size), b.zext(below, I64)))
        power = V64.power(b, size, fmt.min_normal if fmt.subnormals else None)
        power = b.select(
            b.fcmp_ordered("<", power, V64.constant(2.0**1000)), power, V64.constant(2.0**1000)
        )
        spacing = b.fmul(power, V64.constant(2.0 ** (1 - fmt.significand_bits)))
        y = b.fmul(size, V64.inverse(b, spacing))
        integer = call(b, "floor", y)
        fraction = b.fsub(y, integer)
        lost = self._lost(b, integer, fraction, inexact, sign)
        if fmt.significand_bits == 53 and self.rule.mode is None and error is not None:
            last = b.fcmp_ordered("<=", spacing, b.fmul(size, V64.constant(2.0**-52)))
            tie = ir.Constant(BIT, 0)
            if ties:
                half = b.fmul(spacing, V64.constant(0.5))
                tie = b.fcmp_ordered("==", call(b, "fabs", error), half)
            lost = _in_last_place(b, lost, last, below, tie)
        up = self.rule.up(lost).value
        integer = b.fadd(integer, b.uitofp(up, F64))
        rounded = V64.with_sign(b, b.fmul(integer, spacing), sign)
        if fmt.significand_bits == 53 and self.rule.mode == 0:  # r is rounded, unless subnormal
            normal = b.fcmp_ordered(">=", call(b, "fabs", r), V64.constant(fmt.min_normal))
            rounded = b.select(normal, r, rounded)
        if not fmt.subnormals:
            rounded = self._flush(b, rounded, sign)
        return self._overflow(b, r, rounded, sign)

    @staticmethod
    def _lost(b, integer, fraction, inexact, sign):
        """The part lost of the number integer + fraction and, where inexact, more."""
        half, halved = V64.constant(0.5), b.fmul(integer, V64.constant(0.5))
        inexact = Condition(b, inexact)
        middle = Condition(b, b.fcmp_ordered("==", fraction, half))
        return Lost(
            some=inexact | Condition(b, b.fcmp_ordered(">", fraction, V64.constant(0.0))),
            more=Condition(b, b.fcmp_ordered(">", fraction, half)) | middle & inexact,
            tie=middle & ~inexact,
            odd=Condition(b, b.fcmp_ordered("!=", halved, call(b, "floor", halved))),
            negative=Condition(b, b.icmp_unsigned("!=", sign, V64.word(0))),
        )

    def add(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r, error = two_sum(b, x, y)
        return self._zero_sum(b, self._rounded(b, r, error, **key), r, x, y)

    def mul(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r = b.fmul(x, y)
        error = None if self.exact_products else call(b, "fma", x, y, b.fneg(r))
        return self._rounded(b, r, error, **key)

    def div(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r = b.fdiv(x, y)
        return self._rounded(b, r, left_of_quotient(b, r, x, y), ties=False, **key)

    def sqrt(self, b, x, **key):
        x = self.widen(b, x)
        r = call(b, "sqrt", x)
        return self._rounded(b, r, call(b, "fma", b.fneg(r), r, x), ties=False, **key)

    @staticmethod
    def fused(b, x, y, z, exact_product: bool):
        """x y + z of binary64 numbers as (r, error): their sum is the exact result, or has the
        same roundings.
        """
        high = b.fmul(x, y)
        r, error = two_sum(b, high, z)
        if not exact_product:
            low = call(b, "fma", x, y, b.fneg(high))
            middle, lowest = two_sum(b, z, low)
            r, above = two_sum(b, high, middle)
            r, error = two_sum(b, r, odd(b, *two_sum(b, above, lowest)))
            plain = b.fadd(high, z)
            finite = b.fcmp_ordered("ord", error, error)
            some = b.fcmp_ordered("!=", r, V64.constant(0.0))
            r = b.select(b.and_(finite, some), r, plain)
        return r, error

    def fma(self, b, x, y, z, **key):
        """Boldo & Melquiond (2008), section 5: the error of a fused product and sum, rounded to
        odd.
        """
        x, y, z = (self.widen(b, v) for v in (x, y, z))
        r, error = self.fused(b, x, y, z, self.exact_products)
        high = b.fmul(x, y)
        return self._zero_sum(b, self._rounded(b, r, error, **key), r, high, z)

    def from_integer(self, b, i, signed, **key):
        """A 64-bit integer, rounded once."""
        if self.format.significand_bits <= 51 and not self.rule.random:
            return self._rounded(b, jammed(b, i, signed), None, **key)
        return self._rounded(b, *two_sum(b, *in_two_parts(b, i, signed)), **key)

    def _rounded(self, b, r, error, ties=True, **key):
        return self.narrow(b, self.finish(b, r, error, ties, **key))

    def _zero_sum(self, b, rounded, r, x, y):
        """Toward -infinity an exact zero sum is -0, unless both terms are +0 (IEEE 754, 6.3)."""
        if not self.rule.negative_zero:
            return rounded
        sign = b.or_(V64.sign_word(b, x), V64.sign_word(b, y))
        zero = self.narrow(b, V64.to_float(b, sign))
        return b.select(b.fcmp_ordered("==", r, V64.constant(0.0)), zero, rounded)


class Wide(Sticky):
    """Rounding of operands that may be any numbers of the carrier: those of a role with another
    format. In a binary64 carrier, those with the range of binary64 are rounded to nearest only.
    """

    @property
    def exact_products(self) -> bool:
        return self.carrier != F64

    def div(self, b, x, y, **key):
        """Divide; both are scaled where the residual of a quotient would be lost for a small x."""
        x, y = self.widen(b, x), self.widen(b, y)
        small = b.fcmp_ordered("<", call(b, "fabs", x), V64.constant(2.0**-900))
        scale = b.select(small, V64.constant(2.0**200), V64.constant(1.0))
        return super().div(b, b.fmul(x, scale), b.fmul(y, scale), **key)

    def fma(self, b, x, y, z, **key):
        """Fuse; of a product too small for binary64 the sign alone counts; where the result is
        beyond it, and where that is zero, it is the processor's.
        """
        if self.exact_products:
            return super().fma(b, x, y, z, **key)
        plain = call(b, "fma", x, y, z)
        size, tiny = call(b, "fabs", b.fmul(x, y)), V64.constant(2.0**-480)
        some = b.and_(*(b.fcmp_ordered("!=", v, V64.constant(0.0)) for v in (x, y)))
        small = b.and_(some, b.fcmp_ordered("<", size, V64.constant(2.0**-960)))
        x, y = (b.select(small, V64.with_sign(b, tiny, V64.sign_word(b, v)), v) for v in (x, y))
        r, error = self.fused(b, x, y, z, exact_product=False)
        zero = V64.constant(0.0)
        finite = b.fcmp_ordered("ord", b.fsub(plain, plain), zero)
        r, error = b.select(finite, r, plain), b.select(finite, error, zero)
        rounded = self._zero_sum(b, self._rounded(b, r, error, **key), r, b.fmul(x, y), z)
        return V64.with_sign(b, call(b, "fabs", rounded), V64.sign_word(b, plain))

    def sum_of_binary64(self, b, x, y, **key):
        return self._rounded(b, *two_sum(b, x, y), **key)


def _in_last_place(b, lost, last, below, tie):
    """The loss where `last` holds: of a number between neighbours in binary64, that lies in the
    upper half where its nearest one in binary64 is above it, and in the middle where `tie` holds.
    """
    last, below, tie = (Condition(b, value) for value in (last, below, tie))
    return replace(
        lost,
        more=last & below & ~tie | ~last & lost.more,
        tie=last & tie | ~last & lost.tie,
    )


def two_sum(b: ir.IRBuilder, x: Any, y: Any) -> tuple[Any, Any]:
    """s + e = x + y exactly, s = fl(x + y) (Knuth)."""
    s = b.fadd(x, y)
    t = b.fsub(s, x)
    return s, b.fadd(b.fsub(x, b.fsub(s, t)), b.fsub(y, t))


def left_of_quotient(b, r, x, y):
    """A number of the sign that x / y - r has: r y less than x, over y's sign."""
    remainder = call(b, "fma", b.fneg(r), y, x)
    return V64.to_float(b, b.xor(V64.to_word(b, remainder), V64.sign_word(b, y)))


def odd(b, r, error, view: View = V64):
    """r + error rounded to odd, in binary64 or the view's type: r, or its neighbour toward the
    error of an even r.
    """
    word = view.to_word(b, r)
    inexact = b.fcmp_ordered("!=", error, view.constant(0.0))
    even = b.icmp_unsigned("==", b.and_(word, view.word(1)), view.word(0))
    is_outward = b.icmp_unsigned("==", view.sign_word(b, error), view.sign_word(b, r))
    moved = b.add(word, b.select(is_outward, view.word(1), view.word(-1)))
    return view.to_float(b, b.select(b.and_(inexact, even), moved, word))
