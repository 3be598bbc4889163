"""Arrays that begin on a cache line."""

import numpy as np
import pytest

from sciprec.climate.transform.aligned import LINE_BYTES, aligned_copy, aligned_zeros
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.spectral import make_tables, make_work, rounded
from sciprec.precision import resolve_backend


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("shape", [0, 1, 7, (3, 5), (2, 0, 4), (3, 1000, 7)])
def test_arrays_begin_on_a_line_and_are_their_own(shape, dtype):
    kept = [aligned_zeros(shape, dtype) for _ in range(4)]
    like = np.zeros(shape, dtype)
    for n, array in enumerate(kept):
        assert array.size == 0 or array.ctypes.data % LINE_BYTES == 0
        assert array.flags.c_contiguous and array.flags.writeable
        assert array.dtype == dtype and array.shape == like.shape
        assert not array.any()
        array[...] = n + 1
    for n, array in enumerate(kept):
        assert np.all(array == n + 1)


def test_a_copy_has_the_numbers_and_not_the_memory():
    given = np.arange(12.0).reshape(3, 4).T
    copy = aligned_copy(given, np.float32)
    assert copy.dtype == np.float32 and copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, given)
    copy[0, 0] = 7.0
    assert given[0, 0] == 0.0 and aligned_copy(given).dtype == np.float64


def test_what_transforms_read_and_write_begins_on_a_line():
    row = resolve_truncation("T21")
    todo = [make_work(row, 3), rounded(make_tables(row), resolve_backend("fp32"))]
    while todo:
        found = todo.pop()
        if isinstance(found, tuple):
            todo.extend(found)
        elif found.dtype.kind == "f":
            assert found.ctypes.data % LINE_BYTES == 0
