"""The barotropically unstable jet of Galewsky et al. (2004)."""

from __future__ import annotations

import math

import numpy as np

from sciprec.climate.cases.registry import case
from sciprec.climate.constants import GRAVITY_M_PER_S2, RADIUS_M, ROTATION_PER_SECOND
from sciprec.climate.equations.shallow_water import InitialState
from sciprec.climate.transform.legendre import gauss_nodes
from sciprec.foundation.portable import in_extended_precision

_SOUTH, _NORTH = math.pi / 7, math.pi / 2 - math.pi / 7
_SPEED_M_PER_S = 80.0
_MEAN_HEIGHT_M = 10_000.0
_NODES = 400


@case(
    "galewsky",
    source="Galewsky, Scott and Polvani (2004), Tellus 56A, 429-440",
    parameters={"bump_metres": 120.0, "viscosity": 1.0e5},
)
@in_extended_precision
def unstable_jet(
    lon: np.ndarray, lat: np.ndarray, bump_metres: float = 120.0
) -> InitialState:
    """A zonal jet at 45 N in balance, with a bump in the height that makes it roll up.

    h = h0 - I(lat) / g + bump cos(lat) exp(-(3 lon)**2) exp(-(15 (pi/4 - lat))**2)

    Args:
        lon, lat: radians.
        bump_metres: height of the bump; 0 leaves the jet as it is, a steady and unstable solution.

    Source: Galewsky et al. (2004), eqs 2 to 4.
    """
    wind = jet(lat)
    slope = _log_slope(lat)
    east = np.mod(lon + math.pi, 2 * math.pi) - math.pi
    bump = np.cos(lat) * np.exp(-((3.0 * east) ** 2) - (15.0 * (math.pi / 4 - lat)) ** 2)
    vorticity = wind * (np.tan(lat) - slope) / RADIUS_M
    level = np.ones_like(lon)
    return InitialState(
        height=balanced_height(lat) + bump_metres * bump,
        vorticity=vorticity * level,
        divergence=np.zeros_like(bump),
        coriolis=2 * ROTATION_PER_SECOND * np.sin(lat) * level,
        orography=np.zeros_like(bump),
    )


def jet(lat: np.ndarray) -> np.ndarray:
    """u = 80 m/s exp(1 / ((lat - a) (lat - b))) / exp(-4 / (b - a)**2) between a and b, else 0.

    Args:
        lat: radians; a = pi/7, b = pi/2 - a.

    Returns:
        The zonal wind, m/s.

    Source: Galewsky et al. (2004), eq 2.
    """
    product = _inside(lat)
    highest = math.exp(-4.0 / (_NORTH - _SOUTH) ** 2)
    return np.where(product < 0.0, _SPEED_M_PER_S / highest * np.exp(1.0 / product), 0.0)


def balanced_height(lat: np.ndarray) -> np.ndarray:
    """Height (m) whose gradient balances the jet, 10 km in the global mean.

    g dh/dlat = -a u (f + u tan(lat) / a)

    Args:
        lat: radians.

    Precision: Gauss quadrature of 400 nodes from the southern edge of the jet to each latitude; the
        integrand and all its derivatives vanish at the edges.
    Source: Galewsky et al. (2004), eq 3. The mean of the integral over the sphere is that of its
        integrand times (1 - sin(lat)) / 2, by parts.
    """
    nodes, weights = gauss_nodes(_NODES, np.longdouble)
    upper = np.clip(lat, _SOUTH, _NORTH)
    half = 0.5 * (upper - _SOUTH)
    along = _SOUTH + half[..., None] * (1.0 + nodes)
    drop = 2.0 * half * (_slope(along) @ weights)
    half_width = 0.5 * (_NORTH - _SOUTH)
    along = _SOUTH + half_width * (1.0 + nodes)
    mean = half_width * ((_slope(along) * (1.0 - np.sin(along))) @ weights)
    return _MEAN_HEIGHT_M + mean - drop


def _slope(lat: np.ndarray) -> np.ndarray:
    """-dh/dlat in m."""
    wind = jet(lat)
    turning = 2 * ROTATION_PER_SECOND * np.sin(lat) + wind * np.tan(lat) / RADIUS_M
    return RADIUS_M * wind * turning / GRAVITY_M_PER_S2


def _inside(lat: np.ndarray) -> np.ndarray:
    """(lat - a) (lat - b), negative inside the jet; 1 where the jet's wind underflows."""
    product = (lat - _SOUTH) * (lat - _NORTH)
    return np.where(product < -1.0 / 700.0, product, 1.0)


def _log_slope(lat: np.ndarray) -> np.ndarray:
    """d(log u)/dlat inside the jet, 0 outside."""
    product = _inside(lat)
    return np.where(product < 0.0, -(2.0 * lat - _SOUTH - _NORTH) / product**2, 0.0)
