"""Variables made of the fields of a state: zonal means, eddy products, and a spectrum."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sciprec.climate.diagnostics.climatology import EDDY_PRODUCTS, ZONAL_MEAN, eddy_product
from sciprec.climate.transform.spectral import SpectralTransform

SPECTRUM = "kinetic_energy_spectrum"


def derived_names(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Names of everything that can be derived from fields of these names."""
    eddies = (name for name, parts in EDDY_PRODUCTS.items() if set(parts) <= set(fields))
    means = tuple(f"{ZONAL_MEAN}{name}" for name in (*fields, *eddies))
    return (*means, SPECTRUM) if "vorticity" in fields else means


def derive(
    name: str, fields: Mapping[str, np.ndarray], transform: SpectralTransform, radius_m: float
) -> np.ndarray:
    """A derived variable.

    Args:
        name: of `derived_names`.
        fields: (..., nlat, nlon) by name, SI units, south to north.
        transform: the binary64 transform of their grid.
        radius_m: of the sphere.

    Returns:
        A zonal mean (..., nlat), or the spectrum (..., total wavenumbers from 0) in m2/s2.
    """
    if name == SPECTRUM:
        return kinetic_energy_spectrum(fields, transform, radius_m)
    meant = name.removeprefix(ZONAL_MEAN)
    if meant in EDDY_PRODUCTS:
        return eddy_product(meant, fields)
    return fields[meant].mean(axis=-1)


def kinetic_energy_spectrum(
    fields: Mapping[str, np.ndarray], transform: SpectralTransform, radius_m: float
) -> np.ndarray:
    """Global mean of kinetic energy by total wavenumber.

    E[l] = a**2 / (2 l (l+1)) sum over m of (2 - [m = 0]) (|zeta[l, m]|**2 + |delta[l, m]|**2)

    Args:
        fields: vorticity, and divergence where it is not zero, (..., nlat, nlon), 1/s.
        transform: the binary64 transform of their grid.
        radius_m: a.

    Returns:
        (..., truncation + 1), m2/s2; its sum over l is the mean of (u**2 + v**2) / 2.
    """
    degree, number = transform.degree, transform.truncation.number
    share = np.where(transform.order > 0, 2.0, 1.0)
    share = share * radius_m**2 / (2.0 * np.maximum(degree * (degree + 1.0), 1.0))
    rows = []
    for name in ("vorticity", "divergence"):
        if name in fields:
            grid = fields[name].reshape(-1, *fields[name].shape[-2:])
            ordered = np.stack([transform.grid.to_model(x) for x in grid])
            coefficients = transform.to_spectrum(ordered)
            rows.append(coefficients[:, 0::2] ** 2 + coefficients[:, 1::2] ** 2)
    power = share[:, None] * np.sum(rows, axis=0)
    spectrum = np.zeros((power.shape[1], number + 2))
    for k, column in enumerate(power.T):
        spectrum[k] = np.bincount(degree, column, number + 2)
    return spectrum[:, : number + 1].reshape(*fields["vorticity"].shape[:-2], number + 1)
