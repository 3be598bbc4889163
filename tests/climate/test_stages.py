"""The stages of the transform: fast against plain Fourier sums, blocked against plain products."""


import numpy as np
import pytest

from sciprec import quantize
from sciprec.climate.transform.fft import (
    digit_reversed,
    fast_fourier,
    radices,
    stage_waves,
)
from sciprec.climate.transform.grid import resolve_truncation
from sciprec.climate.transform.legendre_stage import (
    LANES,
    PAIR,
    ROWS,
    compensated_sum_fields,
    start_of_sums,
    sum_fields,
    sum_fields_in_turn,
)
from sciprec.climate.transform.legendre_tables import blocked
from sciprec.climate.transform.spectral import (
    GROUP,
    SpectralTransform,
    keeping_sums,
    rounded,
)
from sciprec.precision import lift
from tests.climate.small_models import SMALL, random_spectrum

EPS = np.finfo(float).eps


@pytest.mark.parametrize("length", [4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 160, 192, 256])
def test_fast_transform_of_every_kind_of_length(length):
    numbers = np.random.default_rng(length).uniform(-1, 1, (2, length, LANES))
    buffers = np.zeros((2, length, PAIR))
    buffers[0] = np.concatenate(list(numbers), axis=1)
    found = buffers[fast_fourier(buffers, stage_waves(length))]
    found = found[digit_reversed(length)]
    expected = np.fft.fft(numbers[0] + 1j * numbers[1], axis=0)
    error = np.abs(found[:, :LANES] + 1j * found[:, LANES:] - expected)
    assert error.max() < 8 * len(radices(length)) * EPS * np.sqrt(length)
    assert np.prod(radices(length)) == length


@pytest.mark.slow
@pytest.mark.parametrize("name", ["T2", "T10", "T21", "T31"])
def test_both_fourier_stages_agree(name):
    fast, plain = (
        SpectralTransform(resolve_truncation(name), "fp64", f) for f in ("fft", "matrix")
    )
    spectrum = random_spectrum(fast, 3) / 16
    spectrum[fast.order == 0, 1::2] = 7.0
    fields = fast.to_grid(spectrum)
    np.testing.assert_allclose(plain.to_grid(spectrum), fields, rtol=0, atol=64 * EPS)
    back = [transform.to_spectrum(fields, extra_degree=True) for transform in (fast, plain)]
    np.testing.assert_allclose(back[1], back[0], rtol=0, atol=64 * EPS)


@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_fields_that_do_not_vary_along_latitudes_have_no_waves(backend):
    """To the last bit, in any arithmetic, and back."""
    transform = SpectralTransform(SMALL, backend)
    profile = np.random.default_rng(1).uniform(-1, 1, (2, 1, SMALL.nlat))
    spectrum = transform.to_spectrum(np.repeat(profile, SMALL.nlon, axis=1))
    assert not spectrum[transform.order > 0].any()
    assert not spectrum[:, 1::2].any() and spectrum[:, 0::2].any()
    fields = transform.to_grid(spectrum)
    np.testing.assert_array_equal(fields, fields[:, :1] * np.ones((1, SMALL.nlon, 1)))


@pytest.mark.parametrize("backend", ["fp64", "mlu370"])
def test_no_field_depends_on_those_beside_it(backend):
    transform = SpectralTransform(SMALL, backend)
    spectrum = random_spectrum(transform, GROUP + 3) / 16
    fields = transform.to_grid(spectrum)
    back = transform.to_spectrum(fields, extra_degree=True)
    for chosen in ([3], [GROUP, 0], [2, GROUP + 2, 3], np.arange(GROUP + 3)[::-1]):
        columns = np.array([[2 * f, 2 * f + 1] for f in chosen]).ravel()
        alone = transform.to_grid(spectrum[:, columns])
        np.testing.assert_array_equal(alone, fields[chosen])
        analysed = transform.to_spectrum(alone, extra_degree=True)
        np.testing.assert_array_equal(analysed, back[:, columns])


def products(backend, kernel, rows=64, columns=20):
    """Sums of a random product by a kernel, its factors, and the exact sums of its products."""
    rng = np.random.default_rng(6)
    weights, matrix = rng.uniform(-1, 1, (2, rows)), rng.uniform(-1, 1, (rows, columns))
    weights, table = (rounded(x, backend) for x in (weights, blocked(matrix).ravel()))
    tiles = -(-columns // LANES)
    sums = np.zeros((2, PAIR * tiles), backend.carrier)
    lifted = lift(kernel, keeping_sums(backend), trust_inputs=True)
    given = (
        np.ascontiguousarray(weights.T).reshape(-1, LANES, 2),
        np.concatenate([np.ones(3, table.dtype), table]),
    )
    lifted(*given, 3, np.array([[0, 0, rows]]), sums, tiles)
    lanes = sums[0].reshape(tiles, 2, LANES).swapaxes(0, 1).reshape(2, -1)[:, :columns]
    return lanes.astype(float), weights.astype(float), quantize(matrix, backend)


@pytest.mark.parametrize("kernel", [sum_fields, sum_fields_in_turn, compensated_sum_fields])
@pytest.mark.parametrize("fields", [1, 2, 5])
def test_sums_by_a_staircase_are_those_of_a_matrix_with_zeros_before_it(kernel, fields):
    """Stairs that begin at any tile, rows before the first of them left out; by Python."""
    rng = np.random.default_rng(fields)
    rows, columns, tiles = 40, 60, 4
    weights, matrix = rng.uniform(-1, 1, (rows, 2 * fields)), rng.uniform(-1, 1, (rows, columns))
    stairs = np.array([[3, 4, 12], [1, 12, 16], [0, 16, rows]])
    matrix[:4] = 0.0
    for begin, top, below in stairs:
        matrix[top:below, : LANES * begin] = 0.0
    blocks = blocked(matrix)
    kept = [blocks[a // ROWS : b // ROWS, begin:].ravel() for begin, a, b in stairs]
    given = np.zeros((3, LANES, 2 * fields))
    given.reshape(48, -1)[:rows] = weights
    sums = np.full((2, PAIR * tiles * fields), np.nan)
    ended = kernel(given, np.concatenate([np.ones(7), *kept]), 7, stairs, sums, tiles)
    assert ended == 7 + sum(map(len, kept))
    for f in range(fields):
        starts = [start_of_sums(f, i, tiles, fields) for i in range(tiles)]
        own = np.array([sums[0, s : s + PAIR] for s in starts]).reshape(tiles, 2, LANES)
        found = own.swapaxes(0, 1).reshape(2, -1)[:, :columns]
        exact = weights[:, 2 * f : 2 * f + 2].T @ matrix
        np.testing.assert_allclose(found, exact, rtol=0, atol=64 * EPS)
