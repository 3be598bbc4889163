"""The steady jets and the baroclinic wave of Jablonowski and Williamson (2006)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sciprec.climate.cases.registry import case
from sciprec.climate.equations.air import AirState, Planet
from sciprec.climate.equations.vertical import SigmaLevels, resolve_levels
from sciprec.foundation.portable import in_extended_precision

PLANET = Planet(
    radius_m=6.371229e6,
    rotation_per_second=7.29212e-5,
    gravity_m_per_s2=9.80616,
    gas_constant=287.0,
    kappa=2 / 7,
)
"""The planet of Jablonowski and Williamson (2006), appendix A."""
SURFACE_PRESSURE_PA = 1.0e5
JET_M_PER_S = 35.0
_TROPOPAUSE, _CENTRE = 0.2, 0.252
_GROUND_TEMPERATURE_K, _LAPSE_RATE_K_PER_M, _STRATOSPHERE_K = 288.0, 0.005, 4.8e5
_BUMP_LON, _BUMP_LAT, _BUMP_WIDTH = math.pi / 9, 2 * math.pi / 9, 0.1


@case(
    "jablonowski_williamson",
    source="Jablonowski and Williamson (2006), Q. J. R. Meteorol. Soc. 132, 2943-2975",
    parameters={"levels": 24, "perturbation_m_per_s": 1.0, "diffusion_hours": 2.4},
    equations="primitive_equations",
    radius_m=PLANET.radius_m,
)
@in_extended_precision
def jablonowski_williamson(
    lon: np.ndarray, lat: np.ndarray, levels: int | Sequence[float] | SigmaLevels = 24,
    perturbation_m_per_s: float = 1.0,
) -> AirState:  # fmt: skip
    """Two balanced jets, and a bump of the wind in the northern one from which waves grow.

    Args:
        lon, lat: radians, shapes that broadcast to (nlon, nlat).
        levels: number of even levels, or the levels; eta of the source is sigma, the surface
            pressure being constant.
        perturbation_m_per_s: largest wind of the bump; 0 for the steady state.

    Source: Jablonowski and Williamson (2006), eqs 1 to 10.
    """
    levels = resolve_levels(levels)
    angle = 0.5 * math.pi * (np.longdouble(levels.full[:, None, None]) - _CENTRE)
    lon, lat = np.broadcast_arrays(lon, lat)
    jet = JET_M_PER_S * np.cos(angle) ** 1.5 * np.sin(2 * lat) ** 2
    closeness = np.sin(_BUMP_LAT) * np.sin(lat)
    closeness = closeness + np.cos(_BUMP_LAT) * np.cos(lat) * np.cos(lon - _BUMP_LON)
    distance = np.arccos(np.clip(closeness, -1.0, 1.0))
    bump = perturbation_m_per_s * np.exp(-((distance / _BUMP_WIDTH) ** 2))
    ground_wind = JET_M_PER_S * math.cos(0.5 * math.pi * (1.0 - _CENTRE)) ** 1.5
    drag, turning = _shapes(lat)
    return AirState(
        planet=PLANET,
        levels=levels,
        u=jet + bump,
        v=np.zeros_like(jet),
        temperature=_temperature(np.longdouble(levels.full[:, None, None]), angle, drag, turning),
        surface_pressure=np.full_like(lat, SURFACE_PRESSURE_PA),
        orography=ground_wind * (drag * ground_wind + turning) / PLANET.gravity_m_per_s2,
        friction=np.zeros(levels.count),
    )


def _shapes(lat):
    """The two functions of latitude in temperature and geopotential; the second in m/s."""
    sine, cosine = np.sin(lat), np.cos(lat)
    drag = -2 * sine**6 * (cosine**2 + 1 / 3) + 10 / 63
    turning = 8 / 5 * cosine**3 * (sine**2 + 2 / 3) - math.pi / 4
    return drag, turning * PLANET.radius_m * PLANET.rotation_per_second


def _temperature(eta, angle, drag, turning):
    """Temperature in K (levels, nlon, nlat): eqs 4 to 6."""
    exponent = PLANET.gas_constant * _LAPSE_RATE_K_PER_M / PLANET.gravity_m_per_s2
    mean = _GROUND_TEMPERATURE_K * eta**exponent
    mean = mean + _STRATOSPHERE_K * np.maximum(_TROPOPAUSE - eta, 0.0) ** 5
    scale = 0.75 * eta * math.pi * JET_M_PER_S / PLANET.gas_constant
    wind = JET_M_PER_S * np.cos(angle) ** 1.5
    return mean + scale * np.sin(angle) * np.sqrt(np.cos(angle)) * (drag * 2 * wind + turning)
