"""Rounding to nearest from leading bits: binary32 under the processor's toward-zero mode.

Toward zero an operation gives r, the leading 24 bits of the exact result. Where it is known whether
anything was cut off below them (the sticky bit), r decides every rounding to nearest of up to 23
bits: the result is

    (w + (half - 1) + (lowest kept bit or sticky bit)) and mask,

w the bits of r, half the word in the middle of two neighbours of the format. Bits carry into the
exponent, from the largest number into infinity, and in binary32's subnormal range they have the
format's spacing there. One rounding, so that no 2p + 2 bits are needed.

Whether anything was cut off:

- Sum: r is exact if and only if r - x = y and r - y = x. The difference of r and the larger term is
  a binary32 number, so that it equals the other term only if r is the sum; of an exact sum both are
  (Boldo, Graillat & Muller 2017, On the robustness of the 2Sum and Fast2Sum algorithms, ACM TOMS
  44(1), for roundings that are only faithful). Words are compared: a zero of the other sign is
  called inexact, where r is a term, which is in the format, and no sticky bit moves that.
- Product, quotient, root: |r| - |x y|, |r y| - |x| and r^2 - x are never above zero and are
  rounded toward zero by one fused operation: to +0 if they are zero, to -0 if they are too small
  for binary32, so that their words are zero only for exact results.
- Fused product and sum: x y is exact in binary64 (46 bits), and so are (r - x y) - z and
  (r - z) - x y as above; an exact zero is +0 toward zero.

A sticky bit of an infinity, which these differences would give, is masked off. A NaN whose dropped
bits are zero, as the processor's own and those that were rounded on loading, stays one.

Formats with a smaller range than binary32's: products, quotients and conversions are evaluated of
x 2^(-126 - emin), exactly, so that subnormals of the format are those of binary32; sums need no
such grid, since they are exact below 2^emin. What is beyond the largest number is found after
rounding.

The 1 of the sticky bit is loaded from memory: LLVM would make a comparison of umin(word, 1), whose
mask registers are slower than arithmetic here (stencil: 7.9 times native for 5.85).
"""

from __future__ import annotations

from llvmlite import ir

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.words import (
    F32,
    F64,
    I32,
    I64,
    V32,
    V64,
    call,
    jammed,
    nan_of,
    opaque,
)  # fmt: skip

LARGEST_BITS = 23


class LeadingBits(Native):
    """Rounding to nearest, ties to even, in the processor's toward-zero mode; every operand is a
    number of the format, but of fused operations and conversions any.
    """

    def __init__(self, arithmetic: Arithmetic, carrier: ir.Type, evaluation: ir.Type, mode: str):
        super().__init__(arithmetic, carrier, evaluation, mode)
        fmt = arithmetic.format
        self.drop = 24 - fmt.significand_bits
        self.scale = 2.0 ** (-126 - fmt.emin)
        largest = 2.0**127 * (2.0 - 2.0 ** (1 - fmt.significand_bits))
        carries = (fmt.overflow, fmt.max_finite) == ("infinity", largest)
        self.limited = self.scale != 1.0 or not carries  # scaling back is truncated too

    @staticmethod
    def serves(arithmetic: Arithmetic) -> bool:
        """Whether a rounding can be done so. Roots of numbers of the format are not subnormal."""
        fmt = arithmetic.format
        nearest = arithmetic.rounding == "rn" and not arithmetic.aligned
        fits = arithmetic.fits_binary32 and fmt.significand_bits <= LARGEST_BITS
        return nearest and fits and fmt.subnormals and fmt.emin <= 1 - fmt.significand_bits

    def finish(self, b, r, sticky=None):
        """The number with the leading bits r; something was cut off where the word `sticky` is
        not zero.
        """
        word, half = V32.to_word(b, r), 1 << (self.drop - 1)
        up = b.and_(b.lshr(word, V32.word(self.drop)), V32.word(1))
        if sticky is not None:
            unit = opaque(b, "sciprec.unit32", V32.word(1))
            up = b.or_(up, call(b, "umin", sticky, unit))
        word = b.add(b.add(word, V32.word(half - 1)), up)
        return V32.to_float(b, b.and_(word, V32.word(-2 * half)))

    def add(self, b, x, y):
        r = b.fadd(x, y)
        return self._within(b, r, self.finish(b, r, _lost(b, r, x, y)))

    def mul(self, b, x, y):
        x = self._scaled(b, x)
        r = b.fmul(x, y)
        signed = V32.to_float(b, b.xor(V32.to_word(b, x), V32.sign_word(b, r)))  # times y: |x y|
        residual = call(b, "fma", b.fneg(signed), y, call(b, "fabs", r))
        return self._unscaled(b, r, V32.to_word(b, residual))

    def times(self, b, x, factor: float):
        """Up: exact, or cut off to binary32's largest number, which carries into infinity."""
        if abs(factor) < 1.0:
            return super().times(b, x, factor)
        r, half = b.fmul(x, V32.constant(factor)), 1 << (self.drop - 1)
        if self.limited:
            return self._within(b, r, r)
        word = b.add(V32.to_word(b, r), V32.word(half))
        return V32.to_float(b, b.and_(word, V32.word(-2 * half)))

    def div(self, b, x, y):
        x = self._scaled(b, x)
        r = b.fdiv(x, y)
        size, divisor, dividend = (call(b, "fabs", v) for v in (r, y, x))
        return self._unscaled(b, r, V32.to_word(b, call(b, "fma", size, divisor, b.fneg(dividend))))

    def sqrt(self, b, x):
        r = call(b, "sqrt", x)
        remainder = call(b, "fma", r, r, b.fneg(x))
        return self._within(b, r, self.finish(b, r, V32.to_word(b, remainder)))

    def fma(self, b, x, y, z):
        x, y, z = (b.fpext(v, F64) for v in (x, y, z))
        return self.sum_of_binary64(b, b.fmul(x, y), z)

    def sum_of_binary64(self, b, x, y):
        r = b.fadd(x, y)
        first, second = b.fsub(b.fsub(r, x), y), b.fsub(b.fsub(r, y), x)
        return self._converted(b, r, b.or_(V64.to_word(b, first), V64.to_word(b, second)))

    def from_binary32(self, b, x):
        r, lost = self._scaled(b, x), None
        if self.scale != 1.0:
            restored = b.fmul(r, V32.constant(1.0 / self.scale))
            lost = b.xor(V32.to_word(b, restored), V32.to_word(b, x))
        return nan_of(b, x, self._unscaled(b, r, lost))

    def from_binary64(self, b, x):
        return self._converted(b, x, V64.word(0))

    def from_integer(self, b, i, signed: bool):
        i = b.add(i, opaque(b, "sciprec.zero", ir.Constant(I64, 0)))  # LLVM converts to nearest
        return self.from_binary64(b, jammed(b, i, signed))

    def _converted(self, b, x, lost):
        """A binary64 number with something cut off below it where the word `lost` is not zero."""
        scaled = b.fmul(x, V64.constant(self.scale)) if self.scale != 1.0 else x
        r = b.fptrunc(scaled, F32)
        restored = b.fmul(b.fpext(r, F64), V64.constant(1.0 / self.scale))
        lost = b.or_(lost, b.xor(V64.to_word(b, restored), V64.to_word(b, x)))
        lost = b.trunc(b.or_(lost, b.lshr(lost, V64.word(32))), I32)
        return nan_of(b, x, self._unscaled(b, r, lost))

    def _scaled(self, b, x):
        """x 2^(-126 - emin)."""
        return x if self.scale == 1.0 else b.fmul(x, V32.constant(self.scale))

    def _unscaled(self, b, r, sticky):
        """The rounded number of leading bits that were scaled."""
        rounded = self.finish(b, r, sticky)
        if self.scale != 1.0:
            rounded = b.fmul(rounded, V32.constant(1.0 / self.scale))
        return self._within(b, r, rounded)

    def _within(self, b, r, rounded):
        """The rounded number, or what the format makes of a number beyond its largest."""
        if not self.limited:
            return rounded
        return self._overflow(b, r, rounded, V32.sign_word(b, rounded))


def _lost(b, r, x, y):
    """A word that is zero only where r is x + y."""
    first = b.xor(V32.to_word(b, b.fsub(r, x)), V32.to_word(b, y))
    second = b.xor(V32.to_word(b, b.fsub(r, y)), V32.to_word(b, x))
    return b.or_(first, second)
