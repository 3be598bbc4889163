"""The spectral transform: spherical-harmonic coefficients to grid fields and back.

Coefficients are rows (l, m) of real numbers, m-major as in `legendre.coefficient_orders`; the
columns are the real and imaginary parts of each field in turn. A transform is a Legendre stage of
matrix products (`legendre_stage`) and a Fourier stage: the fast transform (`real_fourier`), or
matrix products (`fourier`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.arrays.aligned import Pool, aligned_copy, aligned_zeros
from sciprec.arrays.quantization import quantize, rounding_into
from sciprec.climate.transform.fft import is_supported, smallest_length
from sciprec.climate.transform.fourier import (
    analysis_waves,
    compensated_sum_of_rows,
    fourier_analysis,
    fourier_synthesis,
    sum_of_rows,
    synthesis_waves,
)
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.climate.transform.legendre import coefficient_orders, gauss_nodes, legendre_table
from sciprec.climate.transform.legendre_stage import (
    LANES,
    PAIR,
    compensated_sum_fields,
    legendre_analysis,
    legendre_synthesis,
    make_products_work,
    sum_fields,
    sum_fields_in_turn,
)
from sciprec.climate.transform.legendre_tables import (
    analysis_table,
    drop_tiny,
    synthesis_table,
)
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis, real_waves
from sciprec.climate.transform.substitution import substitute
from sciprec.foundation.errors import InputError
from sciprec.precision import Backend, lift, resolve_backend
from sciprec.precision.formats.backend import HandedBackend

GROUP = 8
"""Fields that go through both stages together: what is between stays in the second cache."""


def synthesize(spectrum, tables, work, grid):
    """Fields on the grid from their coefficients.

    Args:
        spectrum: (coefficients, 2 fields); the imaginary parts of order 0 are left out.
        tables: the first of `make_tables`.
        work: from `make_work`.
        grid: (fields, nlon, nlat), written.
    """
    synthesize_some(spectrum, tables, work, grid, 0, grid.shape[0])


def synthesize_some(spectrum, tables, work, grid, start, stop):
    """`synthesize` of the fields from start to stop - 1, which do not depend on the others."""
    functions, waves = tables
    fourier, weights, sums, fourier_work = work
    for first in range(start, stop, GROUP):
        last = min(first + GROUP, stop)
        some = spectrum[:, 2 * first : 2 * last]
        legendre_synthesis(some, functions, weights, sums, fourier)
        fft_synthesis(fourier, waves, fourier_work, grid[first:last])


def analyze(grid, tables, work, spectrum):
    """Coefficients of fields on the grid.

    Args:
        grid: (fields, nlon, nlat).
        tables: the second of `make_tables`.
        work: from `make_work`.
        spectrum: (coefficients, 2 fields), written.
    """
    analyze_some(grid, tables, work, spectrum, 0, grid.shape[0])


def analyze_some(grid, tables, work, spectrum, start, stop):
    """`analyze` of the fields from start to stop - 1, which do not depend on the others."""
    functions, waves = tables
    fourier, weights, sums, fourier_work = work
    for first in range(start, stop, GROUP):
        last = min(first + GROUP, stop)
        fft_analysis(grid[first:last], waves, fourier_work, fourier)
        some = spectrum[:, 2 * first : 2 * last]
        legendre_analysis(fourier, functions, weights, sums, some)


FOURIER_STAGES = {
    "fft": {},
    "matrix": {fft_synthesis: fourier_synthesis, fft_analysis: fourier_analysis},
}
"""Name of a Fourier stage -> what it puts in the place of what."""
_COMPENSATED = {sum_fields: compensated_sum_fields, sum_of_rows: compensated_sum_of_rows}
_IN_TURN = {sum_fields: sum_fields_in_turn}


def with_stages(kernel: Callable, fourier: str = "fft", compensated_sums: bool = False) -> Callable:
    """A kernel that calls `synthesize` or `analyze`, with other stages in its transforms.

    The tables and the work arrays serve all of them.

    Args:
        kernel: the plain Python kernel.
        fourier: "fft" or "matrix", the Fourier stage.
        compensated_sums: with compensated sums of products, in both stages; "matrix" is implied.

    Raises:
        InputError: unknown Fourier stage.
    """
    if fourier not in FOURIER_STAGES:
        raise InputError(
            f"unknown Fourier stage {fourier!r}; known: {', '.join(FOURIER_STAGES)}; fft is the "
            "fast transform, matrix sums of products, rounded in the accumulate format"
        )
    outer = FOURIER_STAGES["matrix" if compensated_sums else fourier]
    inner = _COMPENSATED if compensated_sums else {}
    if not outer:
        return kernel
    return substitute(kernel, {k: substitute(v, inner) for k, v in outer.items()} | inner)


def suited(kernel: Callable, backend: Backend) -> Callable:
    """A kernel with the stages of its transforms as an arithmetic wants them.

    In fixed point an operation in the source has a unit of its own: every field goes through the
    same ones, so that no bit of it depends on its place among the others.

    Args:
        kernel: the plain Python kernel.
        backend: the arithmetic.
    """
    return substitute(kernel, _IN_TURN) if backend.fixed else kernel


def keeping_sums(backend: Backend) -> Backend:
    """The backend for kernels with transforms: where operators compute in the storage format, and
    sums have a wider one, arrays take what is stored into them in that of the sums, so that those
    in the arrays of `make_work` go on as they are; numbers of operators are the same in it.
    """
    wider = backend.mixed and backend.accumulate.format.holds(backend.storage.format)
    takes_sums = wider and backend.storage == backend.compute
    return replace(backend, storage=backend.accumulate) if takes_sums else backend


def fourier_tables(truncation: Truncation) -> tuple[tuple, tuple]:
    """Return the tables of the Fourier stages of a synthesis and of an analysis.

    Raises:
        InputError: the number of longitudes is none that the fast transform takes.
    """
    number, nlon = truncation.number, truncation.nlon
    if not is_supported(nlon):
        raise InputError(
            f"{truncation.name} on {nlon} longitudes cannot be transformed; nlon / 2 has to be 1, "
            f"3 or 5 times a power of two, and a multiple of 4: take {smallest_length(nlon)}"
        )
    fast = real_waves(nlon)
    return (fast, synthesis_waves(number, nlon)), (fast, analysis_waves(number, nlon))


def make_tables(truncation: Truncation, negligible: float | None = None) -> tuple[tuple, tuple]:
    """The tables of `synthesize` and of `analyze`, in binary64.

    Args:
        truncation: the truncation and its grid.
        negligible: the largest number of blocks of Legendre functions that are left out, see
            `legendre_tables`; None, none is.

    Raises:
        InputError: the number of longitudes is none that the fast transform takes.
    """
    forth, back = fourier_tables(truncation)
    number, north = truncation.number, truncation.nlat // 2
    sin_lat, weights = gauss_nodes(truncation.nlat, np.longdouble)
    functions = legendre_table(number, sin_lat[:north])
    weighted = (functions * weights[:north]).astype(np.float64)
    return (
        (synthesis_table(functions, number, negligible), forth),
        (analysis_table(functions, weighted, number, negligible), back),
    )


def negligible_in(backend: Backend) -> float | None:
    """Return the limit below which `make_tables` leaves numbers out for an arithmetic: its rounding
    in the processor's own binary32 and binary64, nothing in others.
    """
    is_uniform = (
        len(set(backend.roles)) == 1 and backend.noise is None and not _is_by_place(backend)
    )
    return backend.compute.rounding_error if is_uniform and backend.compute.native else None


def _minds_subnormals(backend: Backend) -> bool:
    """Whether numbers are in binary32 with its subnormal ones, and results to nearest, which tiny
    addends do not move: toward one side they do.
    """
    nearest = all(role.rule.nearest for role in backend.roles) and backend.noise is None
    return backend.carrier == np.float32 and nearest and not _is_by_place(backend)


def _is_by_place(backend: Backend) -> bool:
    return isinstance(backend, HandedBackend) and type(backend) is not HandedBackend


def tables_in(truncation: Truncation, backend: Backend, full: bool = False) -> tuple[tuple, tuple]:
    """Return the tables of `make_tables` rounded to an arithmetic, without numbers that are
    negligible in it, nor those that make subnormal products.

    Args:
        truncation: the truncation and its grid.
        backend: the arithmetic.
        full: leave nothing out, for sums whose error is below the arithmetic's rounding.
    """
    tables = rounded(make_tables(truncation, None if full else negligible_in(backend)), backend)
    if _minds_subnormals(backend):
        for functions, _ in tables:
            drop_tiny(functions)
    return tables


def make_work(truncation: Truncation, fields: int, dtype: type = np.float64) -> tuple:
    """Work arrays of transforms of up to `fields` fields: Fourier coefficients of a group of them,
    and the stages'.
    """
    number, nlon, nlat = truncation.number, truncation.nlon, truncation.nlat
    tiles = -(-nlat // 2 // LANES)
    return (
        aligned_zeros((min(fields, GROUP), 2 * tiles, number + 2, PAIR), dtype),
        *make_products_work(number, nlat, min(fields, GROUP), dtype),
        (
            aligned_zeros((2, nlon // 2, PAIR), dtype),
            aligned_zeros((5, nlon // 4 + 1, nlat), dtype),
            aligned_zeros((2, number + 1, nlat), dtype),
        ),
    )


def rounded(values: Any, backend: Backend) -> Any:
    """An array, or nested tuples of them, rounded once to the backend's storage, in its carrier.

    Arrays of integers stay as they are.
    """
    if isinstance(values, tuple):
        return tuple(rounded(v, backend) for v in values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values
    array = quantize(np.asarray(values, np.float64), backend)
    return aligned_copy(array, backend.carrier)


def round_into(values: np.ndarray, backend: Backend, out: np.ndarray, pool: Pool) -> None:
    """`rounded` of an array of floats into another one of its shape, of the backend's carrier."""
    if backend.storage.fixed:
        out[...] = quantize(np.asarray(values, np.float64), backend)
        return
    before, after = (pool.array(values.shape) for _ in range(2))
    before[...] = values
    rounding_into(backend)(before.reshape(-1), after.reshape(-1))
    out[...] = after


class SpectralTransform:
    """Transforms of fields at a truncation in the arithmetic of a backend.

    Args:
        truncation: the truncation and its grid.
        backend: name of the arithmetic.
        fourier: "fft" or "matrix", the Fourier stage.
    """

    def __init__(
        self, truncation: Truncation, backend: str | Backend = "fp64", fourier: str = "fft"
    ) -> None:
        self.truncation = truncation
        self.grid = GaussianGrid(truncation)
        self.backend = resolve_backend(backend)
        self.synthesis_tables, self.analysis_tables = tables_in(truncation, self.backend)
        self.degree, self.order = coefficient_orders(truncation.number)
        arithmetic = keeping_sums(self.backend)
        self._synthesize, self._analyze = (
            lift(suited(with_stages(kernel, fourier), arithmetic), arithmetic, trust_inputs=True)
            for kernel in (synthesize, analyze)
        )

    def to_grid(self, spectrum: np.ndarray) -> np.ndarray:
        """Fields (fields, nlon, nlat), in the model's order, of (coefficients, 2 fields)."""
        fields = spectrum.shape[1] // 2
        grid = aligned_zeros((fields, self.grid.nlon, self.grid.nlat), self.backend.carrier)
        spectrum = rounded(spectrum, self.backend)
        self._synthesize(spectrum, self.synthesis_tables, self._work(fields), grid)
        return grid

    def to_spectrum(self, grid: np.ndarray, extra_degree: bool = False) -> np.ndarray:
        """Coefficients (coefficients, 2 fields) of fields in the model's order.

        Args:
            grid: (fields, nlon, nlat).
            extra_degree: keep the degree above the truncation, for derivatives.
        """
        fields = grid.shape[0]
        spectrum = aligned_zeros((self.degree.size, 2 * fields), self.backend.carrier)
        grid = rounded(grid, self.backend)
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
