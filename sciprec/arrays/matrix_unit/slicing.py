"""Numbers as sums of integers, slice by slice, and the errors of their products.

x = s (d1 + d2 2^-q + d3 2^-2q + ...),   q bits a slice, s a power of two

Source: Ozaki, Ogita, Oishi and Rump (2012), Error-free transformations of matrix multiplication by
    using fast routines; with integers: Ootomo, Ozaki and Yokota (2024).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sciprec.arrays.integers.fixed_point import (
    SMALLEST_EXPONENT,
    ends_of_rows,
    powers_of_two,
    round_rows,
)
from sciprec.precision.compiled.disk_cache import kept

Allocator = Callable[..., np.ndarray]
"""Makes arrays of a shape and a type as `numpy.empty` does, which it is where nothing is given."""
_LEAST = 2.0**SMALLEST_EXPONENT


def sliced(
    x: np.ndarray, bits: int, slices: int, room: Allocator = np.empty
) -> tuple[list[np.ndarray], np.ndarray]:
    """The slices of the numbers of each row, and the scales of the first.

    Args:
        x: (rows, n), finite or not.
        bits: of the integers, sign included.
        slices: how many.
        room: makes the arrays.

    Returns:
        int8 arrays (rows, n), |d1| <= 2^q and |d2|, ... <= 2^(q - 1) with q = bits - 1; scales
        (rows,), NaN where a number of the row is not finite.

    Precision: every slice is the rest before it rounded to nearest, so that the rest after n slices
        is at most 2^-(q (n - 1)) / 2 of the scale. Rests are exact, but below 2^-1074.
    """
    ends, rest = room((2, len(x))), room(x.shape)
    rest[...] = x
    ends_of_rows(rest, ends, spoil=True)
    return slices_of(rest, ends, bits, slices, room)


def slices_of(
    rest: np.ndarray, ends: np.ndarray, bits: int, slices: int, room: Allocator
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return `sliced` of rows with these ends or nearer ones; the rows become the rests.

    Args:
        rest: (rows, n), changed.
        ends: (2, rows), see `ends_of_rows`.
        bits, slices, room: as there.
    """
    scales, fine = (room(len(rest)) for _ in range(2))
    span = 1 << (bits - 1)
    powers_of_two(ends, float(span), scales)
    fine[...] = scales
    digits_of = [room(rest.shape, np.int8) for _ in range(slices)]
    for number, digits in enumerate(digits_of):
        if number:
            np.multiply(fine, 1.0 / span, out=fine)
            np.maximum(fine, _LEAST, out=fine)
        round_rows(rest, fine, span, digits)
        _take_away(rest, fine, digits)
    return digits_of, scales


@kept(nogil=True, error_model="numpy")
def _take_away(rest, scales, digits):
    """rest -= digits * scales, exactly."""
    for g in range(rest.shape[0]):
        for i in range(rest.shape[1]):
            rest[g, i] -= digits[g, i] * scales[g]


def pairs_of(slices: int) -> list[tuple[int, int]]:
    """Return the pairs of slices of table and field that are multiplied, from 0 on: i + j < n, the
    coarsest last, so that sums begin with the smallest.
    """
    return [(total - j, j) for total in range(slices - 1, -1, -1) for j in range(total + 1)]
