"""Levels of fields that users bring: of pressure, of sigma, or hybrid ones of both."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.output.given_units import PRESSURES, spelt

PRESSURE, SIGMA, HYBRID = "levels of pressure", "sigma levels", "hybrid levels"
PRESSURE_AXES = ("isobaricinhpa", "pressure_level")
"""Names of axes of pressure that are in hPa without saying so."""
_HYBRID_NAME = "atmosphere_hybrid_sigma_pressure_coordinate"
_USUAL_PRESSURE = 101325.0
"""Pa, by which hybrid levels are ordered."""


@dataclass(frozen=True)
class Levels:
    """The levels of a file from the top down.

    Args:
        values: their pressure (Pa), their sigma, or the pressure of hybrid ones above a ground of
            1013.25 hPa (levels,).
        order: theirs in the file.
        kind: in words.
        offset, share: of hybrid levels, whose pressure is offset (Pa) + share times the surface
            pressure, (levels,) each; empty for others.
    """

    values: np.ndarray
    order: np.ndarray = field(repr=False)
    kind: str = PRESSURE
    offset: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    share: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)

    def pressures(self, surface_pressure: np.ndarray | float) -> np.ndarray:
        """Pressures (levels, ...) of hybrid levels above a ground."""
        across = (..., *(None,) * np.ndim(surface_pressure))
        return self.offset[across] + self.share[across] * surface_pressure

    def require_order(self, ground: float, source: str) -> None:
        """Refuse hybrid levels that have no pressure above a ground, or cross there. Pressures are
        linear in that of the ground, so that the least and the largest one decide.

        Args:
            ground: its pressure in Pa.
            source: of the fields, in words.

        Raises:
            InputError: they have none, or cross.
        """
        pressures = self.pressures(ground)
        if pressures[0] <= 0.0 or np.diff(pressures).min() <= 0.0:
            raise InputError(
                f"{source}: above a ground of {ground / 100:.6g} hPa its hybrid levels go from "
                f"{pressures[0] / 100:.6g} to {pressures[-1] / 100:.6g} hPa; accepted: pressures "
                "above 0 that differ and keep their order"
            )


def levels_along(dataset: xr.Dataset, axis: Hashable, source: str) -> Levels:
    """The levels along an axis of a dataset.

    Args:
        dataset: with the axis.
        axis: its name.
        source: of the dataset, in words.

    Raises:
        InputError: they say no pressures.
    """
    attrs = dataset[axis].attrs if axis in dataset.variables else {}
    text = f"{source}: the levels '{axis}'"
    accepted = (
        "accepted: an axis of pressure in Pa or hPa, with the attribute units, of sigma, with the "
        "standard name atmosphere_sigma_coordinate, or of hybrid levels, with the standard name "
        "atmosphere_hybrid_sigma_pressure_coordinate and formula_terms such as 'ap: ap b: b ps: ps'"
    )
    terms = dict(re.findall(r"(\w+):\s*(\S+)", str(attrs.get("formula_terms", ""))))
    if attrs.get("standard_name") == _HYBRID_NAME or "b" in terms:
        return _hybrid(dataset, axis, terms, text, accepted)
    name, unit = str(axis).lower(), spelt(str(attrs.get("units", "")))
    if not unit and name in PRESSURE_AXES:
        unit = "hPa"
    sigma = attrs.get("standard_name") == "atmosphere_sigma_coordinate" or name == "sigma"
    if axis not in dataset.variables or not (sigma or unit in PRESSURES):
        units = f"'{attrs['units']}'" if "units" in attrs else "none"
        raise InputError(f"{text} say no pressures (units: {units}); {accepted}")
    if dataset[axis].dtype.kind not in "fiu":
        raise InputError(f"{text} are no numbers; {accepted}")
    values = np.asarray(dataset[axis].values, np.float64) * (1.0 if sigma else PRESSURES[unit][0])
    order = np.argsort(values)
    values = values[order]
    ends = f" from {values[0]:g} to {values[-1]:g}" if values.size else ""
    fits = values.size > 1 and values[0] > 0.0 and np.isfinite(values).all()
    fits = fits and np.diff(values).min() > 0.0
    if not fits or (sigma and values[-1] > 1.0):
        raise InputError(
            f"{text} are {values.size}{ends}; accepted: two or more "
            f"different {'numbers above 0, 1 at most' if sigma else 'pressures above 0'}"
        )
    top = terms.get("ptop", "")
    if sigma and top in dataset.variables and np.any(_pressures(dataset, top, (), text) != 0.0):
        offset = _pressures(dataset, top, (), text) * (1.0 - values)  # p = ptop + sigma (ps - ptop)
        return Levels(offset + values * _USUAL_PRESSURE, order, HYBRID, offset, values)
    return Levels(values, order, SIGMA if sigma else PRESSURE)


def _hybrid(
    dataset: xr.Dataset, axis: Hashable, terms: Mapping[str, str], label: str, accepted: str
) -> Levels:
    """Hybrid levels, whose pressure is ap + b ps, or a p0 + b ps; an a in Pa is an ap."""
    first = "ap" if "ap" in terms else "a"
    for key in (first, "b"):
        if key not in terms:
            raise InputError(
                f"{label} are hybrid, and their formula_terms name no '{key}'; {accepted}"
            )
    name = terms[first]
    share = _numbers(dataset, terms["b"], (axis,), label)
    unit = spelt(str(dataset[name].attrs.get("units", ""))) if name in dataset.variables else ""
    if first == "ap" or unit in PRESSURES:
        offset = _pressures(dataset, name, (axis,), label)
    elif "p0" in terms:
        offset = _numbers(dataset, name, (axis,), label)
        offset = offset * _pressures(dataset, terms["p0"], (), label)
    else:
        raise InputError(
            f"{label} are hybrid, and their 'a' is in no unit of pressure and has no p0; {accepted}"
        )
    usual = offset + share * _USUAL_PRESSURE
    order = np.argsort(usual)
    if usual.size < 2:
        raise InputError(f"{label} are {usual.size}; accepted: two or more different levels")
    return Levels(usual[order], order, HYBRID, offset[order], share[order])


def _numbers(
    dataset: xr.Dataset, name: str, dims: tuple[Hashable, ...], label: str
) -> np.ndarray:  # fmt: skip
    """A variable of finite numbers that formula_terms name."""
    along = f" along '{dims[0]}'" if dims else " of one number"
    if name not in dataset.variables or dataset[name].dims != dims:
        raise InputError(
            f"{label}: formula_terms name '{name}', which is no variable{along}; give it, too"
        )
    values = dataset[name].values
    if values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise InputError(
            f"{label}: '{name}' of the formula_terms holds what is no finite number; mend the file"
        )
    return np.asarray(values, np.float64)


def _pressures(
    dataset: xr.Dataset, name: str, dims: tuple[Hashable, ...], label: str
) -> np.ndarray:  # fmt: skip
    """A variable of pressures that formula_terms name, in Pa; one without units is in Pa."""
    values = _numbers(dataset, name, dims, label)
    unit = spelt(str(dataset[name].attrs.get("units", "Pa")))
    if unit not in PRESSURES:
        raise InputError(
            f"{label}: '{name}' is in {dataset[name].attrs['units']!r}; accepted: "
            f"{', '.join(PRESSURES)}"
        )
    return values * PRESSURES[unit][0]
