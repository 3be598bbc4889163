"""Transforms whose stages have arithmetics of their own, low orders and degrees others still.

The Legendre stage is linear, and orders do not meet in it: what is kept in another arithmetic and
the rest go through it apart from each other.
"""

from __future__ import annotations

import numpy as np

from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.climate.transform.legendre_stage import (
    legendre_analysis,
    legendre_synthesis,
    make_products_work,
)
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis
from sciprec.climate.transform.spectral import make_tables, make_work, rounded
from sciprec.precision import Backend
from sciprec.precision.formats.stages import Stages


class StagedTransform:
    """Transforms whose stages have arithmetics of their own.

    Args:
        truncation: the truncation and its grid.
        stages: the arithmetics.
        backend: that of stages for which none is given.

    Precision: what a stage is given is rounded to its storage first, as its tables are. In a
        synthesis the sums over kept degrees and over the others are added in binary64 and rounded
        to the storage of the Fourier stage.
    """

    def __init__(
        self, truncation: str | int | Truncation, stages: Stages, backend: str | Backend = "fp64"
    ) -> None:
        self.truncation = resolve_truncation(truncation)
        own, tables = stages.resolved(backend), make_tables(self.truncation)
        degree, order = coefficient_orders(self.truncation.number)
        kept = (order < stages.kept_orders) | (degree < stages.kept_degrees)
        parts = ((own["legendre"], ~kept), (own["kept"], kept))
        self._parts = [
            (rows, _Legendre(self.truncation, given, tables)) for given, rows in parts if rows.any()
        ]
        self._fourier = _Fourier(self.truncation, own["fourier"], tables)
        self._size = degree.size

    def to_grid(self, spectrum: np.ndarray) -> np.ndarray:
        """Fields (fields, nlon, nlat), in the model's order, of (coefficients, 2 fields)."""
        total = 0.0
        for rows, legendre in self._parts:
            total = total + legendre.synthesis(np.where(rows[:, None], spectrum, 0.0))
        return self._fourier.synthesis(total)

    def to_spectrum(self, grid: np.ndarray) -> np.ndarray:
        """Coefficients (coefficients, 2 fields) of fields in the model's order, the degree above
        the truncation included.
        """
        fourier = self._fourier.analysis(grid)
        spectrum = np.zeros((self._size, 2 * grid.shape[0]))
        for rows, legendre in self._parts:
            spectrum[rows] = legendre.analysis(fourier, spectrum.shape)[rows]
        return spectrum


class _Legendre:
    """The Legendre stage in one arithmetic; arrays go in and come out in binary64."""

    def __init__(self, truncation: Truncation, backend: Backend, tables: tuple) -> None:
        self.backend, self.shape = backend, _fourier_shape(truncation)
        self.tables = tuple(rounded(table, backend) for table, _ in tables)
        self.size = truncation.number, truncation.nlat
        self.kernels = tuple(compiled(k, backend) for k in (legendre_synthesis, legendre_analysis))

    def synthesis(self, spectrum: np.ndarray) -> np.ndarray:
        """Fourier coefficients of (coefficients, 2 fields)."""
        fields = spectrum.shape[1] // 2
        return self._through(0, spectrum, (fields, *self.shape), fields)

    def analysis(self, fourier: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        """Coefficients, so many rows and columns, of Fourier coefficients."""
        return self._through(1, fourier, shape, fourier.shape[0])

    def _through(
        self, direction: int, given: np.ndarray, shape: tuple[int, ...], fields: int
    ) -> np.ndarray:
        out = np.zeros(shape, self.backend.carrier)
        table = self.tables[direction]
        work = make_products_work(*self.size, fields, self.backend.carrier)
        self.kernels[direction](rounded(given, self.backend), table, *work, out)
        return out.astype(np.float64)


class _Fourier:
    """The Fourier stage in one arithmetic; arrays go in and come out in binary64."""

    def __init__(self, truncation: Truncation, backend: Backend, tables: tuple) -> None:
        self.backend, self.shape = backend, _fourier_shape(truncation)
        self.places = truncation.nlon, truncation.nlat
        self.tables = tuple(rounded(waves, backend) for _, waves in tables)
        self.work = make_work(truncation, 1, backend.carrier)[3]
        self.kernels = tuple(compiled(k, backend) for k in (fft_synthesis, fft_analysis))

    def synthesis(self, fourier: np.ndarray) -> np.ndarray:
        """Fields on the grid of Fourier coefficients."""
        return self._through(0, fourier, (fourier.shape[0], *self.places))

    def analysis(self, grid: np.ndarray) -> np.ndarray:
        """Fourier coefficients of fields on the grid."""
        return self._through(1, grid, (grid.shape[0], *self.shape))

    def _through(self, direction: int, given: np.ndarray, shape: tuple) -> np.ndarray:
        out = np.zeros(shape, self.backend.carrier)
        waves = self.tables[direction]
        self.kernels[direction](rounded(given, self.backend), waves, self.work, out)
        return out.astype(np.float64)


def _fourier_shape(truncation: Truncation) -> tuple[int, ...]:
    """Tiles, orders and lanes of the Fourier coefficients of a field."""
    return make_work(truncation, 1)[0].shape[1:]
