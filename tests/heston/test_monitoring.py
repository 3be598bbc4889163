"""Payments of several payoffs along one set of paths: dates, sharing, published prices."""

import numpy as np
import pytest

from sciprec import heston
from sciprec.foundation.errors import InputError
from sciprec.heston.simulation import paths
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.monitoring import observed_payments
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


def test_terminal_spots_are_those_of_the_plain_estimate():
    """Stops on the way change no bit of the log spot."""
    payoffs = [heston.Spot(maturity=1), heston.LookbackFixed(strike=1, maturity=1, fixings=3)]
    given = {"backend": "fp16", "scheme": "quadratic_exponential_martingale", "seed": 3}
    spot = observed_payments(LEWIS, payoffs, BLOCK, n_steps=6, **given)[0]
    simulation = Simulation(LEWIS, BLOCK, step_years=1 / 6, **given)
    simulation.advance(6)
    assert np.array_equal(spot, LEWIS.forward(1.0) * np.exp(simulation.log_ratio()))


def test_payments_do_not_depend_on_company_or_block():
    payoffs = [made(name) for name in heston.payoffs()]
    together = observed_payments(LEWIS, payoffs, BLOCK, n_steps=8, seed=1)
    for payoff, row in zip(payoffs, together, strict=True):
        alone = observed_payments(LEWIS, payoff, BLOCK, n_steps=8, seed=1)
        assert np.array_equal(alone[0], row), payoff
    late = observed_payments(LEWIS, payoffs, paths.Block(100, 50), n_steps=8, seed=1)
    assert np.array_equal(late, together[:, 100:150])


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
