"""The tendency of a model whose places have scales, in a short format: one call of compiled code.

The kernels of the equations are compiled by themselves, with the scales of their operations. The
stages of the transforms are in the plain format: where numbers enter one they are multiplied by the
power of two that brings them from the scale before to the stage's, and rounded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.arrays.aligned import aligned_zeros
from sciprec.climate.stages.scaled_transform import FA, FS, LA, LS, carried, scaled_tables
from sciprec.climate.stages.scales import Scales
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre_stage import legendre_analysis, legendre_synthesis
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis
from sciprec.climate.transform.spectral import GROUP, make_work, rounded
from sciprec.instruments.assigning.scaled import ScalableInFormat
from sciprec.instruments.assigning.scaling import without_range
from sciprec.precision.compiled.addresses import address_of, call_at
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.formats.backend import uniform_backend

MOST_FIELDS = GROUP
"""Fields, and products, that the transforms take at once."""
_FARTHEST = 120
"""Powers of two between the scales of stages that make no number of a format too large or zero."""


def rescale_each(factors, values):
    """values = factors values, rounded.

    Args:
        factors: (size,), powers of two.
        values: (size,), changed.
    """
    for i in range(values.shape[0]):
        values[i] = factors[i] * values[i]


def rescale(factor, values):
    """values = factor values, rounded.

    Args:
        factor: a power of two.
        values: (size,), changed.
    """
    for i in range(values.shape[0]):
        values[i] = factor * values[i]


def synthesis(spectrum, functions, waves, work, grid, into_legendre, into_fourier):
    """Fields on the grid at the scales of the Fourier stage.

    Args:
        spectrum: (coefficients, 2 fields), changed.
        functions, waves: the stages' tables.
        work: from `make_work`.
        grid: (fields, at least nlon, nlat), written.
        into_legendre: (coefficients 2 fields,), from the spectrum's scale to the first stage's.
        into_fourier: (fields,), from there to the second stage's.
    """
    fourier, weights, sums, fourier_work = work
    rescale_each(into_legendre, spectrum.reshape(-1))
    legendre_synthesis(spectrum, functions, weights, sums, fourier)
    for f in range(grid.shape[0]):
        rescale(into_fourier[f], fourier[f].reshape(-1))
    fft_synthesis(fourier, waves, fourier_work, grid)


def analysis(grid, waves, functions, work, spectrum, into_fourier, into_legendre):
    """Coefficients at the scales of the Legendre stage.

    Args:
        grid: (fields, at least nlon, nlat), changed.
        waves, functions: the stages' tables.
        work: from `make_work`.
        spectrum: (coefficients, 2 fields), written.
        into_fourier: (fields,), from the scale of the fields to the first stage's.
        into_legendre: (fields,), from there to the second stage's.
    """
    fourier, weights, sums, fourier_work = work
    for f in range(grid.shape[0]):
        rescale(into_fourier[f], grid[f].reshape(-1))
    fft_analysis(grid, waves, fourier_work, fourier)
    for f in range(grid.shape[0]):
        rescale(into_legendre[f], fourier[f].reshape(-1))
    legendre_analysis(fourier, functions, weights, sums, spectrum)


@kept(nogil=True, error_model="numpy")
def _run(entries, rows, state, out, constants, work, tables, transforms, factors):
    spectra, fields, products, coefficients, products_work = work
    synthesis_table, waves, back, analysis_table = tables
    into_synthesis, between, from_grid, onto_grid, back_between, from_analysis = factors
    call_at(entries[0], (rows[0], state, constants, spectra))
    to_grid = (
        spectra, synthesis_table, waves, transforms, fields, into_synthesis, between
    )  # fmt: skip
    call_at(entries[3], to_grid)
    for f in range(fields.shape[0]):
        field = fields[f].reshape(-1)
        for i in range(field.size):
            field[i] *= from_grid[f]
    call_at(entries[1], (rows[1], fields, constants, products_work, products))
    to_spectrum = (
        products, back, analysis_table, transforms, coefficients, onto_grid, back_between
    )  # fmt: skip
    call_at(entries[4], to_spectrum)
    flat = coefficients.reshape(-1)
    for i in range(flat.size):
        flat[i] *= from_analysis[i]
    call_at(entries[2], (rows[2], state, coefficients, constants, out))


class ScaledTendency:
    """The tendency of a model whose places have scales, on binary32 variables.

    Args:
        kernels: the three of the equations.
        tables: their rows, whose addresses stay.
        constants: of the equations.
        work: from `make_tendency_work`.
        truncation: of the model.
        scales: of the model.
    """

    def __init__(
        self, kernels: Sequence[ScalableInFormat], tables: Sequence[np.ndarray], constants: tuple,
        work: tuple, truncation: Truncation, scales: Scales,
    ) -> None:  # fmt: skip
        spectra, fields, products, coefficients, _, own_work, _, _ = work
        self._scales, self._kernels, self._constants = scales, kernels, constants
        self._rows = np.array([table.ctypes.data for table in tables])
        raw_tables, self._waves, self._table = scaled_tables(truncation)
        carrier, unused = np.dtype(np.float32), aligned_zeros(1, np.float32)
        functions, waves, back, weighted = carried(
            rounded(raw_tables, without_range(scales.arithmetic)), carrier
        )
        self._tables = functions, (waves, unused), (back, unused), weighted
        self._work = spectra, fields, products, coefficients, own_work
        most = max(fields.shape[0], products.shape[0])
        self._transforms = make_work(truncation, most, carrier)
        sizes = spectra.size, len(fields), len(fields), len(products), len(products)
        self._factors = tuple(aligned_zeros(n, carrier) for n in (*sizes, coefficients.size))
        self._entries = np.zeros(0, np.int64)

    def fit(self) -> None:
        """Take over the scales in force."""
        legendre, fourier, back, weighted = (self._scales.of(p) for p in (LS, FS, FA, LA))
        into, between, from_grid, onto_grid, back_between, out = self._factors
        into[:] = _each(legendre, into.size)
        between[:] = _power(fourier - legendre)
        from_grid[:] = _power(-fourier)
        onto_grid[:] = _power(back)
        back_between[:] = _power(weighted - back - self._waves)
        out[:] = _each(-self._table - weighted, out.size)

    def __call__(self, state: np.ndarray, out: np.ndarray, *rest) -> None:
        """The tendency of a state (coefficients, columns)."""
        if self._entries.size == 0:
            self._entries = self._compiled(state, out)
        for array in (state, out):  # nothing else looks what is called by its address
            assert array.dtype == np.float32 and array.flags.c_contiguous
        _run(
            self._entries, self._rows, state, out, self._constants, self._work, self._tables,
            self._transforms, self._factors,
        )  # fmt: skip

    def _compiled(self, state: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Return the addresses of the compiled kernels of the equations, and of the transforms."""
        spectra, fields, products, coefficients, own_work = self._work
        functions, waves, back, weighted = self._tables
        into, between, _, onto_grid, back_between, _ = self._factors
        arithmetic = uniform_backend("scaled", self._scales.arithmetic)
        constants, row = self._constants, int(self._rows[0])
        examples = (
            (row, state, constants, spectra),
            (row, fields, constants, own_work, products),
            (row, state, coefficients, constants, out),
        )
        pairs = zip(self._kernels, examples, strict=True)
        addresses = [address_of(kernel.entry, args) for kernel, args in pairs]
        to = spectra, functions, waves, self._transforms, fields, into, between
        back_again = (
            products, back, weighted, self._transforms, coefficients, onto_grid, back_between
        )  # fmt: skip
        self._stages = compiled(synthesis, arithmetic), compiled(analysis, arithmetic)
        for stage, args in zip(self._stages, (to, back_again), strict=True):
            addresses.append(stage.address(*args))
        return np.array(addresses)


def _power(k: np.ndarray) -> np.ndarray:
    return np.ldexp(np.float32(1.0), np.clip(k, -_FARTHEST, _FARTHEST))


def _each(k: np.ndarray, size: int) -> np.ndarray:
    """2^k for the real and the imaginary part of each coefficient of fields."""
    return np.tile(np.repeat(_power(k), 2), size // (2 * len(k)))
