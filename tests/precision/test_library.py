"""NumPy's functions that the engine has as kernels of its own: exact against the oracle in every
arithmetic, in binary64 against NumPy.
"""

import math

import numba
import numpy as np
import pytest

from sciprec.precision import lift, resolve_backend
from sciprec.precision.rewriting import symbols
from sciprec.precision.rewriting.syntax import LiftError
from tests.oracles.twin import run_twin

BACKENDS = ("fp16", pytest.param("mlu370", marks=pytest.mark.slow))


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


def turned(x):
    return np.cross(x[:3], x[1:4])


def diagonals(x):
    return np.trace(np.outer(x, x)), np.eye(3) * x[0], np.eye(2, 3, k=1) + np.identity(3)[:2]


def points(x):
    return np.linspace(x[0], x[1], 7), np.linspace(0.1, 0.7, num=1), np.linspace(x[0], 3, 2)


def casts(x):
    return numba.float64(x[0]) * numba.float32(x[1]) + np.finfo(np.float64).eps * x[2]


def places(x):
    total = 0.0
    for i, j in np.ndindex(2, 2):
        total += x[i + 2 * j] * (i - j)
    return total, np.flipud(x), np.atleast_2d(x).shape[0]


KERNELS = (
    whole_angles, clipped, clipped_number, moments, of_nan, differences, products, turned,
    diagonals, points, casts, places,
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


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_function_is_exact(backend):
    for seed, kernel in enumerate(KERNELS):
        given = numbers(seed)
        same(lift(kernel, backend)(given.copy()), exactly(kernel, backend, given.copy()))
    for seed, kernel in enumerate(STORING):
        found, expected = np.zeros(9), np.zeros(9)
        given = numbers(seed + 50)
        lift(kernel, backend)(given.copy(), found)
        exactly(kernel, backend, given.copy(), expected)
        same(found, expected)


def test_rows_go_as_numpy_has_them():
    for seed, kernel in enumerate((moments, differences)):
        given = numbers(seed, (3, 4))
        same(lift(kernel, "fp16")(given.copy()), exactly(kernel, "fp16", given.copy()))
        close = lift(kernel, "fp64")(given.copy())
        for one, other in zip(np.atleast_1d(close), np.atleast_1d(kernel(given)), strict=True):
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
def test_numba_itself_agrees():
    """Where its order is NumPy's."""
    given = numbers(3)
    for kernel in (clipped, turned, points):
        same(lift(kernel, "fp64")(given.copy()), numba.njit(kernel)(given.copy()))


@pytest.mark.slow
def test_fixed_point_has_them():
    given = np.linspace(-0.9, 0.8, 9)
    for kernel in (moments, products):
        found, expected = lift(kernel, "fixed32")(given.copy()), kernel(given)
        for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-8)


def asks_for_no_limit(x):
    return np.clip(x, None, 1.0)


def asks_for_a_type(x):
    return np.eye(3, dtype=np.float32)


def asks_for_places(x):
    return round(x[0], 2)


def asks_for_second_differences(x):
    return np.diff(x, 2)


@pytest.mark.parametrize(
    ("kernel", "takes"),
    [
        (asks_for_no_limit, r"\(a, a_min, a_max\)"), (asks_for_a_type, r"\(N, M, k\)"),
        (asks_for_places, r"\(x\)"), (asks_for_second_differences, r"\(a\)"),
    ],
)  # fmt: skip
def test_other_arguments_are_refused_with_those_that_are_taken(kernel, takes):
    with pytest.raises(LiftError, match=f"with these arguments cannot be lifted; it takes {takes}"):
        lift(kernel, "fp16")


def test_the_table_holds_kernels_of_the_same_arguments():
    import inspect

    for function, kernel in symbols.LIBRARY.items():
        if function in (round, divmod) or isinstance(function, np.ufunc):
            continue
        try:
            theirs = list(inspect.signature(function).parameters)
        except ValueError:
            continue
        mine = list(inspect.signature(kernel).parameters)
        assert mine == theirs[: len(mine)], function
