"""Models and lists of payoffs from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sciprec.heston.options.european_payoffs import Call, Digital, Put
from sciprec.heston.options.path_payoffs import (
    AsianArithmetic,
    AsianGeometric,
    Barrier,
    LookbackFixed,
)
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff

MOST_ROWS = 5
KINDS = ("weekly barriers", "continuous barriers", "digitals", "Asians", "Europeans", "mixed")


@dataclass(frozen=True)
class ListCase:
    """A list of payoffs of one maturity in a model, with the tolerance that it is priced to.

    Attributes:
        seed: that it was drawn from; it is the seed of its prices too.
        kind: of KINDS.
    """

    seed: int
    kind: str
    model: Model
    payoffs: tuple[Payoff, ...]
    tolerance: float


def list_case(seed: int) -> ListCase:
    """Return the case of a seed; kinds take turns."""
    rng = np.random.default_rng([seed, 46])
    kind = KINDS[seed % len(KINDS)]
    theta, feller = math.exp(rng.uniform(-3.9, -1.4)), math.exp(rng.uniform(-1.6, 1.6))
    kappa = math.exp(rng.uniform(-0.3, 2.0))
    model = Model(
        spot=100.0, v0=theta * math.exp(rng.uniform(-0.7, 0.7)), kappa=kappa, theta=theta,
        sigma=min(math.sqrt(2 * kappa * theta / feller), 2.0), rho=float(rng.uniform(-0.9, 0.3)),
        rate=float(rng.uniform(0.0, 0.05)), dividend_yield=float(rng.uniform(0.0, 0.03)),
    )  # fmt: skip
    weeks = int(rng.integers(4, 60))
    maturity, fixings = weeks * 7 / 365, weeks
    rows = int(rng.integers(2, MOST_ROWS + 1))
    payoffs = tuple(_payoff(rng, kind, model, maturity, fixings) for _ in range(rows))
    tolerance = float(rng.choice([0.005, 0.01, 0.02, 0.04]))
    return ListCase(seed, kind, model, tuple(dict.fromkeys(payoffs)), tolerance)


def _payoff(rng, kind: str, model: Model, maturity: float, fixings: int) -> Payoff:
    """Return a payoff whose strike and barrier are within a deviation or two of the spot."""
    spread = math.sqrt(model.theta * maturity)
    at = {"strike": _near(rng, -0.7 * spread, 0.7 * spread), "maturity": maturity}
    option = str(rng.choice(["call", "put"]))
    if kind == "mixed":
        kind = str(rng.choice(KINDS[:-1]))
    if kind == "digitals":
        return Digital(**at, kind=option)
    if kind == "Europeans":
        return (Call, Put)[option == "put"](**at)
    if kind == "Asians":
        whole = (AsianArithmetic, AsianGeometric)[rng.integers(2)]
        return whole(**at, fixings=fixings, kind=option)
    watched = fixings if kind == "weekly barriers" else None
    if rng.random() < 0.2:
        return LookbackFixed(**at, fixings=fixings, kind=option)
    down, knock = bool(rng.integers(2)), str(rng.choice(["out", "out", "in"]))
    away = (-1.6 * spread, -0.5 * spread) if down else (0.5 * spread, 1.6 * spread)
    return Barrier(
        **at, barrier=_near(rng, *away), direction="down" if down else "up", knock=knock,
        fixings=watched, kind=option,
    )  # fmt: skip


def _near(rng, low: float, high: float) -> float:
    """Return an amount whose logarithm over the spot is between two numbers."""
    return round(100.0 * math.exp(float(rng.uniform(low, high))), 2)
