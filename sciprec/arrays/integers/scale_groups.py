"""Cutting an array into the groups of elements that share a scale, and joining it again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.foundation.arguments import reals, refused, whole
from sciprec.foundation.errors import InputError


@dataclass(frozen=True)
class Layout:
    """The division of an array into groups of one scale: `tile` divides the last axes, `axis` is
    split index by index, neither is the whole.
    """

    shape: tuple[int, ...]
    axis: int | None
    tile: tuple[int, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], axis: int | None, block) -> Layout:
        """The layout of an array's shape.

        Raises:
            InputError: both of axis and block are given, or one that does not fit the shape.
        """
        if axis is not None and block is not None:
            raise InputError("axis and block are both given; scales follow one of them")
        if axis is not None:
            dimensions = len(shape)
            words = f"an axis of an array of {dimensions} dimensions"
            whole("axis", axis, -dimensions, dimensions - 1, words)
        words = f"a length, or a tuple of at most {len(shape)} lengths, each from 1 to 2^31"
        tile = () if block is None else tuple(reals("block", block, words).ravel().tolist())
        if len(tile) > len(shape):
            raise refused("block", block, words)
        for length in tile:
            whole("block", length, 1, 2**31, words)
        return cls(shape, axis, (1,) * (len(shape) - len(tile)) + tile if tile else ())

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of tiles along each axis."""
        return tuple(-(-n // size) for n, size in zip(self.shape, self.tile, strict=True))

    def _order(self) -> tuple[int, ...]:
        """Axes of the array of tiles: first all counts, then all positions within."""
        dimensions = len(self.shape)
        return (*range(0, 2 * dimensions, 2), *range(1, 2 * dimensions, 2))

    def grouped(self, x: np.ndarray) -> np.ndarray:
        """The (groups, length) array, contiguous; tiles at the edges are filled with zeros."""
        if self.axis is not None:
            moved = np.moveaxis(x, self.axis, 0)
            length = x.size // max(moved.shape[0], 1)
            return np.ascontiguousarray(moved).reshape(moved.shape[0], length)
        if not self.tile:
            return np.ascontiguousarray(x).reshape(1, x.size)
        edges = zip(self.counts, self.tile, self.shape, strict=True)
        padded = np.pad(x, [(0, count * size - n) for count, size, n in edges])
        pairs = [n for pair in zip(self.counts, self.tile, strict=True) for n in pair]
        tiles = padded.reshape(pairs).transpose(self._order())
        return np.ascontiguousarray(tiles).reshape(
            int(np.prod(self.counts)), int(np.prod(self.tile))
        )

    def restored(self, groups: np.ndarray) -> np.ndarray:
        """The inverse of `grouped`."""
        if self.axis is not None:
            first = self.shape[self.axis]
            rest = np.delete(self.shape, self.axis)
            return np.ascontiguousarray(np.moveaxis(groups.reshape(first, *rest), 0, self.axis))
        if not self.tile:
            return groups.reshape(self.shape)
        tiles = groups.reshape(*self.counts, *self.tile).transpose(np.argsort(self._order()))
        padded = tiles.reshape([n * m for n, m in zip(self.counts, self.tile, strict=True)])
        return np.ascontiguousarray(padded[tuple(slice(n) for n in self.shape)])

    def broadcast(self, scales: np.ndarray) -> np.ndarray:
        """The scales of the groups in a shape that broadcasts against the array."""
        if self.axis is not None:
            ones = [1] * len(self.shape)
            ones[self.axis] = -1
            return scales.reshape(ones)
        if not self.tile:
            return scales.reshape(())
        spread = scales.reshape(self.counts)
        for axis, size in enumerate(self.tile):
            spread = np.repeat(spread, size, axis)
        return spread[tuple(slice(n) for n in self.shape)]
