"""Whole integrations: exact solutions, conservation, output, blow-up, messages."""

import inspect
import re

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.cases.registry import CASES
from sciprec.climate.diagnostics.budgets import scalar_errors, wind_errors
from sciprec.climate.running.integration import Integration, integrate
from sciprec.climate.running.request import RunArguments, check_request
from sciprec.climate.stepping.levels import Level
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.foundation.errors import InputError
from tests.climate.small_models import SMALL

FIELDS = {"height", "u", "v", "vorticity", "divergence"}


def distance_from_start(truncation, days, angle, **options):
    """l2 of the height and of the wind after some days of steady flow."""
    run = integrate(
        "williamson_2", truncation, days, parameters={"angle_degrees": angle}, **options
    )
    grid, fields = GaussianGrid(resolve_truncation(truncation)), run.fields
    wind = [(fields["u"][i], fields["v"][i]) for i in (-1, 0)]
    height = scalar_errors(grid, fields["height"][-1], fields["height"][0])["l2"]
    return height, wind_errors(grid, *wind)["l2"]


@pytest.mark.parametrize("angle", [0.0, 45.0, 90.0])
def test_steady_flow_stays_steady_t21(angle):
    height, wind = distance_from_start("T21", 1.0, angle)
    assert height <= 1e-13 and wind <= 1e-12


@pytest.mark.slow
def test_steady_flow_stays_steady_t42(scheme="semi_implicit_leapfrog"):
    """The gate of Williamson et al.'s case 2 in binary64: l2(h) at most 1e-11 after 5 days."""
    height, wind = distance_from_start("T42", 5.0, 45.0, time_scheme=scheme)
    assert height <= 1e-11 and wind <= 1e-10


@pytest.mark.parametrize("case", ["williamson_5", "williamson_6"])
def test_conservation_over_a_day_at_t21(case):
    budgets = integrate(case, 21, 1.0).budgets
    drift = {name: values[-1] / values[0] - 1 for name, values in budgets.items()}
    assert abs(drift["mass"]) <= 1e-14
    assert abs(drift["energy"]) < 1e-6
    assert abs(drift["potential_enstrophy"]) < 1e-4


def test_trajectory_has_its_times_fields_and_budgets():
    seen = []
    run = integrate("williamson_5", SMALL, 0.75, output_hours=6.0, progress=seen.append)
    np.testing.assert_allclose(run.time_days, [0.0, 0.25, 0.5, 0.75])
    assert set(run.fields) == FIELDS
    assert all(f.shape == (4, 16, 32) and f.dtype == np.float64 for f in run.fields.values())
    assert set(run.budgets) == {"mass", "energy", "potential_enstrophy"}
    assert all(b.shape == (4,) for b in run.budgets.values())
    assert run.steps == 54 and run.step_seconds == 1200.0 and run.blow_up is None
    assert seen == sorted(seen) and seen[-1] == 0.75
    assert run.timing.seconds > 0


def test_blow_up_says_when_what_where_and_the_remedy():
    run = integrate("williamson_6", SMALL, 20.0, step_seconds=21600.0)
    assert run.blow_up is not None
    words = (
        r"blow-up between day .* and day .*: .*divergence.* are not finite; just before, the "
        r"strongest wind was .* m/s at latitude .*, longitude .*; usual remedies: a shorter step "
        r"\(step_seconds = 10800 instead of 21600\), time_scheme = 'semi_implicit_leapfrog', more "
        "diffusion"
    )
    assert re.match(words, run.blow_up)
    assert run.time_days[-1] < 20 and run.steps < 80
    assert all(np.isfinite(f).all() for f in run.fields.values())
    assert len(run.time_days) == len(run.fields["u"]) == len(run.budgets["mass"])


def test_what_was_lost_is_named_with_its_first_level():
    run = object.__new__(Integration)
    run.columns = np.repeat(["vorticity", "temperature", "surface_pressure"], [6, 6, 2])
    state = np.zeros((5, 14))
    state[2, 3] = np.nan  # imaginary part of vorticity at the second level
    run.levels = [Level(state.ravel())]
    assert run.lost() == "vorticity at level 2 is"
    state[4, [9, 11]] = np.inf
    assert run.lost() == "vorticity at level 2 and temperature at level 2 are"
    state[0, 13] = np.nan
    assert run.lost().endswith("and surface_pressure are")


REFUSED = [
    ({"time_scheme": "rk3"}, "unknown time scheme 'rk3'; known: rk4, .*did you mean 'ssprk3'"),
    ({"time_scheme": "rk4", "parameters": {"filter_nu": 0.0}},
     "filter_nu is given, but the time scheme 'rk4' has no filter; leave it out, or"),
    ({"time_scheme": "semi_implicit_leapfrog", "parameters": {"filter_alpha": -0.5}},
     "filter_alpha is -0.5; accepted: zero or above, such as 0.53"),
    ({"parameters": {"angle": 3.0}}, "unknown parameter 'angle' of case 'williamson_5'; known: d"),
    ({"parameters": {"diffusion_m4_per_s": -1.0}}, "accepted: zero or above, such as 5.0e15"),
    ({"parameters": {"formulation": "carefull"}},
     "accepted: careful, anomaly, whole, naive; did you mean 'careful'"),
    ({"parameters": {"fourier": "dft"}}, "parameter 'fourier' is 'dft'; accepted: fft, matrix"),
    ({"case": "williamson_2", "parameters": {"angle_degrees": True}},
     "parameter 'angle_degrees' is True; accepted: a finite number"),
    ({"step_seconds": 7000.0}, "no whole number of steps of 7000 s; with step_seconds = 6646"),
    ({"threads": 0}, "threads is 0; accepted: an integer from 1 to 4096"),
    ({"compensation": {"vorticty": "carry"}},
     "unknown variable 'vorticty'; known: vorticity, divergence, geop.*did you mean 'vorticity'"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_messages_of_bad_requests(options, words):
    request = {"case": "williamson_5", "truncation": "T21", "days": 1.0} | options
    with pytest.raises(InputError, match=words):
        integrate(**request)


def test_a_wrong_keyword_is_refused_by_the_function_that_was_called():
    with pytest.raises(TypeError, match=r"^integrate\(\) got an unexpected .* argument 'bakend'$"):
        integrate("williamson_5", SMALL, 1.0, bakend="fp32")
    with pytest.raises(TypeError, match=r"^check_request\(\) missing a required .*: 'days'$"):
        check_request("williamson_5", SMALL)


def test_all_functions_that_run_a_case_have_the_same_keywords_and_defaults():
    parameters = inspect.signature(RunArguments).parameters
    assert all(inspect.signature(f).parameters == parameters for f in (check_request, integrate))
    of_run = inspect.signature(climate.run).parameters
    assert set(parameters) - set(of_run) == {"parameters"}  # keywords of a case, in `run`
    for name in set(parameters) - {"case", "truncation", "days", "parameters"}:
        assert of_run[name].default == parameters[name].default, name


def test_every_case_runs_and_names_its_source():
    for name, case in CASES.items():
        assert case.source
        run = integrate(name, SMALL, 0.05, step_seconds=1080.0)
        assert run.blow_up is None and run.steps == 4
