"""Test cases: how one is registered and found, and what its initial state has to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from sciprec.checks.arguments import refused, word
from sciprec.climate.constants import (
    RADIUS_M,
)
from sciprec.errors import InputError
from sciprec.precision.registry import NamedRows


@dataclass(frozen=True)
class Case:
    """A registered test case.

    Args:
        name: as in scenarios.
        equations: name of the equation set that it is for.
        initial: function (lon, lat, **parameters), radians, whose result the equation set's
            conversion takes: an InitialState for shallow water.
        parameters: names of its parameters and their usual values; those that the model and the
            equation set have, too, replace their usual values.
        radius_m: of its planet, m.
        steady: whether the initial state is an exact solution for all times.
        source: author, year, case.
    """

    name: str
    equations: str
    initial: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    steady: bool = False
    source: str = ""
    radius_m: float = RADIUS_M


_Initial = TypeVar("_Initial", bound=Callable[..., Any])
CASES: NamedRows[Case] = NamedRows("case")
_OFF_THE_GRID = ("friction",)
"""Arrays of initial states that are by level alone."""


def case(name: str, *, source: str, parameters: Mapping[str, Any] | None = None,
         steady: bool = False, equations: str = "shallow_water",
         radius_m: float = RADIUS_M) -> Callable[[_Initial], _Initial]:  # fmt: skip
    """Register the decorated function as a test case; it is returned unchanged."""

    def register(initial: _Initial) -> _Initial:
        given = dict(parameters or {})
        CASES[name] = Case(name, equations, initial, given, steady, source, radius_m)
        return initial

    return register


def resolve_case(name: str) -> Case:
    """The registered case of that name.

    Raises:
        InputError: there is no such case.
    """
    return CASES[word("case", name, CASES)]


def require_state(case: Case, wanted: type | None, initial: Any, grid: Any) -> None:
    """Make sure that a case's function made an initial state: finite numbers on the grid.

    Args:
        case: whose function was called.
        wanted: the dataclass that its equations take; None: whatever they say.
        initial: what it returned.
        grid: a GaussianGrid, whose longitudes and latitudes it was given.

    Raises:
        InputError: it returned something else, or a field is no finite number everywhere.
    """
    said = f"the initial state of case {case.name!r}"
    if wanted is None:
        return
    if not isinstance(initial, wanted):
        raise refused(said, initial, f"a {wanted.__module__}.{wanted.__name__}")
    for one in fields(wanted):
        if one.type == "np.ndarray" and one.name not in _OFF_THE_GRID:
            _require_field(f"{said}: {one.name}", getattr(initial, one.name), grid)


def _require_field(said: str, values: Any, grid: Any) -> None:
    """Refuse what is no array of finite numbers on the grid."""
    sizes = grid.lon_radians.size, grid.lat_radians.size
    given = np.asarray(values)
    if given.dtype.kind not in "fiu" or given.shape[-2:] != sizes:
        raise InputError(
            f"{said} has the type {given.dtype} and the shape {given.shape}; accepted: real "
            f"numbers of shape {sizes}, longitudes by latitudes, after the levels if there are some"
        )
    bad = np.argwhere(~np.isfinite(given))
    if bad.size:
        lon, lat = grid.lon_radians[bad[0, -2]], grid.lat_radians[bad[0, -1]]
        raise InputError(
            f"{said} is {given[tuple(bad[0])]} at {len(bad)} of {given.size} points, first at "
            f"longitude {math.degrees(lon):.1f}, latitude {math.degrees(lat):.1f}; accepted: "
            "finite numbers: mend the case's function or its parameters"
        )
