"""Whole kernels in fixed point: their text rounds where the twin does (of others the corpus shows
it), and compiled it gives every bit of every result, and every saturation, that it gives on
Python's fractions.
"""

import contextlib
from copy import deepcopy

import numpy as np
import pytest

from sciprec.climate.transform.spectral import suited
from sciprec.precision import LiftError, lift, resolve_backend
from tests.oracles.twin import run_twin
from tests.oracles.uncompiled import run_fixed, without_keys
from tests.precision import fixed_kernels as kernels
from tests.precision.comparison import assert_same
from tests.precision.registered import registered_kernels
from tests.precision.test_corpus import CORPUS
from tests.random_kernels.trials import SHARES, flat, narrowed

KERNELS = registered_kernels()
OFTEN = (
    ("precision.operations.reduce.multiply_into", "fixed32"),
    ("heston.schemes.euler.full_truncation_euler", "fixed16"),
)
"""Registered kernels that the quick tests run."""
OTHERS = (("climate.transform.fourier.compensated_sum_of_rows", "fixed16"),)
"""The slow one."""


def numbers(count=12, scale=1.0, seed=0):
    return scale * np.random.default_rng(seed).uniform(-1, 1, count)


def zeros(count=12):
    return np.zeros(count)


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
    result = run(*given)
    assert_same((result, given), (run_twin(kernel, floats, expected), expected), kernel.__name__)


def test_registered_kernels_round_where_they_do_in_floats():
    taken = 0
    for entry in list(KERNELS.values())[::6]:
        kernel = suited(entry.function, resolve_backend("fixed16"))
        with contextlib.suppress(LiftError):  # fixed point refuses it
            assert_text_is_that_of_floats(kernel, "fixed16", entry.example())
            taken += 1
    assert taken > len(KERNELS) / 12


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("arrays.rows", "fixed:bits=11,round=rd"),
        ("constructs.starred", "fixed:bits=9,saturate=no"),
        pytest.param("loops.parallel_thirds", "fixed16", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_kernels_of_the_corpus(name, backend):
    entry = CORPUS[name]
    assert_twins(entry.kernel, backend, entry.make())


def test_literals_far_below_the_other_operand_are_not_lost_in_a_tie():
    ranges = {"x": 1.0, "out": 1024.0, "*": 1.0}
    lifted = lift(kernels.literals, "fixed16", ranges=ranges, adapt=None)
    half = 2.0 ** lifted.units.exponents.max() / 2
    out = np.zeros(3)
    lifted(np.array([half, -half, 0.0]), out)
    assert out.tolist() == [2 * half, 0.0, 0.0]


def test_integers_far_below_the_other_operand_are_not_lost_in_a_tie():
    lifted = lift(kernels.integers, "fixed32", ranges=2.0**60, adapt=None)
    unit, x, out = 2.0 ** lifted.units.exponents.max(), 2.0**60, np.zeros(1)
    lifted(int(unit) // 2 + 1, np.array([x]), out)
    assert out[0] == x + unit
    lifted(int(unit) // 2 - 1, np.array([x]), out)
    assert out[0] == x


def test_integers_stored_into_an_array_are_in_its_unit():
    lifted, out = lift(kernels.stored_integers, "fixed16", ranges=1.0, adapt=None), np.zeros(3)
    lifted(100, np.zeros(3), out)
    end = 4.0 - 2.0**-13
    assert out.tolist() == [0.0, end, end]
    assert lifted.report().saturations == 2


# ---- what a repeated call starts from ------------------------------------------------------------


def test_arrays_that_overlap():
    """Each element becomes a multiple of the one before, which only overlapping arrays do."""
    memory = np.ones(9)
    lifted = lift(kernels.in_two_arrays, "fixed32")
    lifted(memory[:-1], memory[1:], 1.0)
    lifted(memory[:-1], memory[1:], 4.0)
    assert memory.tolist() == [4.0**n for n in range(9)]
    assert lifted.report().saturations == 0 and lifted.report().adaptations >= 1


def test_exceptions_of_numbers_beyond_their_ranges_are_not_raised():
    x, out = np.array([0.5, 3.0, 0.25]), np.zeros(3)
    saturating = lift(kernels.raises_above, "fixed16", ranges=1.0, adapt=None)
    saturating(x, 3.99999, out)  # 9 would be above the limit, the end of the range is not
    assert out.tolist() == [0.25, 4.0 - 2.0**-13, 0.0625]
    assert saturating.report().saturations == 1 + 1  # the limit, too


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
