"""Transforms whose stages have arithmetics of their own, low orders and degrees others still.

The Legendre stage is linear, and orders do not meet in it: what is kept in another arithmetic and
the rest go through it apart from each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.arrays.matrix_unit.unit import MatrixUnit
from sciprec.climate.stages.matrix_legendre import MatrixLegendre
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.climate.transform.legendre_stage import (
    legendre_analysis,
    legendre_synthesis,
    make_products_work,
)
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis
from sciprec.climate.transform.spectral import (
    fourier_tables,
    make_work,
    round_into,
    rounded,
    tables_in,
)
from sciprec.facets.stages.arithmetics import STAGES, Stages
from sciprec.foundation.errors import InputError
from sciprec.precision import Backend


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
        arithmetics = stages.resolved(backend)
        is_kept = kept_rows(self.truncation, stages)[:, None]
        parts = ((arithmetics["legendre"], ~is_kept), (arithmetics["kept"], is_kept))
        self._parts = [
            (rows, _legendre_in(arithmetic, self.truncation, rows[:, 0]))
            for arithmetic, rows in parts
            if rows.any()
        ]
        self._fourier = _Fourier(self.truncation, arithmetics["fourier"])
        self._size = len(is_kept)

    def report(self) -> list[dict[str, Any]]:
        """Return the stored numbers and the work of matrix units, the one of the lowest orders and
        degrees last.
        """
        return [part.report() for _, part in self._parts if isinstance(part, MatrixLegendre)]

    def to_grid(self, spectrum: np.ndarray) -> np.ndarray:
        """Fields (fields, nlon, nlat), in the model's order, of (coefficients, 2 fields)."""
        shape = spectrum.shape[1] // 2, self.truncation.nlon, self.truncation.nlat
        grid = np.empty(shape)
        self.synthesize(spectrum, grid, Pool())
        return grid

    def to_spectrum(self, grid: np.ndarray) -> np.ndarray:
        """Coefficients (coefficients, 2 fields) of fields in the model's order, the degree above
        the truncation included.
        """
        spectrum = np.empty((self._size, 2 * grid.shape[0]))
        self.analyze(grid, spectrum, Pool())
        return spectrum

    def synthesize(self, spectrum: np.ndarray, grid: np.ndarray, pool: Pool) -> None:
        """`to_grid` into an array of binary64, with work arrays from a pool."""
        fields = spectrum.shape[1] // 2
        total = pool.zeros((fields, *self._fourier.shape))
        for rows, legendre in self._parts:
            part = pool.array(spectrum.shape)
            part[...] = spectrum
            np.copyto(part, 0.0, where=~rows)
            np.add(total, legendre.synthesis(part, pool), out=total)
        self._fourier.synthesis(total, grid, pool)

    def analyze(self, grid: np.ndarray, spectrum: np.ndarray, pool: Pool) -> None:
        """`to_spectrum` into an array of binary64, with work arrays from a pool."""
        fourier = pool.array((grid.shape[0], *self._fourier.shape))
        self._fourier.analysis(grid, fourier, pool)
        spectrum.fill(0.0)
        for rows, legendre in self._parts:
            np.copyto(spectrum, legendre.analysis(fourier, spectrum.shape, pool), where=rows)


def kept_rows(truncation: Truncation, stages: Stages) -> np.ndarray:
    """(coefficients,), which ones are of the lowest orders and degrees."""
    degree, order = coefficient_orders(truncation.number)
    return (order < stages.kept_orders) | (degree < stages.kept_degrees)


def require_rest(truncation: Truncation, stages: Stages) -> None:
    """Make sure that the lowest orders and degrees are not all.

    Raises:
        InputError: they are, so that `legendre` computes nothing.
    """
    if not kept_rows(truncation, stages).all():
        return
    orders = truncation.number + 1
    name, most = (
        ("kept_orders", orders - 1) if stages.kept_orders >= orders else ("kept_degrees", orders)
    )
    value, called = getattr(stages, name), next((n for n, s in STAGES.items() if s == stages), None)
    if called is not None:
        raise InputError(
            f"stages is {called!r}, whose {name} = {value} is all that {truncation.name} has, so "
            "that nothing is left for 'legendre'; take a finer truncation, another choice, or a "
            f"table with {name} up to {most}"
        )
    raise InputError(
        f"{name} of stages is {value}, which is all that {truncation.name} has, so that nothing is "
        f"left for 'legendre'; accepted there: up to {most}"
    )


def _legendre_in(
    arithmetic: Backend | MatrixUnit, truncation: Truncation, mask: np.ndarray
) -> _Legendre | MatrixLegendre:
    """The Legendre stage of the coefficients that are held, in an arithmetic or on a unit."""
    if isinstance(arithmetic, MatrixUnit):
        return MatrixLegendre(truncation, arithmetic, mask)
    return _Legendre(truncation, arithmetic)


class _Legendre:
    """The Legendre stage in one arithmetic; arrays go in and come out in binary64."""

    def __init__(self, truncation: Truncation, backend: Backend) -> None:
        self.backend, self.shape = backend, _fourier_shape(truncation)
        self.tables = tuple(table for table, _ in tables_in(truncation, backend))
        self.size = truncation.number, truncation.nlat
        self.kernels = tuple(compiled(k, backend) for k in (legendre_synthesis, legendre_analysis))

    def synthesis(self, spectrum: np.ndarray, pool: Pool) -> np.ndarray:
        """Fourier coefficients of (coefficients, 2 fields)."""
        fields = spectrum.shape[1] // 2
        return self._through(0, spectrum, (fields, *self.shape), fields, pool)

    def analysis(self, fourier: np.ndarray, shape: tuple[int, int], pool: Pool) -> np.ndarray:
        """Return coefficients, some rows and columns, of Fourier coefficients."""
        return self._through(1, fourier, shape, fourier.shape[0], pool)

    def _through(
        self, direction: int, values: np.ndarray, shape: tuple[int, ...], fields: int, pool: Pool
    ) -> np.ndarray:
        carrier = self.backend.carrier
        operand, out = pool.array(values.shape, carrier), pool.zeros(shape, carrier)
        round_into(values, self.backend, operand, pool)
        work = make_products_work(*self.size, fields, carrier, pool.zeros)
        self.kernels[direction](operand, self.tables[direction], *work, out)
        result = pool.array(shape)
        result[...] = out
        return result


class _Fourier:
    """The Fourier stage in one arithmetic; arrays go in and come out in binary64."""

    def __init__(self, truncation: Truncation, backend: Backend) -> None:
        self.backend, self.shape = backend, _fourier_shape(truncation)
        self.tables = tuple(rounded(waves, backend) for waves in fourier_tables(truncation))
        self.work = make_work(truncation, 1, backend.carrier)[3]
        self.kernels = tuple(compiled(k, backend) for k in (fft_synthesis, fft_analysis))

    def synthesis(self, fourier: np.ndarray, grid: np.ndarray, pool: Pool) -> None:
        """Fields on the grid of Fourier coefficients."""
        self._through(0, fourier, grid, pool)

    def analysis(self, grid: np.ndarray, fourier: np.ndarray, pool: Pool) -> None:
        """Fourier coefficients of fields on the grid."""
        self._through(1, grid, fourier, pool)

    def _through(self, direction: int, values: np.ndarray, out: np.ndarray, pool: Pool) -> None:
        carrier = self.backend.carrier
        operand, result = pool.array(values.shape, carrier), pool.zeros(out.shape, carrier)
        round_into(values, self.backend, operand, pool)
        self.kernels[direction](operand, self.tables[direction], self.work, result)
        out[...] = result


def _fourier_shape(truncation: Truncation) -> tuple[int, ...]:
    """Tiles, orders and lanes of the Fourier coefficients of a field."""
    return make_work(truncation, 1)[0].shape[1:]
