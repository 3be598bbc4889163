"""Random roundings: stochastic, up with the probability of the part that is lost of the exact
result; and with even chances, whatever is lost.

An exact result of k + f last places, k whole, becomes k + 1 of them where f + u >= 1, and k else.
The random number u in (0, 1) has the 32 bits of a first word and, below them, 20 of a second one,
whose last one is set: as many as a binary64 number in [1, 2). So the probability is f to 2^-51, and
u is the middle of what its bits leave open. The result is evaluated to nearest as r, beside the
error of r: what is lost of a sum or a product, and of a quotient or root what its remainder leaves.

Rounding to binary64 itself has nothing wider to evaluate in: see `ToBinary64`.
"""

from __future__ import annotations

from typing import NamedTuple

from llvmlite import ir

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rounding.sticky import Sticky, Wide, left_of_quotient, two_sum
from sciprec.precision.rounding.words import (
    BIT,
    F32,
    F64,
    I32,
    I64,
    ONE,
    V32,
    V64,
    ZERO,
    call,
    in_two_parts,
    nan_of,
)

SECOND_BITS = 20
"""Bits of the second word that take part: its upper ones, the last of them set."""


class Draw(NamedTuple):
    """The random bits of a rounding.

    Args:
        first: a word.
        second: another one, or None where there are no more bits.
        of_operands: a word for each operand, where these are moved at random.
    """

    first: ir.Value
    second: ir.Value | None
    of_operands: tuple[ir.Value, ...] = ()


class Stochastic(Sticky):
    """Stochastic rounding of what binary64 evaluates, and of its error."""

    def finish(self, b, r, error=None, ties=True, *, draw, divisor=None, root=False):
        """Round r + error, or r + error / divisor, or the root of r^2 + error, with the divisor
        2 r, which is at most half of r's last place away.

        A quotient is beyond a number where its remainder is beyond what that number leaves.
        """
        fmt = self.format
        sign, size = V64.sign_word(b, r), call(b, "fabs", r)
        lower, below = size, ir.Constant(BIT, 0)
        if error is not None:
            error = V64.to_float(b, b.xor(V64.to_word(b, error), sign))
            below = b.fcmp_ordered("<", error, ZERO)
            lower = V64.to_float(b, b.sub(V64.to_word(b, size), b.zext(below, I64)))
        power = V64.power(b, lower, fmt.min_normal if fmt.subnormals else 2.0**-900)
        top = V64.constant(2.0**1000)
        power = b.select(b.fcmp_ordered("<", power, top), power, top)
        spacing = b.fmul(power, V64.constant(2.0 ** (1 - fmt.significand_bits)))
        places = V64.inverse(b, spacing)
        integer = call(b, "floor", b.fmul(lower, places))
        fraction = b.fsub(b.fmul(size, places), integer)
        if self.rule.even_chances:
            some = b.fcmp_ordered("!=", fraction, ZERO)
            if error is not None:
                some = b.or_(some, b.fcmp_ordered("!=", error, ZERO))
            goes = b.and_(some, _coin(b, draw))
            return self._ended(b, r, b.fadd(integer, b.uitofp(goes, F64)), spacing, sign)
        beyond = b.fsub(fraction, b.fsub(V64.constant(2.0), _number(b, draw)))
        error = ZERO if error is None else b.fmul(error, places)
        if draw.second is None:  # u may be 0, and an error below 0 too small for binary64
            lost = b.and_(below, b.fcmp_ordered("==", error, ZERO))
            error = b.select(lost, V64.constant(-(2.0**-1074)), error)
        if divisor is None:
            goes = b.fcmp_ordered(">=", beyond, b.fneg(error))
        else:
            excess = call(b, "fma", beyond, divisor, error)
            if root:
                excess = call(b, "fma", b.fneg(beyond), b.fmul(beyond, spacing), excess)
            goes = b.fcmp_ordered(">=", excess, ZERO)
        return self._ended(b, r, b.fadd(integer, b.uitofp(goes, F64)), spacing, sign)

    def _ended(self, b, r, integer, spacing, sign):
        """Turn a number of last places into a result in the format's range."""
        rounded = V64.with_sign(b, b.fmul(integer, spacing), sign)
        if not self.format.subnormals:
            rounded = self._flush(b, rounded, sign)
        return self._overflow(b, r, rounded, sign)

    def div(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r = b.fdiv(x, y)
        error = left_of_quotient(b, r, x, y)
        return self._rounded(b, r, error, divisor=call(b, "fabs", y), **key)

    def sqrt(self, b, x, **key):
        x = self.widen(b, x)
        r = call(b, "sqrt", x)
        remainder = call(b, "fma", b.fneg(r), r, x)
        divisor = b.fadd(b.fadd(r, r), V64.constant(2.0**-1000))  # positive beside a zero, too
        return self._rounded(b, r, remainder, divisor=divisor, root=True, **key)

    def sum_of_binary64(self, b, x, y, **key):
        return self._rounded(b, *two_sum(b, x, y), **key)


class WideStochastic(Wide, Stochastic):
    """Random rounding where operands may be any numbers of the carrier. With even chances, products
    and quotients that are too small for binary64 count by their signs.
    """

    def mul(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        return super().mul(b, *self._with_signs(b, b.fmul(x, y), x, y, 2.0**-480), **key)

    def div(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        return super().div(b, *self._with_signs(b, b.fdiv(x, y), x, y, 2.0**480), **key)

    def _with_signs(self, b, r, x, y, other: float):
        """Both operands, or where r is zero and they are not, 2^-480 and another with their signs.
        """
        if not self.rule.even_chances:
            return x, y
        vanished = b.and_(b.fcmp_ordered("==", r, ZERO), _is_some(b, x))
        finite = b.fcmp_ordered("<", call(b, "fabs", y), V64.constant(float("inf")))
        vanished = b.and_(vanished, b.and_(finite, _is_some(b, y)))
        sizes = zip((x, y), (2.0**-480, other), strict=True)
        return [b.select(vanished, _signed(b, size, v), v) for v, size in sizes]


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
        plain = arithmetic.random_bits is None and not arithmetic.rule.even_chances
        return usual and fmt.significand_bits <= 11 and plain

    def add(self, b, x, y, *, draw):
        r, error = two_sum(b, x, y)
        word = V32.to_word(b, r)
        error = V32.to_float(b, b.xor(V32.to_word(b, error), V32.sign_word(b, r)))
        below = b.fcmp_ordered("<", error, V32.constant(0.0))
        word = b.select(below, b.sub(word, V32.word(1)), word)
        # Times 2^(10 - E), finite where a sum is inexact: its terms are multiples of 2^-136.
        exponent = b.and_(word, V32.word(V32.exponent))
        power = V32.to_float(b, b.sub(V32.word((254 + 10) << 23), exponent))
        tail = b.fmul(b.fmul(error, power), V32.constant(2.0 ** (13 + self._low)))
        return self._on_bits(b, word, draw, tail, below)

    def mul(self, b, x, y, *, draw):
        """Exact in binary32, but for subnormal results: these in units of 2^-149."""
        r = b.fmul(x, y)
        sign, zero = V32.sign_word(b, r), V32.constant(0.0)
        tiny = b.fcmp_ordered("<", call(b, "fabs", r), V32.constant(2.0**-126))
        units = b.fmul(b.fmul(x, V32.constant(2.0**75)), b.fmul(y, V32.constant(2.0**74)))
        units = call(b, "fabs", units)
        integer = call(b, "floor", units)
        tail = b.fmul(b.fsub(units, integer), V32.constant(2.0**self._low))
        some = b.fcmp_ordered(">", integer, zero)  # no number where one factor is 0, one very large
        small = b.or_(b.fptosi(b.select(some, integer, zero), I32), sign)
        word = b.select(tiny, small, V32.to_word(b, r))
        return self._on_bits(b, word, draw, b.select(tiny, tail, zero), ir.Constant(BIT, 0))

    def from_binary32(self, b, x, *, draw):
        up = b.lshr(draw.first, V32.word(self._low))
        return nan_of(b, x, self._masked(b, b.add(V32.to_word(b, x), up)))

    def from_binary64(self, b, x, *, draw):
        return nan_of(b, x, super().from_binary64(b, x, draw=draw))

    def _on_bits(self, b, word, draw, tail, below):
        """Round the number with these bits and `tail` units below their last place, of which it
        has 2^low; where `below`, the tail is negative and a last place is to be added to it.

        The tail and the lower bits are compared with a last place less one unit, or with nothing,
        so that what is left for the second word is exact where it is near.
        """
        up, lower = b.lshr(draw.first, V32.word(self._low)), V32.word((1 << self._low) - 1)
        compared = b.select(below, V32.word(0), lower)
        lacking = b.sitofp(b.sub(b.and_(draw.first, lower), compared), F32)
        second = b.fmul(b.sitofp(_of_second(b, draw), F32), V32.constant(2.0**-SECOND_BITS))
        unit, zero = V32.constant(1.0), V32.constant(0.0)
        bar = b.select(below, b.fsub(zero, second), b.fsub(unit, second))
        goes = b.fcmp_ordered(">=", b.fadd(tail, lacking), bar)
        up = b.add(word, up)
        return self._masked(b, b.select(goes, b.add(up, V32.word(1)), up))

    def _masked(self, b, word):
        return V32.to_float(b, b.and_(word, V32.word(-(1 << self._drop))))


class ToBinary64(Stochastic):
    """Random rounding to binary64: the processor's result t, to nearest, or the next number toward
    what is lost.

    With 2^k t + d + e the exact result times 2^k, k such that nothing leaves the range of binary64,
    and d = 0 but where t is subnormal or infinite, it is compared with a random number between
    neighbours. All differences are exact there, or have the sign of exact ones.
    """

    def finish(self, b, r, **key):
        """A number of binary64 is one of the format."""
        return r

    def add(self, b, x, y, *, draw):
        t = b.fadd(x, y)
        scale = _scale(b, t)
        r, error = two_sum(b, b.fmul(x, scale), b.fmul(y, scale))
        return self._moved(b, t, _from(b, t, r, scale), error, scale, draw)

    def sum_of_binary64(self, b, x, y, *, draw):
        return self.add(b, x, y, draw=draw)

    def mul(self, b, x, y, *, draw):
        t = b.fmul(x, y)
        scale = _scale(b, t)
        x, y = _scaled_factors(b, x, y, scale)
        r = b.fmul(x, y)
        offset = _from(b, t, r, scale)
        factors = b.and_(_is_some(b, x), _is_some(b, y))
        none = b.and_(factors, b.fcmp_ordered("==", r, ZERO))
        tiny = V64.with_sign(b, V64.constant(2.0**-1000), V64.sign_word(b, t))
        offset = b.select(none, tiny, offset)
        return self._moved(b, t, offset, call(b, "fma", x, y, b.fneg(r)), scale, draw)

    def div(self, b, x, y, *, draw):
        t = b.fdiv(x, y)
        scale = _scale(b, t)
        up = b.fcmp_ordered("<", call(b, "fabs", x), V64.constant(_SMALL))
        up = b.and_(up, b.fcmp_unordered("<=", scale, ONE))  # else x alone is scaled
        both = b.select(up, V64.constant(_UP), ONE)
        x, y = b.fmul(x, b.fmul(scale, both)), b.fmul(y, both)
        r = b.fdiv(x, y)
        error = left_of_quotient(b, r, x, y)
        size = call(b, "fabs", y)
        return self._moved(b, t, _from(b, t, r, scale), error, scale, draw, divisor=size)

    def sqrt(self, b, x, *, draw):
        t = call(b, "sqrt", x)
        tiny = b.fcmp_ordered("<", x, V64.constant(2.0**-700))
        scale = b.select(tiny, V64.constant(_UP**0.5), ONE)
        x, r = b.fmul(b.fmul(x, scale), scale), b.fmul(t, scale)
        error = call(b, "fma", b.fneg(r), r, x)
        return self._moved(b, t, ZERO, error, scale, draw, root=r)

    def fma(self, b, x, y, z, *, draw):
        """A product that is too small beside z, and a z that is so beside the product, count by
        their signs alone.
        """
        t, plain = call(b, "fma", x, y, z), call(b, "fabs", b.fmul(x, y))
        larger = call(b, "maxnum", plain, call(b, "fabs", z))
        down = b.fcmp_ordered(">=", larger, V64.constant(2.0**1022))
        scale = b.select(down, V64.constant(_DOWN), _scale(b, t, larger, 2.0**-700))
        factors = b.and_(_is_some(b, x), _is_some(b, y))
        x, y = _scaled_factors(b, x, y, scale)
        small = b.fcmp_ordered("<", call(b, "fabs", b.fmul(x, y)), V64.constant(2.0**-960))
        small = b.and_(small, factors)
        x, y = (b.select(small, _signed(b, 2.0**-480, v), v) for v in (x, y))
        some, z = _is_some(b, z), b.fmul(z, scale)
        small = b.fcmp_ordered("<", call(b, "fabs", z), V64.constant(_SMALL))
        z = b.select(b.and_(some, small), _signed(b, _SMALL, z), z)
        r, error = self.fused(b, x, y, z, exact_product=False)
        return self._moved(b, t, _from(b, t, r, scale), error, scale, draw)

    def from_integer(self, b, i, signed, *, draw):
        return self.add(b, *in_two_parts(b, i, signed), draw=draw)

    def from_binary64(self, b, x, *, draw):
        return x

    def _moved(self, b, t, offset, error, scale, draw, divisor=None, root=None):
        """t, or its neighbour toward offset + error, offset + error / divisor, or the root of
        root^2 + error; all of these are times the scale.
        """
        sign = V64.sign_word(b, t)
        offset, error = (V64.to_float(b, b.xor(V64.to_word(b, v), sign)) for v in (offset, error))
        if divisor is None:
            lost = b.fadd(offset, error)
        else:
            lost = call(b, "fma", offset, divisor, error)
        below, word = b.fcmp_ordered("<", lost, ZERO), V64.to_word(b, call(b, "fabs", t))
        lower = b.sub(word, b.zext(below, I64))
        finite = b.icmp_unsigned("<", lower, V64.word(V64.exponent))
        inexact = b.and_(finite, b.fcmp_ordered("!=", lost, ZERO))
        if self.rule.even_chances:
            goes = _coin(b, draw)
        else:
            power = V64.power(b, V64.to_float(b, lower), 2.0**-1022)
            gap = b.fmul(power, b.fmul(scale, V64.constant(2.0**-52)))
            start = b.select(below, ONE, V64.constant(2.0))
            bar = b.fmul(b.fsub(start, _number(b, draw)), gap)  # from t
            if root is not None:
                twice = b.fmul(root, V64.constant(-2.0))
                beyond = call(b, "fma", b.fneg(bar), bar, call(b, "fma", twice, bar, error))
                goes = b.fcmp_ordered(">=", beyond, ZERO)
            elif divisor is not None:
                beyond = call(b, "fma", b.fsub(offset, bar), divisor, error)
                goes = b.fcmp_ordered(">=", beyond, ZERO)
            else:
                goes = b.fcmp_ordered(">=", error, b.fsub(bar, offset))
        moved = b.select(inexact, b.add(lower, b.zext(goes, I64)), word)
        return b.select(b.fcmp_unordered("uno", t, t), t, V64.to_float(b, b.or_(moved, sign)))


class Noisy(Stochastic):
    """Monte Carlo arithmetic: uniform noise on operands, on results, or on both, then rounding to
    nearest. An operation is evaluated as the nearest number r of binary64 and what the exact
    result of the moved operands differs from it.

    Source: Parker (1997), "Monte Carlo arithmetic"; Denis, de Oliveira Castro & Petit (2016),
        "Verificarlo: checking floating point accuracy through Monte Carlo arithmetic".
    Differs from the source: what noise changes of a result is known to 2^-51 of itself, and a
        number below 2^-1022 gets none.
    """

    def finish(self, b, r, error=None, ties=True, *, draw, moved=None):
        """Round r + error + moved, and noise, to nearest; `error` is lost of the exact result."""
        error = ZERO if error is None else error
        more = error if moved is None else b.fadd(error, moved)
        if self.rule.moves_results:
            noise = self._noise(b, b.fadd(r, more), _number(b, draw))
            if not self.rule.moves_operands:  # what has t bits stays
                word, dropped = V64.to_word(b, r), (1 << (53 - self._t)) - 1
                some = b.icmp_unsigned("!=", b.and_(word, V64.word(dropped)), V64.word(0))
                some = b.or_(some, b.fcmp_ordered("!=", error, ZERO))
                noise = b.select(some, noise, ZERO)
            more = b.fadd(more, noise)
        usable = b.fcmp_ordered("<", call(b, "fabs", more), V64.constant(float("inf")))
        rounded = b.fadd(r, b.select(usable, more, ZERO))
        rounded = b.select(b.fcmp_ordered("==", more, ZERO), r, rounded)
        return rounded if self.format.is_binary64 else b.fpext(b.fptrunc(rounded, F32), F64)

    @property
    def _t(self) -> int:
        """The virtual precision."""
        return self.arithmetic.virtual_bits or self.format.significand_bits

    def _noise(self, b, x, number):
        """Noise of a number of binary64, from a random number in [1, 2)."""
        power = b.fmul(V64.power(b, x, None), V64.constant(2.0 ** (1 - self._t)))
        return b.fmul(power, b.fsub(number, V64.constant(1.5)))

    def _noises(self, b, draw, *operands):
        """Noise of each operand."""
        if not self.rule.moves_operands:
            return [ZERO] * len(operands)
        draws = [Draw(word, draw.second) for word in draw.of_operands]
        return [self._noise(b, x, _number(b, d)) for x, d in zip(operands, draws, strict=False)]

    def add(self, b, x, y, *, draw):
        x, y = self.widen(b, x), self.widen(b, y)
        moved = b.fadd(*self._noises(b, draw, x, y))
        return self._rounded(b, *two_sum(b, x, y), draw=draw, moved=moved)

    def mul(self, b, x, y, *, draw):
        x, y = self.widen(b, x), self.widen(b, y)
        of_x, of_y = self._noises(b, draw, x, y)
        r, moved = b.fmul(x, y), b.fadd(b.fmul(x, of_y), b.fmul(of_x, b.fadd(y, of_y)))
        error = call(b, "fma", x, y, b.fneg(r))
        return self._rounded(b, r, error, draw=draw, moved=moved)

    def div(self, b, x, y, *, draw):
        x, y = self.widen(b, x), self.widen(b, y)
        of_x, of_y = self._noises(b, draw, x, y)
        r = b.fdiv(x, y)
        error = b.fdiv(call(b, "fma", b.fneg(r), y, x), y)
        moved = b.fdiv(b.fsub(of_x, b.fmul(b.fadd(r, error), of_y)), b.fadd(y, of_y))
        return self._rounded(b, r, error, draw=draw, moved=moved)

    def sqrt(self, b, x, *, draw):
        x = self.widen(b, x)
        (of_x,) = self._noises(b, draw, x)
        r = call(b, "sqrt", x)
        error = b.fdiv(call(b, "fma", b.fneg(r), r, x), b.fadd(r, r))
        error = b.select(_is_some(b, x), error, ZERO)
        moved = b.fdiv(of_x, b.fadd(r, call(b, "sqrt", b.fadd(x, of_x))))
        moved = b.select(_is_some(b, x), moved, ZERO)
        return self._rounded(b, r, error, draw=draw, moved=moved)

    def fma(self, b, x, y, z, *, draw):
        x, y, z = (self.widen(b, v) for v in (x, y, z))
        of_x, of_y, of_z = self._noises(b, draw, x, y, z)
        moved = b.fadd(b.fmul(x, of_y), b.fmul(of_x, b.fadd(y, of_y)))
        r, error = self.fused(b, x, y, z, exact_product=False)
        return self._rounded(b, r, error, draw=draw, moved=b.fadd(moved, of_z))

    def from_integer(self, b, i, signed, *, draw):
        """Round to nearest, as all conversions do."""
        return self.from_binary64(b, (b.sitofp if signed else b.uitofp)(i, F64), draw=draw)

    def from_binary64(self, b, x, *, draw):
        return x if self.format.is_binary64 else self.narrow(b, b.fpext(b.fptrunc(x, F32), F64))


_SMALL, _UP, _DOWN = 2.0**-900, 2.0**600, 2.0**-200
"""Results below the first are looked at times the second, infinite ones times the third."""


def _scale(b, t, size=None, small: float = _SMALL):
    """The power of two that keeps what is lost of a result t within binary64, by a size."""
    size = call(b, "fabs", t) if size is None else size
    up = b.fcmp_ordered("<", size, V64.constant(small))
    scale = b.select(up, V64.constant(_UP), ONE)
    infinite = b.fcmp_ordered("==", call(b, "fabs", t), V64.constant(float("inf")))
    return b.select(infinite, V64.constant(_DOWN), scale)


def _scaled_factors(b, x, y, scale):
    """Both factors, the one that allows it times the scale."""
    first = b.fcmp_ordered("<=", call(b, "fabs", x), ONE)
    return b.fmul(x, b.select(first, scale, ONE)), b.fmul(y, b.select(first, ONE, scale))


def _from(b, t, r, scale):
    """r - t times the scale; an infinite t counts as 2^1024."""
    size, top = call(b, "fabs", b.fmul(t, scale)), V64.constant(2.0**824)
    infinite = b.fcmp_ordered("==", size, V64.constant(float("inf")))
    size = b.select(infinite, top, size)
    return b.fsub(r, V64.with_sign(b, size, V64.sign_word(b, t)))


def _is_some(b, x):
    """Whether a number is not zero."""
    return b.fcmp_ordered("!=", x, ZERO)


def _signed(b, size: float, x):
    """A size with the sign of x."""
    return V64.with_sign(b, V64.constant(size), V64.sign_word(b, x))


def _number(b, draw: Draw):
    """The number in [1, 2) whose bits are drawn, u and 1."""
    bits = b.shl(b.zext(draw.first, I64), V64.word(SECOND_BITS))
    if draw.second is not None:
        bits = b.or_(bits, b.zext(_of_second(b, draw), I64))
    return V64.to_float(b, b.or_(bits, V64.word(0x3FF << 52)))


def _coin(b, draw: Draw):
    """One random bit: the first."""
    return b.icmp_signed("<", draw.first, V32.word(0))


def _of_second(b, draw: Draw):
    """The bits of the second word that take part."""
    return b.or_(b.lshr(draw.second, V32.word(32 - SECOND_BITS)), V32.word(1))
