"""Transforms whose stages have scales: a factor for each field, since all is linear.

Fields are multiplied by powers of two on their way into a stage, and divided on their way out; so
every field uses the range of the format, whatever the others are. Tables have scales of their own.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sciprec.arrays.aligned import Pool, aligned_zeros
from sciprec.arrays.quantization import rounding_into
from sciprec.climate.stages.scales import FOURIER, LEGENDRE, ScaledPlace, Scales
from sciprec.climate.transform.compiled import compiled
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.legendre_stage import (
    legendre_analysis,
    legendre_synthesis,
    make_products_work,
)
from sciprec.climate.transform.real_fourier import fft_analysis, fft_synthesis
from sciprec.climate.transform.spectral import make_tables, make_work, rounded
from sciprec.instruments.assigning.scaling import KEPT, without_range
from sciprec.precision import Backend
from sciprec.precision.compiled.disk_cache import kept as compile_kept
from sciprec.precision.formats.backend import uniform_backend

LS: ScaledPlace = ("Legendre synthesis", "")
FS: ScaledPlace = ("Fourier synthesis", "")
FA: ScaledPlace = ("Fourier analysis", "")
LA: ScaledPlace = ("Legendre analysis", "")
_TWICE = 2.0
"""Hemispheres are added, and partial sums may be larger than what they come to."""


class ScaledTransform:
    """The transforms of a model whose places have scales.

    Args:
        truncation: the truncation and its grid.
        scales: of the model; the transforms' are registered here.
        fields, products: how many fields are transformed, and products back.

    Precision: numbers are rounded to the format where they enter a stage at their scale. Tables are
        rounded to its significands alone: as a matrix unit's, they have scales for themselves.
    """

    def __init__(self, truncation: Truncation, scales: Scales, fields: int, products: int) -> None:
        self.truncation, self.scales = truncation, scales
        for place, count in ((LS, fields), (FS, fields), (FA, products), (LA, products)):
            stage = LEGENDRE if place in (LS, LA) else FOURIER
            sort = "field" if place in (LS, FS) else "product"
            texts = [f"{place[0]}, {sort} {n + 1}" for n in range(count)]
            scales.register(place, [stage] * count, texts)
        tables, self._waves, self._table = scaled_tables(truncation)
        wide, self._pool = without_range(scales.arithmetic), Pool()
        self._arguments = truncation, uniform_backend("scaled", scales.arithmetic), tables, wide
        self._noting = _StagesInFormat(truncation, wide, tables, wide)

    @cached_property
    def _scaled(self) -> _StagesInFormat:
        return _StagesInFormat(*self._arguments)

    def to_grid(self, spectrum: np.ndarray, grid: np.ndarray) -> None:
        """Fields (fields, nlon, nlat) of (coefficients, 2 fields)."""
        self._pool.reset()
        coefficients = self._pool.array((spectrum.shape[1] // 2, 2, spectrum.shape[0]))
        coefficients.reshape(-1, spectrum.shape[0])[...] = spectrum.T
        grid[:, : self.truncation.nlon] = self._through(FS, self._through(LS, coefficients, 0), 0)

    def to_spectrum(self, grid: np.ndarray, spectrum: np.ndarray) -> None:
        """Coefficients (coefficients, 2 fields) of fields."""
        self._pool.reset()
        fields = self._pool.array((grid.shape[0], self.truncation.nlon, grid.shape[2]))
        fields[...] = grid[:, : self.truncation.nlon]
        fourier = self._through(FA, fields, -self._waves)
        coefficients = self._through(LA, fourier, -self._table)
        spectrum[...] = coefficients.reshape(-1, spectrum.shape[0]).T

    def _through(self, place: ScaledPlace, stack: np.ndarray, exponent: int) -> np.ndarray:
        """Return the fields that a stage makes.

        Args:
            place: the stage.
            stack: fields on the first axis.
            exponent: k of the factor 2^k that its tables lack.
        """
        notes, pool = self.scales.notes, self._pool
        if notes is not None:
            out = self._noting.kernel(place, stack, pool)
            result = np.ldexp(out, exponent)
            sizes = [np.abs(x).max(axis=tuple(range(1, x.ndim))) for x in (stack, out)]
            inside = math.ceil(math.log2(self.truncation.nlon // 2)) if place == FA else 1
            notes.note(place, np.maximum(np.ldexp(sizes[0], inside), _TWICE * sizes[1]))
            notes.count(place, result)
            return result
        k = self.scales.of(place)
        keeps_small = self.scales.scaling.small == KEPT
        largest = self.scales.arithmetic.format.max_finite if keeps_small else np.inf
        room = pool.array(stack.shape)
        _rescale(stack.reshape(len(stack), -1), np.ldexp(1.0, k), np.inf, room.reshape(len(k), -1))
        out = (self._noting if keeps_small else self._scaled).kernel(place, room, pool)
        flat = out.reshape(len(out), -1)
        _rescale(flat, np.ldexp(1.0, exponent - k), largest, flat)
        return out


@compile_kept(nogil=True, error_model="numpy")
def _rescale(values, factors, largest, out):
    """out = factors values, of the fields on the first axis; values above the largest are infinite:
    where there is no smallest number, the largest is looked for where numbers leave a stage.
    """
    for f in range(values.shape[0]):
        for i in range(values.shape[1]):
            value = values[f, i]
            out[f, i] = (np.inf if abs(value) > largest else value) * factors[f]


class _StagesInFormat:
    """The four stages in one arithmetic; arrays come and go in binary64."""

    def __init__(self, truncation: Truncation, backend: Backend, tables: tuple, wide: Backend):
        self.backend, self.truncation = backend, truncation
        carrier = backend.carrier
        synthesis, waves, back, analysis = carried(rounded(tables, wide), carrier)
        unused = np.zeros(1, carrier)
        self._tables = {LS: synthesis, FS: (waves, unused), FA: (back, unused), LA: analysis}
        kernels = legendre_synthesis, fft_synthesis, fft_analysis, legendre_analysis
        lifted = [compiled(kernel, backend) for kernel in kernels]
        self._kernels = dict(zip(self._tables, lifted, strict=True))
        self._between = make_work(truncation, 1)[0].shape[1:]
        self._fourier = make_work(truncation, 1, carrier)[3]
        self._narrow = rounding_into(backend)
        self._rooms: dict[tuple[ScaledPlace, int], tuple] = {}

    def kernel(self, place: ScaledPlace, values: np.ndarray, pool: Pool) -> np.ndarray:
        """Return the fields (fields, ...) that the stage makes of some."""
        count = values.shape[0]
        if (place, count) not in self._rooms:
            self._rooms[place, count] = self._room(place, count)
        scaled, *work, out = self._rooms[place, count]
        if place == LS:
            across = pool.array((values.shape[2], 2 * count))
            across[...] = values.reshape(2 * count, -1).T
            values = across
        self._narrow(values.reshape(-1), scaled.reshape(-1))
        self._kernels[place](scaled, self._tables[place], *work, out)
        if place == LA:
            result = pool.array((count, 2, out.shape[0]))
            result.reshape(2 * count, -1)[...] = out.T
        else:
            result = pool.array(out.shape)
            result[...] = out
        return result

    def _room(self, place: ScaledPlace, count: int) -> tuple:
        """Return the arrays that a stage takes of some fields, its work arrays, and its results."""
        number, nlon, nlat = self.truncation.number, self.truncation.nlon, self.truncation.nlat
        spectrum = (number + 1) * (number + 4) // 2, 2 * count
        grid, between = (count, nlon, nlat), (count, *self._between)
        shapes = {LS: (spectrum, between), FS: (between, grid), FA: (grid, between),
                  LA: (between, spectrum)}  # fmt: skip
        scaled, out = (aligned_zeros(shape, self.backend.carrier) for shape in shapes[place])
        if place in (FS, FA):
            return scaled, self._fourier, out
        return scaled, *make_products_work(number, nlat, count, self.backend.carrier), out


def scaled_tables(truncation: Truncation) -> tuple[tuple, int, int]:
    """The tables of the four stages in binary64, those of the analysis multiplied by 2^waves and
    2^table: by the growth inside the Fourier stage, and so that the largest number is below 1.

    Returns:
        Of `LS`, `FS`, `FA` and `LA`; waves; table.
    """
    (synthesis, (waves, _)), (analysis, (back, _)) = make_tables(truncation)
    stages, splits, positions = back
    numbers, *places = analysis
    table = -math.frexp(np.abs(numbers).max())[1]
    growth = int(math.log2(truncation.nlon // 2))
    of_waves = stages, np.ldexp(splits, growth), positions
    return (synthesis, waves, of_waves, (np.ldexp(numbers, table), *places)), growth, table


def carried(values, carrier):
    """Nested tuples of rounded arrays in the dtype of a carrier."""
    if isinstance(values, tuple):
        return tuple(carried(v, carrier) for v in values)
    return values if values.dtype.kind in "iu" else values.astype(carrier)
