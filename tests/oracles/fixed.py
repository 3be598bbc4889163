"""Fixed-point operations on Python's integers and fractions: what the engine's are compared with.

A number is an exact Fraction; an operation's exact result is rounded to a multiple of the place's
unit, and brought into the range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Place:
    """The format and unit of one place, and what it has counted.

    Args:
        bits: of the integers, the sign counted.
        exponent: e of the unit 2^e.
        rounding: rn, rz, ru or rd.
        saturate: else the upper bits are dropped.
    """

    bits: int
    exponent: int
    rounding: str = "rn"
    saturate: bool = True
    saturated: int = 0
    invalid: int = 0

    @property
    def unit(self) -> Fraction:
        return Fraction(2) ** self.exponent

    def rounded(self, exact: Fraction, always_saturate: bool = False) -> Fraction:
        """The multiple of the unit that stands for an exact number."""
        return self.kept(nearby(exact / self.unit, self.rounding), always_saturate) * self.unit

    def kept(self, count: int, always_saturate: bool = False) -> int:
        """An integer within the range: saturated, or its lowest bits in two's complement."""
        low, high = -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        if low <= count <= high:
            return count
        self.saturated += 1
        if self.saturate or always_saturate:
            return max(low, min(high, count))
        return ((count - low) % (1 << self.bits)) + low

    def end(self, negative: bool) -> Fraction:
        """The number that infinity becomes."""
        self.saturated += 1
        low, high = -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        return (low if negative else high) * self.unit


def nearby(ratio: Fraction, rounding: str) -> int:
    """An exact number of units rounded to an integer."""
    if rounding == "rn":
        return round(ratio)
    if rounding == "rd":
        return math.floor(ratio)
    if rounding == "ru":
        return math.ceil(ratio)
    return math.trunc(ratio)


def smallest_unit(largest: float, bits: int, headroom: int) -> int:
    """e of the smallest power of two 2^e in whose units `largest` rounds into the range, moved
    up by the headroom.
    """
    exact, top = Fraction(largest), (1 << (bits - 1)) - 1
    exponent = -2000
    if exact:
        exponent = math.floor(math.log2(largest)) - bits - 3
    while round(exact / Fraction(2) ** exponent) > top:
        exponent += 1
    return exponent + headroom


def add(x, y, place: Place) -> Fraction:
    return place.rounded(Fraction(x) + Fraction(y))


def sub(x, y, place: Place) -> Fraction:
    return place.rounded(Fraction(x) - Fraction(y))


def mul(x, y, place: Place) -> Fraction:
    return place.rounded(Fraction(x) * Fraction(y))


def fma(x, y, z, place: Place) -> Fraction:
    return place.rounded(Fraction(x) * Fraction(y) + Fraction(z))


def neg(x, place: Place) -> Fraction:
    return place.rounded(-Fraction(x))


def absolute(x, place: Place) -> Fraction:
    return place.rounded(abs(Fraction(x)))


def div(x, y, place: Place) -> Fraction:
    if y == 0:
        if x == 0:
            place.invalid += 1
            return Fraction(0)
        return place.end(x < 0)
    return place.rounded(Fraction(x) / Fraction(y), always_saturate=True)


def sqrt(x, place: Place) -> Fraction:
    """The root's integer part and what is left of it decide every rounding."""
    if x < 0:
        place.invalid += 1
        return Fraction(0)
    ratio = Fraction(x) / place.unit**2  # the root in units, squared
    floor = math.isqrt(ratio.numerator // ratio.denominator)
    exact = Fraction(floor) ** 2 == ratio
    if place.rounding == "rn":
        middle = (2 * floor + 1) ** 2
        count = floor + (middle < 4 * ratio or middle == 4 * ratio and floor % 2 == 1)
    else:
        count = floor + (place.rounding == "ru" and not exact)
    return place.kept(count, always_saturate=True) * place.unit


def accumulate(total, term, place: Place) -> Fraction:
    """Both aligned to the place by rounding to nearest, then added as integers."""
    counts = [round(Fraction(v) / place.unit) for v in (total, term)]
    return place.kept(sum(counts)) * place.unit
