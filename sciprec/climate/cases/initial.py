"""Initial states: the standard shallow-water test cases, one decorated function per case."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np

from sciprec.checks.arguments import refused, shown
from sciprec.climate.constants import (
    GRAVITY_M_PER_S2,
    RADIUS_M,
    ROTATION_PER_SECOND,
    SECONDS_PER_DAY,
)
from sciprec.errors import InputError, meant


@dataclass(frozen=True)
class InitialState:
    """Fields in SI units, all of the shape of the given longitudes and latitudes.

    Args:
        height: of the free surface, m.
        vorticity, divergence: of the wind, 1/s.
        coriolis: Coriolis parameter, 1/s.
        orography: height of the ground, m.
    """

    height: np.ndarray
    vorticity: np.ndarray
    divergence: np.ndarray
    coriolis: np.ndarray
    orography: np.ndarray


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
CASES: dict[str, Case] = {}
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
    """The registered case of that name, underscores, hyphens and capitals aside.

    Raises:
        InputError: there is no such case.
    """
    for known, found in CASES.items():
        if _bare(known) == _bare(name):
            return found
    raise InputError(
        f"unknown case {shown(name)}; known: {', '.join(sorted(CASES))}{meant(name, CASES)}"
    )


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


def _bare(name: str) -> str:
    """A name's letters and digits."""
    return "".join(c for c in str(name).lower() if c.isalnum())


@case(
    "williamson_2",
    source="Williamson et al. (1992), case 2",
    parameters={"angle_degrees": 0.0},
    steady=True,
)
def steady_zonal_flow(
    lon: np.ndarray, lat: np.ndarray, angle_degrees: float = 0.0
) -> InitialState:
    """Solid-body rotation in balance, about an axis tilted by an angle: a steady solution.

    Args:
        lon, lat: radians.
        angle_degrees: between the axis of the flow (and of the Coriolis parameter) and the poles.

    Source: Williamson et al. (1992), eqs 90 to 96.
    """
    speed = 2 * math.pi * RADIUS_M / (12 * SECONDS_PER_DAY)
    return _tilted_rotation(lon, lat, speed, 2.94e4 / GRAVITY_M_PER_S2, math.radians(angle_degrees))


def _tilted_rotation(lon, lat, speed, height, angle) -> InitialState:
    """Balanced solid-body rotation with the given speed (m/s) at the tilted equator."""
    sine = np.sin(lat) * math.cos(angle) - np.cos(lon) * np.cos(lat) * math.sin(angle)
    drop = (RADIUS_M * ROTATION_PER_SECOND * speed + 0.5 * speed**2) / GRAVITY_M_PER_S2
    return InitialState(
        height=height - drop * sine**2,
        vorticity=2 * speed / RADIUS_M * sine,
        divergence=np.zeros_like(sine),
        coriolis=2 * ROTATION_PER_SECOND * sine,
        orography=np.zeros_like(sine),
    )


@case("williamson_5", source="Williamson et al. (1992), case 5")
def flow_over_mountain(lon: np.ndarray, lat: np.ndarray) -> InitialState:
    """Zonal flow of 20 m/s against a conical mountain of 2000 m at 30 N, 90 W.

    Args:
        lon, lat: radians.

    Source: Williamson et al. (1992), eq 134 and the text around it.
    """
    state = _tilted_rotation(lon, lat, 20.0, 5960.0, 0.0)
    width = math.pi / 9
    distance = np.hypot(lon - 1.5 * math.pi, lat - math.pi / 6)
    mountain = 2000.0 * (1.0 - np.minimum(distance, width) / width)
    return InitialState(
        state.height, state.vorticity, state.divergence, state.coriolis, mountain
    )  # fmt: skip


@case("williamson_6", source="Williamson et al. (1992), case 6")
def rossby_haurwitz_wave(lon: np.ndarray, lat: np.ndarray) -> InitialState:
    """The Rossby-Haurwitz wave of zonal wavenumber 4.

    Args:
        lon, lat: radians.

    Source: Williamson et al. (1992), eqs 141 to 149, with omega = K = 7.848e-6 1/s and R = 4.
    """
    rate, wave = 7.848e-6, 4
    sine, cosine = np.sin(lat), np.cos(lat)
    square = cosine**2
    crest = cosine**wave * np.cos(wave * lon)
    zonal = rate / 2 * (2 * ROTATION_PER_SECOND + rate) * square + rate**2 / 4 * (
        square**wave * ((wave + 1) * square + (2 * wave**2 - wave - 2))
        - 2 * wave**2 * square ** (wave - 1)
    )
    single = 2 * (ROTATION_PER_SECOND + rate) * rate / ((wave + 1) * (wave + 2))
    single = single * ((wave**2 + 2 * wave + 2) - (wave + 1) ** 2 * square)
    double = rate**2 / 4 * square**wave * ((wave + 1) * square - (wave + 2))
    relief = zonal + single * crest + double * np.cos(2 * wave * lon)
    vorticity = 2 * rate * sine - rate * (wave**2 + 3 * wave + 2) * sine * crest
    return InitialState(
        height=8000.0 + RADIUS_M**2 / GRAVITY_M_PER_S2 * relief,
        vorticity=vorticity,
        divergence=np.zeros_like(vorticity),
        coriolis=2 * ROTATION_PER_SECOND * sine * np.ones_like(lon),
        orography=np.zeros_like(vorticity),
    )
