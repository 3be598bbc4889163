"""Counts of fixed point, from blocks of paths to the file of a run."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest.mock import ANY

from sciprec import heston
from sciprec.heston.bounds.levels import BLOCK
from sciprec.heston.simulation import paths
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.fixed_point import counted
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from tests.heston.examples import LEWIS

EULER = "full_truncation_euler"


def test_a_function_in_fixed_point_is_counted_on_its_own_thread_only():
    """Kernels of other threads, and those after the call, are not."""

    def simulate():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(advance, 3).result()
        return advance(5)

    def advance(n_steps):
        block = paths.Block(0, 32)
        run = Simulation(
            LEWIS, block, step_years=1 / 32, backend="fixed16", scheme=EULER, seed=1
        )  # fmt: skip
        run.advance(n_steps)
        return fixed_point_summary(run.fixed_point)

    own, seen = counted(simulate)
    assert seen == own and seen["calls"] > 0
    assert counted(advance, 2)[1] != seen
    assert counted(len, "floats") == (6, None)


def test_a_bounded_price_says_what_happened_in_all_of_its_levels():
    option = heston.Call(strike=100.0, maturity=0.5)
    given = {"scheme": EULER, "tolerance": 0.2, "max_paths": 2**16, "seed": 1}
    result = heston.price(LEWIS, option, backend="fixed16", **given)
    blocks = sum(-(-row.n_paths // BLOCK) for row in result.levels if "fixed16" in row.backend)
    assert result.fixed_point["calls"] >= blocks > 1
    assert json.loads(result.to_dataset().attrs["sciprec_fixed_point"])["calls"] > 0
    assert heston.price(LEWIS, option, backend="fixed16", threads=2, **given) == replace(
        result, seconds=ANY, levels=ANY
    )
    in_floats = heston.price(LEWIS, option, backend="fp32", **given)
    assert in_floats.fixed_point is None
    assert "sciprec_fixed_point" not in in_floats.to_dataset().attrs
