"""Groups of columns of flat arrays, in compiled code: taken out, and given back."""

from numba import njit
from numba.core import types

from sciprec.precision.compiled.lowering import by_type


@njit(inline="always")
def _take(values, first, last, width, part):
    if last - first == 2:
        for i in range(part.size // 2):
            part[2 * i] = values[width * i + first]
            part[2 * i + 1] = values[width * i + first + 1]
    else:
        count = last - first
        for i in range(part.size // count):
            for c in range(count):
                part[count * i + c] = values[width * i + first + c]


@njit(inline="always")
def _give(part, values, first, last, width):
    if last - first == 2:
        for i in range(part.size // 2):
            values[width * i + first] = part[2 * i]
            values[width * i + first + 1] = part[2 * i + 1]
    else:
        count = last - first
        for i in range(part.size // count):
            for c in range(count):
                values[width * i + first + c] = part[count * i + c]


@by_type
def taken_columns(values, first, last, width, size, room):
    """A copy of the columns from `first` to `last` - 1 of an array (..., rows of `width` columns);
    what is no such array as it is.

    Args:
        values: anything.
        first, last, width: of the columns.
        size: of the last axis of arrays that have them.
        room: (n,), where the copy is.
    """
    if not isinstance(values, types.Array):
        return lambda values, first, last, width, size, room: values
    if values.ndim == 1:

        def taken(values, first, last, width, size, room):
            if values.size != size:
                return values
            part = room[: size // width * (last - first)]
            _take(values, first, last, width, part)
            return part

        return taken

    def taken_of_many(values, first, last, width, size, room):
        if values.shape[1] != size:
            return values
        count = size // width * (last - first)
        copies = room[: values.shape[0] * count].reshape((values.shape[0], count))
        for k in range(values.shape[0]):
            _take(values[k], first, last, width, copies[k])
        return copies

    return taken_of_many


@by_type
def given_columns(part, values, first, last, width, size):
    """Write into an array what `taken_columns` made of it."""
    if not isinstance(values, types.Array):
        return lambda part, values, first, last, width, size: None
    if values.ndim == 1:

        def given(part, values, first, last, width, size):
            if values.size == size:
                _give(part, values, first, last, width)

        return given

    def given_of_many(part, values, first, last, width, size):
        if values.shape[1] == size:
            for k in range(values.shape[0]):
                _give(part[k], values[k], first, last, width)

    return given_of_many
