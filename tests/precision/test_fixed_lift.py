"""Kernels lifted to fixed point: how units are found, kept and changed, and what is reported."""

import math

import numpy as np
import pytest

from sciprec import quantize
from sciprec.foundation.errors import InputError
from sciprec.precision import LiftError, lift
from tests.oracles import fixed
from tests.precision import fixed_kernels as kernels


def numbers(count=200, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, count)


def test_the_first_call_profiles_on_copies():
    x = numbers()
    lifted = lift(kernels.decay, "fixed32")
    given = x.copy()
    lifted(given, 0.25)
    assert np.abs(given - 0.75 * x).max() <= 3 * 2.0**-30
    assert (given != x).all()
    assert lifted.report().adaptations == 0


def test_a_call_that_leaves_its_range_is_repeated_from_what_was_given():
    x = numbers()
    lifted = lift(kernels.growing, "fixed32")
    state = x.copy()
    lifted(state, 1.0)
    before = lifted.units.exponents.max()
    for _ in range(10):
        lifted(state, 3.0)
    report = lifted.report()
    assert np.abs(state - 3.0**10 * x).max() < 3.0**10 * 1e-7
    assert report.adaptations > 3 and report.saturations == 0 and report.careful_calls == 0
    assert lifted.units.exponents.max() > before + 10


def test_without_adaptation_results_saturate_and_are_counted():
    lifted = lift(kernels.growing, "fixed16", ranges=1.0, adapt=None)
    x = np.array([0.5, -0.5, 0.9, -0.9, 0.1])
    lifted(x, 4.0)
    end = 4.0 - 2.0**-13  # of a range of 1 with one bit of headroom: the factor saturates
    unit = 2.0**-13
    given = [quantize(v, "fixed:bits=32") for v in (0.5, -0.5, 0.9, -0.9, 0.1)]
    expected = [round(round(v / unit) * end) * unit for v in given]
    assert x.tolist() == expected
    assert lifted.report().saturations == 1
    lifted(np.full(7, 3.5), 1.9)
    assert lifted.report().saturations == 8
    assert lifted.report().careful_calls == 2


def test_units_are_found_anew_every_few_calls():
    lifted = lift(kernels.decay, "fixed16", adapt=4)
    state = numbers()
    for _ in range(40):
        lifted(state, 0.5)
    assert lifted.report().adaptations == 9
    assert np.abs(state).max() < 2.0**-39
    kept, frozen = lift(kernels.decay, "fixed16"), numbers()
    for _ in range(40):
        kept(frozen, 0.5)
    assert set(frozen.tolist()) <= {0.0, -(2.0**-14), 2.0**-14}  # stuck in the first call's unit


def test_places_that_are_short_of_bits_are_named():
    x = np.concatenate([numbers(), 1e-7 * numbers(), 1e-9 * numbers()])
    lifted = lift(kernels.growing, "fixed16")
    lifted(x, 0.5)
    worst = lifted.report().short[0]
    assert (worst.function, worst.text) == ("growing", "x[i] * factor")
    assert worst.bits_short == pytest.approx(math.log2(2.0**-14 / (0.5e-9 * 0.03)) - 1, abs=2)
    assert worst.lost_share == pytest.approx(2 / 3, abs=0.01)
    assert "bits short" in str(lifted.report()) and f"line {worst.line}" in str(lifted.report())
    wide = lift(kernels.growing, "fixed32")
    wide(numbers() + 2, 0.5)
    assert not wide.report().short


def test_nan_becomes_zero_and_is_counted():
    lifted = lift(kernels.growing, "fixed32", ranges=2.0, adapt=None)
    x = np.array([1.0, np.nan, -np.inf])
    lifted(x, 1.0)
    assert x.tolist() == [1.0, 0.0, -8.0]
    assert lifted.report().invalid == 1 and lifted.report().saturations == 1


def any_numbers(rng, count):
    """All exponents, and many of those that have columns of their own; zeros, infinities, NaN."""
    x = rng.uniform(1, 2, count) * 2.0 ** rng.integers(-1074, 1024, count)
    near = rng.random(count) < 0.7
    x[near] = rng.uniform(1, 2, near.sum()) * 2.0 ** rng.integers(-83, 43, near.sum())
    chosen = rng.random(count)
    for part, value in enumerate([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2.0**-80, 2.0**40]):
        x[(chosen > 0.02 * part) & (chosen < 0.02 * (part + 1))] = value
    return x * rng.choice([-1, 1], count)


@pytest.mark.parametrize("kernel", [kernels.opposite, kernels.opposite_on_threads])
def test_a_profile_tells_how_large_numbers_are(kernel):
    lifted = lift(kernel, "fp64")
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = any_numbers(rng, int(rng.choice([1, 7, 100_000])))
        profile = lifted.profile(x, np.zeros_like(x))
        operations = [profile.sites[r.site].operation for r in profile.rows]
        row = operations.index("neg")
        sizes = np.abs(x[np.isfinite(x) & (x != 0.0)])
        assert profile.largest[row] == sizes.max(initial=0.0)
        assert profile.smallest[row] == sizes.min(initial=np.inf)
        assert profile.zeros[row] == (x == 0.0).sum()
        assert profile.unusable[row] == (~np.isfinite(x)).sum()
        columns = np.clip(np.frexp(sizes)[1] - 1, -80, 39) + 80
        assert (profile.exponents[row] == np.bincount(columns, minlength=120)).all()
        assert profile.runs[row] == x.size


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        (0.0, "the range of '\\*' is 0.0; accepted: a finite number above zero"),
        ({"x": -1.0}, "the range of 'x' is -1.0"),
        ({"x": 1.0, "z": 1.0, "*": 1.0}, "no place of the kernel is called 'z'; known: .*rate"),
        ({"x": 1.0}, "places have no range, the first 'rate'"),
    ],
)
def test_ranges_are_checked(ranges, words):
    with pytest.raises(InputError, match=words):
        lift(kernels.decay, "fixed32", ranges=ranges)


@pytest.mark.parametrize("adapt", [0, -3, True, "always", 2.5])
def test_adaptation_is_checked(adapt):
    with pytest.raises(InputError, match="accepted: 'headroom', None, or a number of calls"):
        lift(kernels.decay, "fixed32", adapt=adapt)


def test_what_cannot_have_units_is_refused():
    with pytest.raises(LiftError, match="calls itself; in fixed point every call has units"):
        lift(kernels.calls_itself, "fixed32")
    words = "'f', the name of a function only inside this kernel, in fixed point"
    with pytest.raises(LiftError, match=words):
        lift(kernels.given_function, "fixed32")
    with pytest.raises(LiftError, match=words.replace("'f'", "'halved'")):
        lift(kernels.called_in_chunks, "fixed32")


@pytest.mark.parametrize("spec", ["fixed32", "fixed:bits=7,round=rd"])
def test_quantize_gives_an_array_one_unit(spec):
    x = numbers(1000) * 37.0
    fmt, rounding = (32, np.rint) if spec == "fixed32" else (7, np.floor)
    unit = 2.0 ** fixed.smallest_unit(np.abs(x).max(), fmt, 1)
    assert quantize(x, spec).tolist() == (rounding(x / unit) * unit).tolist()
