"""The Legendre sums in integers: 32-bit factors, 64-bit sums, exact in any order."""

from __future__ import annotations

import numpy as np
from numba import njit

from sciprec.arrays.aligned import aligned_copy
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre_stage import LANES, PAIR, ROWS
from sciprec.climate.transform.spectral import make_tables

TABLE_BITS, FACTOR_BITS = 28, 27
"""Of the largest number of either kind: 128 products, each below 2^55, sum to less than 2^63."""


@njit(nogil=True, error_model="numpy")
def sum_integers(weights, table, first, rows, sums, tiles):
    """`legendre_stage.sum_fields` for pairs of fields: int32 factors, int64 sums.

    Args:
        weights: (at least rows, 4 pairs) int32.
        table: int32, from `blocked`.
        first, rows, tiles: as there.
        sums: (at least 64 tiles pairs,) int64, written.
    """
    for pair in range(weights.shape[1] // 4):
        flat = sums[2 * PAIR * tiles * pair : 2 * PAIR * tiles * (pair + 1)]
        for c in range(flat.size):
            flat[c] = 0
        column = 4 * pair
        place = first
        for k in range(0, rows, ROWS):
            a0 = np.int64(weights[k, column])
            a1 = np.int64(weights[k + 1, column])
            a2 = np.int64(weights[k + 2, column])
            a3 = np.int64(weights[k + 3, column])
            b0 = np.int64(weights[k, column + 1])
            b1 = np.int64(weights[k + 1, column + 1])
            b2 = np.int64(weights[k + 2, column + 1])
            b3 = np.int64(weights[k + 3, column + 1])
            d0 = np.int64(weights[k, column + 2])
            d1 = np.int64(weights[k + 1, column + 2])
            d2 = np.int64(weights[k + 2, column + 2])
            d3 = np.int64(weights[k + 3, column + 2])
            e0 = np.int64(weights[k, column + 3])
            e1 = np.int64(weights[k + 1, column + 3])
            e2 = np.int64(weights[k + 2, column + 3])
            e3 = np.int64(weights[k + 3, column + 3])
            for i in range(tiles):
                block = table[place : place + ROWS * LANES]
                total = flat[2 * PAIR * i : 2 * PAIR * (i + 1)]
                for c in range(LANES):
                    p0 = np.int64(block[c])
                    p1 = np.int64(block[LANES + c])
                    p2 = np.int64(block[2 * LANES + c])
                    p3 = np.int64(block[3 * LANES + c])
                    total[c] += (a0 * p0 + a1 * p1) + (a2 * p2 + a3 * p3)
                    total[LANES + c] += (b0 * p0 + b1 * p1) + (b2 * p2 + b3 * p3)
                    total[PAIR + c] += (d0 * p0 + d1 * p1) + (d2 * p2 + d3 * p3)
                    total[PAIR + LANES + c] += (e0 * p0 + e1 * p1) + (e2 * p2 + e3 * p3)
                place = place + ROWS * LANES


@njit(nogil=True, error_model="numpy")
def integer_synthesis(spectrum, table, finer, unit, weights, sums, fourier):
    """`legendre_stage.legendre_synthesis` with exact sums of integers.

    Args:
        spectrum: (coefficients, 4 pairs): of an even number of fields.
        table: int32, as the numbers of `synthesis_table`, all of them.
        finer: what makes integers of the coefficients, a power of two.
        unit: of the coefficients' integers times that of the table's.
        weights: (2, rows, 4 pairs) int32, work.
        sums: (2, columns) int64, work.
        fourier: as there, written.
    """
    orders = fourier.shape[2] - 1
    tiles = fourier.shape[1] // 2
    width = spectrum.shape[1]
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        even_rows = ((degrees + 1) // 2 + ROWS - 1) // ROWS * ROWS
        odd_rows = (degrees // 2 + ROWS - 1) // ROWS * ROWS
        middle = place + even_rows * tiles * LANES
        for n in range(degrees):
            given = spectrum[first + n]
            row = weights[n % 2, n // 2]
            for c in range(width):
                row[c] = np.int32(np.rint(given[c] * finer))
        for n in range(degrees, 2 * even_rows):
            row = weights[n % 2, n // 2]
            for c in range(width):
                row[c] = 0
        sum_integers(weights[0], table, place, even_rows, sums[0], tiles)
        sum_integers(weights[1], table, middle, odd_rows, sums[1], tiles)
        for f in range(width // 2):
            for i in range(tiles):
                start = PAIR * (2 * (f // 2 * tiles + i) + f % 2)
                even = sums[0, start : start + PAIR]
                odds = sums[1, start : start + PAIR]
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
        weights, sums: from `make_products_work`, of as many fields.
        fourier: (fields, tiles, orders + 1, 32), written by every call.
    """

    def __init__(
        self,
        truncation: Truncation,
        spectrum: np.ndarray,
        weights: tuple[np.ndarray, np.ndarray],
        sums: np.ndarray,
        fourier: np.ndarray,
    ) -> None:
        ((table, *_), _), _ = make_tables(truncation)
        integral, unit = integers(table, TABLE_BITS)
        self.table = aligned_copy(integral)
        own = integers(spectrum, FACTOR_BITS)[1]
        self.spectrum, self.finer, self.unit = spectrum, 1.0 / own, unit * own
        self.weights = aligned_copy(weights[0], np.int32)
        self.sums, self.fourier = aligned_copy(sums[:, 0], np.int64), fourier

    def __call__(self) -> None:
        work = self.weights, self.sums, self.fourier
        integer_synthesis(self.spectrum, self.table, self.finer, self.unit, *work)
