"""The parameters of Heston's model, as scenarios and the files of `sciprec price` hold them."""

from __future__ import annotations

import math

from sciprec.facets.tables import Section, limited
from sciprec.foundation.limits import HESTON_MODEL

UNUSUAL_RATE, UNUSUAL_VOLATILITY = 0.5, 2.0  # per year, beyond which a note says what they mean


class HestonModel(Section):
    """Parameters of Heston (1993); sigma is the volatility of variance."""

    spot: float = limited(HESTON_MODEL["spot"], "spot = 100.0")
    v0: float = limited(HESTON_MODEL["v0"], "v0 = 0.04")
    kappa: float = limited(HESTON_MODEL["kappa"], "kappa = 1.5")
    theta: float = limited(HESTON_MODEL["theta"], "theta = 0.04")
    sigma: float = limited(HESTON_MODEL["sigma"], "sigma = 0.5")
    rho: float = limited(HESTON_MODEL["rho"], "rho = -0.7")
    rate: float = limited(HESTON_MODEL["rate"], "rate = 0.02", default=0.0)
    dividend_yield: float = limited(
        HESTON_MODEL["dividend_yield"], "dividend_yield = 0.01", default=0.0
    )

    def notes(self) -> list[str]:
        """Sentences about parameters that look as if they were given in per cent."""
        sentences = [
            f"{name} {value:g} is {100 * value:.4g} % a year; 5 % is written 0.05"
            for name in ("rate", "dividend_yield")
            if abs(value := getattr(self, name)) > UNUSUAL_RATE
        ]
        for name, when in (("v0", "today"), ("theta", "in the long run")):
            volatility = math.sqrt(value := getattr(self, name))
            if volatility > UNUSUAL_VOLATILITY:
                sentences.append(
                    f"{name} {value:g} is a variance, of a volatility of {100 * volatility:.4g} % "
                    f"{when}; a volatility of 20 % is written 0.04"
                )
        return sentences
