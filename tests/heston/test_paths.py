"""Monte Carlo prices: against the truth, in every arithmetic, the same bits for any blocks."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sciprec import precision
from sciprec.foundation.errors import InputError
from sciprec.heston.options.european_payoffs import Call, Put
from sciprec.heston.schemes.catalogue import schemes
from sciprec.heston.semianalytic import analytic
from sciprec.heston.simulation import block as block_module
from sciprec.heston.simulation import paths
from sciprec.heston.simulation.block import CHUNK_PATHS, CHUNK_STEPS, Simulation
from sciprec.heston.simulation.paths import GROUP, Block
from tests.heston.examples import LEWIS

SCHEMES = [name for name, scheme in schemes().items() if scheme.lifts]
SIZE = {"n_paths": 2**15, "seed": 2024}
CASES = [("lewis_K100", 16), ("andersen_1_K100", 40), ("andersen_2_K100", 60),
         ("andersen_3_r5_K100", 40), ("broadie_kaya_2", 40)]  # fmt: skip


def within(estimate, truths, errors=4.0):
    """Whether prices and martingale mean are within so many of their own standard errors."""
    prices = np.abs(estimate.price - truths) <= errors * estimate.standard_error
    mean = abs(estimate.martingale - 1) <= errors * estimate.martingale_standard_error
    return bool(prices.all() and mean and estimate.nonfinite_paths == 0)


@pytest.mark.parametrize("name, steps", CASES)
def test_martingale_scheme_against_the_truth(references, name, steps):
    model, strike, maturity, call = references[name]
    options = [Call(strike=strike, maturity=maturity), Put(strike=strike, maturity=maturity)]
    truths = [call, analytic.price(model, options[1])]
    assert within(paths.estimate(model, options, n_steps=steps, **SIZE), truths)


@pytest.mark.parametrize("scheme", ["full_truncation_euler", "quadratic_exponential"])
def test_other_schemes_against_the_truth(scheme):
    """At 64 steps the bias of both is below the standard error on the mild Lewis case."""
    option = Call(strike=100, maturity=1)
    estimate = paths.estimate(LEWIS, option, scheme=scheme, n_steps=64, **SIZE)
    assert within(estimate, analytic.price(LEWIS, option))


@pytest.mark.parametrize("backend", ["mlu370", "bf16"])
def test_rounding_error_on_the_same_random_numbers(references, backend):
    """Forty steps of Andersen's case I in increments lose a few ulp of the format, not forty."""
    model, strike, maturity, call = references["andersen_1_K100"]
    option = Call(strike=strike, maturity=maturity)
    exact = paths.estimate(model, option, n_steps=40, **SIZE)
    low = paths.estimate(model, option, n_steps=40, backend=backend, **SIZE)
    unit_roundoff = precision.resolve_backend(backend).storage.format.unit_roundoff
    assert abs(low.price[0] - exact.price[0]) <= 8 * unit_roundoff * call
    assert abs(low.martingale - exact.martingale) <= 8 * unit_roundoff
    assert low.price[0] != exact.price[0]


def test_blocks_order_and_threads_change_no_bit():
    options = [Call(strike=k, maturity=1.0) for k in (80, 100, 120)]
    given = {
        "backend": "fp16",
        "scheme": "quadratic_exponential_martingale",
        "n_steps": 5,
        "seed": 3,
    }
    estimates = [
        paths.estimate(LEWIS, options, n_paths=5003, block_paths=size, **given)
        for size in (1, 700, 4096, 10**6)
    ]
    parts = paths.blocks(5003, 600)
    with ThreadPoolExecutor(3) as pool:
        results = list(
            pool.map(lambda b: paths.simulate_block(LEWIS, options, b, **given), parts[::-1])
        )
    estimates.append(paths.combine(LEWIS, options, results, n_steps=5))
    estimates.append(
        paths.estimate(LEWIS, options, n_paths=5003, block_paths=256, threads=3, **given)
    )
    for other in estimates[1:]:
        assert np.array_equal(other.price, estimates[0].price)
        assert np.array_equal(other.standard_error, estimates[0].standard_error)
        assert other.martingale == estimates[0].martingale


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_one_loop_makes_the_bits_of_its_tiles(monkeypatch, scheme, backend):
    """Over several tiles of paths and of steps, with paths and steps left over, and a stop."""

    def paths():
        block = Block(GROUP, 2 * CHUNK_PATHS + 3)
        how = {"step_years": 0.1, "backend": backend, "scheme": scheme, "seed": 5}
        simulation = Simulation(LEWIS, block, **how)
        simulation.advance(CHUNK_STEPS + 5)
        simulation.advance(2)
        return simulation.log_ratio(), simulation.variance(), simulation.integrated_variance()

    in_one = paths()
    monkeypatch.setattr(block_module, "PhiloxVariates", type(None))
    for one, tiled in zip(in_one, paths(), strict=True):
        np.testing.assert_array_equal(one, tiled)


def test_paths_out_of_range_are_counted():
    """In a format that ends at 2, log spots of several units overflow."""
    estimate = paths.estimate(
        LEWIS,
        Call(strike=100, maturity=1),
        backend="float:p=8,emin=-6,emax=0",
        n_paths=512,
        n_steps=8,
    )
    assert estimate.nonfinite_paths > 0
    assert not np.isfinite(estimate.price[0])


@pytest.mark.parametrize(
    "change, message",
    [
        ({"n_paths": 1}, "n_paths is 1; accepted: an integer of at least 2"),
        ({"n_paths": 10.0}, "n_paths is 10.0; accepted: an integer of at least 2"),
        ({"n_steps": 0}, "n_steps is 0; accepted: an integer of at least 1"),
        ({"block_paths": 0}, "block_paths is 0; accepted: an integer of at least 1"),
        ({"seed": -1}, r"seed is -1; accepted: an integer from 0 to 2\*\*64 - 1"),
        ({"backend": "bf61"}, "unknown backend 'bf61'"),
        ({"scheme": "milstein"}, "unknown scheme 'milstein'; known:"),
        ({"payoffs": 100.0}, "payoff is 100.0; accepted: a Call, a Put or a sequence of them"),
        (
            {"payoffs": [Call(strike=1, maturity=1), Put(strike=1, maturity=2)]},
            r"maturities are \[1.0, 2.0\]; accepted: payoffs of one maturity: call once for each",
        ),
        ({"payoffs": []}, r"maturities are \[\]; accepted: payoffs of one maturity"),
    ],
)
def test_bad_arguments(change, message):
    given = {"payoffs": Call(strike=100, maturity=1), "n_paths": 8, "n_steps": 2, **change}
    with pytest.raises(InputError, match=message):
        paths.estimate(LEWIS, given.pop("payoffs"), **given)


@pytest.mark.parametrize("backend", ["bf16", "fixed32"])
def test_without_residuals_every_step_begins_with_zero_carries(references, backend):
    """The same as one step at a time with the carries cleared, and another result than carried."""
    model = references["lewis_K100"][0]
    options = {"step_years": 0.125, "scheme": "quadratic_exponential_martingale", "seed": 3}
    found = {}
    for carried in (True, False):
        simulation = Simulation(model, Block(0, 512), backend=backend, carried=carried, **options)
        simulation.advance(8)
        found[carried] = simulation.log_ratio()
        assert all(np.all(carry == 0) != carried for carry in simulation._arrays[1::2])
    truth = Simulation(model, Block(0, 512), backend="fp64", **options)
    truth.advance(8)
    errors = {carried: np.std(found[carried] - truth.log_ratio()) for carried in found}
    assert errors[False] > errors[True]


def test_fp64_carries_in_any_case(references):
    model, strike, maturity, _ = references["lewis_K100"]
    option = Call(strike=strike, maturity=maturity)
    prices = {
        (backend, how): paths.estimate(
            model, option, backend=backend, n_paths=2048, n_steps=16, compensation=how
        ).price[0]
        for backend in ("fp64", "mlu370")
        for how in ("none", "carry")
    }
    assert prices["fp64", "none"] == prices["fp64", "carry"]
    assert prices["mlu370", "none"] != prices["mlu370", "carry"]
    with pytest.raises(InputError, match="unknown compensation 'correction'; known: none, carry"):
        paths.estimate(model, option, n_paths=2, n_steps=1, compensation="correction")
