"""Solutions of high resolution to compare runs with: stored as coefficients, evaluated anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.climate.constants import RADIUS_M
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.climate.transform.legendre import coefficient_orders, legendre_table, slope_table
from sciprec.foundation.errors import InputError

_NAMES = ("orders", "vorticity", "divergence", "height", "orography")


@dataclass(frozen=True)
class Reference:
    """A flow at one time, as coefficients of real fields.

    Args:
        orders: zonal wavenumbers that are stored, ascending (orders,).
        vorticity, divergence: 1/s, (orders, degrees) complex; degrees from 0.
        height, orography: of the free surface and of the ground, m, likewise.
    """

    orders: np.ndarray
    vorticity: np.ndarray
    divergence: np.ndarray
    height: np.ndarray
    orography: np.ndarray

    @classmethod
    def load(cls, path: str | Path) -> Reference:
        """The flow of a file such as data/climate/williamson_5_day15.npz.

        Raises:
            InputError: the file cannot be read, or holds something else.
        """
        try:
            with np.load(path) as stored:
                return cls(*(stored[name] for name in _NAMES))
        except (OSError, ValueError, KeyError) as error:
            raise InputError(
                f"{path} is no stored reference ({error}); accepted: an .npz file with "
                f"{', '.join(_NAMES)}, such as data/climate/williamson_5_day15.npz"
            ) from None

    def fields(self, grid: GaussianGrid) -> dict[str, np.ndarray]:
        """height, orography (m), u, v (m/s), vorticity and divergence (1/s), each (nlat, nlon).

        All stored degrees are evaluated, those above the grid's truncation, too.

        u cos(lat) = a / (l (l+1)) (zeta cos(lat) dP/dlat - i m delta P)
        v cos(lat) = -a / (l (l+1)) (delta cos(lat) dP/dlat + i m zeta P)
        """
        number = self.height.shape[1] - 1
        lat = np.radians(grid.lat)
        tables = [table(number, np.sin(lat)) for table in (legendre_table, slope_table)]
        degree = np.arange(number + 1.0)
        inverse = RADIUS_M / np.maximum(degree * (degree + 1.0), 1.0)
        turning = 1j * self.orders[:, None] * inverse

        def at(values: np.ndarray, slopes: np.ndarray | None = None) -> np.ndarray:
            waves = self._waves(values, tables[0])
            if slopes is not None:
                waves = waves + self._waves(slopes, tables[1])
            turn = np.exp(1j * np.outer(self.orders, np.radians(grid.lon)))
            return (waves.T @ (np.where(self.orders > 0, 2.0, 1.0)[:, None] * turn)).real

        cosine = np.cos(lat)[:, None]
        return {
            "height": at(self.height),
            "orography": at(self.orography),
            "u": at(-turning * self.divergence, inverse * self.vorticity) / cosine,
            "v": at(-turning * self.vorticity, -inverse * self.divergence) / cosine,
            "vorticity": at(self.vorticity),
            "divergence": at(self.divergence),
        }

    def _waves(self, coefficients: np.ndarray, table: np.ndarray) -> np.ndarray:
        """Fourier coefficients (orders, nlat): sums over degrees of coefficients times a table."""
        number = coefficients.shape[1] - 1
        degree, order = coefficient_orders(number)
        rows = [(order == m) & (degree <= number) for m in self.orders]
        return np.array(
            [c[m:] @ table[r] for c, m, r in zip(coefficients, self.orders, rows, strict=True)]
        )
