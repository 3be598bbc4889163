"""Operations of a kernel on numbers in fixed point.

A floating-point number is a Fraction or a float, an infinity or NaN a float; an integer is
Python's or NumPy's.
"""

from __future__ import annotations

import math
from fractions import Fraction

import gmpy2
import numpy as np

from tests.oracles import fixed, functions

WHOLE = (int, np.integer, np.bool_)
REAL = (Fraction, float, np.floating)


def exactly(value):
    """A number as a Fraction, or a float where it is infinite or NaN."""
    if isinstance(value, Fraction):
        return value
    if isinstance(value, WHOLE):
        return Fraction(int(value))
    return Fraction(float(value)) if math.isfinite(value) else float(value)


def exact_mpfr(y):
    if gmpy2.is_nan(y):
        return math.nan
    if gmpy2.is_infinite(y):
        return -math.inf if y < 0 else math.inf
    return Fraction(*map(int, y.as_integer_ratio()))


def rounded(value, place: fixed.Place, saturates: bool = False) -> Fraction:
    """An exact number, infinity or NaN in a place."""
    if isinstance(value, Fraction):
        return place.rounded(value, saturates)
    if math.isnan(value):
        place.invalid += 1
        return Fraction(0)
    return place.end(value < 0)


def taken(value, place: fixed.Place):
    """A number that comes into a place from outside; integers, arrays and the like as they are."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(taken(v, place) for v in value)
    if isinstance(value, REAL):
        return rounded(exactly(value), place, True)
    return value


def applied(place: fixed.Place, name: str, given):
    """The operation of this name on numbers, rounded once. An integer stays exact where it is an
    operand, and is rounded where it may be the result.
    """
    operands = [exactly(x) for x in given]
    whole = any(isinstance(x, WHOLE) for x in given)
    if name in EXACT:
        result = EXACT[name](*operands)
        return rounded(result, place, True) if whole else result
    if not all(isinstance(x, Fraction) for x in operands) and name not in ELEMENTARY:
        result = SPECIAL[name](*map(float, operands))
        return rounded(exactly(result), place)
    if name in ARITHMETIC:
        return ARITHMETIC[name](*operands, place)
    if name in ROUNDING:
        return place.rounded(Fraction(ROUNDING[name](operands[0])), True)
    return rounded(_elementary(name, operands), place, True)


ELEMENTARY = functions.FUNCTIONS.keys()


def _elementary(name: str, operands):
    return exact_mpfr(functions.mpfr_value(name, *map(float, operands)))


def _modulus(x, y, place):
    if y == 0:
        place.invalid += 1
        return Fraction(0)
    return place.rounded(x - y * math.floor(x / y))


def _floor_quotient(x, y, place):
    if y == 0:
        return fixed.div(x, y, place)
    return place.rounded(Fraction(math.floor(x / y)), True)


def _cut(x, y, place):
    """math.fmod."""
    if y == 0:
        place.invalid += 1
        return Fraction(0)
    return place.rounded(x - y * math.trunc(x / y))


EXACT = {
    "min": min, "max": max, "minimum": min, "maximum": max, "fmin": min, "fmax": max,
    "copysign": lambda x, y: -abs(x) if y < 0 else abs(x), "cast": lambda x: x,
    "sign": lambda x: Fraction((x > 0) - (x < 0)) if x == x else x, "pos": lambda x: x,
}  # fmt: skip
ROUNDING = {"floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round}
ARITHMETIC = {
    "add": fixed.add, "sub": fixed.sub, "mul": fixed.mul, "div": fixed.div, "sqrt": fixed.sqrt,
    "fma": fixed.fma, "neg": fixed.neg, "abs": fixed.absolute, "fabs": fixed.absolute,
    "accumulate": fixed.accumulate, "product": fixed.mul, "mod": _modulus, "fmod": _cut,
    "floordiv": _floor_quotient, "square": lambda x, place: fixed.mul(x, x, place),
    "reciprocal": lambda x, place: fixed.div(1, x, place),
}  # fmt: skip
SPECIAL = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "neg": lambda x: -x, "abs": abs, "fabs": abs, "accumulate": lambda x, y: x + y,
    "product": lambda x, y: x * y,
    "div": lambda x, y: np.float64(x) / np.float64(y),
}  # fmt: skip
