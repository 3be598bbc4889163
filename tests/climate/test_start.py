"""The start of a run: what cases are given, what they may return, and how a bad one is told."""

from dataclasses import fields, replace

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.cases.registry import CASES, Case
from sciprec.climate.constants import ROTATION_PER_SECOND
from sciprec.climate.equations.shallow_water import InitialState
from sciprec.climate.running.request import check_request
from sciprec.climate.running.start import initial_state
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.foundation.errors import InputError
from tests.climate.small_models import SMALL

SHORT = {"truncation": SMALL, "days": 0.05, "step_seconds": 1080.0}


@pytest.fixture
def own(monkeypatch):
    """Registers a function as the case "mine" of shallow water, or of other equations."""

    def known(initial, equations="shallow_water"):
        monkeypatch.setitem(CASES, "mine", Case("mine", equations, initial))

    return known


@pytest.mark.parametrize("name", list(CASES))
def test_shipped_cases_start_from_the_same_bits_in_any_order_of_latitudes(name):
    """A case computes point by point, so that its state in the model's order is known without
    a permutation.
    """
    request = check_request(name, SMALL, 1.0)
    grid = GaussianGrid(request.truncation)
    lon, lat = grid.lon_radians[:, None], grid.lat_radians[None, :]
    wanted = request.case.initial(lon, lat, **request.parameters.case)
    made = initial_state(request, grid)
    arrays = [f.name for f in fields(made) if isinstance(getattr(made, f.name), np.ndarray)]
    assert arrays
    for field in arrays:
        one, other = getattr(made, field), getattr(wanted, field)
        assert one.tobytes() == other.tobytes() and one.shape == other.shape, field


def test_a_case_is_given_latitudes_from_south_to_north_and_fields_come_out_as_files_have_them(own):
    """A field that depends on the number of the latitude alone, as read from a file."""
    seen = []

    def initial(lon, lat):
        seen.append((lon, lat))
        rows = np.broadcast_to(8000.0 + 10.0 * np.sin(lat), (lon.size, lat.size)).copy()
        none = np.zeros_like(rows)
        return InitialState(rows, none, none, 2 * ROTATION_PER_SECOND * np.sin(lat) + none, none)

    own(initial)
    made = climate.run("mine", **SHORT)
    lon, lat = seen[0]
    assert lon.shape == (32, 1) and lat.shape == (1, 16) and (np.diff(lat) > 0.0).all()
    np.testing.assert_allclose(np.degrees(lat[0]), made["lat"], rtol=1e-13)
    first = made["height"].isel(time=0)
    wanted = 8000.0 + 10.0 * np.sin(np.radians(made["lat"]))
    np.testing.assert_allclose(first, wanted.broadcast_like(first), rtol=1e-12)


@pytest.mark.parametrize("case", ["williamson_5", "williamson_1", "jablonowski_williamson"])
def test_winds_that_no_planet_has_are_refused_before_the_first_step(monkeypatch, case):
    """Too large by units: km/s for m/s, or a vorticity of 20 1/s."""
    its = CASES[case]

    def spoilt(lon, lat, **more):
        state = its.initial(lon, lat, **more)
        if hasattr(state, "u"):
            return replace(state, u=state.u * 1e4)
        return replace(state, vorticity=20.0 * np.cos(4 * lon) * np.cos(lat) ** 4)

    monkeypatch.setitem(CASES, "mine", replace(its, name="mine", initial=spoilt))
    words = r"case 'mine' has a wind of [1-9][\d.e+]* m/s at latitude .*; accepted: at most 10,000"
    with pytest.raises(InputError, match=words) as caught:
        climate.run("mine", SMALL, 0.05)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.slow
def test_a_start_beyond_an_arithmetics_range_is_not_blamed_on_the_step(own):
    """Below 2^-4 at most: the vorticity is infinite once it is rounded."""
    own(CASES["rossby_haurwitz"].initial, "barotropic_vorticity")
    made = climate.run("mine", backend="float:p=11,emin=-6,emax=-5", **SHORT)
    said = made.attrs["blow_up"]
    assert said.startswith("blow-up at day 0: ") and "initial state is rounded to float:" in said
    assert "step" not in said and made.attrs["steps"] == 0
