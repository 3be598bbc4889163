"""Variables made of the fields of a state: zonal means, eddy products, a spectrum; and climates,
their time means, with the numbers that judge them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

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
    quantity = name.removeprefix(ZONAL_MEAN)
    if quantity in EDDY_PRODUCTS:
        return eddy_product(quantity, fields)
    return fields[quantity].mean(axis=-1)


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


EDDY_PRODUCTS = {
    "eddy_momentum_flux": ("u", "v"),
    "eddy_heat_flux": ("v", "temperature"),
    "temperature_variance": ("temperature", "temperature"),
}
"""Name -> the two fields whose deviations from their zonal means are multiplied."""
ZONAL_MEAN = "zonal_mean_"
CLIMATE_VARIABLES = tuple(ZONAL_MEAN + name for name in ("u", "temperature", *EDDY_PRODUCTS))
"""Derived variables that `gates` needs; to be stored daily."""


def eddy_product(name: str, fields: Mapping[str, np.ndarray]) -> np.ndarray:
    """Zonal mean [(x - [x]) (y - [y])] of an eddy product.

    Args:
        name: of `EDDY_PRODUCTS`.
        fields: (..., nlat, nlon) by name.

    Returns:
        (..., nlat), in the product of the fields' units.
    """
    first, second = (fields[part] for part in EDDY_PRODUCTS[name])
    first = first - first.mean(axis=-1, keepdims=True)
    return (first * (second - second.mean(axis=-1, keepdims=True))).mean(axis=-1)


def time_means(stored: Mapping[str, np.ndarray], first: int) -> dict[str, np.ndarray]:
    """Time means (levels, nlat) of stored zonal means, by the names without their prefix.

    Args:
        stored: (nt, levels, nlat) by name, such as those of `CLIMATE_VARIABLES`.
        first: number of the first time that counts; what comes before is spin-up.
    """
    return {
        name.removeprefix(ZONAL_MEAN): np.mean(values[first:], axis=0)
        for name, values in stored.items()
        if name.startswith(ZONAL_MEAN) and np.ndim(values) == 3
    }


def folded(mean: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Means of both hemispheres (levels, nlat / 2), from the equator to the north pole.

    Args:
        mean: name -> (levels, nlat), south to north; v and eddy fluxes change their sign across
            the equator.
    """
    odd = ("v", "eddy_momentum_flux", "eddy_heat_flux")
    half = next(iter(mean.values())).shape[-1] // 2
    out = {}
    for name, values in mean.items():
        north, south = values[:, half:], values[:, :half][:, ::-1]
        out[name] = 0.5 * (north - south if name in odd else north + south)
    return out


def gates(mean: Mapping[str, np.ndarray], lat: np.ndarray, sigma: np.ndarray) -> dict[str, float]:
    """The numbers by which a climate of Held and Suarez (1994) is judged, hemispheres folded.

    Args:
        mean: from `time_means`, (levels, nlat), south to north.
        lat: degrees (nlat,), south to north.
        sigma: of the levels (levels,).

    Returns:
        jet (m/s), jet_lat (degrees), jet_sigma; lowest_westerly, lowest_easterly (m/s);
        coldest (K); lowest_equator, lowest_pole (K); largest temperature_variance (K2) with its
        _lat and _sigma; largest eddy_heat_flux (K m/s); largest eddy_momentum_flux (m2/s2).
    """
    fold, north = folded(mean), lat[lat.size // 2 :]

    def place(values):
        level, row = np.unravel_index(int(values.argmax()), values.shape)
        return float(values[level, row]), float(north[row]), float(sigma[level])

    jet, jet_lat, jet_sigma = place(fold["u"])
    variance, variance_lat, variance_sigma = place(fold["temperature_variance"])
    return {
        "jet": jet, "jet_lat": jet_lat, "jet_sigma": jet_sigma,
        "lowest_westerly": float(fold["u"][-1].max()),
        "lowest_easterly": float(fold["u"][-1].min()),
        "coldest": float(fold["temperature"].min()),
        "lowest_equator": float(fold["temperature"][-1, 0]),
        "lowest_pole": float(fold["temperature"][-1, -1]),
        "temperature_variance": variance,
        "temperature_variance_lat": variance_lat, "temperature_variance_sigma": variance_sigma,
        "eddy_heat_flux": float(fold["eddy_heat_flux"].max()),
        "eddy_momentum_flux": float(fold["eddy_momentum_flux"].max()),
    }  # fmt: skip
