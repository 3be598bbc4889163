"""Semi-analytic prices against 30-digit references, limits, parity and each other."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sciprec.foundation.errors import InputError
from sciprec.heston.parameters import Model
from sciprec.heston.semianalytic import affine, analytic, black, contour
from tests.heston.examples import LEWIS

models = st.builds(
    Model,
    spot=st.floats(0.5, 200),
    v0=st.floats(0, 1),
    kappa=st.floats(0.01, 10),
    theta=st.floats(1e-4, 1),
    sigma=st.floats(1e-3, 5),
    rho=st.floats(-1, 1),
    rate=st.floats(-0.05, 0.1),
    dividend_yield=st.floats(0, 0.1),
)


def test_every_reference(references):
    assert len(references) == 21
    for name, (model, strike, maturity, call) in references.items():
        got = float(analytic.call_prices(model, strike, maturity))
        assert abs(got - call) <= max(1e-10 * call, 1e-12), name
        assert abs(got - call) <= 64 * 2.0**-53 * model.spot, name  # what the method really gives


@given(model=models, maturity=st.floats(0.01, 30), distance=st.floats(-2, 2))
@settings(max_examples=60, deadline=None)
def test_bounds_and_parity(model, maturity, distance):
    forward, discount = model.forward(maturity), model.discount(maturity)
    deviation = math.sqrt(maturity * max(model.v0, model.theta))
    strike = forward * math.exp(min(max(distance * deviation, -5), 5))
    call = float(analytic.call_prices(model, strike, maturity))
    put = float(analytic.put_prices(model, strike, maturity))
    intrinsic = discount * max(forward - strike, 0)
    scale = 16 * 2.0**-53 * discount * (forward + strike)
    assert intrinsic - scale <= call <= discount * forward + scale
    assert abs(call - put - discount * (forward - strike)) <= 8 * scale


@given(model=models, maturity=st.floats(0.01, 30), distance=st.floats(-2, 2))
@settings(max_examples=60, deadline=None)
def test_the_straight_contour_gives_the_same(model, maturity, distance):
    """The straight line's logarithm is proven continuous: the tilted ones must agree with it."""
    deviation = math.sqrt(maturity * max(model.v0, model.theta))
    moneyness = np.array([distance * deviation])

    def exponent(u):
        return affine.log_characteristic_function(model, u, maturity)

    chosen = contour.contour_angles(exponent, moneyness)[0]
    try:
        straight = contour.integrate(exponent, moneyness, (contour.unit_factor,), 0.0)
    except InputError:
        assume(False)  # too oscillating for the straight line: this is why the contour leans
    leaning = contour.integrate(exponent, moneyness, (contour.unit_factor,), chosen)
    assert abs(leaning - straight) < 1e-12


def _bounded_models(count: int, seed: int):
    """Models whose log-spots have an end, since rho is -1 or 1, and strikes beside it."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        v0, theta = rng.uniform(0, 1), rng.choice([1e-4, 1.0, rng.uniform(1e-4, 1)])
        kappa, sigma = rng.choice([0.01, rng.uniform(0.01, 10)]), rng.uniform(1, 5)
        rho, maturity = rng.choice([-1.0, 1.0]), rng.choice([0.01, 1 / 16, 0.1, 1.0])
        model = Model(spot=100, v0=v0, kappa=kappa, theta=theta, sigma=sigma, rho=rho)
        end = -rho * (v0 + kappa * theta * maturity) / sigma
        yield model, float(maturity), end + rng.choice([0.0, 1e-3, 0.02]) * rng.normal()


@pytest.mark.slow
def test_prices_at_the_end_of_all_spots():
    """Contours of several tilts agree, and a correlation of almost 1 gives almost the same."""
    for model, maturity, end in _bounded_models(60, 1):
        strike = model.forward(maturity) * math.exp(min(max(end, -5), 5))
        call = float(analytic.call_prices(model, strike, maturity))
        near = dataclasses.replace(model, rho=model.rho * (1 - 1e-9))
        assert abs(call - float(analytic.call_prices(near, strike, maturity))) < 1e-4
        assert max(model.forward(maturity) - strike, 0) - 1e-12 <= call <= 100 + 1e-12


def test_calm_variance_is_black():
    """With sigma -> 0 and v0 = theta the variance stays at v0."""
    model = Model(spot=100, v0=0.09, kappa=1, theta=0.09, sigma=1e-7, rho=0)
    strikes = np.array([50.0, 90.0, 100.0, 130.0, 300.0])
    expected = black.call_prices(100.0, strikes, 0.3 * math.sqrt(2.0))
    np.testing.assert_allclose(
        analytic.call_prices(model, strikes, 2.0), expected, rtol=1e-12, atol=1e-12
    )


def test_martingale_and_mass():
    """phi(0) = 1 and phi(-i) = E[S_T] / F = 1 for every model (here with kappa > rho sigma)."""
    for model in (LEWIS, Model(spot=1, v0=0.2, kappa=0.1, theta=0.01, sigma=3, rho=-0.9)):
        exponent = affine.log_characteristic_function(model, np.array([0j, -1j]), 3.0)
        np.testing.assert_allclose(exponent, 0, atol=1e-15)


def _exactly(price, forward, strike, maturity, discount, kind, near):
    """The implied volatility of numbers as they are, to 40 digits, from a start beside it."""
    with mpmath.workdps(50):
        given = (price, forward, strike, maturity, discount)
        price, forward, strike, maturity, discount = map(mpmath.mpf, given)
        high, low = (forward, strike) if kind == "call" else (strike, forward)
        x, size = abs(mpmath.log(forward / strike)), discount * mpmath.sqrt(forward * strike)
        excess, room = price - discount * max(high - low, 0), discount * high - price
        side, value = (1, excess) if excess < room else (-1, room)

        def gap(logarithm):
            s = mpmath.exp(logarithm)
            terms = mpmath.exp(-x / 2) * mpmath.ncdf(side * (s / 2 - x / s))
            terms -= side * mpmath.exp(x / 2) * mpmath.ncdf(-x / s - s / 2)
            return mpmath.log(size * terms / value)

        root = mpmath.findroot(gap, mpmath.log(near * mpmath.sqrt(maturity)))
        return mpmath.exp(root) / mpmath.sqrt(maturity)


def test_implied_volatilities_are_right_to_some_units_in_the_last_place():
    """Of options far in and out of the money, of minutes and of centuries, whose prices are within
    10^-16 of their limits, too; from a volatility to its price and back as far as that price tells.
    """
    draw, n = np.random.default_rng(20261128), 300
    kind, forward = draw.choice(["call", "put"], n), 10.0 ** draw.uniform(-3, 5, n)
    years, deviation = 10.0 ** draw.uniform(-4, 2, n), 10.0 ** draw.uniform(-6, 1, n)
    discount = np.exp(-draw.uniform(-0.02, 0.1, n) * years)
    away = draw.normal(size=n) * draw.choice([0.0, 1e-3, 1.0, 5.0, 20.0], n)
    strikes = forward * np.exp(np.clip(away * deviation, -200.0, 200.0))
    calls = black.call_prices(forward, strikes, deviation, discount)
    puts = discount * black.expected_puts(forward, strikes, deviation**2)
    prices = np.where(kind == "call", calls, puts)
    high, low = np.where(kind == "call", (forward, strikes), (strikes, forward))
    within = (prices > discount * np.maximum(high - low, 1e-290)) & (prices < discount * high)
    assert within.sum() > 200
    given = [each[within] for each in (prices, forward, strikes, years, discount, kind)]
    volatilities = black.implied_volatility(*given)
    for *numbers, found in zip(*given, volatilities, strict=True):
        truth = _exactly(*numbers, found)
        assert abs(found - truth) <= 16 * 2.0**-53 * truth
    again = black.implied_volatility(0.4, 1.0, [1.0, 1.0], 1.0, 1.0, ["call", "put"])
    assert again[0] == again[1] == pytest.approx(1.0488, rel=1e-4)


@pytest.mark.parametrize("call", [-0.1, 1.0, 0.4, math.nan])
def test_no_implied_volatility(call):
    words = "price .* at strike 0.5 has no implied volatility; accepted: from 0.5 to below 1.0"
    with pytest.raises(InputError, match=f"call {words}"):
        black.implied_volatility(call, 1.0, 0.5, 1.0)
    with pytest.raises(InputError, match="put price 0.5 at .*; accepted: from 0.0 to below 0.5"):
        black.implied_volatility(0.5, 1.0, 0.5, 1.0, kind="put")


def test_bad_maturity_and_payoff():
    with pytest.raises(InputError, match="maturity is 0.0; accepted: years > 0"):
        analytic.put_prices(LEWIS, 100.0, 0.0)
    with pytest.raises(
        InputError, match="payoff 'str' has no semi-analytic price; accepted: asian-g"
    ):
        analytic.price(LEWIS, "asian")


def test_no_convergence(monkeypatch):
    monkeypatch.setattr(contour, "MOST_NODES", contour.NODES)
    with pytest.raises(
        InputError, match=r"price of Model\(.* did not converge with 48 nodes; accepted: parameters"
    ):
        analytic.call_prices(LEWIS, 100.0, 1.0)
