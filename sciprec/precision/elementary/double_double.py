"""Numbers as unevaluated sums of two binary64 numbers, and functions of them to about 2^-98.

They say by how much a value in binary64 misses the exact one, see `residuals`; nothing here is
fast, and rounding is to nearest.

Source: Dekker (1971); Hida, Li and Bailey (2001), the QD library.
"""

from __future__ import annotations

import math

from sciprec.precision.compiled.lowering import helper
from sciprec.precision.elementary.bits import two_product, two_sum

compiled = helper(error_model="numpy", nogil=True)

LN2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
HALF_PI = (
    1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50,
)  # fmt: skip
PI = (3.141592653589793, 1.2246467991473532e-16)
LN10 = (2.302585092994046, -2.1707562233822494e-16)
TWO_OVER_ROOT_PI = (1.1283791670955126, 1.533545961316588e-17)
HALF_LOG_2PI = (0.9189385332046728, -3.8782941580672414e-17)
TAYLOR_TERMS = 28
LARGEST_ANGLE = 2.0**30
"""Beyond it angles are not reduced."""
_LOG2_E = 1.4426950408889634


@compiled
def plus(x, y):
    """x + y."""
    high, low = two_sum(x[0], y[0])
    more, rest = two_sum(x[1], y[1])
    high, low = two_sum(high, low + more)
    return two_sum(high, low + rest)


@compiled
def minus(x, y):
    """x - y."""
    return plus(x, (-y[0], -y[1]))


@compiled
def times(x, y):
    """x y."""
    high, low = two_product(x[0], y[0])
    return two_sum(high, low + (x[0] * y[1] + x[1] * y[0]))


@compiled
def by(x, y):
    """x / y."""
    first = x[0] / y[0]
    rest = minus(x, times((first, 0.0), y))
    second = rest[0] / y[0]
    rest = minus(rest, times((second, 0.0), y))
    return plus(two_sum(first, second), (rest[0] / y[0], 0.0))


@compiled
def root(x):
    """The square root of x."""
    if x[0] <= 0.0:
        return 0.0, 0.0
    first = math.sqrt(x[0])
    square = two_product(first, first)
    return two_sum(first, minus(x, square)[0] / (2.0 * first))


@compiled
def scaled(x, exponent):
    """x 2^exponent, in two steps: the power itself may be beyond binary64."""
    half = exponent // 2
    first, second = math.ldexp(1.0, half), math.ldexp(1.0, exponent - half)
    return x[0] * first * second, x[1] * first * second


@compiled
def _reduced_expm1(r):
    """e^r - 1 for |r| <= log(2) / 2: a series at r / 512, squared nine times."""
    r = r[0] / 512.0, r[1] / 512.0
    term, total = r, r
    for n in range(2, 11):
        term = by(times(term, r), (float(n), 0.0))
        total = plus(total, term)
    for _ in range(9):
        total = plus((2.0 * total[0], 2.0 * total[1]), times(total, total))
    return total


@compiled
def _reduced(x):
    """x = k log 2 + r: (k, r)."""
    k = math.floor(x[0] * _LOG2_E + 0.5)
    for part in LN2:
        high, low = two_product(k, part)
        x = minus(x, (high, low))
    return int(k), x


@compiled
def exp_of(x):
    """e^x."""
    k, r = _reduced(x)
    return scaled(plus((1.0, 0.0), _reduced_expm1(r)), k)


@compiled
def expm1_of(x):
    """e^x - 1, relatively accurate near 0."""
    if abs(x[0]) < 0.34:
        return _reduced_expm1(x)
    return minus(exp_of(x), (1.0, 0.0))


@compiled
def log1p_of(x):
    """log(1 + x) for |x| <= 1/2: Newton's method from binary64."""
    first = math.log1p(x[0])
    grown = expm1_of((first, 0.0))
    return plus((first, 0.0), by(minus(x, grown), plus((1.0, 0.0), grown)))


@compiled
def log_of(x):
    """log x."""
    mantissa, exponent = math.frexp(x[0])
    if mantissa < 0.70710678:
        exponent -= 1
    result = log1p_of(minus(scaled(x, -exponent), (1.0, 0.0)))
    for n in range(3):
        result = plus(result, two_product(float(exponent), LN2[2 - n]))
    return result


@compiled
def _sine_and_cosine(r):
    """Sine and cosine of |r| <= pi / 4, by their series."""
    square = times(r, r)
    sine, cosine, term = r, (1.0, 0.0), r
    even = (1.0, 0.0)
    for n in range(1, TAYLOR_TERMS // 2 + 1):
        even = by(times(even, (-square[0], -square[1])), (float((2 * n - 1) * (2 * n)), 0.0))
        term = by(times(term, (-square[0], -square[1])), (float((2 * n) * (2 * n + 1)), 0.0))
        cosine, sine = plus(cosine, even), plus(sine, term)
    return sine, cosine


@compiled
def _turned(quarters, sine, cosine):
    """Return sine and cosine some quarter turns further."""
    quarter = quarters % 4
    if quarter == 1:
        return cosine, (-sine[0], -sine[1])
    if quarter == 2:
        return (-sine[0], -sine[1]), (-cosine[0], -cosine[1])
    if quarter == 3:
        return (-cosine[0], -cosine[1]), sine
    return sine, cosine


@compiled
def sincos_of(x):
    """sin x and cos x of |x| up to `LARGEST_ANGLE`."""
    k = math.floor(x[0] / HALF_PI[0] + 0.5)
    for part in HALF_PI:
        x = minus(x, two_product(k, part))
    sine, cosine = _sine_and_cosine(x)
    return _turned(int(k), sine, cosine)


@compiled
def sinpi_of(x):
    """sin(pi x), sign and all, of a binary64 number."""
    k = math.floor(2.0 * x + 0.5)
    sine, cosine = _sine_and_cosine(times((x - 0.5 * k, 0.0), PI))
    return _turned(int(k % 4.0), sine, cosine)[0]


@compiled
def sinh_of(x):
    """sinh x: of |x|, since e^x - 1 cancels in 1 + (e^x - 1) where x is below zero."""
    half = math.copysign(0.5, x[0])
    grown = expm1_of(x if x[0] >= 0.0 else (-x[0], -x[1]))
    total = plus(grown, by(grown, plus((1.0, 0.0), grown)))
    return half * total[0], half * total[1]


@compiled
def cosh_of(x):
    """cosh x."""
    grown = exp_of(x)
    total = plus(grown, by((1.0, 0.0), grown))
    return 0.5 * total[0], 0.5 * total[1]

