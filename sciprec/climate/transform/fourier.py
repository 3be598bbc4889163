"""The Fourier stage as folded matrix products: discrete Fourier transforms along longitude.

The four longitudes n, N/2 - n, N/2 + n and N - n share their cosines and sines up to a sign, so
that even and odd wavenumbers are sums over a quarter of the circle. Every sum of products of a
transform is in `sum_of_rows`; latitudes are the contiguous inner axis.
"""

from __future__ import annotations

import numpy as np

from sciprec.arrays.sums.compensation import lost_in_sum
from sciprec.climate.transform.legendre_stage import LANES
from sciprec.foundation.portable import portable
from sciprec.precision.operations.reduce import accumulate, product
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(7).uniform(-1.0, 1.0, shape)


def _rows_example():
    return _random(7), _random(7, 5), 1, 1, 6, np.zeros(5), np.zeros(5)


@kernel(example=lambda: _rows_example())
def sum_of_rows(weights, rows, start, stride, count, out, lost):
    """out[c] = sum of weights[k] rows[k, c] over count >= 1 numbers k = start, start + stride, ...

    Args:
        weights: (n,).
        rows: (n, width).
        start, stride, count: which k, in ascending order.
        out: (width,), written.
        lost: (width,), work of `compensated_sum_of_rows`; left alone.

    Precision: one accumulator per column in the order of k; products in the matmul role, sums in
        the accumulate role of the backend.
    """
    width = rows.shape[1]
    a = weights[start]
    for c in range(width):
        out[c] = product(a, rows[start, c])
    k = start + stride
    last = start + count * stride
    while k + 3 * stride < last:
        k1 = k + stride
        k2 = k1 + stride
        k3 = k2 + stride
        a = weights[k]
        a1 = weights[k1]
        a2 = weights[k2]
        a3 = weights[k3]
        for c in range(width):
            sum1 = accumulate(out[c], product(a, rows[k, c]))
            sum2 = accumulate(sum1, product(a1, rows[k1, c]))
            sum3 = accumulate(sum2, product(a2, rows[k2, c]))
            out[c] = accumulate(sum3, product(a3, rows[k3, c]))
        k = k3 + stride
    while k < last:
        a = weights[k]
        for c in range(width):
            out[c] = accumulate(out[c], product(a, rows[k, c]))
        k = k + stride


@kernel(example=lambda: _rows_example())
def compensated_sum_of_rows(weights, rows, start, stride, count, out, lost):
    """Compute `sum_of_rows`; each sum's rounding errors are summed apart and added in the end.

    Args:
        weights, rows, start, stride, count, out: as there.
        lost: (width,), written: what the sums lost.

    Precision: products in the matmul role round once each and are not compensated; the error of
        the sums falls from n u to u + (n u)^2, relative to the sum of the absolute terms.
    Source: Neumaier (1974); Ogita, Rump and Oishi (2005), algorithm 4.4 (Sum2).
    """
    width = rows.shape[1]
    for c in range(width):
        out[c] = 0.0
        lost[c] = 0.0
    for n in range(count):
        k = start + n * stride
        a = weights[k]
        for c in range(width):
            term = product(a, rows[k, c])
            total = out[c] + term
            lost[c] = lost[c] + lost_in_sum(out[c], term, total)
            out[c] = total
    for c in range(width):
        out[c] = out[c] + lost[c]


def _work():
    return np.zeros(1), np.zeros((5, 3, 4)), np.zeros((2, 3, 4))


def _analysis_example():
    waves = np.zeros(1), analysis_waves(2, 8)
    return _random(1, 8, 4), waves, _work(), np.zeros((1, 2, 4, 2 * LANES))


@kernel(example=lambda: _analysis_example())
def fourier_analysis(grid, waves, work, fourier):
    """Fourier coefficients X[m] = 1/N sum over n of x[n] exp(-2 pi i m n / N) of grid fields.

    Args:
        grid: (fields, N, nlat), fields in the model's order of latitudes.
        waves: (unused, `analysis_waves`).
        work: (unused, (5, N/4 + 1, nlat), (2, orders, nlat)); the last of the five is that of the
            sums.
        fourier: (at least fields, tiles, orders + 1, 32), written but for the last order; see
            `legendre_stage`.

    Precision: four-fold folding first, then sums over the quarter circle by `sum_of_rows`.
    """
    cosines = waves[1]
    folded = work[1]
    out = work[2]
    quarter = cosines.shape[2] - 1
    half = 2 * quarter
    nlon = 4 * quarter
    for f in range(grid.shape[0]):
        for n in range(quarter + 1):
            fold_longitudes(grid[f], n, half - n, half + n, (nlon - n) % nlon, folded)
        for m in range(cosines.shape[1]):
            for part in range(2):
                rows = folded[2 * part + m % 2]
                lost = folded[4, 0]
                sum_of_rows(cosines[part, m], rows, 0, 1, quarter + 1, out[part, m], lost)
        pack_tiles(out, fourier[f])


def first_of_tile(i, tiles, nlat):
    """Return the first latitude of tile i of 2 tiles on an axis of northern, then southern
    latitudes.
    """
    return LANES * (i % tiles) + nlat // 2 * (i // tiles)


def pack_tiles(rows, tiled):
    """Rows (2, orders, nlat) as tiles (tiles, at least orders, 32), zero beyond the equator."""
    half = tiled.shape[0] // 2
    nlat = rows.shape[2]
    for i in range(tiled.shape[0]):
        start = first_of_tile(i, half, nlat)
        count = min(LANES, nlat // 2 - LANES * (i % half))
        for m in range(rows.shape[1]):
            for part in range(2):
                row = rows[part, m, start : start + count]
                out = tiled[i, m, LANES * part : LANES * (part + 1)]
                for c in range(count):
                    out[c] = row[c]
                for c in range(count, LANES):
                    out[c] = 0.0


def unpack_tiles(tiled, rows):
    """Rows (2, orders, nlat) from tiles; see `pack_tiles`."""
    half = tiled.shape[0] // 2
    nlat = rows.shape[2]
    for i in range(tiled.shape[0]):
        start = first_of_tile(i, half, nlat)
        count = min(LANES, nlat // 2 - LANES * (i % half))
        for m in range(rows.shape[1]):
            for part in range(2):
                row = rows[part, m, start : start + count]
                given = tiled[i, m, LANES * part : LANES * (part + 1)]
                for c in range(count):
                    row[c] = given[c]


@kernel(example=lambda: (_random(8, 4), 1, 3, 5, 7, np.zeros((4, 3, 4))))
def fold_longitudes(x, n, mirror, opposite, last, folded):
    """Sums and differences of the four longitudes that share their cosines and sines.

    At n = 0 and n = N/4 some of the four coincide; the tables carry the factor 1/2 of that.

    Args:
        x: (N, nlat).
        n, mirror, opposite, last: n, N/2 - n, N/2 + n, N - n (modulo N).
        folded: (4, N/4 + 1, nlat), row n written: even and odd cosine, even and odd sine part.
    """
    for j in range(x.shape[1]):
        folded[0, n, j] = (x[n, j] + x[last, j]) + (x[mirror, j] + x[opposite, j])
    for j in range(x.shape[1]):
        folded[1, n, j] = (x[n, j] + x[last, j]) - (x[mirror, j] + x[opposite, j])
    for j in range(x.shape[1]):
        folded[2, n, j] = (x[n, j] - x[last, j]) - (x[mirror, j] - x[opposite, j])
    for j in range(x.shape[1]):
        folded[3, n, j] = (x[n, j] - x[last, j]) + (x[mirror, j] - x[opposite, j])


def _synthesis_example():
    waves = np.zeros(1), synthesis_waves(2, 8)
    return _random(1, 2, 4, 2 * LANES), waves, _work(), np.zeros((1, 8, 4))


@kernel(example=lambda: _synthesis_example())
def fourier_synthesis(fourier, waves, work, grid):
    """Fields x[n] = X[0] + 2 Re sum over m of X[m] exp(2 pi i m n / N) from Fourier coefficients.

    Args:
        fourier: (at least fields, tiles, orders + 1, 32); see `legendre_stage`. The imaginary part
            of order 0 is left out.
        waves: (unused, `synthesis_waves`).
        work: (unused, (5, N/4 + 1, nlat), (2, orders, nlat)); the last of the five is that of the
            sums.
        grid: (fields, N, nlat), written.

    Precision: sums over even and over odd orders by `sum_of_rows`, unfolded by two additions each.
    """
    cosines = waves[1]
    parts = work[1]
    given = work[2]
    nlon = 4 * (cosines.shape[1] - 1)
    half = nlon // 2
    orders = cosines.shape[2]
    for f in range(grid.shape[0]):
        unpack_tiles(fourier[f], given)
        for n in range(nlon // 4 + 1):
            for k in range(4):
                part = k // 2
                odd = k % 2
                rows = given[part]
                count = (orders + 1 - odd) // 2
                sum_of_rows(cosines[part, n], rows, odd, 2, count, parts[k, n], parts[4, n])
            unfold_longitudes(parts, n, half - n, half + n, (nlon - n) % nlon, grid[f])


@kernel(example=lambda: (_random(4, 3, 4), 1, 3, 5, 7, np.zeros((8, 4))))
def unfold_longitudes(parts, n, mirror, opposite, last, x):
    """The four longitudes that share their cosines and sines, from even and odd partial sums.

    Args:
        parts: (4, N/4 + 1, nlat): cosines of even and odd, sines of even and odd orders;
            row n is read.
        n, mirror, opposite, last: n, N/2 - n, N/2 + n, N - n (modulo N).
        x: (N, nlat), four rows written.
    """
    for j in range(x.shape[1]):
        x[n, j] = (parts[0, n, j] + parts[1, n, j]) + (parts[2, n, j] + parts[3, n, j])
    for j in range(x.shape[1]):
        x[mirror, j] = (parts[0, n, j] - parts[1, n, j]) - (parts[2, n, j] - parts[3, n, j])
    for j in range(x.shape[1]):
        x[opposite, j] = (parts[0, n, j] - parts[1, n, j]) + (parts[2, n, j] - parts[3, n, j])
    for j in range(x.shape[1]):
        x[last, j] = (parts[0, n, j] + parts[1, n, j]) - (parts[2, n, j] + parts[3, n, j])


def circle(multiple: np.ndarray, nlon: int) -> tuple[np.ndarray, np.ndarray]:
    """cos and sin of 2 pi multiple / nlon from angles below pi/4: zeros, symmetries are exact."""
    k = np.asarray(multiple) % nlon
    upper = np.minimum(k, nlon - k)
    first = np.minimum(upper, nlon // 2 - upper)
    near_axis = first * 8 <= nlon
    small = 2 * np.pi * np.where(near_axis, first, nlon // 4 - first) / nlon
    cosine, sine = (portable(function, small) for function in (np.cos, np.sin))
    cosine, sine = np.where(near_axis, cosine, sine), np.where(near_axis, sine, cosine)
    sine = np.where(first * 8 == nlon, cosine, sine)
    return np.where(upper * 4 <= nlon, cosine, -cosine), np.where(k * 2 <= nlon, sine, -sine)


def analysis_waves(truncation: int, nlon: int) -> np.ndarray:
    """cos/N and -sin/N, (2, truncation + 1, nlon/4 + 1), halved where longitudes coincide."""
    n = np.arange(nlon // 4 + 1)
    cosine, sine = circle(np.outer(np.arange(truncation + 1), n), nlon)
    return np.stack([cosine, -sine]) * np.where((n == 0) | (n == nlon // 4), 0.5, 1.0) / nlon


def synthesis_waves(truncation: int, nlon: int) -> np.ndarray:
    """2 cos and -2 sin (1 and 0 for m = 0), (2, nlon/4 + 1, truncation + 1)."""
    m = np.arange(truncation + 1)
    cosine, sine = circle(np.outer(np.arange(nlon // 4 + 1), m), nlon)
    return np.stack([cosine, -sine]) * np.where(m == 0, 1.0, 2.0)
