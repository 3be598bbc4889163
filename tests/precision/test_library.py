"""NumPy's functions that the engine has as kernels of its own: their order, their exceptions and
what they refuse. Their bits are looked at in the corpus.
"""

import inspect

import numpy as np
import pytest

from sciprec.precision import lift
from sciprec.precision.library.table import LIBRARY
from sciprec.precision.rewriting.syntax import LiftError
from tests.oracles.uncompiled import Uncompiled
from tests.precision.comparison import has_mode, numbers_of
from tests.precision.corpus import numbers
from tests.precision.ways import ways


def in_orders(x):
    return np.var(x), np.std(x), np.median(x), np.ptp(x), np.sum(x), np.mean(x), np.diff(x)


@ways("size", [1, 2, 3, 8, 130, 1000], compiled=[130])
def test_binary64_is_numpys(size, lifted):
    """In NumPy's order: the same bits, but for the last one of std."""
    x = numbers(size, size)
    found, expected = numbers_of(lifted(in_orders, "fp64")(x)), numbers_of(in_orders(x))
    np.testing.assert_allclose(found, expected, rtol=3e-16)


def asks_for_an_end(x):
    return np.linspace(x[0], x[1], 5, True)


def asks_for_a_type(x):
    return np.tri(3, dtype=np.float32)


def asks_for_a_method(x):
    return np.percentile(x, 30, method="nearest")


def asks_for_no_percentage(x):
    return np.percentile(x, None)


def asks_for_another_mode(x):
    return np.convolve(x, x, "half")


def asks_for_an_axis(x):
    return np.mean(x, axis=0)


def asks_for_a_scalar(x):
    return isinstance(x, np.generic)


ARGUMENTS = "with these arguments cannot be lifted; it takes {}"


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (asks_for_an_end, ARGUMENTS.format(r"\(start, stop, num\)")),
        (asks_for_a_type, ARGUMENTS.format(r"\(N, M, k\)")),
        (asks_for_a_method, ARGUMENTS.format(r"\(a, q\)")),
        (asks_for_no_percentage, ARGUMENTS.format(r"\(a, q\)")),
        (asks_for_another_mode, "line [0-9]+.: .*; .*the modes are full, same, valid"),
        (asks_for_an_axis, "line [0-9]+.: .*; .*np.sum and np.cumsum take an axis"),
        (asks_for_a_scalar, "line [0-9]+.: .*; .*ask for int, float, bool"),
    ],
)
def test_what_numba_has_not_is_refused_with_advice(kernel, said):
    with pytest.raises(LiftError, match=said):
        lift(kernel, "fp16")


def test_the_table_holds_kernels_of_the_same_arguments():
    for function, kernel in LIBRARY.items():
        if function in (round, divmod) or isinstance(function, np.ufunc):
            continue
        try:
            theirs = list(inspect.signature(function).parameters)
        except ValueError:
            continue
        mine = list(inspect.signature(kernel).parameters)
        assert mine == theirs[: len(mine)], function


def nothing(x):
    return np.nanquantile(x, 0.5), np.median(x), np.trapezoid(x), np.cumprod(x), np.diff(x)


def percentile_of_nothing(x):
    return np.percentile(x, 50)


def beyond(x):
    return np.percentile(x, 101.0)


def unpaired(x):
    return np.interp(0.5, x, x[1:])


def third_tenths(x):
    return np.quantile(x, 0.3)


@has_mode
@pytest.mark.parametrize("rounding", ["rd", "ru"])
def test_places_are_found_to_nearest_in_every_rounding(rounding):
    """A rank of 1 + 3 (0.3 100 / 100), whose part is what the processor's mode would move."""
    x = np.array([0.0, 1.0, 3.0, 4.0])
    found = lift(third_tenths, f"float:p=53,emin=-1022,emax=1023,round={rounding}")(x)
    part = 1 + 3 * (0.3 * 100 / 100.0) - 1
    assert abs(found - part) <= np.spacing(part)  # 0 (1 - part) + 1 part
    assert found == 0.0 * (1.0 - part) + 1.0 * part


def test_empty_arrays_and_wrong_arguments():
    """Of nothing the median is NaN; what NumPy raises for is raised."""
    middle, other, area, products, differences = Uncompiled(nothing, "fp16")(np.empty(0))
    assert np.isnan(middle) and np.isnan(other) and area == 0.0
    assert products.size == differences.size == 0
    for kernel, said in ((beyond, "outside 0 to 100"), (unpaired, "as many points as values")):
        with pytest.raises(ValueError, match=rf"^{place_of(kernel, 1)}: .*{said}"):
            lift(kernel, "fp16")(numbers(1, 9))
    with pytest.raises(IndexError, match=rf"^{place_of(percentile_of_nothing, 1)}: .* of no elem"):
        lift(percentile_of_nothing, "fp16")(np.empty(0))


def first_of(x):
    return np.argmin(x)


def ends(x, y):
    if y[0] < 0.0:
        raise ValueError("the largest one below zero")
    size = np.ptp(y)
    return size + x.max() if size else first_of(x)


def place_of(kernel, line):
    line += kernel.__code__.co_firstlineno
    return rf"kernel '{kernel.__name__}' \(test_library.py, line {line}\)"


def test_exceptions_name_the_lines_that_they_may_come_from():
    """Of two calls both; a kernel's own exceptions are as they were."""
    lifted, nothing = lift(ends, "fp16"), np.empty(0)
    both = f"^{place_of(ends, 3)} or {place_of(ends, 4)}: the largest element of an empty array$"
    for x, y, words in [
        (nothing, np.array([1.0, 2.0]), both), (nothing, np.ones(2), f"^{place_of(first_of, 1)}: "),
        (nothing, -np.ones(1), "^the largest one below zero$"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=words):
            lifted(x, y)
