"""Real series along longitude by the fast transform: even longitudes are the real parts of a
complex series, odd ones its imaginary parts.

With z[n] = x[2 n] + i x[2 n + 1], Z its transform of length M = N / 2 and w = exp(-2 pi i / N):

    X[m] = (E + w^m O) / (2 N),  E = Z[m] + conj Z[M - m],  O = -i (Z[m] - conj Z[M - m])

and backwards, with X = 0 above the truncation,

    Z[k] = E + i O,  E = X[k] + conj X[M - k],  O = w^-k (X[k] - conj X[M - k])

A field that does not vary along a latitude has exactly no waves, in any arithmetic, and back.
Source: Cooley, Lewis and Welch (1970).
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.transform.fft import digit_reversed, fast_fourier, stage_waves
from sciprec.climate.transform.fourier import circle, first_of_tile
from sciprec.climate.transform.legendre_stage import LANES, PAIR
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(17).uniform(-1.0, 1.0, shape)


def _waves():
    return real_waves(8), np.zeros(1)


def _work():
    return np.zeros((2, 4, PAIR)), np.zeros(1)


@kernel(example=lambda: (_random(1, 8, 4), _waves(), _work(), np.zeros((1, 2, 4, PAIR))))
def fft_analysis(grid, waves, work, fourier):
    """Fourier coefficients X[m] = 1/N sum over n of x[n] exp(-2 pi i m n / N) of grid fields.

    Args:
        grid: (fields, N, nlat).
        waves: (`real_waves`, unused).
        work: (buffers (2, N/2, 32), unused).
        fourier: (at least fields, tiles, orders + 1, 32), written but for the last order; see
            `legendre_stage`.

    Precision: additions and products in the compute role; no sum is longer than log2 N + 2 terms.
        Intermediate results are up to N/2 times as large as the field.
    """
    stages, splits, positions = waves[0]
    buffers = work[0]
    length = buffers.shape[1]
    for f in range(grid.shape[0]):
        for i in range(fourier.shape[1]):
            take_longitudes(grid[f], i, fourier.shape[1] // 2, buffers[0])
            z = buffers[fast_fourier(buffers, stages)]
            for m in range(fourier.shape[2] - 1):
                mirror = z[positions[(length - m) % length]]
                split_waves(z[positions[m]], mirror, splits[0, m], fourier[f, i, m])


def take_longitudes(field, i, tiles, buffer):
    """A tile of latitudes of a field into a buffer, even and odd longitudes side by side.

    Args:
        field: (N, nlat).
        i, tiles: which tile, and how many a hemisphere has.
        buffer: (N/2, 32), written; lanes beyond the equator become zero.
    """
    start = first_of_tile(i, tiles, field.shape[1])
    count = min(LANES, field.shape[1] // 2 - LANES * (i % tiles))
    for n in range(buffer.shape[0]):
        row = buffer[n]
        even = field[2 * n, start : start + count]
        odd = field[2 * n + 1, start : start + count]
        for c in range(count):
            row[c] = even[c]
            row[LANES + c] = odd[c]
        for c in range(count, LANES):
            row[c] = 0.0
            row[LANES + c] = 0.0


def split_waves(z, mirror, wave, out):
    """X[m] from Z[m] and Z[M - m].

    Args:
        z, mirror: (32,).
        wave: (3,): 1, cosine and sine of 2 pi m / N, over 2 N.
        out: (32,), written.
    """
    scale = wave[0]
    cosine = wave[1]
    sine = wave[2]
    for c in range(LANES):
        odd_re = z[LANES + c] + mirror[LANES + c]
        odd_im = mirror[c] - z[c]
        even_re = z[c] + mirror[c]
        even_im = z[LANES + c] - mirror[LANES + c]
        out[c] = scale * even_re + (cosine * odd_re + sine * odd_im)
        out[LANES + c] = scale * even_im + (cosine * odd_im - sine * odd_re)


def _coefficients():
    fourier = _random(1, 2, 4, PAIR)
    fourier[:, :, 3] = 0.0
    return fourier


@kernel(example=lambda: (_coefficients(), _waves(), _work(), np.zeros((1, 8, 4))))
def fft_synthesis(fourier, waves, work, grid):
    """Fields x[n] = X[0] + 2 Re sum over m of X[m] exp(2 pi i m n / N) from Fourier coefficients.

    Args:
        fourier: (at least fields, tiles, orders + 1, 32); see `legendre_stage`. The imaginary part
            of order 0 is left out.
        waves: (`real_waves`, unused).
        work: (buffers (2, N/2, 32), unused).
        grid: (fields, N, nlat), written.

    Precision: additions and products in the compute role; no sum is longer than log2 N + 2 terms.
    """
    stages, splits, positions = waves[0]
    buffers = work[0]
    zero = fourier.shape[2] - 1
    length = buffers.shape[1]
    for f in range(grid.shape[0]):
        for i in range(fourier.shape[1]):
            tile = fourier[f, i]
            start_waves(tile[0], buffers[0, 0])
            for k in range(1, length // 2 + 1):
                mirror = tile[min(length - k, zero)]
                wave = splits[1, k]
                join_waves(tile[min(k, zero)], mirror, wave, buffers[0, k], buffers[0, length - k])
            z = buffers[fast_fourier(buffers, stages)]
            give_longitudes(z, positions, i, fourier.shape[1] // 2, grid[f])


def start_waves(values, z):
    """Z[0] from X[0], which is real."""
    for c in range(LANES):
        z[c] = values[c]
        z[LANES + c] = values[c]


def join_waves(values, mirrored, wave, z, mirror):
    """Z[k] and Z[M - k] from X[k] and X[M - k], imaginary parts first: a backward transform.

    Args:
        values, mirrored: (32,).
        wave: (3,): unused, cosine and sine of 2 pi k / N.
        z, mirror: (32,), written; for k = M / 2 they are the same.
    """
    cosine = wave[1]
    sine = wave[2]
    for c in range(LANES):
        even_re = values[c] + mirrored[c]
        even_im = values[LANES + c] - mirrored[LANES + c]
        apart_re = values[c] - mirrored[c]
        apart_im = values[LANES + c] + mirrored[LANES + c]
        odd_re = cosine * apart_re - sine * apart_im
        odd_im = cosine * apart_im + sine * apart_re
        z[c] = even_im + odd_re
        z[LANES + c] = even_re - odd_im
        mirror[c] = odd_re - even_im
        mirror[LANES + c] = even_re + odd_im


def give_longitudes(z, positions, i, tiles, field):
    """A tile of latitudes of a field from a buffer whose real and imaginary parts are exchanged.

    Args:
        z: (N/2, 32), rows in the order of `positions`.
        positions: from `real_waves`.
        i, tiles: which tile, and how many a hemisphere has.
        field: (N, nlat), written.
    """
    start = first_of_tile(i, tiles, field.shape[1])
    count = min(LANES, field.shape[1] // 2 - LANES * (i % tiles))
    for n in range(z.shape[0]):
        row = z[positions[n]]
        even = field[2 * n, start : start + count]
        odd = field[2 * n + 1, start : start + count]
        for c in range(count):
            even[c] = row[LANES + c]
            odd[c] = row[c]


def real_waves(nlon: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables of `fft_analysis` and `fft_synthesis`: stages, splits and positions.

    Returns:
        `fft.stage_waves`; (2, N/4 + 1, 3) or longer: 1, cosine and sine of 2 pi m / N, over 2 N for
        the analysis and plain for the synthesis; `fft.digit_reversed`.
    """
    length = nlon // 2
    cosine, sine = circle(np.arange(length), nlon)
    plain = np.stack([np.ones(length), cosine, sine], axis=-1)
    return stage_waves(length), np.stack([plain / (2 * nlon), plain]), digit_reversed(length)
