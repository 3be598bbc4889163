"""The dataset of a surface of prices with their bounds, one pricing per maturity."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.output.bounded_prices import PRICED, VOLATILITIES
from sciprec.results.output.variables import describe

GRID = ("maturity", "strike")
RELATIVE_ROUNDING = "relative_rounding"


def surface_dataset(
    strikes: Sequence[float],
    maturities_years: Sequence[float],
    results: Sequence[Any],
    values: Mapping[str, np.ndarray],
    **run: Any,
) -> xr.Dataset:
    """The dataset of a surface of prices.

    Args:
        strikes, maturities_years: the axes, (nk,) and (nt,).
        results: one result of `sciprec.heston.price` per maturity, its payoffs by strike.
        values: further arrays (nt, nk) by variable name.
        run: the run's own numbers, kept as attributes.

    Returns:
        Dimensions maturity and strike. What all results share and the levels' table (JSON, each
        row with its maturity) are attributes.
    """
    names = (*PRICED, *VOLATILITIES)
    grids = {name: np.stack([getattr(result, name) for result in results]) for name in names}
    grids[RELATIVE_ROUNDING] = _share(grids["rounding"], grids["price"], grids["bound"])
    dataset = xr.Dataset(
        {name: (GRID, np.asarray(grid, float)) for name, grid in (grids | dict(values)).items()},
        coords={"maturity": np.asarray(maturities_years, float), "strike": np.asarray(strikes)},
    )
    for name in dataset.variables:
        dataset[name].attrs = describe(str(name)).as_attributes()
    dataset["price"].attrs["ancillary_variables"] = "bound"
    levels = [
        {"maturity": float(maturity), **asdict(level)}
        for maturity, result in zip(maturities_years, results, strict=True)
        for level in result.levels
    ]
    first = results[0]
    dataset.attrs = {
        "confidence": first.confidence,
        "scheme": first.scheme,
        "variance_reduction": first.variance_reduction,
        "tolerance_met": int(all(result.met for result in results)),
        "n_paths": sum(result.n_paths for result in results),
        "levels": json.dumps(levels),
    } | run
    return dataset


def _share(rounding: np.ndarray, price: np.ndarray, bound: np.ndarray) -> np.ndarray:
    """Rounding over the price; over the bound where that is more, and the price may be zero."""
    size = np.maximum(np.abs(price), bound)
    with np.errstate(invalid="ignore"):
        return np.where(size == 0.0, 0.0, rounding / np.where(size == 0.0, 1.0, size))
