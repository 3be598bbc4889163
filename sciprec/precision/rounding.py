"""Roundings as LLVM instructions: for each arithmetic, how an operation is evaluated and rounded
once.

A value lives in the backend's carrier (binary32 or binary64), always exactly a number of the
format. An operation widens its operands to the evaluation type, evaluates, rounds, and narrows
back (exactly). Which of the techniques below is used is decided in `rounder` alone:

    Native       the processor's own arithmetic
    Half         binary16 by conversion to half and back
    Single       binary32 inside a binary64 carrier, likewise
    Bits         add-and-mask on the bits (formats with binary32's exponents)
    Grid         adding and subtracting 1.5 * 2^k, whose spacing is the format's
    Stochastic   random bits added below the last kept one
    Sticky       truncation plus the sign of the rounding error (any format, any rounding)

Bits and Grid serve rounding to nearest and, under the processor's directed modes, the others.

Double rounding is innocuous where the evaluation has 2p + 2 bits or more (Figueroa 1995), and
always in a directed mode, whose grids are nested. Sticky needs neither.

Source: Boldo & Melquiond (2008) for round to odd and sticky evaluation; Dekker (1971), Knuth
(TAOCP 2, 4.2.2) for the error of a sum.
"""

from __future__ import annotations

from functools import lru_cache

from llvmlite import ir

from sciprec.errors import InputError
from sciprec.precision.backend import Arithmetic, Backend
from sciprec.precision.mode import available, control_word, has_feature

BIT, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
_DIRECTED = ("rz", "ru", "rd")


def call(b: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """An LLVM intrinsic (llvm.fma, llvm.floor, ...) on operands of one floating type."""
    kind = args[0].type
    signature = ir.FunctionType(kind, [kind] * len(args))
    return b.call(b.module.declare_intrinsic(f"llvm.{name}", [kind], signature), args)


def opaque(b: ir.IRBuilder, identifier: str, value: ir.Constant) -> ir.Value:
    """A constant that the compiler cannot compute with: loaded from a variable of its own.

    LLVM folds constant expressions to nearest; the load may leave a loop, but not be folded.
    """
    module = b.module
    held = module.globals.get(identifier)
    if held is None:
        held = ir.GlobalVariable(module, value.type, identifier)
        held.linkage, held.initializer = "weak", value
    loaded = b.load(held)
    loaded.set_metadata("invariant.load", module.add_metadata([]))
    return loaded


class View:
    """Bit patterns of an evaluation type: masks, casts and the usual predicates."""

    def __init__(self, kind: ir.Type):
        self.kind = kind
        self.bits = 24 if kind == F32 else 53
        self.integer = I32 if kind == F32 else I64
        self.width = 32 if kind == F32 else 64
        self.sign = 1 << (self.width - 1)
        self.exponent = (0xFF << 23) if kind == F32 else (0x7FF << 52)
        self.quiet = 1 << (self.bits - 2)

    def constant(self, value: float) -> ir.Constant:
        return ir.Constant(self.kind, value)

    def word(self, value: int) -> ir.Constant:
        return ir.Constant(self.integer, value)

    def to_word(self, b, x):
        return b.bitcast(x, self.integer)

    def to_float(self, b, word):
        return b.bitcast(word, self.kind)

    def masked(self, b, x, mask: int):
        return self.to_float(b, b.and_(self.to_word(b, x), self.word(mask)))

    def sign_word(self, b, x):
        return b.and_(self.to_word(b, x), self.word(self.sign))

    def with_sign(self, b, magnitude, sign_word):
        """The magnitude (sign bit clear, or equal to the wanted one) with a sign bit set where
        wanted.
        """
        return self.to_float(b, b.or_(self.to_word(b, magnitude), sign_word))

    def inverse(self, b, power_of_two):
        """1 / 2^k, exactly, by the exponent bits (2^k normal and its inverse too)."""
        twice_bias = (2 * 127) << 23 if self.kind == F32 else (2 * 1023) << 52
        return self.to_float(b, b.sub(self.word(twice_bias), self.to_word(b, power_of_two)))

    def power(self, b, x, low: float | None):
        """2^floor(log2 |x|), read off the exponent bits, not below `low`; infinite where x is not
        finite.
        """
        e = self.masked(b, x, self.exponent)
        if low is None:
            return e
        return b.select(b.fcmp_ordered(">", e, self.constant(low)), e, self.constant(low))


V32, V64 = View(F32), View(F64)


class Native:
    """The processor's own arithmetic in the evaluation type; the base of the other techniques.

    Subclasses override `finish` (rounds a result of the evaluation type) and, where one rounding
    of a rounded result would be wrong, the operation itself.

    Attributes:
        placed: whether every result depends on its place (signs and integers included), given to
            the operations as the address `row`.
    """

    placed = False

    def __init__(
        self, arithmetic: Arithmetic, carrier: ir.Type, evaluation: ir.Type, mode: str | None
    ):
        self.arithmetic, self.format = arithmetic, arithmetic.format
        self.carrier, self.evaluation, self.mode = carrier, evaluation, mode
        self.view = self.grid_view(evaluation)

    @staticmethod
    def grid_view(evaluation: ir.Type) -> View:
        """The view of the type in which results are moved to the format's grid."""
        return View(evaluation)

    def finish(self, b, r):
        return r

    def widen(self, b, x):
        return b.fpext(x, self.evaluation) if x.type != self.evaluation else x

    def narrow(self, b, x):
        return b.fptrunc(x, self.carrier) if x.type != self.carrier else x

    def round(self, b, r, **key):
        """A result of the evaluation type, rounded to the format, in the carrier."""
        return self.narrow(b, self.finish(b, r, **key))

    def add(self, b, x, y, **key):
        return self.round(b, b.fadd(self.widen(b, x), self.widen(b, y)), **key)

    def sub(self, b, x, y, **key):
        return self.add(b, x, self.negated(b, y), **key)

    def negated(self, b, x):
        """-x. LLVM moves a sign that it sees into products and quotients, which is right only where
        the rounding is symmetric: upward and downward it is changed by a hidden mask.
        """
        if self.mode not in ("ru", "rd"):
            return b.fneg(x)
        view = View(x.type)
        sign = opaque(b, f"sciprec.sign{view.width}", view.word(view.sign))
        return view.to_float(b, b.xor(view.to_word(b, x), sign))

    def magnitude(self, b, x):
        """|x|, under the same condition."""
        if self.mode not in ("ru", "rd"):
            return call(b, "fabs", x)
        view = View(x.type)
        rest = opaque(b, f"sciprec.rest{view.width}", view.word(view.sign - 1))
        return view.to_float(b, b.and_(view.to_word(b, x), rest))

    def mul(self, b, x, y, **key):
        return self.round(b, b.fmul(self.widen(b, x), self.widen(b, y)), **key)

    def div(self, b, x, y, **key):
        return self.round(b, b.fdiv(self.widen(b, x), self.widen(b, y)), **key)

    def sqrt(self, b, x, **key):
        return self.round(b, call(b, "sqrt", self.widen(b, x)), **key)

    def fma(self, b, x, y, z, **key):
        return self.round(b, call(b, "fma", *(self.widen(b, v) for v in (x, y, z))), **key)

    def from_binary32(self, b, x, **key):
        """Any binary32 number, rounded once."""
        if self.evaluation == F32:
            return self.round(b, x, **key)
        return self.from_binary64(b, b.fpext(x, F64), **key)

    def from_binary64(self, b, x, **key):
        """Any binary64 number, rounded once."""
        return self.round(b, x if self.evaluation == F64 else b.fptrunc(x, F32), **key)

    def from_integer(self, b, i, signed: bool, **key):
        """Any 64-bit integer, rounded once: by the processor, or jammed to 53 bits first (sticky
        last bit).
        """
        if type(self) is Native or self.mode:
            convert = b.sitofp if signed else b.uitofp
            if self.mode:
                i = b.add(i, opaque(b, "sciprec.zero", ir.Constant(I64, 0)))
            return self.round(b, convert(i, self.evaluation), **key)
        return self.from_binary64(b, _jammed(b, i, signed), **key)

    def _overflow(self, b, r, rounded, sign_word, beyond=None):
        """Apply the overflow rule where `beyond`: r is the unrounded result; its infinities stay
        infinite.
        """
        fmt, view, rounding = self.format, self.view, self.arithmetic.rounding
        size, infinity = call(b, "fabs", r), view.constant(float("inf"))
        largest = view.constant(fmt.max_finite)
        if beyond is None:
            beyond = b.fcmp_ordered(">", call(b, "fabs", rounded), largest)
        if fmt.overflow == "saturate" or rounding in ("rz", "ro"):
            limit = largest
        elif rounding in ("ru", "rd"):
            negative = b.icmp_unsigned("!=", sign_word, view.word(0))
            up, down = (largest, infinity) if rounding == "ru" else (infinity, largest)
            limit = b.select(negative, up, down)
        else:
            limit = infinity
        if fmt.overflow == "nan":
            nan = view.constant(float("nan"))
            limit = (
                nan
                if limit is infinity
                else b.select(b.fcmp_ordered("==", size, infinity), nan, limit)
            )
        elif limit is not infinity:
            limit = b.select(b.fcmp_ordered("==", size, infinity), infinity, limit)
        return b.select(beyond, view.with_sign(b, limit, sign_word), rounded)

    def _flush(self, b, r, sign_word):
        """Results below the smallest normal number become zeros of the same sign."""
        tiny = b.fcmp_ordered("<", call(b, "fabs", r), self.view.constant(self.format.min_normal))
        return b.select(tiny, self.view.to_float(b, sign_word), r)


def _jammed(b, i, signed: bool):
    """A 64-bit integer as binary64 whose last bit is sticky, so that one later rounding is right
    (p <= 51).
    """
    mask, sign = ir.Constant(I64, ~0x7FF), None
    if signed:
        sign = b.icmp_signed("<", i, ir.Constant(I64, 0))
        i = b.select(sign, b.neg(i), i)
    low = b.and_(i, ir.Constant(I64, 0x7FF))
    sticky = b.shl(
        b.zext(b.icmp_unsigned("!=", low, ir.Constant(I64, 0)), I64), ir.Constant(I64, 11)
    )
    large = b.icmp_unsigned(">=", i, ir.Constant(I64, 1 << 53))
    x = b.uitofp(b.select(large, b.or_(b.and_(i, mask), sticky), i), F64)
    return b.select(sign, b.fneg(x), x) if signed else x


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
        operation.
        """
        if self.evaluation != F32:
            return super().from_binary32(b, x)
        if self.arithmetic.rounding == "rz":
            return self.narrow(b, self.finish(b, call(b, "canonicalize", x)))
        nan = b.fcmp_unordered("uno", x, x)
        return self.narrow(b, b.select(nan, self.view.constant(float("nan")), self.finish(b, x)))


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

    def div(self, b, x, y):
        return self._wide().div(b, x, y)

    def fma(self, b, x, y, z):
        return Sticky(self.arithmetic, self.carrier, F64, None).fma(b, x, y, z)

    def from_binary64(self, b, x):
        return self._wide().from_binary64(b, x)

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


class Half(Grid):
    """binary16 to nearest: LLVM's conversion to half and back, subnormals and overflow included."""

    def finish(self, b, r):
        return b.fpext(b.fptrunc(r, F16), F32)


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
        nan = b.fcmp_unordered("uno", x, x)
        return b.select(nan, V32.constant(float("nan")), self.finish(b, x, draw))


class Sticky(Native):
    """Evaluation in binary64 with the sign of its error: every rounding of every format, in
    nearest mode.
    """

    def finish(self, b, r, error=None):
        fmt, rounding = self.format, self.arithmetic.rounding
        sign, size = V64.sign_word(b, r), call(b, "fabs", r)
        inexact = ir.Constant(BIT, 0)
        if error is not None:
            inexact = b.fcmp_ordered("!=", error, V64.constant(0.0))
            opposite = b.icmp_unsigned("!=", V64.sign_word(b, error), sign)
            step = b.zext(b.and_(inexact, opposite), I64)
            size = V64.to_float(b, b.sub(V64.to_word(b, size), step))
        power = V64.power(b, size, fmt.min_normal if fmt.subnormals else None)
        power = b.select(
            b.fcmp_ordered("<", power, V64.constant(2.0**1000)), power, V64.constant(2.0**1000)
        )
        spacing = b.fmul(power, V64.constant(2.0 ** (1 - fmt.significand_bits)))
        y = b.fmul(size, V64.inverse(b, spacing))
        kept = call(b, "floor", y)
        rest = b.fsub(y, kept)
        up = self._up(b, rounding, kept, rest, inexact, sign)
        kept = b.fadd(kept, b.uitofp(up, F64))
        rounded = V64.with_sign(b, b.fmul(kept, spacing), sign)
        if fmt.significand_bits == 53 and rounding == "rn":  # r is the rounding, but for subnormals
            normal = b.fcmp_ordered(">=", call(b, "fabs", r), V64.constant(fmt.min_normal))
            rounded = b.select(normal, r, rounded)
        if not fmt.subnormals:
            rounded = self._flush(b, rounded, sign)
        return self._overflow(b, r, rounded, sign)

    def _up(self, b, rounding, kept, rest, inexact, sign):
        zero, half = V64.constant(0.0), V64.constant(0.5)
        some = b.or_(inexact, b.fcmp_ordered(">", rest, zero))
        if rounding == "rz":
            return ir.Constant(BIT, 0)
        if rounding in ("ru", "rd"):
            wanted = "==" if rounding == "ru" else "!="
            return b.and_(some, b.icmp_unsigned(wanted, sign, V64.word(0)))
        halved = b.fmul(kept, half)
        odd = b.fcmp_ordered("!=", halved, call(b, "floor", halved))
        if rounding == "ro":
            return b.and_(some, b.not_(odd))
        tie = b.and_(b.fcmp_ordered("==", rest, half), b.or_(inexact, odd))
        return b.or_(b.fcmp_ordered(">", rest, half), tie)

    def add(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r, error = two_sum(b, x, y)
        return self._zero_sum(b, self._rounded(b, r, error, **key), r, x, y)

    def mul(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r = b.fmul(x, y)
        exact = self.format.significand_bits <= 26
        return self._rounded(b, r, None if exact else call(b, "fma", x, y, b.fneg(r)), **key)

    def div(self, b, x, y, **key):
        x, y = self.widen(b, x), self.widen(b, y)
        r = b.fdiv(x, y)
        rest = call(b, "fma", b.fneg(r), y, x)
        error = V64.to_float(b, b.xor(V64.to_word(b, rest), V64.sign_word(b, y)))
        return self._rounded(b, r, error, **key)

    def sqrt(self, b, x, **key):
        x = self.widen(b, x)
        r = call(b, "sqrt", x)
        return self._rounded(b, r, call(b, "fma", b.fneg(r), r, x), **key)

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
        r, error = self.fused(b, x, y, z, self.format.significand_bits <= 26)
        high = b.fmul(x, y)
        return self._zero_sum(b, self._rounded(b, r, error, **key), r, high, z)

    def from_integer(self, b, i, signed, **key):
        if self.format.significand_bits <= 51:
            return self._rounded(b, _jammed(b, i, signed), None, **key)
        convert = b.sitofp if signed else b.uitofp
        high = convert(b.and_(i, ir.Constant(I64, ~0x7FF)), F64)
        low = b.uitofp(b.and_(i, ir.Constant(I64, 0x7FF)), F64)
        return self._rounded(b, *two_sum(b, high, low), **key)

    def _rounded(self, b, r, error, **key):
        return self.narrow(b, self.finish(b, r, error))

    def _zero_sum(self, b, rounded, r, x, y):
        """Toward -infinity an exact zero sum is -0, unless both terms are +0 (IEEE 754, 6.3)."""
        if self.arithmetic.rounding != "rd":
            return rounded
        sign = b.or_(V64.sign_word(b, x), V64.sign_word(b, y))
        zero = self.narrow(b, V64.to_float(b, sign))
        return b.select(b.fcmp_ordered("==", r, V64.constant(0.0)), zero, rounded)


def two_sum(b, x, y):
    """s + e = x + y exactly, s = fl(x + y) (Knuth)."""
    s = b.fadd(x, y)
    t = b.fsub(s, x)
    return s, b.fadd(b.fsub(x, b.fsub(s, t)), b.fsub(y, t))


def odd(b, r, error):
    """r + error rounded to odd in binary64: r, or its neighbour toward the error of an even r."""
    word = V64.to_word(b, r)
    inexact = b.fcmp_ordered("!=", error, V64.constant(0.0))
    even = b.icmp_unsigned("==", b.and_(word, V64.word(1)), V64.word(0))
    same = b.icmp_unsigned("==", V64.sign_word(b, error), V64.sign_word(b, r))
    moved = b.add(word, b.select(same, V64.word(1), V64.word(-1)))
    return V64.to_float(b, b.select(b.and_(inexact, even), moved, word))


def aligned_pair(b, x, y, significand_bits: int):
    """Both operands truncated toward zero to multiples of 2^(E - p + 1), E the larger one's
    exponent.
    """
    drop = 24 - significand_bits
    words = [b.bitcast(v, I32) for v in (x, y)]
    exponents = [b.and_(b.lshr(w, ir.Constant(I32, 23)), ir.Constant(I32, 0xFF)) for w in words]
    out = []
    for word, own, other in zip(words, exponents, reversed(exponents), strict=True):
        gap = b.sub(other, own)
        gap = b.select(b.icmp_signed(">", gap, ir.Constant(I32, 0)), gap, ir.Constant(I32, 0))
        near = b.icmp_signed("<", gap, ir.Constant(I32, significand_bits))
        shift = b.select(near, b.add(gap, ir.Constant(I32, drop)), ir.Constant(I32, 31))
        mask = b.shl(ir.Constant(I32, -1), shift)
        out.append(b.bitcast(b.and_(word, mask), F32))
    return out


def _with_alignment(technique: type) -> type:
    """The same technique with operands of additions aligned first (no guard bits)."""

    class Aligned(technique):
        def add(self, b, x, y, **key):
            x, y = aligned_pair(b, x, y, self.format.significand_bits)
            return super().add(b, x, y, **key)

    return Aligned


def processor_word(backend: Backend, path: str = "auto") -> int:
    """The MXCSR value under which the backend's kernels run; 0 for the normal mode."""
    if backend.fixed:
        return 0
    rounding = {role.rounding for role in backend.roles}
    if path == "software" or not available() or not has_feature("fma") or len(rounding) != 1:
        return 0
    direction = rounding.pop()
    narrow = all(r.format.significand_bits <= 24 or r.format.is_binary64 for r in backend.roles)
    limited = direction != "rz" and any(r.format.overflow != "infinity" for r in backend.roles)
    if direction not in _DIRECTED or not narrow or limited:
        return 0
    return control_word(
        direction, all(_flushes_as_binary32(r) for r in backend.roles) and direction == "rz"
    )


def _flushes_as_binary32(arithmetic: Arithmetic) -> bool:
    fmt = arithmetic.format
    return not fmt.subnormals and fmt.emin == -126 and arithmetic.fits_binary32


@lru_cache(maxsize=256)
def rounder(arithmetic: Arithmetic, carrier: ir.Type, word: int) -> Native:
    """The technique for an arithmetic in a carrier, in the normal mode (word = 0) or under a
    control word.
    """
    if word:
        technique, evaluation = _directed(arithmetic, carrier, word)
    else:
        technique, evaluation = _nearest(arithmetic, carrier)
    if technique is Sticky and arithmetic.format.emin < -450:
        raise InputError(
            f"'{arithmetic.format.name}' in rounding {arithmetic.rounding} needs the processor's "
            "rounding mode, which is not used here; exponents with emin - p + 1 >= -450 and "
            "emax <= 450 do without it"
        )
    if arithmetic.aligned:
        technique = _with_alignment(technique)
    return technique(arithmetic, carrier, evaluation, arithmetic.rounding if word else None)


def _directed(arithmetic, carrier, word) -> tuple[type, ir.Type]:
    fmt, p = arithmetic.format, arithmetic.format.significand_bits
    flush_by_processor = bool(word & 0x8000)
    plain = fmt.overflow == "infinity" or (
        fmt.overflow == "saturate" and arithmetic.rounding == "rz"
    )
    if carrier == F32 and (fmt.emin, fmt.emax) == (-126, 127) and plain:
        if fmt.subnormals or flush_by_processor:
            return Bits, F32
    if fmt.is_binary64 or (fmt.emin, fmt.emax, fmt.subnormals) == (-1022, 1023, True):
        return Bits, F64
    roomy = fmt.emax <= 125 - (24 - p) and (arithmetic.rounding == "rz" or fmt.subnormals)
    if carrier == F32 and roomy:
        return Grid, F32
    return Grid, F64


def _nearest(arithmetic, carrier) -> tuple[type, ir.Type]:
    fmt, p = arithmetic.format, arithmetic.format.significand_bits
    if arithmetic.rounding == "sr":
        if not (p <= 11 and arithmetic.fits_binary32 and fmt.overflow == "infinity"):
            return Stochastic, F64
        plain = (fmt.emin, fmt.emax, fmt.subnormals) == (-126, 127, True)
        return (StochasticBits if plain else Stochastic), F32
    if arithmetic.rounding != "rn" or arithmetic.aligned or p > 25 and not fmt.is_binary64:
        return Sticky, F64
    if arithmetic.native is not None:
        wide = arithmetic.native.itemsize == 4 and carrier == F64
        return (Single if wide else Native), carrier
    if carrier == F64 or p > 11:
        return Grid, F64
    if (p, fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow) == (11, -14, 15, True, "infinity"):
        return (Half if has_feature("f16c") else Grid), F32
    if (fmt.emin, fmt.emax, fmt.subnormals, fmt.overflow) == (-126, 127, True, "infinity"):
        return (BitsNearest, F32) if has_feature("fma") else (Grid, F64)
    never_infinite = 2 * fmt.emax + 2 <= 127 and fmt.emax - fmt.emin + p <= 126
    representable = fmt.emax <= 125 - (24 - p) and fmt.emin - p >= -126
    if representable and (fmt.overflow == "infinity" or never_infinite):
        return Grid, F32
    return Grid, F64
