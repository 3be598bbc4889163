"""Slopes of the elementary functions: derivatives, and secants between two arguments.

They carry errors through a function, where a relative error of 1e-10 is plenty.
"""

from __future__ import annotations

from functools import cache
from math import inf

from sciprec.precision.elementary.bits import distinct, fabs, inlined, select, sqrt
from sciprec.precision.elementary.exponential import cosh, exp, exp2, expm1, sinh, tanh
from sciprec.precision.elementary.logarithm import (
    acosh,
    asinh,
    atanh,
    log,
    log1p,
    log2,
    log10,
    pow,
)
from sciprec.precision.elementary.normal import erf, erfc
from sciprec.precision.elementary.power import cbrt, hypot
from sciprec.precision.elementary.trigonometric import (
    PI,
    acos,
    asin,
    atan,
    atan2,
    cos,
    sin,
    sinc,
    sinpi,
    tan,
)

LOG_2, LOG_10 = 0.6931471805599453, 2.302585092994046
TWO_OVER_ROOT_PI = 1.1283791670955126
SMALL = 2.0**-17
"""Arguments and values that differ by less, relatively, are too near for a secant."""


@cache
def secant(function, derivative):
    """(x, e, f) -> the slope of `function` between x and x - e, f its value at x: the derivative in
    the middle where arguments are equal, or their difference loses its digits.

    Args:
        function: of one binary64 argument.
        derivative: of the same, or None: a central difference.
    """
    slope = central(function) if derivative is None else derivative

    def between(x, e, f):
        change = f - function(x - e)
        apart = (fabs(e) > SMALL * fabs(x)) & (fabs(change) > SMALL * fabs(f))
        return select(apart, change / e, slope(x - 0.5 * e))

    label = getattr(function, "__qualname__", function.__name__)
    return inlined(distinct(between, f"secant_of_{label}"))


@cache
def central(function):
    """The central difference of a function: relative error about 1e-10 where it is smooth."""

    def difference(x):
        h = 2.0**-17 * select(fabs(x) > 2.0**-10, fabs(x), 2.0**-10)
        return (function(x + h) - function(x - h)) / (2.0 * h)

    label = getattr(function, "__qualname__", function.__name__)
    return inlined(distinct(difference, f"central_difference_of_{label}"))


@cache
def secant_along(function, derivative, first: bool):
    """(x, e, y) -> the slope of a function of two arguments between x and x - e as its first one,
    or its second, where the other is y.
    """
    slope = central_along(function, first) if derivative is None else derivative

    def along_first(x, e, y):
        f, other = function(x, y), function(x - e, y)
        apart = (fabs(e) > SMALL * fabs(x)) & (fabs(f - other) > SMALL * fabs(f))
        return select(apart, (f - other) / e, slope(x - 0.5 * e, y))

    def along_second(x, e, y):
        f, other = function(y, x), function(y, x - e)
        apart = (fabs(e) > SMALL * fabs(x)) & (fabs(f - other) > SMALL * fabs(f))
        return select(apart, (f - other) / e, slope(y, x - 0.5 * e))

    label = getattr(function, "__qualname__", function.__name__)
    return inlined(distinct(along_first if first else along_second, f"secant_of_{label}"))


@cache
def central_along(function, first: bool):
    """The central difference of a function of two arguments along one of them."""

    def along_first(x, y):
        h = 2.0**-17 * select(fabs(x) > 2.0**-10, fabs(x), 2.0**-10)
        return (function(x + h, y) - function(x - h, y)) / (2.0 * h)

    def along_second(x, y):
        h = 2.0**-17 * select(fabs(y) > 2.0**-10, fabs(y), 2.0**-10)
        return (function(x, y + h) - function(x, y - h)) / (2.0 * h)

    label = getattr(function, "__qualname__", function.__name__)
    made = along_first if first else along_second
    return inlined(distinct(made, f"central_difference_of_{label}"))


# ---- derivatives -------------------------------------------------------------------------------


@inlined
def of_exp2(x):
    """d 2^x / dx."""
    return LOG_2 * exp2(x)


@inlined
def of_log(x):
    """d log x / dx."""
    return 1.0 / x


@inlined
def of_log2(x):
    """d log2 x / dx."""
    return 1.0 / (LOG_2 * x)


@inlined
def of_log10(x):
    """d log10 x / dx."""
    return 1.0 / (LOG_10 * x)


@inlined
def of_log1p(x):
    """d log(1 + x) / dx."""
    return 1.0 / (1.0 + x)


@inlined
def of_cos(x):
    """d cos x / dx."""
    return -sin(x)


@inlined
def of_tan(x):
    """d tan x / dx."""
    return 1.0 / (cos(x) * cos(x))


@inlined
def of_asin(x):
    """d asin x / dx."""
    return 1.0 / sqrt((1.0 - x) * (1.0 + x))


@inlined
def of_acos(x):
    """d acos x / dx."""
    return -1.0 / sqrt((1.0 - x) * (1.0 + x))


@inlined
def of_atan(x):
    """d atan x / dx."""
    return 1.0 / (1.0 + x * x)


@inlined
def of_tanh(x):
    """d tanh x / dx."""
    return 1.0 / (cosh(x) * cosh(x))


@inlined
def of_asinh(x):
    """d asinh x / dx."""
    return 1.0 / sqrt(1.0 + x * x)


@inlined
def of_acosh(x):
    """d acosh x / dx."""
    return 1.0 / sqrt((x - 1.0) * (x + 1.0))


@inlined
def of_atanh(x):
    """d atanh x / dx."""
    return 1.0 / ((1.0 - x) * (1.0 + x))


@inlined
def of_erf(x):
    """d erf x / dx."""
    return TWO_OVER_ROOT_PI * exp(-x * x)


@inlined
def of_erfc(x):
    """d erfc x / dx."""
    return -TWO_OVER_ROOT_PI * exp(-x * x)


@inlined
def of_sinc(x):
    """d sinc x / dx, of sin(pi x) / (pi x)."""
    near = -PI * PI / 3.0 * x * (1.0 - PI * PI / 10.0 * x * x)
    return select(fabs(x) < 2.0**-10, near, (sinpi(0.5 - x) - sinpi(x) / (PI * x)) / x)


@inlined
def of_hypot_first(x, y):
    """d sqrt(x^2 + y^2) / dx."""
    return x / hypot(x, y)


@inlined
def of_hypot_second(x, y):
    """d sqrt(x^2 + y^2) / dy."""
    return y / hypot(x, y)


@inlined
def of_atan2_first(y, x):
    """d atan2(y, x) / dy; none at infinity and at the origin."""
    r = hypot(x, y)
    return select((r > 0.0) & (r < inf), (x / r) / r, 0.0)


@inlined
def of_atan2_second(y, x):
    """d atan2(y, x) / dx; none at infinity and at the origin."""
    r = hypot(x, y)
    return select((r > 0.0) & (r < inf), (-y / r) / r, 0.0)


@inlined
def of_cbrt(x):
    """d cbrt x / dx."""
    root = cbrt(x)
    return 1.0 / (3.0 * root * root)


@inlined
def of_pow_first(x, y):
    """d x^y / dx; none where one of its factors is zero, as at an infinite y."""
    rest = pow(x, y - 1.0)
    return select((rest == 0.0) | (y == 0.0), 0.0, y * rest)


@inlined
def of_pow_second(x, y):
    """d x^y / dy; none where the power is zero, at an x of zero or infinity."""
    power = pow(x, y)
    return select(power == 0.0, 0.0, power * log(x))


DERIVATIVES = {
    exp: (exp,), exp2: (of_exp2,), expm1: (exp,), log: (of_log,), log2: (of_log2,),
    log10: (of_log10,), log1p: (of_log1p,), sin: (cos,), cos: (of_cos,), tan: (of_tan,),
    asin: (of_asin,), acos: (of_acos,), atan: (of_atan,), sinh: (cosh,), cosh: (sinh,),
    tanh: (of_tanh,), asinh: (of_asinh,), acosh: (of_acosh,), atanh: (of_atanh,),
    erf: (of_erf,), erfc: (of_erfc,), sinc: (of_sinc,), cbrt: (of_cbrt,),
    atan2: (of_atan2_first, of_atan2_second), hypot: (of_hypot_first, of_hypot_second),
    pow: (of_pow_first, of_pow_second),
}  # fmt: skip
"""Function -> its derivatives by each argument; other functions have central differences."""
