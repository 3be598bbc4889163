"""The barotropic vorticity equation: an exact wave, exact invariants, any arithmetic."""

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.cases.rossby_haurwitz import rossby_haurwitz
from sciprec.climate.constants import ROTATION_PER_SECOND
from sciprec.climate.stepping.schemes import TIME_SCHEMES
from tests.climate.small_models import SMALL


@pytest.mark.parametrize(
    ("scheme", "wavenumber"), [*((scheme, 4) for scheme in TIME_SCHEMES), ("rk4", 2)]
)
def test_the_wave_moves_at_its_exact_speed_without_changing_its_shape(scheme, wavenumber):
    """Error of a step: (angular velocity times dt)**order; 144 steps of 600 s at T10."""
    run = climate.run(
        "rossby_haurwitz", SMALL, 1, step_seconds=600.0, time_scheme=scheme, wavenumber=wavenumber
    )
    lat, lon = np.radians(run["lat"].values)[:, None], np.radians(run["lon"].values)[None, :]
    rate, r = 7.848e-6, wavenumber
    # Williamson et al. (1992), eq 142
    speed = (r * (3 + r) * rate - 2 * ROTATION_PER_SECOND) / ((1 + r) * (2 + r))
    assert abs(speed) * 86400.0 > 0.1
    exact = rossby_haurwitz(lon - speed * 86400.0, lat, wavenumber).vorticity
    error = np.abs(run["vorticity"].values[-1] - exact).max() / np.abs(exact).max()
    frequency = 1.5e-4  # of the fastest motion: rotation of the planet
    assert error < 144 * (frequency * 600.0) ** (TIME_SCHEMES[scheme].order + 1)
    assert error < 0.01 * np.abs(run["vorticity"].values[0] - exact).max() / np.abs(exact).max()


def test_wind_streamfunction_and_vorticity_belong_together():
    run = climate.run("rossby_haurwitz", SMALL, 0.05, step_seconds=1080.0)
    first = {name: run[name].values[0] for name in ("u", "v", "streamfunction", "vorticity")}
    lat, lon = np.radians(run["lat"].values)[:, None], np.radians(run["lon"].values)[None, :]
    radius, rate, cosine = 6.37122e6, 7.848e-6, np.cos(lat)
    wave = cosine**4 * np.sin(lat) * np.cos(4 * lon)
    expected = radius**2 * rate * (wave - np.sin(lat))
    np.testing.assert_allclose(first["streamfunction"], expected, atol=1e-6 * radius)
    zonal = (
        radius * rate * (cosine + cosine**3 * (4 * np.sin(lat) ** 2 - cosine**2) * np.cos(4 * lon))
    )
    np.testing.assert_allclose(first["u"], zonal, atol=1e-9)


def test_energy_enstrophy_and_angular_momentum_are_kept():
    run = climate.run("rossby_haurwitz", "T21", 2, output_hours=12)
    for name, most in (("energy", 1e-9), ("enstrophy", 1e-9), ("angular_momentum", 1e-13)):
        values = run[name].values
        assert np.abs(values / values[0] - 1.0).max() < most, name


def test_a_coarse_arithmetic_is_near_the_truth():
    truth, run = (
        climate.run("rossby_haurwitz", SMALL, 0.5, backend) for backend in ("fp64", "fp16")
    )
    error = np.abs(run["vorticity"] - truth["vorticity"]).max() / np.abs(truth["vorticity"]).max()
    assert 0 < float(error) < 36 * 2.0**-11
