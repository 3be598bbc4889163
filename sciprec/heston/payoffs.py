"""Payoffs: small frozen classes, registered by name."""

from dataclasses import dataclass, fields

import numpy as np

from sciprec.errors import InputError
from sciprec.heston.model import finite_number, require_positive

_PAYOFFS = {}


def payoff(name):
    """Register a payoff class under the name that scenarios and the command line use.

    Args:
        name: lower case, words joined by hyphens.
    """

    def register(cls):
        cls.name = name
        _PAYOFFS[name] = cls
        return cls

    return register


def payoffs():
    """Return the registered payoff classes by name."""
    return dict(_PAYOFFS)


def payoff_class(name):
    """Return the payoff class of a name.

    Raises:
        InputError: no payoff has this name.
    """
    try:
        return _PAYOFFS[name]
    except KeyError:
        known = ", ".join(sorted(_PAYOFFS))
        raise InputError(f"unknown payoff {name!r}; known: {known}") from None


@dataclass(frozen=True, kw_only=True)
class _European:
    """A payment at maturity that depends on the spot at maturity alone.

    Args:
        strike: in units of currency.
        maturity: years.

    Raises:
        InputError: strike or maturity is no finite number above zero.
    """

    strike: float
    maturity: float

    def __post_init__(self):
        for field in fields(self):
            value = finite_number(field.name, getattr(self, field.name))
            require_positive(field.name, value)
            object.__setattr__(self, field.name, value)


@payoff("call")
class Call(_European):
    """A European call: pays max(S - strike, 0) at maturity (years)."""

    def at_maturity(self, spot):
        """Return the payment for terminal spots of any shape, in binary64."""
        return np.maximum(np.asarray(spot) - self.strike, 0.0)


@payoff("put")
class Put(_European):
    """A European put: pays max(strike - S, 0) at maturity (years)."""

    def at_maturity(self, spot):
        """Return the payment for terminal spots of any shape, in binary64."""
        return np.maximum(self.strike - np.asarray(spot), 0.0)
