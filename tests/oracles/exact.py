"""Exact reference arithmetic: integers decide every bit, no floating-point operation does.

A finite number is (-1)^sign * (m + d) * 2^e with an integer m >= 0 and either d = 0 (exact) or
0 < d < 1 (`sticky`). Operations form such a number exactly and `round_parts` rounds it once. Values
are Python floats, which hold every number of a format of up to 53 significand bits. An arithmetic
is any object with `format`, `rounding` and `aligned`, and `random_bits` where it draws few of them.

Source: IEEE 754-2019, sections 4.3 (rounding), 6.3 (the sign of zero), 7.4 (overflow);
    Boldo & Melquiond 2008 (round to odd).
"""

from __future__ import annotations

import math
from fractions import Fraction

NAN, INF = math.nan, math.inf
RANDOM_BITS = 52
"""Of a random rounding."""
AT_RANDOM = "sr", "random"
"""Stochastic rounding, and that with even chances."""
QUOTIENT_BITS = 120  # of a quotient or root before its sticky bit: over two binary64 significands


def parts(x: float) -> tuple[int, int, int]:
    """(sign, m, e) with |x| = m * 2^e exactly, for a finite float."""
    fraction, exponent = math.frexp(x)
    sign = int(math.copysign(1.0, x) < 0.0)
    return sign, abs(int(fraction * 2**53)), exponent - 53


def round_parts(sign: int, m: int, e: int, sticky: bool, arithmetic, random: int = 0) -> float:
    """Round (-1)^sign * (m + d) * 2^e once into the arithmetic's format.

    Args:
        sign, m, e, sticky: the exact number; with sticky, m has more bits than any significand.
        arithmetic: the format and the rounding.
        random: the 52-bit integer R of stochastic rounding, of which its first r bits count where
            the arithmetic has `random_bits` r: up with the probability floor(f * 2^r) / 2^r.
    """
    fmt, rounding = arithmetic.format, arithmetic.rounding
    if rounding == "sr":
        unused = RANDOM_BITS - (getattr(arithmetic, "random_bits", None) or RANDOM_BITS)
        random = random >> unused << unused
    if m == 0 and not sticky:
        return -0.0 if sign else 0.0
    grid = _grid_exponent(m, e, fmt.significand_bits, fmt.emin if fmt.subnormals else None)
    kept = _round_to_grid(sign, m, e, sticky, grid, rounding, random)
    if not fmt.subnormals and kept.bit_length() + grid - 1 < fmt.emin:
        return -0.0 if sign else 0.0
    value = _ldexp(kept, grid)
    if value > fmt.max_finite:
        return _overflowed(sign, fmt, rounding)
    return -value if sign else value


def _grid_exponent(m: int, e: int, p: int, emin: int | None) -> int:
    """Exponent of the last of p places, or of the subnormal grid where that is coarser."""
    grid = m.bit_length() + e - p
    return grid if emin is None else max(grid, emin - p + 1)


def _round_to_grid(
    sign: int, m: int, e: int, sticky: bool, grid: int, rounding: str, random: int
) -> int:
    """The integer multiple of 2^grid to which (m + d) * 2^e rounds."""
    shift = grid - e
    if shift <= 0:
        if sticky:
            raise AssertionError("an inexact number was given with too few bits to round")
        return m << -shift
    kept = m >> shift
    rest = m - (kept << shift)
    if rest == 0 and not sticky:
        return kept
    if rounding == "rz":
        return kept
    if rounding == "ro":
        return kept | 1
    if rounding == "ru":
        return kept + (1 - sign)
    if rounding == "rd":
        return kept + sign
    if rounding == "sr":
        if sticky and shift < RANDOM_BITS:
            raise AssertionError("an inexact number was given with too few bits to draw")
        return kept + (((rest << RANDOM_BITS) >> shift) + random >= 1 << RANDOM_BITS)
    if rounding == "random":
        return kept + (random >> RANDOM_BITS - 1)
    if rounding != "rn":
        raise ValueError(f"rounding {rounding!r} is not one of rn rz ru rd ro sr random")
    twice, unit = 2 * rest, 1 << shift
    return kept + (twice > unit or (twice == unit and (sticky or kept % 2 == 1)))


def nearest(m: int, e: int, sticky: bool, p: int, emin: int | None = None) -> tuple[int, int, bool]:
    """(m + d) * 2^e to the nearest number of p bits, ties to even, its exponent unbounded above."""
    if m == 0 and not sticky:
        return m, e, sticky
    grid = _grid_exponent(m, e, p, emin)
    if grid <= e:
        return m, e, sticky
    return _round_to_grid(0, m, e, sticky, grid, "rn", 0), grid, False


def _ldexp(kept: int, exponent: int) -> float:
    try:
        return math.ldexp(kept, exponent)
    except OverflowError:
        return INF


def _overflowed(sign: int, fmt, rounding: str) -> float:
    outward = rounding in ("rn", *AT_RANDOM) or rounding == ("rd" if sign else "ru")
    if fmt.overflow == "saturate" or not outward:
        return -fmt.max_finite if sign else fmt.max_finite
    return infinite(sign, fmt)


def infinite(sign: int, fmt) -> float:
    """An exact infinity in the format: NaN where the format has none."""
    if fmt.overflow == "nan":
        return NAN
    return -INF if sign else INF


def round_exact(x: Fraction | int | float, arithmetic, random: int = 0) -> float:
    """Round a Fraction, an integer or a float (specials included) into the arithmetic's format."""
    if isinstance(x, float):
        if math.isnan(x):
            return NAN
        sign = int(math.copysign(1.0, x) < 0.0)
        if math.isinf(x):
            return infinite(sign, arithmetic.format)
        return round_parts(*parts(x), False, arithmetic, random)
    x = Fraction(x)
    return _quotient(int(x < 0), abs(x.numerator), 0, x.denominator, 0, arithmetic, random)


def _flush(x: float, fmt) -> float:
    """A subnormal is a zero of the same sign where they are flushed."""
    return math.copysign(0.0, x) if not fmt.subnormals and abs(x) < fmt.min_normal else x


def operands(arithmetic, *values: float) -> list[float]:
    """Operands as the arithmetic sees them: subnormals flushed, infinities NaN if it has none;
    one that is `mixed` with others takes the numbers of these as they are.
    """
    fmt = arithmetic.format
    if getattr(arithmetic, "mixed", False):
        return list(values)
    return [_flush(NAN if fmt.overflow == "nan" and math.isinf(v) else v, fmt) for v in values]


def negative(x: float) -> int:
    return int(math.copysign(1.0, x) < 0.0)


def add(a: float, b: float, arithmetic, random: int = 0) -> float:
    """a + b, rounded once; `aligned`: both operands are first cut at the larger's last place."""
    a, b = operands(arithmetic, a, b)
    if arithmetic.aligned and math.isfinite(a) and math.isfinite(b):
        a, b = _align(a, b, arithmetic.format.significand_bits)
    return _sum(a, b, arithmetic, random)


def sub(a: float, b: float, arithmetic, random: int = 0) -> float:
    """a - b = a + (-b)."""
    return add(a, -b, arithmetic, random)


def _align(a: float, b: float, p: int) -> tuple[float, float]:
    """Both truncated toward zero to multiples of 2^(E - p + 1), E the larger operand's exponent."""
    if a == 0.0 or b == 0.0:
        return a, b
    grid = max(math.frexp(a)[1], math.frexp(b)[1]) - p
    aligned = []
    for x in (a, b):
        sign, m, e = parts(x)
        kept = m >> (grid - e) if grid > e else m << (e - grid)
        aligned.append(math.copysign(math.ldexp(kept, grid), -1.0 if sign else 1.0))
    return aligned[0], aligned[1]


def _sum(a: float, b: float, arithmetic, random: int) -> float:
    if math.isnan(a) or math.isnan(b):
        return NAN
    if math.isinf(a) or math.isinf(b):
        if math.isinf(a) and math.isinf(b) and a != b:
            return NAN
        return infinite(negative(a if math.isinf(a) else b), arithmetic.format)
    return _signed_sum(parts(a), parts(b), arithmetic, random)


def _signed_sum(a: tuple[int, int, int], b: tuple[int, int, int], arithmetic, random: int) -> float:
    (sign_a, m_a, e_a), (sign_b, m_b, e_b) = a, b
    if m_a == 0 and m_b == 0 and sign_a == sign_b:
        return -0.0 if sign_a else 0.0
    e = min(e_a, e_b)
    total = (-1) ** sign_a * (m_a << (e_a - e)) + (-1) ** sign_b * (m_b << (e_b - e))
    if total == 0:
        return -0.0 if arithmetic.rounding == "rd" else 0.0
    return round_parts(int(total < 0), abs(total), e, False, arithmetic, random)


def mul(a: float, b: float, arithmetic, random: int = 0) -> float:
    """a * b, rounded once."""
    a, b = operands(arithmetic, a, b)
    if math.isnan(a) or math.isnan(b):
        return NAN
    sign = negative(a) ^ negative(b)
    if math.isinf(a) or math.isinf(b):
        return NAN if a == 0.0 or b == 0.0 else infinite(sign, arithmetic.format)
    (_, m_a, e_a), (_, m_b, e_b) = parts(a), parts(b)
    return round_parts(sign, m_a * m_b, e_a + e_b, False, arithmetic, random)


def div(a: float, b: float, arithmetic, random: int = 0) -> float:
    """a / b, rounded once; a finite number over zero is an exact infinity."""
    a, b = operands(arithmetic, a, b)
    if math.isnan(a) or math.isnan(b) or a == b == 0.0 or (math.isinf(a) and math.isinf(b)):
        return NAN
    sign = negative(a) ^ negative(b)
    if math.isinf(a) or b == 0.0:
        return infinite(sign, arithmetic.format)
    if math.isinf(b) or a == 0.0:
        return -0.0 if sign else 0.0
    (_, m_a, e_a), (_, m_b, e_b) = parts(a), parts(b)
    return _quotient(sign, m_a, e_a, m_b, e_b, arithmetic, random)


def _quotient(sign: int, m_a: int, e_a: int, m_b: int, e_b: int, arithmetic, random: int) -> float:
    shift = max(0, QUOTIENT_BITS + m_b.bit_length() - m_a.bit_length())
    quotient, remainder = divmod(m_a << shift, m_b)
    return round_parts(sign, quotient, e_a - e_b - shift, remainder != 0, arithmetic, random)


def sqrt(a: float, arithmetic, random: int = 0) -> float:
    """The square root, rounded once; of -0 it is -0."""
    (a,) = operands(arithmetic, a)
    if math.isnan(a) or a == 0.0:
        return a
    if a < 0.0:
        return NAN
    if math.isinf(a):
        return infinite(0, arithmetic.format)
    _, m, e = parts(a)
    shift = 2 * QUOTIENT_BITS + (e % 2)
    root = math.isqrt(m << shift)
    return round_parts(0, root, (e - shift) // 2, root * root != m << shift, arithmetic, random)


def fma(a: float, b: float, c: float, arithmetic, random: int = 0) -> float:
    """a * b + c, rounded once."""
    a, b, c = operands(arithmetic, a, b, c)
    if math.isnan(a) or math.isnan(b) or math.isnan(c):
        return NAN
    sign = negative(a) ^ negative(b)
    if math.isinf(a) or math.isinf(b):
        if a == 0.0 or b == 0.0 or (math.isinf(c) and negative(c) != sign):
            return NAN
        return infinite(sign, arithmetic.format)
    if math.isinf(c):
        return infinite(negative(c), arithmetic.format)
    (_, m_a, e_a), (_, m_b, e_b) = parts(a), parts(b)
    return _signed_sum((sign, m_a * m_b, e_a + e_b), parts(c), arithmetic, random)


def neg(a: float, arithmetic, random: int = 0) -> float:
    """-a; never rounds a number of the format."""
    return -operands(arithmetic, a)[0]


def absolute(a: float, arithmetic, random: int = 0) -> float:
    """|a|; never rounds a number of the format."""
    return abs(operands(arithmetic, a)[0])


def compare(operator, a: float, b: float, arithmetic) -> bool:
    """A comparison of two operands as the arithmetic sees them (`operator.lt` and so on)."""
    return bool(operator(*operands(arithmetic, a, b)))


def from_int(i: int, arithmetic, random: int = 0) -> float:
    """An integer, rounded once."""
    return round_exact(int(i), arithmetic, random)


def to_int(a: float, arithmetic) -> int:
    """The whole part of a finite number, truncated toward zero."""
    sign, m, e = parts(operands(arithmetic, a)[0])
    whole = m << e if e >= 0 else m >> -e
    return -whole if sign else whole
