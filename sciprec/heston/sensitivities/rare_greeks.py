"""A bound for payments that no path has made, and that may add to greeks.

A payment of the size G (bounds.rare) that ends in the money by chance changes by about itself when
the logarithm of the spot moves by its deviation s (or by 1), so that its derivatives are of sizes

    delta  G / (S s)    gamma  G / (S s)^2    rho  T G (1 + 1 / s)
    vega_v0  G / (2 s^2) d(s^2)/dv0           theta  G / (2 T) + |rate| G + |rate - dividends| G / s

and by the rule of three n paths that have made none may lack -log(risk) of them over n.
"""

from dataclasses import dataclass

import numpy as np

from sciprec.heston.bounds.rare import Rare
from sciprec.heston.payoff_registry import spot_deviation
from sciprec.heston.sensitivities.greek_estimates import ROWS

SILENT = 2**18  # paths that have paid nothing, after which no more are simulated


@dataclass(frozen=True, kw_only=True)
class RareGreeks(Rare):
    """Scales of some payoffs whose greeks are estimated: one row for each of a payoff's greeks.

    Greeks of which no path has shown anything are bound by what unseen payments may add to them. A
    price that no path tells from zero has no greeks whose bound is a share of them: where more
    paths say no more of it (bounds.rare), or SILENT of them have paid nothing, no more are
    simulated.

    Args:
        names: per payoff those of its rows, the price first.
        width: simulated paths for each path.
    """

    names: tuple[tuple[str, ...], ...]
    width: int

    @property
    def counts(self):
        """The number of rows of each payoff."""
        return [len(names) for names in self.names]

    @property
    def price_rows(self):
        """The row of every payoff's price."""
        return np.cumsum([0, *self.counts[:-1]])

    @property
    def widest(self):
        return np.full(sum(self.counts), np.inf)  # there are no such bounds

    def added(self, base, steps, price, ignored, useless):
        silent = (base.moments.mean[:, 0] == 0) & (base.variance() == 0)
        lacking = silent | useless()
        if not np.any(lacking):
            return np.zeros(len(lacking))
        unseen = unseen_greeks(self, min(base.moments.paths, steps.moments.paths))
        size = np.concatenate(
            [row[[ROWS.index(n) for n in names]]
             for row, names in zip(unseen, self.names, strict=True)]
        )  # fmt: skip
        return np.where(lacking, size, 0.0)

    def paths_for(self, size, price):
        return 0.0

    def useless(self, most, price, variance, n_paths, accepted):
        at = self.price_rows

        def accepted_prices(prices):
            rows = np.zeros(sum(self.counts))
            rows[at] = prices
            return accepted(rows)[at]

        silent = self.silent(price[at], variance[at])
        is_useless = self.beyond(most / self.width, price[at], silent, accepted_prices)
        return np.repeat(is_useless | (silent & (n_paths >= SILENT)), self.counts)


def unseen_greeks(rare, n_paths):
    """Return what payments that n_paths have not shown may add, shape (n_payoffs, len(ROWS)).

    Args:
        rare: a Rare of the payoffs.
        n_paths: one number for all.
    """
    greeks = np.empty((len(rare.payoffs), len(ROWS)))
    size = -np.log(rare.risk) * rare.scale / n_paths
    for k, payoff in enumerate(rare.payoffs):
        greeks[k] = size[k] * _factors(rare.model, payoff)
    greeks[:, ROWS.index("price")] = rare.unseen(n_paths)
    return greeks


def _factors(model, payoff):
    """Return the sizes of a payment's derivatives over its own, shape (len(ROWS),)."""
    years = payoff.maturity
    s = min(1.0, spot_deviation(model, years) / model.forward(years))
    reach = -np.expm1(-model.kappa * years) / model.kappa
    drift = abs(model.rate) + abs(model.rate - model.dividend_yield) / s
    sizes = {
        "price": 1.0,
        "delta": 1 / (model.spot * s),
        "gamma": 1 / (model.spot * s) ** 2,
        "vega_v0": 0.5 * reach / s**2,
        "rho": years * (1 + 1 / s),
        "theta": 0.5 / years + drift,
    }
    return np.array([sizes[name] for name in ROWS])
