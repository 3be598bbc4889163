"""States kept in a narrower format than the one that tendencies are computed in."""

import numpy as np
import pytest

from sciprec.batch.perform import run_dataset
from sciprec.batch.plan import plan
from sciprec.climate.diagnostics.budgets import scalar_errors, wind_errors
from sciprec.climate.running.integration import integrate
from sciprec.climate.running.perturbation import Perturbation
from sciprec.climate.running.request import check_request
from sciprec.climate.stepping.levels import LEVEL_KERNELS
from sciprec.climate.transform.grid import GaussianGrid, Truncation, resolve_truncation
from sciprec.errors import InputError
from sciprec.kinds import parse_scenario
from sciprec.precision import lift

SMALL = Truncation(10, 16, 32, 1200.0)
SHORT = {"truncation": SMALL, "days": 0.25}


def errors(actual, truth, truncation):
    """l2 of height and wind at the end."""
    grid = GaussianGrid(resolve_truncation(truncation))
    a, t = ({name: x[-1] for name, x in run.fields.items()} for run in (actual, truth))
    height = scalar_errors(grid, a["height"], t["height"])["l2"]
    return height, wind_errors(grid, (a["u"], a["v"]), (t["u"], t["v"]))["l2"]


def test_only_the_update_rounds_to_the_stored_format():
    """NumPy's float16 rounds binary64 once, as the store to the state does."""
    update = check_request("williamson_5", "T21", 1.0, stored="fp16").update
    random = np.random.default_rng(8).uniform
    state, increment = random(-4, 4, 500).astype(np.float16).astype(float), random(-1, 1, 500)
    damping = random(0, 0.1, 500)
    whole = state + (increment - damping * (state + increment))
    apply = lift(LEVEL_KERNELS["apply_increment"], update, trust_inputs=True)
    apply(state, increment, damping, state)
    np.testing.assert_array_equal(state, whole.astype(np.float16).astype(float))


def test_the_widest_stored_format_changes_no_bit():
    options = {"compensation": "carry", **SHORT}
    same = integrate("williamson_5", stored="float:p=53,emin=-1022,emax=1023", **options)
    plain = integrate("williamson_5", **options)
    for name, values in plain.fields.items():
        np.testing.assert_array_equal(values, same.fields[name])


def test_a_carried_residual_saves_what_few_bits_lose():
    options = {"truncation": SMALL, "days": 1.0, "step_seconds": 300.0}
    truth = integrate("williamson_5", **options)
    plain = integrate("williamson_5", stored="float:p=11", **options)
    carried = integrate("williamson_5", stored="float:p=11", compensation="carry", **options)
    lost, left = (errors(run, truth, SMALL)[1] for run in (plain, carried))
    assert lost > 1e-3 and left < lost / 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "days", "plain", "carried"),
    [
        ("williamson_5", 15.0, (1.1e-2, 0.37), (2.3e-5, 9.5e-4)),
        ("williamson_6", 14.0, (7.5e-3, 7.8e-2), (1.4e-4, 2.5e-3)),
    ],
)
def test_a_state_of_ten_bits_with_and_without_its_residual(case, days, plain, carried):
    """The state alone in ten mantissa bits, T42, RK4 with 300 s: l2 of height and wind.

    Reference: an independent spectral model on SHTns. Errors of roundings are as random as the
    roundings: of one member, whose initial height differs by 1e-6, within a factor of two.
    """
    options = {"truncation": "T42", "days": days, "step_seconds": 300.0, "output_hours": 24 * days}
    truth = integrate(case, **options)
    for compensation, expected in ((None, plain), ("carry", carried)):
        run = integrate(
            case, stored="float:p=11", compensation=compensation,
            perturbation=Perturbation(member=1, amplitude=1e-6), **options,
        )  # fmt: skip
        ratio = np.array(errors(run, truth, "T42")) / expected
        assert (ratio < 2).all() and (ratio > 0.5).all(), ratio


def test_a_scenario_stores_its_runs_in_few_bits_but_not_its_truth():
    scenario = parse_scenario(
        {
            "name": "few_bits", "title": "Few bits", "source": "Williamson et al. (1992), case 5",
            "kind": "climate", "backends": ["fp32"],
            "climate": {
                "case": "williamson_5", "truncation": 21, "days": 0.05, "step_seconds": 1080.0,
                "stored": "fp16",
            },
        }
    )  # fmt: skip
    runs = plan([scenario])
    assert [run.label for run in runs] == ["fp64", "fp32 with state in fp16"]
    truth, run = (run_dataset(each)["height"].values for each in runs)
    plain = integrate("williamson_5", "T21", 0.05, step_seconds=1080.0).fields["height"]
    np.testing.assert_array_equal(truth, plain)
    assert 1e-5 < np.abs(run / truth - 1).max() < 1e-2


@pytest.mark.parametrize(
    ("backend", "stored"),
    [("fp16", "fp32"), ("fp64", "fixed16"), ("fixed32", "fp16"), ("fp32", "float:p=8,emin=-300")],
)
def test_stored_formats_that_are_refused(backend, stored):
    with pytest.raises(InputError, match="stored is .* beside the arithmetic .*; accepted: a fl"):
        check_request("williamson_5", "T21", 1.0, backend=backend, stored=stored)
