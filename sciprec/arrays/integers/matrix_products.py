"""Matrix products in fixed point: integers with scales, sums that cannot overflow.

`fixed_matmul` is the product; below it stand the packing of panels and exact products of integers.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import ArrayLike

from sciprec.arrays.aligned import LINE_BYTES, aligned_part, aligned_zeros
from sciprec.arrays.integers import tiled_product
from sciprec.arrays.integers.fixed_point import Quantized, adaptive_quantize, checked_span
from sciprec.arrays.integers.tiled_product import SPLIT_BLOCK, Tile, add_product, tile_of
from sciprec.foundation.arguments import reals
from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.bits import bits as bits_of
from sciprec.precision.elementary.bits import inlined

LARGEST_SUM = 2**63 - 1
BLOCK = 512  # elements of a block of the sum
NEAR, FAR = 8, 16  # tiles of A and of B that the caches keep
SHORTEST_BLOCK = 48
"""Pairs of 16 bits take shorter blocks than this only where nothing is faster."""
KEPT_BYTES = 16 * 2**20
"""Panels up to this size stay in memory for the thread's next product: new memory costs time."""

MatrixOperand = ArrayLike | Quantized | tuple[ArrayLike, ArrayLike]
"""A matrix: numbers, or integers with their scale."""
_OPERAND = "floats, or integers of at most 32 bits with a scale"


def fixed_matmul(
    A: MatrixOperand,
    B: MatrixOperand,
    bits: int = 32,
    accurate: bool = False,
    scales: tuple[ArrayLike | None, ArrayLike | None] | None = None,
) -> np.ndarray:
    """The product of two matrices, multiplied and summed in integers.

    C = (sum over k of a[i, k] b[k, j]) * scale_a * scale_b,  with A = a * scale_a, B = b * scale_b

    Products of 8 and 16 bits are summed exactly: int8 and int16 multiply-add instructions, sums of
    32 bits over blocks that are proved short enough, then 64 bits. Products of up to 32 bits are
    summed in int64 (`accurate=False`) after as many operand bits are dropped as makes

        K max|a| max|b| <= 2^63 - 1

    true (K is the inner dimension), so that no sum of any of the products can overflow; one bit of
    one of the operands for each doubling of K, or none where the operands leave room. Or
    (`accurate=True`) they are summed exactly in two words of 64 bits.

    Args:
        A, B: matrices (M, K) and (K, N): floats, which `adaptive_quantize` turns into integers; or
            its result, or an (integers, scale) tuple, or integers (int8, int16, int32). A's scale
            is a number or (M, 1), B's a number or (1, N).
        bits: of the integers that floats become, 2 to 32.
        accurate: exact sums of products of more than 16 bits.
        scales: (scale_a, scale_b) for integers without a scale (1 otherwise), or with which
            floats are quantised (adaptive otherwise); either may be None.

    Returns:
        float64 (M, N).

    Raises:
        InputError: shapes that do not fit together, scales that vary along the inner dimension,
            integers wider than 32 bits, data that are no real numbers, NaN or infinities.

    Precision:
        The integer sum is rounded to binary64 once; scales that are no powers of two round twice
        more, results below 2^-1022 once more. Before that, in real numbers, with the scales sa and
        sb of the integers that are multiplied and any K:

            |C - A B| <= K (sb max|A| + sa max|B| + sa sb / 2) / 2

        where a scale counts as 0 if integers were given and lost no bit. An adaptive sa is at most
        2^(2 - b) max|A| (1 + 2^(1 - b)), with b = bits less the dropped ones. The same bits result
        whatever the processor.

    Differs from the source:
        The published description of the MLU370 multiplies full-scale int32 and sums in int64: two
        products of -2^31 and -2^31 are 2^63, which overflows.
    """
    checked_span(bits, 0)
    two_scales = _given_scales(scales)
    (rows, inner), (_, columns) = _shapes(A, B)
    a, scale_a = _operand("A", A, two_scales[0], bits)
    b, scale_b = _operand("B", B, two_scales[1], bits)
    if 0 in (rows, inner, columns):
        return np.zeros((rows, columns))
    wide = np.result_type(a, b)
    a, b = (np.ascontiguousarray(x, wide) for x in (a, b))
    if wide.itemsize <= 2:
        return _in_reals(integer_matmul(a, b), scale_a, scale_b)
    if accurate:
        low, high = tiled_matmul(a, b, "int64", exact=True)
        return _in_reals(rounded_sums(low, high), scale_a, scale_b)
    drop = _dropped_bits(inner, magnitude(a), magnitude(b))
    a, scale_a = _coarser(A, a, scale_a, bits, drop[0])
    b, scale_b = _coarser(B, b, scale_b, bits, drop[1])
    c = tiled_matmul(a, b, "int64")
    return _in_reals(c, scale_a, scale_b)


def _dropped_bits(inner: int, largest_a: int, largest_b: int) -> tuple[int, int]:
    """Return the numbers of low bits of A and of B to round away: the fewest, in turns, for which

        K * ceil(max|a| / 2^da) * ceil(max|b| / 2^db) <= 2^63 - 1

    A rounded operand is at most the ceiling, a product at most the product of both, and a sum of
    any of the K products at most the left side.
    """
    drop_a, drop_b = 0, 0
    while inner * -(-largest_a >> drop_a) * -(-largest_b >> drop_b) > LARGEST_SUM:
        if drop_a <= drop_b:
            drop_a += 1
        else:
            drop_b += 1
    return drop_a, drop_b


def _coarser(source, x, scale, bits: int, drop: int) -> tuple[np.ndarray, np.ndarray]:
    """The operand without its lowest bits, and its scale.

    Floats are rounded anew, so that they are rounded once. They exceed their integers' largest
    magnitude by half at most, which leaves them at most at the ceiling too.
    """
    if drop == 0:
        return x, scale
    scale = scale * 2.0**drop
    if _is_pair(source) or np.asarray(source).dtype.kind != "f":
        return _shifted(x, drop), scale
    return _quantized(source, bits, scale, drop).integers, scale


def _quantized(x, bits: int, scale, headroom: int = 0) -> Quantized:
    """Floats with a scale that is a number, a column or a row."""
    axis = None if scale.size == 1 else int(scale.shape[0] == 1)
    return adaptive_quantize(x, bits, headroom=headroom, scale=scale, axis=axis)


def _shifted(x: np.ndarray, drop: int) -> np.ndarray:
    """x / 2^drop, rounded to nearest with ties to even, for int32 in C order."""
    out = np.empty_like(x)
    _shift(x.reshape(-1), drop, out.reshape(-1))
    return out


@kept(nogil=True)
def _shift(x, drop, out):
    below_half = (1 << (drop - 1)) - 1
    for i in range(x.size):
        out[i] = (x[i] + below_half + ((x[i] >> drop) & 1)) >> drop


def rounded_sums(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Sums of products rounded once to binary64, in the memory of `low`, from the sums modulo 2^64
    and those of floor(product / 2^32), of fewer than 2^32 products.

    sum = 2^32 high + r, 0 <= r < 2^64, so that low - 2^32 high modulo 2^64 is r. In 2^32 h + l with
    0 <= l < 2^32 both terms are exact in binary64 up to |h| = 2^53, and their sum rounds once; if
    h is larger, bits far below the last one that counts are joined in one.
    """
    _join(low, high)
    return low.view(np.float64)


@kept(nogil=True, error_model="numpy")
def _join(low, high):
    for i in range(low.shape[0]):
        for j in range(low.shape[1]):
            rest = np.uint64(low[i, j] - (high[i, j] << 32))
            h = high[i, j] + np.int64(rest >> np.uint64(32))
            below = np.int64(rest & np.uint64(0xFFFF_FFFF))
            if abs(h) <= 1 << 53:
                low[i, j] = bits_of(float(h) * 4294967296.0 + float(below))
            else:
                joined = (h << 1) | (below >> 31) | np.int64((below & 0x7FFF_FFFF) != 0)
                low[i, j] = bits_of(float(joined) * 2147483648.0)


def _in_reals(c: np.ndarray, scale_a, scale_b) -> np.ndarray:
    """c * scale_a * scale_b in C order, for int64 or binary64 c, whose memory it may take.

    Scales beyond 2^450 and their inverses are applied without overflow or underflow on the way.
    """
    c = np.ascontiguousarray(c)
    powers = [np.frexp(scale)[1] for scale in (scale_a, scale_b)]
    if max(int(np.abs(power).max()) for power in powers) <= 450:
        rows, columns = (
            np.array(np.broadcast_to(np.reshape(scale, -1), n), np.float64)
            for scale, n in zip((scale_a, scale_b), c.shape, strict=True)
        )
        if c.dtype == np.int64:
            _scale_sums(c, rows, columns)
            return c.view(np.float64)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            c *= rows[:, None]
            c *= columns
        return c
    parts = [np.ldexp(x, -p) for x, p in zip((scale_a, scale_b), powers, strict=True)]
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(c * parts[0] * parts[1], powers[0] + powers[1])


@kept(nogil=True, error_model="numpy")
def _scale_sums(c, rows, columns):
    """c = c * rows * columns as binary64 numbers, in the memory of an int64 c."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = bits_of(float(c[i, j]) * rows[i] * columns[j])


def _given_scales(scales) -> tuple:
    if scales is None:
        return None, None
    if not isinstance(scales, tuple | list) or len(scales) != 2:
        raise InputError("scales is not a pair; give (scale of A, scale of B), each may be None")
    return tuple(scales)


def _is_pair(x) -> bool:
    return isinstance(x, Quantized) or (isinstance(x, tuple) and len(x) == 2)


def _shapes(A, B) -> tuple[tuple[int, int], tuple[int, int]]:
    """The shapes of the matrices, which fit together."""
    operands = (("A", A), ("B", B))
    a, b = (reals(n, tuple(x)[0] if _is_pair(x) else x, _OPERAND).shape for n, x in operands)
    if len(a) != 2 or len(b) != 2:
        raise InputError(
            f"fixed_matmul is given arrays of shapes {a} and {b}; it takes matrices: reshape a "
            "vector to one row or one column"
        )
    if a[1] != b[0]:
        raise InputError(
            f"matrices of shapes {a} and {b} cannot be multiplied: A has {a[1]} columns and B "
            f"{b[0]} rows; they have to be as many"
        )
    return (a[0], a[1]), (b[0], b[1])


def _operand(name: str, x, scale, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Integers and a scale that is constant along the inner dimension."""
    integers = x
    if _is_pair(x):
        if scale is not None:
            raise InputError(f"{name} comes with a scale, and scales gives another; leave one out")
        integers, scale = x
    integers = reals(name, integers, _OPERAND)
    axis = 0 if name == "A" else 1
    if scale is not None:
        scale = _checked_scale(name, scale, integers.shape, axis)
    if integers.dtype.kind == "f" and not _is_pair(x):
        adaptive = scale is None
        result = (
            adaptive_quantize(integers, bits) if adaptive else _quantized(integers, bits, scale)
        )
        return result.integers, result.scale
    if integers.dtype.kind != "i" or integers.itemsize > 4:
        raise InputError(
            f"{name} has dtype {integers.dtype}; it takes floats, or int8, int16 and int32 as "
            "integers with a scale: convert first"
        )
    return integers, np.asarray(1.0) if scale is None else scale


def _checked_scale(name: str, scale, shape: tuple[int, int], axis: int) -> np.ndarray:
    """A scale as a number or as a column for A, a row for B."""
    scale = np.asarray(scale, np.float64)
    along = tuple(n if i == axis else 1 for i, n in enumerate(shape))
    if scale.size != 1 and scale.shape != along:
        raise InputError(
            f"the scale of {name} has shape {scale.shape}; a number or shape {along} is accepted, "
            "because all products of one sum need the same scale"
        )
    if not (np.isfinite(scale) & (scale > 0)).all():
        raise InputError(f"a scale of {name} is not a finite number above zero; each one has to be")
    return scale.reshape(along) if scale.size != 1 else scale.reshape(())


class _Panels(threading.local):
    """The memory of this thread's panels, by their place among the operands."""

    def __init__(self):
        self.memory: dict[str, np.ndarray] = {}


_KEPT = _Panels()


def _panel_memory(place: str, count: int, dtype) -> np.ndarray:
    """Memory for panels, whatever it holds: lines beyond the matrix give sums that are cut off."""
    size = count * np.dtype(dtype).itemsize + LINE_BYTES
    raw = _KEPT.memory.get(place)
    if raw is None or raw.size < size:
        raw = np.empty(size, np.uint8)
        if size <= KEPT_BYTES:
            _KEPT.memory[place] = raw
    return aligned_part(raw, count, dtype)


def _rounded_up(n: int, size: int) -> int:
    return -(-n // size) * size


def row_panels(a: np.ndarray, tile: Tile, group: int, depth: int, dtype="i4", offset=False):
    """The panels of A (m, k): tiles of rows, groups of a lane's elements kept together.

    Args:
        group, depth: elements of a lane, and of a panel's row, a multiple of it.
        dtype: of a lane; wider than the group's elements, it holds one with its sign.
        offset: for int8: write a + 128, without sign.
    """
    words = np.ascontiguousarray(_deep(a, depth, 1)).view(f"i{a.itemsize * group}")
    count = _rounded_up(a.shape[0], tile.rows) * words.shape[1]
    out = _panel_memory(f"rows by {group}", count, dtype)
    _pack_rows(words, tile.rows, out.dtype.type(-0x7F7F7F80 if offset else 0), out)
    return out


def column_panels(b: np.ndarray, tile: Tile, group: int, depth: int, dtype="i4"):
    """The panels of B (k, n): tiles of columns, each lane with a group of elements of a column."""
    sign = "i" if group == 1 else "u"
    deep = np.ascontiguousarray(_deep(b, depth, 0)).view(f"{sign}{b.itemsize}")
    count = _rounded_up(b.shape[1], tile.columns) * depth // group
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
    depth = _rounded_up(a.shape[1], tile.group)
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
    rows, columns = _rounded_up(a.shape[0], tile.rows), _rounded_up(b.shape[1], tile.columns)
    c = aligned_zeros((*planes, rows, columns), dtype)
    add_product(packed, bias, c, depth, block, NEAR, FAR)
    return c[..., : a.shape[0], : b.shape[1]]


def _byte_bias(b: np.ndarray, tile: Tile, block: int) -> np.ndarray:
    """-128 times the sum of each column's block: bytes of A are multiplied as a + 128."""
    bias = np.zeros((-(-b.shape[0] // block), _rounded_up(b.shape[1], tile.columns)), np.int32)
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
    depth, block = _rounded_up(a.shape[1], 4), split_block(a, b)
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
