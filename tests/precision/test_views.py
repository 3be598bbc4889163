"""What functions show of an array in another shape is the array: as in Numba, not a copy."""

import functools

import numpy as np
import pytest

import sciprec
from tests.precision.by_numba import by_numba


def by_reshape(x, out):
    view = np.reshape(out, (2, 6))
    view[1, 0] = x[0, 0] / 3
    return np.reshape(x, (2, 6))[1, 1]


def by_ravel(x, out):
    view = np.ravel(out)
    view[7] = x[0, 1] / 3
    return np.ravel(x)[5]


def by_transpose(x, out):
    view = np.transpose(out)
    view[2, 1] = x[0, 2] / 3
    return np.transpose(x)[3, 0]


def by_swapaxes(x, out):
    view = np.swapaxes(out.reshape((3, 2, 2)), 1, 2)
    view[0, 1, 0] = x[1, 0] / 3
    return np.swapaxes(x, 0, -1)[2, 2]


def by_asarray(x, out):
    view = np.asarray(out)
    view[2, 3] = x[1, 1] / 3
    return np.asarray(x)[0, 0]


def by_ascontiguousarray(x, out):
    view = np.ascontiguousarray(out)
    view[0, 3] = x[1, 2] / 3
    other = np.ascontiguousarray(out.T)  # of other strides: a copy
    other[0, 0] = 77.0
    return other[3, 0]


def by_expand_dims(x, out):
    view = np.expand_dims(out, 0)
    view[0, 1, 1] = x[2, 0] / 3
    return np.expand_dims(x, 1)[2, 0, 1]


def by_flip(x, out):
    view = np.flip(out)
    view[0, 0] = x[2, 1] / 3
    return np.flip(x)[0, 1]


def by_atleast_1d(x, out):
    view = np.atleast_1d(out)
    view[1, 2] = x[2, 2] / 3
    return np.atleast_1d(x)[1, 3]


def by_broadcast_to(x, out):
    view = np.broadcast_to(out, (2, 3, 4))
    out[2, 0] = x[2, 3] / 3
    return view[1, 2, 0]


KERNELS = [
    by_reshape, by_ravel, by_transpose, by_swapaxes, by_asarray, by_ascontiguousarray,
    by_expand_dims, by_flip, by_atleast_1d, by_broadcast_to,
]  # fmt: skip


def arguments():
    return np.random.default_rng(3).uniform(1, 2, (3, 4)), np.zeros((3, 4))


@functools.cache
def in_numba(kernel):
    """What Numba returns and writes; of `np.swapaxes`, which it compiles for seconds, NumPy."""
    plain, written = arguments()
    return (kernel if kernel is by_swapaxes else by_numba(kernel))(plain, written), written


@pytest.mark.parametrize("kernel", KERNELS)
def test_writes_through_views_are_seen_as_in_numba(kernel):
    given, out = arguments()
    result = sciprec.lift(kernel, "fp64")(given, out)
    exact, written = in_numba(kernel)
    assert exact == result
    np.testing.assert_array_equal(out, written)
    assert np.count_nonzero(out) == 1


FLOATS = ("fp32", "mlu370", "fp16")


@pytest.mark.parametrize(
    ("kernel", "backend"),
    [(k, b) for n, k in enumerate(KERNELS) for b in (FLOATS[n % 3], "fixed32")],
)
def test_what_is_written_and_read_through_views_is_rounded(kernel, backend):
    given, out = arguments()
    result = sciprec.lift(kernel, backend)(given, out)
    exact, written = in_numba(kernel)
    place = written != 0
    error = {"fp32": 2**-23, "mlu370": 2**-19, "fp16": 2**-10, "fixed32": 2**-23}[backend]
    assert np.array_equal(out != 0, place)
    assert 0 < abs(out[place][0] - written[place][0]) < error
    assert abs(result - exact) < 4 * error
    if backend != "fixed32":
        assert sciprec.quantize(out, backend)[place] == out[place]
        assert sciprec.quantize(np.array([result]), backend)[0] == result


def test_axes_may_be_known_at_the_call_only():
    def exchanged(x, axis):
        return np.swapaxes(x, 0, axis)[1, 0]

    x = np.arange(6.0).reshape(2, 3)
    assert sciprec.lift(exchanged, "fp64")(x, 1) == x[0, 1]


def test_an_axis_that_is_not_there_is_named():
    def beyond(x):
        return np.swapaxes(x, 0, 2)[0, 0]

    with pytest.raises(
        sciprec.LiftError, match="Invalid axis of np.swapaxes: .*2.* of an array with 2"
    ):
        sciprec.lift(beyond, "fp32")(np.ones((2, 3)))
