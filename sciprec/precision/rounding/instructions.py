"""Roundings as LLVM instructions: for each arithmetic, how an operation is evaluated and rounded
once.

A value lives in the backend's carrier (binary32 or binary64), always exactly a number of the
format. An operation widens its operands to the evaluation type, evaluates, rounds, and narrows
back (exactly). Which of the techniques below is used is decided in `technique.rounder` alone:

    Native       the processor's own arithmetic
    Half         binary16 by conversion to half and back
    Single       binary32 inside a binary64 carrier, likewise
    Bits         add-and-mask on the bits (formats with binary32's exponents)
    Grid         adding and subtracting 1.5 * 2^k, whose spacing is the format's
    Stochastic   random bits beside the result and its error (module `stochastic`)
    ToBinary64   the same in binary64: the processor's result or the next number (`stochastic`)
    Noisy        noise on operands and results, of Monte Carlo arithmetic (`stochastic`)
    Sticky       truncation plus the sign of the rounding error: any format, any rounding (`sticky`)

Bits and Grid serve rounding to nearest and, under the processor's directed modes, the others.

Double rounding is innocuous where the evaluation has 2p + 2 bits or more (Figueroa 1995), and
always in a directed mode, whose grids are nested. Sticky needs neither.
"""

from __future__ import annotations

from sciprec.precision.rounding.mode import has_feature
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.sticky import Sticky
from sciprec.precision.rounding.words import F16, F32, F64, V32, call, nan_of, opaque


class Single(Native):
    """binary32 to nearest inside a binary64 carrier."""

    def finish(self, b, r):
        return b.fpext(b.fptrunc(r, F32), F64)

    def fma(self, b, x, y, z):
        return Sticky(self.arithmetic, self.carrier, F64, None).fma(b, x, y, z)


class Bits(Native):
    """Formats with the evaluation type's own exponents: rounding on the bits carries into them by
    itself.
    """

    def finish(self, b, r):
        view, rounding = self.view, self.arithmetic.rounding
        drop = view.bits - self.format.significand_bits
        if drop == 0:
            return r
        word, mask = view.to_word(b, r), (1 << drop) - 1
        if rounding == "rn":
            odd = b.and_(b.lshr(word, view.word(drop)), view.word(1))
            word = b.add(word, b.add(odd, view.word(mask >> 1)))
        elif rounding != "rz":
            spread = b.ashr(word, view.word(view.width - 1))
            away = spread if rounding == "rd" else b.not_(spread)
            word = b.add(word, b.and_(away, view.word(mask)))
        return view.to_float(b, b.and_(word, view.word(~mask)))

    def round(self, b, r, **key):
        return self.narrow(b, self.finish(b, r))

    def from_binary32(self, b, x):
        """NaN stays NaN (quiet, or without payload), and subnormals are flushed, as by an
        operation: a product with one, which `llvm.canonicalize` would be, but that LLVM cannot
        translate it for two packed numbers and aborts.
        """
        if self.evaluation != F32:
            return super().from_binary32(b, x)
        if self.arithmetic.rounding == "rz":
            unit = opaque(b, "sciprec.one32", V32.constant(1.0))
            return self.narrow(b, self.finish(b, b.fmul(x, unit)))
        return self.narrow(b, nan_of(b, x, self.finish(b, x)))

    def from_binary64(self, b, x):
        rounded = super().from_binary64(b, x)
        return rounded if self.arithmetic.rounding == "rz" else nan_of(b, x, rounded)


class BitsNearest(Bits):
    """Bits to nearest (p <= 11): products and quotients below binary32's normal range are rounded
    once.

    With p <= 8 a product that binary32 cannot hold is below half of the format's smallest number:
    zero.
    """

    def mul(self, b, x, y):
        if self.format.significand_bits <= 8:
            return super().mul(b, x, y)
        product = b.fmul(x, y)
        spacing = 2.0 ** (self.format.emin - self.format.significand_bits + 1)
        shift = V32.constant(1.5 * 2.0**23 * spacing)
        small = b.fsub(call(b, "fma", x, y, shift), shift)
        sign = V32.sign_word(b, product)
        tiny = b.fcmp_ordered("<", call(b, "fabs", product), V32.constant(self.format.min_normal))
        return b.select(tiny, V32.with_sign(b, small, sign), self.finish(b, product))

    def times(self, b, x, factor: float):
        """Up: exact, or infinite as in binary32."""
        if abs(factor) < 1.0:
            return super().times(b, x, factor)
        return b.fmul(x, V32.constant(factor))

    def div(self, b, x, y):
        return self._wide().div(b, x, y)

    def fma(self, b, x, y, z):
        return Sticky(self.arithmetic, self.carrier, F64, None).fma(b, x, y, z)

    def from_binary64(self, b, x):
        return nan_of(b, x, self._wide().from_binary64(b, x))

    def _wide(self):
        return Grid(self.arithmetic, self.carrier, F64, None)


class Grid(Native):
    """Adding and subtracting a constant whose spacing, in the evaluation type, is the format's at
    r.
    """

    def finish(self, b, r):
        fmt, view, rounding = self.format, self.view, self.arithmetic.rounding
        scale = 2.0 ** (view.bits - fmt.significand_bits)
        sign = view.sign_word(b, r)
        power = view.power(b, r, fmt.min_normal if fmt.subnormals else None)
        if rounding == "rz":
            rounded = self._shifted(b, call(b, "fabs", r), power, scale)
        else:
            rounded = call(b, "fabs", self._shifted(b, r, power, 1.5 * scale))
        rounded = view.with_sign(b, rounded, sign)
        if not fmt.subnormals:
            rounded = self._flush(b, rounded, sign)
        return self._overflow(b, r, rounded, sign, self._beyond(b, r))

    def _beyond(self, b, r):
        """Whether the rounded r exceeds the largest finite number (r itself decides; NaN does
        not).
        """
        fmt, rounding = self.format, self.arithmetic.rounding
        step = 2.0 ** (fmt.emax - fmt.significand_bits)
        odd = (fmt.max_finite / (2 * step)) % 2 == 1
        edge = {"rn": fmt.max_finite + step, "rz": fmt.max_finite + 2 * step}.get(
            rounding, fmt.max_finite
        )
        including = odd if rounding == "rn" else rounding == "rz"
        size = call(b, "fabs", r)
        return b.fcmp_ordered(">=" if including else ">", size, self.view.constant(edge))

    def _shifted(self, b, x, power, scale: float):
        """(x + scale * power) - scale * power."""
        view = self.view
        if has_feature("fma"):
            high = call(b, "fma", power, view.constant(scale), x)
            return call(b, "fma", power, view.constant(-scale), high)
        shift = b.fmul(power, view.constant(scale))
        return b.fsub(b.fadd(x, shift), shift)

    def fma(self, b, x, y, z):
        if self.mode:
            return super().fma(b, x, y, z)
        return Sticky(self.arithmetic, self.carrier, F64, None).fma(b, x, y, z)

    def from_binary64(self, b, x):
        if self.evaluation == F64 or self.mode:
            return super().from_binary64(b, x)
        return Grid(self.arithmetic, self.carrier, F64, None).from_binary64(b, x)


class ShortGrid(Grid):
    """Grid to nearest in binary32 (p <= 11), infinite beyond 2^(emax + 1).

    A sum is rounded on its bits: below 2^emin it is exact, so that it needs no subnormal grid, and
    binary32 has the 2p + 2 bits that make two roundings harmless. For everything else the constant
    is 1.5 * 2^(24 - p) times the power of two in r, made by an integer addition. Where that carries
    into the sign (infinities, NaN, and finite r that are beyond the range), the constant is the
    smallest one, and r stays as it is, or beyond the range. What is beyond it becomes infinite by
    a product with 2^(127 - emax), and stays so when that is taken back, exactly.
    """

    @staticmethod
    def serves(fmt) -> bool:
        """Whether the constants are binary32 numbers, and the largest number is the full one."""
        full = fmt.max_finite == 2.0**fmt.emax * (2.0 - 2.0 ** (1 - fmt.significand_bits))
        roomy = 2 * fmt.emax + 1 + (24 - fmt.significand_bits) <= 127
        return roomy and fmt.emax >= 0 and full and fmt.subnormals and fmt.overflow == "infinity"

    def finish(self, b, r):
        view, drop = self.view, 24 - self.format.significand_bits
        exponent = b.and_(view.to_word(b, r), view.word(view.exponent))
        shift = view.to_float(b, b.add(exponent, view.word((drop << 23) + (1 << 22))))
        least = view.constant(1.5 * 2.0**drop * self.format.min_normal)
        shift = b.select(b.fcmp_ordered(">", shift, least), shift, least)
        rounded = call(b, "fabs", b.fsub(b.fadd(r, shift), shift))
        return self._ended(b, view.with_sign(b, rounded, view.sign_word(b, r)))

    def add(self, b, x, y):
        on_bits = Bits(self.arithmetic, self.carrier, F32, None)
        return self._ended(b, on_bits.finish(b, b.fadd(x, y)))

    def times(self, b, x, factor: float):
        """Up: exact, or beyond the range."""
        if abs(factor) < 1.0:
            return super().times(b, x, factor)
        return self._ended(b, b.fmul(x, self.view.constant(factor)))

    def from_binary32(self, b, x):
        return self._cleared(b, super().from_binary32(b, x))

    def from_binary64(self, b, x):
        return self._cleared(b, super().from_binary64(b, x))

    def _cleared(self, b, x):
        """x; a NaN without its low bits, which a sum would carry into the sign."""
        return self.view.masked(b, x, -(1 << (24 - self.format.significand_bits)))

    def _ended(self, b, rounded):
        """The rounded number, infinite beyond the range."""
        up = 2.0 ** (127 - self.format.emax)
        return b.fmul(b.fmul(rounded, self.view.constant(up)), self.view.constant(1.0 / up))


class Half(Grid):
    """binary16 to nearest: LLVM's conversion to half and back, subnormals and overflow included."""

    def finish(self, b, r):
        return b.fpext(b.fptrunc(r, F16), F32)
