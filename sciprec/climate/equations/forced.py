"""Equations under a forcing of a user: what it sees on the grid, and what it adds to the products.

The kernel of a forcing sees fields (level, lat, lon), south to north, in its own units; those of
the model are (nlon, nlat) in its order. A forcing is evaluated once a step, from the state with
which the step's tendency begins. Its tendencies are held on the grid and added to the products: of
schemes with one level to those of the same step, of a leapfrog to those of the next one, so that
the increment from level n - 1 has the forcing of level n - 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.equations.air import REFERENCE_PRESSURE_PA
from sciprec.climate.equations.primitive_spectral import primitive_factors
from sciprec.climate.equations.registry import Conversion, EquationSet
from sciprec.climate.equations.tracers import (
    COLUMN,
    FIELD,
    FIRST_WIND,
    LEVELLED,
    LEVELS,
    PRODUCT,
    TRACERS,
    TracedConversion,
    Tracer,
    with_own,
)
from sciprec.climate.physics.clock import Time
from sciprec.climate.physics.forcings import Forcing
from sciprec.foundation.portable import portable
from sciprec.precision.registry import kernel

EVALUATED, WRITTEN, ADDED = range(3)
"""Places in the array that steers: whether the forcing is to be evaluated; which of the two held
tendencies is written, and which is added."""
TILE = 8
"""Longitudes that are copied side by side, a line of a cache; every grid has a multiple."""
_WINDS = {"shallow_water": (1, 0), "barotropic_vorticity": (1, 0)}
"""Products of flows without levels that u and v push; what v pushes has the opposite sign."""
FORCED = (*_WINDS, *LEVELLED)
"""Equation sets that take forcings."""
_GEOPOTENTIAL, _PRODUCTS = 1, 5
"""In shallow water: the field of Phi, and the product that its source becomes."""


def _random(*shape):
    return np.random.default_rng(53).uniform(-1.0, 1.0, shape)


_PLACES = np.array([2, 3, 1, 0])


@kernel(example=lambda: (_random(5, 9, 4), 2, 0.5, _random(4), _PLACES, np.zeros((2, 4, 8))))
def see_levels(fields, first, offset, factor, places, seen):
    """seen[k, j, i] = factor[place of j] (offset + field[first + k, i, place of j]).

    Args:
        fields: (fields, at least nlon, nlat), in the model's order.
        first: the field of the first level.
        offset: in the model's units.
        factor: (nlat,), in the model's order.
        places: (nlat,): of the latitudes from south to north in the model's order.
        seen: (levels, nlat, nlon), written.
    """
    for k in range(seen.shape[0]):
        field = fields[first + k]
        for west in range(0, seen.shape[2], TILE):
            for j in range(seen.shape[1]):
                place = places[j]
                size = factor[place]
                row = seen[k, j]
                for i in range(west, west + TILE):
                    row[i] = size * (offset + field[i, place])


@kernel(example=lambda: (_random(5, 9, 4), 2, 1000.0, _PLACES, np.zeros((4, 8))))
def see_pressure(fields, first, reference, places, seen):
    """seen[j, i] = reference exp(q) of the field q = ln(pressure / reference).

    Args:
        fields, first, places: as in `see_levels`.
        reference: hPa.
        seen: (nlat, nlon), written: first q, in another order, then what is made of it, in the same
            one, so that exponentials are computed in vectors.
    """
    for i in range(seen.shape[1]):
        row = fields[first, i]
        for j in range(seen.shape[0]):
            seen[j, i] = row[places[j]]
    for j in range(seen.shape[0]):
        shown = seen[j]
        for i in range(shown.shape[0]):
            shown[i] = reference * np.exp(shown[i])


@kernel(example=lambda: (_random(2, 4, 8), _random(4), _PLACES, 1, np.zeros((5, 8, 4))))
def hold_levels(tendency, rate, places, first, held):
    """held[first + k, i, place of j] = rate[place of j] tendency[k, j, i], which becomes 0.

    Args:
        tendency: (levels, nlat, nlon), a day, in the forcing's units.
        rate: (nlat,), in the model's order.
        places: as in `see_levels`.
        first: row of the first level.
        held: (rows, nlon, nlat), those of the levels written.
    """
    for k in range(tendency.shape[0]):
        field = held[first + k]
        for west in range(0, tendency.shape[2], TILE):
            for j in range(tendency.shape[1]):
                place = places[j]
                size = rate[place]
                row = tendency[k, j]
                for i in range(west, west + TILE):
                    field[i, place] = size * row[i]
                    row[i] = 0.0


@kernel(example=lambda: (_random(2, 8, 4), np.array([3, 0]), _random(5, 9, 4)))
def add_held(held, targets, products):
    """products[targets[r]] += held[r].

    Args:
        held: (rows, nlon, nlat).
        targets: (rows,).
        products: (products, at least nlon, nlat), changed.
    """
    for r in range(held.shape[0]):
        for i in range(held.shape[1]):
            row = products[targets[r], i]
            for j in range(held.shape[2]):
                row[j] = row[j] + held[r, i, j]


def _products(fields, constants, work, products):
    """Stands for `EquationSet.products`."""


def _spectra(state, constants, spectra):
    """Stands for `EquationSet.spectra`."""


def _tendency(state, spectra, constants, tendency):
    """Stands for `EquationSet.tendency`."""


def _forcing(fields, t, p, out):
    """Stands for the kernel of a forcing with parameters."""


def _forcing_alone(fields, t, out):
    """Stands for the kernel of a forcing without parameters."""


def _without_parameters(fields, t, p, out):
    """Call a forcing that has no parameters."""
    _forcing_alone(fields, t, out)


def forced_products(fields, constants, work, products):
    """Products of a flow under a forcing.

    Args:
        fields, constants, products: of the flow.
        work: of the flow, and last the arrays of `Arrays`.
    """
    steer, inputs, outputs, tendencies, places, clock = work[-1]
    if steer[EVALUATED] > 0:
        evaluate_forcing(fields, inputs, outputs, tendencies[steer[WRITTEN]], places, clock)
    _products(fields, constants, work[:-1], products)
    add_held(tendencies[steer[ADDED]], outputs[5], products)


def evaluate_forcing(fields, seen, made, held, places, clock):
    """Show the fields to the forcing, and hold its tendencies.

    Args:
        fields: of the flow.
        seen, made, places, clock: of `Arrays`.
        held: (rows, nlon, nlat), written.
    """
    shown, firsts, offsets, factors, pressure, named = seen
    tendencies, starts, rates, out, p, _ = made
    for g in range(firsts.shape[0]):
        see_levels(fields, firsts[g], offsets[g], factors[g], places, shown[g])
    for g in range(pressure[0].shape[0]):
        see_pressure(fields, pressure[0][g], pressure[1][g], places, pressure[2])
    _forcing(named, Time(clock[0], clock[1]), p, out)
    for g in range(starts.shape[0]):
        hold_levels(tendencies[g], rates[g], places, starts[g], held)


def traced_spectra(state, constants, spectra):
    """Coefficients that a flow with tracers needs on the grid, and the tracers themselves."""
    _spectra(state, constants, spectra)
    sizes = constants[-1][5]
    levels = sizes[LEVELS]
    first = 2 * (sizes[FIELD] + sizes[TRACERS] * (3 * levels - 1))
    for i in range(state.shape[0]):
        for c in range(2 * sizes[TRACERS] * levels):
            spectra[i, first + c] = state[i, sizes[COLUMN] + c]


def sourced_products(fields, constants, work, products):
    """Products of shallow water, and an empty one for the source of Phi."""
    _products(fields, constants, work, products)
    for i in range(products.shape[1]):
        for j in range(products.shape[2]):
            products[_PRODUCTS, i, j] = 0.0


def sourced_tendency(state, spectra, constants, tendency):
    """Tendency of shallow water with a source of Phi."""
    _tendency(state, spectra, constants, tendency)
    mask = constants[4]
    for i in range(state.shape[0]):
        for part in range(2):
            source = mask[i] * spectra[i, 2 * _PRODUCTS + part]
            tendency[i, 4 + part] = tendency[i, 4 + part] + source


@dataclass(frozen=True)
class SourcedConversion:
    """The conversion of shallow water, with the constants and the product of a source of Phi."""

    flow: Any

    @classmethod
    def of(cls, *args: Any, **parameters: Any) -> SourcedConversion:
        """The conversion for an initial state; see `Conversion.of`."""
        from sciprec.climate.equations.shallow_water import ShallowWaterConversion

        return cls(ShallowWaterConversion.of(*args, **parameters))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.flow, name)

    @property
    def transformed(self) -> tuple[int, int]:
        """The number of fields that go to the grid, and of products that come from it."""
        return self.flow.transformed[0], _PRODUCTS + 1

    @property
    def constants(self) -> tuple:
        """The constants of shallow water, and 1 up to the truncation, 0 above (coefficients,)."""
        return *self.flow.constants, primitive_factors(self.transform.truncation)[9]


@dataclass(frozen=True)
class _SeenConversion:
    """The conversion of a flow whose forcing sees its tracers."""

    flow: TracedConversion

    def __getattr__(self, name: str) -> Any:
        return getattr(self.flow, name)

    @property
    def transformed(self) -> tuple[int, int]:
        """The number of fields that go to the grid, and of products that come from it."""
        fields, products = self.flow.transformed
        return fields + len(self.flow.tracers) * self.flow.levels, products


@dataclass(frozen=True)
class _SeenConversions:
    """Makes the conversions of a flow whose forcing sees its tracers."""

    equations: EquationSet

    def of(self, *args: Any, **parameters: Any) -> Conversion:
        """The conversion for an initial state; see `Conversion.of`."""
        return _SeenConversion(self.equations.conversion.of(*args, **parameters))

    def work(self, conversion: _SeenConversion, dtype: type) -> tuple:
        """The work arrays of the flow and its tracers."""
        return self.equations.work(conversion.flow, dtype)


def with_source(equations: EquationSet, forcing: Forcing | None) -> EquationSet:
    """The equations of a flow before it has tracers: with a source of Phi where a forcing of
    shallow water has one.
    """
    if forcing is None or equations.name != "shallow_water":
        return equations
    if not forcing.used(-1, ("height",)):
        return equations
    return replace(
        equations, conversion=SourcedConversion,
        products=with_own(sourced_products, _products, equations.products),
        tendency=with_own(sourced_tendency, _tendency, equations.tendency),
    )  # fmt: skip


def with_forcing(
    equations: EquationSet, forcing: Forcing | None, tracers: Sequence[Tracer]
) -> EquationSet:
    """The equations of a flow and its tracers under a forcing.

    Args:
        equations: from `with_source` and `with_tracers`.
        forcing: or None.
        tracers: that the flow carries.

    Raises:
        InputError: the forcing names what the flow does not have.
    """
    if forcing is None:
        return equations
    fields, out = offered(equations.name, tracers)
    forcing.require_offered(fields, out, f"the case's model, {equations.name},")
    products = with_own(forced_products, evaluate_forcing, evaluation_of(forcing))
    forced = {"products": with_own(products, _products, equations.products)}
    more: dict[str, Any] = {}
    if bool(forcing.used(0, [tracer.name for tracer in tracers])):
        forced["spectra"] = with_own(traced_spectra, _spectra, equations.spectra)
        more = {"conversion": _SeenConversions(equations), "work": _SeenConversions(equations).work}
    return replace(equations, share=None, **forced, **more)


def evaluation_of(forcing: Forcing) -> Callable:
    """`evaluate_forcing` with the kernel of a forcing."""
    called = forcing.kernel
    if not forcing.parameters:
        called = with_own(_without_parameters, _forcing_alone, called)
    return with_own(evaluate_forcing, _forcing, called)


def offered(name: str, tracers: Sequence[Tracer]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the fields that a forcing sees in a set of equations, and may change."""
    carried = tuple(tracer.name for tracer in tracers)
    if name in LEVELLED:
        fields: tuple[str, ...] = ("u", "v", "temperature")
        more: tuple[str, ...] = ("surface_pressure", "sigma", "latitude", "longitude")
    else:
        fields = ("u", "v", "height") if name == "shallow_water" else ("u", "v")
        more = ("latitude", "longitude")
    return (*fields, *carried, *more), (*fields, *carried)


@dataclass(frozen=True)
class ForcedField:
    """A field on levels that a forcing sees or changes.

    Args:
        name: of the field.
        first: its first field, or product, in the model.
        offset: in the model's units.
        factor: (nlat,), units of the forcing for one of the model, or the other way round a day.
    """

    name: str
    first: int
    offset: float
    factor: np.ndarray


def rows_of(
    name: str, convert: Any, tracers: Sequence[Tracer]
) -> tuple[list[ForcedField], list[ForcedField], int | None]:
    """The fields on levels that forcings see, the products that they add to, and the field of the
    logarithm of pressure; in the order of `offered`.

    Args:
        name: of the equations.
        convert: their conversion.
        tracers: that the flow carries.
    """
    grid, units = convert.transform.grid, convert.units
    even, per_cos = np.ones(grid.nlat), 1.0 / portable(np.cos, grid.lat_radians)
    rate = units.seconds / SECONDS_PER_DAY
    wind, push = units.velocity * per_cos, rate / units.velocity * per_cos
    levels = convert.vertical["sigma"].size if convert.vertical else 1
    flow, pressure = convert, None
    while isinstance(flow, (_SeenConversion, TracedConversion, SourcedConversion)):
        flow = flow.flow
    if name in LEVELLED:
        inputs = [
            ForcedField("u", 3 * levels, 0.0, wind), ForcedField("v", 4 * levels, 0.0, wind),
            ForcedField("temperature", 2 * levels, flow.reference, flow.kelvin * even),
        ]  # fmt: skip
        outputs = [
            ForcedField("u", 0, 0.0, push), ForcedField("v", levels, 0.0, push),
            ForcedField("temperature", 4 * levels, 0.0, rate / flow.kelvin * even),
        ]  # fmt: skip
        pressure = 5 * levels + 2
    else:
        first, (east, north) = FIRST_WIND[name], _WINDS[name]
        inputs = [ForcedField("u", first, 0.0, wind), ForcedField("v", first + 1, 0.0, wind)]
        outputs = [ForcedField("u", east, 0.0, push), ForcedField("v", north, 0.0, -push)]
        if name == "shallow_water":
            inputs.append(ForcedField("height", _GEOPOTENTIAL, flow.reference, units.height * even))
            outputs.append(ForcedField("height", _PRODUCTS, 0.0, rate / units.height * even))
    if tracers:
        traced = convert if isinstance(convert, TracedConversion) else convert.flow
        sizes = traced.tables[5]
        first = sizes[FIELD] + len(tracers) * (3 * levels - 1)
        for t, tracer in enumerate(tracers):
            unit = tracer.unit * even
            inputs.append(ForcedField(tracer.name, int(first) + t * levels, 0.0, unit))
            row = int(sizes[PRODUCT]) + t * levels
            outputs.append(ForcedField(tracer.name, row, 0.0, rate / tracer.unit * even))
    return inputs, outputs, pressure


REFERENCE_HPA = REFERENCE_PRESSURE_PA / 100.0
