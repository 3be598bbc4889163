"""Residuals of elementary functions: by how much a value in binary64 misses one, f(x) - y, to 1e-9
of an ulp of y.

What a format of more than 30 bits loses in such a function is seen with it alone. Of arguments
where nothing is computed, as beyond the range of binary64, residuals are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sciprec.precision.elementary import exponential, gamma, logarithm, normal, power, trigonometric
from sciprec.precision.elementary.bits import distinct, two_sum, ufp
from sciprec.precision.elementary.double_double import (
    HALF_LOG_2PI,
    LARGEST_ANGLE,
    LN2,
    LN10,
    PI,
    TWO_OVER_ROOT_PI,
    by,
    compiled,
    cosh_of,
    exp_of,
    expm1_of,
    log1p_of,
    log_of,
    minus,
    plus,
    root,
    scaled,
    sincos_of,
    sinh_of,
    sinpi_of,
    times,
)

_STIRLING = (
    (0.08333333333333333, 4.625929269271485e-18), (-0.002777777777777778, 1.0601087908747154e-19),
    (0.0007936507936507937, 6.883823317368282e-22), (-0.0005952380952380953, 5.36938218754726e-20),
    (0.0008417508417508417, 3.6870174889237694e-20),
    (-0.0019175269175269176, 1.0675702776872475e-19),
    (0.00641025641025641, 2.2240044563805217e-19), (-0.029550653594771242, 4.861760957508855e-19),
    (0.17964437236883057, -6.401600482710946e-19), (-1.3924322169059011, 1.5837056989230303e-17),
    (13.402864044168393, -6.154114101993966e-16), (-156.84828462600203, 9.391823141715389e-15),
    (2193.1033333333335, -1.3339255626002948e-13), (-36108.77125372499, 5.897583353514365e-13),
    (691472.268851313, 2.5585296305158e-11), (-15238221.539407415, -8.76774522490625e-10),
)  # fmt: skip
"""B_2k / (2k (2k - 1)) for k = 1, 2, ..., B Bernoulli's numbers."""


@compiled
def _residual(value, y):
    """value - y; 0 where there is no such number."""
    rest = minus(value, (y, 0.0))
    total = rest[0] + rest[1]
    return total if abs(total) < math.inf else 0.0


def _between(function: Callable, least: float, most: float) -> Callable:
    """The residual of a function of pairs, between two numbers."""

    def residual(x, y):
        return _residual(function((x, 0.0)), y) if least < x < most else 0.0

    return compiled(distinct(residual, function.__name__))


@compiled
def _of_exp2(x, y):
    if abs(x) > 1074.0:
        return 0.0
    k = math.floor(x + 0.5)
    return _residual(scaled(exp_of(times((x - k, 0.0), (LN2[0], LN2[1]))), int(k)), y)


@compiled
def _of_log2(x, y):
    return _residual(by(log_of((x, 0.0)), (LN2[0], LN2[1])), y) if 0.0 < x < math.inf else 0.0


@compiled
def _of_log10(x, y):
    return _residual(by(log_of((x, 0.0)), LN10), y) if 0.0 < x < math.inf else 0.0


@compiled
def _log1p(x):
    return log1p_of(x) if abs(x[0]) <= 0.5 else log_of(plus((1.0, 0.0), x))


@compiled
def _of_sin(x, y):
    return _residual(sincos_of((x, 0.0))[0], y) if abs(x) < LARGEST_ANGLE else 0.0


@compiled
def _of_cos(x, y):
    return _residual(sincos_of((x, 0.0))[1], y) if abs(x) < LARGEST_ANGLE else 0.0


@compiled
def _of_tan(x, y):
    if not abs(x) < LARGEST_ANGLE:
        return 0.0
    sine, cosine = sincos_of((x, 0.0))
    return _residual(by(sine, cosine), y)


@compiled
def _of_asin(x, y):
    """Return one step from y, of second order: the slope grows without bound towards 1."""
    sine, cosine = sincos_of((y, 0.0))
    if abs(x) < 1.0:
        step = minus((x, 0.0), sine)[0] / cosine[0]
        return step + 0.5 * (sine[0] / cosine[0]) * step * step
    return math.copysign(1.0, x) * _residual((0.5 * PI[0], 0.5 * PI[1]), abs(y))


@compiled
def _of_acos(x, y):
    sine, cosine = sincos_of((y, 0.0))
    if not abs(x) < 1.0:
        return _residual(PI, y) if x == -1.0 else 0.0
    away = minus(cosine, (x, 0.0))
    if x > 0.5:  # cos y - x = (1 - x) - 2 sin^2(y / 2), where both are nearly 1
        half = sincos_of((0.5 * y, 0.0))[0]
        away = minus((1.0 - x, 0.0), times((2.0 * half[0], 2.0 * half[1]), half))
    step = away[0] / sine[0]
    return step - 0.5 * (cosine[0] / sine[0]) * step * step


@compiled
def angle_left(x, of, y):
    """The angle between y and that of the pairs (of, x): its tangent is a quotient."""
    exponent = -math.frexp(max(abs(x[0]), abs(of[0])))[1]
    up, right = scaled(x, exponent), scaled(of, exponent)
    sine, cosine = sincos_of((y, 0.0))
    across = minus(times(up, cosine), times(right, sine))
    return across[0] / (right[0] * cosine[0] + up[0] * sine[0])


@compiled
def _of_atan2(x, of, y):
    if not abs(y) <= 4.0 or not (abs(x) < math.inf and abs(of) < math.inf) or x == 0.0 == of:
        return 0.0
    return angle_left((x, 0.0), (of, 0.0), y)


@compiled
def _of_atan(x, y):
    return _of_atan2(x, 1.0, y)


@compiled
def _of_tanh(x, y):
    if not abs(x) < 300.0:
        return 0.0
    grown = expm1_of((2.0 * x, 0.0))
    return _residual(by(grown, plus(grown, (2.0, 0.0))), y)


@compiled
def _of_asinh(x, y):
    if not abs(y) < 709.0:
        return 0.0
    slope = cosh_of((y, 0.0))[0]
    step = minus((x, 0.0), sinh_of((y, 0.0)))[0] / slope
    return step - 0.5 * math.tanh(y) * step * step


@compiled
def _of_acosh(x, y):
    if not 0.0 < y < 709.0:
        return 0.0
    half = sinh_of((0.5 * y, 0.0))
    grown = times((2.0 * half[0], 2.0 * half[1]), half)
    away = minus(two_sum(x, -1.0), grown)
    step = away[0] / sinh_of((y, 0.0))[0]
    return step - 0.5 * step * step / math.tanh(y)


@compiled
def _of_atanh(x, y):
    if not abs(x) < 1.0:
        return 0.0
    size = abs(x)
    log_ratio = _log1p(by((2.0 * size, 0.0), two_sum(1.0, -size)))
    return math.copysign(1.0, x) * _residual((0.5 * log_ratio[0], 0.5 * log_ratio[1]), abs(y))


@compiled
def _of_pow(x, exponent, y):
    if not (0.0 < abs(x) < math.inf and abs(exponent) < math.inf and 0.0 < abs(y) < math.inf):
        return 0.0
    size = exp_of(times((exponent, 0.0), log_of((abs(x), 0.0))))
    return _residual(size if y > 0.0 else (-size[0], -size[1]), y)


@compiled
def erf_of(x, least):
    """erf x = 2 / sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (2n + 1)!!, |x| below 9; its terms go on
    down to a part of the sum.
    """
    square = times(x, x)
    term, total = x, x
    for n in range(1, 400):
        term = by(times(term, (2.0 * square[0], 2.0 * square[1])), (2.0 * n + 1.0, 0.0))
        total = plus(total, term)
        if abs(term[0]) < least * abs(total[0]):
            break
    return times(times(TWO_OVER_ROOT_PI, exp_of((-square[0], -square[1]))), total)


@compiled
def _erf(x):
    return erf_of(x, 1e-33)


@compiled
def erfc_of_large(x):
    """erfc of x from 1.5 to 27, by its continued fraction, from the end."""
    fraction = x
    for n in range(500, 0, -1):
        fraction = plus(x, by((0.5 * n, 0.0), fraction))
    square = times(x, x)
    half = times(TWO_OVER_ROOT_PI, by(exp_of((-square[0], -square[1])), fraction))
    return 0.5 * half[0], 0.5 * half[1]


@compiled
def _of_erfc(x, y):
    """Beyond 1.5 by its continued fraction, from the end."""
    if not abs(x) < 26.0:
        return 0.0
    if x < 1.5:
        return _residual(minus((1.0, 0.0), _erf((x, 0.0))), y)
    return _residual(erfc_of_large((x, 0.0)), y)


@compiled
def log_gamma_of(x):
    """log of gamma(x) for x > 0, by Stirling's series where x is large: (log, divisor)."""
    divisor = (1.0, 0.0)
    while x[0] < 32.0:
        divisor, x = times(divisor, x), plus(x, (1.0, 0.0))
    log_gamma = plus(times(minus(x, (0.5, 0.0)), log_of(x)), minus(HALF_LOG_2PI, x))
    inverse = by((1.0, 0.0), x)
    square, factor = times(inverse, inverse), inverse
    for coefficient in _STIRLING:
        log_gamma = plus(log_gamma, times(coefficient, factor))
        factor = times(factor, square)
    return log_gamma, divisor


@compiled
def _of_gamma(x, y):
    if not 1e-300 < abs(y) < math.inf or not abs(x) < 171.0:
        return 0.0
    if x > 0.0:
        log_gamma, divisor = log_gamma_of((x, 0.0))
        return _residual(by(exp_of(log_gamma), divisor), y)
    log_gamma, divisor = log_gamma_of(two_sum(1.0, -x))
    return _residual(by(times(PI, divisor), times(sinpi_of(x), exp_of(log_gamma))), y)


@compiled
def _of_lgamma(x, y):
    if not abs(y) < 1e300 or not abs(x) < 1e15:
        return 0.0
    if x > 0.0:
        log_gamma, divisor = log_gamma_of((x, 0.0))
        return _residual(minus(log_gamma, log_of(divisor)), y)
    log_gamma, divisor = log_gamma_of(two_sum(1.0, -x))
    sine = sinpi_of(x)
    size = by(times(PI, divisor), sine)
    size = size if size[0] > 0.0 else (-size[0], -size[1])
    return _residual(minus(log_of(size), log_gamma), y)


@compiled
def _of_sinc(x, y):
    if not 0.0 < abs(x) < LARGEST_ANGLE:
        return 0.0
    return _residual(by(sinpi_of(x), times((x, 0.0), PI)), y)


@compiled
def _of_hypot(x, other, y):
    if not 0.0 < abs(y) < math.inf:
        return 0.0
    exponent = -math.frexp(y)[1]
    first, second = scaled((x, 0.0), exponent), scaled((other, 0.0), exponent)
    size = root(plus(times(first, first), times(second, second)))
    return scaled(minus(size, scaled((y, 0.0), exponent)), -exponent)[0]


@compiled
def _of_cbrt(x, y):
    if not 0.0 < abs(y) < math.inf:
        return 0.0
    exponent = -math.frexp(y)[1]
    size = scaled((y, 0.0), exponent)
    away = minus(scaled((x, 0.0), 3 * exponent), times(times(size, size), size))
    return scaled((away[0] / (3.0 * size[0] * size[0]), 0.0), -exponent)[0]


@compiled
def _of_exact(x, y):
    return 0.0


RESIDUALS: dict[Callable, Callable] = {
    exponential.exp: _between(exp_of, -745.0, 745.0), exponential.exp2: _of_exp2,
    exponential.expm1: _between(expm1_of, -709.0, 709.0),
    exponential.sinh: _between(sinh_of, -709.0, 709.0),
    exponential.cosh: _between(cosh_of, -709.0, 709.0), exponential.tanh: _of_tanh,
    logarithm.log: _between(log_of, 0.0, math.inf), logarithm.log2: _of_log2,
    logarithm.log10: _of_log10, logarithm.log1p: _between(_log1p, -1.0, math.inf),
    logarithm.asinh: _of_asinh, logarithm.acosh: _of_acosh, logarithm.atanh: _of_atanh,
    logarithm.pow: _of_pow, trigonometric.sin: _of_sin, trigonometric.cos: _of_cos,
    trigonometric.tan: _of_tan, trigonometric.asin: _of_asin, trigonometric.acos: _of_acos,
    trigonometric.atan: _of_atan, trigonometric.atan2: _of_atan2, trigonometric.sinc: _of_sinc,
    normal.erf: _between(_erf, -6.0, 6.0), normal.erfc: _of_erfc, gamma.gamma: _of_gamma,
    gamma.lgamma: _of_lgamma, power.hypot: _of_hypot, power.cbrt: _of_cbrt, ufp: _of_exact,
    normal.uniform_from_bits: _of_exact,
}  # fmt: skip
"""Evaluation of an operation -> (operands, y) -> f - y; what is not here is not known."""
BITS = {
    gamma.gamma: (93, 0.0), gamma.lgamma: (95, 1.0), trigonometric.asin: (95, 0.0),
    trigonometric.acos: (95, 0.0), logarithm.acosh: (97, 0.0), logarithm.asinh: (97, 0.0),
    logarithm.pow: (97, 0.0),
}  # fmt: skip
"""Evaluation -> (bits, floor): y and its residual miss f by at most 2^-bits max(|f|, floor)."""
MOST_BITS = 98
"""The bits of all other evaluations: they miss f by at most 2^-98 |f|. For all evaluations |f| is
between 2^-900 and 2^1000, and angles are below 2^30."""
LEAST_SEEN, MOST_SEEN = 2.0**-900, 2.0**1000
"""The sizes of values between which residuals are known."""
