"""Winds and their vorticity and divergence as coefficients, in binary64, on the unit sphere."""

from __future__ import annotations

import numpy as np

from sciprec.climate.equations.spherical import spectral_constants
from sciprec.climate.transform.spectral import SpectralTransform


def rotation(
    transform: SpectralTransform, u_per_cos: np.ndarray, v_per_cos: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of vorticity and divergence (coefficients, 2 fields) of a wind.

    Args:
        transform: the binary64 transform.
        u_per_cos, v_per_cos: eastward and northward wind over cos(lat), (fields, nlon, nlat) in the
            model's order.
    """
    a, b = (_joined(transform.to_spectrum(x, extra_degree=True)) for x in (u_per_cos, v_per_cos))
    factors = spectral_constants(transform.truncation, 0.0)
    zonal, up, down = (factors[k][:, None] for k in (0, 4, 5))

    def across(x):
        return down * np.roll(x, 1, axis=0) - up * np.roll(x, -1, axis=0)

    return _parted(1j * zonal * b + across(a)), _parted(1j * zonal * a - across(b))


def wind(
    transform: SpectralTransform, vorticity: np.ndarray, divergence: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """u cos(lat) and v cos(lat) (fields, nlon, nlat), in the model's order, of a wind.

    Args:
        transform: the binary64 transform.
        vorticity, divergence: coefficients (coefficients, 2 fields).
    """
    a, b = _joined(vorticity), _joined(divergence)
    factors = spectral_constants(transform.truncation, 0.0)
    zonal, up, down = (factors[k][:, None] for k in (1, 2, 3))

    def across(x):
        return up * np.roll(x, -1, axis=0) - down * np.roll(x, 1, axis=0)

    spectra = across(a) - 1j * zonal * b, -across(b) - 1j * zonal * a
    u, v = (transform.to_grid(_parted(x)) for x in spectra)
    return u, v


def _joined(values: np.ndarray) -> np.ndarray:
    """Complex coefficients (coefficients, fields) of parts in turn."""
    return values[:, 0::2] + 1j * values[:, 1::2]


def _parted(values: np.ndarray) -> np.ndarray:
    """Real and imaginary parts in turn of complex coefficients."""
    return np.stack([values.real, values.imag], axis=-1).reshape(values.shape[0], -1)
