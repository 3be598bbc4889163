"""The Rossby-Haurwitz wave of the barotropic vorticity equation: an exact solution."""

from __future__ import annotations

import numpy as np

from sciprec.climate.cases.registry import case
from sciprec.climate.equations.barotropic_vorticity import InitialVorticity
from sciprec.foundation.portable import in_extended_precision


@case(
    "rossby_haurwitz",
    source="Haurwitz (1940); Williamson et al. (1992), eqs 141 and 142",
    parameters={"wavenumber": 4},
    equations="barotropic_vorticity",
)
@in_extended_precision
def rossby_haurwitz(
    lon: np.ndarray, lat: np.ndarray, wavenumber: int = 4
) -> InitialVorticity:
    """A wave that moves round the sphere without changing its shape: an exact solution.

    Args:
        lon, lat: radians.
        wavenumber: R, zonal.

    Source: Williamson et al. (1992), eq 141, with omega = K = 7.848e-6 1/s.
    """
    rate, sine = 7.848e-6, np.sin(lat)
    crest = np.cos(lat) ** wavenumber * np.cos(wavenumber * lon)
    return InitialVorticity(
        vorticity=rate * sine * (2 - (wavenumber**2 + 3 * wavenumber + 2) * crest),
    )
