"""Arithmetic of unevaluated sums of two binary64 numbers, as code that is emitted.

A pair (high, low) is normalised: high is high + low rounded to nearest. Results are. With u = 2^-53
the relative errors are at most 3 u^2 + 13 u^3 of a sum, of any signs, 4 u^2 of a product, 15 u^2 of
a quotient and 25/8 u^2 of a square root, where nothing overflows, and no rest of a product or a
quotient underflows: from 2^-969 on. Below, a result misses up to 2^-1074 more.

Source: Joldes, Muller and Popescu (2017), algorithms 6, 12 and 17; the bound of products Muller and
Rideau (2022); square roots Lefevre, Louvet, Muller, Picot and Rideau (2022).

Differs from the source: the remainder of a quotient is formed by fused operations; beyond
binary64's range there is no rest, and a quotient or root of what has none is that of high numbers.
"""

from __future__ import annotations

import math

from llvmlite import ir

from sciprec.precision.rounding.sticky import two_sum
from sciprec.precision.rounding.words import F64, I64, ONE, V64, ZERO, call


def normalised(b, high, low, plain=None):
    """The pair of a sum whose second number is much the smaller one (Dekker 1971).

    Args:
        plain: the result of high numbers alone, which stands where the sum is no number, and for
            zeros, since it has their sign; `high` where left out.
    """
    total, plain = b.fadd(high, low), high if plain is None else plain
    residual = b.fsub(low, b.fsub(total, high))
    same = b.fcmp_unordered("==", total, plain)  # or no number
    finite = b.fcmp_ordered("<", call(b, "fabs", residual), V64.constant(math.inf))
    return b.select(same, plain, total), b.select(finite, residual, ZERO)


def plus(b, x, y):
    """x + y: AccurateDWPlusDW."""
    high, low = two_sum(b, x[0], y[0])
    lows, more = two_sum(b, x[1], y[1])
    middle = b.fadd(low, lows)
    total = b.fadd(high, middle)
    error = b.fsub(middle, b.fsub(total, high))
    return normalised(b, total, b.fadd(more, error), high)


def minus(b, x, y):
    """x - y."""
    return plus(b, x, negated(b, y))


def negated(b, x):
    """-x."""
    return b.fneg(x[0]), b.fneg(x[1])


def times(b, x, y):
    """x y: DWTimesDW3."""
    product = b.fmul(x[0], y[0])
    error = call(b, "fma", x[0], y[0], b.fneg(product))
    across = call(b, "fma", x[0], y[1], b.fmul(x[1], y[1]))
    across = call(b, "fma", x[1], y[0], across)
    return normalised(b, product, b.fadd(error, across))


def over(b, x, y):
    """x / y: DWDivDW2."""
    quotient = b.fdiv(x[0], y[0])
    less = b.fneg(quotient)
    remainder = b.fadd(call(b, "fma", less, y[0], x[0]), x[1])
    remainder = call(b, "fma", less, y[1], remainder)
    return normalised(b, quotient, b.fdiv(remainder, y[0]))


def root(b, x):
    """The square root of x: SQRTDWtoDW."""
    near = call(b, "sqrt", x[0])
    remainder = b.fadd(call(b, "fma", b.fneg(near), near, x[0]), x[1])
    return normalised(b, near, b.fdiv(remainder, b.fadd(near, near)))


def compared(b, sign: str, x, y):
    """Whether a comparison of two pairs holds."""
    compare = b.fcmp_unordered if sign == "!=" else b.fcmp_ordered
    alike = b.fcmp_ordered("==", x[0], y[0])
    return b.select(alike, compare(sign, x[1], y[1]), compare(sign, x[0], y[0]))


def toward(b, function: str, x):
    """A pair rounded to a whole number by one of LLVM's functions."""
    high, low = x
    if function == "trunc":
        up = b.fcmp_ordered("<", high, ZERO)
        ends = [toward(b, f, x) for f in ("ceil", "floor")]
        high, low = (b.select(up, c, f) for c, f in zip(*ends, strict=True))
        nothing = b.fcmp_ordered("==", high, ZERO)
        return b.select(nothing, call(b, "copysign", high, x[0]), high), low
    near = call(b, function, high)
    is_whole = b.fcmp_ordered("==", near, high)
    if function == "roundeven":  # a tie of the high number is none where there is a low one
        floor = call(b, "floor", high)
        tie = b.fcmp_ordered("==", b.fsub(high, floor), V64.constant(0.5))
        above = b.select(b.fcmp_ordered(">", low, ZERO), b.fadd(floor, ONE), floor)
        moved = b.and_(tie, b.fcmp_ordered("!=", low, ZERO))
        near = b.select(moved, above, near)
    return normalised(b, near, b.select(is_whole, call(b, function, low), ZERO))


def of_integer(b, number, signed: bool):
    """A 64-bit integer as a pair, exactly."""
    near = (b.sitofp if signed else b.uitofp)(number, F64)
    moved = b.add(number, ir.Constant(I64, 1 << 53))
    small = b.icmp_unsigned("<", moved, ir.Constant(I64, 1 << 54))
    back = b.select(small, number, (b.fptosi if signed else b.fptoui)(near, I64))
    return near, b.sitofp(b.sub(number, back), F64)


def to_integer(b, x, function: str = "trunc"):
    """A pair as a 64-bit integer, rounded by one of LLVM's functions."""
    return b.add(*(b.fptosi(n, I64) for n in toward(b, function, x)))
