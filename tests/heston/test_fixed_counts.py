"""What fixed point did, from blocks of paths to the file of a run."""

import json

from sciprec import heston
from sciprec.batch import options
from sciprec.heston import paths
from sciprec.heston.fixed_counts import added
from sciprec.heston_sections import HestonRun
from tests.heston.test_fixed_units import MODEL

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
    run = paths.estimate(MODEL, option, backend="fixed16", block_paths=256, **given)
    assert run.fixed_point["calls"] >= 2
    assert run.fixed_point["places_short_of_bits"] >= len(run.fixed_point["short"]) > 0
    assert paths.estimate(MODEL, option, **given).fixed_point is None


def test_the_file_of_a_run_has_it_as_an_attribute():
    given = HestonRun.model_validate(
        {
            "model": {name: getattr(MODEL, name) for name in MODEL.__dataclass_fields__},
            "payoffs": {"kind": "call", "strikes": [100.0], "maturities_years": [0.25, 0.5]},
            "simulation": {
                "scheme": "full_truncation_euler",
                "n_paths": 256,
                "steps_per_year": 32,
            },  # fmt: skip
        }
    )
    done = json.loads(options.run(given, "fixed16", None).attrs["sciprec_fixed_point"])
    assert done["calls"] >= 2 and len(done["short"]) <= 10
    assert "sciprec_fixed_point" not in options.run(given, "fp32", None).attrs
