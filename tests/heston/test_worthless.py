"""Options that no path tells from worthless ones: they stop at once, and their bounds hold."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from sciprec import heston
from sciprec.heston.bounds.rare import Rare
from sciprec.heston.options.european_payoffs import Call, Digital, Put
from sciprec.heston.options.path_payoffs import (
    AsianArithmetic,
    AsianGeometric,
    Barrier,
    ForwardStart,
    LookbackFixed,
)
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import spot_deviation
from sciprec.heston.semianalytic import analytic
from sciprec.heston.sensitivities.greek_estimates import ROWS
from sciprec.heston.sensitivities.rare_greeks import unseen_greeks
from tests.heston.examples import LEWIS

WEEK = 7 / 365
FEW = 2**18  # of 2**24 that are allowed
WORTHLESS = [
    Call(strike=130, maturity=WEEK),
    Call(strike=1e6, maturity=WEEK),
    Put(strike=1, maturity=WEEK),
    Digital(strike=150, maturity=WEEK),
    Digital(strike=60, maturity=WEEK, kind="put"),
    AsianArithmetic(strike=120, maturity=WEEK, fixings=5),
    AsianGeometric(strike=120, maturity=WEEK, fixings=5),
    LookbackFixed(strike=60, maturity=WEEK, fixings=5, kind="put"),
    ForwardStart(start=WEEK / 2, maturity=WEEK, moneyness=1.4),
    Barrier(strike=100, barrier=140, maturity=WEEK, direction="up", knock="in"),
    Barrier(strike=100, barrier=60, maturity=WEEK, direction="down", knock="in", fixings=5,
            kind="put"),
    Barrier(strike=130, barrier=90, maturity=WEEK, direction="down", knock="out"),
    Barrier(strike=90, barrier=95, maturity=1, direction="down", knock="out", kind="put"),
]  # fmt: skip


def named(payoff):
    numbers = (getattr(payoff, name, None) for name in ("strike", "barrier", "fixings"))
    return "-".join([payoff.name, *(f"{number:g}" for number in numbers if number is not None)])


@pytest.mark.parametrize("payoff", WORTHLESS, ids=named)
def test_worthless_prices_stop_at_once(payoff):
    """With the variance reduction that prices have; calls took all 16.8 million paths."""
    result = heston.price(LEWIS, payoff, tolerance=1e-3)
    assert abs(result.price) <= max(result.bound, 1e-9) and result.bound < 2e-6
    assert result.n_paths < FEW
    assert result.met == (result.bound == 0.0)
    assert result.met or any("more paths would say no more" in s for s in result.sentences)


@pytest.mark.parametrize("payoff", [WORTHLESS[i] for i in (0, 3, 5, 9, 11)], ids=named)
def test_greeks_of_worthless_options_stop_at_once(payoff):
    """Greeks of the Asian took more than 44 s, and had no bound."""
    result = heston.greeks(LEWIS, payoff, tolerance=0.05)
    assert result.n_paths < 4 * FEW and np.all(np.isfinite(result.bound))
    assert np.all(np.abs(result.value) <= result.bound + 1e-12)
    assert "tells" in result.sentences[-1] and not result.met


@pytest.mark.parametrize(
    "payoff",
    [Call(strike=1, maturity=WEEK), Put(strike=150, maturity=WEEK), Call(strike=60, maturity=WEEK)],
    ids=named,
)
def test_greeks_that_no_path_shows_beside_others_that_are_certain(payoff):
    """The gamma of an option deep in the money is bound by what no path has made, not infinite.

    Its rho is that of money in the bank, whose difference is off by 1.7e-7 of it: its bound was
    1e-12, where differences in the rate were not doubled with the others.
    """
    result = heston.greeks(LEWIS, payoff, tolerance=0.05)
    assert result.met and result.n_paths < 4 * FEW
    for name, exact in payoff.analytic_greeks(LEWIS).items():
        greek = result[name]
        assert abs(greek.value - exact) <= greek.bound + 1e-12


@pytest.mark.parametrize("years", [0.02, 1.0, 10.0])
def test_sizes_of_unseen_greeks(years):
    """One payment a path would make greeks of that size: those of options near the money, whose
    truth is known, are at most twice as large, and the largest of each is not far below."""
    forward, s = LEWIS.forward(years), spot_deviation(LEWIS, years) / LEWIS.forward(years)
    options = [
        of(strike=forward * math.exp(z * s), maturity=years)
        for of in (Call, Put) for z in (-0.5, 0.0, 0.5)
    ]  # fmt: skip
    rare = Rare(LEWIS, tuple(options), 0.05)
    sizes = unseen_greeks(rare, -np.log(0.05))
    exact = [[option.analytic_greeks(LEWIS)[name] for name in ROWS[1:]] for option in options]
    shares = np.abs(exact) / sizes[:, 1:]
    assert np.all(shares <= 2) and np.all(shares.max(axis=0) > 0.15)


@dataclass(frozen=True, kw_only=True)
class FarGap(heston.European):
    """Pays above a trigger: nobody knows its price."""

    strike: float
    maturity: float

    def at_maturity(self, spot):
        return np.where(np.asarray(spot) > self.strike, spot - 0.9 * self.strike, 0.0)


def test_an_option_without_a_ceiling():
    """Unseen payments are those that the paths of the base and of the steps have not shown: the
    steps got 16384 of 16.8 million. Greeks of a price of zero meet no share with more paths."""
    gap = FarGap(strike=130, maturity=WEEK)
    result = heston.price(LEWIS, gap, max_paths=2**20)
    assert min(row.n_paths for row in result.levels if row.level != "rounding") > 2**17
    assert heston.greeks(LEWIS, gap, tolerance=0.05).n_paths < 2**21


@pytest.mark.parametrize("rate", [-0.05, 0.2])
def test_ceilings_of_barriers(rate):
    """Of every kind, near and far, with drifts of either sign: no price is above."""
    model = Model(spot=100, v0=0.04, kappa=1, theta=0.09, sigma=0.6, rho=-0.4, rate=rate)
    rng = np.random.default_rng(3)
    options = [
        Barrier(
            strike=rng.uniform(80, 120), maturity=1.0, direction=direction, knock=knock, kind=kind,
            barrier=100 * math.exp(rng.uniform(0.1, 1.5) * (1 if direction == "up" else -1)),
            fixings=4,
        )
        for direction in ("up", "down") for knock in ("in", "out") for kind in ("call", "put")
        for _ in range(4)
    ]  # fmt: skip
    result = heston.price(model, options, tolerance=0.5, seed=5, max_paths=2**16)
    ceilings = np.array([option.ceiling(model) for option in options])
    assert np.all(result.price - result.bound <= ceilings)
    europeans = [
        (Call if o.kind == "call" else Put)(strike=o.strike, maturity=1.0).analytic_price(model)
        for o in options
    ]
    assert np.mean(ceilings < 0.9 * np.array(europeans)) > 0.3


@pytest.mark.parametrize("draw", range(5))
def test_drawn_options_far_from_the_money(draw):
    """Bounds hold, and what is worth nothing beside the spot stops at once."""
    rng = np.random.default_rng([41, draw])
    model = Model(
        spot=10 ** rng.uniform(-2, 4), v0=rng.uniform(0.01, 0.2), kappa=rng.uniform(0.5, 8),
        theta=rng.uniform(0.01, 0.2), sigma=rng.uniform(0.1, 1), rho=rng.uniform(-0.9, 0.9),
        rate=rng.uniform(-0.02, 0.08),
    )  # fmt: skip
    years, far = 10 ** rng.uniform(-2, 0), rng.uniform(6, 30)
    s = spot_deviation(model, years) / model.forward(years)
    above, below = (model.forward(years) * math.exp(side * far * s) for side in (1, -1))
    options = [
        Call(strike=above, maturity=years),
        Put(strike=below, maturity=years),
        Digital(strike=above, maturity=years),
        AsianGeometric(strike=above, maturity=years, fixings=3),
        ForwardStart(start=years / 2, maturity=years, moneyness=below / model.spot, kind="put"),
    ]
    option = options[draw % len(options)]
    exact = analytic.price(model, option)
    result = heston.price(model, option, tolerance=0.01, seed=draw, max_paths=2**20)
    assert abs(result.price - exact) <= result.bound
    if exact < 1e-11 * model.spot:
        assert result.n_paths < FEW
