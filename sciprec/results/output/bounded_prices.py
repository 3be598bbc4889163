"""The datasets of prices and greeks with their bounds, and of surfaces of prices, one pricing per
maturity.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from sciprec.results.output.dataset import fixed_point_attributes
from sciprec.results.output.variables import describe

DIMENSIONS = ("payoff", "maturity", "strike", "backend")
PRICED = (
    "price",
    "bound",
    "statistical",
    "discretisation",
    "rounding",
    "rounding_error",
    "tolerance",
)
VOLATILITIES = ("implied_volatility", "implied_volatility_low", "implied_volatility_high")
DERIVED = (
    "value",
    "bound",
    "statistical",
    "discretisation",
    "rounding",
    "difference",
    "tolerance",
)
GRID = ("maturity", "strike")
RELATIVE_ROUNDING = "relative_rounding"


def price_dataset(result: Any) -> xr.Dataset:
    """The dataset of a result of `sciprec.heston.price`.

    Args:
        result: has payoffs (frozen classes with name and maturity, and strike where they have
            one) and a number or an array (n_payoffs,) for each of PRICED and VOLATILITIES.

    Returns:
        Dimensions payoff, maturity, strike and backend, NaN where nothing was priced; a payoff
        without a strike is at the strike NaN. The run's own numbers and the levels' table (JSON)
        are attributes.
    """
    rules = {"extrapolation": ", ".join(result.extrapolation)}
    return _dataset(result, (*PRICED, *VOLATILITIES), {}, rules)


def greeks_dataset(result: Any) -> xr.Dataset:
    """The dataset of a result of `sciprec.heston.greeks`.

    Args:
        result: as for price_dataset, with greeks (their names) and an array (n_greeks,) or
            (n_payoffs, n_greeks) for each of DERIVED.

    Returns:
        As price_dataset, with the further dimension greek.
    """
    bumps = json.dumps(asdict(result.bumps))
    return _dataset(result, DERIVED, {"greek": list(result.greeks)}, {"bumps": bumps})


def _dataset(result: Any, parts: tuple, further: dict, attributes: dict) -> xr.Dataset:
    """The dataset of some arrays of a result, each (n_payoffs, *lengths of further axes)."""
    rows = [(_label(p), p.maturity, getattr(p, "strike", np.nan)) for p in result.payoffs]
    axes = [_distinct(axis) for axis in zip(*rows, strict=True)]
    behind = tuple(len(axis) for axis in further.values())
    shape = (*(len(axis) for axis in axes), 1, *behind)
    places = [tuple(axes[d].index(row[d]) for d in range(3)) + (0,) for row in _comparable(rows)]
    grids = {name: np.full(shape, np.nan) for name in parts}
    for name, grid in grids.items():
        values = np.reshape(getattr(result, name), (len(rows), *behind))
        for place, value in zip(places, values, strict=True):
            grid[place] = value
    names, maturities, strikes = axes
    coordinates = {
        "payoff": list(names),
        "maturity": np.array(maturities, float),
        "strike": np.array([np.nan if s is None else s for s in strikes], float),
        "backend": [result.backend],
    }
    dimensions = (*DIMENSIONS, *further)
    dataset = xr.Dataset(
        {name: (dimensions, grid) for name, grid in grids.items()}, coords=coordinates | further
    )
    for name in dataset.variables:
        dataset[name].attrs = describe(str(name)).as_attributes()
    dataset.attrs = _attributes(result) | attributes
    return dataset


def _attributes(result: Any) -> dict:
    """The run's own numbers as attributes of a netCDF file."""
    return {
        "confidence": result.confidence,
        "n_paths": result.n_paths,
        "n_steps": result.n_steps,
        "wall_seconds": result.seconds,
        "scheme": result.scheme,
        "seed": str(result.seed),
        "tolerance_met": int(result.met),
        "variance_reduction": result.variance_reduction,
        "sentences": " ".join(f"{sentence}." for sentence in result.sentences),
        "levels": json.dumps([asdict(level) for level in result.levels]),
    } | fixed_point_attributes(result.fixed_point)


def _label(payoff: Any) -> str:
    """A payoff's name, with what tells it from others beside strike and maturity."""
    usual = {"strike", "maturity", "kind", "direction", "knock"}
    parameters = {f.name: getattr(payoff, f.name) for f in fields(payoff) if f.name not in usual}
    words = ", ".join(f"{key}={value:g}" for key, value in parameters.items() if value is not None)
    return payoff.name + (f" ({words})" if words else "")


def _comparable(rows: list) -> list:
    """The rows with None in place of NaN, which equals nothing."""
    return [tuple(None if value != value else value for value in row) for row in rows]


def _distinct(axis: tuple) -> list:
    """The distinct values of an axis, in order; None for NaN comes last."""
    values = {None if value != value else value for value in axis}
    return sorted(values, key=lambda value: (value is None, value if value is not None else 0))


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Plain data of rows as a table of pandas."""
    return pd.DataFrame(rows)


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
