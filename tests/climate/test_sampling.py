"""Distances between climates: their formulas, and how often chance exceeds the limits."""

import numpy as np
import pytest

from data.climate.sampling import (
    MEASURES,
    block_means,
    departure,
    is_within,
    limits,
    own_departures,
)

SHARES = np.outer([0.25, 0.75], [0.5, 0.3, 0.2])


def test_block_means_leave_out_the_spin_up_and_what_fills_no_block():
    stored = np.arange(22.0).reshape(11, 2)
    found = block_means(stored, 1, 4)
    np.testing.assert_array_equal(found, [stored[1:5].mean(axis=0), stored[5:9].mean(axis=0)])
    assert block_means(stored, 9, 4).shape == (0, 2)
    assert block_means(stored, 20, 4).shape == (0, 2)


def test_departures_are_weighted_by_the_air():
    apart = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -2.0]])
    found = departure(apart + 280.0, np.full((2, 3), 280.0), SHARES)
    assert found["mean"] == pytest.approx(0.125 - 2 * 0.15)
    assert found["rms"] == pytest.approx(np.sqrt(0.125 + 4 * 0.15))
    assert found["largest"] == 2.0


def test_members_are_compared_with_the_others():
    members = np.random.default_rng(0).normal(size=(4, 2, 3))
    found = own_departures(list(members), SHARES)
    for k, one in enumerate(found):
        others = np.delete(members, k, axis=0).mean(axis=0)
        assert one == pytest.approx(departure(members[k], others, SHARES))


def test_limits_of_five_equal_members_and_of_a_shifted_run():
    """s of (0, 1, 2, 3, 4) is sqrt(2.5); t(0.995) of four degrees of freedom is 4.6041."""
    members = [np.full((2, 3), float(k)) for k in range(5)]
    allowed = limits(own_departures(members, SHARES))
    assert allowed["mean"] == pytest.approx(4.604095 * np.sqrt(2.5) * np.sqrt(1.2), rel=1e-6)
    shifted = departure(np.full((2, 3), 2.0 + 1.01 * allowed["mean"]), members[2], SHARES)
    assert not is_within(shifted, allowed)
    assert is_within(dict.fromkeys(MEASURES, 0.0), allowed)


def test_a_further_member_exceeds_a_limit_in_one_or_two_of_a_hundred_cases():
    """1,000 ensembles of five and one more run, six independent places."""
    rng = np.random.default_rng(7)
    outside = dict.fromkeys(MEASURES, 0)
    for members in rng.normal(size=(1000, 6, 2, 3)):
        allowed = limits(own_departures(list(members[:5]), SHARES))
        found = departure(members[5], members[:5].mean(axis=0), SHARES)
        for name in MEASURES:
            outside[name] += abs(found[name]) > allowed[name]
    assert all(0.005 < count / 1000 < 0.03 for count in outside.values()), outside
