"""Transport of a cosine bell round the sphere: Williamson et al.'s case 1."""

import numpy as np
import pytest

from sciprec.climate.cases.williamson import cosine_bell
from sciprec.climate.diagnostics.budgets import scalar_errors
from sciprec.climate.running.integration import integrate
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from tests.climate.small_models import SMALL

ANGLES = (0.0, np.degrees(0.05), 90.0 - np.degrees(0.05), 90.0)
"""alpha of Williamson et al. (1992): 0, 0.05, pi/2 - 0.05 and pi/2."""


def after_a_revolution(truncation, angle, **options):
    """l1, l2 and linf of the height after 12 days, and the drift of its mean."""
    run = integrate(
        "williamson_1", truncation, 12.0, parameters={"angle_degrees": angle},
        output_hours=288.0, **options,
    )  # fmt: skip
    grid = GaussianGrid(resolve_truncation(truncation))
    lon, lat = np.radians(run.lon)[None, :], np.radians(run.lat)[:, None]
    errors = scalar_errors(grid, run.fields["height"][-1], cosine_bell(lon, lat, angle).height)
    return np.array(list(errors.values())), abs(
        run.budgets["mass"][-1] / run.budgets["mass"][0] - 1
    )


@pytest.mark.parametrize("angle", ANGLES)
def test_the_bell_comes_back_at_t21(angle):
    """Its truncation at T21 alone is an error of 0.03 in l2; over a pole it is no larger."""
    errors, drift = after_a_revolution("T21", angle, step_seconds=3600.0)
    assert errors[1] < 0.1 and errors[2] < 0.1
    assert drift < 1e-13


def test_the_wind_is_as_published_and_the_mean_is_kept():
    """2 pi a / 12 days = 38.6 m/s at the equator."""
    wind = cosine_bell(np.zeros((1, 1)), np.zeros((1, 1)), 0.0)
    assert wind.u[0, 0] == pytest.approx(38.61, abs=0.01) and wind.v[0, 0] == 0.0
    run = integrate("williamson_1", SMALL, 1.0, parameters={"angle_degrees": 30.0})
    assert abs(run.budgets["mass"][-1] / run.budgets["mass"][0] - 1) < 1e-14
