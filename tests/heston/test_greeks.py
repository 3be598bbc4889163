"""Greeks: within their bounds of the truth, as often as the bounds say."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.sensitivities.greek_pricing import NAMES, PARTS
from sciprec.heston.simulation.monitoring import observed_payments
from sciprec.heston.simulation.paths import blocks
from tests.heston.examples import made
from tests.heston.test_greek_parts import LEWIS
from tests.oracles.heston_derivatives import analytic_derivatives

FANG_OOSTERLEE = heston.Model(
    spot=100, v0=0.0175, kappa=1.5768, theta=0.0398, sigma=0.5751, rho=-0.5711
)
KNOWN = (
    "call",
    "put",
    "digital-call",
    "digital-put",
    "asian-geometric",
    "asian-geometric-put",
    "forward-start",
    "forward-start-put",
    "spot",
)


def truth_of(model, payoff):
    """Return the derivatives of the semi-analytic price, in the order of NAMES."""
    found = analytic_derivatives(model, payoff)
    return np.array([found[name] for name in NAMES])


def assert_covered(value, bound, truth, size=1e-6):
    """Assert |value - truth| <= bound, but for the differences that made the truth."""
    assert np.all(np.abs(value - truth) <= bound + size * np.abs(truth) + 1e-6), (
        value - truth
    ) / bound


@pytest.mark.slow
def test_known_greeks_are_covered():
    payoffs = [made(name) for name in KNOWN]
    result = heston.greeks(LEWIS, payoffs, backend="mlu370", tolerance=0.05, seed=1)
    assert result.met and not result.sentences and result.value.shape == (len(KNOWN), len(NAMES))
    truth = np.stack([truth_of(LEWIS, payoff) for payoff in payoffs])
    assert_covered(result.value, result.bound, truth)
    parts = sum(getattr(result, name) for name in PARTS[2:-1])
    np.testing.assert_allclose(parts, result.bound, rtol=1e-9)
    assert np.all(result.bound <= result.tolerance)
    assert np.all(result["gamma"].value[-3:] == 0)
    assert result["vega_sqrt_v0"].value == pytest.approx(0.4 * result["vega_v0"].value)
    proportional = result["price"].value[-3:] / LEWIS.spot
    assert result["delta"].value[-3:] == pytest.approx(proportional)


def test_the_same_bits_on_any_number_of_threads():
    call = made("call")
    one, two = (heston.greeks(LEWIS, call, tolerance=0.03, seed=4, threads=n) for n in (1, 2))
    assert np.array_equal(one.value, two.value) and np.array_equal(one.bound, two.bound)
    assert one.n_paths == two.n_paths and one.bumps == two.bumps
    other = heston.greeks(LEWIS, call, tolerance=0.03, seed=5)
    assert not np.array_equal(one.value, other.value)


def test_variance_at_zero_and_straight_correlation():
    """No variance today: differences to one side. No motion of the spot's own: none is smooth."""
    still = replace(LEWIS, v0=0.0)
    result = heston.greeks(still, made("call"), tolerance=0.05, seed=3)
    assert result.bumps.one_sided and result["vega_sqrt_v0"].value == 0.0
    base, up, more = (
        heston.analytic.price(replace(LEWIS, v0=v0), made("call")) for v0 in (1e-9, 1e-4, 2e-4)
    )
    vega = result["vega_v0"]
    assert abs(vega.value - (4 * up - more - 3 * base) / 2e-4) < vega.bound + 1e-2
    straight = replace(LEWIS, rho=-1.0)
    payoffs = [made("call"), made("digital-call")]
    result = heston.greeks(straight, payoffs, tolerance=0.3, seed=3, max_paths=2**21)
    truth = np.stack([truth_of(straight, payoff) for payoff in payoffs])
    assert_covered(result.value, result.bound, truth)
    assert "differences" in result.variance_reduction


def test_wide_bumps_are_halved_and_bounded():
    """The bound of the differences covers what they miss, and falls with their square."""
    short = heston.Call(strike=100, maturity=1 / 52)
    model = replace(LEWIS, v0=0.01, sigma=0.3)
    loose = heston.greeks(model, short, tolerance=0.1, seed=1)
    tight = heston.greeks(model, short, tolerance=5e-4, seed=1, max_paths=2**19)
    assert tight.bumps.time < loose.bumps.time
    truth = truth_of(model, short)
    assert_covered(loose.value, loose.bound, truth, 1e-5)
    assert_covered(tight.value, tight.bound, truth, 1e-5)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"tolerance": 0}, "tolerance is 0; accepted: a share > 0, at most 1"),
        ({"scheme": "gamma_expansion"}, "draws as many random numbers as it needs"),
    ],
)
def test_bad_arguments(change, message):
    """The others are those of a price."""
    with pytest.raises(InputError, match=message):
        heston.greeks(LEWIS, **{"payoffs": made("call")} | change)


WATCHING = (
    "asian-arithmetic",
    "lookback-fixed",
    "lookback-floating-put",
    "barrier-up-out",
    "barrier-down-in-put",
)


@pytest.mark.slow
def test_payoffs_without_a_formula():
    """Against plain payments, differenced on many other paths of shorter steps."""
    payoffs = [made(name) for name in WATCHING] + [made("barrier-down-out", fixings=None)]
    result = heston.greeks(LEWIS, payoffs, tolerance=0.3, seed=6, max_paths=2**20)
    bumps = {"delta": ("spot", 4.0), "vega_v0": ("v0", 0.01), "rho": ("rate", 0.02)}
    for name, (parameter, h) in bumps.items():
        up, down = (
            _discounted(replace(LEWIS, **{parameter: getattr(LEWIS, parameter) + by}), payoffs)
            for by in (h, -h)
        )
        difference = (up - down) / (2 * h)
        error = difference.std(axis=1) / math.sqrt(difference.shape[1])
        greek = result[name]
        off = np.abs(greek.value - difference.mean(axis=1))
        assert np.all(off < greek.bound + 4 * error + 0.01 * np.abs(greek.value)), (name, off)


def _discounted(model, payoffs):
    """Return discounted payments of 2^16 paths with 32 steps, shape (payoffs, paths)."""
    parts = [
        observed_payments(model, payoffs, block, n_steps=32, seed=99) for block in blocks(2**16)
    ]
    discounts = [[model.discount(payoff.maturity)] for payoff in payoffs]
    return np.concatenate(parts, axis=1) * discounts


@pytest.mark.slow
def test_coverage():
    """Over 8 seeds every greek's 95 % bound covers it 95 % of the time but for three binomial
    standard errors, and is no wider than four times what is needed."""
    payoffs = [made("call"), made("digital-call")]
    truth = np.stack([truth_of(FANG_OOSTERLEE, payoff) for payoff in payoffs])
    n_seeds, covered, bounds, errors = 8, 0, 0.0, []
    for seed in range(n_seeds):
        result = heston.greeks(FANG_OOSTERLEE, payoffs, tolerance=0.2, seed=seed)
        error = np.abs(result.value - truth)
        covered = covered + (error <= result.bound + 1e-6 * np.abs(truth))
        bounds, errors = bounds + result.bound / n_seeds, [*errors, error]
    required = math.ceil(0.95 * n_seeds - 3 * math.sqrt(n_seeds * 0.95 * 0.05))
    assert np.all(covered >= required), covered
    needed = np.quantile(errors, 0.95, axis=0)
    assert np.median(bounds / needed) < 4, bounds / needed
