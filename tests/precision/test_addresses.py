"""Functions and arrays by their addresses."""

import numba
import numpy as np
import pytest

from sciprec.precision.compiled.addresses import part_at


@numba.njit
def raised(rows, first, shape):
    part = part_at(rows + rows, first, shape)  # the whole is nobody's afterwards
    part[0] += rows.dtype.type(1.0)
    return part


@pytest.mark.parametrize(
    ("kind", "shape"), [(np.float64, (7,)), (np.float32, (5, 3)), (np.float64, (3, 2, 4))]
)
def test_parts_of_arrays_are_slices(kind, shape):
    """Written to, and alive when the array that they are of is gone."""
    random = np.random.default_rng(5)
    for _ in range(20):
        size, first = int(np.prod(shape)), int(random.integers(0, 20))
        rows = random.random((2, first + size + int(random.integers(3)))).astype(kind)
        expected = (rows + rows).ravel()[first : first + size].reshape(shape)
        expected[0] += 1.0
        found = raised(rows, first, shape)
        assert found.flags.c_contiguous and found.dtype == kind
        np.testing.assert_array_equal(found, expected)


def test_parts_of_strided_arrays_are_refused():
    with pytest.raises(numba.TypingError, match="part_at takes a contiguous array"):
        numba.njit(lambda x: part_at(x, 0, (1,)))(np.zeros((4, 4))[:, ::2])
