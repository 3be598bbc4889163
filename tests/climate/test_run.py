"""`climate.run`: the labelled dataset of a run, and what it is asked with."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.cases.registry import CASES, require_state
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.foundation.errors import InputError
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.scenario.variant import Variant
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.perform import run_dataset
from sciprec.workbench.batch.plan import Run
from sciprec.workbench.kinds import parse_scenario
from tests.climate.small_models import SMALL

SHORT = {"truncation": SMALL, "days": 0.05, "step_seconds": 1080.0}


def test_a_run_is_a_labelled_dataset_in_si_units():
    run = climate.run("williamson_2", angle_degrees=45, **SHORT)
    assert run["height"].dims == ("time", "lat", "lon") and run["mass"].dims == ("time",)
    assert run["vorticity"].attrs["units"] == "s-1"
    assert run["time"].astype("M8[s]").values.astype(str).tolist() == [
        "2000-01-01T00:00:00", "2000-01-01T01:12:00"
    ]  # fmt: skip
    assert run.attrs["steps"] == 4 and run.attrs["blow_up"] == ""
    same = integrate("williamson_2", SMALL, 0.05, step_seconds=1080.0,
                     parameters={"angle_degrees": 45.0})  # fmt: skip
    np.testing.assert_array_equal(run["u"], same.fields["u"])


def test_only_the_named_variables_are_kept():
    run = climate.run("williamson_5", variables=["v", "height"], **SHORT)
    assert {"v", "height", "mass"} <= set(run) and not {"u", "vorticity"} & set(run)
    with pytest.raises(InputError, match="unknown variable 'hight' of the equations 'shallow_wat"):
        climate.run("williamson_5", variables=["hight"], **SHORT)


def holed(values):
    """The same with NaN at one place."""
    return np.where(np.arange(values.size).reshape(values.shape) == 7, np.nan, values)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: replace(s, height=holed(s.height)), "height is nan at 1 of 512 points, firs"),
        (lambda s: replace(s, vorticity=s.vorticity * np.inf), "vorticity is .* accepted: finite"),
        (lambda s: replace(s, height=s.height.T), r"height has the shape \(16, 32\); accepted: "),
        (lambda s: replace(s, height=8000.0), r"height is a builtins.float; accepted: a nu"),
        (lambda s: replace(s, height=s.height.tolist()), r"height is a builtins.list; accepted"),
        (lambda s: replace(s, height=np.ma.masked_greater(s.height, 5000.0)), "none of them mask"),
        (lambda s: replace(s, height=s.height * 0.0), "height less orography is -.* above 0 every"),
        (lambda s: replace(s, height=s.height + 0j), "height is a numpy.ndarray of complex128"),
        (lambda s: replace(s, height=None), "height is a builtins.NoneType; accept"),
        (lambda s: None, "initial state of case 'mine' is None; accepted: a sciprec.climate.equ"),
        (lambda s: vars(s), "initial state of case 'mine' is .*; accepted: a sciprec.climate"),
    ],
)
def test_initial_states_that_are_none_get_a_sentence(monkeypatch, spoil, words):
    case = CASES["williamson_5"]
    mine = replace(case, name="mine", initial=lambda lon, lat: spoil(case.initial(lon, lat)))
    monkeypatch.setitem(CASES, "mine", mine)
    with pytest.raises(InputError, match=words) as caught:
        climate.run("mine", **SHORT)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda s: replace(s, u=s.u[:3]), r"u has the shape \(3, .*; accepted: \(\d\d"),
        (lambda s: replace(s, temperature=s.temperature[0]), "temperature has the shape"),
        (lambda s: replace(s, friction=s.friction[:2]), r"friction has the shape \(2,\)"),
        (lambda s: replace(s, friction=list(s.friction)), "friction is a builtins.list"),
        (lambda s: replace(s, friction=s.friction * np.nan), r"nan at \d+ of \d+ points; "),
        (lambda s: replace(s, temperature=-s.temperature), "temperature is -.* above 0 everywhere"),
        (lambda s: replace(s, levels=3), "levels is 3; accepted: a sciprec.climate.*SigmaLevels"),
        (lambda s: replace(s, planet=None), "planet is None; accepted: a sciprec.climate.*Planet"),
    ],
)
def test_air_that_is_none_gets_a_sentence(monkeypatch, spoil, words):
    case = CASES["jablonowski_williamson"]
    mine = replace(case, name="mine", initial=lambda *x, **more: spoil(case.initial(*x, **more)))
    monkeypatch.setitem(CASES, "mine", mine)
    with pytest.raises(InputError, match=words) as caught:
        climate.run("mine", "T5", 0.02)
    assert len(str(caught.value).splitlines()) == 1


@dataclass(frozen=True)
class LeveledState:
    """Of equations of one's own: how many levels there are is their affair."""

    tracer: np.ndarray


def test_states_of_other_equations_may_have_any_levels():
    grid = GaussianGrid(resolve_truncation("T5"))
    across = grid.lon_radians.size, grid.lat_radians.size
    case = CASES["williamson_5"]
    for levels in ((), (3,), (2, 3)):
        require_state(case, LeveledState, LeveledState(np.ones((*levels, *across))), grid)
    with pytest.raises(InputError, match="tracer has the shape"):
        require_state(case, LeveledState, LeveledState(np.ones((*across, 3))), grid)


def test_the_fourier_stage_changes_nothing_but_roundings():
    fast, sums = (climate.run("williamson_1", fourier=f, **SHORT) for f in ("fft", "matrix"))
    difference = np.abs(fast["height"] - sums["height"]).max()
    assert 0.0 < difference < 1e-13 * np.abs(sums["height"]).max()


def test_a_scenario_runs_the_same_function():
    scenario = parse_scenario(
        {
            "name": "tilted", "title": "Tilted", "source": "Williamson et al. (1992), case 2",
            "kind": "climate", "backends": ["fp32"],
            "climate": {
                "case": "williamson_2", "truncation": 21, "days": 0.05, "step_seconds": 1080.0,
                "parameters": {"angle_degrees": 45, "formulation": "careful"},
                "variables": ["height"],
            },
        }
    )  # fmt: skip
    run = run_dataset(Run(scenario, Variant("fp32"), "tilted.nc"))
    same = climate.run("williamson_2", 21, 0.05, "fp32", step_seconds=1080.0, angle_degrees=45)
    np.testing.assert_array_equal(run["height"], same["height"])
    assert "u" not in run


def test_a_batch_hears_of_the_simulated_days(tmp_path):
    scenario = parse_scenario(
        {
            "name": "short", "title": "Short", "source": "Williamson et al. (1992), case 2",
            "kind": "climate", "backends": ["fp64"],
            "climate": {"case": "williamson_2", "truncation": 21, "days": 0.5,
                        "step_seconds": 1200.0, "checkpoints": "kept"},
        }
    )  # fmt: skip
    heard = []
    result = workflow.run(
        scenario, out=tmp_path / "out", on_days=lambda run, days: heard.append((run.label, days))
    )
    assert not result.failures
    assert [label for label, _ in heard] == ["fp64"] * 3
    assert [round(days * 72) for _, days in heard] == [16, 32, 36]
    assert len(list((tmp_path / "out" / "kept").glob("*.npz"))) == 1


def test_levels_have_a_coordinate_with_bounds_and_formula_terms():
    """A made-up trajectory with two levels."""
    flat = integrate("williamson_2", SMALL, 0.05, step_seconds=1080.0)
    height = flat.fields["height"]
    edges = np.array([[0.0, 0.5], [0.5, 1.0]])
    made = trajectory_dataset(
        type(flat)(**{
            **vars(flat), "units": {"mass": "Pa"}, "radius_m": 2 * flat.radius_m,
            "fields": {"temperature": np.stack([height, height], 1), "surface_pressure": height},
            "vertical": {"sigma": edges.mean(axis=1), "sigma_bnds": edges},
        })
    )  # fmt: skip
    assert made["temperature"].dims == ("time", "sigma", "lat", "lon")
    assert made["sigma"].attrs["bounds"] == "sigma_bnds"
    assert made["sigma"].attrs["formula_terms"].startswith("sigma: sigma ps: surface_pressure")
    assert made["mass"].attrs["units"] == "Pa" and made["energy"].attrs["units"] == "m3 s-2"
    area = float(made["cell_area"].sum())
    assert area == pytest.approx(4 * np.pi * (2 * flat.radius_m) ** 2, rel=1e-12)
