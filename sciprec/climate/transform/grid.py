"""Triangular truncations and their Gaussian grids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sciprec.climate.transform import fft
from sciprec.climate.transform.legendre import gauss_nodes
from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.portable import portable


@dataclass(frozen=True)
class Truncation:
    """A triangular truncation with its Gaussian grid.

    Args:
        number: largest total wavenumber T.
        nlat: Gaussian latitudes, even; products of two fields need at least (3 T + 1) / 2
            (quadratic grid), linear terms (2 T + 1) / 2 (linear grid).
        nlon: longitudes, a multiple of 8; `fft.is_supported` says which of them the FFT takes.
        step_seconds: the usual step of an explicit scheme, s.
    """

    number: int
    nlat: int
    nlon: int
    step_seconds: float

    @property
    def name(self) -> str:
        """The name in the literature: T42, or TL85 on a linear grid."""
        linear = 2 * self.nlat < 3 * self.number + 1
        return f"TL{self.number}" if linear else f"T{self.number}"


TRUNCATIONS: dict[str, Truncation] = {
    row.name: row
    for row in (
        Truncation(21, 32, 64, 1200.0),
        Truncation(31, 48, 96, 900.0),
        Truncation(42, 64, 128, 600.0),
        Truncation(63, 96, 192, 400.0),
        Truncation(85, 128, 256, 300.0),
        Truncation(106, 160, 320, 240.0),
        Truncation(127, 192, 384, 200.0),
        Truncation(170, 256, 512, 150.0),
    )
}
"""The usual ones; every other is made by `resolve_truncation`."""

LARGEST_TRUNCATION = 1023
"""Above it the smallest Legendre functions near the poles leave the range of their recurrence."""
_STEP_TIMES_NUMBER = 25500.0
_STEP_DIVIDES = 3600
_NAME = re.compile(r"T(L?)(0|[1-9]\d{0,9})")


def resolve_truncation(value: str | int | Truncation) -> Truncation:
    """The truncation of a name ("T42", "TL85" with a linear grid), of a number (42), or one's own.

    The grid is the smallest one that is fine enough and whose longitudes the FFT takes; the usual
    step is the longest divisor of an hour up to 25500 s / T, which is 600 s at T42.

    Raises:
        InputError: not such a name, or T outside 1 ... 1023.
    """
    if isinstance(value, Truncation):
        return value
    number = hasattr(value, "__index__") and not isinstance(value, (bool, np.ndarray))
    name = f"T{int(value)}" if number else value
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match and name in TRUNCATIONS:
        return TRUNCATIONS[name]
    if not match or not 1 <= int(match[2]) <= LARGEST_TRUNCATION:
        hint = "" if match else meant(value, TRUNCATIONS)
        raise InputError(
            f"unknown truncation {shown(value)}; accepted: T1 to T{LARGEST_TRUNCATION}, as a name "
            f'("T42", or "TL42" for a linear grid) or a number{hint}'
        )
    number = int(match[2])
    nlon = fft.smallest_length((2 if match[1] else 3) * number + 1)
    return Truncation(number, nlon // 2, nlon, _usual_step(number))


def _usual_step(number: int) -> float:
    """The longest divisor of an hour up to 25500 s / T."""
    limit = _STEP_TIMES_NUMBER / number
    divisors = (n for n in range(1, _STEP_DIVIDES + 1) if _STEP_DIVIDES % n == 0)
    return float(max(n for n in divisors if n <= limit))


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
        return portable(np.arcsin, self.sin_lat)

    @property
    def south_to_north(self) -> np.ndarray:
        """Places of the latitudes in the model's order, from south to north (nlat,)."""
        half = self.nlat // 2
        return np.concatenate([np.arange(half, self.nlat), np.arange(half)[::-1]])

    @property
    def lon_radians(self) -> np.ndarray:
        """Longitudes, eastward from 0, radians (nlon,)."""
        return 2 * np.pi * np.arange(self.nlon) / self.nlon

    @property
    def lat(self) -> np.ndarray:
        """Latitudes south to north, degrees (nlat,)."""
        return np.degrees(portable(np.arcsin, self._nodes[0][::-1]))

    @cached_property
    def cosine(self) -> np.ndarray:
        """Cosines of latitude, south to north (nlat,)."""
        sine = gauss_nodes(self.nlat, np.longdouble)[0][::-1]
        return np.float64(np.sqrt((1 - sine) * (1 + sine)))

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
        return (np.asarray(field).mean(axis=-1) * self.weights).sum(axis=-1)
