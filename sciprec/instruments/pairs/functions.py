"""Elementary functions of pairs.

Each takes pairs and the function's value of the high numbers in binary64, which is the result where
there are no further bits: of infinities and NaN, at poles, and beyond the range. Where the function
is not known, as that of angles beyond 2^52, the result is NaN.

`BITS` says how well each is known: a result misses f by at most 2^-bits max(|f|, |x f'|), |f| from
2^-900 to 2^1000. The rest is as good as `elementary.double_double`, of whose functions these are
made; inverse functions take one step of Newton's method, of second order, from binary64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from sciprec.precision.elementary import exponential, gamma, logarithm, normal, power, trigonometric
from sciprec.precision.elementary.bits import distinct, two_sum, ufp
from sciprec.precision.elementary.double_double import (
    LN2,
    LN10,
    PI,
    by,
    compiled,
    exp_of,
    expm1_of,
    log1p_of,
    log_of,
    minus,
    plus,
    root,
    scaled,
    sincos_of,
    times,
)
from sciprec.precision.elementary.double_double import cosh_of as _small_cosh
from sciprec.precision.elementary.double_double import sinh_of as _small_sinh
from sciprec.precision.elementary.residuals import angle_left, erf_of, erfc_of_large, log_gamma_of

_LARGEST_ANGLE = 2.0**52
"""Beyond it angles are not known."""
_TINY = 2.0**-200
"""Below it functions that are x + O(x^2) are x."""
_EXPONENTIAL_ALONE = 40.0
"""Beyond it the smaller exponential is no part of a hyperbolic function."""


@compiled
def _unless_plain(pair, plain):
    """A pair that was made, or the plain value where it is beyond the range."""
    if abs(pair[0]) < math.inf and abs(pair[1]) < math.inf:
        return pair[0], pair[1]
    return plain, 0.0


def _straight(function: Callable) -> Callable:
    """A decorator of a function that is x + O(x^2) about 0."""
    inner = compiled(function)

    def about_zero(x, plain):
        if abs(x[0]) < _TINY:
            return x[0], x[1]
        return inner(x, plain)

    return compiled(distinct(about_zero, function.__name__))


@compiled
def _unknown():
    return math.nan, 0.0


@compiled
def _exp(x, plain):
    if not abs(x[0]) < 745.0:
        return plain, 0.0
    return _unless_plain(exp_of(x), plain)


@compiled
def _exp2(x, plain):
    if not abs(x[0]) < 1076.0:
        return plain, 0.0
    k = math.floor(x[0] + 0.5)
    result = exp_of(times(minus(x, (k, 0.0)), (LN2[0], LN2[1])))
    return _unless_plain(scaled(result, int(k)), plain)


@_straight
def _expm1(x, plain):
    if not abs(x[0]) < 710.0:
        return plain, 0.0
    return _unless_plain(expm1_of(x) if x[0] < 300.0 else exp_of(x), plain)


@compiled
def _grown(x):
    """e^x / 2 of a large x, which may be beyond the range without its half."""
    half = exp_of((0.5 * x[0], 0.5 * x[1]))
    return times((0.5 * half[0], 0.5 * half[1]), half)


@_straight
def _sinh(x, plain):
    if not abs(x[0]) < 711.0:
        return plain, 0.0
    if abs(x[0]) < _EXPONENTIAL_ALONE:
        return _unless_plain(_small_sinh(x), plain)
    if x[0] > 0.0:
        return _unless_plain(_grown(x), plain)
    result = _grown((-x[0], -x[1]))
    return _unless_plain((-result[0], -result[1]), plain)


@compiled
def _cosh(x, plain):
    if not abs(x[0]) < 711.0:
        return plain, 0.0
    if abs(x[0]) < _EXPONENTIAL_ALONE:
        return _unless_plain(_small_cosh(x), plain)
    return _unless_plain(_grown(x if x[0] > 0.0 else (-x[0], -x[1])), plain)


@_straight
def _tanh(x, plain):
    if not abs(x[0]) < 300.0:
        return plain, 0.0
    size = x if x[0] >= 0.0 else (-x[0], -x[1])
    grown = expm1_of((2.0 * size[0], 2.0 * size[1]))
    result = by(grown, plus(grown, (2.0, 0.0)))
    return _unless_plain(result if x[0] >= 0.0 else (-result[0], -result[1]), plain)


@compiled
def _log(x, plain):
    if not 0.0 < x[0] < math.inf:
        return plain, 0.0
    if x[0] < 2.0**-900:  # rests of products would vanish
        grown = log_of((x[0] * 2.0**200, x[1] * 2.0**200))
        return _unless_plain(minus(grown, times((200.0, 0.0), (LN2[0], LN2[1]))), plain)
    if 0.5 < x[0] < 1.5:
        return _unless_plain(log1p_of(minus(x, (1.0, 0.0))), plain)
    return _unless_plain(log_of(x), plain)


@compiled
def _log2(x, plain):
    if not 0.0 < x[0] < math.inf:
        return plain, 0.0
    exponent = math.frexp(x[0])[1] if not 0.5 < x[0] < 1.5 else 0
    result = by(_log(scaled(x, -exponent), 0.0), (LN2[0], LN2[1]))
    return _unless_plain(plus((float(exponent), 0.0), result), plain)


@compiled
def _log10(x, plain):
    if not 0.0 < x[0] < math.inf:
        return plain, 0.0
    return _unless_plain(by(_log(x, 0.0), LN10), plain)


@_straight
def _log1p(x, plain):
    if not -1.0 < x[0] < math.inf:
        return _log(plus((1.0, 0.0), x), plain) if x[0] == -1.0 else (plain, 0.0)
    if abs(x[0]) <= 0.5:
        return _unless_plain(log1p_of(x), plain)
    return _log(plus((1.0, 0.0), x), plain)


@_straight
def _sin(x, plain):
    if abs(x[0]) < _LARGEST_ANGLE:
        return _unless_plain(sincos_of(x)[0], plain)
    return _unknown()


@compiled
def _cos(x, plain):
    if abs(x[0]) < _LARGEST_ANGLE:
        return _unless_plain(sincos_of(x)[1], plain)
    return _unknown()


@_straight
def _tan(x, plain):
    if abs(x[0]) < _LARGEST_ANGLE:
        sine, cosine = sincos_of(x)
        return _unless_plain(by(sine, cosine), plain)
    return _unknown()


@compiled
def _stepped(near, step):
    return two_sum(near, step)


@compiled
def _beyond_one(x):
    """Whether |x| is above 1."""
    size = x[1] if x[0] >= 0.0 else -x[1]
    return abs(x[0]) > 1.0 or abs(x[0]) == 1.0 and size > 0.0


@compiled
def _acos_near_one(away):
    """acos of 1 - away, for pairs away from 0 to 1/2: twice the arc sine of sqrt(away / 2)."""
    if away[0] == 0.0:
        return 0.0, 0.0
    small = root((0.5 * away[0], 0.5 * away[1]))
    result = _asin_of_small(small)
    return 2.0 * result[0], 2.0 * result[1]


@compiled
def _asin_of_small(x):
    """asin of |x| <= 1/sqrt(2)."""
    near = math.asin(x[0])
    sine, cosine = sincos_of((near, 0.0))
    step = minus(x, sine)[0] / cosine[0]
    return two_sum(near, step + 0.5 * (sine[0] / cosine[0]) * step * step)


@_straight
def _asin(x, plain):
    if not abs(x[0]) <= 1.0 or _beyond_one(x):
        return _unknown()
    if abs(x[0]) <= 0.5:
        return _asin_of_small(x)
    size = x if x[0] >= 0.0 else (-x[0], -x[1])
    result = minus((0.5 * PI[0], 0.5 * PI[1]), _acos_near_one(minus((1.0, 0.0), size)))
    return result if x[0] >= 0.0 else (-result[0], -result[1])


@compiled
def _acos(x, plain):
    if not abs(x[0]) <= 1.0 or _beyond_one(x):
        return _unknown()
    if x[0] > 0.5:
        return _acos_near_one(minus((1.0, 0.0), x))
    if x[0] < -0.5:
        return minus(PI, _acos_near_one(plus((1.0, 0.0), x)))
    return minus((0.5 * PI[0], 0.5 * PI[1]), _asin_of_small(x))


@compiled
def _atan2(x, of, plain):
    size = max(abs(x[0]), abs(of[0]))
    if not 0.0 < size < math.inf or x[0] == 0.0:
        return (plain, 0.0) if x[0] != 0.0 or of[0] >= 0.0 else _unless_plain((plain, 0.0), plain)
    return _unless_plain(two_sum(plain, angle_left(x, of, plain)), plain)


@compiled
def _atan(x, plain):
    return _atan2(x, (1.0, 0.0), plain)


@_straight
def _asinh(x, plain):
    if not abs(x[0]) < math.inf:
        return plain, 0.0
    if abs(x[0]) < 2.0**-20:  # x - x^3 / 6 + 3 x^5 / 40 - 15 x^7 / 336
        square = times(x, x)
        inner = (3.0 / 40.0 - 15.0 / 336.0 * square[0]) * square[0]
        inner_pair = minus((inner, 0.0), by((1.0, 0.0), (6.0, 0.0)))
        return plus(x, times(x, times(square, inner_pair)))
    size = x if x[0] > 0.0 else (-x[0], -x[1])
    if size[0] > 2.0**60:
        result = plus(_log(size, 0.0), (LN2[0], LN2[1]))
    else:  # log1p(x + x^2 / (1 + sqrt(1 + x^2)))
        square = times(size, size)
        grown = plus((1.0, 0.0), root(plus((1.0, 0.0), square)))
        result = _log1p(plus(size, by(square, grown)), 0.0)
    return _unless_plain(result if x[0] > 0.0 else (-result[0], -result[1]), plain)


@compiled
def _acosh(x, plain):
    above = minus(x, (1.0, 0.0))
    if not 0.0 < above[0] < math.inf:
        return _unknown() if above[0] < 0.0 else (plain, 0.0)
    if x[0] > 2.0**60:
        return _unless_plain(plus(_log(x, 0.0), (LN2[0], LN2[1])), plain)
    product = root(times(above, plus(above, (2.0, 0.0))))
    return _unless_plain(_log1p(plus(above, product), 0.0), plain)


@_straight
def _atanh(x, plain):
    size = x if x[0] >= 0.0 else (-x[0], -x[1])
    away = minus((1.0, 0.0), size)
    if not away[0] > 0.0:
        return _unknown() if away[0] < 0.0 else (plain, 0.0)
    result = _log1p(by((2.0 * size[0], 2.0 * size[1]), away), 0.0)
    result = (0.5 * result[0], 0.5 * result[1])
    return _unless_plain(result if x[0] >= 0.0 else (-result[0], -result[1]), plain)


@compiled
def _pow(x, exponent, plain):
    usual = abs(exponent[0]) < math.inf and 0.0 < abs(x[0]) < math.inf
    if not usual or exponent[0] == 0.0 or x[0] == 1.0 and x[1] == 0.0:
        return plain, 0.0
    is_whole = math.floor(exponent[0]) == exponent[0] and math.floor(exponent[1]) == exponent[1]
    if x[0] < 0.0 and not is_whole:
        return _unknown()
    is_odd = (exponent[0] % 2.0 + exponent[1] % 2.0) % 2.0 != 0.0
    size = x if x[0] > 0.0 else (-x[0], -x[1])
    power = times(exponent, _log(size, 0.0))
    if not abs(power[0]) < 745.0:
        return plain, 0.0
    result = exp_of(power)
    return _unless_plain((-result[0], -result[1]) if x[0] < 0.0 and is_odd else result, plain)


@compiled
def _erf(x, plain):
    if not 0.0 < abs(x[0]) < math.inf:
        return plain, 0.0
    if abs(x[0]) < 1.5:
        return _unless_plain(erf_of(x, 1e-34), plain)
    if abs(x[0]) > 27.0:
        return plain, 0.0
    if x[0] > 0.0:
        return minus((1.0, 0.0), erfc_of_large(x))
    return minus(erfc_of_large((-x[0], -x[1])), (1.0, 0.0))


@compiled
def _erfc(x, plain):
    if not abs(x[0]) < 27.3:
        return plain, 0.0
    if x[0] < -1.5:
        return minus((2.0, 0.0), erfc_of_large((-x[0], -x[1])))
    if x[0] < 1.5:
        return minus((1.0, 0.0), erf_of(x, 1e-34))
    return _unless_plain(erfc_of_large(x), plain)


@compiled
def _sinpi(x):
    """sin(pi x) of |x| below 2^53."""
    k = math.floor(x[0] + 0.5)
    sine = sincos_of(times(PI, minus(x, (k, 0.0))))[0]
    return sine if k % 2.0 == 0.0 else (-sine[0], -sine[1])


@compiled
def _gamma(x, plain):
    if not 1e-300 < abs(plain) < math.inf or not abs(x[0]) < 172.0:
        return plain, 0.0
    if x[0] > 0.0:
        log_gamma, divisor = log_gamma_of(x)
        return _unless_plain(by(exp_of(log_gamma), divisor), plain)
    log_gamma, divisor = log_gamma_of(minus((1.0, 0.0), x))
    return _unless_plain(by(times(PI, divisor), times(_sinpi(x), exp_of(log_gamma))), plain)


@compiled
def _lgamma(x, plain):
    if not abs(plain) < 1e300 or not abs(x[0]) < 1e15:
        return _unknown() if abs(plain) < math.inf else (plain, 0.0)
    if (x[0] == 1.0 or x[0] == 2.0) and x[1] == 0.0:
        return 0.0, 0.0
    if x[0] > 0.0:
        log_gamma, divisor = log_gamma_of(x)
        return _unless_plain(minus(log_gamma, log_of(divisor)), plain)
    log_gamma, divisor = log_gamma_of(minus((1.0, 0.0), x))
    size = by(times(PI, divisor), _sinpi(x))
    size = size if size[0] > 0.0 else (-size[0], -size[1])
    return _unless_plain(minus(_log(size, 0.0), log_gamma), plain)


@compiled
def _sinc(x, plain):
    if x[0] == 0.0:
        return plain, 0.0
    if abs(x[0]) < _LARGEST_ANGLE:
        return _unless_plain(by(_sinpi(x), times(x, PI)), plain)
    return _unknown()


@compiled
def _hypot(x, other, plain):
    if not 0.0 < plain < math.inf:
        return plain, 0.0
    exponent = -math.frexp(plain)[1]
    first, second = scaled(x, exponent), scaled(other, exponent)
    result = root(plus(times(first, first), times(second, second)))
    return _unless_plain(scaled(result, -exponent), plain)


@compiled
def _cbrt(x, plain):
    if not 0.0 < abs(plain) < math.inf:
        return plain, 0.0
    exponent = -math.frexp(plain)[1]
    size = scaled((plain, 0.0), exponent)
    away = minus(scaled(x, 3 * exponent), times(times(size, size), size))
    step = away[0] / (3.0 * size[0] * size[0])
    step -= step * step / size[0]
    return _unless_plain(scaled(two_sum(size[0], step), -exponent), plain)


@compiled
def _ufp(x, plain):
    return plain, 0.0


FUNCTIONS: dict[Callable, Callable] = {
    exponential.exp: _exp, exponential.exp2: _exp2, exponential.expm1: _expm1,
    exponential.sinh: _sinh, exponential.cosh: _cosh, exponential.tanh: _tanh,
    logarithm.log: _log, logarithm.log2: _log2, logarithm.log10: _log10, logarithm.log1p: _log1p,
    logarithm.asinh: _asinh, logarithm.acosh: _acosh, logarithm.atanh: _atanh, logarithm.pow: _pow,
    trigonometric.sin: _sin, trigonometric.cos: _cos, trigonometric.tan: _tan,
    trigonometric.asin: _asin, trigonometric.acos: _acos, trigonometric.atan: _atan,
    trigonometric.atan2: _atan2, trigonometric.sinc: _sinc, normal.erf: _erf, normal.erfc: _erfc,
    gamma.gamma: _gamma, gamma.lgamma: _lgamma, power.hypot: _hypot, power.cbrt: _cbrt,
    ufp: _ufp,
}  # fmt: skip
"""Evaluation of an operation -> (pairs, its value of high numbers) -> a pair."""
