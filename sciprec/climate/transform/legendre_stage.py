"""The Legendre stage: blocked matrix products over degrees or latitudes, one per order and parity.

A product is sums[c] = sum over k of weights[k] table[k, c] for the real and the imaginary part of
a field. Its table lies in memory in the order in which it is used: blocks of 4 rows by 16 columns,
filled up with zeros; blocks that are left out make a staircase of it (`legendre_tables`). Two
fields share what is read of it, and each has the same results whatever stands beside it.

Between the stages latitudes are in tiles of 16, first the northern ones from the pole on, then the
southern ones: Fourier coefficients are (fields, tiles, orders + 1, 32), a row being 16 real and
then 16 imaginary parts; rows of the last order are zero, as are lanes beyond the equator.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sciprec.arrays.aligned import aligned_zeros
from sciprec.arrays.sums.compensation import lost_in_sum
from sciprec.precision.operations.reduce import accumulate, product
from sciprec.precision.registry import kernel

LANES = 16
"""Columns of a block. The loop over them vectorises because its length is known."""
ROWS = 4
"""Rows of a block."""
PAIR = 2 * LANES
"""Real and imaginary parts of a tile."""


def _random(*shape):
    return np.random.default_rng(11).uniform(-1.0, 1.0, shape)


_STAIRS = np.array([[1, 0, 8], [0, 8, 20]])


def _products_example(fields):
    return _random(2, 16, 2 * fields), _random(800), 40, _STAIRS, np.zeros((2, 64 * fields)), 2


def _stair_example(fields, *rest):
    weights, table, first, stairs, *more = _products_example(fields)
    return weights, table, first, stairs[0], *more, *rest


def start_of_sums(field, i, tiles, fields):
    """Return the place of the sums of a field and of tile i: two fields lie side by side, tile by
    tile.
    """
    pair = field // 2
    beside = min(2, fields - 2 * pair)
    return PAIR * (2 * pair * tiles + beside * i + field % 2)


@kernel(example=lambda: _products_example(3))
def sum_fields(weights, table, first, stairs, sums, tiles):
    """sums[c] = sum over k of weights[k] table[k, c] for every field, k = 16 t + r.

    Two fields share what is read of the table; no field depends on what stands beside it.

    Args:
        weights: (at least rows / 16, 16, 2 fields): of real and imaginary parts in turn.
        table: flat, of blocks.
        first: where the matrix begins in it.
        stairs: (stairs, 3) integers: the first tile of columns that there is, the first row, and
            that after the last; rows are multiples of 4.
        sums: (2, at least 32 tiles fields), row 0 written: of each field and tile 16 real, then 16
            imaginary parts, see `start_of_sums`. Row 1 is work of `compensated_sum_fields`; left
            alone.
        tiles: columns of the matrix / 16.

    Returns:
        Where the next matrix begins.

    Precision: one accumulator per column in ascending k, from zero; products in the matmul role,
        sums in the accumulate role of the backend.
    """
    fields = weights.shape[2] // 2
    clear_sums(sums[0], tiles * fields)
    place = first
    for n in range(stairs.shape[0]):
        if fields > 1:
            sum_products_of_two(weights, table, place, stairs[n], sums, tiles)
        if fields % 2 == 1:
            sum_products(weights, table, place, stairs[n], sums, tiles, fields - 1)
        place = end_of_stair(place, stairs[n], tiles)
    return place


def sum_fields_in_turn(weights, table, first, stairs, sums, tiles):
    """Compute `sum_fields`, each field by the same operations in the source of the kernel.

    In fixed point an operation in the source has a unit of its own.
    """
    fields = weights.shape[2] // 2
    clear_sums(sums[0], tiles * fields)
    place = first
    for n in range(stairs.shape[0]):
        for f in range(fields):
            sum_products(weights, table, place, stairs[n], sums, tiles, f)
        place = end_of_stair(place, stairs[n], tiles)
    return place


def clear_sums(flat, count):
    """Set the sums of some tiles to zero."""
    total = flat[: PAIR * count]
    for c in range(total.shape[0]):
        total[c] = 0.0


def end_of_stair(first, stair, tiles):
    """Return the place in the table after the numbers of a stair that begin at `first`."""
    return first + (stair[2] - stair[1]) * (tiles - stair[0]) * LANES


@kernel(example=lambda: _stair_example(1, 0))
def sum_products(weights, table, first, stair, sums, tiles, field):
    """Add the products of a stair to the sums of a single field, see `sum_fields`.

    Args:
        weights, table, sums, tiles: as there.
        first: where the stair begins in the table.
        stair: a row of the stairs.
        field: which of the fields in the weights and the sums.
    """
    fields = weights.shape[2] // 2
    flat = sums[0]
    begin = stair[0]
    place = first
    for k in range(stair[1], stair[2], ROWS):
        t = k // LANES
        r = k % LANES
        a0 = weights[t, r, 2 * field]
        a1 = weights[t, r + 1, 2 * field]
        a2 = weights[t, r + 2, 2 * field]
        a3 = weights[t, r + 3, 2 * field]
        b0 = weights[t, r, 2 * field + 1]
        b1 = weights[t, r + 1, 2 * field + 1]
        b2 = weights[t, r + 2, 2 * field + 1]
        b3 = weights[t, r + 3, 2 * field + 1]
        for i in range(begin, tiles):
            block = table[place : place + ROWS * LANES]
            start = start_of_sums(field, i, tiles, fields)
            total = flat[start : start + PAIR]
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


@kernel(example=lambda: _stair_example(4))
def sum_products_of_two(weights, table, first, stair, sums, tiles):
    """Add the products of a stair to the sums of fields, two at once; an odd one is left.

    Args:
        weights, table, first, stair, sums, tiles: as in `sum_products`.
    """
    flat = sums[0]
    begin = stair[0]
    left = tiles - begin
    for pair in range(weights.shape[2] // 4):
        column = 4 * pair
        own = flat[2 * PAIR * (tiles * pair + begin) : 2 * PAIR * tiles * (pair + 1)]
        place = first
        for k in range(stair[1], stair[2], ROWS):
            t = k // LANES
            r = k % LANES
            a0 = weights[t, r, column]
            a1 = weights[t, r + 1, column]
            a2 = weights[t, r + 2, column]
            a3 = weights[t, r + 3, column]
            b0 = weights[t, r, column + 1]
            b1 = weights[t, r + 1, column + 1]
            b2 = weights[t, r + 2, column + 1]
            b3 = weights[t, r + 3, column + 1]
            f0 = weights[t, r, column + 2]
            f1 = weights[t, r + 1, column + 2]
            f2 = weights[t, r + 2, column + 2]
            f3 = weights[t, r + 3, column + 2]
            g0 = weights[t, r, column + 3]
            g1 = weights[t, r + 1, column + 3]
            g2 = weights[t, r + 2, column + 3]
            g3 = weights[t, r + 3, column + 3]
            for i in range(left):
                block = table[place : place + ROWS * LANES]
                total = own[2 * PAIR * i : 2 * PAIR * (i + 1)]
                for c in range(LANES):
                    d = LANES + c
                    e = PAIR + c
                    g = PAIR + LANES + c
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
                    re4 = accumulate(total[e], product(f0, p0))
                    re5 = accumulate(re4, product(f1, p1))
                    re6 = accumulate(re5, product(f2, p2))
                    total[e] = accumulate(re6, product(f3, p3))
                    im4 = accumulate(total[g], product(g0, p0))
                    im5 = accumulate(im4, product(g1, p1))
                    im6 = accumulate(im5, product(g2, p2))
                    total[g] = accumulate(im6, product(g3, p3))
                place = place + ROWS * LANES


@kernel(example=lambda: _products_example(2))
def compensated_sum_fields(weights, table, first, stairs, sums, tiles):
    """Compute `sum_fields`; each sum's rounding errors are summed apart and added in the end.

    Args:
        weights, table, first, stairs, tiles: as there.
        sums: row 1 is written, too: what the sums lost.

    Precision: products in the matmul role round once each and are not compensated; the error of
        the sums falls from n u to u + (n u)^2, relative to the sum of the absolute terms.
    Source: Neumaier (1974); Ogita, Rump and Oishi (2005), algorithm 4.4 (Sum2).
    """
    fields = weights.shape[2] // 2
    clear_sums(sums[0], tiles * fields)
    clear_sums(sums[1], tiles * fields)
    place = first
    for n in range(stairs.shape[0]):
        for f in range(fields):
            compensated_sum_products(weights, table, place, stairs[n], sums, tiles, f)
        place = end_of_stair(place, stairs[n], tiles)
    for i in range(tiles * fields):
        total = sums[0, PAIR * i : PAIR * (i + 1)]
        lost = sums[1, PAIR * i : PAIR * (i + 1)]
        for c in range(PAIR):
            total[c] = total[c] + lost[c]
    return place


@kernel(example=lambda: _stair_example(1, 0))
def compensated_sum_products(weights, table, first, stair, sums, tiles, field):
    """Add the products of a stair to the sums of a single field and to what they lost.

    Args:
        weights, table, first, stair, sums, tiles, field: as in `sum_products`; row 1 of the sums is
            written, too.
    """
    fields = weights.shape[2] // 2
    begin = stair[0]
    left = tiles - begin
    for i in range(begin, tiles):
        for part in range(2):
            start = start_of_sums(field, i, tiles, fields) + LANES * part
            total = sums[0, start : start + LANES]
            lost = sums[1, start : start + LANES]
            for k in range(stair[1], stair[2]):
                weight = weights[k // LANES, k % LANES, 2 * field + part]
                above = (k - stair[1]) // ROWS * left + i - begin
                place = first + (above * ROWS + k % ROWS) * LANES
                row = table[place : place + LANES]
                for c in range(row.shape[0]):
                    term = product(weight, row[c])
                    following = total[c] + term
                    lost[c] = lost[c] + lost_in_sum(total[c], term, following)
                    total[c] = following


def _example(even, odd, nlat):
    """A table of three orders with a stair for each parity, and work arrays."""
    return (_random(1536), np.array(3 * [even, odd]), np.arange(7)), *make_products_work(2, nlat, 1)


def _synthesis_example():
    return _random(9, 2), *_example([0, 0, 4], [1, 0, 4], 64), np.zeros((1, 4, 4, 32))


def _analysis_example():
    return _random(1, 2, 4, 32), *_example([0, 0, 16], [0, 8, 16], 32), np.zeros((9, 2))


@kernel(example=_synthesis_example)
def legendre_synthesis(spectrum, functions, weights, sums, fourier):
    """Fourier coefficients at every latitude: X[m] = sum over l of S[l, m] P[l, m].

    Args:
        spectrum: (coefficients, 2 fields).
        functions: from `synthesis_table`.
        weights, sums: from `make_products_work`.
        fourier: (at least fields, tiles, orders + 1, 32), written but for the last order.

    Precision: even and odd l - m apart, each by `sum_fields`; one addition joins them.
    """
    table, stairs, ends = functions
    orders = fourier.shape[2] - 1
    tiles = fourier.shape[1] // 2
    width = spectrum.shape[1]
    given = weights[0]
    even = given[0].reshape(given.shape[1] // LANES, LANES, given.shape[2])[:, :, :width]
    odd = given[1].reshape(given.shape[1] // LANES, LANES, given.shape[2])[:, :, :width]
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        middle = ends[2 * m + 1]
        gather_degrees(spectrum, first, degrees, given)
        place = sum_fields(even, table, place, stairs[ends[2 * m] : middle], sums[0], tiles)
        place = sum_fields(odd, table, place, stairs[middle : ends[2 * m + 2]], sums[1], tiles)
        join_hemispheres(sums, m, width // 2, fourier)
        first = first + degrees


def gather_degrees(spectrum, first, degrees, rows):
    """Coefficients of one order as rows of weights, even and odd, rows of zeros after them.

    Args:
        spectrum: (coefficients, 2 fields).
        first, degrees: the coefficients of the order.
        rows: (2, at least rows, at least 2 fields), even and odd, written.
    """
    width = spectrum.shape[1]
    for n in range(degrees):
        given = spectrum[first + n]
        row = rows[n % 2, n // 2]
        for c in range(width):
            row[c] = given[c]
    for n in range(degrees, (degrees + 2 * ROWS - 1) // (2 * ROWS) * 2 * ROWS):
        row = rows[n % 2, n // 2]
        for c in range(width):
            row[c] = 0.0


def join_hemispheres(sums, m, fields, fourier):
    """Northern latitudes, even + odd, and their mirror images, even - odd.

    Args:
        sums: of even and odd functions, as in `sum_fields`.
        m: the order.
        fields: how many of them.
        fourier: (at least fields, tiles, orders + 1, 32), the order written.
    """
    tiles = fourier.shape[1] // 2
    for f in range(fields):
        for i in range(tiles):
            start = start_of_sums(f, i, tiles, fields)
            even = sums[0, 0, start : start + PAIR]
            odd = sums[1, 0, start : start + PAIR]
            northern = fourier[f, i, m]
            southern = fourier[f, tiles + i, m]
            for c in range(PAIR):
                northern[c] = even[c] + odd[c]
                southern[c] = even[c] - odd[c]


@kernel(example=_analysis_example)
def legendre_analysis(fourier, functions, weights, sums, spectrum):
    """Coefficients from Fourier coefficients: S[l, m] = sum over j of w[j] P[l, m](j) X[m](j).

    Args:
        fourier: (at least fields, tiles, orders + 1, 32).
        functions: from `analysis_table`.
        weights, sums: from `make_products_work`.
        spectrum: (coefficients, 2 fields), written.

    Precision: hemispheres are added or subtracted first, then sums from pole to equator by
        `sum_fields`; each result is rounded from the accumulator to the format.
    """
    table, stairs, ends = functions
    orders = fourier.shape[2] - 1
    width = spectrum.shape[1]
    folded = weights[1]
    blocks = folded.shape[1], 2 * folded.shape[2], LANES
    even = np.swapaxes(folded[0].reshape(blocks), 1, 2)[:, :, :width]
    odd = np.swapaxes(folded[1].reshape(blocks), 1, 2)[:, :, :width]
    first = 0
    place = 0
    for m in range(orders):
        degrees = orders + 1 - m
        even_tiles = ((degrees + 1) // 2 + LANES - 1) // LANES
        odd_tiles = (degrees // 2 + LANES - 1) // LANES
        middle = ends[2 * m + 1]
        fold_hemispheres(fourier, m, width // 2, folded)
        place = sum_fields(even, table, place, stairs[ends[2 * m] : middle], sums[0], even_tiles)
        place = sum_fields(odd, table, place, stairs[middle : ends[2 * m + 2]], sums[1], odd_tiles)
        scatter_degrees(sums, first, degrees, spectrum)
        first = first + degrees


def fold_hemispheres(fourier, m, fields, folded):
    """Sums and differences of the latitudes and their mirror images as columns of weights.

    Args:
        fourier: (at least fields, tiles, orders + 1, 32).
        m: the order.
        fields: how many of them.
        folded: (2, tiles, at least fields, 32), even and odd, written.
    """
    tiles = fourier.shape[1] // 2
    for f in range(fields):
        for i in range(tiles):
            northern = fourier[f, i, m]
            southern = fourier[f, tiles + i, m]
            even = folded[0, i, f]
            odd = folded[1, i, f]
            for c in range(PAIR):
                even[c] = northern[c] + southern[c]
                odd[c] = northern[c] - southern[c]


def scatter_degrees(sums, first, degrees, spectrum):
    """Even and odd sums to the coefficients of one order; times 1.0 rounds the accumulator.

    Args:
        sums: of even and odd functions, as in `sum_fields`.
        first, degrees: the coefficients of the order.
        spectrum: (coefficients, 2 fields), these coefficients written.
    """
    fields = spectrum.shape[1] // 2
    even = sums[0, 0]
    odd = sums[1, 0]
    pairs = degrees // 2
    even_tiles = ((degrees + 1) // 2 + LANES - 1) // LANES
    odd_tiles = (pairs + LANES - 1) // LANES
    rows = spectrum[first : first + degrees]
    for f in range(fields):
        for i in range(odd_tiles):
            begin = start_of_sums(f, i, even_tiles, fields)
            start = start_of_sums(f, i, odd_tiles, fields)
            here = even[begin : begin + PAIR]
            there = odd[start : start + PAIR]
            for c in range(min(LANES, pairs - LANES * i)):
                n = 2 * (LANES * i + c)
                rows[n, 2 * f] = 1.0 * here[c]
                rows[n, 2 * f + 1] = 1.0 * here[c + LANES]
                rows[n + 1, 2 * f] = 1.0 * there[c]
                rows[n + 1, 2 * f + 1] = 1.0 * there[c + LANES]
        if degrees % 2 == 1:
            c = start_of_sums(f, pairs // LANES, even_tiles, fields) + pairs % LANES
            rows[degrees - 1, 2 * f] = 1.0 * even[c]
            rows[degrees - 1, 2 * f + 1] = 1.0 * even[c + LANES]


def make_products_work(
    number: int, nlat: int, fields: int, dtype: type = np.float64,
    zeros: Callable[..., np.ndarray] = aligned_zeros,
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:  # fmt: skip
    """Return work arrays of the Legendre stage for up to some fields; `zeros` makes them.

    Returns:
        Weights of the synthesis (2, rows, 2 fields) and of the analysis (2, tiles, fields, 32), of
        even and odd functions; sums (2, 2, columns), as in `sum_fields`.
    """
    longest = max(nlat // 2, (number + 3) // 2)
    filled = -(-longest // LANES) * LANES
    plain, folded = (2, filled, 2 * fields), (2, filled // LANES, fields, PAIR)
    return (
        (zeros(plain, dtype), zeros(folded, dtype)),
        zeros((2, 2, 2 * filled * fields), dtype),
    )
