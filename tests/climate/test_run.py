"""`climate.run`: the labelled dataset of a run, and what it is asked with."""

from dataclasses import replace

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.cases.registry import CASES
from sciprec.climate.running.integration import integrate
from sciprec.foundation.errors import InputError
from sciprec.results.output.dataset import trajectory_dataset
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


def holed(values):
    """A copy with NaN at one place."""
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
