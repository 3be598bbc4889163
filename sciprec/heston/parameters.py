"""The Heston model: parameters, their domain, and the few numbers derived from them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

from sciprec.foundation.arguments import refused
from sciprec.foundation.limits import HESTON_MODEL


@dataclass(frozen=True, kw_only=True)
class Model:
    """A spot price with a square-root variance.

    dS = (rate - dividend_yield) S dt + sqrt(v) S dW1
    dv = kappa (theta - v) dt + sigma sqrt(v) dW2,  dW1 dW2 = rho dt

    Args:
        spot: price today, in units of currency.
        v0: variance today, per year.
        kappa: speed of mean reversion, per year.
        theta: variance in the long run, per year.
        sigma: volatility of variance, per year (not the volatility of the spot).
        rho: correlation of the two Brownian motions.
        rate: continuously compounded interest rate, per year.
        dividend_yield: continuously compounded dividend yield, per year.

    Raises:
        InputError: a parameter is no finite number or lies outside its domain.

    Source: Heston (1993), eqs (1) to (4).
    """

    spot: float
    v0: float
    kappa: float
    theta: float
    sigma: float
    rho: float
    rate: float = 0.0
    dividend_yield: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = HESTON_MODEL[field.name].number(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)

    def forward(self, maturity: float) -> float:
        """Return the forward price spot * exp((rate - dividend_yield) * maturity).

        Args:
            maturity: years.
        """
        return self.spot * math.exp((self.rate - self.dividend_yield) * maturity)

    def discount(self, maturity: float) -> float:
        """Return the discount factor exp(-rate * maturity).

        Args:
            maturity: years.
        """
        return math.exp(-self.rate * maturity)

    @property
    def feller_ratio(self) -> float:
        """2 kappa theta / sigma**2; below one the variance reaches zero."""
        return 2 * self.kappa * self.theta / self.sigma**2


def require_model(model: Any) -> None:
    """Make sure that something is a Model.

    Raises:
        InputError: it is something else, such as a dictionary of its parameters.
    """
    if not isinstance(model, Model):
        raise refused("model", model, "a heston.Model(spot=..., v0=..., ...)")
