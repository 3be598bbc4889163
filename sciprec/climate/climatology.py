"""Time means of zonal means, gathered while a model runs, in binary64."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

MEANS = ("u", "v", "temperature", "omega")
"""Fields whose zonal means are gathered."""
FLUXES = {
    "eddy_momentum_flux": ("u", "v"),
    "eddy_heat_flux": ("v", "temperature"),
    "temperature_variance": ("temperature", "temperature"),
    "eddy_kinetic_energy": ("u", "u"),
}
"""Eddy statistic -> the two fields whose deviations from the zonal mean it multiplies."""


class Climatology:
    """Sums of zonal means and eddy fluxes (levels, nlat) over samples.

    Attributes:
        samples: how many were added.
        sums: name -> sum of (levels, nlat).
    """

    def __init__(self) -> None:
        self.samples = 0
        self.sums: dict[str, np.ndarray] = {}

    def add(self, fields: Mapping[str, np.ndarray]) -> None:
        """Add the fields (levels, nlat, nlon) of one time.

        eddy flux = [(x - [x]) (y - [y])], brackets being zonal means; the eddy kinetic energy is
        half of that of u with itself and of v with itself.
        """
        zonal = {name: fields[name].mean(axis=-1) for name in MEANS}
        eddies = {name: fields[name] - zonal[name][..., None] for name in MEANS}
        for name, values in zonal.items():
            self._add(name, values)
        for name, (first, second) in FLUXES.items():
            flux = (eddies[first] * eddies[second]).mean(axis=-1)
            if name == "eddy_kinetic_energy":
                flux = 0.5 * (flux + (eddies["v"] ** 2).mean(axis=-1))
            self._add(name, flux)
        self.samples += 1

    def _add(self, name: str, values: np.ndarray) -> None:
        self.sums[name] = self.sums.get(name, 0.0) + values

    @property
    def means(self) -> dict[str, np.ndarray]:
        """Time means (levels, nlat) of everything gathered."""
        return {name: total / self.samples for name, total in self.sums.items()}


def folded(mean: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Means of both hemispheres (levels, nlat / 2), from the equator to the north pole.

    Args:
        mean: name -> (levels, nlat), south to north; v, eddy fluxes of v change their sign across
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
        mean: from `Climatology.means`, (levels, nlat), south to north.
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
