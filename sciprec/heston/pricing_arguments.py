"""Arguments of a pricing: each in its domain, or a sentence."""

import math

import numpy as np

from sciprec.errors import InputError
from sciprec.heston.model import finite_number, require_positive
from sciprec.heston.schemes import scheme_named


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
    value = finite_number("tolerance", tolerance)
    require_positive("tolerance", value)
    if relative:
        return lambda prices: value * np.abs(prices)
    return lambda prices: np.full(np.shape(prices), value)


def probability(confidence):
    """Return the confidence, a number between 0 and 1."""
    value = finite_number("confidence", confidence)
    if not 0 < value < 1:
        raise InputError(f"confidence is {value}; accepted: above 0 and below 1, such as 0.95")
    return value


def seconds_allowed(max_seconds):
    """Return the time budget, infinite where none was given."""
    if max_seconds is None:
        return math.inf
    value = finite_number("max_seconds", max_seconds)
    require_positive("max_seconds", value)
    return value


def whole_number(name, value, least):
    """Return value as an integer of at least `least`, or say that it is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < least:
        raise InputError(f"{name} is {value!r}; accepted: an integer of at least {least}")
    return int(value)
