"""Fields on other grids and levels: bilinear with poles, and linear in ln p; fields on
levels of sigma on levels of pressure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import reals, refused
from sciprec.foundation.errors import InputError
from sciprec.results.output.variables import describe

_SAME = 1e-3
"""Share of the distance of two rows below which grids are one; coordinates in files are rounded."""
STANDARD_PRESSURES_PA = (5e3, 1e4, 2e4, 2.5e4, 3e4, 4e4, 5e4, 6e4, 7e4, 8.5e4, 9.25e4)
"""Usual levels between the middle stratosphere and the boundary layer, Pa."""


@dataclass(frozen=True)
class Bilinear:
    """The way from one grid to another, linear in longitude and in latitude.

    Poles are rows of their own: of scalars the mean of the nearest circle, of winds its wavenumber
    1, the one vector that all longitudes see there. A grid that already is the wanted one is left
    as it is.

    Args:
        lat, lon: degrees of the grid that there is, ascending (nlat,), (nlon,); longitudes even.
        to_lat, to_lon: of the wanted one, likewise; poles are none of its rows.
    """

    lat: np.ndarray
    lon: np.ndarray
    to_lat: np.ndarray
    to_lon: np.ndarray

    @property
    def is_same(self) -> bool:
        """Whether both grids are one."""
        pairs = (self.lat, self.to_lat), (self.lon, self.to_lon)
        return all(
            a.size == b.size and np.abs(a - b).max() < _SAME * np.diff(b).min() for a, b in pairs
        )

    def scalar(self, field: np.ndarray) -> np.ndarray:
        """A scalar field (nlat, nlon) on the wanted grid."""
        if self.is_same:
            return field
        poles = (np.full(self.lon.size, field[k].mean()) for k in (0, -1))
        return self._between(field, *poles)

    def wind(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eastward and northward wind (nlat, nlon) on the wanted grid."""
        if self.is_same:
            return u, v
        sine, cosine = np.sin(np.radians(self.lon)), np.cos(np.radians(self.lon))
        poles = []
        for k, north in ((0, (cosine, sine)), (-1, (-cosine, -sine))):
            east = -sine, cosine  # both unit vectors in coordinates that do not turn
            x, y = ((u[k] * e + v[k] * n).mean() for e, n in zip(east, north, strict=True))
            poles.append((x * east[0] + y * east[1], x * north[0] + y * north[1]))
        (u_south, v_south), (u_north, v_north) = poles
        return self._between(u, u_south, u_north), self._between(v, v_south, v_north)

    @cached_property
    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows that are no poles; the row below each target, and the share of the next."""
        inner = np.abs(self.lat) < 90.0
        latitudes = np.concatenate([[-90.0], self.lat[inner], [90.0]])
        return inner, *places(latitudes, self.to_lat)

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """The column west of each wanted one, and the share of the next."""
        place = np.mod(self.to_lon - self.lon[0], 360.0) * (self.lon.size / 360.0)
        west = np.floor(place)
        return west.astype(int), place - west

    def _between(self, field: np.ndarray, south: np.ndarray, north: np.ndarray) -> np.ndarray:
        inner, below, share = self._rows
        rows = np.concatenate([south[None], field[inner], north[None]])
        rows = rows[below] + share[:, None] * (rows[below + 1] - rows[below])
        west, east_share = self._columns
        first, next_ = (rows[:, (west + k) % self.lon.size] for k in (0, 1))
        return first + east_share * (next_ - first)


def places(points: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point before each target, and how far behind it this is in shares of the
    distance to the next; below 0 and above 1 outside.

    Args:
        points: ascending (points,).
        targets: of any shape.
    """
    before = np.clip(np.searchsorted(points, targets, side="right") - 1, 0, points.size - 2)
    return before, (targets - points[before]) / (points[before + 1] - points[before])


def between(values: np.ndarray, above: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Values at places between levels; the levels are the third axis from the end."""
    upper = np.take_along_axis(values, above, axis=-3)
    lower = np.take_along_axis(values, above + 1, axis=-3)
    return upper + share * (lower - upper)


def on_levels(values: np.ndarray, levels: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Fields (levels, nlat, nlon) on other levels, linear between these, constant beyond.

    Args:
        values: the fields.
        levels: ln p or ln sigma of their levels, ascending (levels,), or at each place
            (levels, nlat, nlon).
        targets: that of the other levels, of one shape with the result, or (others, 1, 1).
    """
    if levels.ndim > 1:
        return np.array([_between_levels(values, levels, row) for row in targets])
    if targets.shape[1:] == (1, 1) and targets.size == levels.size:
        if np.abs(targets.ravel() - levels).max() < _SAME * np.diff(levels).min():
            return values
    above, share = places(levels, np.broadcast_to(targets, (len(targets), *values.shape[1:])))
    return between(values, above, np.clip(share, 0.0, 1.0))


def _between_levels(values: np.ndarray, levels: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Fields on one level (nlat, nlon), between levels that differ from place to place."""
    count = (levels <= target).sum(axis=0)
    above = np.clip(count - 1, 0, len(levels) - 2)[None]
    upper, lower = (np.take_along_axis(levels, above + k, axis=0)[0] for k in (0, 1))
    share = np.clip((target - upper) / (lower - upper), 0.0, 1.0)
    return between(values, above, share)[0]


def on_pressure_levels(
    dataset: xr.Dataset, pressures_pa: Sequence[float] = STANDARD_PRESSURES_PA
) -> xr.Dataset:
    """Every field with levels on levels of pressure, linear in ln p between the model's levels.

    Args:
        dataset: has sigma, surface_pressure (..., lat, lon) in Pa, fields (..., sigma, lat, lon).
        pressures_pa: levels, Pa.

    Returns:
        The dataset with the axis `pressure` in place of `sigma`; NaN above the highest and below
        the lowest level of the model. Fields without levels stay as they are.

    Raises:
        InputError: the dataset has no levels or no surface pressure; a pressure that is none.
    """
    if not isinstance(dataset, xr.Dataset):
        raise refused("dataset", dataset, "an xarray Dataset, such as a run of a climate case")
    missing = [name for name in ("sigma", "surface_pressure") if name not in dataset.variables]
    if missing:
        raise InputError(
            f"the dataset has no {' and no '.join(missing)}; accepted: a run of the primitive "
            "equations with the variable surface_pressure, such as case 'held_suarez'"
        )
    words = "numbers above zero in Pa, such as 5.0e4"
    pressures = reals("pressures_pa", pressures_pa, words).astype(float)
    if pressures.ndim != 1 or not (np.isfinite(pressures).all() and (pressures > 0).all()):
        raise refused("pressures_pa", pressures_pa, words)
    sigma = dataset["sigma"].values
    surface = dataset["surface_pressure"]
    axes = [d for d in surface.dims if d not in ("lat", "lon")] + ["lat", "lon"]
    ground = surface.transpose(*axes).values[..., None, :, :]
    targets = np.log(pressures)[:, None, None] - np.log(ground)
    above, share = places(np.log(sigma), targets)
    inside = np.where((share >= 0.0) & (share <= 1.0), share, np.nan)
    result = dataset.drop_dims("sigma")
    for name, field in dataset.data_vars.items():
        if {"sigma", "lat", "lon"} <= set(field.dims):
            values = field.transpose(*axes[:-2], "sigma", "lat", "lon").values
            result[name] = ((*axes[:-2], "pressure", "lat", "lon"), between(values, above, inside))
            result[name].attrs = dict(field.attrs)
    result["pressure"] = ("pressure", pressures, describe("pressure").as_attributes())
    return result
