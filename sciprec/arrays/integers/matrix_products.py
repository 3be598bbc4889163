"""Matrix products in fixed point: integers with scales, sums that cannot overflow."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sciprec.arrays.integers.fixed_point import Quantized, adaptive_quantize, checked_span
from sciprec.arrays.integers.packed_matmul import integer_matmul, magnitude, tiled_matmul
from sciprec.foundation.arguments import reals
from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.elementary.bits import bits as bits_of

LARGEST_SUM = 2**63 - 1

Operand = ArrayLike | Quantized | tuple[ArrayLike, ArrayLike]
"""A matrix: numbers, or integers with their scale."""
_OPERAND = "floats, or integers of at most 32 bits with a scale"


def fixed_matmul(
    A: Operand,
    B: Operand,
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
        (_scale_sums if c.dtype == np.int64 else _scale_reals)(c, rows, columns)
        return c.view(np.float64)
    parts = [np.ldexp(x, -p) for x, p in zip((scale_a, scale_b), powers, strict=True)]
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(c * parts[0] * parts[1], powers[0] + powers[1])


@kept(nogil=True, error_model="numpy")
def _scale_sums(c, rows, columns):
    """c = c * rows * columns as binary64 numbers, in the memory of an int64 c."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = bits_of(float(c[i, j]) * rows[i] * columns[j])


@kept(nogil=True, error_model="numpy")
def _scale_reals(c, rows, columns):
    """c = c * rows * columns."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = c[i, j] * rows[i] * columns[j]


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
