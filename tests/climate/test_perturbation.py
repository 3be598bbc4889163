"""Initial states of ensemble members: small, addressed by seed, member and point, and no more."""

import numpy as np
import pytest

from sciprec import climate
from sciprec.climate.cases.registry import CASES
from sciprec.climate.running.perturbation import FIELDS, Perturbation
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.foundation.errors import InputError
from sciprec.precision.streams import word_at

GRID = GaussianGrid(resolve_truncation("T21"))


def initial(case):
    return CASES[case].initial(GRID.lon_radians[:, None], GRID.lat_radians[None, :])


@pytest.mark.parametrize("case", ["williamson_1", "williamson_5", "rossby_haurwitz", "held_suarez"])
def test_one_field_changes_by_at_most_the_amplitude(case):
    before = initial(case)
    after = Perturbation(3, 1e-6).of(before)
    changed = [n for n in vars(before) if getattr(before, n) is not getattr(after, n)]
    assert changed == [next(name for name in FIELDS if hasattr(before, name))]
    old, new = (np.asarray(getattr(state, changed[0])) for state in (before, after))
    assert new.shape == old.shape
    share = np.abs(new - old)[old != 0] / np.abs(old[old != 0])
    assert 0.9e-6 < share.max() <= 1e-6 * (1 + 1e-9)
    assert np.array_equal(new[old == 0], old[old == 0])


def test_one_unit_in_the_last_place_changes_most_points_by_no_more():
    before = initial("williamson_5")
    ulps = (Perturbation(1).of(before).height - before.height) / np.spacing(before.height)
    assert set(np.unique(ulps)) <= {-1.0, 0.0, 1.0} and 0.2 < np.mean(ulps != 0.0) < 0.8


def test_numbers_are_those_at_the_address_of_seed_member_and_point():
    xi = Perturbation(5, seed=2**40 + 3).uniform(100)
    words = [word_at(2**40 + 3, point, 2 * 5, 2 * 0x656E73) for point in range(100)]
    assert xi.tolist() == [(2 * word + 1) / 2**32 - 1 for word in words]
    assert Perturbation(5, seed=2**40 + 3).uniform(7).tolist() == xi[:7].tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1,), "member is -1; accepted: a whole number from 0"),
        ((True,), "member is True"),
        ((1, 0.0), "the amplitude of a perturbation is 0.0; accepted: a number above 0"),
        ((1, float("nan")), "amplitude of a perturbation is nan"),
        ((1, 1e-9, -1), "seed is -1"),
    ],
)
def test_what_cannot_be_used_gets_a_sentence(arguments, words):
    with pytest.raises(InputError, match=words):
        Perturbation(*arguments)


def test_members_grow_apart():
    runs = [
        climate.run("williamson_5", "T21", days=0.25, output_hours=6, perturbation=p)
        for p in (None, Perturbation(0), Perturbation(1, 1e-9), Perturbation(2, 1e-9))
    ]
    plain, zero, one, two = (run["height"].values for run in runs)
    assert np.array_equal(plain, zero)
    for a, b in ((one, plain), (two, plain), (one, two)):
        difference = np.abs(a - b)[-1].max()
        assert 1e-9 < difference < 1e-3
