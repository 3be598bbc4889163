"""The gamma function and the logarithm of its size, without branch or library call.

Beyond 8 both are Stirling's series, below it at x + 8: Gamma(x) = Gamma(x + 8) / (x (x + 1) ...
(x + 7)). Left of 1/2 they are reflected, Gamma(x) Gamma(1 - x) = pi / sin(pi x). About its zeros
1 and 2 the logarithm is (x - 1)(x - 2) times a polynomial.

Source: Abramowitz & Stegun (1964), 6.1.15, 6.1.17, 6.1.40; coefficients fitted here.
"""

from numpy import inf, nan

from sciprec.precision.elementary.bits import (
    copysign,
    fabs,
    fast_two_sum,
    floor,
    fma,
    horner,
    inlined,
    select,
    two_product,
    two_sum,
)
from sciprec.precision.elementary.coefficients import (
    GAMMA_CENTRE,
    LOG_GAMMA,
    LOG_STIRLING,
    STIRLING,
)
from sciprec.precision.elementary.logarithm import (
    LOG2_E,
    LOG2_E_TAIL,
    exp2_pair,
    log2_pair,
    log_pair,
    split,
)
from sciprec.precision.elementary.trigonometric import INVERSE_PI, PI, PI_TAIL, sinpi

SERIES_START = 8.0
"""From here on Stirling's series is taken as it is."""
LARGEST_GAMMA_ARGUMENT = 171.6243769563027
"""The largest x whose Gamma(x) is finite."""
LARGEST_LGAMMA_ARGUMENT = 2.5563481638716906e305
"""The largest x whose log Gamma(x) is finite."""
ZEROS_END = 2.5
"""Up to here the logarithm is taken about its zeros 1 and 2."""
LOG2_SQRT_2PI = 1.3257480647361595
LOG2_SQRT_2PI_TAIL = -7.153413670427599e-17
LN_SQRT_2PI = 0.9189385332046728
LN_SQRT_2PI_TAIL = -3.8782941580672414e-17
TINY = 7.888609052210118e-31
"""2^-100: below it |sin(pi x)| / pi is |x|, where pi x may be subnormal."""


@inlined
def product_of_pairs(a, a_low, b, b_low):
    """(a + a_low) (b + b_low) as an unevaluated sum."""
    product, low = two_product(a, b)
    return product, low + fma(a, b_low, a_low * b)


@inlined
def eight_factors(x):
    """x (x + 1) ... (x + 7) = w (w + 6) (w + 10) (w + 12), w = x (x + 7), as an unevaluated sum."""
    last, last_low = two_sum(x, 7.0)
    w, w_low = product_of_pairs(x, 0.0, last, last_low)
    second, second_low = two_sum(w, 6.0)
    third, third_low = two_sum(w, 10.0)
    fourth, fourth_low = two_sum(w, 12.0)
    outer, outer_low = product_of_pairs(w, w_low, second, second_low + w_low)
    inner, inner_low = product_of_pairs(third, third_low + w_low, fourth, fourth_low + w_low)
    return product_of_pairs(outer, outer_low, inner, inner_low)


@inlined
def gamma_by_series(x, x_low):
    """Gamma(x + x_low) = sqrt(2 pi) x^(x - 1/2) e^-x (1 + S(1/x)) for 8 <= x <= 171.62."""
    _, k, f = split(x)
    high, low = log2_pair(k, f)
    power, power_low = two_product(x - 0.5, high)
    power_low = fma(x_low, high, fma(x - 0.5, low, power_low))
    linear, linear_low = two_product(x, LOG2_E)
    linear_low = fma(x, LOG2_E_TAIL, linear_low)
    total, error = fast_two_sum(power, -linear)
    total, last = fast_two_sum(total, LOG2_SQRT_2PI)
    low = (error + last) + (power_low - linear_low) + LOG2_SQRT_2PI_TAIL
    total, low = fast_two_sum(total, low)
    value = exp2_pair(total, low)
    u = 1.0 / x
    return fma(value, u * horner(u, STIRLING), value)


@inlined
def gamma(x):
    """The gamma function; NaN at negative integers and at -infinity, an infinity at zeros.

    Precision: relative error 2^-50.2, the greatest found in 10^6 arguments of 24 bits over the
        whole domain, a fifth of them close to poles, in all of the processor's modes (MPFR).
    """
    reflected = x < 0.5
    y = select(reflected, 1.0 - x, x)
    inside = select(y > LARGEST_GAMMA_ARGUMENT, LARGEST_GAMMA_ARGUMENT, y)
    shifted = inside < SERIES_START
    start, low = two_sum(inside, select(shifted, 8.0, 0.0))
    series = gamma_by_series(start, low)
    factors, factors_low = eight_factors(select(shifted, inside, 1.0))
    factors_low = select(shifted, factors_low, 0.0)
    factors = select(shifted, factors, 1.0)
    sine = sinpi(x)
    above, above_low = two_product(PI, factors)
    above_low = fma(PI, factors_low, fma(PI_TAIL, factors, above_low))
    below, below_low = two_product(sine, series)
    above, above_low = select(reflected, above, series), select(reflected, above_low, 0.0)
    below, below_low = select(reflected, below, factors), select(reflected, below_low, factors_low)
    value = above / below
    rest = fma(-value, below, above) + fma(-value, below_low, above_low)
    corrected = value + rest / below
    value = select(fabs(corrected) < inf, corrected, value)
    vanishing = copysign(0.0, sine)
    value = select(y > LARGEST_GAMMA_ARGUMENT, select(reflected, vanishing, inf), value)
    value = select(x == 0.0, copysign(inf, x), value)
    value = select((x < 0.0) & (floor(x) == x), nan, value)
    return select(x == x, value, x)


@inlined
def log_gamma_by_series(x, x_low):
    """log Gamma(x + x_low) = (x - 1/2) log x - x + log(2 pi) / 2 + T(1/x^2) / x as an unevaluated
    sum, for x >= 8.
    """
    _, k, f = split(x)
    high, low = log_pair(k, f)
    power, power_low = two_product(x - 0.5, high)
    power_low = fma(x_low, high, fma(x - 0.5, low, power_low))
    total, error = fast_two_sum(power, -x)
    total, last = fast_two_sum(total, LN_SQRT_2PI)
    u = 1.0 / x
    low = u * horner(u * u, LOG_STIRLING) + LN_SQRT_2PI_TAIL
    return fast_two_sum(total, (error + last) + power_low + low)


@inlined
def lgamma(x):
    """log |Gamma(x)|, relatively accurate about 1 and 2, absolutely about its negative zeros;
    infinite at zero, at negative integers and at both infinities.

    Precision: relative error 2^-50.1, below -2 absolute where |log |Gamma(x)|| < 1; the greatest
        found in 10^6 arguments of 24 bits over the whole domain, two in seven of them close to 1,
        2 and poles, in all of the processor's modes (MPFR).
    """
    reflected = x < 0.5
    y = select(reflected, 1.0 - x, x)
    near = y < ZEROS_END
    about = select(near, y, 1.0)
    zeros = select(reflected, -x, about - 1.0) * (about - 2.0)
    t = (about - GAMMA_CENTRE) / (about + GAMMA_CENTRE)
    inside = select(near, 10.0, select(y > LARGEST_LGAMMA_ARGUMENT, 10.0, y))
    shifted = inside < SERIES_START
    start, start_low = two_sum(inside, select(shifted, 8.0, 0.0))
    high, low = log_gamma_by_series(start, start_low)
    high = select(near, zeros * horner(t, LOG_GAMMA), high)
    low = select(near, 0.0, low)

    factors, factors_low = eight_factors(select(shifted, inside, 1.0))
    rest = select(shifted, factors_low / factors, 0.0)
    factors = select(shifted, factors, 1.0)
    size = fabs(x)
    sine = select(size < TINY, size, fabs(sinpi(x)) * INVERSE_PI)
    argument = select(reflected, sine / factors, factors)
    _, k, f = split(argument)
    log_high, log_low = log_pair(k, f)

    total, error = two_sum(select(reflected, -high, high), -log_high)
    low = select(reflected, rest - low, low - rest)
    value = total + (error + (low - log_low))
    pole = (x <= 0.0) & (floor(x) == x)
    value = select(pole | (y > LARGEST_LGAMMA_ARGUMENT), inf, value)
    value = select((x == 1.0) | (x == 2.0), 0.0, value)
    return select(x == x, value, x)
