"""What the equation sets share: factors of the coefficients on the sphere, and winds from them."""

from __future__ import annotations

import math

import numpy as np

from sciprec.climate.grid import GaussianGrid, Truncation
from sciprec.climate.legendre import coefficient_orders, epsilon


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
    kept = degree <= truncation.number
    inverse = 1.0 / np.maximum(degree, 1)
    above = np.where(kept, epsilon(degree + 1, order), 0).astype(np.float64)
    below = np.where(degree > order, epsilon(np.maximum(degree, 1), order), 0).astype(np.float64)
    return (
        order * kept.astype(np.float64) / radius,
        radius * order * inverse / (degree + 1),
        radius * above / (degree + 1),
        radius * np.where(degree > 1, below * inverse, 0.0),
        degree * above / radius,
        (degree + 1) * below * kept / radius,
        degree * (degree + 1.0) * kept / radius**2,
        np.where(kept, mean_geopotential, 0.0),
    )


def inverse_cosine_squared(grid: GaussianGrid) -> np.ndarray:
    """1 / cos(lat)**2 (nlat,) in the model's order."""
    sine = grid.sin_lat
    return 1.0 / ((1.0 - sine) * (1.0 + sine))


def few_bits(x: float, bits: int = 8) -> float:
    """x rounded to a significand of few bits: nearly every format holds it exactly."""
    fraction, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(fraction, bits)), exponent - bits)
