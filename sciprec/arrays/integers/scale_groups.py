"""Cutting an array into the groups of elements that share a scale, and joining it again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.arguments import integer, reals, refused
from sciprec.foundation.errors import InputError


@dataclass(frozen=True)
class ScaleTiles:
    """The division of an array into tiles of one scale each; those at the ends may be shorter.

    Attributes:
        shape: of the array.
        tile: the shape of a tile, which may be the whole array.
        scales: the shape of the scales beside it; where none is given, the array's.
    """

    shape: tuple[int, ...]
    tile: tuple[int, ...]
    scales: tuple[int, ...] | None = None

    @classmethod
    def of(cls, shape: tuple[int, ...], axis: int | None, block) -> ScaleTiles:
        """The layout of an array's shape.

        Raises:
            InputError: both of axis and block are given, or one that does not fit the shape.
        """
        if axis is not None and block is not None:
            raise InputError("axis and block are both given; scales follow one of them")
        if axis is not None:
            dimensions = len(shape)
            words = f"an axis of an array of {dimensions} dimensions"
            place = integer("axis", axis, -dimensions, dimensions - 1, words) % dimensions
            counts = tuple(n if i == place else 1 for i, n in enumerate(shape))
            return cls(shape, tuple(1 if i == place else n for i, n in enumerate(shape)), counts)
        words = f"a length, or a tuple of at most {len(shape)} lengths, each from 1 to 2^31"
        tile = () if block is None else tuple(reals("block", block, words).ravel().tolist())
        if len(tile) > len(shape):
            raise refused("block", block, words)
        for length in tile:
            integer("block", length, 1, 2**31, words)
        if not tile:
            return cls(shape, shape, ())
        return cls(shape, (1,) * (len(shape) - len(tile)) + tile)

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of tiles along each axis."""
        pairs = zip(self.shape, self.tile, strict=True)
        return tuple(-(-n // size) if size else 1 for n, size in pairs)

    def grouped(self, x: np.ndarray) -> np.ndarray:
        """The (groups, length) array, contiguous; tiles at the edges are filled with zeros."""
        pairs = list(zip(self.counts, self.tile, strict=True))
        missing = [count * size - n for (count, size), n in zip(pairs, self.shape, strict=True)]
        padded = np.pad(x, [(0, n) for n in missing]) if any(missing) else x
        every = range(2 * len(pairs))  # first all counts, then all positions within
        tiles = padded.reshape([n for pair in pairs for n in pair])
        tiles = tiles.transpose((*every[::2], *every[1::2]))
        return np.ascontiguousarray(tiles).reshape(math.prod(self.counts), math.prod(self.tile))

    def restored(self, groups: np.ndarray) -> np.ndarray:
        """The inverse of `grouped`."""
        dimensions = len(self.shape)
        order = [axis for i in range(dimensions) for axis in (i, dimensions + i)]
        tiles = groups.reshape((*self.counts, *self.tile)).transpose(order)
        padded = tiles.reshape([n * m for n, m in zip(self.counts, self.tile, strict=True)])
        inner = padded[tuple(slice(n) for n in self.shape)]
        return np.ascontiguousarray(inner).reshape(self.shape)

    def broadcast(self, scales: np.ndarray) -> np.ndarray:
        """The scales of the groups in a shape that broadcasts against the array."""
        if self.scales is not None:
            return scales.reshape(self.scales)
        spread = scales.reshape(self.counts)
        for axis, size in enumerate(self.tile):
            spread = np.repeat(spread, size, axis)
        return spread[tuple(slice(n) for n in self.shape)]
