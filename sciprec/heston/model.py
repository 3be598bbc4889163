"""The Heston model: parameters, their domain, and the few numbers derived from them."""

import math
from dataclasses import dataclass, fields

from sciprec.errors import InputError


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

    def __post_init__(self):
        for field in fields(self):
            value = finite_number(field.name, getattr(self, field.name))
            object.__setattr__(self, field.name, value)
        for name in ("spot", "kappa", "theta", "sigma"):
            require_positive(name, getattr(self, name))
        if self.v0 < 0:
            raise InputError(f"v0 is {self.v0}; accepted: zero or above (a variance per year)")
        if not -1 <= self.rho <= 1:
            raise InputError(f"rho is {self.rho}; accepted: a correlation from -1 to 1")

    def forward(self, maturity):
        """Return the forward price spot * exp((rate - dividend_yield) * maturity).

        Args:
            maturity: years.
        """
        return self.spot * math.exp((self.rate - self.dividend_yield) * maturity)

    def discount(self, maturity):
        """Return the discount factor exp(-rate * maturity).

        Args:
            maturity: years.
        """
        return math.exp(-self.rate * maturity)

    @property
    def feller_ratio(self):
        """2 kappa theta / sigma**2; below one the variance reaches zero."""
        return 2 * self.kappa * self.theta / self.sigma**2


def finite_number(name, value):
    """Return value as a float, or say that it is no finite number.

    Raises:
        InputError: value is no real number, NaN or infinite.
    """
    message = f"{name} is {value!r}; accepted: a finite number"
    if isinstance(value, bool | str):
        raise InputError(message)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(message) from None
    if not math.isfinite(number):
        raise InputError(message)
    return number


def require_positive(name, value):
    """Raise InputError unless value is above zero."""
    if not value > 0:
        raise InputError(f"{name} is {value}; accepted: a number above zero")
