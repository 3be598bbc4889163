"""The primitive equations: against an independent model, at rest, conservation, implicit part."""

import numpy as np
import pytest

from sciprec.climate.catalogue import EQUATIONS
from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.air import REFERENCE_PRESSURE_PA, AirConversion, AirState, Planet
from sciprec.climate.equations.mass import restore_mass
from sciprec.climate.equations.primitive_implicit import primitive_linear, primitive_solve
from sciprec.climate.equations.tendency import make_tendency_work
from sciprec.climate.equations.vertical import SigmaLevels
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.climate.transform.spectral import SpectralTransform, make_tables
from tests.climate.tendencies import tendency
from tests.oracles.primitive_equations import Sphere, tendencies

SMALL = Truncation(5, 10, 16, 1800.0)
LEVELS = SigmaLevels((0.0, 0.1, 0.35, 0.8, 1.0))
PLANET = Planet(6.4e6, 7.0e-5, 9.8, 290.0, 0.28)
COUNT = LEVELS.count
UNITS = ModelUnits(SMALL.step_seconds, PLANET.radius_m, PLANET.gravity_m_per_s2)
EPS = 2.0**-53


@pytest.fixture(scope="module")
def weather():
    """A conversion and a state with wind, waves and mountains of everyday size."""
    rng = np.random.default_rng(1)
    grid = GaussianGrid(SMALL)
    lon, lat = np.broadcast_arrays(grid.lon_radians[:, None], grid.lat_radians[None, :])
    wave = rng.uniform(-1, 1, (COUNT, 4))[:, :, None, None]
    bump = wave[:, 0] * np.cos(lon) + wave[:, 1] * np.sin(2 * lon)
    wind = 20 * np.cos(lat) ** 2 * (1 + bump)
    initial = AirState(
        planet=PLANET,
        levels=LEVELS,
        u=wind,
        v=5 * np.cos(lat) ** 2 * (wave[:, 2] * np.sin(lon) + wave[:, 3]) * np.sin(lat),
        temperature=250 + 30 * np.cos(lat) ** 2 + 5 * bump * np.cos(lat),
        surface_pressure=1e5 * (1 + 0.02 * np.cos(lat) * np.sin(lon)),
        orography=1000 * np.cos(lat) ** 2 * (1 + np.cos(lon + 1)),
        friction=np.zeros(COUNT),
    )
    convert = AirConversion.of(initial, SpectralTransform(SMALL), UNITS, 0.125)
    return convert, convert.to_state(initial), initial


def slope(convert, state, constants=None):
    """The tendency of a state."""
    return tendency("primitive_equations", convert, state, "fp64", constants)


def complex_parts(state, convert):
    """Coefficients (variables, harmonics) up to the truncation, from columns in pairs."""
    kept = convert.transform.degree <= SMALL.number
    return (state[kept, 0::2] + 1j * state[kept, 1::2]).T


def test_tendency_is_that_of_an_independent_model(weather):
    """T5L4, mountains, uneven levels: agreement to the rounding of terms that partly cancel."""
    convert, state, _ = weather
    sphere = Sphere(SMALL.number, SMALL.nlat, SMALL.nlon, PLANET.radius_m)
    units, reference = UNITS, np.zeros(len(sphere.pairs))
    reference[0] = 1.0
    rows = complex_parts(state, convert)
    vorticity, divergence, anomaly = rows[:-1].reshape(3, COUNT, -1)
    expected = tendencies(
        sphere, LEVELS.half, PLANET.rotation_per_second, PLANET.gas_constant, PLANET.kappa,
        complex_parts(convert.ground, convert)[0] * units.geopotential,
        vorticity * units.vorticity, divergence * units.vorticity,
        (anomaly + convert.reference * reference) * convert.kelvin,
        rows[-1] / convert.reference + np.log(REFERENCE_PRESSURE_PA) * reference,
    )  # fmt: skip
    got = complex_parts(slope(convert, state), convert)
    scales = [units.vorticity, units.vorticity, convert.kelvin, 1 / convert.reference]
    for k, (truth, scale) in enumerate(zip(expected, scales, strict=True)):
        mine = (got[-1] if k == 3 else got[k * COUNT : (k + 1) * COUNT]) * scale / units.seconds
        assert np.abs(truth).max() > 0
        error = np.abs(mine - truth).max() / np.abs(truth).max()
        assert error < 1e4 * EPS, k


def test_rest_at_the_reference_over_a_mountain_is_steady_to_the_last_bit(weather):
    convert, state, _ = weather
    rest = np.zeros_like(state)
    rest[:, -2:] = -convert.ground
    assert np.abs(convert.ground).max() > 0.5
    got = slope(convert, rest)
    assert not got[1:].any() and not got[0].any()


def test_an_isothermal_atmosphere_rests_over_a_mountain_to_rounding(weather):
    """Temperature other than the reference: the gradients cancel between grid and coefficients."""
    convert, state, _ = weather
    rest = np.zeros_like(state)
    rest[0, 4 * COUNT : 6 * COUNT : 2] = anomaly = -4.0
    rest[:, -2:] = -convert.ground * convert.reference / (convert.reference + anomaly)
    laplacian = SMALL.number * (SMALL.number + 1)
    size = laplacian * np.abs(convert.ground).max()
    assert np.abs(slope(convert, rest)).max() < 64 * EPS * size


def test_linear_part_is_the_derivative_of_the_tendency_at_rest(weather):
    """Central differences of the whole tendency about rest, without rotation and mountains."""
    convert, state, _ = weather
    constants = convert.constants
    places = constants[4][0], np.zeros_like(constants[4][1])
    still = tuple(np.zeros_like(x) for x in constants[6])
    constants = (*constants[:4], places, constants[5], still, constants[7])
    slopes = [slope(convert, sign * 2.0**-20 * state, constants=constants) for sign in (1.0, -1.0)]
    expected = (slopes[0] - slopes[1]) * 2.0**19
    got = np.zeros_like(state)
    primitive_linear(state, constants, got)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("friction", [0.0, 2.0])
def test_solve_inverts_the_linear_part(weather, friction):
    convert, state, initial = weather
    braked = AirState(**{**vars(initial), "friction": np.full(COUNT, friction / UNITS.seconds)})
    constants = AirConversion.of(braked, convert.transform, UNITS, 0.125).constants
    slope, got = np.zeros_like(state), np.zeros_like(state)
    primitive_linear(state, constants, slope)
    primitive_solve(state - 0.125 * slope, constants, got)
    size = np.abs(0.125 * slope).max()
    np.testing.assert_allclose(got, state, rtol=0, atol=64 * COUNT * EPS * size)


def test_mass_is_restored(weather):
    convert, state, _ = weather
    work = make_tendency_work(EQUATIONS["primitive_equations"], convert, np.float64)
    tables = make_tables(SMALL)
    grid = convert.transform.grid
    before = grid.mean(convert.to_fields(state)["surface_pressure"])
    changed = state.copy()
    changed[:, -2] *= 1.1
    assert abs(grid.mean(convert.to_fields(changed)["surface_pressure"]) / before - 1) > 1e-6
    restore_mass(changed, convert.constants, tables, work)
    after = grid.mean(convert.to_fields(changed)["surface_pressure"])
    np.testing.assert_allclose(after, before, rtol=1e-14)
    np.testing.assert_array_equal(changed[1:, -2], 1.1 * state[1:, -2])


def test_scaling_by_powers_of_two_changes_no_bit(weather):
    """Time halved: winds and rotation double, temperatures and geopotentials quadruple."""
    convert, state, _ = weather
    column, implicit, factors, air, (cosine, ground), mass, rotation, share = convert.constants
    scaled = np.array([4 * air[0], air[1] / 4, air[2]])
    doubled = tuple(2 * x for x in rotation)
    constants = column, implicit, factors, scaled, (cosine, 4 * ground), mass, doubled, share
    size = np.repeat([2.0, 4.0], [4 * COUNT, 2 * COUNT + 2])
    doubled = slope(convert, size * state, constants=constants)
    np.testing.assert_array_equal(doubled, 2 * size * slope(convert, state))
