"""Exact rounding of one number by integer arithmetic: for literals and constants, outside compiled
code.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.rounding_rules import Lost


def round_literal(x: float, arithmetic: Arithmetic) -> float:
    """x rounded once to the arithmetic's format; stochastic rounding is replaced by nearest.

    Returns:
        The rounded number; NaN, zeros and infinities as the format has them.
    """
    if arithmetic.fixed:
        return _round_fixed(x, x, arithmetic)
    fmt = arithmetic.format
    if math.isnan(x) or x == 0.0:
        return x
    if math.isinf(x):
        return math.nan if fmt.overflow == "nan" else x
    negative, size = x < 0, Fraction(abs(x))
    exponent = math.frexp(abs(x))[1] - 1
    if fmt.subnormals:
        exponent = max(exponent, fmt.emin)
    spacing = Fraction(2) ** (exponent - fmt.significand_bits + 1)
    quotient, remainder = divmod(size, spacing)
    facts = (
        remainder > 0,
        2 * remainder > spacing,
        2 * remainder == spacing,
        quotient % 2 == 1,
        negative,
    )
    size = (quotient + int(arithmetic.rule.up(Lost(*map(np.bool_, facts))))) * spacing
    if not fmt.subnormals and size < Fraction(fmt.min_normal):
        return math.copysign(0.0, x)
    if size > Fraction(fmt.max_finite):
        return math.copysign(_beyond(arithmetic, negative), x)
    return math.copysign(float(size), x)


def round_array(values: np.ndarray, arithmetic: Arithmetic) -> np.ndarray:
    """Constants of an array rounded one by one (parts of complex numbers, too); in fixed point to
    the unit of the largest.
    """
    if values.dtype.kind == "c":
        parts = np.stack([values.real, values.imag], axis=-1)
        return round_array(parts, arithmetic).view(np.complex128)[..., 0]
    numbers = [float(x) for x in values.ravel()]
    if arithmetic.fixed:
        largest = max((abs(x) for x in numbers if math.isfinite(x)), default=0.0)
        rounded = [_round_fixed(x, largest, arithmetic) for x in numbers]
    else:
        rounded = [round_literal(x, arithmetic) for x in numbers]
    return np.array(rounded).reshape(values.shape)


def fixed_unit_exponent(largest: Any, bits: Any) -> Any:
    """e of the smallest unit 2^e whose integers of `bits` bits hold numbers up to `largest` after
    rounding; of numbers or of arrays.
    """
    fraction, exponent = np.frexp(largest)
    full = np.ldexp(1.0, bits - 1) - 0.5  # the least number of units that rounds beyond the range
    return exponent - bits + 1 + (np.ldexp(fraction, bits - 1) >= full)


def _round_fixed(x: float, largest: float, arithmetic: Arithmetic) -> float:
    """x rounded to nearest, in the finest unit that holds `largest`."""
    if x == 0.0 or not math.isfinite(x):
        return x
    unit = Fraction(2) ** int(fixed_unit_exponent(abs(largest), arithmetic.format.bits))
    return float(round(Fraction(x) / unit) * unit)


def _beyond(arithmetic: Arithmetic, negative: bool) -> float:
    fmt = arithmetic.format
    if fmt.overflow == "saturate" or not arithmetic.rule.overflows[negative]:
        return fmt.max_finite
    return math.nan if fmt.overflow == "nan" else math.inf
