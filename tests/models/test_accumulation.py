"""Long accumulation: exact increments, stagnation without compensation, a few u with it."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sciprec
from sciprec.arrays.sums.compensation import Compensation
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from sciprec.precision.streams import philox4x32, seed_words
from sciprec.workbench.kinds.kind import kind_called
from sciprec.workbench.models import ModelArithmetic
from tests.oracles.exact import add, round_exact

SMALL = {"updates": 500, "members": 6, "outputs": 5, "seed": 3}
USUAL = {"members": 8, "smallest": 1e-7, "largest": 1e-5}


@pytest.fixture(scope="module")
def example():
    """The file of the example."""
    kind_called("accumulation")
    return sys.modules["sciprec_plugin_accumulation"]


@pytest.fixture
def summed(example):
    """A function that runs the model: its dataset, and its arithmetic."""

    def run(backend, compensation=None, **sums):
        arithmetic = ModelArithmetic(backend, compensation)
        return example.accumulation(example.Sums(**(USUAL | sums)), arithmetic), arithmetic

    return run


def exact_increments(example, sums, updates):
    """Increments in units as Python integers, one word at a time."""
    key, (smallest, largest) = seed_words(sums.seed), sums.units
    return [
        [
            smallest + philox4x32(n // 4 % 2**32, n // 2**34, i, example.STREAM, *key)[n % 4]
            * (largest - smallest + 1) // 2**32
            for i in range(sums.members)
        ]
        for n in updates
    ]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 2**40) | st.integers(0, 9), st.lists(st.integers(1, 9), min_size=1),
       st.integers(1, 9), st.integers(0, 2**63 - 1))  # fmt: skip
def test_increments_are_exact_and_do_not_depend_on_blocks(example, start, lengths, members, seed):
    """Of any length, from anywhere on, for any number of members."""
    sums = example.Sums(10**7, members, 1e-7, 1e-5, seed=seed)
    units = exact_increments(example, sums, range(start, start + sum(lengths)))
    found, exact = np.zeros((sum(lengths), members)), np.zeros(members, np.int64)
    words, (smallest, largest) = np.zeros((4, members), np.int64), sums.units
    draw, last = sciprec.lift(example.draw, "fp64"), 0
    for length in lengths:
        first, last = last, last + length
        draw(start + first, *seed_words(seed), smallest, largest - smallest + 1, sums.unit, words,
             exact, found[first:last])  # fmt: skip
    assert (found / sums.unit).tolist() == units
    assert exact.tolist() == np.sum(units, axis=0).tolist()


@pytest.mark.parametrize("backend", ["mlu370", "fp16"])
def test_against_scalars_with_exact_rounding(example, summed, backend):
    arithmetic = resolve_backend(backend).compute
    table = SMALL | {"smallest": 1e-4, "largest": 1e-2}
    found = summed(backend, **table)[0]["parameter"].values[-1]
    sums = example.Sums(**table)
    units = exact_increments(example, sums, range(sums.updates))
    truth = summed("fp64", **table)[0]["parameter"].values[-1]
    for i in range(sums.members):
        x, total = round_exact(1.0, arithmetic), round(1.0 / sums.unit)
        for n in range(sums.updates):
            x = add(x, round_exact(units[n][i] * sums.unit, arithmetic), arithmetic)
            total += units[n][i]
        assert (found[i], truth[i]) == (x, total * sums.unit)


@pytest.mark.parametrize("compensation", [None, "carry", Compensation(0.9, 0.1, 7)])
def test_output_times_change_no_bit_and_fp64_is_exact(summed, compensation):
    for backend in ("mlu370", "fp64"):
        one = summed(backend, compensation, **SMALL)[0]
        two = summed(backend, compensation, **(SMALL | {"outputs": 100}))[0]
        assert one["update"].values.tolist() == [0, 100, 200, 300, 400, 500]
        for name in one:
            assert np.array_equal(one[name].values, two[name].values[::20])
        assert one["largest_error_in_u"].any() == (backend == "mlu370")


def test_mlu370_drifts_without_compensation_and_stays_within_4_u_with_it(summed):
    of = {"updates": 10**5, "members": 64}
    plain, carried = (summed("mlu370", c, **of)[0] for c in (None, "carry"))
    assert plain.attrs["unit_roundoff"] == 2.0**-21
    # half a place of 2 u is lost by each update, of 5.05e-6 on average: 9 %
    lost = 1e5 * 2.0**-21 / 1.505
    assert plain["mean_error_in_u"].values[-1] * 2.0**-21 == pytest.approx(-lost, rel=0.05)
    assert carried["largest_error_in_u"].max() < 4


@pytest.mark.parametrize(
    ("backend", "compensation"),
    [("fixed32", None), ("fixed32", "carry"), ("fixed16", "carry"), ("fixed16", "published-15-85")],
)
def test_fixed_point_has_units_that_no_sum_leaves(summed, backend, compensation):
    made, arithmetic = summed(backend, compensation, updates=20_000, outputs=1)
    (report,) = (kernel.report() for kernel in arithmetic.lifted)
    assert (report.saturations, report.invalid, report.adaptations) == (0, 0, 0)
    assert arithmetic.fixed_point["places_short_of_bits"] is None  # nobody has looked
    unit, found = 2.0 ** (3 - int(backend.removeprefix("fixed"))), made["parameter"].values[-1]
    assert np.all(found / unit == np.rint(found / unit))
    exact = summed("fp64", updates=20_000, outputs=1)[0]["parameter"].values[-1]
    error = np.max(np.abs(found - exact)) / unit
    if compensation == "carry":  # half a unit, and the residual's own roundings
        assert error < (0.6 if backend == "fixed32" else 2.0)
    elif compensation is None:
        assert error > 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"updates": 0}, "updates' was given 0 (a whole number); accepted: a whole number >= 1"),
        ({"members": 10**6}, "members' was given 1000000 (a whole number); accepted: a whole num"),
        ({"updates": 10, "outputs": 11}, "outputs is 11; accepted: at most updates, which is 10"),
        ({"smallest": 0.0}, "smallest' was given 0.0 (a number); accepted: a number > 0 and <= "),
        ({"smallest": 1e-4}, "smallest is 0.0001; accepted: at most largest, which is 1e-05"),
        ({"start": -1.0}, "start' was given -1.0 (a number); accepted: a number >= 0 and <= 1e"),
        ({"updates": 10**7, "smallest": 1e-13}, "have no exact sum in binary64: the smallest must"),
    ],
)
def test_messages(changes, words):
    content = {"name": "x", "title": "x", "source": "x", "backends": ["fp32"]}
    content |= {"kind": "accumulation", "accumulation": USUAL | {"updates": 100} | changes}
    with pytest.raises(InputError) as caught:
        sciprec.load_scenario(content)
    assert words in str(caught.value)


def test_members_of_an_ensemble_begin_elsewhere(example):
    """Each sum does, and its exact sum with it."""
    of = {"member": 3, "amplitude": 1e-3}
    made = [
        example.accumulation(example.Sums(**(USUAL | SMALL)), ModelArithmetic("fp64", **how))
        for how in ({}, of)
    ]
    first, other = (one["parameter"].values for one in made)
    assert 0 < np.abs(other[0] - 1.0).min() and np.abs(other[0] - 1.0).max() < 1e-3
    assert np.ptp(other[0]) and not made[1]["largest_error_in_u"].any()
    np.testing.assert_allclose(other - other[0], first - first[0], atol=1e-15)


def test_the_room_that_was_there_says_where_it_is():
    """Its functions stood in a package, and pickles and scripts still name it."""
    words = "'sciprec.accumulation' is an example now, examples:accumulation.py"
    for code in ("import sciprec.accumulation", "from sciprec.accumulation import accumulate"):
        with pytest.raises(ImportError, match=words):
            exec(code, {})
    with pytest.raises(AttributeError, match=words):
        _ = sciprec.accumulation
