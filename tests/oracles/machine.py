"""Exact reference of the MLU370's instructions: Fractions and Python's integers, no rounding code.

Source: published description of the Cambricon MLU370; conventions of sciprec/machine where the
    description leaves them open.
"""

from __future__ import annotations

import math
from fractions import Fraction

LEAST_EXPONENT, PLACES = -126, 21
LARGEST = Fraction(2**PLACES - 1) * Fraction(2) ** (127 - PLACES + 1)
WORD, DOUBLE_WORD = 2**32, 2**64


def truncate(x: Fraction, sign_of_zero: float = 1.0) -> float:
    """The mlu370 number nearest to x among those not larger in magnitude."""
    sign = -1.0 if x < 0 else 1.0 if x > 0 else sign_of_zero
    size = abs(x)
    if size < Fraction(2) ** LEAST_EXPONENT:
        return math.copysign(0.0, sign)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    place = Fraction(2) ** (exponent - PLACES + 1)
    return math.copysign(float(min(size // place * place, LARGEST)), sign)


def entered(x: float) -> float:
    """An operand as the register holds it."""
    if math.isnan(x) or math.isinf(x):
        return x
    return truncate(Fraction(x), math.copysign(1.0, x))


def product(a: float, b: float) -> Fraction | float:
    """a * b: a Fraction, or a float where it is zero, infinite or NaN (for the sign)."""
    if a == 0.0 or b == 0.0 or not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return Fraction(a) * Fraction(b)


def total(a: float, b: Fraction | float) -> float:
    """a + b, truncated once; a zero sum of two different numbers is positive."""
    if isinstance(b, Fraction):
        return a if not math.isfinite(a) else truncate(Fraction(a) + b)
    if not (math.isfinite(a) and math.isfinite(b)) or (a == 0.0 and b == 0.0):
        return a + b
    return truncate(Fraction(a) + Fraction(b))


def vcomp(rn: float, rm: float, alpha: float, fused: bool = False) -> float:
    """Rd = Rn + Rm * alpha, truncated after product and sum, or (fused) only after the sum."""
    augend, multiplicand, multiplier = map(entered, (rn, rm, alpha))
    exact = product(multiplicand, multiplier)
    if not fused and isinstance(exact, Fraction):
        exact = truncate(exact)
    return total(augend, exact)


def low_word(i: int, size: int = WORD) -> int:
    """An integer's low bits, read as two's complement."""
    return (i + size // 2) % size - size // 2


def vscale(rn: int, rs: int) -> int:
    """Rd = floor(Rn * Rs / 2^32)."""
    return math.floor(Fraction(low_word(rn) * low_word(rs), WORD))


def vacc(rd: int, rn: int, rm: int = 1, saturate: bool = False) -> tuple[int, bool]:
    """(Rd + Rn * Rm in 64 bits, whether the exact sum does not fit)."""
    exact = rd + low_word(rn) * low_word(rm)
    left = not -(2**63) <= exact < 2**63
    if left and saturate:
        return (-(2**63) if exact < 0 else 2**63 - 1), True
    return low_word(exact, DOUBLE_WORD), left
