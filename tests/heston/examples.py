"""Models, payoffs and looks at paths that several tests share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sciprec import heston

LEWIS = heston.Model(
    spot=100, v0=0.04, kappa=4, theta=0.25, sigma=1, rho=-0.5, rate=0.01, dividend_yield=0.02
)
ANDERSEN_1 = heston.Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)
ANDERSEN_2 = heston.Model(spot=100, v0=0.04, kappa=0.3, theta=0.04, sigma=0.9, rho=-0.5)
CALM = heston.Model(spot=100, v0=0.04, kappa=3, theta=0.09, sigma=0.3, rho=0.5)


def made(name: str, **change: Any) -> heston.Payoff:
    """Return a payoff of a name whose dates lie on a grid of quarters of a year."""
    barrier = 130.0 if "up" in name else 75.0
    given = {"strike": 95.0, "maturity": 1.0, "fixings": 4, "barrier": barrier, "start": 0.5}
    entry = heston.payoff_named(name)
    return entry(**{key: v for key, v in (given | change).items() if key in entry.parameters})


class Path:
    """Given spots in place of a Look."""

    def __init__(self, time: float, spot: Any, variance: Any = None) -> None:
        self.time, self.spot, self.variance = time, np.array(spot, dtype=float), variance
        self.log_spot = np.log(self.spot)
