"""Stochastic rounding: up with the probability of the part that is lost of the exact result.

An exact result of k + f last places, k whole, becomes k + 1 of them where f + u >= 1, and k else.
The random number u in (0, 1) has the 32 bits of a first word and, below them, 20 of a second one,
whose last one is set: as many as a binary64 number in [1, 2). So the probability is f to 2^-51, and
u is the middle of what its bits leave open. The result is evaluated to nearest as r, beside the
error of r: what is lost of a sum or a product, and of a quotient or root what its remainder leaves.
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rounding.sticky import Sticky, Wide, two_sum
from sciprec.precision.rounding.words import BIT, F32, F64, I32, I64, V32, V64, call, nan_of

SECOND_BITS = 20
"""Bits of the second word that take part: its upper ones, the last of them set."""


class Draw(NamedTuple):
    """The random bits of a rounding.

    Args:
        first: a word.
        second: another one, or None where there are no more bits.
    """

    first: ir.Value
    second: ir.Value | None


class Stochastic(Sticky):
    """Stochastic rounding of what binary64 evaluates, and of its error."""

    def finish(self, b, r, error=None, ties=True, *, draw, divisor=None):
        """Round r + error, or r + error / divisor, which is at most half of r's last place away.

        A quotient is beyond a number where its remainder is beyond what that number leaves.
        """
        fmt, zero = self.format, V64.constant(0.0)
        sign, size = V64.sign_word(b, r), call(b, "fabs", r)
        lower, below = size, ir.Constant(BIT, 0)
        if error is not None:
            error = V64.to_float(b, b.xor(V64.to_word(b, error), sign))
            below = b.fcmp_ordered("<", error, zero)
            lower = V64.to_float(b, b.sub(V64.to_word(b, size), b.zext(below, I64)))
        power = V64.power(b, lower, fmt.min_normal if fmt.subnormals else 2.0**-900)
        top = V64.constant(2.0**1000)
        power = b.select(b.fcmp_ordered("<", power, top), power, top)
        spacing = b.fmul(power, V64.constant(2.0 ** (1 - fmt.significand_bits)))
        places = V64.inverse(b, spacing)
        kept = call(b, "floor", b.fmul(lower, places))
        beyond = b.fsub(b.fsub(b.fmul(size, places), kept), _bar(b, draw))
        error = zero if error is None else b.fmul(error, places)
        if draw.second is None:  # u may be 0, and an error below 0 too small for binary64
            lost = b.and_(below, b.fcmp_ordered("==", error, zero))
            error = b.select(lost, V64.constant(-(2.0**-1074)), error)
        if divisor is None:
            goes = b.fcmp_ordered(">=", beyond, b.fneg(error))
        else:
            goes = b.fcmp_ordered(">=", call(b, "fma", beyond, divisor, error), zero)
        kept = b.fadd(kept, b.uitofp(goes, F64))
        rounded = V64.with_sign(b, b.fmul(kept, spacing), sign)
        if not fmt.subnormals:
            rounded = self._flush(b, rounded, sign)
        return self._overflow(b, r, rounded, sign)

    def div(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r, sign = b.fdiv(x, y), V64.sign_word(b, y)
        rest = V64.to_word(b, call(b, "fma", b.fneg(r), y, x))
        error = V64.to_float(b, b.xor(rest, sign))
        return self._rounded(b, r, error, divisor=call(b, "fabs", y), **key)

    def sqrt(self, b, x, **key):
        x = self.widen(b, x)
        r = call(b, "sqrt", x)
        rest = call(b, "fma", b.fneg(r), r, x)
        divisor = b.fadd(b.fadd(r, r), V64.constant(2.0**-1000))  # positive beside a zero, too
        return self._rounded(b, r, rest, divisor=divisor, **key)

    def sum_of_binary64(self, b, x, y, **key):
        return self._rounded(b, *two_sum(b, x, y), **key)


class WideStochastic(Wide, Stochastic):
    """Stochastic rounding where operands may be any numbers of the carrier."""


class StochasticBits(Stochastic):
    """Stochastic rounding of formats with binary32's exponents and at most 11 bits: random bits
    added below the last kept one, in sums and products.

    The upper bits of the first word meet those of r, the lower ones and the second word meet the
    rest below r.
    """

    def __init__(self, arithmetic: Arithmetic, carrier: ir.Type, evaluation: ir.Type, mode):
        super().__init__(arithmetic, carrier, evaluation, mode)
        self._drop = 24 - arithmetic.format.significand_bits  # bits of r
        self._low = 32 - self._drop  # bits of the first word, below r

    @staticmethod
    def serves(arithmetic: Arithmetic) -> bool:
        """Whether an arithmetic can be rounded so."""
        fmt = arithmetic.format
        usual = (fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow) == (-126, 127, True, "infinity")
        return usual and fmt.significand_bits <= 11 and arithmetic.random_bits is None

    def add(self, b, x, y, *, draw):
        r, error = two_sum(b, x, y)
        word = V32.to_word(b, r)
        error = V32.to_float(b, b.xor(V32.to_word(b, error), V32.sign_word(b, r)))
        below = b.fcmp_ordered("<", error, V32.constant(0.0))
        word = b.select(below, b.sub(word, V32.word(1)), word)
        # Times 2^(10 - E), finite where a sum is inexact: its terms are multiples of 2^-136.
        exponent = b.and_(word, V32.word(V32.exponent))
        power = V32.to_float(b, b.sub(V32.word((254 + 10) << 23), exponent))
        rest = b.fmul(b.fmul(error, power), V32.constant(2.0 ** (13 + self._low)))
        return self._on_bits(b, word, draw, rest, below)

    def mul(self, b, x, y, *, draw):
        """Exact in binary32, but for subnormal results: these in units of 2^-149."""
        r = b.fmul(x, y)
        sign, zero = V32.sign_word(b, r), V32.constant(0.0)
        tiny = b.fcmp_ordered("<", call(b, "fabs", r), V32.constant(2.0**-126))
        units = b.fmul(b.fmul(x, V32.constant(2.0**75)), b.fmul(y, V32.constant(2.0**74)))
        units = call(b, "fabs", units)
        whole = call(b, "floor", units)
        rest = b.fmul(b.fsub(units, whole), V32.constant(2.0**self._low))
        some = b.fcmp_ordered(">", whole, zero)  # no number where one factor is 0, one very large
        small = b.or_(b.fptosi(b.select(some, whole, zero), I32), sign)
        word = b.select(tiny, small, V32.to_word(b, r))
        return self._on_bits(b, word, draw, b.select(tiny, rest, zero), ir.Constant(BIT, 0))

    def from_binary32(self, b, x, *, draw):
        up = b.lshr(draw.first, V32.word(self._low))
        return nan_of(b, x, self._masked(b, b.add(V32.to_word(b, x), up)))

    def from_binary64(self, b, x, *, draw):
        return nan_of(b, x, super().from_binary64(b, x, draw=draw))

    def _on_bits(self, b, word, draw, rest, below):
        """Round the number with these bits and `rest` units below their last place, of which it
        has 2^low; where `below`, the rest is negative and a last place is to be added to it.

        The rest and the lower bits are compared with a last place less one unit, or with nothing,
        so that what is left for the second word is exact where it is near.
        """
        up, lower = b.lshr(draw.first, V32.word(self._low)), V32.word((1 << self._low) - 1)
        compared = b.select(below, V32.word(0), lower)
        lacking = b.sitofp(b.sub(b.and_(draw.first, lower), compared), F32)
        second = b.fmul(b.sitofp(_of_second(b, draw), F32), V32.constant(2.0**-SECOND_BITS))
        one, zero = V32.constant(1.0), V32.constant(0.0)
        bar = b.select(below, b.fsub(zero, second), b.fsub(one, second))
        goes = b.fcmp_ordered(">=", b.fadd(rest, lacking), bar)
        up = b.add(word, up)
        return self._masked(b, b.select(goes, b.add(up, V32.word(1)), up))

    def _masked(self, b, word):
        return V32.to_float(b, b.and_(word, V32.word(-(1 << self._drop))))


def _bar(b, draw: Draw):
    """1 - u in binary64, exactly: 2 less the number in [1, 2) whose bits are drawn."""
    bits = b.shl(b.zext(draw.first, I64), V64.word(SECOND_BITS))
    if draw.second is not None:
        bits = b.or_(bits, b.zext(_of_second(b, draw), I64))
    return b.fsub(V64.constant(2.0), V64.to_float(b, b.or_(bits, V64.word(0x3FF << 52))))


def _of_second(b, draw: Draw):
    """The bits of the second word that take part."""
    return b.or_(b.lshr(draw.second, V32.word(32 - SECOND_BITS)), V32.word(1))
