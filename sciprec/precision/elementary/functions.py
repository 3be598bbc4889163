"""The elementary functions of every backend: branch-free binary64 code that vectorises.

For every binary64 argument of at most 24 significant bits the relative error is below 2^-49 in
each of the processor's four rounding modes, with or without flushing of subnormals, so that one
more rounding into a format of at most 24 bits is off by less than 2^-24 of an ulp more. No function
calls a library (a library is written for rounding to nearest), none branches, and all special
values are those of C99, Annex F.

The functions themselves (`exponential`, `logarithm`, `trigonometric`, ...) are for results kept in
binary64: overflow gives infinity, underflow zero. What is made of them here is for results that are
rounded once into a format of at most 24 bits:
- a result that is too large or too small for binary64 stays finite and nonzero, so that the
  rounding into the format decides (toward zero: its largest number; upward: its smallest one);
- the last three bits are rounded off to nearest by integer arithmetic, so that a result that is
  exact in the format (log10(1000), pow(3, 2)) is met exactly in every rounding mode.

For results that are rounded toward one side see `directed`; for the table of them `operation`.
"""

from functools import cache
from inspect import signature

from numpy import inf

from sciprec.precision.elementary.bits import (
    bits,
    copysign,
    distinct,
    fabs,
    from_bits,
    inlined,
    select,
)
from sciprec.precision.elementary.gamma import LARGEST_LGAMMA_ARGUMENT, lgamma
from sciprec.precision.elementary.logarithm import pow
from sciprec.precision.elementary.power import hypot

LARGEST = 8.98846567431158e307
"""2^1023, what a finite result beyond binary64 becomes before it is rounded into a format."""
SMALLEST = 2.2250738585072014e-308
"""2^-1022, what a nonzero result below binary64's normal range becomes."""


@inlined
def snap(x):
    """Return x as the nearest multiple of 8 ulps, by integers alone: the bits do not depend on the
    rounding mode.
    """
    return select(x == x, from_bits((bits(x) + 4) & -8), x)


@inlined
def bound(x, exact):
    """x moved into the normal range of binary64, unless its infinity or zero is `exact`."""
    size = fabs(x)
    size = select(size > LARGEST, LARGEST, select(size < SMALLEST, SMALLEST, size))
    return select(exact, x, copysign(size, x))


@inlined
def is_limit(x):
    """Whether x is zero or infinite, where functions have exact limits."""
    return (x == 0.0) | (fabs(x) == inf)


@cache
def snapped(function):
    """`function` of one or two arguments with its last three bits rounded off."""

    def narrow(x):
        return snap(function(x))

    def narrow_of_two(x, y):
        return snap(function(x, y))

    is_of_one = len(signature(function.py_func).parameters) == 1
    return inlined(distinct(narrow if is_of_one else narrow_of_two, f"snapped_{function.__name__}"))


@cache
def snapped_and_bounded(function):
    """Like `snapped`, for a function that leaves the range of binary64 at finite arguments."""

    def narrow(x):
        return snap(bound(function(x), is_limit(x)))

    return inlined(distinct(narrow, f"snapped_and_bounded_{function.__name__}"))


@inlined
def narrow_pow(x, y):
    """pow for a result that is rounded once into a format of at most 24 bits."""
    return snap(bound(pow(x, y), is_limit(x) | (fabs(y) == inf)))


@inlined
def narrow_hypot(x, y):
    """hypot for a result that is rounded once into a format of at most 24 bits."""
    value = hypot(x, y)
    return snap(bound(value, (value == 0.0) | (fabs(x) == inf) | (fabs(y) == inf)))


@inlined
def narrow_lgamma(x):
    """lgamma for a result that is rounded once into a format of at most 24 bits: its zeros and
    poles are exact.
    """
    value = lgamma(x)
    return snap(select(x > LARGEST_LGAMMA_ARGUMENT, bound(value, is_limit(x)), value))
