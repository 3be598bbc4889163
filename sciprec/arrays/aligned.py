"""Arrays that begin on a cache line.

Vectors of 64 bytes that straddle two lines are read and written at half the speed, and NumPy's
arrays begin at any multiple of 16 bytes: transforms took up to a third longer, by chance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import DTypeLike

LINE_BYTES = 64


def aligned_zeros(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
    """An array of zeros whose first number begins a cache line.

    Args:
        shape, dtype: as for `numpy.zeros`.
    """
    shape = (shape,) if isinstance(shape, int) else shape
    count, kind = math.prod(shape), np.dtype(dtype)
    memory = np.zeros(count * kind.itemsize + LINE_BYTES, np.uint8)
    return aligned_part(memory, count, kind).reshape(shape)


def aligned_part(memory: np.ndarray, count: int, dtype: DTypeLike) -> np.ndarray:
    """The part of memory, bytes, that begins a cache line and holds `count` numbers."""
    kind, first = np.dtype(dtype), -memory.ctypes.data % LINE_BYTES
    return memory[first : first + count * kind.itemsize].view(kind)


def aligned_copy(values: np.ndarray, dtype: DTypeLike = None) -> np.ndarray:
    """A contiguous copy of an array whose first number begins a cache line.

    Args:
        values: the array.
        dtype: of the copy; left out: that of the array.
    """
    copy = aligned_zeros(values.shape, values.dtype if dtype is None else dtype)
    copy[...] = values
    return copy


class Pool:
    """Work arrays from one block of memory: taken one after another, and given back together.

    What the block does not hold is made by itself, and the block grows to hold all of it when it is
    reset: from the second time on, what takes the same arrays makes none.
    """

    def __init__(self) -> None:
        self._memory, self._taken, self._most = aligned_zeros(0, np.uint8), 0, 0

    def array(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
        """An array that begins a cache line, of any numbers, until the next `reset`."""
        shape = (shape,) if isinstance(shape, int) else shape
        kind = np.dtype(dtype)
        size, first = math.prod(shape) * kind.itemsize, self._taken
        self._taken += -(-size // LINE_BYTES) * LINE_BYTES
        if self._taken > self._memory.size:
            return aligned_zeros(shape, kind)
        return self._memory[first : first + size].view(kind).reshape(shape)

    def zeros(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
        """Return an array of zeros, see `array`."""
        array = self.array(shape, dtype)
        array.fill(0)
        return array

    def reset(self) -> None:
        """Take all arrays back: the next ones lie where they do."""
        self._most, self._taken = max(self._most, self._taken), 0
        if self._most > self._memory.size:
            self._memory = aligned_zeros(self._most, np.uint8)
