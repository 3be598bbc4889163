"""Matrix products of integers, exact or modulo 2^64: packing, the choice of panels, and bounds."""

from __future__ import annotations

import threading

import numpy as np

from sciprec.arrays.integers import tiled_product
from sciprec.arrays.integers.tiled_product import SPLIT_BLOCK, Tile, add_product, tile_of
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.bits import inlined

BLOCK = 512  # elements of a block of the sum
NEAR, FAR = 8, 16  # tiles of A and of B that the caches keep
SHORTEST_BLOCK = 48
"""Pairs of 16 bits take shorter blocks than this only where nothing is faster."""


KEPT_BYTES = 16 * 2**20
"""Panels up to this size stay in memory for the thread's next product: new memory costs time."""


class _Kept(threading.local):
    """The memory of this thread's panels, by their place among the operands."""

    def __init__(self):
        self.memory: dict[str, np.ndarray] = {}


_KEPT = _Kept()


def _aligned(raw: np.ndarray, count: int, dtype) -> np.ndarray:
    """The part of `raw` bytes from a multiple of 64 on: no vector lies across cache lines."""
    start = -raw.ctypes.data % 64
    return raw[start : start + count * np.dtype(dtype).itemsize].view(dtype)


def aligned_zeros(shape: tuple[int, ...], dtype) -> np.ndarray:
    """Zeros that begin at a multiple of 64 bytes."""
    count = int(np.prod(shape))
    return _aligned(
        np.zeros(count * np.dtype(dtype).itemsize + 64, np.uint8), count, dtype
    ).reshape(shape)


def _panel_memory(place: str, count: int, dtype) -> np.ndarray:
    """Memory for panels, whatever it holds: lines beyond the matrix give sums that are cut off."""
    size = count * np.dtype(dtype).itemsize + 64
    raw = _KEPT.memory.get(place)
    if raw is None or raw.size < size:
        raw = np.empty(size, np.uint8)
        if size <= KEPT_BYTES:
            _KEPT.memory[place] = raw
    return _aligned(raw, count, dtype)


def _whole(n: int, size: int) -> int:
    return -(-n // size) * size


def row_panels(a: np.ndarray, tile: Tile, group: int, depth: int, dtype="i4", offset=False):
    """The panels of A (m, k): tiles of rows, groups of a lane's elements kept together.

    Args:
        group, depth: elements of a lane, and of a panel's row, a multiple of it.
        dtype: of a lane; wider than the group's elements, it holds one with its sign.
        offset: for int8: write a + 128, without sign.
    """
    words = np.ascontiguousarray(_deep(a, depth, 1)).view(f"i{a.itemsize * group}")
    count = _whole(a.shape[0], tile.rows) * words.shape[1]
    out = _panel_memory(f"rows by {group}", count, dtype)
    _pack_rows(words, tile.rows, out.dtype.type(-0x7F7F7F80 if offset else 0), out)
    return out


def column_panels(b: np.ndarray, tile: Tile, group: int, depth: int, dtype="i4"):
    """The panels of B (k, n): tiles of columns, each lane with a group of elements of a column."""
    sign = "i" if group == 1 else "u"
    deep = np.ascontiguousarray(_deep(b, depth, 0)).view(f"{sign}{b.itemsize}")
    count = _whole(b.shape[1], tile.columns) * depth // group
    out = _panel_memory(f"columns by {group}", count, dtype)
    _pack_columns(deep, group, tile.columns, out)
    return out


def _deep(x: np.ndarray, depth: int, axis: int) -> np.ndarray:
    """x with zeros up to `depth` along an axis."""
    if x.shape[axis] == depth:
        return x
    widths = [(0, 0), (0, 0)]
    widths[axis] = (0, depth - x.shape[axis])
    return np.pad(x, widths)


@kept(nogil=True)
def _pack_rows(words, rows, mask, out):
    """out[panel, k, row] = words[panel * rows + row, k] ^ mask."""
    for start in range(0, words.shape[0], rows):
        count = min(rows, words.shape[0] - start)
        if count == 12:
            _pack_tile_rows(words, start, 12, rows, mask, out)
        elif count == 6:
            _pack_tile_rows(words, start, 6, rows, mask, out)
        else:
            _pack_tile_rows(words, start, count, rows, mask, out)


@inlined
def _pack_tile_rows(words, start, count, rows, mask, out):
    """Pack one panel; a count that the compiler knows makes straight code of the inner loop."""
    depth = words.shape[1]
    for k in range(depth):
        for r in range(count):
            out[start * depth + k * rows + r] = words[start + r, k] ^ mask


@kept(nogil=True)
def _pack_columns(b, group, columns, out):
    """out[panel, k, column] = b[k, panel * columns + column], `group` values of k in one lane."""
    depth = b.shape[0] // group
    for k in range(depth):
        for start in range(0, b.shape[1], columns):
            count = min(columns, b.shape[1] - start)
            lanes = out[start * depth + k * columns :][:count]
            if group == 1:
                _copy(b[k, start:], lanes)
            elif group == 2:
                _join_two(b[2 * k, start:], b[2 * k + 1, start:], lanes)
            else:
                _join_four(b[4 * k : 4 * k + 4, start:], lanes)


@inlined
def _copy(values, lanes):
    for s in range(lanes.size):
        lanes[s] = values[s]


@inlined
def _join_two(low, high, lanes):
    for s in range(lanes.size):
        lanes[s] = np.uint32(low[s]) | np.uint32(high[s]) << 16


@inlined
def _join_four(rows, lanes):
    for s in range(lanes.size):
        low = np.uint32(rows[0, s]) | np.uint32(rows[1, s]) << 8
        high = np.uint32(rows[2, s]) | np.uint32(rows[3, s]) << 8
        lanes[s] = low | high << 16


def tiled_matmul(
    a: np.ndarray, b: np.ndarray, panel: str, *, block: int = BLOCK, exact: bool = False
) -> np.ndarray:
    """A B by tiles, for panels of one dtype.

    Args:
        a, b: (m, k) and (k, n), of the panel's dtype, or int32 for "int64".
        panel: "float32", "float64" (sums in that format, in blocks, with fused multiply-add);
            "int16" (each block's sum has to be below 2^31 in magnitude); "int64" (sums modulo
            2^64); "int8" (where the processor multiplies and adds bytes).
        block: elements of a block of the sum, a multiple of 4.
        exact: for "int64": two planes, the sums modulo 2^64 and those of floor(product / 2^32).

    Returns:
        (m, n) or (2, m, n): int64, or the panels' float dtype.
    """
    kind = np.dtype("uint8" if panel == "int8" else panel)
    tile = tile_of(kind, exact)
    depth = _whole(a.shape[1], tile.group)
    lane = f"i{max(kind.itemsize, 4)}"
    packed = (
        row_panels(a, tile, tile.group, depth, lane, offset=panel == "int8").view(kind),
        column_panels(b, tile, tile.group, depth, lane).view("int8" if panel == "int8" else kind),
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
    bias = np.zeros((-(-b.shape[0] // block), _whole(b.shape[1], tile.columns)), np.int32)
    _subtract_blocks(b, block, bias)
    return bias


@kept(nogil=True)
def _subtract_blocks(b, block, bias):
    for k in range(b.shape[0]):
        for j in range(b.shape[1]):
            bias[k // block, j] -= np.int32(128) * b[k, j]


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
    a, b = a.astype(np.int16, copy=False), b.astype(np.int16, copy=False)
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
    is left of a block's sum is below 2^31 (`split_block`), so that pairs modulo 2^32 give it.
    """
    tile = tile_of("int16")
    depth, block = _whole(a.shape[1], 4), split_block(a, b)
    upper_a, upper_b = upper_part(a), upper_part(b)
    packed = (
        row_panels(upper_a, tile, 4, depth, offset=True).view(np.uint8),
        column_panels(upper_b, tile, 4, depth).view(np.int8),
        row_panels(a, tile, 2, depth).view(np.int16),
        column_panels(b, tile, 2, depth).view(np.int16),
    )
    bias = _byte_bias(upper_b, tile, block)
    return _product(packed, bias, a, b, tile, depth, block, "int64")


def split_block(a: np.ndarray, b: np.ndarray) -> int:
    """The longest block of 1024, 512 and 252 products whose rests sum to less than 2^31.

    |a b - 257^2 a1 b1| <= |257 a1| |b0| + |a0| |b| <= 128 (|a| + 128) + 128 |b|, so that n of them
    sum to at most 128 (sum of |a| + 128 n + sum of |b|); for 252 numbers of 16 bits this holds
    whatever they are (`SPLIT_BLOCK`).
    """
    for n in (1024, 512):
        if 128 * (_largest_row_sum(a, n) + 128 * n + _largest_column_sum(b, n)) < 2**31:
            return n
    return SPLIT_BLOCK


@kept(nogil=True)
def _largest_row_sum(a, block):
    """The largest sum of |a| over a block of a row."""
    largest = 0
    for i in range(a.shape[0]):
        for start in range(0, a.shape[1], block):
            total = 0
            for k in range(start, min(start + block, a.shape[1])):
                total += abs(np.int32(a[i, k]))
            largest = max(largest, total)
    return largest


@kept(nogil=True)
def _largest_column_sum(b, block):
    """The largest sum of |b| over a block of a column; 2^16 numbers and fewer stay within int32."""
    largest = 0
    for start in range(0, b.shape[0], block):
        totals = np.zeros(b.shape[1], np.int32)
        for k in range(start, min(start + block, b.shape[0])):
            for j in range(b.shape[1]):
                totals[j] += abs(np.int32(b[k, j]))
        largest = max(largest, totals.max())
    return largest


def upper_part(x: np.ndarray) -> np.ndarray:
    """x1 of x = 257 x1 + x0, |x0| <= 128, for int16: in [-128, 127]."""
    out = np.empty(x.shape, np.int8)
    _round_quotients(x.reshape(-1), out.reshape(-1))
    return out


@kept(nogil=True)
def _round_quotients(x, out):
    """out = floor((x + 128) / 257), with 65281 = (2^24 + 1) / 257: the product is off by less than
    2^7, and 2^15, less than 2^24 / 257, takes it past the multiples of 2^24 that it falls short of.
    """
    for i in range(x.size):
        out[i] = ((np.int32(x[i]) + 128) * 65281 + 32768) >> 24


def halves_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The exact product of full-scale int16 without byte products: A's two bytes, one by one.

    256 products of a byte and 16 bits sum to at most 256 * 255 * 2^15 < 2^31.
    """
    upper = tiled_matmul(a >> 8, b, "int16", block=256)
    return (upper << 8) + tiled_matmul(a & 255, b, "int16", block=256)
