"""What payments that no path has made may add to a price.

An event that n independent paths have not shown has a probability of at most L / n, L = -log(risk),
but with probability `risk` ("the rule of three" at 95 %). Each payment adds G at most, the scale of
the payments of an option that ends in the money by chance, and all of them together no more than
the price of an option that dominates:

    rare = min(L G / n, ceiling)

G is no limit where payments have none, as those of calls: it is the discounted standard deviation
of the spot, which an option that few paths bring into the money seldom exceeds. From n = PAYMENTS
G / V paths on, V the part of the price that rests on chance, there have been enough payments for
the normal interval of their mean to know them: the next one adds a small part of it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sciprec.heston import analytic
from sciprec.heston.payoffs import (
    AsianArithmetic,
    Barrier,
    Call,
    Digital,
    ForwardStart,
    LookbackFixed,
    LookbackFloating,
    Put,
    Spot,
)

PAYMENTS = 16  # in units of G, from which on a normal interval knows them
LEAST_SIZE = 1e-150  # in place of zero, where something is divided by it or its square
SMALL = 10.0  # prices below so many times what unseen payments may add may be worthless
SLACK = 1e-9  # of the discounted forward: the error of a semi-analytic price


@dataclass(frozen=True)
class Rare:
    """Scales and ceilings of some payoffs.

    Args:
        model: a Model.
        payoffs: a tuple of payoffs.
        risk: 1 - confidence.
    """

    model: object
    payoffs: tuple
    risk: float

    @cached_property
    def scale(self):
        """G, in units of currency, shape (n_payoffs,)."""
        return np.array([payment_scale(self.model, payoff) for payoff in self.payoffs])

    @cached_property
    def certain(self):
        """The parts of the prices that do not rest on chance, shape (n_payoffs,)."""
        return np.array([certain(self.model, payoff) for payoff in self.payoffs])

    @cached_property
    def ceiling(self):
        """Prices that the true ones do not exceed, shape (n_payoffs,)."""
        return np.array([ceiling(self.model, payoff) for payoff in self.payoffs])

    def unseen(self, n_paths, ignored=0.0):
        """Return what payments that n_paths have not shown may add, shape (n_payoffs,).

        Args:
            n_paths: shape (n_payoffs,), or one number for all.
            ignored: sizes up to which ceilings are not asked for.
        """
        size = -np.log(self.risk) * self.scale / n_paths
        return np.minimum(size, self.ceiling) if np.any(size > ignored) else size

    def needed(self, size):
        """Return the paths after which unseen payments add `size` at most, ceilings aside."""
        return -np.log(self.risk) * self.scale / np.maximum(size, LEAST_SIZE)

    def known(self, price):
        """Return the paths from which on there have been PAYMENTS payments of unit G.

        Args:
            price: shape (n_payoffs,).
        """
        return PAYMENTS * self.scale / np.maximum(np.abs(price - self.certain), LEAST_SIZE)

    def beyond(self, n_paths, price, silent, tolerance):
        """Return for which payoffs n_paths are no use, shape (n_payoffs,).

        They say no more than the ceiling, or none has paid yet, and payments that they do not show
        may add more than is accepted of any price up to the ceiling.

        Args:
            n_paths: all that there may be.
            price: as known so far; ceilings are asked for only where it is small.
            silent: where no path has paid so far.
            tolerance: prices (n_payoffs,) -> largest accepted bounds.
        """
        size = -np.log(self.risk) * self.scale / n_paths
        if not np.any(silent | (np.abs(price) < SMALL * size)):
            return silent
        return (size >= self.ceiling) | (silent & (size > tolerance(self.ceiling)))


def payment_scale(model, payoff):
    """Return G, in units of currency: zero for payments that are never rare."""
    if isinstance(payoff, Spot):
        return 0.0
    discount = model.discount(payoff.maturity)
    if isinstance(payoff, Digital):
        return discount
    forward = model.forward(payoff.maturity)
    years = -np.expm1(-model.kappa * payoff.maturity) / model.kappa
    spread = model.theta * payoff.maturity + (model.v0 - model.theta) * years
    size = forward * np.sqrt(spread)
    if isinstance(payoff, Barrier):  # knocked in where the payment is large
        size += abs(forward - payoff.strike)
    return discount * min(size, getattr(payoff, "strike", np.inf))  # a call is a put and parity


def certain(model, payoff):
    """Return what the option is worth if the spot follows its forward, zero at least."""
    discount = model.discount(payoff.maturity)
    if isinstance(payoff, Barrier | ForwardStart | LookbackFloating | LookbackFixed | Spot):
        return 0.0
    spot = np.mean([model.forward(date) for date in payoff.observation.dates])
    if isinstance(payoff, Digital):
        return discount * float((spot > payoff.strike) == (payoff.kind == "call"))
    above = float(spot - payoff.strike)
    return discount * max(0.0, above if payoff.kind == "call" else -above)


def ceiling(model, payoff):
    """Return the price of options that pay at least as much, semi-analytic.

    Convex functions of a mean are below the mean of the functions, and those of an extreme below
    their sum; what is paid at t_i then waits until maturity.
    """
    maturity = payoff.maturity
    if analytic.has_price(payoff):
        price = analytic.price(model, payoff)
    elif isinstance(payoff, Barrier):
        european = Call if payoff.kind == "call" else Put
        price = analytic.price(model, european(strike=payoff.strike, maturity=maturity))
    elif isinstance(payoff, AsianArithmetic | LookbackFixed):
        price = _at_fixings(model, payoff)
        price /= payoff.fixings if isinstance(payoff, AsianArithmetic) else 1
    elif isinstance(payoff, LookbackFloating):
        price = _against_fixings(model, payoff)
    else:
        price = np.inf
    return max(price, 0.0) + SLACK * model.discount(maturity) * model.forward(maturity)


def _at_fixings(model, payoff):
    """Return the sum of the prices of Europeans at the fixings, paid at maturity."""
    strike, total = np.array([payoff.strike], dtype=float), 0.0
    of_kind = analytic.call_prices if payoff.kind == "call" else analytic.put_prices
    for date in payoff.observation.dates:
        total += float(of_kind(model, strike, date)[0]) * model.discount(payoff.maturity - date)
    return total


def _against_fixings(model, payoff):
    """Return the sum of forward starts from the fixings on: S_T - S_i (call), S_i - S_T (put)."""
    one, total = np.array([1.0]), 0.0
    for date in payoff.observation.dates[:-1]:
        total += float(
            analytic.forward_start_prices(model, one, date, payoff.maturity, payoff.kind)[0]
        )
    return total
