"""Interpolation from sigma to pressure: exact for what is linear in ln p."""

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results import on_pressure_levels

SIGMA = (np.arange(10) + 0.5) / 10
PRESSURES = [2.0e4, 5.0e4, 8.0e4]


def made():
    """Two times; a field that is linear in ln p, whatever the pressure at the ground."""
    rng = np.random.default_rng(3)
    ground = 1.0e5 * (1.0 + 0.1 * rng.uniform(-1, 1, (2, 4, 8)))
    pressure = SIGMA[None, :, None, None] * ground[:, None]
    return xr.Dataset(
        {
            "temperature": (("time", "sigma", "lat", "lon"), 3.0 * np.log(pressure) + 7.0),
            "surface_pressure": (("time", "lat", "lon"), ground),
            "mass": (("time",), ground.mean(axis=(1, 2))),
        },
        coords={"time": [0.0, 1.0], "sigma": SIGMA, "lat": np.arange(4.0), "lon": np.arange(8.0)},
    )


def test_a_field_linear_in_the_logarithm_of_pressure_is_exact():
    given = made()
    found = on_pressure_levels(given, PRESSURES)
    assert found["temperature"].dims == ("time", "pressure", "lat", "lon")
    expected = np.broadcast_to(3.0 * np.log(PRESSURES)[:, None, None] + 7.0, (2, 3, 4, 8))
    np.testing.assert_allclose(found["temperature"], expected, rtol=1e-13)
    assert found["pressure"].attrs["standard_name"] == "air_pressure"
    xr.testing.assert_identical(found["surface_pressure"], given["surface_pressure"])
    assert "mass" in found and "sigma" not in found.dims


def test_nothing_is_made_up_outside_the_levels_of_the_model():
    found = on_pressure_levels(made(), [1.0e3, 5.0e4, 1.2e5])
    missing = np.isnan(found["temperature"]).all(("time", "lat", "lon"))
    np.testing.assert_array_equal(missing, [True, False, True])


def test_a_levels_own_pressure_gives_its_own_values():
    given = made()
    given["surface_pressure"][:] = 1.0e5
    found = on_pressure_levels(given, SIGMA * 1.0e5)
    inner = np.isfinite(found["temperature"].values)
    assert inner[:, 1:-1].all()
    exact = given["temperature"].values
    np.testing.assert_allclose(found["temperature"].values[inner], exact[inner], rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "pressures", "words"),
    [
        (lambda d: d.drop_vars("surface_pressure"), PRESSURES, "has no surface_pressure; accepted"),
        (lambda d: d, [0.0], "accepted: numbers above zero in Pa, such as 5.0e4"),
        (lambda d: d, [np.nan], "accepted: numbers above zero in Pa"),
    ],
)
def test_what_cannot_be_interpolated_gets_a_sentence(change, pressures, words):
    with pytest.raises(InputError, match=words):
        on_pressure_levels(change(made()), pressures)
