"""Parts of greeks: level integration, shifted dates, controls, bumps."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from sciprec import heston
from sciprec.heston.options.level_payments import mean_payments
from sciprec.heston.semianalytic.analytic_greeks import known_greeks
from sciprec.heston.sensitivities.bumps import (
    Bumps,
    central_difference,
    first_bumps,
    forward_difference,
)
from sciprec.heston.sensitivities.greek_estimates import ROWS
from sciprec.heston.sensitivities.greek_sampler import GreekSampler
from sciprec.heston.simulation.monitoring import MonitoredPayoffs, observed_payments, watch
from sciprec.heston.simulation.paths import Block
from tests.heston import examples
from tests.heston.examples import Path, made
from tests.oracles.heston_derivatives import analytic_derivatives

LEWIS = replace(examples.LEWIS, rate=0.03)
SCHEME = "quadratic_exponential_martingale"
NAMES = pytest.mark.parametrize("name", sorted(heston.payoffs()))
BLOCK = Block(0, 256)
PIECES = [
    (1.3, -100.0, math.log(100 / 1.3), np.inf),
    (-1.3, 100.0, -np.inf, math.log(100 / 1.3)),
    (1.1, -90.0, 4.3, 4.9),
    (0.0, 1.0, 4.6, np.inf),
    (2.0, 0.0, -np.inf, np.inf),
    (1.0, 1.0, 5.0, 4.0),
]


def rows_of(payoff, spots):
    """Return the rows of an observation of spots, one per date."""
    seen = payoff.observation.start(spots.shape[1])
    for k, (date, spot) in enumerate(zip(payoff.observation.dates, spots, strict=True)):
        payoff.observation.observe(seen, k, Path(date, spot), None)
    return seen


@NAMES
def test_a_piece_is_the_payment_at_every_level(name):
    """Also that every registered payoff either has a piece or is watched all the time."""
    payoff = made(name)
    assert payoff.integrates_level
    rng = np.random.default_rng(5)
    rest = np.exp(rng.normal(0.0, 0.2, (len(payoff.observation.dates), 400)))
    y = rng.normal(math.log(97.0), 0.2, 400)
    slope, shift, lower, upper = payoff.level_piece(rows_of(payoff, rest))
    got = np.where((y > lower) & (y < upper), slope * np.exp(y) + shift, 0.0)
    expected = payoff.payment(rows_of(payoff, rest * np.exp(y)))
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-11)
    assert np.count_nonzero(expected) > 10
    if payoff.proportional:
        doubled = payoff.payment(rows_of(payoff, 2 * rest))
        np.testing.assert_allclose(doubled, 2 * payoff.payment(rows_of(payoff, rest)), rtol=1e-12)


@pytest.mark.parametrize("piece", PIECES)
def test_mean_payments_against_quadrature(piece):
    spread, step = 0.03, 2e-3

    def mean_at(mean):
        width = 10 * math.sqrt(spread)
        low, high = max(piece[2], mean - width), min(piece[3], mean + width)
        if low >= high:
            return 0.0

        def density(y):
            return math.exp(-((y - mean) ** 2) / (2 * spread)) / math.sqrt(2 * math.pi * spread)

        return quad(
            lambda y: (piece[0] * math.exp(y) + piece[1]) * density(y), low, high,
            epsabs=1e-13, epsrel=1e-13,
        )[0]  # fmt: skip

    at = [mean_at(4.55 + k * step) for k in (-2, -1, 0, 1, 2)]
    first = (at[0] - 8 * at[1] + 8 * at[3] - at[4]) / (12 * step)
    second = (-at[0] + 16 * at[1] - 30 * at[2] + 16 * at[3] - at[4]) / (12 * step**2)
    got = mean_payments(piece, np.array([4.55]), np.array([spread]))[:, 0]
    np.testing.assert_allclose(got, [at[2], first, second], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["call", "put"])
@pytest.mark.parametrize("fixings", [1, 5])
def test_known_greeks_of_geometric_asians(kind, fixings):
    asian = heston.AsianGeometric(strike=95, maturity=1, fixings=fixings, kind=kind)
    known, truth = known_greeks(LEWIS, asian), analytic_derivatives(LEWIS, asian)
    for name, value in known.items():
        assert value == pytest.approx(truth[name], rel=1e-6, abs=1e-6), name
    if fixings == 1:
        european = known_greeks(LEWIS, heston.payoff_named(kind)(strike=95, maturity=1))
        assert known == pytest.approx(european, rel=1e-10)


def test_watching_is_observing():
    """Views see what observed_payments pays, bit for bit; and dates can be shifted."""
    payoffs = (made("asian-geometric"), made("barrier-down-out", fixings=None))
    options = {"backend": "fp64", "scheme": SCHEME, "seed": 3, "draws_per_step": 1}
    group = MonitoredPayoffs(payoffs, 1.0, False)
    seen = watch(group, LEWIS, [LEWIS], BLOCK, n_steps=8, longest=1.0, **options)
    paid = observed_payments(LEWIS, payoffs, BLOCK, n_steps=8, **options)
    got = [payoff.payment(seen.rows[0][payoff.observation]) for payoff in payoffs]
    np.testing.assert_allclose(got, paid, rtol=1e-13)
    call, earlier = made("call"), made("call", maturity=0.9)
    seen = watch(
        MonitoredPayoffs((call,), 1.0, False), LEWIS, [LEWIS], BLOCK, n_steps=8, longest=1.0,
        nearer=0.1, **options,
    )  # fmt: skip
    paid = observed_payments(LEWIS, [earlier], BLOCK, n_steps=8, **options)
    np.testing.assert_allclose(call.payment(seen.rows[0][call.observation]), paid[0], rtol=1e-12)


@pytest.mark.parametrize("scheme", [SCHEME, "full_truncation_euler"])
def test_the_level_left_out_is_normal(scheme):
    """Drawing the level again gives the payments' mean: the smooth estimate is unbiased."""
    asian, block = made("asian-arithmetic"), Block(0, 2**14)
    options = {"backend": "fp64", "scheme": scheme, "seed": 3, "draws_per_step": 1}
    group = MonitoredPayoffs((asian,), 0.25, True)
    seen = watch(group, LEWIS, [LEWIS], block, n_steps=8, longest=1.0, **options)
    piece = asian.level_piece(seen.rows[0][asian.observation])
    smooth = mean_payments(piece, seen.mean, seen.spread)[0]
    plain = observed_payments(LEWIS, asian, block, n_steps=8, **options)[0]
    error = math.hypot(smooth.std(), plain.std()) / 2**7
    assert abs(smooth.mean() - plain.mean()) < 3 * error
    assert smooth.var() < plain.var()


def test_differences():
    for stencil, h in ((central_difference(0.1), 0.1), (forward_difference(0.1), 0.1)):
        for power, slope in ((0, 0.0), (1, 1.0), (2, 2.0)):
            assert sum(w * (1 + x) ** power for x, w in stencil) == pytest.approx(slope, abs=1e-12)
        error = sum(w * x**3 for x, w in stencil)
        assert abs(error) == pytest.approx(2 * h**2 if stencil[0][0] == 0 else h**2)


def test_first_bumps():
    call, barrier = made("call"), made("barrier-down-in", fixings=None, barrier=99.0)
    usual = first_bumps(LEWIS, [call], SCHEME, 0.25)
    assert 0 < usual.v0 <= 0.25 * LEWIS.v0 and not usual.one_sided and 0.01 < usual.spot < 0.1
    near = first_bumps(LEWIS, [call, barrier], SCHEME, 0.25)
    assert LEWIS.spot * (1 - 2 * near.spot) > 99.0
    assert first_bumps(replace(LEWIS, v0=0.0), [call], SCHEME, 0.25).one_sided
    steep = replace(LEWIS, rho=1.0, kappa=0.2, sigma=1.5)
    assert first_bumps(steep, [call], SCHEME, 1.0).time < usual.time
    halves = usual.halved({"theta": 1, "gamma": 1, "delta": 2})
    assert halves == Bumps(usual.spot / 4, usual.v0, usual.time / 2, False)
    twice = usual.times(2)
    assert twice == Bumps(2 * usual.spot, 2 * usual.v0, 2 * usual.time, False, 2 * usual.rate)
    assert usual.halved({"rho": 2}).rate == usual.rate / 4


def test_rows_and_controls():
    """Controls have mean zero, and payments proportional to the spot need no delta or gamma."""
    payoffs = (made("asian-arithmetic"), made("forward-start"), made("call"))
    sampler = GreekSampler(LEWIS, payoffs, SCHEME, first_bumps(LEWIS, payoffs, SCHEME, 0.25))
    assert sampler.names[1] == ("price", "vega_v0", "rho", "theta") and sampler.names[0] == ROWS
    assert len(sampler.payoffs) == len(sampler.controls) == 16 and sampler.width == 15
    values, controls = sampler.raw(
        Block(0, 2**12), backend="fp64", n_steps=16, draws_per_step=1, seed=1
    )
    assert values.shape == (16, 2**12)
    assert all(max(rows) < len(controls) for rows in sampler.controls)
    used = sorted({row for rows in sampler.controls for row in rows})
    mean, deviation = controls[used].mean(axis=1), controls[used].std(axis=1)
    assert np.all(np.abs(mean) < (4 / 2**6 + 0.02) * deviation)
