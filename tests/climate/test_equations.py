"""The shallow-water tendency: balance, conservation, scaling."""

import numpy as np
import pytest

from sciprec.climate.catalogue import CASES
from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.shallow_water import ShallowWaterConversion
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.climate.transform.spectral import reference_transform
from tests.climate.small_models import SMALL
from tests.climate.tendencies import tendency

SHALLOW = [name for name, case in CASES.items() if case.equations == "shallow_water"]


def setup(name="williamson_5"):
    grid = GaussianGrid(SMALL)
    initial = CASES[name].initial(grid.lon_radians[:, None], grid.lat_radians[None, :])
    units, transform = ModelUnits(SMALL.step_seconds), reference_transform(SMALL)
    convert = ShallowWaterConversion.of(initial, transform, units, units.step)
    return convert, convert.to_state(initial)


def slope(state, constants, backend="fp64"):
    """The tendency in a backend, as float64."""
    return tendency("shallow_water", setup()[0], state, backend, constants)


@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_rest_over_a_mountain_is_steady_to_the_last_bit(backend):
    convert, state = setup()
    state[:] = 0.0
    state[0, 4] = 0.25
    assert np.abs(convert.ground).max() > 1
    assert not slope(state, convert.constants, backend).any()


@pytest.mark.parametrize("case", SHALLOW)
def test_mean_vorticity_divergence_and_mass_have_no_tendency(case):
    convert, state = setup(case)
    np.testing.assert_array_equal(slope(state, convert.constants)[0], 0.0)


def test_nothing_grows_above_the_truncation():
    convert, state = setup()
    above = convert.transform.degree > SMALL.number
    np.testing.assert_array_equal(slope(state, convert.constants)[above], 0.0)


@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_scaling_by_a_power_of_two_changes_no_bit(backend):
    """Time halved: velocities and f double, geopotentials quadruple, tendencies follow exactly."""
    convert, state = setup()
    factors, grid_factors, waves, rotation = convert.constants
    coriolis, ground, inverse_cos2 = grid_factors
    twice = tuple(2 * x for x in rotation)
    scaled = (*factors[:7], 4 * factors[7]), (2 * coriolis, 4 * ground, inverse_cos2), waves, twice
    size = np.array([2.0, 2.0, 2.0, 2.0, 4.0, 4.0])
    plain = slope(state, convert.constants, backend)
    np.testing.assert_array_equal(slope(size * state, scaled, backend), 2 * size * plain)


def test_wind_and_height_of_the_state_are_those_of_the_case():
    grid = GaussianGrid(SMALL)
    initial = CASES["williamson_2"].initial(grid.lon_radians[:, None], grid.lat_radians[None, :])
    convert, state = setup("williamson_2")
    fields = convert.to_fields(state)
    speed = 2 * np.pi * 6.37122e6 / (12 * 86400)
    expected = np.broadcast_to(speed * np.cos(np.radians(grid.lat))[:, None], fields["u"].shape)
    np.testing.assert_allclose(fields["u"], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(fields["v"], 0.0, atol=1e-12)
    np.testing.assert_allclose(fields["height"], grid.to_output(initial.height), rtol=1e-14)
    assert convert.reference * 256 / 2 ** np.ceil(np.log2(convert.reference)) % 1 == 0
