"""Paths in fixed point: their units are the same whatever the blocks, and hold what paths do."""

import pytest

from sciprec import heston
from sciprec.heston.simulation import paths
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.paths import Block
from tests.heston.examples import LEWIS

GIVEN = {"n_paths": 2048, "n_steps": 16, "seed": 3}


def estimate(backend, **more):
    return paths.estimate(
        LEWIS, heston.Call(strike=100.0, maturity=0.5), backend=backend, **GIVEN, **more
    )


def test_prices_do_not_depend_on_blocks_or_their_order():
    backend, error = "fixed32", 1e-6
    one = estimate(backend, block_paths=2048)
    truth = estimate("fp64")
    assert one.price == estimate(backend, block_paths=256).price
    assert one.price == pytest.approx(truth.price, rel=error)
    assert one.price != truth.price
    last = Simulation(
        LEWIS, Block(1792, 256), step_years=1 / 32, backend=backend,
        scheme="quadratic_exponential_martingale", seed=3,
    )  # fmt: skip
    last.advance(16)
    again = Simulation(
        LEWIS, Block(0, 2048), step_years=1 / 32, backend=backend,
        scheme="quadratic_exponential_martingale", seed=3,
    )  # fmt: skip
    again.advance(16)
    assert (last.log_ratio() == again.log_ratio()[1792:]).all()


def test_paths_further_out_than_the_pilots_have_room():
    simulation = Simulation(
        LEWIS, Block(0, 8192), step_years=1 / 32, backend="fixed32",
        scheme="quadratic_exponential_martingale", seed=5,
    )  # fmt: skip
    simulation.advance(32)
    (kernel,) = simulation.fixed_point
    assert kernel.report().calls > 0
    assert kernel.report().saturations == kernel.report().careful_calls == 0
