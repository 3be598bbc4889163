"""Triangular truncations and their Gaussian grids."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sciprec.climate.legendre import gauss_nodes
from sciprec.errors import InputError


@dataclass(frozen=True)
class Truncation:
    """A triangular truncation with its quadratic grid.

    Args:
        number: largest total wavenumber T.
        nlat: Gaussian latitudes, at least (3 T + 1) / 2 and even.
        nlon: longitudes, a multiple of 8.
        step_seconds: the usual step of an explicit scheme, s.
    """

    number: int
    nlat: int
    nlon: int
    step_seconds: float

    @property
    def name(self) -> str:
        """The name in the literature, such as T42."""
        return f"T{self.number}"


TRUNCATIONS: dict[str, Truncation] = {
    row.name: row
    for row in (
        Truncation(21, 32, 64, 1200.0),
        Truncation(31, 48, 96, 900.0),
        Truncation(42, 64, 128, 600.0),
        Truncation(63, 96, 192, 400.0),
        Truncation(85, 128, 256, 300.0),
    )
}


def resolve_truncation(given: str | int | Truncation) -> Truncation:
    """The row of the table: by name ("T42"), by number (42), or a row of one's own.

    Raises:
        InputError: the table has no such truncation.
    """
    if isinstance(given, Truncation):
        return given
    name = f"T{given}" if isinstance(given, int) else str(given).upper()
    if name in TRUNCATIONS:
        return TRUNCATIONS[name]
    known = ", ".join(TRUNCATIONS)
    close = difflib.get_close_matches(name, TRUNCATIONS, 1, 0.4)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise InputError(f"unknown truncation {given!r}; known: {known}{hint}")


@dataclass(frozen=True)
class GaussianGrid:
    """The Gaussian grid of a truncation.

    Inside the model a field is an array (nlon, nlat) whose last axis holds the northern latitudes
    from pole to equator and then the southern ones in mirrored order, also from pole to equator: a
    latitude and its mirror image lie half an axis apart. Outside: (nlat, nlon), south to north.
    """

    truncation: Truncation

    @property
    def nlat(self) -> int:
        """Number of latitudes."""
        return self.truncation.nlat

    @property
    def nlon(self) -> int:
        """Number of longitudes."""
        return self.truncation.nlon

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        return gauss_nodes(self.nlat)

    @property
    def sin_lat_north(self) -> np.ndarray:
        """Sines of the northern latitudes, pole to equator (nlat / 2,)."""
        return self._nodes[0][: self.nlat // 2]

    @property
    def weights_north(self) -> np.ndarray:
        """Gauss weights of the northern latitudes (nlat / 2,); those of the grid add up to 1."""
        return self._nodes[1][: self.nlat // 2]

    @property
    def sin_lat(self) -> np.ndarray:
        """Sines of latitude in the model's order (nlat,)."""
        return np.concatenate([self.sin_lat_north, -self.sin_lat_north])

    @property
    def lat_radians(self) -> np.ndarray:
        """Latitudes in the model's order, radians (nlat,)."""
        return np.arcsin(self.sin_lat)

    @property
    def lon_radians(self) -> np.ndarray:
        """Longitudes, eastward from 0, radians (nlon,)."""
        return 2 * np.pi * np.arange(self.nlon) / self.nlon

    @property
    def lat(self) -> np.ndarray:
        """Latitudes south to north, degrees (nlat,)."""
        return np.degrees(np.arcsin(self._nodes[0][::-1]))

    @property
    def lon(self) -> np.ndarray:
        """Longitudes, degrees (nlon,)."""
        return 360.0 * np.arange(self.nlon) / self.nlon

    @property
    def weights(self) -> np.ndarray:
        """Gauss weights south to north (nlat,), adding up to 1."""
        return self._nodes[1][::-1]

    def to_output(self, field: np.ndarray) -> np.ndarray:
        """A field in the model's order (nlon, nlat) as (nlat, nlon), south to north."""
        half = self.nlat // 2
        north, south = field[:, :half], field[:, half:]
        return np.concatenate([south, north[:, ::-1]], axis=1).T

    def to_model(self, field: np.ndarray) -> np.ndarray:
        """A field (nlat, nlon), south to north, in the model's order (nlon, nlat)."""
        half = self.nlat // 2
        return np.concatenate([field[half:][::-1], field[:half]], axis=0).T

    def mean(self, field: np.ndarray) -> np.ndarray:
        """Global mean of fields (..., nlat, nlon), south to north."""
        return np.asarray(field).mean(axis=-1) @ self.weights
