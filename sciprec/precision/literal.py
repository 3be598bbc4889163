"""Exact rounding of one number by integer arithmetic: for literals and constants, outside compiled
code.
"""

from __future__ import annotations

import math
from fractions import Fraction

from sciprec.precision.backend import Arithmetic


def round_literal(x: float, arithmetic: Arithmetic) -> float:
    """x rounded once to the arithmetic's format; stochastic rounding is replaced by nearest.

    Returns:
        The rounded number; NaN, zeros and infinities as the format has them.
    """
    fmt = arithmetic.format
    rounding = "rn" if arithmetic.rounding == "sr" else arithmetic.rounding
    if math.isnan(x) or x == 0.0:
        return x
    if math.isinf(x):
        return math.nan if fmt.overflow == "nan" else x
    negative, size = x < 0, Fraction(abs(x))
    exponent = math.frexp(abs(x))[1] - 1
    if fmt.subnormals:
        exponent = max(exponent, fmt.emin)
    spacing = Fraction(2) ** (exponent - fmt.significand_bits + 1)
    kept, rest = divmod(size, spacing)
    away = (rounding == "ru" and not negative) or (rounding == "rd" and negative)
    up = {
        "rn": 2 * rest > spacing or (2 * rest == spacing and kept % 2 == 1),
        "rz": False,
        "ro": rest > 0 and kept % 2 == 0,
    }.get(rounding, away and rest > 0)
    size = (kept + up) * spacing
    if not fmt.subnormals and size < Fraction(fmt.min_normal):
        return math.copysign(0.0, x)
    if size > Fraction(fmt.max_finite):
        return math.copysign(_beyond(arithmetic, rounding, away), x)
    return math.copysign(float(size), x)


def _beyond(arithmetic: Arithmetic, rounding: str, away: bool) -> float:
    fmt = arithmetic.format
    if fmt.overflow == "saturate" or not (rounding == "rn" or away):
        return fmt.max_finite
    return math.nan if fmt.overflow == "nan" else math.inf
