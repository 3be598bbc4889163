"""The beta function B(a, b) = Gamma(a) Gamma(b) / Gamma(a + b), without branch or library call.

Of positive arguments p <= q it is one power of two: with P, Q and T, which are p, q and p + q or,
of those below 8, 8 more, and c = P + Q - T, Stirling's series gives

    log2 B = (Q - 1/2) log2(Q / T) + (P - c) (log2 P - log2 T) + (c - 1/2) log2 P
             + log2 sqrt(2 pi) + (S(P) + S(Q) - S(T) - c) log2 e,

where nothing overflows and nothing large cancels, and what was shifted is divided by
x (x + 1) ... (x + 7). Others are reflected, Gamma(x) Gamma(1 - x) = pi / sin(pi x), and then have
positive arguments too: with s = a + b, of a < 0

    b > 0, s > 0:   pi / (sin(pi a) b B(1 - a, s)),
    b > 0, s <= 0:  sin(pi s) B(1 - s, b) / sin(pi a),
    b < 0:          pi sin(pi s) / (sin(pi a) sin(pi b) (1 - s) B(1 - a, 1 - b)).

Sums of arguments, logarithms and the power are unevaluated sums of two numbers: a result in
binary64 is rounded nearly once.

Source: Abramowitz & Stegun (1964), 6.1.17, 6.1.41, 6.2.2.
"""

import math

from numpy import inf, nan

from sciprec.precision.elementary.bits import (
    bits,
    copysign,
    fabs,
    fast_two_sum,
    floor,
    fma,
    from_bits,
    horner,
    inlined,
    scale,
    select,
    to_integer,
    two_product,
    two_sum,
)
from sciprec.precision.elementary.coefficients import COS, LOG_STIRLING, SIN
from sciprec.precision.elementary.exponential import LN2, LN2_TAIL
from sciprec.precision.elementary.functions import bound, snap
from sciprec.precision.elementary.gamma import (
    LOG2_SQRT_2PI,
    LOG2_SQRT_2PI_TAIL,
    SERIES_START,
    product_of_pairs,
)
from sciprec.precision.elementary.logarithm import (
    LOG2_E,
    LOG2_E_TAIL,
    TWO_LOG2_E,
    TWO_LOG2_E_TAIL,
    TWO_THIRDS_LOG2_E,
    TWO_THIRDS_LOG2_E_TAIL,
    split,
)
from sciprec.precision.elementary.trigonometric import BELOW_HALF, PI, PI_TAIL

TWO_FIFTHS_LOG2_E = 0.5770780163555853
TWO_FIFTHS_LOG2_E_TAIL = 5.2551030481378675e-17
LOG2_SERIES = tuple(TWO_LOG2_E / (2 * n + 1) for n in range(3, 15))
"""Of log2((1 + s) / (1 - s)) / s in powers of s^2, from s^6 on."""
EXP_SERIES = tuple(1.0 / math.factorial(n) for n in range(3, 18))
TWELFTH = 0.08333333333333333
SIXTH_TAIL = -9.25185853854297e-18
"""-1/6 less the first coefficient of the sine."""
LARGEST_SMALLER = 4096.0
"""Two arguments above it have a beta function below every number."""
LARGEST_LARGER = 1.0715086071862673e+301
"""2^1000."""
SERIES_END = 1.2676506002282294e30
"""2^100: beyond it Q log(Q / (Q + p)) is -p."""
LARGEST_POWER = 5000.0
LARGEST_SCALE = 2040
SURELY_BELOW = -1200
"""Factors of 2^k for such a k are below every binary64 number."""
TINY = 8.673617379884035e-19
"""2^-60: below it sin(pi x) is pi x."""
EXACT = 2.7755575615628914e-17
"""2^-55: what is closer to a number, relatively, may be that number."""
LARGE = 1073741824.0
"""2^30."""
SMALL = 1.4901161193847656e-08
"""2^-26."""
ZETA_2 = 1.6449340668482264


@inlined
def sum_of_pairs(a, a_low, b, b_low):
    """(a + a_low) + (b + b_low) as an unevaluated sum."""
    total, error = two_sum(a, b)
    return fast_two_sum(total, error + (a_low + b_low))


@inlined
def normalised(x, x_low):
    """x + x_low as an unevaluated sum of a size in [1, 2) times 2^k: both parts, and k."""
    small = fabs(x) < 2.2250738585072014e-308
    up = select(small, 18014398509481984.0, 1.0)
    k = ((bits(x * up) >> 52) & 0x7FF) - 1023
    return scale(x * up, -k), scale(x_low * up, -k), k - select(small, 54, 0)


@inlined
def log2_of_one_and(k, f, f_low):
    """k + log2(1 + f + f_low) as an unevaluated sum, for sqrt(1/2) <= 1 + f < sqrt(2).

    Precision: 2^-70 of its size.
    """
    below, below_low = fast_two_sum(2.0, f)
    below_low += f_low
    inverse = 1.0 / below
    s = f * inverse
    s_low = (fma(-s, below, f) + (f_low - s * below_low)) * inverse
    z, z_low = two_product(s, s)
    z_low = fma(2.0 * s, s_low, z_low)
    fifth, fifth_low = fast_two_sum(TWO_FIFTHS_LOG2_E, z * horner(z, LOG2_SERIES))
    third, third_low = product_of_pairs(z, z_low, fifth, fifth_low + TWO_FIFTHS_LOG2_E_TAIL)
    third, error = fast_two_sum(TWO_THIRDS_LOG2_E, third)
    third_low += TWO_THIRDS_LOG2_E_TAIL
    slope, slope_low = product_of_pairs(z, z_low, third, error + third_low)
    slope, error = fast_two_sum(TWO_LOG2_E, slope)
    value, low = product_of_pairs(s, s_low, slope, error + (slope_low + TWO_LOG2_E_TAIL))
    total, error = two_sum(k, value)
    return fast_two_sum(total, error + low)


@inlined
def log2_of_pair(x, x_low):
    """log2(x + x_low) as an unevaluated sum, x >= 8."""
    integer, k, f = split(x)
    return log2_of_one_and(k, f, scale(x_low, -integer))


@inlined
def log2_of_ratio(f, f_low):
    """log2(1 + f + f_low) as an unevaluated sum, -1/2 <= f <= 1."""
    halved, doubled = f > 0.41, f < -0.29
    start, factor = select(halved, -1.0, 1.0), select(halved, 0.5, 2.0)
    moved, error = two_sum(select(halved, f, 2.0 * f), start)
    moves = halved | doubled
    moved = select(halved, 0.5 * moved, moved)
    error = fma(f_low, factor, select(halved, 0.5 * error, error))
    k = select(halved, 1.0, select(doubled, -1.0, 0.0))
    return log2_of_one_and(k, select(moves, moved, f), select(moves, error, f_low))


@inlined
def exp2_of_pair(x, x_low):
    """2^(x + x_low) as an unevaluated sum times 2^k: both parts, and k."""
    k = floor(x + 0.5)
    rest, rest_low = two_sum(x - k, x_low)
    t, t_low = product_of_pairs(rest, rest_low, LN2, LN2_TAIL)
    square, square_low = two_product(t, 0.5 * t)
    total, error = fast_two_sum(1.0, t)
    more, more_low = fast_two_sum(total, square)
    low = error + (more_low + fma(t_low, more, square_low)) + t * t * t * horner(t, EXP_SERIES)
    high, low = fast_two_sum(more, low)
    return high, low, to_integer(k)


@inlined
def sine_of_pi(x, x_low):
    """sin(pi (x + x_low)) as an unevaluated sum times 2^k: both parts, and k."""
    n = floor(x + BELOW_HALF)
    n = select(fabs(x) < 4503599627370496.0, n, x)
    r, r_low = two_sum(x - n, x_low)
    more = floor(r + BELOW_HALF)
    r, r_low = two_sum(r - more, r_low)
    odd = (floor(0.5 * n) != 0.5 * n) != (floor(0.5 * more) != 0.5 * more)
    tiny = fabs(r) < TINY
    scaled, scaled_low, k = normalised(r, r_low)
    steep = fabs(r) > 0.25
    size_low = select(r < 0.0, -r_low, r_low)
    size, error = two_sum(select(steep, 0.5, 0.0), select(steep, -fabs(r), fabs(r)))
    size_low = error + select(steep, -size_low, size_low)
    t, t_low = product_of_pairs(size, size_low, PI, PI_TAIL)

    z, z_low = two_product(t, t)
    z_low = fma(2.0 * t, t_low, z_low)
    sixth, sixth_low = fast_two_sum(SIN[0], z * horner(z, SIN[1:]))
    third, third_low = product_of_pairs(z, z_low, sixth, sixth_low + SIXTH_TAIL)
    third, third_low = product_of_pairs(third, third_low, t, t_low)
    sine, sine_low = sum_of_pairs(t, t_low, third, third_low)
    cosine, error = fast_two_sum(1.0, -0.5 * z)
    error += fma(z * z, horner(z, COS), z_low * fma(z, TWELFTH, -0.5))
    cosine, cosine_low = fast_two_sum(cosine, error)

    high, low = select(steep, cosine, sine), select(steep, cosine_low, sine_low)
    negative = (r < 0.0) != odd
    high, low = select(negative, -high, high), select(negative, -low, low)
    straight, straight_low = product_of_pairs(scaled, scaled_low, PI, PI_TAIL)
    straight = select(odd, -straight, straight)
    straight_low = select(odd, -straight_low, straight_low)
    zero = r == 0.0
    high = select(zero, 0.0, select(tiny, straight, high))
    low = select(zero, 0.0, select(tiny, straight_low, low))
    return high, low, select(tiny & (not zero), k, 0)


@inlined
def rising(x, x_low):
    """x (x + 1) ... (x + 7) as an unevaluated sum times 2^k: both parts, and k; 1 from 8 on."""
    shifted = x < SERIES_START
    x, x_low = select(shifted, x, 1.0), select(shifted, x_low, 0.0)
    first, first_low, k = normalised(x, x_low)
    last, last_low = two_sum(x, 7.0)
    start, start_low = product_of_pairs(first, first_low, last, last_low + x_low)
    w, w_low = product_of_pairs(x, x_low, last, last_low + x_low)
    second, second_low = two_sum(w, 6.0)
    third, third_low = two_sum(w, 10.0)
    fourth, fourth_low = two_sum(w, 12.0)
    start, start_low = product_of_pairs(start, start_low, second, second_low + w_low)
    inner, inner_low = product_of_pairs(third, third_low + w_low, fourth, fourth_low + w_low)
    high, low = product_of_pairs(start, start_low, inner, inner_low)
    return select(shifted, high, 1.0), select(shifted, low, 0.0), select(shifted, k, 0)


@inlined
def shifted_up(x, x_low):
    """x + x_low, or 8 more below 8, as an unevaluated sum."""
    total, error = two_sum(x, select(x < SERIES_START, 8.0, 0.0))
    return fast_two_sum(total, error + x_low)


@inlined
def stirling_rest(x):
    """S(x) = log Gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2, x >= 8."""
    u = 1.0 / x
    return u * horner(u * u, LOG_STIRLING)


@inlined
def power_of_positive(p, p_low, q, q_low):
    """log2(B(p, q) p (p + 1) ... / ...) as an unevaluated sum, see above, for 0 < p <= q."""
    t, t_low = sum_of_pairs(q, q_low, p, p_low)
    shift = select(p < SERIES_START, 8.0, 0.0) + select(q < SERIES_START, 8.0, 0.0)
    shift -= select(t < SERIES_START, 8.0, 0.0)
    great, great_low = shifted_up(t, t_low)
    less, less_low = shifted_up(p, p_low)
    more, more_low = shifted_up(q, q_low)

    difference, error = two_sum(shift, -less)  # Q - T
    difference, difference_low = fast_two_sum(difference, error - less_low)
    beyond = more > SERIES_END
    end, end_low = select(beyond, SERIES_END, great), select(beyond, 0.0, great_low)
    f = difference / end
    f_low = (fma(-f, end, difference) + fma(-f, end_low, difference_low)) / end
    ratio, ratio_low = log2_of_ratio(f, f_low)
    first, first_low = two_sum(select(beyond, SERIES_END, more), -0.5)
    first_low += select(beyond, 0.0, more_low)
    total, low = product_of_pairs(ratio, ratio_low, first, first_low)

    log_less, log_less_low = log2_of_pair(less, less_low)
    log_great, log_great_low = log2_of_pair(great, great_low)
    apart, apart_low = sum_of_pairs(log_less, log_less_low, -log_great, -log_great_low)
    middle, middle_low = product_of_pairs(apart, apart_low, -difference, -difference_low)
    total, low = sum_of_pairs(middle, middle_low, total, low)
    last, last_low = product_of_pairs(log_less, log_less_low, shift - 0.5, 0.0)
    total, low = sum_of_pairs(total, low, last, last_low)
    rest = (stirling_rest(less) + stirling_rest(more)) - stirling_rest(great)
    rest, rest_low = two_sum(-shift, rest)
    rest, rest_low = product_of_pairs(rest, rest_low, LOG2_E, LOG2_E_TAIL)
    total, low = sum_of_pairs(total, low, rest, rest_low)
    return sum_of_pairs(total, low, LOG2_SQRT_2PI, LOG2_SQRT_2PI_TAIL)


@inlined
def beta_of_positive(p, p_low, q, q_low, inverse):
    """B(p, q), or one over it, as an unevaluated sum times 2^k: both parts, and k."""
    swapped = p > q
    p, q = select(swapped, q, p), select(swapped, p, q)
    p_low, q_low = select(swapped, q_low, p_low), select(swapped, p_low, q_low)
    p_low = select(p > LARGEST_SMALLER, 0.0, p_low)
    p = select(p > LARGEST_SMALLER, LARGEST_SMALLER, p)
    power, low = power_of_positive(p, p_low, q, q_low)
    power, low = select(inverse, -power, power), select(inverse, -low, low)
    low = select(fabs(power) > LARGEST_POWER, 0.0, low)
    power = select(fabs(power) > LARGEST_POWER, copysign(LARGEST_POWER, power), power)
    value, value_low, k = exp2_of_pair(power, low)

    t, t_low = sum_of_pairs(q, q_low, p, p_low)
    above, above_low, above_k = rising(t, t_low)
    below, below_low, below_k = rising(p, p_low)
    other, other_low, other_k = rising(q, q_low)
    below, below_low = product_of_pairs(below, below_low, other, other_low)
    below_k += other_k
    up, up_low = select(inverse, below, above), select(inverse, below_low, above_low)
    down, down_low = select(inverse, above, below), select(inverse, above_low, below_low)
    k += select(inverse, below_k - above_k, above_k - below_k)
    up, up_low = product_of_pairs(up, up_low, value, value_low)
    return up, up_low, down, down_low, k


@inlined
def beta_parts(a, b):
    """B(a, b) as an unevaluated sum times 2^k, symmetric in a and b: both parts, and k. What is
    zero, infinite or NaN is so in the first part.
    """
    less, more = select(a < b, a, b), select(a < b, b, a)
    positive, negative, left = less > 0.0, more < 0.0, less < 0.0
    unbounded = less == -inf
    less = select(positive & (less > LARGEST_LARGER), LARGEST_LARGER, less)
    less = select(negative & (less < -SERIES_END), -SERIES_END, less)
    s, s_low = two_sum(less, more)
    mixed = left & (more > 0.0)
    inverse = negative | (mixed & (s > 0.0))
    direct = mixed & (not (s > 0.0))

    taken, taken_low = select(direct, s, less), select(direct, s_low, 0.0)
    reflected, error = two_sum(1.0, -taken)
    reflected, reflected_low = fast_two_sum(reflected, error - taken_low)
    p, p_low = select(positive, less, reflected), select(positive, 0.0, reflected_low)
    other, other_low = two_sum(1.0, -more)
    q = select(negative, other, select(inverse, s, more))
    q_low = select(negative, other_low, select(inverse, s_low, 0.0))
    usual = (p > 0.0) & (q > 0.0) & (q < inf) & (p < inf)
    p, p_low = select(usual, p, 1.0), select(usual, p_low, 0.0)
    q, q_low = select(usual, q, 1.0), select(usual, q_low, 0.0)
    up, up_low, down, down_low, k = beta_of_positive(p, p_low, q, q_low, inverse)

    whole, whole_more = floor(less) == less, floor(more) == more
    limit = direct & whole & whole_more
    sine, sine_low, sine_k = sine_of_pi(select(left, less, 0.5), 0.0)
    sine, sine_low = select(limit, 1.0, sine), select(limit, 0.0, sine_low)
    sine, sine_low = select(left, sine, 1.0), select(left, sine_low, 0.0)
    second, second_low, second_k = sine_of_pi(select(negative, more, 0.5), 0.0)
    factor, factor_low, factor_k = normalised(select(mixed & inverse, more, 1.0), 0.0)
    second, second_low = select(negative, second, factor), select(negative, second_low, factor_low)
    last, last_low = two_sum(1.0, -s)
    last, last_low = select(negative, last, 1.0), select(negative, last_low - s_low, 0.0)
    down, down_low = product_of_pairs(down, down_low, sine, sine_low)
    down, down_low = product_of_pairs(down, down_low, second, second_low)
    down, down_low = product_of_pairs(down, down_low, last, last_low)
    k -= sine_k + select(negative, second_k, factor_k)

    summed = negative | direct
    third, third_low, third_k = sine_of_pi(select(summed, s, 0.5), select(summed, s_low, 0.0))
    odd = floor(0.5 * more) != 0.5 * more
    third = select(limit, select(odd, -1.0, 1.0), third)
    third, third_low = select(summed, third, 1.0), select(summed & (not limit), third_low, 0.0)
    up, up_low = product_of_pairs(up, up_low, third, third_low)
    up, up_low = product_of_pairs(
        up, up_low, select(inverse, PI, 1.0), select(inverse, PI_TAIL, 0.0)
    )
    k += select(summed & (not limit), third_k, 0)

    high = up / down
    rest = fma(-high, down, up) + fma(-high, down_low, up_low)
    high, low = fast_two_sum(high, rest / down)
    return special_values(less, more, unbounded, limit, high, low, k)


@inlined
def special_values(less, more, unbounded, limit, high, low, k):
    """The same with infinities at poles and limits at infinity; of a negative integer and a
    positive one up to its size the limit with that one held.
    """
    pole = ((less <= 0.0) & (floor(less) == less)) | ((more <= 0.0) & (floor(more) == more))
    odd = floor(0.5 * floor(less)) != 0.5 * floor(less)
    far = select(less > 0.0, 0.0, select(odd, -inf, inf))
    special = select(more == inf, far, select(high == 0.0, 0.0, high))
    special = select(pole & (not limit), inf, special)
    special = select(unbounded, nan, special)
    special = select((less != less) | (more != more), less + more, special)
    usual = (special == high) & (high != 0.0)
    return select(usual, high, special), select(usual, low, 0.0), select(usual, k, 0)


@inlined
def in_range(k):
    """k as far as `scale` takes it."""
    return select(k > LARGEST_SCALE, LARGEST_SCALE, select(k < -LARGEST_SCALE, -LARGEST_SCALE, k))


@inlined
def beta(a, b):
    """The beta function; infinite at its poles, but of a negative integer and a positive one up to
    its size (-1)^b B(1 - a - b, b); 0 where a + b alone is a pole of the gamma function; NaN at
    -infinity.

    Precision: 0.54 ulp, the greatest found in 10^5 pairs of binary64 numbers over the whole domain,
        rounding to nearest (mpmath).
    """
    high, _, k = beta_parts(a, b)
    value = scale(high, in_range(k))
    return select(k < SURELY_BELOW, copysign(0.0, high), value)


@inlined
def narrow_beta(a, b):
    """beta for a result that is rounded once into a format of at most 24 bits."""
    high, _, k = beta_parts(a, b)
    value = scale(high, in_range(k))
    return snap(bound(value, (high == 0.0) | (fabs(high) == inf)))


@inlined
def sign_of(x):
    """The sign of x as an integer, 0 of zero and NaN."""
    return select(x > 0.0, 1, select(x < 0.0, -1, 0))


@inlined
def side_of_two_small(small, large, number, k):
    """On which side of a number that it comes close to the size of B(small, large) is, which is the
    sum of both inverses times 1 - zeta(2) small large: +1 outside, -1 inside.
    """
    scaled, _, exponent = normalised(large, 0.0)
    other = scale(small, -exponent)
    inverse, inverse_low = two_product(scale(number, in_range(k + exponent)), other)
    rest, rest_low = two_sum(1.0 - inverse, -inverse_low)
    missed = fma(scaled, rest, other) + scaled * rest_low
    total = scaled + other
    curved = (small * large) * (ZETA_2 * total)
    side = sign_of(missed - curved)
    opposite = -sign_of(small) * sign_of(large) * sign_of(total)
    return select(side == 0, opposite, side) * sign_of(total)


@inlined
def directed_beta(a, b):
    """beta for a result that is rounded toward one side: where two parts do not tell it from a
    number, it may be exact, as B(1, b) = 1 / b, or on the side of a limit, of
    1 / a - psi(b) - 0.577 for a tiny a, of (a - 1)! b^-a (1 - a (a - 1) / 2 b) for a large b.
    """
    high, low, k = beta_parts(a, b)
    finite = fabs(high) < inf
    number = snap(select(finite, high, 1.0))
    rest = (high - number) + low
    close = fabs(rest) <= EXACT * fabs(number)
    side = sign_of(rest) * sign_of(high)

    first = fabs(a) < fabs(b)
    small, large = select(first, a, b), select(first, b, a)
    size = fabs(large)
    tiny = fabs(small) < SMALL
    stand_in = select(tiny, copysign(SMALL, small), 0.5)
    moved, _, moved_k = beta_parts(stand_in, select(tiny, large, 0.5))
    away = scale(moved, in_range(moved_k)) * stand_in - 1.0
    by_slope = select(fabs(away) > 4.440892098500626e-16, sign_of(away), 0)
    both = (size < 0.25) & (size > 0.0)
    by_sum = side_of_two_small(small, select(both, large, 0.125), number, k)
    integer = (small >= 2.0) & (small <= 32.0) & (floor(small) == small) & (size > LARGE)
    by_limit = select(integer, -sign_of(large), 0)
    near = select(tiny, select(both, by_sum, by_slope), by_limit)
    side = select(close, near, side)
    side = select((high == 0.0) | (not finite), 0, side)
    value = scale(from_bits(bits(number) + side), in_range(k))
    return select(finite & (high != 0.0), bound(value, False), high)
