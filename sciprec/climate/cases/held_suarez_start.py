"""The start of the climate of Held and Suarez (1994): an atmosphere at rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.climate.cases.registry import case
from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.equations.air import AirState
from sciprec.climate.equations.held_suarez import (
    FRICTION_PER_DAY,
    PLANET,
    SURFACE_PRESSURE_PA,
    near_ground,
)
from sciprec.climate.equations.vertical import SigmaLevels, resolve_levels
from sciprec.foundation.portable import in_extended_precision


@case(
    "held_suarez",
    source="Held and Suarez (1994), Bull. Amer. Meteor. Soc. 75, 1825-1830",
    parameters={"levels": 20, "seed": 1, "diffusion_hours": 2.4},
    equations="held_suarez",
    radius_m=PLANET.radius_m,
)
@in_extended_precision
def held_suarez(
    lon: np.ndarray, lat: np.ndarray, levels: int | Sequence[float] | SigmaLevels = 20,
    seed: int = 1,
) -> AirState:  # fmt: skip
    """An isothermal atmosphere at rest with a small random wind, from which the climate develops.

    Args:
        lon, lat: radians, shapes that broadcast to (nlon, nlat).
        levels: number of even levels, or the levels.
        seed: of the random wind, a whole number.

    Source: Held and Suarez (1994), p. 1827 (from rest and isothermal, slightly perturbed).
    """
    levels = resolve_levels(levels)
    lon, lat = np.broadcast_arrays(lon, lat)
    amplitudes = np.random.default_rng(seed).uniform(-1.0, 1.0, (levels.count, 2, 6))
    bump = sum(
        amplitudes[:, 0, m, None, None] * np.cos((m + 1) * lon)
        + amplitudes[:, 1, m, None, None] * np.sin((m + 1) * lon)
        for m in range(6)
    )
    wind = 0.1 * bump * np.cos(lat) ** 8 * (1.0 + np.sin(lat))
    return AirState(
        planet=PLANET,
        levels=levels,
        u=wind,
        v=np.zeros_like(wind),
        temperature=np.full_like(wind, 280.0),
        surface_pressure=np.full_like(lat, SURFACE_PRESSURE_PA),
        orography=np.zeros_like(lat),
        friction=FRICTION_PER_DAY / SECONDS_PER_DAY * near_ground(levels),
    )
