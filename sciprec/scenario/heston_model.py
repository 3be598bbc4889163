"""The parameters of Heston's model, as scenarios and the files of `sciprec price` hold them."""

from __future__ import annotations

from sciprec.checks.limits import HESTON_MODEL
from sciprec.scenario.sections import Section, limited


class HestonModel(Section):
    """Parameters of Heston (1993); sigma is the volatility of variance."""

    spot: float = limited(HESTON_MODEL["spot"], "spot = 100.0")
    v0: float = limited(HESTON_MODEL["v0"], "v0 = 0.04")
    kappa: float = limited(HESTON_MODEL["kappa"], "kappa = 1.5")
    theta: float = limited(HESTON_MODEL["theta"], "theta = 0.04")
    sigma: float = limited(HESTON_MODEL["sigma"], "sigma = 0.5")
    rho: float = limited(HESTON_MODEL["rho"], "rho = -0.7")
    rate: float = limited(HESTON_MODEL["rate"], "rate = 0.02")
    dividend_yield: float = limited(
        HESTON_MODEL["dividend_yield"], "dividend_yield = 0.01", default=0.0
    )
