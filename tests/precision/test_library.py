"""NumPy's functions that the engine has as kernels of its own: exact against the oracle in every
arithmetic, in binary64 against NumPy.
"""

import math

import numba
import numpy as np
import pytest

from sciprec.precision import lift, resolve_backend
from sciprec.precision.library.table import LIBRARY
from sciprec.precision.rewriting import symbols
from sciprec.precision.rewriting.syntax import LiftError
from tests.oracles.twin import run_twin
from tests.precision.comparison import has_mode


def angles(x, out):
    for i in range(x.size):
        out[i] = np.radians(x[i]) + np.deg2rad(x[i]) * math.radians(x[i])
        out[i] += np.degrees(x[i]) - np.rad2deg(x[i]) * math.degrees(x[i])


def whole_angles(x):
    return np.deg2rad(x)


def halves(x, out):
    for i in range(x.size):
        q, r = divmod(x[i], 0.3)
        out[i] = np.round(2.0 * x[i]) + round(3.0 * x[i]) * q + r


def clipped(x):
    return np.clip(x, -0.5, a_max=0.25)


def clipped_number(x):
    return np.clip(x[0], -0.1, 0.1)


def moments(x):
    return np.var(x), np.std(x), x.var(), x.std(), np.median(x), np.ptp(x)


def of_nan(x):
    y = x.copy()
    y[0] = np.nan
    return np.nansum(y), np.nanmean(y), np.nanmax(y), np.nanmin(y)


def differences(x):
    return np.diff(x)


def products(x):
    return np.outer(x, 0.5 * x)


def in_a_tuple(x):
    """Sums, of nothing too, are of one type with other numbers, as in plain Numba."""
    sums = (x[0] * 0.7, np.sum(x), x[:0].sum(), np.nansum(x), np.trapezoid(x), np.trace(np.eye(3)))
    s = 0.3
    for value in sums:
        s += value
    return s, sum(sums), sums[x.size // 3]


def turned(x):
    return np.cross(x[:3], x[1:4])


def diagonals(x):
    scaled = np.eye(3, dtype=np.float64) * x[0]
    square = np.outer(x[0], x[1]) + np.outer(x[2], x)
    return np.trace(np.outer(x, x)), scaled, np.eye(2, 3, k=1) + np.identity(3)[:2], square


def points(x):
    return np.linspace(x[0], x[1], 7), np.linspace(0.1, 0.7, num=1), np.linspace(x[0], 3, 2)


def sums_along(x):
    return np.sum(x, axis=0), np.sum(x, 1), x.sum(axis=-1), np.cumsum(x, axis=0), x.cumsum(1)


def sums_of_all(x):
    return np.cumsum(x), np.sum(x, axis=None), x.sum(dtype=np.float64), np.cumprod(x)


def ranks(x):
    three = np.percentile(x, np.array([10.0, 50.0, 99.0]))
    return np.percentile(x, 30.0), np.percentile(x, 100), np.quantile(x, 0.25), three


def ranks_of_numbers(x):
    y = x.copy()
    y[1] = np.nan
    known = np.nanmedian(y), np.nanquantile(y, 0.6), np.nanpercentile(y, 40)
    return np.percentile(y, 20), np.median(y), known[0], known[1], known[2]


def ranges(x):
    whole = np.arange(5) + x[0]
    return np.arange(x[0], 2.0, 0.25), np.arange(5, dtype=np.float64), whole, np.arange(0.5, 2)


def interpolated(x):
    points = np.linspace(-1.0, 1.0, 6)
    return np.interp(x, points, points * points), np.interp(x[2], points, points)


def numbers_only(x):
    y = x.copy()
    y[2] = np.nan
    sums = np.nancumsum(y) + np.nancumprod(y)
    means = np.average(x) * np.average(x, weights=x * x)
    return np.nanvar(y), np.nanstd(y), np.nanprod(y), sums, means


def close_ones(x):
    y = 1.001 * x
    return np.isclose(x, y, 1e-2), np.allclose(x, y), np.isclose(x[0], y[0]), np.isclose(x, x[0])


def triangles(x):
    m = np.outer(x, x)
    return np.tril(m), np.triu(m, 1), np.tri(3, k=1), np.triu(x[:3]), np.tri(2, 4, -1)


def powers(x):
    pair = x[:3].reshape(3, 1)
    return np.kron(pair, pair), np.vander(x, 3), np.vander(x[:2], increasing=True), np.kron(x, x)


def sequences(x):
    areas = np.trapezoid(x) + np.trapezoid(x, dx=0.1)
    return areas, np.trapezoid(x, x * x), np.ediff1d(x), np.diff(x, 2)


def slid(x):
    full, same = np.convolve(x, x[:3]), np.convolve(x[:3], x, "same")
    return full, same, np.correlate(x, x[:2]), np.correlate(x[:2], x, mode="full")


def decimals(x):
    return np.round(x, 2), round(x[0], 1), np.round(x[1], -1), np.around(x), np.clip(x, None, 0.3)


def moved(x):
    m = np.outer(x[:3], x[:2])
    total = 0.0
    for (i, j), element in np.ndenumerate(m):
        total += element * (i - j)
    return np.take(x, np.array([2, 0])), np.append(x, x[0]), np.fliplr(m) * 0.5, total


def gathered(x):
    places, m = np.array([0, 2, 2, 1, 0, 4, 4, 4, 1]), np.outer(x[:3], x[:2])
    np.fill_diagonal(m, x[3])
    three = sum((x[0], x[1], x[2]))
    return np.bincount(places, x), np.bincount(places)[2] * x[0], m, sum(x), three


def strided(x):
    total, windows = 0.0, np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8))
    for i, j in numba.pndindex((3, 2)):
        total += windows[i, j] * windows[i, 0]
    for pair in np.lib.stride_tricks.sliding_window_view(x, 2):
        total += pair[0] * pair[1]
    return total * np.bincount(np.array([1, 1]), minlength=4)[1]


def kinds(x):
    total = 0.0
    if isinstance(x[0], float):
        total += x[0]
    if isinstance(x, (int, float)):
        total += 1.0
    return total


def casts(x):
    return numba.float64(x[0]) * numba.float32(x[1]) + np.finfo(np.float64).eps * x[2]


def places(x):
    total = 0.0
    for i, j in np.ndindex(2, 2):
        total += x[i + 2 * j] * (i - j)
    return total, np.flipud(x), np.atleast_2d(x).shape[0]


KERNELS = (
    whole_angles, clipped, moments, clipped_number, of_nan, differences, products, turned,
    diagonals, points, casts, places, sums_of_all, ranks, ranks_of_numbers, ranges, interpolated,
    numbers_only, close_ones, triangles, powers, sequences, slid, decimals, moved, kinds, gathered,
    in_a_tuple,
)  # fmt: skip
STORING = (angles, halves)


def numbers(seed, shape=(9,)):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, shape) * 2.0 ** rng.integers(-6, 3, shape)


def exactly(kernel, backend, *args):
    return run_twin(kernel, resolve_backend(backend), args)


def same(found, expected):
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
        return
    np.testing.assert_array_equal(found, expected)


def assert_exact(kernel):
    """In one of two arithmetics, in turn."""
    seed = KERNELS.index(kernel)
    backend, given = ("fp16", "mlu370")[seed % 2], numbers(seed)
    same(lift(kernel, backend)(given.copy()), exactly(kernel, backend, given.copy()))


QUICK = (moments, ranks_of_numbers, interpolated, in_a_tuple)


def test_some_functions_are_exact():
    for kernel in QUICK:
        assert_exact(kernel)


@pytest.mark.slow
def test_every_other_function_is_exact():
    for kernel in KERNELS:
        if kernel not in QUICK:
            assert_exact(kernel)
    for seed, kernel in enumerate(STORING):
        found, expected = np.zeros(9), np.zeros(9)
        given = numbers(seed + 50)
        lift(kernel, "fp16")(given.copy(), found)
        exactly(kernel, "fp16", given.copy(), expected)
        same(found, expected)


@pytest.mark.slow
def test_rows_go_as_numpy_has_them():
    """The lifted kernel is the oracle's in fp16, and the oracle in binary64 is NumPy."""
    for seed, kernel in enumerate((moments, differences, sums_along, sums_of_all)):
        given = numbers(seed, (3, 4))
        if kernel is sums_of_all:
            close = lift(kernel, "fp64")(given.copy())
        else:
            same(lift(kernel, "fp16")(given.copy()), exactly(kernel, "fp16", given.copy()))
            close = exactly(kernel, "fp64", given.copy())
        for one, other in zip(close, kernel(given), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 130, 1000])
def test_binary64_is_numpys(size):
    """In NumPy's order: the same bits, but for std's last one."""
    given = numbers(size, (size,))
    for kernel in (moments, differences, products):
        found, expected = lift(kernel, "fp64")(given.copy()), kernel(given)
        for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=3e-16)
    np.testing.assert_array_equal(
        lift(points, "fp64")(np.array([0.1, 0.7]))[0], np.linspace(0.1, 0.7, 7)
    )


def test_a_median_with_nan_is_nan():
    given = np.array([1.0, np.nan, 2.0])
    assert np.isnan(lift(moments, "fp16")(given)[4])


@pytest.mark.slow
def test_numpy_itself_agrees():
    given = numbers(3)
    for kernel in (clipped, turned, points):
        same(lift(kernel, "fp64")(given.copy()), kernel(given.copy()))


@pytest.mark.slow
def test_fixed_point_has_them():
    given = np.linspace(-0.9, 0.8, 9)
    for one, other in zip(lift(moments, "fixed32")(given.copy()), moments(given), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-8)
    np.testing.assert_allclose(lift(products, "fixed32")(given), products(given), atol=1e-8)


def asks_for_an_end(x):
    return np.linspace(x[0], x[1], 5, True)


def asks_for_a_type(x):
    return np.tri(3, dtype=np.float32)


def asks_for_a_method(x):
    return np.percentile(x, 30, method="nearest")


def asks_for_no_percentage(x):
    return np.percentile(x, None)


@pytest.mark.parametrize(
    ("kernel", "takes"),
    [
        (asks_for_an_end, r"\(start, stop, num\)"), (asks_for_a_type, r"\(N, M, k\)"),
        (asks_for_a_method, r"\(a, q\)"), (asks_for_no_percentage, r"\(a, q\)"),
    ],
)  # fmt: skip
def test_other_arguments_are_refused_with_those_that_are_taken(kernel, takes):
    with pytest.raises(LiftError, match=f"with these arguments cannot be lifted; it takes {takes}"):
        lift(kernel, "fp16")


def test_the_table_holds_kernels_of_the_same_arguments():
    import inspect

    for function, kernel in LIBRARY.items():
        if function in (round, divmod) or isinstance(function, np.ufunc):
            continue
        try:
            theirs = list(inspect.signature(function).parameters)
        except ValueError:
            continue
        mine = list(inspect.signature(kernel).parameters)
        assert mine == theirs[: len(mine)], function


def asks_for_another_mode(x):
    return np.convolve(x, x, "half")


def asks_for_an_axis(x):
    return np.mean(x, axis=0)


def asks_for_a_scalar(x):
    return isinstance(x, np.generic)


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (asks_for_another_mode, "the modes are full, same, valid"),
        (asks_for_an_axis, "np.sum and np.cumsum take an axis"),
        (asks_for_a_scalar, "ask for int, float, bool"),
    ],
)
def test_what_numba_has_not_is_refused_with_advice(kernel, said):
    with pytest.raises(LiftError, match=f"line [0-9]+.: .*; .*{said}"):
        lift(kernel, "fp16")


def nothing(x):
    return np.nanquantile(x, 0.5), np.median(x), np.trapezoid(x), np.cumprod(x), np.diff(x)


def percentile_of_nothing(x):
    return np.percentile(x, 50)


def quantile_of_nothing(x):
    return np.quantile(x, 0.5)


def beyond(x):
    return np.percentile(x, 101.0)


def a_quarter(x):
    return np.quantile(x, 0.25), np.nanquantile(x, 0.25)


def to_three_tenths(x):
    return np.arange(x[0], x[1], x[2]), np.nanquantile(x[3:], 0.8)


def unpaired(x):
    return np.interp(0.5, x, x[1:])


def test_a_quantile_of_a_format_that_ends_below_a_hundred():
    """The percentage 100 q is no number of the format."""
    x = np.array([4.0, 1.0, 3.0, 2.0, 0.5])
    assert lift(a_quarter, "float:p=2,emin=-4,emax=4")(x) == (1.0, 1.0)


def test_places_are_those_of_binary64_also_where_numbers_are_binary32():
    """0.3 / 0.1 is above 3 in binary64 for these numbers of 24 bits, and 3 in binary32."""
    x = np.float32([0.0, 0.3, 0.1, -1.7, 2049.0, -1.7])
    found, rank = lift(to_three_tenths, "fp32")(x)
    assert found.size == np.arange(0.0, float(x[1]), float(x[2])).size == 4
    part = np.float32(2 * float(np.float32(0.8)) % 1)
    assert rank == np.float32(np.float32(x[3] * (1 - part)) + np.float32(x[4] * part))


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


def to_places(x, out):
    out[0], out[1], out[2] = round(x, 1), np.round(x, 3), round(x, -1)


@has_mode
@pytest.mark.parametrize("rounding", ["rd", "ru", "rz"])
def test_powers_of_ten_are_whole_numbers_where_powers_are_within_a_unit(rounding):
    """The power 10^1 is 9.999999999999998 downward in 53 bits (found by a random kernel)."""
    backend = f"float:p=53,emin=-1022,emax=1023,round={rounding}"
    for x in (-0.6, 0.6, 123.4567, -15.0):
        found, expected = np.zeros(3), np.zeros(3)
        lift(to_places, backend)(x, found)
        exactly(to_places, backend, x, expected)
        assert found.tolist() == expected.tolist()


def test_empty_arrays_and_wrong_arguments():
    """Of nothing the median is NaN; what NumPy raises for is raised."""
    middle, other, area, products, differences = lift(nothing, "fp16")(np.empty(0))
    assert np.isnan(middle) and np.isnan(other) and area == 0.0
    assert products.size == differences.size == 0
    for kernel, said in ((beyond, "outside 0 to 100"), (unpaired, "as many points as values")):
        with pytest.raises(ValueError, match=rf"^{place_of(kernel, 1)}: .*{said}"):
            lift(kernel, "fp16")(numbers(1))
    for kernel in (percentile_of_nothing, quantile_of_nothing):
        with pytest.raises(IndexError, match=rf"^{place_of(kernel, 1)}: .* of no elements"):
            lift(kernel, "fp16")(np.empty(0))


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


@pytest.mark.slow
def test_sums_along_any_axis_are_in_numpys_order():
    """Random shapes of one, two and four axes, of one, several and more than 128 terms."""
    rng = np.random.default_rng(2026)
    for dimensions, axes in ((1, (-1,)), (2, (0, -1)), (4, (-2, 3))):
        for axis in axes:
            kernel = _along(axis)
            lifted = lift(kernel, "fp64")
            for _ in range(4):
                shape = rng.choice([1, 2, 3, 9, 17], dimensions)
                shape[rng.integers(dimensions)] = rng.choice([1, 8, 140])
                given = numbers(int(rng.integers(1000)), tuple(shape))
                same(lifted(given), (np.sum(given, axis=axis), np.cumsum(given, axis=axis)))


def _along(axis):
    def along(x):
        return np.sum(x, axis=axis), np.cumsum(x, axis=axis)

    return along


def test_views_of_other_strides_are_numpys():
    given = numbers(7)
    assert lift(strided, "fp64")(given) == strided(given)
    assert lift(strided, "bf16")(given) != strided(given)


def test_functions_left_to_numba_are_known_by_their_names():
    """A generated module calls them as np.name."""
    tricks = np.lib.stride_tricks
    for function in (symbols.VIEWING | symbols.MOVING) - {sorted, set}:
        own = tricks if function.__name__ in ("as_strided", "sliding_window_view") else np
        assert getattr(own, function.__name__) is function
