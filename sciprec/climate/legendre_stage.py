"""The Legendre stage: blocked matrix products over degrees or latitudes, one per order and parity.

A product is sums[c] = sum over k of weights[k] table[k, c] for the real and the imaginary part of
one field. Its table lies in memory in the order in which it is used: blocks of 4 rows by 16
columns, filled up with zeros. Fields are computed one after the other, each by the same operations
whatever stands beside it.

Between the stages latitudes are in tiles of 16, first the northern ones from the pole on, then the
southern ones: Fourier coefficients are (fields, tiles, orders + 1, 32), a row being 16 real and
then 16 imaginary parts; rows of the last order are zero, as are lanes beyond the equator.
"""

from __future__ import annotations

import numpy as np

from sciprec.precision.compensation import lost_in_sum
from sciprec.precision.reduce import accumulate, product
from sciprec.precision.registry import kernel

LANES = 16
"""Columns of a block. The loop over them vectorises because its length is known."""
ROWS = 4
"""Rows of a block."""
PAIR = 2 * LANES
"""Real and imaginary parts of a tile."""


def _random(*shape):
    return np.random.default_rng(11).uniform(-1.0, 1.0, shape)


def _products_example():
    return _random(2, 8), _random(300), 40, 8, np.zeros((2, 64)), 2


@kernel(example=lambda: _products_example())
def sum_products(weights, table, first, rows, sums, tiles):
    """sums[c] = sum over k of weights[k] table[k, c], for two rows of weights at once.

    Args:
        weights: (2, at least rows): of real and of imaginary parts.
        table: flat, from `blocked`.
        first: where the matrix begins in it.
        rows: of the matrix, a multiple of 4.
        sums: (2, at least 32 tiles), row 0 written: for each tile 16 real, then 16 imaginary parts.
            Row 1 is work of `compensated_sum_products`; left alone.
        tiles: columns of the matrix / 16.

    Precision: one accumulator per column in ascending k, from zero; products in the matmul role,
        sums in the accumulate role of the backend.
    """
    flat = sums[0]
    for c in range(PAIR * tiles):
        flat[c] = 0.0
    place = first
    for k in range(0, rows, ROWS):
        a0 = weights[0, k]
        a1 = weights[0, k + 1]
        a2 = weights[0, k + 2]
        a3 = weights[0, k + 3]
        b0 = weights[1, k]
        b1 = weights[1, k + 1]
        b2 = weights[1, k + 2]
        b3 = weights[1, k + 3]
        for i in range(tiles):
            block = table[place : place + ROWS * LANES]
            total = flat[PAIR * i : PAIR * (i + 1)]
            for c in range(LANES):
                d = LANES + c
                p0 = block[c]
                p1 = block[d]
                p2 = block[2 * LANES + c]
                p3 = block[3 * LANES + c]
                re0 = accumulate(total[c], product(a0, p0))
                re1 = accumulate(re0, product(a1, p1))
                re2 = accumulate(re1, product(a2, p2))
                total[c] = accumulate(re2, product(a3, p3))
                im0 = accumulate(total[d], product(b0, p0))
                im1 = accumulate(im0, product(b1, p1))
                im2 = accumulate(im1, product(b2, p2))
                total[d] = accumulate(im2, product(b3, p3))
            place = place + ROWS * LANES


@kernel(example=lambda: _products_example())
def compensated_sum_products(weights, table, first, rows, sums, tiles):
    """`sum_products` with what each sum's rounding loses summed apart and added in the end.

    Args:
        weights, table, first, rows, tiles: as there.
        sums: row 1 is written, too: what the sums lost.

    Precision: products in the matmul role round once each and are not compensated; the error of
        the sums falls from n u to u + (n u)^2, relative to the sum of the absolute terms.
    Source: Neumaier (1974); Ogita, Rump and Oishi (2005), algorithm 4.4 (Sum2).
    """
    for c in range(PAIR * tiles):
        sums[0, c] = 0.0
        sums[1, c] = 0.0
    for k in range(rows):
        for part in range(2):
            weight = weights[part, k]
            for i in range(tiles):
                start = first + ((k // ROWS * tiles + i) * ROWS + k % ROWS) * LANES
                row = table[start : start + LANES]
                start = (2 * i + part) * LANES
                total = sums[0, start : start + LANES]
                lost = sums[1, start : start + LANES]
                for c in range(row.shape[0]):
                    term = product(weight, row[c])
                    following = total[c] + term
                    lost[c] = lost[c] + lost_in_sum(total[c], term, following)
                    total[c] = following
    for c in range(PAIR * tiles):
        sums[0, c] = sums[0, c] + sums[1, c]


def _example(table):
    functions = _random(9, 2)
    return table(functions, 2), *make_products_work(2, 4)


@kernel(example=lambda: (_random(9, 2), *_example(synthesis_table), np.zeros((1, 2, 4, 32))))
def legendre_synthesis(spectrum, table, weights, sums, fourier):
    """Fourier coefficients at every latitude: X[m] = sum over l of S[l, m] P[l, m].

    Args:
        spectrum: (coefficients, 2 fields).
        table: from `synthesis_table`.
        weights, sums: from `make_products_work`.
        fourier: (at least fields, tiles, orders + 1, 32), written but for the last order.

    Precision: even and odd l - m apart, each by `sum_products`; one addition joins them.
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
            gather_degrees(spectrum, first, degrees, f, weights)
            sum_products(weights[0], table, place, even_rows, sums[0], tiles)
            sum_products(weights[1], table, middle, odd_rows, sums[1], tiles)
            for i in range(tiles):
                even = sums[0, 0, PAIR * i : PAIR * (i + 1)]
                odd = sums[1, 0, PAIR * i : PAIR * (i + 1)]
                join_hemispheres(even, odd, fourier[f, i, m], fourier[f, tiles + i, m])
        place = middle + odd_rows * tiles * LANES
        first = first + degrees


def gather_degrees(spectrum, first, degrees, f, weights):
    """Coefficients of one order of field f as rows of weights, even and odd, zeros after them."""
    for odd in range(2):
        count = (degrees + 1 - odd) // 2
        for part in range(2):
            row = weights[odd, part]
            for n in range(count):
                row[n] = spectrum[first + odd + 2 * n, 2 * f + part]
            for n in range(count, (count + ROWS - 1) // ROWS * ROWS):
                row[n] = 0.0


def join_hemispheres(even, odd, northern, southern):
    """A tile of northern latitudes (even + odd) and its mirror image (even - odd), each (32,)."""
    for c in range(PAIR):
        northern[c] = even[c] + odd[c]
        southern[c] = even[c] - odd[c]


@kernel(example=lambda: (_random(1, 2, 4, 32), *_example(analysis_table), np.zeros((9, 2))))
def legendre_analysis(fourier, table, weights, sums, spectrum):
    """Coefficients from Fourier coefficients: S[l, m] = sum over j of w[j] P[l, m](j) X[m](j).

    Args:
        fourier: (at least fields, tiles, orders + 1, 32).
        table: from `analysis_table`.
        weights, sums: from `make_products_work`.
        spectrum: (coefficients, 2 fields), written.

    Precision: hemispheres are added or subtracted first, then sums from pole to equator by
        `sum_products`; each result is rounded from the accumulator to the format.
    """
    orders = fourier.shape[2] - 1
    tiles = fourier.shape[1] // 2
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        even_tiles = ((degrees + 1) // 2 + LANES - 1) // LANES
        odd_tiles = (degrees // 2 + LANES - 1) // LANES
        middle = place + tiles * LANES * even_tiles * LANES
        for f in range(spectrum.shape[1] // 2):
            for i in range(tiles):
                fold_hemispheres(fourier[f, i, m], fourier[f, tiles + i, m], i, weights)
            sum_products(weights[0], table, place, tiles * LANES, sums[0], even_tiles)
            sum_products(weights[1], table, middle, tiles * LANES, sums[1], odd_tiles)
            scatter_degrees(sums, first, degrees, f, spectrum)
        place = middle + tiles * LANES * odd_tiles * LANES
        first = first + degrees


def fold_hemispheres(northern, southern, i, weights):
    """Sums and differences of tile i of the latitudes and its mirror image as rows of weights."""
    for part in range(2):
        even = weights[0, part, LANES * i : LANES * (i + 1)]
        odd = weights[1, part, LANES * i : LANES * (i + 1)]
        here = northern[LANES * part : LANES * (part + 1)]
        there = southern[LANES * part : LANES * (part + 1)]
        for c in range(LANES):
            even[c] = here[c] + there[c]
            odd[c] = here[c] - there[c]


def scatter_degrees(sums, first, degrees, f, spectrum):
    """Even and odd sums to the coefficients of one order; times 1.0 rounds the accumulator."""
    for odd in range(2):
        total = sums[odd, 0]
        for n in range((degrees + 1 - odd) // 2):
            c = n // LANES * PAIR + n % LANES
            spectrum[first + odd + 2 * n, 2 * f] = 1.0 * total[c]
            spectrum[first + odd + 2 * n, 2 * f + 1] = 1.0 * total[c + LANES]


def blocked(matrix: np.ndarray) -> np.ndarray:
    """A matrix (rows, columns) flat in blocks of 4 x 16, filled up with zeros."""
    rows, columns = matrix.shape
    tall, wide = -(-rows // ROWS), -(-columns // LANES)
    filled = np.zeros((tall * ROWS, wide * LANES))
    filled[:rows, :columns] = matrix
    return filled.reshape(tall, ROWS, wide, LANES).swapaxes(1, 2).ravel()


def _matrices(functions: np.ndarray, number: int):
    """For each order the functions (degrees, latitudes) of even, then of odd l - m.

    Latitudes are filled up to whole tiles by zeros.
    """
    first, missing = 0, -functions.shape[1] % LANES
    functions = np.pad(functions, ((0, 0), (0, missing)))
    for degrees in range(number + 2, 1, -1):
        of_order = functions[first : first + degrees]
        yield of_order[0::2]
        yield of_order[1::2]
        first += degrees


def synthesis_table(functions: np.ndarray, number: int) -> np.ndarray:
    """The flat table of `legendre_synthesis` from functions (coefficients, nlat/2)."""
    return np.concatenate([blocked(matrix) for matrix in _matrices(functions, number)])


def analysis_table(functions: np.ndarray, number: int) -> np.ndarray:
    """The flat table of `legendre_analysis` from functions times weights (coefficients, nlat/2)."""
    return np.concatenate([blocked(matrix.T) for matrix in _matrices(functions, number)])


def make_products_work(number: int, nlat: int, dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
    """Work arrays of the Legendre stage: weights (2, 2, rows) and sums (2, 2, columns)."""
    longest = max(nlat // 2, number // 2 + 1)
    filled = -(-longest // LANES) * LANES
    return np.zeros((2, 2, filled), dtype), np.zeros((2, 2, 2 * filled), dtype)
