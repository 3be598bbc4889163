"""Semi-analytic prices beyond the European ones: digitals, geometric Asians, forward starts."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.parameters import Model
from sciprec.heston.semianalytic import affine, analytic
from tests.heston.examples import ANDERSEN_1, LEWIS

LEANING_UP = Model(spot=80, v0=0.3, kappa=0.4, theta=0.1, sigma=0.9, rho=0.8, rate=0.04)
MODELS = pytest.mark.parametrize(
    "model", [LEWIS, ANDERSEN_1, LEANING_UP], ids=["lewis", "andersen", "up"]
)

models = st.builds(
    Model,
    spot=st.just(1.0),
    v0=st.floats(0, 1),
    kappa=st.floats(0.1, 8),
    theta=st.floats(1e-3, 0.5),
    sigma=st.floats(0.05, 3),
    rho=st.floats(-0.99, 0.99),
)


def riccati(model, stretches, v0):
    """Return the log of E[exp(sum i w_k (X_k - X_k-1))] by numerical integration of the ODEs.

    Args:
        stretches: (w, years) from the last one back to the first; w complex.
    """

    def slopes(t, state, w):
        b = state[0] + 1j * state[1]
        change = 0.5 * model.sigma**2 * b * b - (model.kappa - 1j * model.rho * model.sigma * w) * b
        change -= 0.5 * (w * w + 1j * w)
        return [change.real, change.imag, model.kappa * model.theta * b.real,
                model.kappa * model.theta * b.imag]  # fmt: skip

    state = np.zeros(4)
    for w, years in stretches:
        state = solve_ivp(
            slopes, (0, years), state, args=(w,), method="LSODA", rtol=1e-9, atol=1e-11
        ).y[:, -1]
    return state[2] + 1j * state[3] + (state[0] + 1j * state[1]) * v0


@pytest.mark.slow
@given(
    model=models,
    maturity=st.floats(0.05, 10),
    size=st.floats(0, 40),
    tilt=st.sampled_from([0.0, 0.35, -0.35]),
    fixings=st.integers(1, 4),
    share=st.floats(0.1, 0.9),
)
@settings(max_examples=60, deadline=None)
def test_transforms_solve_their_equations(model, maturity, size, tilt, fixings, share):
    """The closed forms, branches of their logarithms included, against integrated ODEs."""
    u = 0.5 * np.sinh(np.arcsinh(2 * size) + 1j * tilt) - 0.5j
    step = maturity / fixings
    expected = riccati(model, [(u * k / fixings, step) for k in range(1, fixings + 1)], model.v0)
    got = affine.average_log_characteristic_function(model, u, maturity, fixings)
    assert abs(got - expected) < 1e-6 * (1 + abs(expected))
    start = share * maturity
    expected = riccati(model, [(u, maturity - start), (-1j, start)], model.v0)
    got = affine.forward_log_characteristic_function(model, u, start, maturity)
    assert abs(got - expected) < 1e-6 * (1 + abs(expected))


@pytest.mark.parametrize("rho", [-0.8, 0.0, 0.25, 0.5, 0.500001, 0.8, 1.0])
@pytest.mark.parametrize(("fixings", "years"), [(1, 2.0), (2, 2.0), (5, 2.0), (2, 20.0)])
def test_means_at_the_end_of_the_strip(rho, fixings, years):
    """E[G] and E[S], with the speed of reversion kappa - rho sigma above, at and below zero."""
    model = Model(spot=1, v0=0.3, kappa=0.5, theta=0.1, sigma=1.0, rho=rho)
    stretches = [(-1j * k / fixings, years / fixings) for k in range(1, fixings + 1)]
    expected = riccati(model, stretches, model.v0)
    got = affine.average_log_characteristic_function(model, -1j, years, fixings)
    assert abs(got - expected) < 1e-7
    assert abs(affine.log_characteristic_function(model, -1j, years)) < 1e-13


@MODELS
def test_one_fixing_is_european(model):
    strikes = model.spot * np.array([0.6, 1.0, 1.5])
    for kind, european in (("call", analytic.call_prices), ("put", analytic.put_prices)):
        got = analytic.asian_geometric_prices(model, strikes, 2.0, 1, kind)
        np.testing.assert_allclose(got, european(model, strikes, 2.0), atol=1e-12 * model.spot)


@pytest.mark.slow
@MODELS
def test_many_fixings(model):
    """Parity, and the limit of the mean under deterministic growth, for every number."""
    for fixings in (2, 12, 252):
        call, put = (
            analytic.asian_geometric_prices(model, [50.0, 120.0], 1.5, fixings, kind)
            for kind in ("call", "put")
        )
        difference = call - put
        slope = (difference[0] - difference[1]) / 70.0
        assert slope == pytest.approx(model.discount(1.5), rel=1e-11)
    coarse, fine, finest = (
        float(analytic.asian_geometric_prices(model, 90.0, 1.5, n)) for n in (50, 100, 200)
    )
    assert (coarse - fine) / (fine - finest) == pytest.approx(2.0, rel=0.1)  # error is O(1/n)


@given(model=models, maturity=st.floats(0.05, 10), fixings=st.integers(2, 12))
@example(Model(spot=1.0, v0=0.0, kappa=0.5, theta=0.5, sigma=1.0, rho=0.5), 1.0, 2)
@settings(max_examples=40, deadline=None)
def test_means_are_worth_less_than_the_mean_of_europeans(model, maturity, fixings):
    """G <= arithmetic mean, and max(mean - K, 0) <= mean of max(S - K, 0) (Jensen, twice)."""
    strikes = np.array([0.6, 1.0, 1.4])
    got = analytic.asian_geometric_prices(model, strikes, maturity, fixings)
    dates = [maturity * k / fixings for k in range(1, fixings + 1)]
    mean = sum(analytic.call_prices(model, strikes, date) for date in dates) / fixings
    assert np.all(got <= mean + 1e-12)
    assert np.all(np.diff(got) <= 1e-12) and np.all(got >= 0)


@given(model=models, maturity=st.floats(0.05, 10), start=st.floats(0.01, 0.99))
@settings(max_examples=40, deadline=None)
def test_digitals_and_forward_starts_are_ordered(model, maturity, start):
    """Probabilities fall with the strike; forward starts are convex and fall with slope >= -1."""
    levels = np.linspace(0.4, 2.0, 17)
    above = analytic.digital_prices(model, levels, maturity)
    assert np.all(np.diff(above) <= 1e-11) and above[0] <= 1 and above[-1] >= 0
    prices = analytic.forward_start_prices(model, levels, start * maturity, maturity)
    slopes = np.diff(prices) / np.diff(levels)
    assert np.all(slopes <= 1e-10) and np.all(slopes >= -1 - 1e-10)
    assert np.all(np.diff(slopes) >= -1e-9)


@MODELS
def test_digital_is_the_slope_of_the_call(model):
    strikes, h = model.spot * np.array([0.5, 0.9, 1.0, 1.3]), 0.002 * model.spot
    prices = [analytic.call_prices(model, strikes + k * h, 0.8) for k in (-3, -2, -1, 1, 2, 3)]
    weights = np.array([-1, 9, -45, 45, -9, 1]) / 60  # sixth-order central difference
    slope = -sum(w * p for w, p in zip(weights, prices, strict=True)) / h
    got = analytic.digital_prices(model, strikes, 0.8)
    np.testing.assert_allclose(got, slope, atol=1e-9)
    puts = analytic.digital_prices(model, strikes, 0.8, "put")
    np.testing.assert_allclose(got + puts, model.discount(0.8), rtol=1e-15)


@MODELS
def test_forward_start_limits(model):
    """A start at once is a European; a start without any variance before it, too."""
    moneyness = np.array([0.7, 1.0, 1.2])
    near = analytic.forward_start_prices(model, moneyness, 1e-9, 1.0)
    european = analytic.call_prices(model, model.spot * moneyness, 1.0)
    np.testing.assert_allclose(near, european, rtol=1e-6)
    call, put = (
        analytic.forward_start_prices(model, moneyness, 0.5, 1.0, kind) for kind in ("call", "put")
    )
    worth = model.discount(1.0) * (model.forward(1.0) - moneyness * model.forward(0.5))
    np.testing.assert_allclose(call - put, worth, atol=1e-12 * model.spot)


def test_forward_start_without_reversion_in_the_share_measure():
    """kappa = rho sigma: the formula's limit joins its neighbours."""
    near = [
        Model(spot=1, v0=0.2, kappa=kappa, theta=0.1, sigma=1.0, rho=0.5)
        for kappa in (0.5 - 1e-6, 0.5, 0.5 + 1e-6)
    ]
    below, at, above = (float(analytic.forward_start_prices(m, 1.0, 0.5, 1.0)) for m in near)
    assert at == pytest.approx((below + above) / 2, rel=1e-10)
    assert below != above


@MODELS
@pytest.mark.parametrize("kind", [heston.Call, heston.Put])
@pytest.mark.parametrize("share", [0.7, 1.0, 1.3])
def test_greeks_are_derivatives(model, kind, share):
    """Against sixth-order central differences of the price."""
    option = kind(strike=share * model.spot, maturity=1.5)
    given = {name: getattr(model, name) for name in Model.__dataclass_fields__}

    def derivative(name, value, h, order=1):
        def at(shift):
            if name == "maturity":
                return analytic.price(model, kind(strike=option.strike, maturity=value + shift))
            return analytic.price(Model(**given | {name: value + shift}), option)

        if order == 2:
            weights = {-3: 2, -2: -27, -1: 270, 0: -490, 1: 270, 2: -27, 3: 2}
            return sum(w * at(k * h) for k, w in weights.items()) / (180 * h * h)
        weights = {-3: -1, -2: 9, -1: -45, 1: 45, 2: -9, 3: 1}
        return sum(w * at(k * h) for k, w in weights.items()) / (60 * h)

    got = analytic.greeks(model, option)
    to_v0 = derivative("v0", model.v0, 2e-4)
    expected = {
        "delta": derivative("spot", model.spot, 0.001 * model.spot),
        "gamma": derivative("spot", model.spot, 0.004 * model.spot, 2),
        "vega_v0": to_v0,
        "vega_sqrt_v0": 2 * math.sqrt(model.v0) * to_v0,
        "rho": derivative("rate", model.rate, 0.001),
        "theta": -derivative("maturity", 1.5, 0.004),
    }
    assert tuple(got) == analytic.GREEKS == tuple(expected)
    for name, value in expected.items():
        assert got[name] == pytest.approx(value, rel=1e-8, abs=1e-9), name


def test_no_formula():
    asian = heston.AsianArithmetic(strike=100, maturity=1, fixings=5)
    assert not analytic.has_price(asian)
    words = "payoff 'asian-arithmetic' has no semi-analytic price; accepted: asian-geom.*Monte Carl"
    with pytest.raises(InputError, match=words):
        analytic.price(LEWIS, asian)
    with pytest.raises(InputError, match="payoff 'spot' has no semi-analytic greeks; accepted: ca"):
        analytic.greeks(LEWIS, heston.Spot(maturity=1))


def test_published_geometric_asians(path_references):
    for name in ("fang_oosterlee_asian_geometric", "lewis_asian_geometric"):
        model, payoff, price, _ = path_references[name]
        assert analytic.price(model, payoff) == pytest.approx(price, rel=1e-12), name
