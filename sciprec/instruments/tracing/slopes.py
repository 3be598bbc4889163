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
NEAR, NEARER = 2.0**-20, 2.0**-26
"""Values that differ by less, relatively, are too near for a secant; by less than the second one
also where arguments differ by more than the first."""


@inlined
def _apart(change, f, x, e):
    """Whether a function's values are so far apart that their difference keeps its digits."""
    relative = fabs(change) / fabs(f)
    return (relative > NEAR) | ((relative > NEARER) & (fabs(e) > NEAR * fabs(x)))


@cache
def secant(function, derivative):
    """(x, e, f) -> the slope of `function` between x and x - e, f its value at x: the derivative in
    the middle where arguments are equal, or their difference loses its digits.

    Args:
        function: of one binary64 argument.
        derivative: of the same, or None: a central difference.
    """
    if function in SECANTS:
        return SECANTS[function]
    slope = central(function) if derivative is None else derivative

    def between(x, e, f):
        y = x - e
        change = f - function(y)
        return select(_apart(change, f, x, e), change / (x - y), slope(x - 0.5 * e))

    label = getattr(function, "__qualname__", function.__name__)
    return inlined(distinct(between, f"secant_of_{label}"))


@cache
def central(function):
    """The central difference of a function: relative error about 1e-10 where it is smooth."""

    def difference(x):
        h = 2.0**-19 * select(fabs(x) > 2.0**-10, fabs(x), 2.0**-10)
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
        f, moved = function(x, y), x - e
        change = f - function(moved, y)
        return select(_apart(change, f, x, e), change / (x - moved), slope(x - 0.5 * e, y))

    def along_second(x, e, y):
        f, moved = function(y, x), x - e
        change = f - function(y, moved)
        return select(_apart(change, f, x, e), change / (x - moved), slope(y, x - 0.5 * e))

    label = getattr(function, "__qualname__", function.__name__)
    return inlined(distinct(along_first if first else along_second, f"secant_of_{label}"))


@cache
def central_along(function, first: bool):
    """The central difference of a function of two arguments along one of them."""

    def along_first(x, y):
        h = 2.0**-19 * select(fabs(x) > 2.0**-10, fabs(x), 2.0**-10)
        return (function(x + h, y) - function(x - h, y)) / (2.0 * h)

    def along_second(x, y):
        h = 2.0**-19 * select(fabs(y) > 2.0**-10, fabs(y), 2.0**-10)
        return (function(x, y + h) - function(x, y - h)) / (2.0 * h)

    label = getattr(function, "__qualname__", function.__name__)
    difference = along_first if first else along_second
    return inlined(distinct(difference, f"central_difference_of_{label}"))


# ---- derivatives -------------------------------------------------------------------------------


@inlined
def of_acosh(x):
    """d acosh x / dx."""
    return 1.0 / sqrt((x - 1.0) * (x + 1.0))


@inlined
def of_sinc(x):
    """d sinc x / dx, of sin(pi x) / (pi x)."""
    near = -PI * PI / 3.0 * x * (1.0 - PI * PI / 10.0 * x * x)
    return select(fabs(x) < 2.0**-10, near, (sinpi(0.5 - x) - sinpi(x) / (PI * x)) / x)


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


_IN_A_LINE = {
    exp2: (lambda x: LOG_2 * exp2(x),),
    log: (lambda x: 1.0 / x,),
    log2: (lambda x: 1.0 / (LOG_2 * x),),
    log10: (lambda x: 1.0 / (LOG_10 * x),),
    cos: (lambda x: -sin(x),),
    atan: (lambda x: 1.0 / (1.0 + x * x),),
    asinh: (lambda x: 1.0 / sqrt(1.0 + x * x),),
    erf: (lambda x: TWO_OVER_ROOT_PI * exp(-x * x),),
    erfc: (lambda x: -TWO_OVER_ROOT_PI * exp(-x * x),),
    hypot: (lambda x, y: x / hypot(x, y), lambda x, y: y / hypot(x, y)),
}  # fmt: skip

DERIVATIVES = {
    exp: (exp,), expm1: (exp,), sin: (cos,), sinh: (cosh,), cosh: (sinh,), sinc: (of_sinc,),
    cbrt: (of_cbrt,), atan2: (of_atan2_first, of_atan2_second), pow: (of_pow_first, of_pow_second),
    **{function: tuple(inlined(distinct(derivative, f"{number}_of_{function.__name__}"))
                       for number, derivative in enumerate(derivatives))
       for function, derivatives in _IN_A_LINE.items()},
}  # fmt: skip
"""Function -> its derivatives by each argument; others have a secant of their own, or central
differences."""


# ---- secants of functions with a singularity, beside which derivatives are none -----------------


@inlined
def secant_of_asin(x, e, f):
    """asin x - asin y = asin z of y = x - e and z = x sqrt(1 - y^2) - y sqrt(1 - x^2)."""
    change = f - asin(x - e)
    first, second = _roots((1.0 - x) * (1.0 + x), e * (2.0 * x - e), e)
    slope = x * ((2.0 * x - e) / (first + second)) + first
    z = e * slope
    return select(fabs(change) > FAR, change / e, slope * (1.0 + z * z / 6.0))


@inlined
def secant_of_acos(x, e, f):
    """acos x - acos y = asin y - asin x."""
    return -secant_of_asin(x, e, 0.5 * PI - f)


@inlined
def secant_of_acosh(x, e, f):
    """acosh x - acosh y = asinh z of y = x - e and z = y sqrt(x^2 - 1) - x sqrt(y^2 - 1)."""
    change = f - acosh(x - e)
    first, second = _roots((x - 1.0) * (x + 1.0), -e * (2.0 * x - e), e)
    slope = x * ((2.0 * x - e) / (first + second)) - first
    z = e * slope
    near = select(x < 2.0, slope * (1.0 - z * z / 6.0), of_acosh(x - 0.5 * e))
    return select(fabs(change) > FAR, change / e, near)


@inlined
def secant_of_atanh(x, e, f):
    """atanh x - atanh y = atanh(e / (1 - x y)) of y = x - e."""
    inverse = 1.0 / ((1.0 - x) * (1.0 + x) + x * e)
    z = e * inverse
    return select(fabs(z) < TINY, inverse, atanh(z) / e)


@inlined
def secant_of_log1p(x, e, f):
    """log(1 + x) - log(1 + y) = -log(1 - e / (1 + x)) of y = x - e."""
    inverse = 1.0 / (1.0 + x)
    z = e * inverse
    return select(fabs(z) < TINY, inverse, -log1p(-z) / e)


@inlined
def secant_of_tan(x, e, f):
    """tan x - tan y = sin e / (cos x cos y) of y = x - e, cos y = cos x (cos e + tan x sin e)."""
    cosine = cos(x)
    near = select(fabs(e) < TINY, 1.0, sin(e) / e)
    return near / (cosine * cosine * (cos(e) + f * sin(e)))


@inlined
def secant_of_tanh(x, e, f):
    """tanh x - tanh y = sinh e / (cosh x cosh y) of y = x - e."""
    near = select(fabs(e) < TINY, 1.0, sinh(e) / e) / (cosh(x) * cosh(x - e))
    return select(fabs(e) > 1.0, (f - tanh(x - e)) / e, near)


@inlined
def _roots(u, change, e):
    """The square roots of u and u + change; where rounding alone makes one negative, zero."""
    other = u + change
    other = select((other < 0.0) & (other > -NEARER * fabs(e)), 0.0, other)
    return sqrt(u), sqrt(other)


FAR, TINY = 2.0**-12, 2.0**-60
"""From where on differences of values have digits enough, and below which functions are straight.
"""

SECANTS = {
    asin: secant_of_asin, acos: secant_of_acos, acosh: secant_of_acosh, atanh: secant_of_atanh,
    log1p: secant_of_log1p, tan: secant_of_tan, tanh: secant_of_tanh,
}  # fmt: skip
"""Function -> its secant, where `secant` makes no good one."""
