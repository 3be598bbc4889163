"""Zonal means and spectra, chosen by name."""

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.transform.grid import GaussianGrid
from tests.climate.small_models import SMALL

SHORT = {"truncation": SMALL, "days": 0.05, "step_seconds": 1080.0}


@pytest.mark.parametrize("case", ["williamson_5", "rossby_haurwitz"])
def test_the_spectrum_adds_up_to_the_kinetic_energy(case):
    run = climate.run(case, variables=["u", "v", "kinetic_energy_spectrum"], **SHORT)
    spectrum = run["kinetic_energy_spectrum"]
    assert spectrum.dims == ("total_wavenumber", "time") and spectrum.attrs["units"] == "m2 s-2"
    np.testing.assert_array_equal(run["total_wavenumber"], np.arange(11))
    kinetic = GaussianGrid(SMALL).mean(0.5 * (run["u"] ** 2 + run["v"] ** 2).values)
    np.testing.assert_allclose(spectrum.sum("total_wavenumber"), kinetic, rtol=1e-12)
    assert spectrum.values[0, 0] == 0.0


def test_a_single_harmonic_has_its_energy_at_its_wavenumber():
    """The Rossby-Haurwitz wave of R = 4 lives on l = 1 and l = 5."""
    run = climate.run("rossby_haurwitz", variables=["kinetic_energy_spectrum"], **SHORT)
    first = run["kinetic_energy_spectrum"].values[:, 0]
    assert set(np.flatnonzero(first > 1e-20 * first.max())) == {1, 5}
    radius, rate = 6.37122e6, 7.848e-6
    assert first[1] == pytest.approx((radius * rate) ** 2 / 3, rel=1e-12)


def test_zonal_means_are_means_over_longitude():
    run = climate.run("williamson_5", variables=["u", "zonal_mean_u"], **SHORT)
    assert run["zonal_mean_u"].dims == ("time", "lat")
    assert run["zonal_mean_u"].attrs["long_name"] == "zonal mean of eastward wind"
    assert run["zonal_mean_u"].attrs["units"] == "m s-1"
    np.testing.assert_allclose(run["zonal_mean_u"], run["u"].mean("lon"), atol=1e-12)
    assert "zonal_mean_v" not in run and "vorticity" not in run
