"""Runs whose transforms have arithmetics of their own: the same bits where these are the model's,
and refusals.
"""

import json

import numpy as np
import pytest

from sciprec.climate.running.integration import integrate
from sciprec.climate.running.request import check_request
from sciprec.facets.stages.arithmetics import Stages
from sciprec.foundation.errors import InputError
from sciprec.workbench.batch.perform import run_dataset
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import parse_scenario
from tests.climate.small_models import SMALL, require_same_bits

SHORT = {"truncation": SMALL, "days": 0.25, "output_hours": 6.0}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "options"),
    [
        ("williamson_5", {"time_scheme": "semi_implicit_leapfrog"}),
        ("held_suarez", {"parameters": {"levels": 3}}),
    ],
)
def test_all_stages_in_the_models_arithmetic_change_no_bit(case, options):
    """The equations of the air with the forcing have all that they have without it."""
    plain, staged = (integrate(case, stages=x, **options, **SHORT) for x in (None, Stages()))
    require_same_bits(plain, staged)


@pytest.mark.slow
def test_a_scenario_gives_its_runs_these_stages_but_not_its_truth():
    """Half precision in all stages is no other arithmetic than half precision, by another name."""
    scenario = parse_scenario(
        {
            "name": "staged", "title": "Stages", "source": "Williamson et al. (1992), case 5",
            "kind": "climate", "backends": ["fp16"], "stages": ["none", "fp16", "fp16-legendre"],
            "climate": {"case": "williamson_5", "truncation": 10, "days": 0.05,
                        "step_seconds": 1080.0},
        }
    )  # fmt: skip
    truth, plain, half, legendre = (run_dataset(run) for run in plan([scenario]))
    np.testing.assert_array_equal(plain["height"], half["height"])
    np.testing.assert_array_equal(plain["height"], legendre["height"])
    assert (truth["height"] != plain["height"]).any()
    assert json.loads(half.attrs["sciprec_stages"])["fourier"] == "fp16"
    exact = integrate("williamson_5", 10, 0.05, step_seconds=1080.0).fields["height"]
    np.testing.assert_array_equal(truth["height"], exact)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stages": "mixd"}, "stages is 'mixd'; accepted: none, fp16, .*; did you mean 'mixed'?"),
        ({"stages": {"legendre": 3}}, "^legendre of stages is 3; accepted: the name of an arith"),
        ({"stages": {"legendre": "fp16", "kept": "fp32"}}, "kept = 'fp32' and neither kept_orders"),
        ({"stages": {"fourier": "fp16", "kept_orders": 2}},
         "kept_orders = 2, and Legendre products in the arithmetic of the run .*; give legendre"),
        ({"stages": {"legendre": "fp16", "kept_orders": 99}},
         "kept_orders of stages is 99, which is all that T21 has, .* accepted there: up to 21"),
        ({"stages": {"sums": "fp16", "kept_degrees": 23}},
         "kept_degrees of stages is 23, which is all that T21 has, .* accepted there: up to 22"),
        ({"stages": {"fourier": "fixed32"}}, "fourier is 'fixed32' beside .* in fixed point; acc"),
        ({"stages": "fp16", "backend": "fixed16"}, "backend is 'fixed16' beside stages"),
        ({"stages": {"sums": "float:p=11,round=sr"}}, "sums is .*, which is rounded at random; "),
        ({"stages": "fp16", "parameters": {"fourier": "matrix"}}, "beside the Fourier stage 'matr"),
        ({"stages": "fp16", "compensation": "carry-sums"}, "beside compensated sums; accepted"),
    ],
)
def test_stages_that_are_refused(given, words):
    with pytest.raises(InputError, match=words):
        check_request("williamson_5", "T21", 1.0, **given)
