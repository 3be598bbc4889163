"""Test cases: how one is registered and found, and what its initial state has to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeVar, get_type_hints

import numpy as np

from sciprec.climate.constants import (
    RADIUS_M,
)
from sciprec.foundation.arguments import refused, word
from sciprec.foundation.errors import InputError
from sciprec.foundation.registry import NamedRows


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


def case(name: str, *, source: str, parameters: Mapping[str, Any] | None = None,
         steady: bool = False, equations: str = "shallow_water",
         radius_m: float = RADIUS_M) -> Callable[[_Initial], _Initial]:  # fmt: skip
    """Register the decorated function as a test case; it is returned unchanged."""

    def register(initial: _Initial) -> _Initial:
        defaults = dict(parameters or {})
        CASES[name] = Case(name, equations, initial, defaults, steady, source, radius_m)
        return initial

    return register


def resolve_case(name: str) -> Case:
    """The registered case of that name.

    Raises:
        InputError: there is no such case.
    """
    return CASES[word("case", name, CASES)]


def require_state(case: Case, cls: type | None, initial: Any, grid: Any) -> None:
    """Make sure that a case's function made an initial state: finite numbers on the grid.

    Args:
        case: whose function was called.
        cls: the dataclass that its equations take; None: whatever they say.
        initial: what it returned.
        grid: a GaussianGrid, whose longitudes and latitudes it was given.

    Raises:
        InputError: it returned something else, a field is no finite number everywhere, or what the
            state's `positive` names is not above zero.
    """
    text = f"the initial state of case {case.name!r}"
    if cls is None:
        return
    if not isinstance(initial, cls):
        raise refused(text, initial, f"a {cls.__module__}.{cls.__name__}")
    across = grid.lon_radians.size, grid.lat_radians.size
    kinds = _kinds_of(cls)
    for name, kind in kinds.items():
        value = getattr(initial, name)
        if kind is np.ndarray:
            _require_numbers(f"{text}: {name}", value)
        elif isinstance(kind, type) and is_dataclass(kind) and not isinstance(value, kind):
            raise refused(f"{text}: {name}", value, f"a {kind.__module__}.{kind.__name__}")
    shapes = initial.shapes(across) if hasattr(initial, "shapes") else {}
    for name in (n for n, kind in kinds.items() if kind is np.ndarray):
        _require_field(f"{text}: {name}", getattr(initial, name), grid, shapes.get(name))
    for name, values in initial.positive().items() if hasattr(initial, "positive") else ():
        if not (values > 0.0).all():
            raise InputError(
                f"{text}: {name} is {values.min():.6g} at the least; accepted: above 0 everywhere: "
                "mend the case's function or its parameters"
            )


def _kinds_of(class_: type) -> dict[str, Any]:
    """The types of a state's fields; of the arrays alone where the others are not known here."""
    try:
        return get_type_hints(class_)
    except NameError:  # a name that only type checkers import
        return {f.name: np.ndarray for f in fields(class_) if f.type in (np.ndarray, "np.ndarray")}


def _require_numbers(words: str, values: Any) -> None:
    """Refuse a value that is no array of real numbers."""
    masked = isinstance(values, np.ma.MaskedArray)
    if masked or not isinstance(values, np.ndarray) or values.dtype.kind not in "fiu":
        kind = f" of {values.dtype}" if isinstance(values, np.ndarray) else ""
        raise InputError(
            f"{words} is a {type(values).__module__}.{type(values).__name__}{kind}; accepted: a "
            "numpy.ndarray of real numbers, none of them masked"
        )


def _require_field(
    words: str, values: np.ndarray, grid: Any, shape: tuple[int, ...] | None
) -> None:
    """Refuse a field that is not finite, or not of the shape; where none is given, levels are free.
    """
    across = grid.lon_radians.size, grid.lat_radians.size
    if values.shape != shape and (shape is not None or values.shape[-2:] != across):
        raise InputError(
            f"{words} has the shape {values.shape}; accepted: {shape or across}, levels before "
            "longitudes before latitudes"
        )
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        place = ""
        if values.ndim > 1:
            lon, lat = grid.lon_radians[bad[0, -2]], grid.lat_radians[bad[0, -1]]
            degrees = math.degrees(lon), math.degrees(lat)
            place = ", first at longitude {:.1f}, latitude {:.1f}".format(*degrees)
        raise InputError(
            f"{words} is {values[tuple(bad[0])]} at {len(bad)} of {values.size} points{place}; "
            "accepted: finite numbers: mend the case's function or its parameters"
        )
