"""Diffusion of coefficients, implicit: viscosity and hyperdiffusion of orders 4 and 8."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sciprec.climate.constants import SECONDS_PER_HOUR
from sciprec.foundation.portable import portable

ORDERS = {"viscosity": 2, "diffusion_m4_per_s": 4, "diffusion_m8_per_s": 8}
"""Parameter -> order of the derivative; its unit is m**order / s."""
EFOLDING = "diffusion_hours"
"""Parameter: hours in which diffusion of order 8 divides the largest total wavenumber by e."""
DIFFUSION = (*ORDERS, EFOLDING)
"""All parameters of diffusion."""


def diffusion_rate(
    degree: np.ndarray, radius_m: float, coefficients: Mapping[str, float]
) -> np.ndarray:
    """Rate of decay of each total wavenumber: sum of nu (l (l+1) / a**2)**(order / 2).

    Args:
        degree: l of all coefficients; the largest is one above the truncation T.
        radius_m: a.
        coefficients: nu by the names of `DIFFUSION`; the time t of `EFOLDING` stands for
            nu = (T (T+1) / a**2)**-4 / t, and 0 for none.

    Returns:
        1/s, the shape of degree.
    """
    square = degree * (degree + 1.0) / radius_m**2
    values = dict(coefficients)
    hours = values.pop(EFOLDING, 0.0)
    rates = [nu * portable(np.power, square, ORDERS[name] // 2) for name, nu in values.items()]
    if hours:
        largest = np.max(degree) - 1.0
        share = square * radius_m**2 / (largest * (largest + 1.0))
        rates.append(portable(np.power, share, 4) / (hours * SECONDS_PER_HOUR))
    return np.sum([np.zeros(np.shape(degree)), *rates], axis=0)


def damping(rate: np.ndarray, step_seconds: float, diffused: np.ndarray) -> np.ndarray:
    """The part that a backward Euler step takes: 1 - 1 / (1 + t rate) for t of one and two steps.

    Args:
        rate: of each coefficient, 1/s (coefficients,).
        step_seconds: the time step.
        diffused: whether each column of the state has diffusion (columns,).

    Returns:
        (2, coefficients x columns).
    """
    decay = np.array([steps * step_seconds * rate for steps in (1, 2)])
    share = (decay / (1.0 + decay))[:, :, None] * np.asarray(diffused, float)
    return share.reshape(2, -1)
