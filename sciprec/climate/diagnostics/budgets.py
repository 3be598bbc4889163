"""Global diagnostics of fields (..., nlat, nlon): budgets and normalised errors, in binary64."""

from __future__ import annotations

import numpy as np

from sciprec.climate.constants import GRAVITY_M_PER_S2
from sciprec.climate.transform.grid import GaussianGrid


def budgets(grid: GaussianGrid, fields: dict, orography: np.ndarray, coriolis: np.ndarray) -> dict:
    """Global means of mass, total energy and potential enstrophy.

    mass = mean of depth; energy = mean of (depth v.v + g (height**2 - orography**2)) / 2;
    potential enstrophy = mean of (zeta + f)**2 / (2 depth)

    Args:
        grid: the grid of the fields.
        fields: height (m), u, v (m/s) and vorticity (1/s), each (..., nlat, nlon).
        orography: height of the ground, m (nlat, nlon).
        coriolis: Coriolis parameter, 1/s (nlat, nlon).

    Returns:
        mass (m), energy (m3/s2), potential_enstrophy (1/(m s2)), each (...).

    Source: Williamson et al. (1992), eqs 137 to 139.
    """
    height = fields["height"]
    depth = height - orography
    motion = depth * (fields["u"] ** 2 + fields["v"] ** 2)
    lifted = GRAVITY_M_PER_S2 * (height - orography) * (height + orography)
    absolute = fields["vorticity"] + coriolis
    return {
        "mass": grid.mean(depth),
        "energy": grid.mean(0.5 * (motion + lifted)),
        "potential_enstrophy": grid.mean(0.5 * absolute**2 / depth),
    }


def scalar_errors(grid: GaussianGrid, field: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Normalised errors l1, l2 and linf of a field.

    l1 = I(|h - hT|) / I(|hT|), l2 = sqrt(I((h - hT)**2) / I(hT**2)), linf = max|h - hT| / max|hT|

    Args:
        grid: the grid of both fields.
        field, truth: (nlat, nlon).

    Source: Williamson et al. (1992), eqs 82 to 84.
    """
    return _norms(grid, np.abs(field - truth), np.abs(truth))


def wind_errors(grid: GaussianGrid, wind: tuple, truth: tuple) -> dict[str, float]:
    """Normalised errors l1, l2 and linf of the wind, from the lengths of the error vectors.

    Args:
        grid: the grid of all fields.
        wind, truth: (u, v), each (nlat, nlon).

    Source: Williamson et al. (1992), eqs 85 to 87.
    """
    error = np.hypot(wind[0] - truth[0], wind[1] - truth[1])
    return _norms(grid, error, np.hypot(*truth))


def _norms(grid: GaussianGrid, error: np.ndarray, size: np.ndarray) -> dict[str, float]:
    """The three norms of a field of error sizes over those of the truth's sizes."""
    return {
        "l1": float(grid.mean(error) / grid.mean(size)),
        "l2": float(np.sqrt(grid.mean(error**2) / grid.mean(size**2))),
        "linf": float(error.max() / size.max()),
    }
