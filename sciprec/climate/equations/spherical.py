"""Parts that the equation sets share: factors of the coefficients on the sphere, and the Coriolis
terms.

f = 2 Omega sin(lat) is ten times as large as the vorticity of most flows. In products on the grid
f u would bring its rounding to waves of all lengths; between coefficients it stays where it is.
"""

from __future__ import annotations

import math

import numpy as np

from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.climate.transform.legendre import coefficient_orders, epsilon
from sciprec.precision.registry import kernel


def spectral_constants(
    truncation: Truncation, mean_geopotential: float, radius: float = 1.0
) -> tuple[np.ndarray, ...]:
    """Factors of the coefficients (each (coefficients,), binary64), named as in the kernels.

    Args:
        truncation: the truncation.
        mean_geopotential: Phi_0 of `reference`.
        radius: a, of the sphere in units of length.

    Returns:
        zonal = m / a; zonal_inverse = a m / (l (l+1));
        wind_above = a eps(l+1) / (l+1); wind_below = a eps(l) / l;
        flux_above = l eps(l+1) / a; flux_below = (l+1) eps(l) / a; laplacian = l (l+1) / a**2;
        reference = Phi_0.
        Those of tendencies vanish above the truncation, so that the state stays zero there.
    """
    degree, order = coefficient_orders(truncation.number)
    within = degree <= truncation.number
    inverse = 1.0 / np.maximum(degree, 1)
    above = np.where(within, epsilon(degree + 1, order), 0).astype(np.float64)
    below = np.where(degree > order, epsilon(np.maximum(degree, 1), order), 0).astype(np.float64)
    return (
        order * within.astype(np.float64) / radius,
        radius * order * inverse / (degree + 1),
        radius * above / (degree + 1),
        radius * np.where(degree > 1, below * inverse, 0.0),
        degree * above / radius,
        (degree + 1) * below * within / radius,
        degree * (degree + 1.0) * within / radius**2,
        np.where(within, mean_geopotential, 0.0),
    )


def rotation_constants(truncation: Truncation, twice_rotation: float) -> tuple[np.ndarray, ...]:
    """Factors of `coriolis_terms` (each (coefficients,), binary64).

    Args:
        truncation: the truncation.
        twice_rotation: 2 Omega.

    Returns:
        turn_above = 2 Omega l eps(l+1) / (l+1); turn_below = 2 Omega (l+1) eps(l) / l;
        turn_zonal = 2 Omega m / (l (l+1)). They vanish above the truncation, for l = 0, and where
        they would take the coefficient (0, 0): a wind has no mean vorticity.
    """
    degree, order = coefficient_orders(truncation.number)
    there = (degree > 0) & (degree <= truncation.number)
    rate = np.where(there, twice_rotation, 0.0)
    above = epsilon(degree + 1, order).astype(np.float64)
    inner = degree > np.maximum(order, 1)
    below = np.where(inner, epsilon(np.maximum(degree, 1), order), 0).astype(np.float64)
    inverse = 1.0 / np.maximum(degree, 1)
    return (
        rate * degree * above / (degree + 1),
        rate * (degree + 1) * below * inverse,
        rate * order * inverse / (degree + 1),
    )


def _example():
    random = np.random.default_rng(37).uniform
    small = Truncation(2, 4, 8, 3600.0)
    return random(-1, 1, (9, 8)), rotation_constants(small, 12.5), 2, 1, 8, random(-1, 1, (9, 8))


@kernel(example=lambda: _example())
def coriolis_terms(state, rotation, levels, first, stop, tendency):
    """Add the Coriolis terms to the tendencies of vorticity and divergence of some coefficients.

    -div(f v)[l] = -(2 Omega ((l+1) eps(l) / l delta[l-1] + l eps(l+1) / (l+1) delta[l+1])
        - 2 Omega i m / (l (l+1)) zeta[l])
    curl(f v)[l] = 2 Omega ((l+1) eps(l) / l zeta[l-1] + l eps(l+1) / (l+1) zeta[l+1])
        + 2 Omega i m / (l (l+1)) delta[l]

    Args:
        state: (coefficients, at least 4 levels): vorticity of all levels, then divergence; real and
            imaginary parts in turn.
        rotation: from `rotation_constants`.
        levels: how many.
        first, stop: the coefficients from first to stop - 1.
        tendency: of the shape of the state, changed.

    Source: the equations in vorticity-divergence form with sin(lat) and d/dlat of a function as
        sums of its neighbours (Abramowitz and Stegun 1964, eqs 8.5.3 and 8.5.4).
    """
    turn_above, turn_below, turn_zonal = rotation
    last = state.shape[0] - 1
    parts = 2 * levels
    for i in range(first, stop):
        upper = state[min(i + 1, last)]
        lower = state[max(i - 1, 0)]
        own = state[i]
        out = tendency[i]
        near = turn_above[i]
        far = turn_below[i]
        turn = turn_zonal[i]
        for z in range(parts):
            out[z] = out[z] - (far * lower[parts + z] + near * upper[parts + z])
        for d in range(parts, 2 * parts):
            out[d] = out[d] + (far * lower[d - parts] + near * upper[d - parts])
        for z in range(0, 2 * parts, 2):
            out[z] = out[z] - turn * own[z + 1]
            out[z + 1] = out[z + 1] + turn * own[z]


def inverse_cosine_squared(grid: GaussianGrid) -> np.ndarray:
    """1 / cos(lat)**2 (nlat,) in the model's order."""
    sine = grid.sin_lat
    return 1.0 / ((1.0 - sine) * (1.0 + sine))


def few_bits(x: float, bits: int = 8) -> float:
    """x rounded to a significand of few bits: nearly every format holds it exactly."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, bits)), exponent - bits)
