"""The tables of the Legendre stage: blocks of 4 x 16 numbers, without those that are negligible.

Functions of a high order are tiny near the poles, the more so the closer their degree is to the
order. Where a block holds no number above a limit, the unit roundoff of the arithmetic, its
products are below the rounding of the sums that they are part of. The blocks before the first one
of each four rows that counts are left out, of the table and of the loops: the rest is a staircase,
since the first one that counts comes earlier from row to row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sciprec.climate.transform.legendre_stage import LANES, ROWS

LEAST_LEFT_OUT = 64
"""The truncation from which on blocks are left out. Below it that saves less than 3 % of the time,
at T42 nothing of a synthesis, and results stay what they have always been."""
LEAST_IN_BINARY32 = 2.0**-63
"""Smaller numbers are zero in arrays of binary32: products of two such numbers are the least normal
ones. Subnormal results leave the fast path of some processors; with them a step in fp32 at T42
took 1.6 times as long."""

Functions = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The numbers, flat; (stairs, 3), for each the first tile of columns that there is, its first row
and that after its last one; where the stairs of the even, then odd functions of each order begin
and end in these."""


def synthesis_table(
    functions: np.ndarray, number: int, negligible: float | None = None
) -> Functions:
    """Return the table of `legendre_synthesis`: rows are degrees, columns northern latitudes.

    Args:
        functions: (coefficients, nlat/2).
        number: of the truncation.
        negligible: the largest number of blocks that are left out; None, none is.
    """
    small = _small(number, negligible)
    return _table(((m, m) for m in _matrices(functions, number)), small)


def analysis_table(
    functions: np.ndarray, weighted: np.ndarray, number: int, negligible: float | None = None
) -> Functions:
    """Return the table of `legendre_analysis`: rows are northern latitudes, columns degrees.

    Args:
        functions, number, negligible: as for `synthesis_table`.
        weighted: the functions times the Gauss weights.
    """
    pairs = zip(_matrices(weighted, number), _matrices(functions, number), strict=True)
    return _table(((a.T, b.T) for a, b in pairs), _small(number, negligible))


def drop_tiny(functions: Functions) -> None:
    """Set to zero, in a table of binary32, the numbers whose products with coefficients would be
    subnormal. They are below 2^-39 of the unit roundoff of the sums that they are part of.
    """
    numbers = functions[0]
    numbers[np.abs(numbers) < LEAST_IN_BINARY32] = 0.0


def blocked(matrix: np.ndarray) -> np.ndarray:
    """A matrix (rows, columns) in blocks: (rows / 4, columns / 16, 64), filled up with zeros."""
    rows, columns = matrix.shape
    tall, wide = -(-rows // ROWS), -(-columns // LANES)
    filled = np.zeros((tall * ROWS, wide * LANES))
    filled[:rows, :columns] = matrix
    apart = filled.reshape(tall, ROWS, wide, LANES).swapaxes(1, 2)
    return apart.reshape(tall, wide, ROWS * LANES)


def _small(number: int, negligible: float | None) -> float | None:
    return negligible if number >= LEAST_LEFT_OUT else None


def _table(pairs: Iterator[tuple[np.ndarray, np.ndarray]], small: float | None) -> Functions:
    """Return the table of some matrices, judged by the sizes of some functions."""
    numbers, stairs, ends = [], [], [0]
    for matrix, judged in pairs:
        blocks = blocked(matrix)
        tall, wide, _ = blocks.shape
        begins = np.zeros(tall, int)
        if small is not None:
            counts = np.abs(blocked(judged)).max(axis=2) > small
            begins = np.where(counts.any(axis=1), counts.argmax(axis=1), wide)
            begins = np.minimum.accumulate(begins)
        for begin in np.unique(begins[begins < wide])[::-1]:
            (rows,) = np.nonzero(begins == begin)
            stairs.append((begin, ROWS * rows[0], ROWS * (rows[-1] + 1)))
            numbers.append(blocks[rows, begin:].ravel())
        ends.append(len(stairs))
    return np.concatenate(numbers), np.array(stairs), np.array(ends)


def _matrices(functions: np.ndarray, number: int) -> Iterator[np.ndarray]:
    """Yield for each order the functions (degrees, latitudes) of even, then of odd l - m.

    Latitudes are filled up to whole tiles by zeros.
    """
    first, missing = 0, -functions.shape[1] % LANES
    functions = np.pad(functions, ((0, 0), (0, missing)))
    for degrees in range(number + 2, 1, -1):
        of_order = functions[first : first + degrees]
        yield of_order[0::2]
        yield of_order[1::2]
        first += degrees
