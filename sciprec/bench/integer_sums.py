"""The Legendre sums in integers: 32-bit factors, 64-bit sums, exact in any order."""

from __future__ import annotations

import numpy as np
from numba import njit

from sciprec.climate.grid import Truncation
from sciprec.climate.legendre_stage import LANES, PAIR, ROWS
from sciprec.climate.transform import make_tables

TABLE_BITS, FACTOR_BITS = 28, 27
"""Of the largest number of either kind: 128 products, each below 2^55, sum to less than 2^63."""


@njit(nogil=True, error_model="numpy")
def sum_integers(weights, table, first, rows, sums, tiles):
    """`legendre_stage.sum_products` for one row of sums: int32 factors, int64 sums."""
    for c in range(PAIR * tiles):
        sums[c] = 0
    place = first
    for k in range(0, rows, ROWS):
        a0 = np.int64(weights[0, k])
        a1 = np.int64(weights[0, k + 1])
        a2 = np.int64(weights[0, k + 2])
        a3 = np.int64(weights[0, k + 3])
        b0 = np.int64(weights[1, k])
        b1 = np.int64(weights[1, k + 1])
        b2 = np.int64(weights[1, k + 2])
        b3 = np.int64(weights[1, k + 3])
        for i in range(tiles):
            block = table[place : place + ROWS * LANES]
            total = sums[PAIR * i : PAIR * (i + 1)]
            for c in range(LANES):
                p0 = np.int64(block[c])
                p1 = np.int64(block[LANES + c])
                p2 = np.int64(block[2 * LANES + c])
                p3 = np.int64(block[3 * LANES + c])
                total[c] += (a0 * p0 + a1 * p1) + (a2 * p2 + a3 * p3)
                total[LANES + c] += (b0 * p0 + b1 * p1) + (b2 * p2 + b3 * p3)
            place = place + ROWS * LANES


@njit(nogil=True, error_model="numpy")
def integer_synthesis(spectrum, table, finer, unit, weights, sums, fourier):
    """`legendre_stage.legendre_synthesis` with exact sums of integers.

    Args:
        spectrum: (coefficients, 2 fields).
        table: int32, as that of `synthesis_table`.
        finer: what makes integers of the coefficients, a power of two.
        unit: of the coefficients' integers times that of the table's.
        weights: (2, 2, rows) int32, work.
        sums: (2, columns) int64, work.
        fourier: as there, written.
    """
    orders = fourier.shape[2] - 1
    tiles = fourier.shape[1] // 2
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        even_rows = ((degrees + 1) // 2 + ROWS - 1) // ROWS * ROWS
        odd_rows = (degrees // 2 + ROWS - 1) // ROWS * ROWS
        middle = place + even_rows * tiles * LANES
        for f in range(spectrum.shape[1] // 2):
            for odd in range(2):
                count = (degrees + 1 - odd) // 2
                for part in range(2):
                    row = weights[odd, part]
                    for n in range(count):
                        value = spectrum[first + odd + 2 * n, 2 * f + part]
                        row[n] = np.int32(np.rint(value * finer))
                    for n in range(count, (count + ROWS - 1) // ROWS * ROWS):
                        row[n] = 0
            sum_integers(weights[0], table, place, even_rows, sums[0], tiles)
            sum_integers(weights[1], table, middle, odd_rows, sums[1], tiles)
            for i in range(tiles):
                even = sums[0, PAIR * i : PAIR * (i + 1)]
                odds = sums[1, PAIR * i : PAIR * (i + 1)]
                northern = fourier[f, i, m]
                southern = fourier[f, tiles + i, m]
                for c in range(PAIR):
                    northern[c] = (even[c] + odds[c]) * unit
                    southern[c] = (even[c] - odds[c]) * unit
        place = middle + odd_rows * tiles * LANES
        first = first + degrees


def integers(values: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Values as int32 below 2^bits, and their unit, a power of two."""
    exponent = np.frexp(np.abs(values).max())[1] - bits
    return np.rint(np.ldexp(values, -exponent)).astype(np.int32), float(2.0**exponent)


class IntegerSums:
    """The Legendre stage of a synthesis, coefficients to integers included.

    Args:
        truncation: the truncation and its grid.
        spectrum: (coefficients, 2 fields).
        work: from `transform.make_work`, of as many fields.
    """

    def __init__(self, truncation: Truncation, spectrum: np.ndarray, work: tuple) -> None:
        (table, _), _ = make_tables(truncation)
        self.table, unit = integers(table, TABLE_BITS)
        own = integers(spectrum, FACTOR_BITS)[1]
        self.spectrum, self.finer, self.unit = spectrum, 1.0 / own, unit * own
        self.fourier, weights, sums, _ = work
        self.weights, self.sums = weights.astype(np.int32), sums[:, 0].astype(np.int64)

    def __call__(self) -> None:
        work = self.weights, self.sums, self.fourier
        integer_synthesis(self.spectrum, self.table, self.finer, self.unit, *work)
