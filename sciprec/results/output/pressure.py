"""Fields on sigma levels interpolated to levels of pressure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import reals, refused
from sciprec.foundation.errors import InputError
from sciprec.results.output.regridding import between, places
from sciprec.results.output.variables import describe

STANDARD_PRESSURES_PA = (5e3, 1e4, 2e4, 2.5e4, 3e4, 4e4, 5e4, 6e4, 7e4, 8.5e4, 9.25e4)
"""Usual levels between the middle stratosphere and the boundary layer, Pa."""


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
