"""Fixed point and integer matrix products in Python's own integers and fractions.

Values are Python floats, which are exact fractions; integers have no bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction


def round_fraction(x: Fraction, rounding: str) -> int:
    """The integer that a rounding gives: "rn" (ties to even), "rz", "ru", "rd"."""
    below = x.numerator // x.denominator
    rest = x - below
    if rounding == "rd" or rest == 0:
        return below
    if rounding == "ru":
        return below + 1
    if rounding == "rz":
        return below if x > 0 else below + 1
    if rest == Fraction(1, 2):
        return below + below % 2
    return below if rest < Fraction(1, 2) else below + 1


def fits(values: list[float], scale: Fraction, bits: int, rounding: str) -> bool:
    """Whether every value over the scale, rounded, is a two's complement integer of these bits."""
    whole = [round_fraction(Fraction(x) / scale, rounding) for x in values]
    return all(-(2 ** (bits - 1)) <= n < 2 ** (bits - 1) for n in whole)


def smallest_power(values: list[float], bits: int, rounding: str) -> Fraction:
    """The smallest power of two, from 2^-1074 to 2^1023, that fits; 1 for zeros alone.

    Found by going down from a power that fits for sure until one does not.
    """
    largest = max((abs(Fraction(x)) for x in values), default=Fraction(0))
    if largest == 0:
        return Fraction(1)
    exponent = min(math.frexp(float(largest))[1] + 1, 1023)
    while exponent > -1074 and fits(values, Fraction(2) ** (exponent - 1), bits, rounding):
        exponent -= 1
    return Fraction(2) ** exponent


def quantized(values: list[float], scale: Fraction, bits: int, rounding: str) -> tuple[list, int]:
    """The integers, and how many of them were set to an end of the range."""
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    whole = [round_fraction(Fraction(x) / scale, rounding) for x in values]
    return [min(max(n, low), high) for n in whole], sum(not low <= n <= high for n in whole)


def product(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    """The exact product of two matrices of integers, given as lists of rows."""
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns]
            for row in a]  # fmt: skip
