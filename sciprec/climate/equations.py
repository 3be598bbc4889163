"""Equation sets: each brings its kernels, its state and its way between the state and SI fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sciprec.climate.constants import Units
from sciprec.climate.transform import SpectralTransform


class Conversion(Protocol):
    """Between SI fields and the state of an equation set at a truncation, in binary64.

    Attributes:
        transform: the binary64 transform.
        units: the model's units.
        constants: nested tuples of arrays for the set's kernels.
        vertical: coordinates of the levels by name, such as {"sigma": (levels,), "sigma_bnds":
            (levels, 2)}; empty where fields have no levels.
    """

    transform: SpectralTransform
    units: Units
    constants: tuple
    vertical: dict[str, np.ndarray]

    @classmethod
    def of(
        cls, initial: Any, transform: SpectralTransform, units: Units, implicit_time: float,
        **parameters: Any,
    ) -> Conversion:  # fmt: skip
        """The conversion for an initial state.

        Args:
            initial: what the case's function has made.
            transform, units: of the model.
            implicit_time: c of the time scheme in model units; 0: it is explicit.
            parameters: those of the set.
        """

    def work(self, dtype: type) -> tuple:
        """Work arrays of the tendency."""

    def to_state(self, initial: Any) -> np.ndarray:
        """Coefficients (coefficients, columns) of an initial state."""

    def to_fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """SI fields of a state, south to north: (nlat, nlon) or (levels, nlat, nlon)."""

    def budgets(self, fields: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Global means of what the equations conserve, or nearly."""


@dataclass(frozen=True)
class EquationSet:
    """A registered set of equations.

    Args:
        name: as in scenarios.
        prognostic: (name, levels) of each variable; levels is a number or the name of the parameter
            that gives it. The state has 2 x levels columns for each, in this order, real and
            imaginary parts in turn.
        tendency: kernel (state, out, constants, tables, work): the whole right-hand side, its
            linear part included.
        linear: kernel (state, constants, out): out = L state, the stiff linear part.
        solve: kernel (known, constants, out): out = (1 - c L)^-1 known.
        conversion: a class as `Conversion`.
        fields: names of the SI fields of its conversion.
        budgets: names of the budgets of its conversion, which tolerances may name.
        source: author, year, equations.
        parameters: those of the set and their usual values; a tuple of words is a choice, whose
            first word is the usual one.
        undiffused: prognostic variables without diffusion.
        units: of budgets and fields whose unit is not that of the table in `output.variables`.
        adjust: None, or kernel (state, constants, tables, work) that changes each new state, as a
            mass fixer does.
        time_scheme: the usual one.
        state: the dataclass of initial states that its conversion takes, fields (..., nlon, nlat);
            None: they are not looked at.
    """

    name: str
    prognostic: tuple[tuple[str, int | str], ...]
    tendency: Callable
    linear: Callable
    solve: Callable
    conversion: type[Conversion]
    fields: tuple[str, ...]
    source: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    budgets: tuple[str, ...] = ()
    undiffused: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    adjust: Callable | None = None
    time_scheme: str = "rk4"
    state: type | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the prognostic variables."""
        return tuple(name for name, _ in self.prognostic)

    def layout(self, parameters: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
        """(name, number of levels) of each prognostic variable, for parameters of the set."""
        given = {**self.parameters, **parameters}
        return tuple((n, given[k] if isinstance(k, str) else k) for n, k in self.prognostic)


EQUATIONS: dict[str, EquationSet] = {}


def equation_set(name: str, **parts: Any) -> Callable[[Callable], Callable]:
    """Register the decorated tendency kernel as a set of equations; it is returned unchanged.

    Args:
        name: as in scenarios.
        parts: the other arguments of `EquationSet`.
    """

    def register(tendency: Callable) -> Callable:
        EQUATIONS[name] = EquationSet(name=name, tendency=tendency, **parts)
        return tendency

    return register


def columns_of(layout: tuple[tuple[str, int], ...]) -> np.ndarray:
    """The variable's name of each column of a state (columns,)."""
    return np.repeat([name for name, _ in layout], [2 * levels for _, levels in layout])
