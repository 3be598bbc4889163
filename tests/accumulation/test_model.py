"""Long accumulation: exact increments, stagnation without compensation, a few u with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciprec.accumulation import accumulate
from sciprec.accumulation.increments import STREAM, increments
from sciprec.accumulation.integration import Summing, check_request
from sciprec.arrays.sums.compensation import Compensation, resolve_compensation
from sciprec.foundation.errors import InputError
from sciprec.precision import resolve_backend
from sciprec.precision.streams import philox4x32, seed_words
from tests.oracles.exact import add, round_exact

SMALL = {"updates": 500, "members": 6, "outputs": 5, "seed": 3}


def exact_increments(stream, updates, members):
    """Increments in units as Python integers, one word at a time."""
    key = seed_words(stream.seed)
    return [
        [
            stream.smallest
            + philox4x32(n // 4 % 2**32, n // 2**34, i, STREAM, *key)[n % 4] * stream.span // 2**32
            for i in range(members)
        ]
        for n in updates
    ]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 2**40) | st.integers(0, 9), st.lists(st.integers(1, 9), min_size=1),
       st.integers(1, 9), st.integers(0, 2**64 - 1))  # fmt: skip
def test_increments_are_exact_and_do_not_depend_on_blocks(start, lengths, members, seed):
    """Of any length, from anywhere on, for any number of members."""
    stream = increments(1e-7, 1e-5, 1.0, 10**7, seed)
    units = exact_increments(stream, range(start, start + sum(lengths)), members)
    found, sums = np.zeros((sum(lengths), members)), np.zeros(members, np.int64)
    last = 0
    for length in lengths:
        first, last = last, last + length
        stream.fill(start + first, sums, found[first:last])
    assert (found / stream.unit).tolist() == units
    assert sums.tolist() == np.sum(units, axis=0).tolist()


@pytest.mark.parametrize("backend", ["mlu370", "fp16"])
def test_against_scalars_with_exact_rounding(backend):
    arithmetic = resolve_backend(backend).compute
    stream = increments(1e-4, 1e-2, 1.0, SMALL["updates"], SMALL["seed"])
    found = accumulate(**SMALL, smallest=1e-4, largest=1e-2, backend=backend)
    units = exact_increments(stream, range(SMALL["updates"]), SMALL["members"])
    for i in range(SMALL["members"]):
        x, total = round_exact(1.0, arithmetic), stream.start
        for n in range(SMALL["updates"]):
            x = add(x, round_exact(units[n][i] * stream.unit, arithmetic), arithmetic)
            total += units[n][i]
        assert found.values[-1, i] == x
        assert found.exact[-1, i] == total * stream.unit


def test_fp64_is_exact():
    found = accumulate(10**5, 8, backend="fp64")
    assert np.array_equal(found.values, found.exact)
    assert found.update[0] == 0 and found.update[-1] == 10**5 and found.update.size == 51


@pytest.mark.parametrize("compensation", [None, "carry", Compensation(0.9, 0.1, 7)])
def test_output_times_change_no_bit(compensation):
    one = accumulate(**SMALL, backend="mlu370", compensation=compensation)
    two = accumulate(**(SMALL | {"outputs": 100}), backend="mlu370", compensation=compensation)
    assert np.array_equal(one.values, two.values[::20])
    assert np.array_equal(one.update, two.update[::20])


def test_mlu370_drifts_without_compensation_and_stays_within_4_u_with_it():
    plain, carried = (
        accumulate(10**5, 64, backend="mlu370", compensation=c) for c in (None, "carry")
    )
    assert plain.unit_roundoff == 2.0**-21
    # half a place of 2 u is lost by each update, of 5.05e-6 on average: 9 %
    lost = 1e5 * 2.0**-21 / 1.505
    assert np.mean(plain.error_in_u[-1]) * 2.0**-21 == pytest.approx(-lost, rel=0.05)
    assert np.max(np.abs(carried.error_in_u)) < 4


@pytest.mark.parametrize(
    ("backend", "compensation"),
    [("fixed32", None), ("fixed32", "carry"), ("fixed16", "carry"), ("fixed16", "published-15-85")],
)
def test_fixed_point_has_units_that_no_sum_leaves(backend, compensation):
    resolved, request = resolve_backend(backend), (20_000, 8, 1e-7, 1e-5, 1.0, 1)
    summing = Summing(resolved, resolve_compensation(compensation), check_request(*request), 8)
    summing.advance_to(20_000)
    report = summing.add.report()
    assert (report.saturations, report.invalid, report.adaptations) == (0, 0, 0)
    unit = 2.0 ** (1 - 31 + 1) if backend == "fixed32" else 2.0 ** (1 - 15 + 1)
    assert np.all(summing.state / unit == np.rint(summing.state / unit))
    error = np.max(np.abs(summing.state - summing.sums * summing.stream.unit)) / unit
    if compensation == "carry":  # half a unit, and the residual's own roundings
        assert error < (0.6 if backend == "fixed32" else 2.0)
    elif compensation is None:
        assert error > 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"updates": 0}, "updates is 0; accepted: a whole number from 1 to 1000000000"),
        ({"members": 10**6}, "members is 1000000; accepted: a whole number from 1 to 100000"),
        ({"updates": 10, "outputs": 11}, "outputs is 11; accepted: a whole number from 1 to 10"),
        ({"smallest": 0.0}, "increments from 0 to 1e-05, starting at 1; accepted: 0 < smallest"),
        ({"smallest": 1e-4}, "increments from 0.0001 to 1e-05, starting at 1; accepted: 0 < smal"),
        ({"start": -1.0}, "starting at -1; accepted: 0 < smallest <= largest, and a start >= 0"),
        ({"smallest": 1e-13}, "have no exact sum in binary64: the smallest must be at least 2.9"),
        ({"compensation": {"height": "carry"}}, "a long accumulation has one variable, 'paramete"),
        ({"compensation": "kahan"}, "unknown compensation 'kahan'; known: none, carry"),
        ({"backend": "fp23"}, "unknown backend 'fp23'"),
    ],
)
def test_messages(given, words):
    with pytest.raises(InputError) as caught:
        accumulate(**given)
    assert words in str(caught.value)
