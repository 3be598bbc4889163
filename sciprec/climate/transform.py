"""The spectral transform: spherical-harmonic coefficients to grid fields and back.

Coefficients are rows (l, m) of real numbers, m-major as in `legendre.coefficient_orders`; the
columns are the real and imaginary parts of each field in turn. The sums over latitudes and degrees
use the symmetry of the hemispheres; all of them are `fourier.sum_of_rows`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from sciprec.climate.fourier import (
    analysis_waves,
    fourier_analysis,
    fourier_synthesis,
    sum_of_rows,
    synthesis_waves,
)
from sciprec.climate.grid import GaussianGrid, Truncation
from sciprec.climate.legendre import coefficient_orders, legendre_table
from sciprec.precision import Backend, lift, quantize, resolve_backend
from sciprec.precision.registry import kernel


def _random(*shape):
    return np.random.default_rng(11).uniform(-1.0, 1.0, shape)


@kernel(example=lambda: (_random(9, 2), _random(2, 9), np.zeros((3, 2, 2)), np.zeros((2, 3, 4))))
def legendre_synthesis(spectrum, legendre, hemispheres, fourier):
    """Fourier coefficients at every latitude: X[m] = sum over l of S[l, m] P[l, m].

    Args:
        spectrum: (coefficients, parts).
        legendre: (nlat/2, coefficients), functions at the northern latitudes.
        hemispheres: (3, nlat/2, at least parts), work: sums even and odd in latitude, and that of
            the sums themselves.
        fourier: (at least parts, orders, nlat), written.

    Precision: even and odd l - m apart, each in ascending l; one addition joins them.
    """
    north = legendre.shape[0]
    orders = fourier.shape[1]
    first = 0
    for m in range(orders):
        degrees = orders + 1 - m
        for j in range(north):
            for odd in range(2):
                count = (degrees + 1 - odd) // 2
                out = hemispheres[odd, j]
                sum_of_rows(legendre[j], spectrum, first + odd, 2, count, out, hemispheres[2, j])
        for c in range(spectrum.shape[1]):
            for j in range(north):
                fourier[c, m, j] = hemispheres[0, j, c] + hemispheres[1, j, c]
                fourier[c, m, north + j] = hemispheres[0, j, c] - hemispheres[1, j, c]
        first = first + degrees


@kernel(example=lambda: (_random(2, 3, 4), _random(9, 2), np.zeros((3, 2, 2)), np.zeros((9, 2))))
def legendre_analysis(fourier, weighted_legendre, hemispheres, spectrum):
    """Coefficients from Fourier coefficients: S[l, m] = sum over j of w[j] P[l, m](j) X[m](j).

    Args:
        fourier: (at least parts, orders, nlat).
        weighted_legendre: (coefficients, nlat/2), Legendre functions times Gauss weights.
        hemispheres: (3, nlat/2, at least parts), work: their sums and differences, and that of
            the sums over latitudes.
        spectrum: (coefficients, parts), written.

    Precision: hemispheres are added or subtracted first, then sums from pole to equator.
    """
    north = weighted_legendre.shape[1]
    orders = fourier.shape[1]
    row = 0
    for m in range(orders):
        for c in range(spectrum.shape[1]):
            for j in range(north):
                hemispheres[0, j, c] = fourier[c, m, j] + fourier[c, m, north + j]
                hemispheres[1, j, c] = fourier[c, m, j] - fourier[c, m, north + j]
        for degree in range(orders + 1 - m):
            rows = hemispheres[degree % 2]
            lost = hemispheres[2, 0]
            sum_of_rows(weighted_legendre[row], rows, 0, 1, north, spectrum[row], lost)
            row = row + 1


def _small_transform(fields):
    spectrum, grid = _random(9, 2 * fields), _random(fields, 8, 4)
    small = Truncation(2, 4, 8, 3600.0)
    synthesis, analysis = make_tables(small)
    return spectrum, grid, synthesis, analysis, make_work(small, fields)


@kernel(example=lambda: [_small_transform(1)[i] for i in (0, 2, 4, 1)])
def synthesize(spectrum, tables, work, grid):
    """Fields on the grid from their coefficients.

    Args:
        spectrum: (coefficients, 2 fields).
        tables: (legendre, waves), the first of `make_tables`.
        work: (fourier, hemispheres, quarters) from `make_work`.
        grid: (fields, nlon, nlat), written.
    """
    legendre, waves = tables
    fourier, hemispheres, quarters = work
    legendre_synthesis(spectrum, legendre, hemispheres, fourier)
    fourier_synthesis(fourier, waves, quarters, grid)


@kernel(example=lambda: [_small_transform(1)[i] for i in (1, 3, 4, 0)])
def analyze(grid, tables, work, spectrum):
    """Coefficients of fields on the grid.

    Args:
        grid: (fields, nlon, nlat).
        tables: (weighted_legendre, waves), the second of `make_tables`.
        work: (fourier, hemispheres, quarters) from `make_work`.
        spectrum: (coefficients, 2 fields), written.
    """
    weighted_legendre, waves = tables
    fourier, hemispheres, quarters = work
    fourier_analysis(grid, waves, quarters, fourier)
    legendre_analysis(fourier, weighted_legendre, hemispheres, spectrum)


def make_tables(truncation: Truncation) -> tuple[tuple, tuple]:
    """The tables of `synthesize` and of `analyze`, in binary64."""
    number, nlon = truncation.number, truncation.nlon
    grid = GaussianGrid(truncation)
    functions = legendre_table(number, grid.sin_lat_north)
    by_latitude = np.ascontiguousarray(functions.T)
    synthesis = (by_latitude, synthesis_waves(number, nlon))
    analysis = (functions * grid.weights_north, analysis_waves(number, nlon))
    return synthesis, analysis


def make_work(truncation: Truncation, fields: int, dtype=np.float64) -> tuple:
    """Work arrays (fourier, hemispheres, quarters) of transforms of up to `fields` fields."""
    parts = 2 * fields
    return (
        np.zeros((parts, truncation.number + 1, truncation.nlat), dtype),
        np.zeros((3, truncation.nlat // 2, parts), dtype),
        np.zeros((5, truncation.nlon // 4 + 1, truncation.nlat), dtype),
    )


def rounded(values, backend: Backend):
    """An array, or nested tuples of them, rounded once to the backend's storage, in its carrier."""
    if isinstance(values, tuple):
        return tuple(rounded(v, backend) for v in values)
    array = quantize(np.asarray(values, np.float64), backend)
    return np.ascontiguousarray(array.astype(backend.carrier))


class SpectralTransform:
    """Transforms of fields at a truncation in the arithmetic of a backend.

    Args:
        truncation: the truncation and its grid.
        backend: name of the arithmetic.
    """

    def __init__(self, truncation: Truncation, backend: str | Backend = "fp64") -> None:
        self.truncation = truncation
        self.grid = GaussianGrid(truncation)
        self.backend = resolve_backend(backend)
        synthesis, analysis = make_tables(truncation)
        self.synthesis_tables = rounded(synthesis, self.backend)
        self.analysis_tables = rounded(analysis, self.backend)
        self.degree, self.order = coefficient_orders(truncation.number)
        self._synthesize = lift(synthesize, self.backend)
        self._analyze = lift(analyze, self.backend)

    def to_grid(self, spectrum: np.ndarray) -> np.ndarray:
        """Fields (fields, nlon, nlat), in the model's order, of (coefficients, 2 fields)."""
        fields = spectrum.shape[1] // 2
        grid = np.zeros((fields, self.grid.nlon, self.grid.nlat), self.backend.carrier)
        spectrum = np.ascontiguousarray(spectrum, self.backend.carrier)
        self._synthesize(spectrum, self.synthesis_tables, self._work(fields), grid)
        return grid

    def to_spectrum(self, grid: np.ndarray, extra_degree: bool = False) -> np.ndarray:
        """Coefficients (coefficients, 2 fields) of fields in the model's order.

        Args:
            grid: (fields, nlon, nlat).
            extra_degree: keep the degree above the truncation, for derivatives.
        """
        fields = grid.shape[0]
        spectrum = np.zeros((self.degree.size, 2 * fields), self.backend.carrier)
        grid = np.ascontiguousarray(grid, self.backend.carrier)
        self._analyze(grid, self.analysis_tables, self._work(fields), spectrum)
        if not extra_degree:
            spectrum[self.degree > self.truncation.number] = 0.0
        return spectrum

    def _work(self, fields: int) -> tuple:
        return make_work(self.truncation, fields, self.backend.carrier)


@lru_cache(maxsize=8)
def reference_transform(truncation: Truncation) -> SpectralTransform:
    """The binary64 transform of a truncation, for initial states and output."""
    return SpectralTransform(truncation, "fp64")
