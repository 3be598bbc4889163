"""Operations that select a number or give whole numbers, formed from the exact ones.

Source: the Python reference (min, max, //, %), C99 (fmod), NumPy (minimum, fmin, sign, rint).
"""

from __future__ import annotations

import math
from fractions import Fraction

from tests.oracles.exact import NAN, div, infinite, mul, negative, operands, round_exact


def minimum(a: float, b: float, arithmetic, random: int = 0) -> float:
    """Python's min(a, b): b where b < a, else a."""
    a, b = operands(arithmetic, a, b)
    return b if b < a else a


def maximum(a: float, b: float, arithmetic, random: int = 0) -> float:
    """Python's max(a, b): b where b > a, else a."""
    a, b = operands(arithmetic, a, b)
    return b if b > a else a


def _whole(towards, a: float, arithmetic, random: int) -> float:
    (a,) = operands(arithmetic, a)
    if not math.isfinite(a):
        return a
    return math.copysign(round_exact(towards(a), arithmetic, random), a)


def floor(a: float, arithmetic, random: int = 0) -> float:
    """Largest whole number not above a; the sign of a is kept."""
    return _whole(math.floor, a, arithmetic, random)


def ceil(a: float, arithmetic, random: int = 0) -> float:
    """Smallest whole number not below a; the sign of a is kept."""
    return _whole(math.ceil, a, arithmetic, random)


def trunc(a: float, arithmetic, random: int = 0) -> float:
    """The whole part of a; the sign of a is kept."""
    return _whole(math.trunc, a, arithmetic, random)


def rint(a: float, arithmetic, random: int = 0) -> float:
    """Nearest whole number, ties to even; the sign of a is kept."""
    return _whole(round, a, arithmetic, random)


def floordiv(a: float, b: float, arithmetic, random: int = 0) -> float:
    """floor(a / b) of the exact quotient, rounded once; by zero it is a / b, of infinity NaN."""
    a, b = operands(arithmetic, a, b)
    if b == 0.0 or math.isnan(a) or math.isnan(b):
        return div(a, b, arithmetic)
    if math.isinf(a):
        return NAN
    opposite = negative(a) != negative(b)
    if a == 0.0 or math.isinf(b):
        return -1.0 if opposite and a != 0.0 else math.copysign(0.0, -1.0 if opposite else 1.0)
    quotient = round_exact(Fraction(a) / Fraction(b) // 1, arithmetic, random)
    return math.copysign(quotient, -1.0 if opposite else 1.0)


def mod(a: float, b: float, arithmetic, random: int = 0) -> float:
    """Python's a % b = a - b * floor(a / b) exactly, rounded once; the sign is b's."""
    a, b = operands(arithmetic, a, b)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0.0:
        return NAN
    if math.isinf(b):
        inside = a == 0.0 or negative(a) == negative(b)
        return math.copysign(a, b) if inside else infinite(negative(b), arithmetic.format)
    rest = round_exact(Fraction(a) % Fraction(b), arithmetic, random)
    return math.copysign(rest, b)


def fmod(a: float, b: float, arithmetic, random: int = 0) -> float:
    """C's fmod: a - b * trunc(a / b) of exact numbers, rounded once; it has the sign of a."""
    a, b = operands(arithmetic, a, b)
    if math.isnan(a) or math.isnan(b) or math.isinf(a) or b == 0.0:
        return NAN
    rest = a if math.isinf(b) else round_exact(abs(Fraction(a)) % abs(Fraction(b)), arithmetic)
    return math.copysign(rest, a)


def copysign(a: float, b: float, arithmetic, random: int = 0) -> float:
    """The magnitude of a with the sign of b."""
    return math.copysign(*operands(arithmetic, a, b))


def least(a: float, b: float, arithmetic, random: int = 0) -> float:
    """np.minimum: the smaller, NaN if either is."""
    a, b = operands(arithmetic, a, b)
    return NAN if math.isnan(a) or math.isnan(b) else min(a, b)


def greatest(a: float, b: float, arithmetic, random: int = 0) -> float:
    """np.maximum: the larger, NaN if either is."""
    a, b = operands(arithmetic, a, b)
    return NAN if math.isnan(a) or math.isnan(b) else max(a, b)


def fmin(a: float, b: float, arithmetic, random: int = 0) -> float:
    """np.fmin: the smaller; of a number and NaN, the number."""
    a, b = operands(arithmetic, a, b)
    return b if math.isnan(a) else a if math.isnan(b) else min(a, b)


def fmax(a: float, b: float, arithmetic, random: int = 0) -> float:
    """np.fmax: the larger; of a number and NaN, the number."""
    a, b = operands(arithmetic, a, b)
    return b if math.isnan(a) else a if math.isnan(b) else max(a, b)


def square(a: float, arithmetic, random: int = 0) -> float:
    """a * a, rounded once."""
    return mul(a, a, arithmetic, random)


def reciprocal(a: float, arithmetic, random: int = 0) -> float:
    """1 / a, rounded once."""
    return div(1.0, a, arithmetic, random)


def sign(a: float, arithmetic, random: int = 0) -> float:
    """-1 or 1; a zero or NaN is returned as it is."""
    (a,) = operands(arithmetic, a)
    return a if math.isnan(a) or a == 0.0 else math.copysign(1.0, a)
