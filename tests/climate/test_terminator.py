"""The chemistry of the terminator: its sum, its steps by the formulas of the source, negatives."""

from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from sciprec import climate
from sciprec.foundation.loading import loaded_file
from tests.climate.small_models import SMALL

EXAMPLE = loaded_file("examples:terminator_chemistry.py", "forcing", registers=False)
FORCING = EXAMPLE.terminator_chemistry


def as_published(cl, cl2, lat, lon, seconds):
    """The change of Cl in a step, in units of 1e-6: the formulas of the appendix of Lauritzen et
    al. (2015), k2 = 1 1/s and amounts as they are, with 60 digits.
    """
    with mpmath.workdps(60):
        cl, cl2 = (mpmath.mpf(float(x)) * mpmath.mpf("1e-6") for x in (cl, cl2))
        here = mpmath.sin(lat) * mpmath.sin(mpmath.radians(20))
        here += mpmath.cos(lat) * mpmath.cos(mpmath.radians(20)) * mpmath.cos(
            lon - mpmath.radians(300)
        )  # fmt: skip
        r = max(mpmath.mpf(0), here) / 4
        det = mpmath.sqrt(r * r + 2 * r * (cl + 2 * cl2))
        decay = mpmath.exp(-4 * det * seconds)
        el = (1 - decay) / det / seconds if det else mpmath.mpf(4)
        rate = -el * (cl - det + r) * (cl + det + r)
        return float(rate / (1 + decay + seconds * el * (cl + r)) * seconds * 1e6)


def test_a_step_is_that_of_the_formulas_that_were_published():
    """By day, by night and at the terminator, also of rounded sums."""
    draw = np.random.default_rng(7)
    lat, lon = np.radians([-70.0, -20.0, 19.0, 66.0]), np.radians(np.arange(0.0, 360.0, 22.5))
    cl = draw.uniform(0.0, 4.0, (1, lat.size, lon.size))
    cl2 = 0.5 * (4.0 - cl) * draw.uniform(0.9, 1.1, cl.shape)
    fields = SimpleNamespace(cl=cl, cl2=cl2, latitude=lat, longitude=lon)
    out = SimpleNamespace(cl=np.zeros_like(cl), cl2=np.zeros_like(cl))
    FORCING.kernel(fields, None, SimpleNamespace(**FORCING.values({})), out)
    steps = out.cl / 72.0
    np.testing.assert_array_equal(out.cl2, -0.5 * out.cl)
    for j, i in np.ndindex(lat.size, lon.size):
        exact = as_published(cl[0, j, i], cl2[0, j, i], lat[j], lon[i], 1200)
        assert steps[0, j, i] == pytest.approx(exact, rel=1e-11, abs=1e-14), (j, i)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("backend", "compensation", "most"),
    [("fp64", None, 2.0**-48), ("fp16", None, 2.0**-4), ("fp16", "carry", 2.0**-7)],
    ids=str,
)  # fmt: skip
def test_advection_keeps_the_sum_to_rounding(backend, compensation, most):
    """Which is 4 everywhere, however uneven its parts are, of which some are negative."""
    flow = climate.run(
        "rossby_haurwitz", SMALL, 1, step_seconds=1200.0, output_hours=24, time_scheme="rk4",
        tracers=EXAMPLE.TRACERS, forcing=FORCING, backend=backend, compensation=compensation,
    )  # fmt: skip
    error, negative = EXAMPLE.told(flow)
    assert error <= most and (backend == "fp64" or error > most / 64)
    assert 5.0 < negative < 45.0
    assert float(flow["cl"].max()) > 3.5 and flow["cl"].attrs["units"] == "1e-6"
