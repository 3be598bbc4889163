"""The stored numbers of a matrix unit's table: all, two in a byte, two in four."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciprec.arrays.matrix_unit.unit_kernels import (
    multiply_nibbles,
    multiply_numbers,
    multiply_two_nibbles_of_four,
    multiply_two_of_four,
)
from sciprec.foundation.errors import InputError


@dataclass(frozen=True)
class Stored:
    """Numbers of a table as a unit keeps them.

    Args:
        kernel: multiplies from them.
        arrays: what it takes.
        bits: of a number.
        sparse: whether two numbers in four are kept.
    """

    kernel: Callable
    arrays: tuple[np.ndarray, ...]
    bits: int
    sparse: bool

    @classmethod
    def of(cls, numbers: np.ndarray, bits: int, sparse: bool) -> Stored:
        """Store numbers (blocks, rows, columns), rows a multiple of 8.

        Args:
            numbers: integers as int8, or floats.
            bits: of one; integers of 4 bits share bytes.
            sparse: two in four.

        Raises:
            InputError: two in four are asked for, and more are not zero.
        """
        packed = bits == 4
        if not sparse:
            if packed:
                return cls(multiply_nibbles, (packed_nibbles(numbers),), bits, sparse)
            return cls(multiply_numbers, (numbers,), bits, sparse)
        values, places = two_of_four(numbers)
        if packed:
            stored = (packed_nibbles(values), places)
            return cls(multiply_two_nibbles_of_four, stored, bits, sparse)
        return cls(multiply_two_of_four, (values, places), bits, sparse)

    def numbers(self) -> np.ndarray:
        """Return all numbers again, (blocks, rows, columns)."""
        values = self.arrays[0]
        if self.bits == 4:
            values = unpacked_nibbles(values)
        return from_two_of_four(values, self.arrays[1]) if self.sparse else values

    def bytes_of(self, count: int) -> float:
        """Return the bytes that a unit stores of a number of values: their bits, and two for each
        place.
        """
        return count * (self.bits + 2) / 16 if self.sparse else count * self.bits / 8


def packed_nibbles(integers: np.ndarray) -> np.ndarray:
    """Integers of 4 bits (blocks, rows, columns), two rows in a byte: (blocks, rows / 2, columns).

    That of the even row is in the lower half.
    """
    low, high = (integers[:, first::2].astype(np.uint8) & 15 for first in (0, 1))
    return low | high << 4


def unpacked_nibbles(packed: np.ndarray) -> np.ndarray:
    """The integers of `packed_nibbles`, as int8."""
    out = np.empty((packed.shape[0], 2 * packed.shape[1], packed.shape[2]), np.int8)
    out[:, 0::2] = packed << 4
    out[:, 1::2] = packed & 0xF0
    return out >> 4


def two_of_four(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two numbers of every four rows that may not be zero, and where they stand.

    Args:
        numbers: (blocks, rows, columns), rows a multiple of 8.

    Returns:
        values (blocks, rows / 2, columns) and places (blocks, rows / 8, columns), as in
        `multiply_two_of_four`. Where fewer are not zero, rows of zeros from the first on fill up.

    Raises:
        InputError: more than two of four rows are not zero.
    """
    blocks, rows, columns = numbers.shape
    fours = numbers.reshape(blocks, rows // 4, 4, columns)
    there = fours != 0
    if (crowded := there.sum(axis=2) > 2).any():
        b, g, n = (int(i) for i in np.argwhere(crowded)[0])
        raise InputError(
            f"the table is not two of four: rows {4 * g} to {4 * g + 3} of column {n} in block {b} "
            f"have {int(there[b, g, :, n].sum())} numbers that are not zero; prune it first, as "
            "sparsity=2:4 does"
        )
    order = np.sort(np.argsort(~there, axis=2, kind="stable")[:, :, :2], axis=2)
    values = np.take_along_axis(fours, order, axis=2).reshape(blocks, rows // 2, columns)
    halves = (order[:, :, 0] | order[:, :, 1] << 2).astype(np.uint8)
    return np.ascontiguousarray(values), halves[:, 0::2] | halves[:, 1::2] << 4


def from_two_of_four(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The numbers of `two_of_four`."""
    blocks, half, columns = values.shape
    out = np.zeros((blocks, half // 2, 4, columns), values.dtype)
    halves = np.stack([places & 15, places >> 4], axis=2).reshape(blocks, half // 2, columns)
    order = np.stack([halves & 3, halves >> 2], axis=2).astype(np.int64)
    np.put_along_axis(out, order, values.reshape(blocks, half // 2, 2, columns), axis=2)
    return out.reshape(blocks, 2 * half, columns)
