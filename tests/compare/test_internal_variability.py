"""Growth against internal variability, on errors of known growth."""

import math

import numpy as np
import pytest
import xarray as xr

from sciprec.results.comparison.evidence.internal_variability import variability_growth

DAYS = np.arange(0.0, 10.5, 0.5)
RATE = 0.8  # per day
LAT = np.array([-60.0, -20.0, 20.0, 60.0])
AREA = np.array([1.0, 2.0, 2.0, 1.0])[:, None] * np.ones((1, 8))


def flow(difference=0.0, sign=1.0, shape=(4, 8)):
    """A height of 100 m and a difference (nt,) whose area-weighted RMS it is, at every time."""
    pattern = sign * np.where(np.arange(math.prod(shape)).reshape(shape) % 2, 1.0, -1.0)
    values = 100.0 + np.multiply.outer(difference * np.ones(DAYS.size), pattern)
    axes = ("time", *(["sigma"] if len(shape) == 3 else []), "lat", "lon")
    return xr.Dataset(
        {"height": (axes, values, {"units": "m"}), "cell_area": (("lat", "lon"), AREA)},
        coords={"time": DAYS, "lat": LAT, "lon": np.arange(8) * 45.0},
    )


def growing(size):
    return size * np.exp(RATE * DAYS)


@pytest.mark.parametrize("shape", [(4, 8), (3, 4, 8)])
def test_share_and_lost_hours_of_an_exponential_growth(shape):
    """e = 0.3 s: the total is sqrt(1.09) s, which gets there log(1.09) / (2 rate) days earlier."""
    members = [flow(growing(2e-4), sign, shape) for sign in (1.0, -1.0)]
    found = variability_growth(
        flow(shape=shape), flow(growing(6e-5), 1.0, shape), "height", spread=members
    )
    assert found.applies and found.members == 2
    assert found.share == pytest.approx(0.3, rel=1e-6)
    np.testing.assert_allclose(found.error, growing(6e-5), rtol=1e-6)
    np.testing.assert_allclose(found.spread, growing(2e-4), rtol=1e-6)
    assert found.lost_hours == pytest.approx(24 * math.log(1.09) / (2 * RATE), rel=1e-6)
    assert found.doubling_hours == pytest.approx(24 * math.log(2) / RATE, rel=1e-6)
    assert found.increase == pytest.approx(math.exp(RATE * 10), rel=1e-6)
    assert math.isnan(found.ulps) and found.units == "m"
    assert found.sentence == (
        "the rounding error of height is 30 % of the internal variability at day 10; "
        "predictability is lost 1.3 hours earlier; small differences double in 21 hours"
    )


def test_members_are_weighted_by_area_and_averaged_in_squares():
    truth, member = flow(), flow()
    member["height"][:, 1, :] += 3.0 * np.exp(RATE * DAYS)[:, None]  # 16 of 48 units of area
    other = flow(growing(1.0))
    found = variability_growth(truth, truth, "height", spread=[member, other])
    expected = np.sqrt((9.0 * 16 / 48 + 1.0) / 2) * np.exp(RATE * DAYS)
    np.testing.assert_allclose(found.spread, expected, rtol=1e-9)
    assert found.share == 0.0 and found.lost_hours == 0.0
    assert "less than 0.1 hours earlier" in found.sentence


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("most, told", [(math.inf, True), (2.0, True), (3e-2, False)])
def test_no_hours_are_told_where_the_spread_has_stopped_growing(most, told, seed):
    """lorenz96 had "< 0.1" for an error of 110 % of the spread, and 220 for one of 93 %: the spread
    had been as large as it gets for days, and was crossed by chance.
    """
    rng = np.random.default_rng(seed)
    spread, error = (
        np.minimum(growing(1e-3), most * rng.uniform(0.8, 1.2, DAYS.size)) for _ in range(2)
    )
    found = variability_growth(flow(), flow(error), "height", spread=[flow(spread)])
    assert found.applies and math.isnan(found.lost_hours) != told
    words = "the variability has stopped growing by then, so that no hours of predictability lost "
    assert (words in found.sentence) != told


@pytest.mark.parametrize("size", [1e-3 * np.ones(DAYS.size), 1e-3 * (1.0 + DAYS / 2)])
def test_without_growth_it_does_not_apply(size):
    found = variability_growth(flow(), flow(growing(1e-5)), "height", spread=[flow(size)])
    assert not found.applies
    assert found.sentence.startswith("internal variability does not apply: by day 10")
