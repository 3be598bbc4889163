"""The forcing of Held and Suarez against its formulas, and the statistics of its climate."""

import numpy as np
import pytest

from sciprec.climate.cases.held_suarez_start import held_suarez
from sciprec.climate.constants import ModelUnits
from sciprec.climate.diagnostics.derived import eddy_product
from sciprec.climate.equations import held_suarez as hs
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.climate.transform.spectral import reference_transform
from tests.climate.tendencies import tendency

SMALL = Truncation(5, 10, 16, 1800.0)
LEVELS = 8


@pytest.fixture(scope="module")
def model():
    """The conversion and a state with temperatures near equilibrium and uneven surface pressure."""
    grid = GaussianGrid(SMALL)
    lon, lat = np.broadcast_arrays(grid.lon_radians[:, None], grid.lat_radians[None, :])
    state = held_suarez(lon, lat, LEVELS, seed=3)
    sigma = state.levels.full[:, None, None]
    warm = 300 * sigma**0.2 - 40 * np.sin(lat) ** 2 + 5 * np.cos(lon) * np.cos(lat)
    pressure = 1e5 * (1 + 0.03 * np.sin(lat))
    varied = {**vars(state), "u": 100 * state.u, "temperature": warm, "surface_pressure": pressure}
    state = hs.AirState(**varied)
    units = ModelUnits(SMALL.step_seconds, hs.PLANET.radius_m)
    convert = hs.ForcedConversion.of(state, reference_transform(SMALL), units, units.step)
    return convert, convert.to_state(state)


def test_forcing_is_that_of_the_paper(model):
    """The difference that the forcing makes, against its formulas in SI units on the grid."""
    convert, state = model
    forced = tendency("held_suarez", convert, state)
    difference = forced - tendency("primitive_equations", convert, state)
    grid, fields = convert.transform.grid, convert.to_fields(state)
    lat = np.radians(grid.lat)[:, None]
    sigma = convert.levels.full[:, None, None]
    share = sigma * fields["surface_pressure"] / 1e5
    potential = 315 - 60 * np.sin(lat) ** 2 - 10 * np.log(share) * np.cos(lat) ** 2
    equilibrium = np.maximum(200.0, potential * share ** (2 / 7))
    assert (equilibrium == 200.0).any() and (equilibrium > 280.0).any()
    low = np.maximum(0.0, (sigma - 0.7) / 0.3)
    rate = (1 / 40 + (1 / 4 - 1 / 40) * low * np.cos(lat) ** 4) / 86400
    heating = -rate * (fields["temperature"] - equilibrium)
    model_order = np.stack([grid.to_model(x) for x in heating])
    scale = convert.kelvin / convert.units.seconds
    expected = convert.transform.to_spectrum(model_order) / scale
    got = difference[:, 4 * LEVELS : 6 * LEVELS]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    wind = -np.repeat(low.ravel(), 2) / 86400 * convert.units.seconds
    for first in (0, 2 * LEVELS):
        columns = slice(first, first + 2 * LEVELS)
        braked = wind * state[:, columns]
        np.testing.assert_allclose(difference[:, columns], braked, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(difference[:, -2:], 0.0)


def test_the_start_is_at_rest_but_for_a_seeded_breeze():
    lon, lat = np.meshgrid(np.linspace(0, 6, 9), np.linspace(-1.5, 1.5, 7), indexing="ij")
    first, again, other = (held_suarez(lon, lat, 4, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.u, again.u)
    assert (first.u != other.u).any() and 0 < np.abs(first.u).max() < 1.5
    assert np.ptp(first.temperature) == 0 and np.ptp(first.surface_pressure) == 0


def test_eddy_products_are_covariances_around_circles_of_latitude():
    rng = np.random.default_rng(0)
    fields = {n: rng.normal(size=(5, 3, 4, 16)) for n in ("u", "v", "temperature")}
    u, v, t = fields.values()

    def covariance(x, y):
        rows = zip(x.reshape(-1, 16), y.reshape(-1, 16), strict=True)
        return np.reshape([np.cov(a, b, ddof=0)[0, 1] for a, b in rows], (5, 3, 4))

    for name, expected in {
        "eddy_momentum_flux": covariance(u, v),
        "eddy_heat_flux": covariance(v, t),
        "temperature_variance": t.var(axis=-1),
    }.items():
        np.testing.assert_allclose(eddy_product(name, fields), expected, atol=1e-14)
