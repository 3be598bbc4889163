"""Tracers that a flow carries without feeling them, in advective form: dq/dt = -v . grad q - W(q).

The slopes of q and its differences between levels are formed from the coefficients. Those of a
uniform q are zero in any arithmetic, so that its coefficients keep their bits.
Columns of the state: those of the flow, then the levels of each tracer, real and imaginary parts in
turn. Fields on the grid: those of the flow, then of each tracer L eastward slopes, L northward
ones, and L - 1 differences; products: those of the flow, then L of each tracer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sciprec.climate.constants import ModelUnits
from sciprec.climate.equations.primitive_grid import gather_rows, mass_flux
from sciprec.climate.equations.primitive_spectral import primitive_factors
from sciprec.climate.equations.registry import Conversion, EquationSet
from sciprec.climate.equations.share import EAST, FIRST, LAST, WEST
from sciprec.climate.equations.spherical import inverse_cosine_squared
from sciprec.climate.transform.grid import Truncation
from sciprec.climate.transform.spectral import SpectralTransform
from sciprec.climate.transform.substitution import substitute
from sciprec.foundation.portable import in_extended_precision
from sciprec.precision.registry import kernel

LEVELS, TRACERS, COLUMN, FIELD, PRODUCT, WIND = range(6)
"""Places in the array of sizes: levels, tracers, and where in the state, the fields and the
products theirs begin, and the eastward wind among the fields of a flow without levels."""
FIRST_WIND = {"shallow_water": 2, "barotropic_vorticity": 1}
"""Equation sets without levels -> the field of their eastward wind."""
LEVELLED = ("primitive_equations", "held_suarez")
TRACED = (*FIRST_WIND, *LEVELLED)
"""Equation sets that carry tracers."""


@in_extended_precision
def cosine_bell(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """The bell of Williamson et al. (1992), eq 79, of height 1, at 90 W on the equator."""
    distance = np.arccos(np.clip(np.cos(lat) * np.cos(lon - 1.5 * np.pi), -1.0, 1.0))
    return np.where(distance < 1 / 3, 0.5 * (1.0 + np.cos(3.0 * np.pi * distance)), 0.0)


@in_extended_precision
def gaussian_hill(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """exp(-5 d**2) of the chord d from the point at 90 W on the equator."""
    return np.exp(-10.0 * (1.0 - np.cos(lat) * np.cos(lon - 1.5 * np.pi)))


@in_extended_precision
def northern(lon: np.ndarray, lat: np.ndarray) -> np.ndarray:
    """(1 + sin(lat)) / 2."""
    return 0.5 * (1.0 + np.sin(lat)) + 0.0 * lon


SHAPES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "cosine_bell": cosine_bell, "gaussian_hill": gaussian_hill, "northern": northern,
}  # fmt: skip
"""Initial fields by name: functions of longitude and latitude in radians."""
GIVEN = "initial"
"""The start of a tracer that begins as a field of the initial dataset or file."""


@dataclass(frozen=True)
class Tracer:
    """A tracer, such as a mixing ratio.

    Args:
        name: of its variable.
        start: its uniform initial value, or the name of one of `SHAPES`, on all levels; or `GIVEN`.
        units: of its values, as files have them; empty, which is "1", where nothing says one.
        given: `GivenFields` with the field that it begins as, in the place of `start`; or None.
    """

    name: str
    start: float | str
    units: str = ""
    given: Any = field(default=None, repr=False, compare=False)

    @cached_property
    def unit(self) -> float:
        """One unit of it in the state: a power of two."""
        most = 1.0 if isinstance(self.start, str) else abs(self.start)
        if self.given is not None:
            most = max(float(np.abs(row).max()) for row in self.given.rows_of(self.name))
        return 2.0 ** math.ceil(math.log2(most)) if most else 1.0

    def coefficients(self, transform: SpectralTransform, sigma: np.ndarray | None) -> np.ndarray:
        """Coefficients of the initial field on each level (coefficients, 2 levels); of a uniform
        one exactly one each.

        Args:
            transform: of the flow.
            sigma: of its levels from the top down, or None.
        """
        grid, levels = transform.grid, 1 if sigma is None else sigma.size
        if self.given is not None:
            rows = self.given.on_grid(grid.lat, grid.lon, sigma)[self.name] / self.unit
            rows = rows.reshape(levels, grid.nlat, grid.nlon)
            return transform.to_spectrum(np.stack([grid.to_model(row) for row in rows]))
        if isinstance(self.start, str):
            row = SHAPES[self.start](grid.lon_radians[:, None], grid.lat_radians[None])
            return np.tile(transform.to_spectrum(row[None]), (1, levels))
        spectrum = np.zeros((transform.degree.size, 2 * levels))
        spectrum[0, ::2] = self.start / self.unit
        return spectrum


def _random(*shape):
    return np.random.default_rng(23).uniform(-1.0, 1.0, shape)


_SMALL = Truncation(1, 4, 8, 3600.0)


def _small_tracers():
    factors = primitive_factors(_SMALL)
    parts = tuple(factors[k] for k in (0, 7, 8, 9))
    return (*parts, 1.0 + _random(4) ** 2, np.array([2, 1, 2, 3, 2, 1]))


@kernel(example=lambda: (_random(5, 6), _small_tracers(), 0, 5, np.zeros((5, 16))))
def tracer_slopes(state, tracers, first, stop, spectra):
    """Coefficients of dq/dlon, cos(lat) dq/dlat and of the differences between levels.

    cos(lat) dq/dlat: (l+2) eps(l+1) q[l+1] - (l-1) eps(l) q[l-1]

    Args:
        state: (coefficients, columns).
        tracers: from `TracedConversion.tables`.
        first, stop: the coefficients from first to stop - 1.
        spectra: (coefficients, 2 fields), those of tracers written.
    """
    sizes = tracers[5]
    levels = sizes[LEVELS]
    for i in range(first, stop):
        for t in range(sizes[TRACERS]):
            column = sizes[COLUMN] + 2 * t * levels
            place = 2 * (sizes[FIELD] + t * (3 * levels - 1))
            slopes_of_coefficient(state, tracers, i, column, levels, levels - 1, spectra, place)


def slopes_of_coefficient(state, tracers, i, column, levels, steps, spectra, place):
    """A coefficient of the slopes and differences of some levels of a tracer.

    Args:
        state, tracers: as in `tracer_slopes`.
        i: which coefficient.
        column: of the first level in the state.
        levels, steps: how many levels, and how many differences, each to the next level.
        spectra: (coefficients, columns): eastward slopes, northward ones, differences.
        place: their first column.
    """
    zonal, slope_above, slope_below, _, _, _ = tracers
    above = min(i + 1, state.shape[0] - 1)
    below = max(i - 1, 0)
    north = place + 2 * levels
    for k in range(levels):
        c = column + 2 * k
        spectra[i, place + 2 * k] = -(zonal[i] * state[i, c + 1])
        spectra[i, place + 2 * k + 1] = zonal[i] * state[i, c]
    for n in range(2 * levels):
        upper = slope_above[i] * state[above, column + n]
        lower = slope_below[i] * state[below, column + n]
        spectra[i, north + n] = upper - lower
    for n in range(2 * steps):
        step = state[i, column + n + 2] - state[i, column + n]
        spectra[i, north + 2 * levels + n] = step


@kernel(example=lambda: (_random(5, 8), _small_tracers(), 0, 5, np.zeros((5, 6))))
def tracer_tendency(spectra, tracers, first, stop, tendency):
    """Tendencies of tracers: the coefficients of their products, up to the truncation.

    Args:
        spectra: (coefficients, 2 products).
        tracers: from `TracedConversion.tables`.
        first, stop: the coefficients from first to stop - 1.
        tendency: (coefficients, columns), those of tracers written.
    """
    _, _, _, kept, _, sizes = tracers
    for i in range(first, stop):
        for c in range(2 * sizes[TRACERS] * sizes[LEVELS]):
            tendency[i, sizes[COLUMN] + c] = kept[i] * spectra[i, 2 * sizes[PRODUCT] + c]


def _flat_example():
    *tables, _ = _small_tracers()
    return _random(5, 8, 4), (*tables, np.array([1, 1, 2, 3, 2, 1])), _random(3, 8, 4)


@kernel(example=lambda: _flat_example())
def carried_flat(fields, tracers, products):
    """-(U dq/dlon + V cos(lat) dq/dlat) / cos(lat)**2 of flows without levels.

    Args:
        fields: (fields, nlon, nlat).
        tracers: from `TracedConversion.tables`.
        products: (products, nlon, nlat), those of tracers written.
    """
    _, _, _, _, inverse_cos2, sizes = tracers
    for i in range(fields.shape[1]):
        u_cos = fields[sizes[WIND], i]
        v_cos = fields[sizes[WIND] + 1, i]
        for t in range(sizes[TRACERS]):
            east = fields[sizes[FIELD] + 2 * t, i]
            north = fields[sizes[FIELD] + 2 * t + 1, i]
            out = products[sizes[PRODUCT] + t, i]
            for j in range(inverse_cos2.shape[0]):
                along = u_cos[j] * east[j] + v_cos[j] * north[j]
                out[j] = -(along * inverse_cos2[j])


def _air_example():
    *tables, _ = _small_tracers()
    sizes = np.array([2, 1, 14, 13, 13, 6])
    return 1, _random(18, 8, 4), (*tables, sizes), np.ones(2), _random(3, 4), _random(15, 8, 4)


@kernel(example=lambda: _air_example())
def carried_in_air(i, fields, tracers, per_thickness, velocity, products):
    """-(U dq/dlon + V cos(lat) dq/dlat) / cos(lat)**2 - W(q) at a longitude.

    W(q)[k] = (velocity[k+1] (q[k+1] - q[k]) + velocity[k] (q[k] - q[k-1])) / (2 thickness[k])

    Args:
        i: which longitude.
        fields: (fields, nlon, nlat).
        tracers: from `TracedConversion.tables`.
        per_thickness: (levels,): 1 / (2 thickness).
        velocity: (levels + 1, nlat), from `mass_flux`.
        products: (products, nlon, nlat), those of tracers written.

    Source: Simmons and Burridge (1981), eq 3.13, as for temperature.
    """
    _, _, _, _, inverse_cos2, sizes = tracers
    levels = sizes[LEVELS]
    for t in range(sizes[TRACERS]):
        row = sizes[FIELD] + t * (3 * levels - 1)
        for k in range(levels):
            carried_row(
                fields[3 * levels + k, i], fields[4 * levels + k, i], fields[row + k, i],
                fields[row + levels + k, i], fields[row + 2 * levels + max(k - 1, 0), i],
                fields[row + 2 * levels + min(k, levels - 2), i], velocity[k], velocity[k + 1],
                per_thickness[k], inverse_cos2, products[sizes[PRODUCT] + t * levels + k, i],
            )  # fmt: skip


def carried_row(
    u_cos, v_cos, east, north, upper, lower, above, below, depth, inverse_cos2, out
):  # fmt: skip
    """The tendency of a level at a longitude, see `carried_in_air`.

    Args:
        u_cos, v_cos: (nlat,), the wind.
        east, north: (nlat,), slopes.
        upper, lower: (nlat,), differences from the level above, and to that below.
        above, below: (nlat,), the velocity of sigma there.
        depth: 1 / (2 thickness).
        inverse_cos2: (nlat,).
        out: (nlat,), written.
    """
    for j in range(inverse_cos2.shape[0]):
        along = (u_cos[j] * east[j] + v_cos[j] * north[j]) * inverse_cos2[j]
        moved = depth * (below[j] * lower[j] + above[j] * upper[j])
        out[j] = -(along + moved)


def _spectra(state, constants, out):
    """Stands for `EquationSet.spectra`."""


def _products(fields, constants, work, out):
    """Stands for `EquationSet.products`."""


def _tendency(state, spectra, constants, out):
    """Stands for `EquationSet.tendency`."""


def _linear(state, constants, out):
    """Stands for `EquationSet.linear`."""


def _solve(known, constants, out):
    """Stands for `EquationSet.solve`."""


def _adjust(state, constants, tables, work):
    """Stands for `EquationSet.adjust`."""


def flat_spectra(state, constants, spectra):
    """Coefficients that the products of a flow without levels and its tracers need."""
    _spectra(state, constants, spectra)
    tracer_slopes(state, constants[-1], 0, state.shape[0], spectra)


def flat_products(fields, constants, work, products):
    """Products of a flow without levels and its tracers."""
    _products(fields, constants, work, products)
    carried_flat(fields, constants[-1], products)


def flat_tendency(state, spectra, constants, tendency):
    """Tendency of a flow without levels and its tracers."""
    _tendency(state, spectra, constants, tendency)
    tracer_tendency(spectra, constants[-1], 0, state.shape[0], tendency)


def air_spectra_traced(state, constants, spectra):
    """Coefficients that the products of the air and its tracers need."""
    own, share = constants[-1][5][COLUMN], constants[7]
    _spectra(state[:, :own], constants, spectra)
    tracer_slopes(state, constants[-1], share[FIRST], share[LAST], spectra)


def air_products_traced(fields, constants, work, products):
    """Products of the air and its tracers."""
    _products(fields, constants, work, products)
    carried_everywhere(fields, constants, work, products)


def carried_everywhere(fields, constants, work, products):
    """Products of the tracers of air; the velocity of sigma is formed again."""
    column, places = constants[0], constants[4]
    rows, flow, sums, velocity = work[0]
    for i in range(constants[7][WEST], constants[7][EAST]):
        gather_rows(fields, i, rows)
        mass_flux(rows, places[0], column[3], column[5], flow, sums, velocity)
        carried_in_air(i, fields, constants[-1], column[4], velocity, products)


def air_tendency_traced(state, spectra, constants, tendency):
    """Tendency of the air and its tracers."""
    own, share = constants[-1][5][COLUMN], constants[7]
    _tendency(state[:, :own], spectra, constants, tendency[:, :own])
    tracer_tendency(spectra, constants[-1], share[FIRST], share[LAST], tendency)


def linear_traced(state, constants, out):
    """out = L state: nothing about tracers is stiff."""
    _linear(state, constants, out)
    for i in range(state.shape[0]):
        for c in range(constants[-1][5][COLUMN], state.shape[1]):
            out[i, c] = 0.0


def solve_traced(known, constants, out):
    """out = (1 - c L)^-1 known: tracers as they are."""
    _solve(known, constants, out)
    for i in range(known.shape[0]):
        for c in range(constants[-1][5][COLUMN], known.shape[1]):
            out[i, c] = known[i, c]


def adjust_traced(state, constants, tables, work):
    """Change a new state of the flow as without tracers."""
    _adjust(state[:, : constants[-1][5][COLUMN]], constants, tables, work)


@dataclass(frozen=True)
class TracedConversion:
    """Converts between SI fields and the coefficients of a flow and its tracers; see `Conversion`.

    Args:
        flow: the conversion of the flow.
        tracers: what it carries.
        columns: of the state of the flow.
        wind: the eastward wind among the fields of a flow without levels.
    """

    flow: Any
    tracers: tuple[Tracer, ...]
    columns: int
    wind: int

    @property
    def transform(self) -> SpectralTransform:
        """The transform of the flow."""
        return self.flow.transform

    @property
    def units(self) -> ModelUnits:
        """The units of the flow."""
        return self.flow.units

    @property
    def vertical(self) -> dict[str, np.ndarray]:
        """The levels of the flow."""
        return self.flow.vertical

    @property
    def levels(self) -> int:
        """The number of levels of a tracer."""
        return self.vertical["sigma"].size if self.vertical else 1

    @property
    def transformed(self) -> tuple[int, int]:
        """The number of fields that go to the grid, and of products that come from it."""
        fields, products = self.flow.transformed
        count = len(self.tracers)
        return fields + count * (3 * self.levels - 1), products + count * self.levels

    @cached_property
    def constants(self) -> tuple:
        """The constants of the flow, and the tables of the tracers."""
        return *self.flow.constants, self.tables

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        """zonal, slope_above, slope_below over the radius, and kept, each (coefficients,);
        1 / cos(lat)**2 (nlat,); the array of sizes.
        """
        factors = primitive_factors(self.transform.truncation)
        slopes = (factors[k] / self.units.radius for k in (0, 7, 8))
        fields, products = self.flow.transformed
        sizes = self.levels, len(self.tracers), self.columns, fields, products, self.wind
        grid = inverse_cosine_squared(self.transform.grid)
        return *slopes, factors[9], grid, np.array(sizes, np.int64)

    def to_state(self, initial: Any) -> np.ndarray:
        """Coefficients (coefficients, columns) of an initial state of the flow and its tracers."""
        sigma = self.vertical.get("sigma")
        carried = [tracer.coefficients(self.transform, sigma) for tracer in self.tracers]
        return np.concatenate([self.flow.to_state(initial), *carried], axis=1)

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """SI fields of the flow and its tracers."""
        fields = self.flow.to_fields(state[:, : self.columns])
        rows = self.transform.to_grid(np.ascontiguousarray(state[:, self.columns :]))
        grid, count = self.transform.grid, self.levels
        for t, tracer in enumerate(self.tracers):
            values = [grid.to_output(x) * tracer.unit for x in rows[t * count : (t + 1) * count]]
            fields[tracer.name] = np.stack(values) if self.vertical else values[0]
        return fields

    def budgets(self, fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Budgets of the flow."""
        return self.flow.budgets(fields)


@dataclass(frozen=True)
class Traced:
    """Makes the conversions of a set of equations with tracers.

    Args:
        equations: the set of the flow.
        tracers: what it carries.
    """

    equations: EquationSet
    tracers: tuple[Tracer, ...]

    def of(
        self, initial: Any, transform: SpectralTransform, units: ModelUnits, implicit_time: float,
        **parameters: Any,
    ) -> Conversion:  # fmt: skip
        """The conversion for an initial state; see `Conversion.of`."""
        args = initial, transform, units, implicit_time
        flow = self.equations.conversion.of(*args, **parameters)
        columns = 2 * sum(levels for _, levels in self.equations.layout(parameters))
        wind = FIRST_WIND.get(self.equations.name, 0)
        return TracedConversion(flow, self.tracers, columns, wind)

    def work(self, conversion: TracedConversion, dtype: type) -> tuple:
        """The work arrays of the flow."""
        if self.equations.work is None:
            return ()
        return self.equations.work(conversion.flow, dtype)


@lru_cache(maxsize=256)
def with_own(kernel: Callable, stand_in: Callable, function: Callable) -> Callable:
    """A kernel with another in the place of its stand-in, the same again for the same ones: a
    kernel that is another function is compiled anew.
    """
    return substitute(kernel, {stand_in: function})


def with_tracers(equations: EquationSet, tracers: tuple[Tracer, ...]) -> EquationSet:
    """The equations of a flow that carries tracers, one of `TRACED`."""
    if not tracers:
        return equations
    levelled = equations.name in LEVELLED
    kernels = {
        "spectra": (air_spectra_traced if levelled else flat_spectra, _spectra),
        "products": (air_products_traced if levelled else flat_products, _products),
        "tendency": (air_tendency_traced if levelled else flat_tendency, _tendency),
        "linear": (linear_traced, _linear),
        "solve": (solve_traced, _solve),
        "adjust": (adjust_traced, _adjust),
    }
    combined = {
        name: with_own(traced, stand_in, getattr(equations, name))
        for name, (traced, stand_in) in kernels.items()
        if getattr(equations, name) is not None
    }
    traced, names = Traced(equations, tracers), tuple(tracer.name for tracer in tracers)
    rows = tuple((name, "levels" if levelled else 1) for name in names)
    return replace(
        equations, prognostic=equations.prognostic + rows, conversion=traced, work=traced.work,
        in_place=False, fields=equations.fields + names,
        units={**equations.units, **{each.name: each.units or "1" for each in tracers}}, **combined,
    )  # fmt: skip
