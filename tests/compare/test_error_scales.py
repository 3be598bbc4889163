"""Errors of the wind by scale: single harmonics whose errors are known."""

import numpy as np
import pytest

from sciprec.comparison.evidence.error_scales import error_scales
from sciprec.errors import InputError
from tests.compare.test_spectra import harmonic, run


def flow(*factors):
    """A zonal jet of degree 5 and a wave (7, 3), multiplied by factors."""
    return 1e-5 * (factors[0] * harmonic(5, 0) + factors[1] * harmonic(7, 3, 0.4))


def test_each_harmonic_has_its_own_error():
    truth, other = run([flow(1, 1)] * 2), run([flow(2, 2), flow(1.001, 0.98)])
    found = error_scales(truth, other)
    expected = np.full(7, np.nan)
    expected[[4, 6]] = 1e-3, 2e-2
    np.testing.assert_allclose(found.by_degree, expected, rtol=1e-6)
    np.testing.assert_array_equal(found.wavenumber, np.arange(1, 8))
    assert found.by_band == pytest.approx({"m = 0": 1e-3, "m = 1 to 3": 2e-2}, rel=1e-6)
    wind = np.array([1.0 / 30.0, 0.5 / 56.0])  # mean squares of both harmonics over l (l+1)
    whole = np.sqrt((wind * [1e-6, 4e-4]).sum() / wind.sum())
    assert found.whole == pytest.approx(whole, rel=1e-6) and found.days == 1.0
    assert found.sentence.endswith(": 1.0e-03 at m = 0, 0.02 at m = 1 to 3")


def test_divergence_and_levels_count_too():
    both = run([flow(1, 0)], [flow(0, 1)])
    other = run([flow(1, 0)], [flow(0, 1.5)])
    found = error_scales(both, other)
    assert found.by_band == pytest.approx({"m = 0": 0.0, "m = 1 to 3": 0.5}, abs=1e-12)
    layers = [data.expand_dims(sigma=[0.3, 0.7], axis=1) for data in (both, other)]
    for name, values in found.by_band.items():
        assert error_scales(*layers).by_band[name] == pytest.approx(values, abs=1e-12)


def test_a_run_that_stopped_is_compared_at_its_last_time():
    truth, other = run([flow(1, 1), flow(9, 9)]), run([flow(1, 1)])
    found = error_scales(truth, other)
    assert found.whole == 0.0 and found.days == 0.0


def test_what_has_no_scales():
    truth = run([flow(1, 1)])
    with pytest.raises(InputError, match="no 'vorticity'; store it with the key 'variables'"):
        error_scales(truth, truth.drop_vars("vorticity"))
    broken = run([np.where(flow(1, 1) > 0, np.nan, 1.0)])
    with pytest.raises(InputError, match="'vorticity' holds values that are not finite"):
        error_scales(truth, broken)
    still = run([0.0 * flow(1, 1)])
    assert error_scales(still, still).sentence == "there is no wind"
