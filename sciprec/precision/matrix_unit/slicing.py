"""Numbers as sums of integers, slice by slice, and what products of them are off by.

x = s (d1 + d2 2^-q + d3 2^-2q + ...),   q bits a slice, s a power of two

Source: Ozaki, Ogita, Oishi and Rump (2012), Error-free transformations of matrix multiplication by
    using fast routines; with integers: Ootomo, Ozaki and Yokota (2024).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sciprec.precision.integers.fixed_point import adaptive_quantize


def sliced(x: np.ndarray, bits: int, slices: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The slices of the numbers of each row, and the scales of the first.

    Args:
        x: (rows, n), finite or not.
        bits: of the integers, sign included.
        slices: how many.

    Returns:
        int8 arrays (rows, n), |d1| <= 2^q and |d2|, ... <= 2^(q - 1) with q = bits - 1; scales
        (rows,), NaN where a number of the row is not finite.

    Precision: every slice is the rest before it rounded to nearest, so that the rest after n slices
        is at most 2^-(q (n - 1)) / 2 of the scale. Rests are exact, but below 2^-1074.
    """
    first = adaptive_quantize(x, bits, axis=0, nonfinite="saturate")
    scale = first.scale.copy()
    made, rest, fine = [first.integers], x, scale
    with np.errstate(invalid="ignore", under="ignore"):
        for _ in range(slices - 1):
            rest = rest - made[-1] * fine
            fine = np.maximum(fine * 2.0 ** (1 - bits), 2.0**-1074)
            given = {"axis": 0, "scale": fine, "nonfinite": "saturate"}
            made.append(adaptive_quantize(rest, bits, **given).integers)
    if first.nans or first.saturated:
        scale[~np.isfinite(x).all(axis=1)] = np.nan
    return made, scale.reshape(-1)


def pairs_of(slices: int) -> list[tuple[int, int]]:
    """Which slices of the table and of the field are multiplied, from 0 on: i + j < n, the coarsest
    last, so that sums begin with the smallest.
    """
    return [(total - j, j) for total in range(slices - 1, -1, -1) for j in range(total + 1)]


def slice_bound(inner: int, bits: int, slices: int) -> Fraction:
    """How far the products of pairs i + j <= n + 1 are from the whole product at most, in units of
    both scales, before the additions in binary64.

    |C - A B| <= K sa sb ((2^q + 1/2) 2^-(n - 1) q + 2^-(2 n - 2) q / 4
                          + 2^(2 q - 2) sum over p >= n + 2 of (2 n + 1 - p) 2^-(p - 2) q)

    The first terms are what the rests after n slices come to: each is at most 2^-(n - 1) q / 2 of
    its scale, the numbers 2^q + 1/2. The sum is over the pairs i + j = p that are left out, whose
    integers are at most 2^(q - 1). As sa (2^q - 1/2) <= 2 max|A|, that is about
    (n + 3) K 2^-nq max|A| max|B|.

    Args:
        inner: K, products of a sum.
        bits: of the integers, sign included: q + 1.
        slices: n.
    """
    q, n = bits - 1, slices
    unit = Fraction(1, 2**q)
    rests = (2**q + Fraction(1, 2)) * unit ** (n - 1) + unit ** (2 * n - 2) / 4
    left_out = sum(
        ((2 * n + 1 - p) * unit ** (p - 2) for p in range(n + 2, 2 * n + 1)), Fraction(0)
    )
    return inner * (rests + Fraction(4**q, 4) * left_out)
