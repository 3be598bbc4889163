"""The elementary functions for results that are rounded toward one side, and to odd.

Where a function comes so close to a number of the format that binary64 does not tell them apart
(sin x to x, exp x to 1, tanh x to 1), the result is one ulp off that number, on the function's
side: truncated, sin x of a tiny x > 0 is the number below x. As in `elementary` the last
three bits are rounded off by integers; a result of these functions is never exact but at 0, and
at infinity.
"""

from numpy import inf

from sciprec.precision.elementary.bits import (
    bits,
    distinct,
    fabs,
    fast_two_sum,
    fma,
    from_bits,
    horner,
    inlined,
    scale,
    select,
    sqrt,
    to_integer,
)
from sciprec.precision.elementary.coefficients import EXP
from sciprec.precision.elementary.exponential import OVERFLOW, UNDERFLOW, exp2, reduce_exp
from sciprec.precision.elementary.functions import (
    bound,
    is_limit,
    narrow_pow,
    snap,
    snapped,
    snapped_and_bounded,
)
from sciprec.precision.elementary.gamma import gamma
from sciprec.precision.elementary.normal import erfc
from sciprec.precision.elementary.trigonometric import atan2, sinc

TINY_GAMMA_ARGUMENT = 9.5367431640625e-07
"""2^-20: where Gamma(x) may come close to a power of two."""


@inlined
def toward_zero(v):
    """The multiple of 8 ulps nearest to v, less an ulp of its size."""
    return from_bits((bits(v) - 4) | 7)


@inlined
def from_zero(v):
    """The multiple of 8 ulps nearest to v, and an ulp of its size more."""
    return from_bits(((bits(v) + 4) & -8) | 1)


@inlined
def upward(v):
    """The multiple of 8 ulps nearest to v, an ulp further toward +infinity."""
    snapped = (bits(v) + 4) & -8
    return from_bits(snapped + ((snapped >> 63) | 1))


@inlined
def downward(v):
    """The multiple of 8 ulps nearest to v, an ulp further toward -infinity."""
    snapped = (bits(v) + 4) & -8
    return from_bits(snapped - ((snapped >> 63) | 1))


def on_side(function, move, bounded: bool, infinite: bool):
    """A function of one argument, exact at 0 and at infinity alone, with its result moved to its
    own side of what it comes close to; `bounded` and `infinite` as in `Operation`.
    """

    def directed(x):
        value = function(x)
        if bounded:
            value = bound(value, is_limit(x))
        moves = (fabs(x) > 0.0) & (fabs(x) < inf)
        if infinite:
            moves = moves & (fabs(value) < inf)
        return select(moves, move(value), snap(value))

    return inlined(distinct(directed, function.__name__))


narrow_exp2, narrow_erfc = snapped_and_bounded(exp2), snapped_and_bounded(erfc)
narrow_sinc, narrow_gamma = snapped(sinc), snapped_and_bounded(gamma)


@inlined
def directed_exp(x):
    """Round exp to the side of the part that its last sum rounds off: a tiny x = a - a^2 / 2 that
    is a number of the format has e^x = 1 + a - a^3 / 3 + ..., and 1 + a is a number of the format
    too.
    """
    k, r, r_low = reduce_exp(select(x > 710.0, 710.0, select(x < -746.0, -746.0, x)))
    total, error = fast_two_sum(1.0, r)
    high, low = fast_two_sum(total, fma(r_low, total, error) + r * r * horner(r, EXP))
    snapped = snap(high)
    side = (high - snapped) + low
    step = select(side > 0.0, 1, select(side < 0.0, -1, 0))
    value = scale(from_bits(bits(snapped) + step), to_integer(k))
    value = select(x > OVERFLOW, inf, select(x < UNDERFLOW, 0.0, value))
    return bound(value, is_limit(x))


@inlined
def directed_exp2(x):
    """exp2, exact at integers, off 1 elsewhere."""
    snapped = narrow_exp2(x)
    step = select(x > 0.0, 1, select(x < 0.0, -1, 0))
    return from_bits(bits(snapped) + select(snapped == 1.0, step, 0))


@inlined
def directed_erfc(x):
    """erfc, exact at 0 and at infinity: below 1 and above 0 for x > 0, above 1 and below 2 for
    x < 0.
    """
    snapped = narrow_erfc(x)
    step = select((x < 0.0) & (snapped < 1.5), 1, -1)
    moves = (fabs(x) > 0.0) & (fabs(x) < inf) & (snapped > 0.0)
    return from_bits(bits(snapped) + select(moves, step, 0))


@inlined
def directed_pow(x, y):
    """pow, off 1 unless |x| = 1 or y = 0.

    Differs from the others: with x beside 1 and y beside a whole number it may come nearer to a
    number of the format than binary64 tells, and is taken for it: 0.99999905 ** -0.99999905 is
    1 + 2^-20 less 4e-19.
    """
    snapped, size = narrow_pow(x, y), fabs(x)
    step = select((size > 1.0) == (y > 0.0), 1, -1)
    moves = (fabs(snapped) == 1.0) & (size != 1.0) & (y != 0.0)
    return from_bits(bits(snapped) + select(moves, step, 0))


@inlined
def directed_hypot(x, y):
    """Return hypot of numbers of at most 24 bits, on the side of the rest that the squares' sum
    leaves beside the root's square: roots that are exact are met, others never.
    """
    size_x, size_y = fabs(x), fabs(y)
    larger = select(size_x > size_y, size_x, size_y)
    smaller = select(size_x > size_y, size_y, size_x)
    exponent = bits(larger) >> 52
    exponent = select(exponent > 2045, 2045, select(exponent < 1, 1, exponent))
    down = from_bits((2046 - exponent) << 52)
    a, b = larger * down, smaller * down
    square, rest = fast_two_sum(a * a, b * b)
    root = snap(sqrt(square))
    side = select(root == a, smaller, fma(-root, root, square) + rest)
    step = select(side > 0.0, 1, select(side < 0.0, -1, 0))
    value = from_bits(bits(root) + step) * from_bits(exponent << 52)
    value = select((size_x == inf) | (size_y == inf), inf, value)
    return bound(value, (larger == 0.0) | (larger == inf) | (smaller == inf))


@inlined
def directed_atan2(y, x):
    """atan2, exact where it is zero: below |y / x|, in size."""
    value = atan2(y, x)
    return select(fabs(value) > 0.0, toward_zero(value), value)


@inlined
def directed_sinc(x):
    """sinc, exact at integers, below 1 in size elsewhere."""
    snapped = narrow_sinc(x)
    return from_bits(bits(snapped) - select((snapped == 1.0) & (x != 0.0), 1, 0))


@inlined
def directed_gamma(x):
    """gamma, about 1 / x - 0.577 at a tiny x: below 1 / x, which may be a number of the format."""
    value = narrow_gamma(x)
    tiny = (fabs(x) < TINY_GAMMA_ARGUMENT) & (x != 0.0)
    return select(tiny, downward(value), value)
