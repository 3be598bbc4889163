"""Errors of prices, static arbitrage and budgets, on surfaces of known prices."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from sciprec import compare
from sciprec.foundation.errors import InputError
from sciprec.heston.semianalytic.black import call_prices
from sciprec.results.comparison.evidence.arbitrage import arbitrage, checks_of, put_call_parity
from sciprec.results.comparison.evidence.error_budget import error_budget
from sciprec.results.comparison.evidence.gathering import Members, evidence
from sciprec.results.comparison.evidence.markets import Market, market_of
from sciprec.results.comparison.evidence.price_errors import price_errors
from sciprec.results.comparison.verdicts import judge

STRIKES = np.array([70.0, 80.0, 90.0, 100.0, 110.0, 125.0])
MATURITIES = np.array([0.25, 0.5, 1.0, 2.0])
SPOT = 100.0


def surface(kind="call", rate=0.03, dividend_yield=0.01, shift=0.0, **more):
    """Black's prices with a volatility of 25 %, and a shift."""
    market = Market(SPOT, rate, dividend_yield, kind)
    rows = []
    for t in MATURITIES:
        forward, discount = float(market.forward(t)), float(market.discount(t))
        row = call_prices(forward, STRIKES, 0.25 * math.sqrt(t), discount)
        rows.append(row - (discount * (forward - STRIKES) if kind == "put" else 0.0))
    prices = np.array(rows) + shift
    scenario = {
        "kind": "heston",
        "heston": {
            "model": {"spot": SPOT, "rate": rate, "dividend_yield": dividend_yield},
            "payoffs": {"kind": kind},
        },
    }
    grid = ("maturity", "strike")
    values = {"price": prices} | {k: v + 0.0 * prices for k, v in more.items()}
    return xr.Dataset(
        {k: (grid, v) for k, v in values.items()},
        coords={"maturity": MATURITIES, "strike": STRIKES},
        attrs={"sciprec_scenario": json.dumps(scenario)},
    )


def bent(dataset, row, column, by):
    """A copy with one price changed."""
    changed = dataset.copy(deep=True)
    changed["price"][row, column] += by
    return changed


@pytest.mark.parametrize(
    ("kind", "rate", "dividend_yield"),
    [("call", 0.03, 0.01), ("put", 0.0, 0.0), ("call", 0.01, 0.08), ("put", 0.01, 0.08)],
)
def test_prices_of_a_model_have_no_arbitrage(kind, rate, dividend_yield):
    """Black's prices meet every inequality, with slack in none of them negative."""
    data = surface(kind, rate, dividend_yield)
    found = checks_of(market_of(data), MATURITIES, STRIKES)
    names = {c.name for c in found}
    expected = {"below intrinsic", "above largest", "monotone", "slope", "convex", "calendar"}
    assert names == expected
    assert min(c.slack(data["price"].values) for c in found) >= 0.0
    assert arbitrage(data, data).sentence.startswith("rounding causes no static arbitrage")


@pytest.mark.parametrize(
    ("kind", "prices", "name"),
    [
        ("call", [[31, 22, 23, 8, 4, 1]] * 4, "monotone"),
        ("call", [[45, 22, 15, 9, 5, 2]] * 4, "slope"),
        ("call", [[31, 23, 22, 8, 4, 1]] * 4, "convex"),
        ("call", [[29, 22, 15, 9, 5, 2]] * 4, "below intrinsic"),
        ("put", [[71, 72, 73, 74, 75, 76]] * 4, "above largest"),
        ("put", [[3, 5, 4, 12, 20, 34]] * 4, "monotone"),
        ("put", [[1, 2, 15, 18, 21, 25.5]] * 4, "convex"),
    ],
)
def test_each_violation_is_found_by_its_name(kind, prices, name):
    """Prices without rates, made so that the named inequality fails."""
    truth = surface(kind, 0.0, 0.0)
    actual = truth.copy(deep=True)
    actual["price"][:] = np.array(prices, float)
    assert name in {violation[0] for violation in arbitrage(truth, actual).caused}


@pytest.mark.parametrize(
    ("kind", "rate", "dividend_yield"), [("call", 0.05, 0.01), ("put", 0.01, 0.05)]
)
def test_a_later_option_that_is_too_cheap_is_found(kind, rate, dividend_yield):
    truth = surface(kind, rate, dividend_yield)
    actual = truth.copy(deep=True)
    actual["price"][2] = 0.5 * truth["price"][1]
    assert "calendar" in {violation[0] for violation in arbitrage(truth, actual).caused}


def test_violations_within_the_bounds_are_told_from_those_beyond():
    """A convexity that fails by a is beyond bounds b where a > 2 b."""
    truth = surface()
    actual = bent(truth, 2, 3, 2.0)
    failed = {c[0]: c[3] for c in arbitrage(truth, actual).caused}
    assert set(failed) == {"convex"}
    amount = failed["convex"]
    for share, beyond in ((0.49, 1), (0.51, 0)):
        bounded = actual.assign(bound=0.0 * actual["price"] + share * amount)
        found = arbitrage(truth, bounded)
        assert found.beyond_bounds == beyond
        words = "1 of them beyond" if beyond else "none of them beyond"
        assert f"{words} the bounds of the prices" in found.sentence
    assert arbitrage(truth, actual).beyond_bounds is None


def test_parity_of_two_surfaces():
    defect = put_call_parity(surface("call", shift=0.02), surface("put"))
    np.testing.assert_allclose(defect, 0.02, rtol=1e-10)
    with pytest.raises(InputError, match="accepted: calls, then puts with the same strikes"):
        put_call_parity(surface("put"), surface("call"))


def test_errors_against_bounds_spot_and_volatility():
    """Shifts of 0.02 are 2 bp of spot; half of a bound of 0.04; 2.5 bp of volatility as stored."""
    truth = surface(bound=0.01, analytic_price=0.0, implied_volatility=0.25)
    truth["analytic_price"][:] = truth["price"]
    actual = surface(shift=0.02, bound=0.04, implied_volatility=0.25025)
    actual.attrs["confidence"] = 0.95
    found = price_errors(truth, actual)
    assert found.truth == "semi-analytic price" and found.outside == 0
    assert found.in_bounds == pytest.approx(0.5)
    assert found.basis_points_of_spot == pytest.approx(2.0)
    assert found.basis_points_of_volatility == pytest.approx(2.5)
    assert found.expected_outside == pytest.approx(0.05 * 24)
    assert found.sentence == (
        "24 of 24 prices are within their bounds of the semi-analytic price, the furthest at 0.5 "
        "bounds; at most 2 basis points of spot and 2.5 of implied volatility from "
        "fp64, sampling included"
    )
    actual["bound"][0, 0], actual["price"][1, 1] = 0.019, math.nan
    assert price_errors(truth, actual).outside == 2  # too far away, and not a number


def test_budget_of_a_bound_is_taken_where_rounding_weighs_most():
    data = surface(bound=1.0, statistical=0.5, discretisation=0.4, rounding=0.1)
    for name, value in (("rounding", 0.09), ("statistical", 0.01), ("discretisation", 0.06)):
        data[name][1, 2] = value
    found = error_budget(surface(), data, "price")
    assert found.parts == {
        "sampling": 0.01, "discretisation": 0.06, "input rounding and operations": 0.09,
    }  # fmt: skip
    assert found.below_by == pytest.approx(0.06 / 0.09)
    assert found.sentence == (
        "the rounding error of price is 1.5 times above the error of the discretisation (0.09 "
        "and 0.06, part of the bound, maturity 0.5, strike 90)"
    )


def test_budget_of_paths_knows_sampling_and_a_bias_that_sampling_does_not_explain():
    truth, actual = surface(standard_error=0.05), surface(shift=0.01)
    truth["analytic_price"] = truth["price"] - 0.1
    found = error_budget(truth, actual, "price")
    assert found.below_by == pytest.approx(5.0) and found.missing == ("discretisation",)
    truth["analytic_price"] = truth["price"] - 0.4
    found = error_budget(truth, actual, "price")
    assert found.parts["discretisation"] == pytest.approx(0.4) and found.missing == ()
    assert found.below_by == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("shift", "answer", "status"), [(1e-6, "yes", "good"), (0.5, "no", "beyond")]
)
def test_members_tell_whether_prices_have_another_distribution(shift, answer, status):
    """Twenty simulations on paths of their own, whose sampling error is 0.05."""
    rng = np.random.default_rng(4)

    def runs(bias):
        return [surface(shift=bias + 0.05 * rng.normal(), standard_error=0.05) for _ in range(20)]

    (golden, *truths), (actual, *others) = runs(0.0), runs(shift)
    found = evidence(golden, actual, Members(truths, others))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert set(found) == {
        "perturbation", "prices", "arbitrage", "distributions", "budget", "not_measured",
    }  # fmt: skip
    assert found["distributions"]["answer"] == answer and found["not_measured"] == []
    if answer == "no":
        assert "price at maturity 0.25, strike 70" in found["distributions"]["differing"]
    verdict = judge(golden, actual, compare(golden, actual), found)
    assert verdict.status == status
    assert "basis points of spot" in verdict.sentence
