"""Parameters and payoffs outside their domain are refused by a sentence each."""

import math
import re

import numpy as np
import pytest

from sciprec.errors import InputError
from sciprec.heston.model import Model
from sciprec.heston.payoffs import Call, Put, payoff_class, payoffs

GOOD = {"spot": 100, "v0": 0.04, "kappa": 2, "theta": 0.05, "sigma": 0.4, "rho": -0.7, "rate": 0.03}


def test_model_derived_numbers():
    model = Model(**GOOD, dividend_yield=0.01)
    assert model.forward(2.0) == pytest.approx(100 * math.exp(0.04), rel=1e-15)
    assert model.discount(2.0) == pytest.approx(math.exp(-0.06), rel=1e-15)
    assert model.feller_ratio == pytest.approx(1.25, rel=1e-15)
    assert isinstance(model.spot, float)


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("spot", 0.0, "spot is 0.0; accepted: a number above zero"),
        ("v0", -0.01, "v0 is -0.01; accepted: zero or above"),
        ("kappa", 0, "kappa is 0.0; accepted: a number above zero"),
        ("theta", -1, "theta is -1.0; accepted: a number above zero"),
        ("sigma", 0.0, "sigma is 0.0; accepted: a number above zero"),
        ("rho", 1.1, "rho is 1.1; accepted: a correlation from -1 to 1"),
        ("rho", -1.01, "rho is -1.01; accepted: a correlation from -1 to 1"),
        ("rate", math.nan, "rate is nan; accepted: a finite number"),
        ("dividend_yield", math.inf, "dividend_yield is inf; accepted: a finite number"),
        ("spot", "100", "spot is '100'; accepted: a finite number"),
        ("v0", None, "v0 is None; accepted: a finite number"),
        ("kappa", True, "kappa is True; accepted: a finite number"),
    ],
)
def test_model_domain(name, value, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Model(**{**GOOD, name: value})


@pytest.mark.parametrize("name", sorted(payoffs()))
def test_payoff_domain(name):
    cls = payoff_class(name)
    assert cls.name == name
    for bad in (0.0, -5.0):
        for field in ("strike", "maturity"):
            arguments = {"strike": 100.0, "maturity": 1.0, field: bad}
            with pytest.raises(
                InputError, match=f"{field} is {bad}; accepted: a number above zero"
            ):
                cls(**arguments)
    with pytest.raises(InputError, match="strike is nan; accepted: a finite number"):
        cls(strike=math.nan, maturity=1.0)


def test_payments():
    spot = np.array([80.0, 100.0, 130.0])
    assert Call(strike=100, maturity=1).at_maturity(spot).tolist() == [0.0, 0.0, 30.0]
    assert Put(strike=100, maturity=1).at_maturity(spot).tolist() == [20.0, 0.0, 0.0]


def test_unknown_payoff():
    with pytest.raises(InputError, match="unknown payoff 'cal'; known: call, put"):
        payoff_class("cal")
