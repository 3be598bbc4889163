"""Payments of several payoffs along one set of paths: dates, sharing, published prices."""

import numpy as np
import pytest

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.parameters import Model
from sciprec.heston.simulation import monitoring, paths
from sciprec.heston.simulation.monitoring import observed_payments, steps_for
from tests.heston.examples import LEWIS, made

BLOCK = paths.Block(0, 256)
ASIAN = heston.AsianArithmetic(strike=100, maturity=1, fixings=5)


def means(model, payoffs, n_paths, n_steps, **options):
    """Return discounted means and their standard errors."""
    parts = [
        observed_payments(model, payoffs, block, n_steps=n_steps, **options)
        for block in paths.blocks(n_paths)
    ]
    values = np.concatenate(parts, axis=1)
    discounts = np.array([model.discount(payoff.maturity) for payoff in payoffs])
    return discounts * values.mean(axis=1), discounts * values.std(axis=1) / np.sqrt(n_paths)


def controlled(model, target, control, truth, n_paths, n_steps, **options):
    """Return target's price with the regression on a control of known price, and its error."""
    parts = [
        observed_payments(model, [target, control], block, n_steps=n_steps, **options)
        for block in paths.blocks(n_paths)
    ]
    values, known = model.discount(target.maturity) * np.concatenate(parts, axis=1)
    slope = np.cov(values, known)[0, 1] / known.var()
    values = values - slope * (known - truth)
    return values.mean(), values.std() / np.sqrt(n_paths)


PARAMETERS = pytest.mark.parametrize("name", ["fang_oosterlee", "lewis"])


@PARAMETERS
def test_arithmetic_asian(path_references, name):
    """Controlled by the geometric one: standard errors of 0.1 % of the price and less."""
    model, asian, price, error = path_references[f"{name}_asian_arithmetic"]
    _, control, truth, _ = path_references[f"{name}_asian_geometric"]
    got, own_error = controlled(model, asian, control, truth, 2**14, 40, seed=5)
    assert abs(got - price) < 4 * (own_error + error) and own_error < 1e-3 * price


@PARAMETERS
def test_continuous_barrier(path_references, name):
    model, option, price, error = path_references[f"{name}_down_out"]
    got, own_error = means(model, [option], 2**15, 50, seed=6)
    assert abs(got[0] - price) < 4 * own_error[0] + error


@pytest.mark.slow
def test_every_payoff_against_the_exact_scheme():
    """QE-M at 32 steps to the fixing against the exact one at one step, on a violent model."""
    model = Model(spot=100, v0=0.04, kappa=0.5, theta=0.04, sigma=1, rho=-0.9)
    payoffs = [made(name) for name in heston.payoffs()]
    exact, exact_error = means(model, payoffs, 2**17, 4, scheme="gamma_expansion", seed=8)
    usual, usual_error = means(model, payoffs, 2**17, 128, seed=9)
    assert np.all(np.abs(usual - exact) < 4 * np.hypot(usual_error, exact_error) + 2e-3 * exact)
    assert np.count_nonzero(exact > 10 * exact_error) >= len(payoffs) - 1  # one is very rare


def test_terminal_spots_are_those_of_the_plain_estimate():
    """Stops on the way change no bit of the log spot."""
    payoffs = [heston.Spot(maturity=1), heston.LookbackFixed(strike=1, maturity=1, fixings=3)]
    given = {"backend": "fp16", "scheme": "quadratic_exponential_martingale", "seed": 3}
    spot = observed_payments(LEWIS, payoffs, BLOCK, n_steps=6, **given)[0]
    log_ratio, _ = paths.simulate_log_ratio(LEWIS, BLOCK, 1.0, n_steps=6, **given)
    assert np.array_equal(spot, LEWIS.forward(1.0) * np.exp(log_ratio))


def test_payments_do_not_depend_on_company_or_block():
    payoffs = [made(name) for name in heston.payoffs()]
    together = observed_payments(LEWIS, payoffs, BLOCK, n_steps=8, seed=1)
    for payoff, row in zip(payoffs, together, strict=True):
        alone = observed_payments(LEWIS, payoff, BLOCK, n_steps=8, seed=1)
        assert np.array_equal(alone[0], row), payoff
    late = observed_payments(LEWIS, payoffs, paths.Block(100, 50), n_steps=8, seed=1)
    assert np.array_equal(late, together[:, 100:150])


def test_two_maturities_on_one_grid():
    """The short one sees the path of the long one: on the same grid, the same payments."""
    half, whole = (heston.AsianArithmetic(strike=90, maturity=t, fixings=2) for t in (0.5, 1.0))
    both = observed_payments(LEWIS, [half, whole], BLOCK, n_steps=8)
    assert np.array_equal(both[0], observed_payments(LEWIS, half, BLOCK, n_steps=4)[0])
    assert np.array_equal(both[1], observed_payments(LEWIS, whole, BLOCK, n_steps=8)[0])


def test_equal_observations_are_made_once(monkeypatch):
    made = []
    original = monitoring.Simulation.log_ratio
    monkeypatch.setattr(
        monitoring.Simulation, "log_ratio", lambda self: made.append(1) or original(self)
    )
    strikes = [heston.Call(strike=k, maturity=1.0) for k in (80, 90, 100)]
    observed_payments(LEWIS, strikes, BLOCK, n_steps=8)
    assert len(made) == 1


def test_in_and_out_make_the_european():
    given = {"strike": 100.0, "barrier": 85.0, "maturity": 1.0}
    for fixings in (None, 4):
        legs = [
            heston.payoff_named(name)(**given, fixings=fixings)
            for name in ("barrier-down-in", "barrier-down-out")
        ]
        call = heston.Call(strike=100, maturity=1)
        inside, out, european = observed_payments(LEWIS, [*legs, call], BLOCK, n_steps=8)
        np.testing.assert_allclose(inside + out, european, rtol=1e-14)
        assert (inside > 0).any() and (out > 0).any()


def test_paths_out_of_range_stay_nonfinite():
    payoffs = [ASIAN, heston.payoff_named("barrier-down-out")(strike=1, barrier=1, maturity=1)]
    got = observed_payments(LEWIS, payoffs, BLOCK, n_steps=5, backend="float:p=8,emin=-6,emax=0")
    assert (~np.isfinite(got)).any(axis=1).all()


def test_steps_for():
    third = heston.Call(strike=1, maturity=1 / 3)
    assert steps_for([ASIAN], 1) == 5 and steps_for([ASIAN], 11) == 15
    assert steps_for([ASIAN, third], 16) == 30
    assert steps_for(third, 7) == 7
    assert steps_for([heston.Call(strike=1, maturity=0.1), third], 1) == 10
    odd = [heston.Call(strike=1, maturity=2**0.5), third]
    with pytest.raises(InputError, match="have no common step; accepted: dates whose ratios"):
        steps_for(odd, 1)


@pytest.mark.parametrize(
    "payoffs, change, message",
    [
        (ASIAN, {"n_steps": 8}, "the date 0.2 is no whole number of steps of 0.125 years; accep.*"
         "n_steps a multiple of 5: try 10 in place of 8"),
        ([], {}, "no payoff was given; accepted: one payoff or a sequence"),
        ([100.0], {}, "payoff is 100.0; accepted: a payoff such as Call"),
        (ASIAN, {"n_steps": 0}, "n_steps is 0; accepted: an integer of at least 1"),
        (ASIAN, {"n_steps": 5.0}, "n_steps is 5.0; accepted: an integer"),
        (ASIAN, {"scheme": "milstein"}, "unknown scheme 'milstein'"),
        (ASIAN, {"seed": -1}, "seed is -1; accepted: an integer from 0"),
        (heston.payoff_named("barrier-up-in")(strike=1, barrier=99, maturity=1), {},
         "already hit"),
    ],
)  # fmt: skip
def test_bad_arguments(payoffs, change, message):
    with pytest.raises(InputError, match=message):
        observed_payments(LEWIS, payoffs, BLOCK, **{"n_steps": 5} | change)
