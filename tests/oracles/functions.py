"""Elementary functions from MPFR, then one rounding by the exact arithmetic.

Two references. `elementary` is the definition that the formats of up to 24 bits follow: the value
rounded to the nearest number of 53 bits (of 48 where the rounding is stochastic, so that results
exact in the format are met exactly) whatever its exponent, then once into the format; the true
value itself where the rounding is toward one side.
`elementary_bounds` are the roundings of the true value less and more a relative 2^-47 (absolute
about the negative zeros of lgamma).

Source: Fousse, Hanrot, Lefevre, Pelissier & Zimmermann 2007 (MPFR); special values: C99 Annex F.
"""

from __future__ import annotations

from fractions import Fraction
from statistics import NormalDist

import gmpy2

from tests.oracles import exact

PRECISION = 200
ERROR_BITS = 47
_CONTEXT = gmpy2.context(precision=PRECISION, round=gmpy2.RoundToZero, emax=10**6, emin=-(10**6))


def _sinc(x: gmpy2.mpfr) -> gmpy2.mpfr:
    """sin(pi x) / (pi x), from the distance to the nearest integer, which is exact."""
    if gmpy2.is_zero(x):
        return gmpy2.mpfr(1)
    if not gmpy2.is_finite(x):
        return gmpy2.mpfr("nan")
    nearest = gmpy2.rint(x)
    if nearest == x:
        return gmpy2.mpfr(0)
    with gmpy2.context(_CONTEXT, precision=2 * PRECISION, round=gmpy2.RoundToNearest):
        above = gmpy2.sin(gmpy2.const_pi() * (x - nearest))
        below = gmpy2.const_pi() * x
    return (above if nearest % 2 == 0 else -above) / below


def _lgamma(x: gmpy2.mpfr) -> gmpy2.mpfr:
    """MPFR's; of a tiny x, where that is slow, -log |x| - gamma x + pi^2 x^2 / 12, which is off by
    less than x^3 / 2.
    """
    if gmpy2.is_zero(x) or not abs(x) < 2.0**-80:
        return gmpy2.lgamma(x)[0]
    with gmpy2.context(_CONTEXT, precision=2 * PRECISION, round=gmpy2.RoundToNearest):
        value = -gmpy2.log(abs(x)) - gmpy2.const_euler() * x + (gmpy2.const_pi() * x) ** 2 / 12
    return +value


def _ufp(x: gmpy2.mpfr) -> gmpy2.mpfr:
    if gmpy2.is_zero(x) or not gmpy2.is_finite(x):
        return abs(x)
    return gmpy2.mpfr(2) ** (gmpy2.get_exp(x) - 1)


FUNCTIONS = {
    "exp": gmpy2.exp,
    "exp2": gmpy2.exp2,
    "expm1": gmpy2.expm1,
    "log": gmpy2.log,
    "log2": gmpy2.log2,
    "log10": gmpy2.log10,
    "log1p": gmpy2.log1p,
    "sin": gmpy2.sin,
    "cos": gmpy2.cos,
    "tan": gmpy2.tan,
    "asin": gmpy2.asin,
    "acos": gmpy2.acos,
    "atan": gmpy2.atan,
    "atan2": gmpy2.atan2,
    "sinh": gmpy2.sinh,
    "cosh": gmpy2.cosh,
    "tanh": gmpy2.tanh,
    "asinh": gmpy2.asinh,
    "acosh": gmpy2.acosh,
    "atanh": gmpy2.atanh,
    "pow": lambda x, y: x**y,
    "erf": gmpy2.erf,
    "erfc": gmpy2.erfc,
    "hypot": gmpy2.hypot,
    "cbrt": gmpy2.cbrt,
    "gamma": gmpy2.gamma,
    "lgamma": _lgamma,
    "sinc": _sinc,
    "ufp": _ufp,
}


def mpfr_value(name: str, *args: float) -> gmpy2.mpfr:
    """The function truncated to 200 bits; its `rc` tells whether bits were lost."""
    with gmpy2.context(_CONTEXT):
        return FUNCTIONS[name](*(gmpy2.mpfr(a) for a in args))


def _uniform(u: int) -> Fraction:
    return Fraction(2 * u + 1, 2**33)


def uniform_from_bits(u: int) -> gmpy2.mpfr:
    """(u + 1/2) / 2^32."""
    with gmpy2.context(_CONTEXT):
        return gmpy2.mpfr(_uniform(u))


def exponential_from_bits(u: int) -> gmpy2.mpfr:
    """-log(1 - (u + 1/2) / 2^32)."""
    with gmpy2.context(_CONTEXT):
        return -gmpy2.log1p(-gmpy2.mpfr(_uniform(u)))


def normal_from_bits(u: int) -> gmpy2.mpfr:
    """Phi^-1((u + 1/2) / 2^32) by Newton's steps on erfc, from the lower half by symmetry."""
    if u >= 2**31:
        return -normal_from_bits(2**32 - 1 - u)
    with gmpy2.context(_CONTEXT, round=gmpy2.RoundToNearest):
        target = gmpy2.mpfr(_uniform(u))
        x = gmpy2.mpfr(NormalDist().inv_cdf(float(target)))
        for _ in range(5):
            density = gmpy2.exp(-x * x / 2) / gmpy2.sqrt(2 * gmpy2.const_pi())
            x -= (gmpy2.erfc(-x / gmpy2.sqrt(gmpy2.mpfr(2))) / 2 - target) / density
        return x


FROM_BITS = {
    "uniform_from_bits": uniform_from_bits,
    "exponential_from_bits": exponential_from_bits,
    "normal_from_bits": normal_from_bits,
}


def round_mpfr(y: gmpy2.mpfr, arithmetic, random: int = 0, evaluated: int | None = None) -> float:
    """Round a truncated MPFR number once; with `evaluated`, to that many bits to nearest first."""
    if gmpy2.is_nan(y):
        return exact.NAN
    sign = int(gmpy2.is_signed(y))
    if gmpy2.is_infinite(y):
        return exact.infinite(sign, arithmetic.format)
    sticky = y.rc != 0
    if gmpy2.is_zero(y):
        return exact.round_parts(sign, int(sticky), -(10**6), False, arithmetic, random)
    m, e = y.as_mantissa_exp()
    m, e = abs(int(m)), int(e)
    if sticky and m.bit_length() < PRECISION:
        m, e = m << PRECISION, e - PRECISION
    if evaluated is not None:
        m, e, sticky = exact.nearest(m, e, sticky, evaluated)
    return exact.round_parts(sign, m, e, sticky, arithmetic, random)


def _evaluated_bits(arithmetic) -> int | None:
    if arithmetic.format.significand_bits > 24 or arithmetic.rounding in ("rz", "ru", "rd", "ro"):
        return None
    return 53 if arithmetic.rounding == "rn" else 48


def elementary(name: str, args: tuple[float, ...], arithmetic, random: int = 0) -> float:
    """The function, to the nearest number of 53 (or 48) bits first unless the format rounds toward
    one side, then once into the format.
    """
    y = mpfr_value(name, *exact.operands(arithmetic, *args))
    return round_mpfr(y, arithmetic, random, _evaluated_bits(arithmetic))


def from_bits(name: str, u: int, arithmetic, random: int = 0) -> float:
    """The variate of an integer, evaluated and rounded in the same way."""
    y = FROM_BITS[name](int(u) % 2**32)
    return round_mpfr(y, arithmetic, random, _evaluated_bits(arithmetic))


def elementary_bounds(
    name: str, args: tuple[float, ...], arithmetic, random: int = 0
) -> tuple[float, float]:
    """Roundings of the true value less and more 2^-47 of itself; twice the same for 0, inf, NaN."""
    y = mpfr_value(name, *exact.operands(arithmetic, *args))
    if not gmpy2.is_finite(y) or gmpy2.is_zero(y):
        value = round_mpfr(y, arithmetic, random)
        return value, value
    m, e = y.as_mantissa_exp()
    value = Fraction(int(m)) * Fraction(2) ** int(e)
    about_zeros = name == "lgamma" and args[0] < 0.0  # its negative ones
    margin = max(abs(value), Fraction(int(about_zeros))) / 2**ERROR_BITS
    return (
        exact.round_exact(value - margin, arithmetic, random),
        exact.round_exact(value + margin, arithmetic, random),
    )
