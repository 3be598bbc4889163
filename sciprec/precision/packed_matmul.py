"""Matrix products of integers, exact or modulo 2^64: packing, the choice of panels, and bounds."""

from __future__ import annotations

import numpy as np
from numba import njit

from sciprec.precision import tiled_product
from sciprec.precision.tiled_product import SPLIT_BLOCK, SPLIT_FACTOR, Tile, add_product, tile_of

BLOCK = 512  # elements of a block of the sum
NEAR, FAR = 8, 16  # tiles of A and of B that the caches keep
SHORTEST_BLOCK = 48
"""Pairs of 16 bits take shorter blocks than this only where nothing is faster."""


def aligned_zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    """Zeros that begin at a multiple of 64 bytes, so that no vector lies across cache lines."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype).reshape(shape)


def _whole(n: int, size: int) -> int:
    return -(-n // size) * size


def row_panels(a: np.ndarray, tile: Tile, group: int, depth: int, offset: bool = False):
    """The panels of A (m, k): tiles of rows, groups of a lane's elements kept together.

    Args:
        group, depth: elements of a lane, and of a panel's row, a multiple of it.
        offset: for int8: write a + 128, without sign.
    """
    lane = np.dtype(f"i{a.itemsize * group}")
    words = np.ascontiguousarray(_deep(a, depth, 1)).view(lane)
    out = aligned_zeros((_whole(a.shape[0], tile.rows) * words.shape[1],), lane)
    _pack_rows(words, tile.rows, lane.type(-0x7F7F7F80 if offset else 0), out)
    return out.view("u1" if offset else a.dtype)


def column_panels(b: np.ndarray, tile: Tile, group: int, depth: int):
    """The panels of B (k, n): tiles of columns, each lane with a group of elements of a column."""
    deep = np.ascontiguousarray(_deep(b, depth, 0)).view(f"u{b.itemsize}")
    lane = np.dtype(f"u{b.itemsize * group}")
    out = aligned_zeros((_whole(b.shape[1], tile.columns) * depth // group,), lane)
    {1: _pack_columns, 2: _pack_column_pairs, 4: _pack_column_fours}[group](deep, tile.columns, out)
    return out.view(b.dtype)


def _deep(x: np.ndarray, depth: int, axis: int) -> np.ndarray:
    """x with zeros up to `depth` along an axis."""
    if x.shape[axis] == depth:
        return x
    widths = [(0, 0), (0, 0)]
    widths[axis] = (0, depth - x.shape[axis])
    return np.pad(x, widths)


@njit(cache=True, nogil=True)
def _pack_rows(words, rows, mask, out):
    """out[panel, k, row] = words[panel * rows + row, k] ^ mask."""
    depth = words.shape[1]
    for start in range(0, words.shape[0], rows):
        count = min(rows, words.shape[0] - start)
        for k in range(depth):
            for r in range(count):
                out[start * depth + k * rows + r] = words[start + r, k] ^ mask


@njit(cache=True, nogil=True)
def _pack_columns(b, columns, out):
    """out[panel, k, column] = b[k, panel * columns + column]."""
    depth = b.shape[0]
    for start in range(0, b.shape[1], columns):
        for k in range(depth):
            place = start * depth + k * columns
            for s in range(min(columns, b.shape[1] - start)):
                out[place + s] = b[k, start + s]


@njit(cache=True, nogil=True)
def _pack_column_pairs(b, columns, out):
    """The same with lanes of two elements of a column."""
    depth = b.shape[0] // 2
    for start in range(0, b.shape[1], columns):
        for k in range(depth):
            place = start * depth + k * columns
            for s in range(min(columns, b.shape[1] - start)):
                j = start + s
                out[place + s] = np.uint32(b[2 * k, j]) | np.uint32(b[2 * k + 1, j]) << 16


@njit(cache=True, nogil=True)
def _pack_column_fours(b, columns, out):
    """The same with lanes of four elements of a column."""
    depth = b.shape[0] // 4
    for start in range(0, b.shape[1], columns):
        for k in range(depth):
            place = start * depth + k * columns
            for s in range(min(columns, b.shape[1] - start)):
                j, word = start + s, np.uint32(0)
                for t in range(4):
                    word |= np.uint32(b[4 * k + t, j]) << np.uint32(8 * t)
                out[place + s] = word


def tiled_matmul(
    a: np.ndarray, b: np.ndarray, panel: str, *, block: int = BLOCK, exact: bool = False
) -> np.ndarray:
    """A B by tiles, for panels of one dtype.

    Args:
        a, b: (m, k) and (k, n), C order.
        panel: "float32", "float64" (sums in that format, in blocks, with fused multiply-add);
            "int16" (each block's sum has to be below 2^31 in magnitude); "int64" (numbers of 32
            bits, sums modulo 2^64); "int8" (numbers of 8 bits, where the processor multiplies
            and adds bytes).
        block: elements of a block of the sum, a multiple of 4.
        exact: for "int64": two planes, the sums modulo 2^64 and those of floor(product / 2^32).

    Returns:
        (m, n) or (2, m, n): int64, or the panels' float dtype.
    """
    kind = np.dtype("uint8" if panel == "int8" else panel)
    tile = tile_of(kind, exact)
    depth = _whole(a.shape[1], tile.group)
    if panel != "int8":
        a, b = a.astype(kind, copy=False), b.astype(kind, copy=False)
    packed = (
        row_panels(a, tile, tile.group, depth, offset=panel == "int8"),
        column_panels(b, tile, tile.group, depth),
    )
    dtype = kind if kind.kind == "f" else "int64"
    bias = _byte_bias(b, tile, block) if panel == "int8" else _NO_BIAS
    return _product(packed, bias, a, b, tile, depth, block, dtype, exact)


_NO_BIAS = np.zeros((0, 0), np.int32)


def _product(packed, bias, a, b, tile: Tile, depth, block, dtype, exact=False) -> np.ndarray:
    """The product of packed panels, cut to its shape."""
    planes = (2,) if exact else ()
    rows, columns = _whole(a.shape[0], tile.rows), _whole(b.shape[1], tile.columns)
    c = aligned_zeros((*planes, rows, columns), dtype)
    add_product(packed, bias, c, depth, block, NEAR, FAR)
    return c[..., : a.shape[0], : b.shape[1]]


def _byte_bias(b: np.ndarray, tile: Tile, block: int) -> np.ndarray:
    """-128 times the sum of each column's block: bytes of A are multiplied as a + 128."""
    starts = range(0, b.shape[0], block)
    bias = np.zeros((len(starts), _whole(b.shape[1], tile.columns)), np.int32)
    for q, k in enumerate(starts):
        bias[q, : b.shape[1]] = -128 * b[k : k + block].sum(axis=0, dtype=np.int32)
    return bias


def integer_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The exact product of matrices of int8 or int16, as int64.

    Bytes: |sum of a block| <= 512 * 2^14 < 2^31. Pairs of 16 bits: a block of n products, with
    n max|a| max|b| < 2^31, or numbers split in two (`SPLIT_BLOCK`). The blocks' sums are added in
    int64, which holds 2^32 products of 2^30.

    Args:
        a, b: (m, k) and (k, n), int8 or int16, C order.
    """
    if a.dtype == b.dtype == np.int8 and tiled_product.BYTES:
        return tiled_matmul(a, b, "int8")
    largest = max(1, magnitude(a)) * max(1, magnitude(b))
    block = min(BLOCK, (2**31 - 1) // largest // 4 * 4)
    if block >= SHORTEST_BLOCK:
        return tiled_matmul(a, b, "int16", block=block)
    if tiled_product.BYTES:
        return split_matmul(a, b)
    return halves_matmul(a, b)


def magnitude(x: np.ndarray) -> int:
    """The largest magnitude of integers, 0 where there are none."""
    return max(int(x.max()), -int(x.min())) if x.size else 0


def split_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The exact product of full-scale int16: upper parts as bytes, the rest by pairs.

    With a = 257 a1 + a0 and b = 257 b1 + b0, the sum of 257^2 a1 b1 is taken in bytes, and what
    is left of a block's sum is below 2^31 (`SPLIT_BLOCK`), so that pairs modulo 2^32 give it.
    """
    tile = tile_of("int16")
    depth = _whole(a.shape[1], 4)
    upper_a, upper_b = upper_part(a), upper_part(b)
    packed = (
        row_panels(upper_a, tile, 4, depth, offset=True),
        column_panels(upper_b, tile, 4, depth),
        row_panels(a, tile, 2, depth),
        column_panels(b, tile, 2, depth),
    )
    bias = _byte_bias(upper_b, tile, SPLIT_BLOCK)
    return _product(packed, bias, a, b, tile, depth, SPLIT_BLOCK, "int64")


def upper_part(x: np.ndarray) -> np.ndarray:
    """x1 of x = 257 x1 + x0, |x0| <= 128, for int16: in [-128, 127]."""
    return ((x.astype(np.int32) + SPLIT_FACTOR // 2) // SPLIT_FACTOR).astype(np.int8)


def halves_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The exact product of full-scale int16 without byte products: A's two bytes, one by one.

    256 products of a byte and 16 bits sum to at most 256 * 255 * 2^15 < 2^31.
    """
    upper = tiled_matmul(a >> 8, b, "int16", block=256)
    return (upper << 8) + tiled_matmul(a & 255, b, "int16", block=256)
