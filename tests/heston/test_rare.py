"""Payments that no path has made: how much they may add, and prices that the true one respects."""

import numpy as np
import pytest

from sciprec import heston
from sciprec.heston.bounds.rare import Rare
from sciprec.heston.options.european_payoffs import Call, Digital, Put, Spot
from sciprec.heston.options.path_payoffs import (
    AsianArithmetic,
    AsianGeometric,
    Barrier,
    ForwardStart,
    LookbackFixed,
    LookbackFloating,
)
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import payoffs
from sciprec.heston.semianalytic import analytic

MODEL = Model(spot=100, v0=0.04, kappa=1.5, theta=0.04, sigma=0.5, rho=-0.7, rate=0.03)
AT = {"strike": 101.0, "maturity": 0.5}
GIVEN = [
    Call(**AT),
    Put(**AT),
    Digital(**AT),
    Digital(**AT, kind="put"),
    Spot(maturity=0.5),
    *(
        one
        for kind in ("call", "put")
        for one in (
            AsianArithmetic(**AT, fixings=3, kind=kind),
            AsianGeometric(**AT, fixings=3, kind=kind),
            LookbackFixed(**AT, fixings=3, kind=kind),
            LookbackFloating(maturity=0.5, fixings=3, kind=kind),
            ForwardStart(start=0.25, maturity=0.5, kind=kind),
            Barrier(**AT, barrier=90, direction="down", knock="out", fixings=3, kind=kind),
            Barrier(**AT, barrier=110, direction="up", knock="in", fixings=3, kind=kind),
        )
    ),
]


def test_every_registered_payoff_is_among_the_examples():
    assert {type(payoff) for payoff in GIVEN} == {entry.cls for entry in payoffs().values()}


def test_ceilings_and_certain_parts_enclose_the_price():
    result = heston.price(MODEL, GIVEN, tolerance=0.1, seed=3, max_paths=2**16)
    rare = Rare(MODEL, tuple(GIVEN), 0.05)
    assert np.all(result.price - result.bound <= rare.ceiling)
    assert np.all(rare.ceiling[:2] < 20) and np.all(rare.scale >= 0)
    for payoff, price, bound in zip(GIVEN, result.price, result.bound, strict=True):
        if not isinstance(payoff, Digital):
            assert payoff.certain(MODEL) <= price + bound


def test_the_rule_of_three():
    """(1 - L / n)^n is the probability of not seeing what happens L times in n paths."""
    rare = Rare(MODEL, (Digital(**AT),), 0.05)
    n = 4096
    assert (1 - rare.unseen(n)[0] / MODEL.discount(0.5)) ** n == pytest.approx(0.05, rel=2e-3)
    assert rare.needed(rare.unseen(n))[0] == pytest.approx(n)


@pytest.mark.parametrize("strike, maturity", [(1.0, 1.0), (10.0, 0.5)])
def test_deep_calls_are_held(strike, maturity):
    """Their puts pay on no path: bounds of 1e-10 of the price held 5 and 11 times of 20."""
    option = Call(strike=strike, maturity=maturity)
    truth = analytic.price(MODEL, option)
    for seed in range(6):
        result = heston.price(MODEL, option, tolerance=0.01, seed=seed)
        assert result.met and abs(result.price - truth) <= result.bound
        assert result.statistical >= 3 * MODEL.discount(maturity) * strike / 2**15
