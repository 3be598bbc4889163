"""Parameters outside their domain are refused by a sentence each."""

import math
import re

import pytest

from sciprec.foundation.errors import InputError
from sciprec.heston.parameters import Model

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
        ("spot", 0.0, "spot is 0.0; accepted: a price > 0, at most 1e12"),
        ("v0", -0.01, "v0 is -0.01; accepted: an initial variance from 0"),
        ("kappa", 0, "kappa is 0; accepted: a rate of mean reversion > 0"),
        ("theta", -1, "theta is -1; accepted: a long-run variance > 0"),
        ("sigma", 0.0, "sigma is 0.0; accepted: a volatility of variance > 0"),
        ("rho", 1.1, "rho is 1.1; accepted: a correlation in [-1, 1]"),
        ("rho", -1.01, "rho is -1.01; accepted: a correlation in [-1, 1]"),
        ("rate", math.nan, "rate is nan; accepted: an interest rate per year"),
        ("dividend_yield", math.inf, "dividend_yield is inf; accepted: a dividend yield"),
        ("spot", "100", "spot is '100'; accepted: a price > 0"),
        ("v0", None, "v0 is None; accepted: an initial variance"),
        ("kappa", True, "kappa is True; accepted: a rate of mean"),
    ],
)
def test_model_domain(name, value, message):
    with pytest.raises(InputError, match=re.escape(message)):
        Model(**{**GOOD, name: value})
