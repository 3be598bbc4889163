"""What fixed point did, from blocks of paths to the file of a run."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest.mock import ANY

import pytest

from sciprec import heston
from sciprec.heston.bounds.levels import BLOCK
from sciprec.heston.simulation import paths
from sciprec.heston.simulation.block import Simulation
from sciprec.heston.simulation.fixed_counts import added, counted
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.workbench.kinds import heston_grid as options
from sciprec.workbench.kinds.heston_sections import HestonRun
from tests.heston.examples import LEWIS

EULER = "full_truncation_euler"
PLACE = {
    "function": "step", "line": 7, "column": 4, "operation": "mul", "text": "a * b",
    "unit_exponents": (-20, -18), "largest": 2.0, "saturations": 3, "invalid": 0,
    "bits_short": 2, "lost_share": 0.02,
}  # fmt: skip
SUMMARY = {
    "calls": 4, "adaptations": 1, "careful_calls": 1, "saturations": 3, "invalid": 0,
    "places_short_of_bits": 1, "short": [PLACE], "saturated": [PLACE],
}  # fmt: skip


def test_counts_are_added_and_places_named_once():
    worse = PLACE | {
        "unit_exponents": (-22, -19), "largest": 4.0, "bits_short": 5, "lost_share": 0.1,
    }  # fmt: skip
    both = added([SUMMARY, None, SUMMARY | {"short": [worse]}])
    assert (both["calls"], both["saturations"], both["places_short_of_bits"]) == (8, 6, 1)
    (place,) = both["short"]
    assert place == worse | {"unit_exponents": (-22, -18), "saturations": 6}
    (place,) = both["saturated"]
    assert place["saturations"] == 6
    assert added([None, None]) is None


def test_an_estimate_in_fixed_point_says_what_happened_in_all_of_its_blocks():
    given = {"scheme": "full_truncation_euler", "n_paths": 512, "n_steps": 16}
    option = heston.Call(strike=100.0, maturity=0.5)
    run = paths.estimate(LEWIS, option, backend="fixed16", block_paths=256, **given)
    assert run.fixed_point["calls"] >= 2
    assert run.fixed_point["places_short_of_bits"] >= len(run.fixed_point["short"]) > 0
    assert paths.estimate(LEWIS, option, **given).fixed_point is None


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


@pytest.mark.parametrize(
    "how", [{"n_paths": 256, "steps_per_year": 32}, {"tolerance": "20%", "max_paths": 2**16}]
)
def test_the_file_of_a_run_has_it_as_an_attribute(how):
    given = HestonRun.model_validate(
        {
            "model": {name: getattr(LEWIS, name) for name in LEWIS.__dataclass_fields__},
            "payoffs": {"kind": "call", "strikes": [100.0], "maturities_years": [0.25, 0.5]},
            "simulation": {"scheme": EULER, **how},
        }
    )
    done = json.loads(options.run(given, "fixed16", "carry").attrs["sciprec_fixed_point"])
    assert done["calls"] >= 2 and len(done["short"]) <= 10
    assert "sciprec_fixed_point" not in options.run(given, "fp32", "carry").attrs
