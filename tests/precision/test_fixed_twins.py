"""Whole kernels in fixed point: their text rounds where the twin does, and compiled it gives every
bit of every result, and every saturation, that it gives on Python's fractions.
"""

import collections
import contextlib
from copy import deepcopy

import numpy as np
import pytest

from sciprec.climate.transform.spectral import suited
from sciprec.precision import LiftError, lift, resolve_backend
from sciprec.precision.fixed.units import Units
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import run_fixed, without_keys
from tests.precision import fixed_constructs as constructs
from tests.precision import fixed_kernels as kernels
from tests.precision.registered import registered_kernels
from tests.precision.test_twins import assert_same_bits
from tests.random_kernels.trials import flat

KERNELS = registered_kernels()
SHARES = (1.0, 0.25)
"""Of the ranges that a profile finds: all of it, and so little that many places saturate."""
OFTEN = (
    ("precision.operations.reduce.multiply_into", "fixed32"),
    ("arrays.sums.compensation.carried_update", "fixed16"),
    ("climate.transform.fourier.unfold_longitudes", "fixed32"),
    ("heston.schemes.euler.full_truncation_euler", "fixed16"),
)
"""Registered kernels that the quick tests run."""
OTHERS = (
    ("climate.transform.fft.butterfly_5", "fixed32"),
    ("climate.transform.fourier.compensated_sum_of_rows", "fixed16"),
    ("arrays.sums.summation.pairwise_sum", "fixed32"),
)
"""The slow ones, of several kinds of loops, calls and arrays."""


def numbers(count=12, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).uniform(-1, 1, count)


def zeros(count=12):
    return np.zeros(count)


def narrowed(units: Units, share: float) -> Units:
    """Units for a share of the ranges."""
    largest = np.where(units.used, units.largest, 0.0) * share
    return Units(units.backend, units.sites, units.rows, largest, units.spread, units.zero)


def assert_twin(lifted, args: tuple) -> int:
    """A call gives what its text gives, run by Python, in the units in force: results, arrays,
    counts of every place.

    Returns:
        How many results saturated.
    """
    given, expected = deepcopy(args), deepcopy(args)
    before = lifted._saturated.copy(), lifted._invalid.copy()
    result = lifted(*given)
    exact, places = run_fixed(lifted.kernel, lifted.units, expected)
    assert flat(result) == flat(exact)
    for n, (a, b) in enumerate(zip(given, expected, strict=True)):
        assert flat(a) == flat(b), f"argument {n}"
    saturated, invalid = lifted._saturated - before[0], lifted._invalid - before[1]
    for row, place, s, i in zip(lifted.units.rows, places, saturated, invalid, strict=True):
        assert (s, i) == (place.saturated, place.invalid), lifted.units.sites[row.site]
    return int(saturated.sum())


def assert_twins(kernel, backend: str, args: tuple) -> None:
    """In the units of a profile, and in those of a quarter of its ranges."""
    lifted = lift(kernel, backend, adapt=None)
    lifted.profile(*deepcopy(args))
    found, counted = lifted.units, []
    for share in SHARES:
        lifted.units = narrowed(found, share)
        counted.append(assert_twin(lifted, args))
    made_numbers = (found.used & (found.largest > 0)).any()
    assert counted[1] > counted[0] or not made_numbers


@pytest.mark.parametrize(
    ("name", "backend"), [*OFTEN, *(pytest.param(*row, marks=pytest.mark.slow) for row in OTHERS)]
)
def test_registered_kernels(name, backend):
    entry = KERNELS[f"sciprec.{name}"]
    assert_twins(suited(entry.function, resolve_backend(backend)), backend, entry.example())


def assert_text_is_that_of_floats(kernel, backend: str, args: tuple) -> None:
    """Run without rows, the text gives what the twin gives in floats."""
    floats, run = without_keys(kernel, resolve_backend(backend))
    given, expected = deepcopy(args), deepcopy(args)
    assert_same_bits(run(*given), run_twin(kernel, floats, expected), kernel.__name__)
    for n, (a, b) in enumerate(zip(given, expected, strict=True)):
        assert_same_bits(a, b, f"argument {n} of {kernel.__name__}")


def test_registered_kernels_round_where_they_do_in_floats():
    taken = 0
    for entry in list(KERNELS.values())[::3]:
        kernel = suited(entry.function, resolve_backend("fixed16"))
        with contextlib.suppress(LiftError):  # fixed point refuses it
            assert_text_is_that_of_floats(kernel, "fixed16", entry.example())
            taken += 1
    assert taken > len(KERNELS) / 6


CONSTRUCTS = {
    constructs.literals: (numbers(), zeros()),
    constructs.an_array_called_accumulator: (numbers(), numbers(seed=1), zeros(1)),
    constructs.integers: (7, numbers(), zeros()),
    constructs.stored_integers: (3, numbers(), zeros()),
    constructs.extremes: (numbers(), 1, zeros()),
    constructs.remainders: (numbers(12, 9.0), numbers(12, 2.0, 1), zeros()),
    constructs.remainders_of_zero: (numbers(12, 9.0), numbers(12, 2.0, 1), zeros()),
    constructs.copies_that_change: (numbers(), numbers(seed=1), zeros()),
    constructs.named_and_written: (numbers(), zeros()),
    constructs.whole_parts: (numbers(12, 9.0), numbers(12, 2.0, 1), zeros()),
    constructs.newton: (np.abs(numbers(12, 30.0)) + 0.1, zeros()),
    constructs.tuples: (numbers(), numbers(seed=1), zeros()),
    constructs.early: (numbers(), 0.8),
    constructs.nothing_returned: (numbers(),),
    constructs.rows: (numbers(20).reshape(4, 5), zeros(4)),
    constructs.nested: (numbers(), zeros()),
    constructs.powers: (numbers() + 2.0, zeros()),
    constructs.functions: (numbers(), zeros()),
    constructs.infinities: (numbers(), zeros(2)),
    kernels.dot: (numbers(), numbers(seed=1), zeros(1)),
    kernels.two_calls: (numbers(12, 1e-6), numbers(12, 1e6, 1), zeros()),
    constructs.sums_of_tuples: (numbers(), zeros()),
    constructs.iterated: (numbers(), numbers(seed=1), zeros()),
    constructs.views: (numbers(), zeros(11)),
    constructs.reductions: (numbers(300), numbers(300, seed=1)),
    constructs.comprehensions: (numbers(),),
    constructs.parallel: (numbers(300), zeros(300)),
    kernels.whole_arrays: (numbers(), numbers(seed=1)),
    constructs.accumulators: (numbers(), numbers(seed=1), zeros()),
    constructs.casts_inside: (numbers(), zeros()),
}
COMPILED = {
    constructs.an_array_called_accumulator: "fixed32",
    constructs.extremes: "fixed:bits=11,round=rd",
    constructs.remainders: "fixed:bits=9,saturate=no", constructs.tuples: "fixed16",
    constructs.infinities: "fixed:bits=8,saturate=no",
}  # fmt: skip
SLOW = {
    constructs.whole_parts: "fixed:bits=9,saturate=no", constructs.rows: "fixed32",
    constructs.powers: "fixed:bits=11,round=rd", constructs.functions: "fixed16",
    constructs.views: "fixed32", constructs.reductions: "fixed16", constructs.parallel: "fixed32",
    constructs.accumulators: "fixed16",
}  # fmt: skip


@pytest.mark.parametrize("backend", ["fixed16", "float:p=8,round=sr"])
@pytest.mark.parametrize("kernel", CONSTRUCTS)
def test_constructs_round_where_they_do_in_floats(kernel, backend):
    assert_text_is_that_of_floats(kernel, backend, CONSTRUCTS[kernel])


@pytest.mark.parametrize(
    ("kernel", "backend"),
    [*COMPILED.items(), *(pytest.param(*row, marks=pytest.mark.slow) for row in SLOW.items())],
)
def test_compiled_constructs(kernel, backend):
    assert_twins(kernel, backend, CONSTRUCTS[kernel])


def test_literals_far_below_the_other_operand_are_not_lost_in_a_tie():
    ranges = {"x": 1.0, "out": 1024.0, "*": 1.0}
    lifted = lift(constructs.literals, "fixed16", ranges=ranges, adapt=None)
    half = 2.0 ** lifted.units.exponents.max() / 2
    out = np.zeros(3)
    lifted(np.array([half, -half, 0.0]), out)
    assert out.tolist() == [2 * half, 0.0, 0.0]


def test_integers_far_below_the_other_operand_are_not_lost_in_a_tie():
    lifted = lift(constructs.integers, "fixed32", ranges=2.0**60, adapt=None)
    unit, x, out = 2.0 ** lifted.units.exponents.max(), 2.0**60, np.zeros(1)
    lifted(int(unit) // 2 + 1, np.array([x]), out)
    assert out[0] == x + unit
    lifted(int(unit) // 2 - 1, np.array([x]), out)
    assert out[0] == x


def test_integers_stored_into_an_array_are_in_its_unit():
    lifted, out = lift(constructs.stored_integers, "fixed16", ranges=1.0, adapt=None), np.zeros(3)
    lifted(100, np.zeros(3), out)
    end = 4.0 - 2.0**-13
    assert out.tolist() == [0.0, end, end]
    assert lifted.report().saturations == 2


def test_a_remainder_is_counted_once():
    ranges = {"x": 8.0, "y": 2.0, "*": 1.0}
    lifted, out = lift(constructs.remainders, "fixed16", ranges=ranges, adapt=None), np.zeros(2)
    lifted(np.array([5.5, -0.25]), np.array([2.0, 2.0]), out)  # 1.5 and 2 - 0.25
    assert out.tolist() == [3.0, 1.5]
    assert lifted.report().saturations == 0


# ---- what a repeated call starts from ------------------------------------------------------------


def assert_grows(kernel, *between, x=None, wrapped=lambda x: x):
    """A second call, with 200 times the gain, leaves the ranges of the first."""
    lifted = lift(kernel, "fixed32")
    x = numbers() if x is None else x
    first, second = x.copy(), x.copy()
    lifted(wrapped(first), *between, 1.5)
    lifted(wrapped(second), *between, 300.0)
    assert lifted.report().adaptations >= 1 and lifted.report().saturations == 0
    assert np.abs(second - 300.0 * x).max() < 301 * 2.0 ** lifted.units.exponents.max()


def test_views_by_slices_that_are_values():
    assert_grows(constructs.through_a_slice)
    assert_grows(constructs.through_a_given_slice, slice(0, 12))


def test_views_by_a_new_axis():
    assert_grows(constructs.through_a_new_axis, x=numbers().reshape(1, 12))


def test_arrays_in_tuples():
    assert_grows(constructs.through_a_tuple, wrapped=lambda x: (x, 3))


def test_arrays_that_cannot_be_written_are_left_alone():
    weights = np.broadcast_to(0.25, 4)
    assert_grows(constructs.through_calls, weights, x=numbers().reshape(3, 4))


def test_arrays_that_overlap():
    """Each element becomes a multiple of the one before, which only overlapping arrays do."""
    memory = np.ones(9)
    lifted = lift(constructs.in_two_arrays, "fixed32")
    lifted(memory[:-1], memory[1:], 1.0)
    lifted(memory[:-1], memory[1:], 4.0)
    assert memory.tolist() == [4.0**n for n in range(9)]
    assert lifted.report().saturations == 0 and lifted.report().adaptations >= 1


def test_profiles_keep_what_arrays_share():
    memory = np.ones(12)
    lifted = lift(constructs.in_two_arrays, "fixed32")
    profile = lifted.profile(memory[:-1], memory[1:], 4.0)
    assert profile.largest.max() == 4.0**11 and (memory == 1.0).all()
    reverse = memory[::-1]
    assert lifted.profile(memory, reverse, 3.0).largest.max() == 9.0


def test_exceptions_of_numbers_beyond_their_ranges_are_not_raised():
    x, out = np.array([0.5, 3.0, 0.25]), np.zeros(3)
    saturating = lift(constructs.raises_above, "fixed16", ranges=1.0, adapt=None)
    saturating(x, 3.99999, out)  # 9 would be above the limit, the end of the range is not
    assert out.tolist() == [0.25, 4.0 - 2.0**-13, 0.0625]
    assert saturating.report().saturations == 1 + 1  # the limit, too


def test_exceptions_are_raised_as_they_are_and_counted():
    lifted = lift(constructs.raises_above, "fixed16", ranges=1.0, adapt=None)
    out = np.zeros(3)
    with pytest.raises(ValueError, match="above the limit"):
        lifted(np.array([0.5, 3.0, 0.25]), 0.5, out)
    assert out.tolist() == [0.25, 4.0 - 2.0**-13, 0.0]
    assert lifted.report().saturations == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_no_unit_can_hold_changes_no_unit(bad):
    lifted = lift(kernels.growing, "fixed32")
    lifted(numbers(), 0.5)
    before = lifted.units.exponents.copy()
    x = np.array([bad, 0.5])
    lifted(x, 0.5)
    assert x[1] == 0.25 and np.isfinite(x[0])
    report = lifted.report()
    assert (lifted.units.exponents == before).all() and report.adaptations == 0
    assert report.saturations + report.invalid == 1 and report.careful_calls == 1


def test_infinities_do_not_hide_what_can_be_held():
    lifted = lift(kernels.growing, "fixed32")
    lifted(numbers(), 0.5)
    x = np.array([np.inf, 50.0])
    lifted(x, 0.5)
    assert x[1] == 25.0 and lifted.report().adaptations == 1


def test_numbers_near_the_end_of_binary64_saturate():
    lifted = lift(kernels.growing, "fixed32")
    x = np.array([1e308, -1e300])
    lifted(x, 0.5)
    end = 2.0**931  # of the coarsest unit, 2^900
    assert x.tolist() == pytest.approx([end / 2, -end / 2], rel=2.0**-29)
    assert lifted.report().saturations == 2


def test_functions_are_refused_as_arguments():
    lifted = lift(constructs.unused, "fixed32")
    with pytest.raises(LiftError, match="is given the function 'pair'; in fixed point it takes"):
        lifted(constructs.pair, np.ones(3))


def test_tuples_with_fields_of_any_name():
    fields = collections.namedtuple("Fields", "size shape")
    assert_grows(constructs.through_fields, wrapped=lambda x: fields(x, 3))
