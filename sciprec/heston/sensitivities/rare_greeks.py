"""What payments that no path has made may add to greeks.

A payment of the size G (bounds.rare) that ends in the money by chance changes by about itself when
the logarithm of the spot moves by its deviation s (or by 1), so that its derivatives are of sizes

    delta  G / (S s)    gamma  G / (S s)^2    rho  T G (1 + 1 / s)
    vega_v0  G / (2 s^2) d(s^2)/dv0           theta  G / (2 T) + |rate| G + |rate - dividends| G / s

and by the rule of three n paths that have made none may lack -log(risk) of them over n.
"""

import numpy as np

from sciprec.heston.payoff_registry import spot_deviation
from sciprec.heston.sensitivities.greek_estimates import ROWS


def unseen_greeks(rare, n_paths):
    """Return what payments that n_paths have not shown may add, shape (n_payoffs, len(ROWS)).

    Args:
        rare: a Rare of the payoffs.
        n_paths: one number for all.
    """
    found = np.empty((len(rare.payoffs), len(ROWS)))
    size = -np.log(rare.risk) * rare.scale / n_paths
    for k, payoff in enumerate(rare.payoffs):
        found[k] = size[k] * _factors(rare.model, payoff)
    found[:, ROWS.index("price")] = rare.unseen(n_paths)
    return found


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
