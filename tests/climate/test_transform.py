"""The spectral transform: analytic harmonics, round trips, derivatives, the order of the grid."""

import numpy as np
import pytest

from sciprec.climate.equations.shallow_water_kernels import grid_spectra, spectral_tendency
from sciprec.climate.equations.spherical import spectral_constants
from sciprec.climate.transform.fft import is_supported
from sciprec.climate.transform.grid import TRUNCATIONS, GaussianGrid, Truncation, resolve_truncation
from sciprec.climate.transform.spectral import SpectralTransform, reference_transform
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from tests.climate.small_models import random_spectrum

EPS = np.finfo(float).eps
SLOW = pytest.mark.slow


NAMES = [
    *(pytest.param(name, marks=SLOW if row.number > 85 else ())
      for name, row in TRUNCATIONS.items() if row.number < 170),
    "TL15", "TL31", "TL63",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_round_trip_of_random_coefficients(name):
    """TL15, TL31 and TL63 have one degree more than whole blocks."""
    transform = reference_transform(resolve_truncation(name))
    spectrum = random_spectrum(transform, 2)
    back = transform.to_spectrum(transform.to_grid(spectrum))
    assert np.abs(back - spectrum).max() <= 1e-13


def test_wind_of_a_potential_has_no_vorticity_and_its_divergence():
    """curl grad = 0: wind from divergence alone, analysed again, gives that divergence alone."""
    transform = reference_transform(TRUNCATIONS["T42"])
    factors = spectral_constants(transform.truncation, 0.0)
    decay = (1.0 + transform.degree[:, None]) ** -2.0
    for given, absent in ((2, 0), (0, 2)):
        state = np.zeros((transform.degree.size, 6))
        state[:, given : given + 2] = random_spectrum(transform, 1) * decay
        state[0] = 0.0
        spectra, tendency = np.zeros((state.shape[0], 8)), np.zeros_like(state)
        grid_spectra(state, (factors,), spectra)
        wind = transform.to_grid(spectra[:, 4:8]) / (1 - transform.grid.sin_lat**2)
        fluxes = np.zeros((state.shape[0], 10))
        fluxes[:, :4] = transform.to_spectrum(wind, extra_degree=True)
        spectral_tendency(np.zeros_like(state), fluxes, factors, tendency)
        divergence, vorticity = -tendency[:, 0:2], tendency[:, 2:4]
        found = {2: divergence, 0: vorticity}
        assert np.abs(found[given] - state[:, given : given + 2]).max() < 1e-13
        assert np.abs(found[absent]).max() < 1e-13


def test_order_of_latitudes_and_back():
    grid = GaussianGrid(TRUNCATIONS["T21"])
    lat = np.broadcast_to(np.degrees(grid.lat_radians), (grid.nlon, grid.nlat))
    lon = np.broadcast_to(grid.lon[:, None], (grid.nlon, grid.nlat))
    np.testing.assert_allclose(grid.to_output(lat)[:, 3], grid.lat, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(grid.to_output(lon)[5], grid.lon)
    field = np.random.default_rng(4).normal(size=(grid.nlon, grid.nlat))
    np.testing.assert_array_equal(grid.to_model(grid.to_output(field)), field)
    assert (np.diff(grid.lat) > 0).all()
    assert abs(grid.mean(grid.to_output(lat) * 0 + 3.0) - 3.0) < 8 * EPS


def test_round_trip_in_another_arithmetic(name="mlu370"):
    """The error is at most the number of sums on the way in units of the roundoff of the format."""
    transform = SpectralTransform(Truncation(10, 16, 32, 1200.0), name)
    spectrum = random_spectrum(transform, 1) / 16
    back = transform.to_spectrum(transform.to_grid(spectrum)).astype(float)
    roundoff = resolve_backend(name).compute.format.unit_roundoff
    assert 0 < np.abs(back - spectrum).max() < 2 * (16 + 32) * roundoff


def test_any_truncation_has_a_grid_that_is_fine_enough():
    assert resolve_truncation(np.int64(42)) is resolve_truncation(42) is TRUNCATIONS["T42"]
    for number in (1, 2, 10, 43, 64, 106, 213, 341, 1023):
        for name, waves in ((f"T{number}", 3), (f"TL{number}", 2)):
            row = resolve_truncation(name)
            assert (row.number, row.name) == (number, name if number > 2 else row.name)
            assert row.nlon >= waves * number + 1 and 2 * row.nlat >= waves * number + 1
            assert row.nlon == 2 * row.nlat and row.nlat % 2 == 0 and is_supported(row.nlon)
            assert row.nlon <= 1.5 * max(waves * number + 1, 8)
            assert 3600 % row.step_seconds == 0 and row.step_seconds * number <= 25500


@pytest.mark.parametrize(
    "given", ["T42.5", "X42", "T0", "T1024", "", -3, "t42", "42", " T42", "T042", 42.0, True, None]
)
def test_unknown_truncations_get_a_sentence(given):
    with pytest.raises(InputError, match="unknown truncation .*accepted: T1 to T1023, as a name"):
        resolve_truncation(given)
    with pytest.raises(InputError, match="did you mean 'T85'"):
        resolve_truncation("T85a")
    for out_of_range in ("T0", 0, "TL1024"):
        with pytest.raises(InputError, match="or a number$"):
            resolve_truncation(out_of_range)
