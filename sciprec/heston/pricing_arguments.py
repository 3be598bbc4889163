"""Arguments of a pricing: each in its domain, or a sentence."""

import math

import numpy as np

from sciprec.arguments import Range, word
from sciprec.errors import InputError
from sciprec.heston.schemes import scheme_named
from sciprec.limits import CONFIDENCE

_SHARE = Range("a share > 0, at most 1, such as 0.001", above=0, most=1)
_AMOUNT = Range("an amount > 0", above=0)
_SECONDS = Range("a number of seconds > 0, or None", above=0)

COMPENSATIONS = ("none", "carry", "correction")


def resolve_residuals(compensation, known=COMPENSATIONS):
    """Return what is done about rounding errors, one of the known names.

    "none" forgets the rounding errors of additions to the state, "carry" carries them along, and
    "correction" carries them and removes the mean rounding error, measured in fp64, from the price.

    Raises:
        InputError: something else.
    """
    return word("compensation", compensation, known)


def check_scheme(scheme):
    """Refuse schemes whose step lengths cannot be compared on the same paths."""
    if not scheme_named(scheme).lifts:
        raise InputError(
            f"scheme {scheme!r} draws as many random numbers as it needs, so that paths of "
            "different steps have nothing in common; accepted: a scheme that lifts, such as "
            "'quadratic_exponential_martingale'"
        )


def tolerance_function(tolerance, relative):
    """Return the function from prices to the largest accepted bounds."""
    value = (_SHARE if relative else _AMOUNT).number("tolerance", tolerance)
    if relative:
        return lambda prices: value * np.abs(prices)
    return lambda prices: np.full(np.shape(prices), value)


def probability(confidence):
    """Return the confidence, a number between 0 and 1."""
    return CONFIDENCE.number("confidence", confidence)


def seconds_allowed(max_seconds):
    """Return the time budget, infinite where none was given."""
    if max_seconds is None:
        return math.inf
    return _SECONDS.number("max_seconds", max_seconds)
