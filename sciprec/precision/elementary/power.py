"""cbrt and hypot, without branch or library call."""

from numpy import inf

from sciprec.precision.elementary.bits import (
    bits,
    copysign,
    fabs,
    fma,
    from_bits,
    horner,
    inlined,
    power_of_two,
    select,
    sqrt,
    two_product,
)
from sciprec.precision.elementary.coefficients import CBRT

SMALLEST_NORMAL = 2.2250738585072014e-308
THIRD = 0.3333333333333333
INVERSE_CBRT_2 = 0.7937005259840998
INVERSE_CBRT_4 = 0.6299605249474366


@inlined
def cbrt(x):
    """The cube root: Newton's iteration for m^(-1/3), then one corrected step for m^(1/3).

    |x| = 2^(3 k) m with 1 <= m < 8; the last residual m - c^3 is formed in two numbers.
    """
    size = fabs(x)
    small = size < SMALLEST_NORMAL
    pattern = bits(select(small, size * 18014398509481984.0, size))
    exponent = pattern >> 52
    third = (exponent * 43691) >> 17
    rest = exponent - 3 * third
    mantissa = from_bits((pattern & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000)
    m = mantissa * power_of_two(rest)
    inverse = horner(mantissa, CBRT) * select(
        rest == 1, INVERSE_CBRT_2, select(rest == 2, INVERSE_CBRT_4, 1.0)
    )
    inverse = fma(inverse * THIRD, fma(-m * inverse, inverse * inverse, 1.0), inverse)
    inverse = fma(inverse * THIRD, fma(-m * inverse, inverse * inverse, 1.0), inverse)
    root = m * inverse * inverse
    square, square_low = two_product(root, root)
    residual = fma(-square, root, m) - square_low * root
    root = fma(residual * THIRD, inverse * inverse, root)
    value = root * power_of_two(third - 341 - select(small, 18, 0))
    return select((x == 0.0) | (size == inf) | (x != x), x, copysign(value, x))


@inlined
def hypot(x, y):
    """sqrt(x^2 + y^2), scaled by the power of two of the larger size."""
    size_x, size_y = fabs(x), fabs(y)
    larger = select(size_x > size_y, size_x, size_y)
    exponent = bits(larger) >> 52
    exponent = select(exponent > 2045, 2045, select(exponent < 1, 1, exponent))
    down = from_bits((2046 - exponent) << 52)
    a, b = size_x * down, size_y * down
    value = sqrt(fma(a, a, b * b)) * from_bits(exponent << 52)
    return select((size_x == inf) | (size_y == inf), inf, value)
