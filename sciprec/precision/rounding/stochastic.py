"""Stochastic rounding: up with the probability of the part that is lost, by 24 random bits."""

from __future__ import annotations

from llvmlite import ir

from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.words import F32, F64, V32, V64, View, call, nan_of


class Stochastic(Native):
    """Stochastic rounding of a result to nearest in the evaluation type, by 24 random bits."""

    @staticmethod
    def grid_view(evaluation: ir.Type) -> View:
        return V64

    def finish(self, b, r, draw):
        fmt = self.format
        wide = b.fpext(r, F64) if r.type == F32 else r
        sign, size = V64.sign_word(b, wide), call(b, "fabs", wide)
        power = V64.power(b, size, fmt.min_normal if fmt.subnormals else 2.0**-900)
        top = V64.constant(2.0**1000)
        power = b.select(b.fcmp_ordered("<", power, top), power, top)
        spacing = b.fmul(power, V64.constant(2.0 ** (1 - fmt.significand_bits)))
        y = b.fmul(size, V64.inverse(b, spacing))
        kept = call(b, "floor", y)
        chance = b.fmul(b.fsub(y, kept), V64.constant(2.0**24))
        bar = b.fsub(V64.constant(2.0**24), b.uitofp(draw, F64))
        kept = b.fadd(kept, b.uitofp(b.fcmp_ordered(">=", chance, bar), F64))
        rounded = V64.with_sign(b, b.fmul(kept, spacing), sign)
        if not fmt.subnormals:
            rounded = self._flush(b, rounded, sign)
        rounded = self._overflow(b, wide, rounded, sign)
        return b.fptrunc(rounded, F32) if r.type == F32 else rounded

    def from_integer(self, b, i, signed, draw):
        convert = b.sitofp if signed else b.uitofp
        return self.round(b, convert(i, self.evaluation), draw=draw)


class StochasticBits(Stochastic):
    """Stochastic rounding of formats with binary32's exponents: random bits added below the last
    kept one.
    """

    def finish(self, b, r, draw):
        drop = 24 - self.format.significand_bits
        bits = b.lshr(draw, V32.word(24 - drop))
        word = b.and_(b.add(V32.to_word(b, r), bits), V32.word(-(1 << drop)))
        rounded = V32.to_float(b, word)
        return rounded

    def from_binary32(self, b, x, draw):
        return nan_of(b, x, self.finish(b, x, draw))

    def from_binary64(self, b, x, draw):
        return nan_of(b, x, super().from_binary64(b, x, draw=draw))
