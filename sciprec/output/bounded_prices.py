"""The dataset of prices with their bounds."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import xarray as xr

from sciprec.output.variables import describe

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


def price_dataset(result: Any) -> xr.Dataset:
    """The dataset of a result of `sciprec.heston.price`.

    Args:
        result: has payoffs (frozen classes with name and maturity, and strike where they have
            one) and a number or an array (n_payoffs,) for each of PRICED.

    Returns:
        Dimensions payoff, maturity, strike and backend, NaN where nothing was priced; a payoff
        without a strike is at the strike NaN. The run's own numbers and the levels' table (JSON)
        are attributes.
    """
    rows = [(_label(p), p.maturity, getattr(p, "strike", np.nan)) for p in result.payoffs]
    axes = [_distinct(axis) for axis in zip(*rows, strict=True)]
    shape = (*(len(axis) for axis in axes), 1)
    places = [tuple(axes[d].index(row[d]) for d in range(3)) + (0,) for row in _comparable(rows)]
    grids = {name: np.full(shape, np.nan) for name in PRICED}
    for name, grid in grids.items():
        for place, value in zip(places, np.atleast_1d(getattr(result, name)), strict=True):
            grid[place] = value
    names, maturities, strikes = axes
    coordinates = {
        "payoff": list(names),
        "maturity": np.array(maturities, float),
        "strike": np.array([np.nan if s is None else s for s in strikes], float),
        "backend": [result.backend],
    }
    dataset = xr.Dataset({n: (DIMENSIONS, g) for n, g in grids.items()}, coords=coordinates)
    for name in dataset.variables:
        dataset[name].attrs = describe(str(name)).as_attributes()
    dataset.attrs = _attributes(result)
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
        "extrapolation": ", ".join(result.extrapolation),
        "sentences": " ".join(f"{sentence}." for sentence in result.sentences),
        "levels": json.dumps([asdict(level) for level in result.levels]),
    }


def _label(payoff: Any) -> str:
    """A payoff's name, with what tells it from others beside strike and maturity."""
    told = {"strike", "maturity", "kind", "direction", "knock"}
    more = {f.name: getattr(payoff, f.name) for f in fields(payoff) if f.name not in told}
    given = ", ".join(f"{key}={value:g}" for key, value in more.items() if value is not None)
    return payoff.name + (f" ({given})" if given else "")


def _comparable(rows: list) -> list:
    """The rows with None in place of NaN, which equals nothing."""
    return [tuple(None if value != value else value for value in row) for row in rows]


def _distinct(axis: tuple) -> list:
    """The distinct values of an axis, in order; None for NaN comes last."""
    values = {None if value != value else value for value in axis}
    return sorted(values, key=lambda value: (value is None, value if value is not None else 0))
