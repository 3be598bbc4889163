"""The standard test cases of Williamson et al. (1992) for transport and shallow water."""

from __future__ import annotations

import math

import numpy as np

from sciprec.climate.cases.registry import case
from sciprec.climate.constants import (
    GRAVITY_M_PER_S2,
    RADIUS_M,
    ROTATION_PER_SECOND,
    SECONDS_PER_DAY,
)
from sciprec.climate.equations.advection import InitialTracer
from sciprec.climate.equations.shallow_water import InitialState
from sciprec.foundation.portable import in_extended_precision


@case(
    "williamson_1",
    source="Williamson et al. (1992), case 1",
    parameters={"angle_degrees": 90.0},
    equations="advection",
)
@in_extended_precision
def cosine_bell(
    lon: np.ndarray, lat: np.ndarray, angle_degrees: float = 90.0
) -> InitialTracer:
    """A bell of 1000 m on the equator; a rotation of 12 days brings it back, at 90 degrees over
    both poles.

    Args:
        lon, lat: radians.
        angle_degrees: between the axis of the rotation and the poles.

    Source: Williamson et al. (1992), eqs 75 to 80.
    """
    angle, speed = math.radians(angle_degrees), 2 * math.pi * RADIUS_M / (12 * SECONDS_PER_DAY)
    along = np.cos(lat) * np.cos(lon - 1.5 * math.pi)
    distance = np.arccos(np.clip(along, -1.0, 1.0))
    bell = 500.0 * (1.0 + np.cos(3 * math.pi * np.minimum(distance, 1.0 / 3.0)))
    tilted = np.sin(lat) * np.cos(lon) * math.sin(angle)
    return InitialTracer(
        height=bell,
        u=speed * (np.cos(lat) * math.cos(angle) + tilted),
        v=-speed * np.sin(lon) * math.sin(angle) * np.ones_like(lat),
    )


@case(
    "williamson_2",
    source="Williamson et al. (1992), case 2",
    parameters={"angle_degrees": 0.0},
    steady=True,
)
@in_extended_precision
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
@in_extended_precision
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
@in_extended_precision
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
