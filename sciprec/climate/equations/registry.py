"""Equation sets: each brings its kernels, its state and its way between the state and SI fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from sciprec.climate.constants import ModelUnits
from sciprec.climate.transform.spectral import SpectralTransform
from sciprec.foundation.registry import NamedRows
from sciprec.precision.registry import kernel


class Conversion(Protocol):
    """Between SI fields and the state of an equation set at a truncation, in binary64.

    Attributes:
        transform: the binary64 transform.
        units: the model's units.
        constants: nested tuples of arrays for the set's kernels.
        transformed: how many fields go to the grid, and how many products come from it.
        vertical: coordinates of the levels by name, such as {"sigma": (levels,), "sigma_bnds":
            (levels, 2)}; empty where fields have no levels.
    """

    transform: SpectralTransform
    units: ModelUnits
    constants: tuple
    transformed: tuple[int, int]
    vertical: dict[str, np.ndarray]

    @classmethod
    def of(
        cls, initial: Any, transform: SpectralTransform, units: ModelUnits, implicit_time: float,
        **parameters: Any,
    ) -> Conversion:  # fmt: skip
        """The conversion for an initial state.

        Args:
            initial: what the case's function has made.
            transform, units: of the model.
            implicit_time: c of the time scheme in model units; 0: it is explicit.
            parameters: those of the set.
        """

    def to_state(self, initial: Any) -> np.ndarray:
        """Coefficients (coefficients, columns) of an initial state."""

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """SI fields of a state, south to north: (nlat, nlon) or (levels, nlat, nlon)."""

    def budgets(self, fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Global means of what the equations conserve, or nearly."""


def _small():
    """(state, constants, out) of three coefficients of two fields."""
    return np.linspace(-1.0, 1.0, 12).reshape(3, 4), (np.ones(3),), np.ones((3, 4))


@kernel(example=lambda: _small())
def nothing_stiff(state, constants, out):
    """out = L state = 0: nothing is stiff.

    Args:
        state, out: (coefficients, columns); out is written.
        constants: of the set.
    """
    for i in range(state.shape[0]):
        for c in range(state.shape[1]):
            out[i, c] = 0.0


@kernel(example=lambda: _small())
def unchanged(state, constants, out):
    """Copy the state: nothing is implicit, or the state itself is wanted on the grid.

    Args:
        state, out: (coefficients, columns); out is written.
        constants: of the set.
    """
    for i in range(state.shape[0]):
        for c in range(state.shape[1]):
            out[i, c] = state[i, c]


@dataclass(frozen=True)
class EquationSet:
    """A registered set of equations. Its tendency is three kernels, with transforms between them;
    `tendency` composes them.

    Args:
        name: as in scenarios.
        prognostic: (name, levels) of each variable; levels is a number or the name of the parameter
            that gives it. The state has 2 x levels columns for each, in this order, real and
            imaginary parts in turn.
        spectra: kernel (state, constants, out): coefficients (coefficients, 2 fields) of what the
            products need on the grid.
        products: kernel (fields, constants, work, out): products (products, nlon, nlat) of the
            fields (fields, nlon, nlat); work is the set's own.
        tendency: kernel (state, spectra, constants, out): the whole right-hand side, its linear
            part included, from the state and the coefficients of the products.
        conversion: a class as `Conversion`.
        fields: names of the SI fields of its conversion.
        budgets: names of the budgets of its conversion, which tolerances may name.
        source: author, year, equations.
        linear: kernel (state, constants, out): out = L state, the stiff linear part; left out: 0.
        solve: kernel (known, constants, out): out = (1 - c L)^-1 known.
        work: None, or function (conversion, dtype): the set's own work arrays.
        in_place: whether products take the place of their fields, longitude by longitude; then
            fields and products have a spare longitude at the end.
        share: which of the constants is the array of a `share.Share`, where all kernels make the
            coefficients and longitudes of their share alone; None: one thread runs them.
        parameters: those of the set and their usual values; a tuple of words is a choice, whose
            first word is the usual one.
        undiffused: prognostic variables without diffusion.
        units: of budgets and fields whose unit is not that of the table in `output.variables`.
        adjust: None, or kernel (state, constants, tables, work) that changes each new state, as a
            mass fixer does; tables and work are those of `tendency.whole_tendency`.
        time_scheme: the usual one.
        state: the dataclass of initial states that its conversion takes, fields (..., nlon, nlat);
            None: they are not looked at.
    """

    name: str
    prognostic: tuple[tuple[str, int | str], ...]
    spectra: Callable
    products: Callable
    tendency: Callable
    conversion: type[Conversion]
    fields: tuple[str, ...]
    source: str
    linear: Callable = nothing_stiff
    solve: Callable = unchanged
    work: Callable[[Any, type], tuple] | None = None
    in_place: bool = False
    share: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    budgets: tuple[str, ...] = ()
    undiffused: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    adjust: Callable | None = None
    time_scheme: str = "rk4"
    state: type | None = None

    @property
    def kernels(self) -> tuple[Callable, Callable, Callable]:
        """The three of the tendency, in the order of their calls."""
        return self.spectra, self.products, self.tendency

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the prognostic variables."""
        return tuple(name for name, _ in self.prognostic)

    def layout(self, parameters: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
        """(name, number of levels) of each prognostic variable, for parameters of the set."""
        values = {**self.parameters, **parameters}
        return tuple((n, values[k] if isinstance(k, str) else k) for n, k in self.prognostic)


_Kernel = TypeVar("_Kernel", bound=Callable)
EQUATIONS: NamedRows[EquationSet] = NamedRows("equation set")


def equation_set(name: str, **parts: Any) -> Callable[[_Kernel], _Kernel]:
    """Register the decorated kernel `tendency` as a set of equations; it is returned unchanged.

    Args:
        name: as in scenarios.
        parts: the other arguments of `EquationSet`.
    """

    def register(tendency: _Kernel) -> _Kernel:
        EQUATIONS[name] = EquationSet(name=name, tendency=tendency, **parts)
        return tendency

    return register


def columns_of(layout: tuple[tuple[str, int], ...]) -> np.ndarray:
    """The variable's name of each column of a state (columns,)."""
    return np.repeat([name for name, _ in layout], [2 * levels for _, levels in layout])
