"""Datasets of the form that the models give, in place of models: nothing is compiled."""

from __future__ import annotations

import zlib
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.timing import Timing
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.precision.formats.backend import resolve_backend
from sciprec.results.output.dataset import (
    prices_dataset,
    timing_attributes,
    trajectory_dataset,
)
from sciprec.results.output.stated import DRAWN, IN_FORMAT, PRIMARY
from sciprec.results.output.variables import ZONAL_MEAN
from sciprec.workbench.kinds.climate import _request
from sciprec.workbench.kinds.kind import kind_called
from tests.shell.conftest import put_in

TIMING = Timing(0.5, 0.45, 0.6)


def stand_in(patch: pytest.MonkeyPatch) -> None:
    """Put them into the registry of kinds, and remember nothing as compiled."""
    patch.setattr("sciprec.workbench.batch.perform.remember", lambda run: None)
    patch.setattr(AssignedBackend, "require_all_met", lambda backend: None)  # in no kernel
    for name, run in (("climate", made_up_flow), ("heston", _prices), ("accumulation", _sums)):
        put_in(patch, replace(kind_called(name), run=run))


def _numbers(variant: Any, around: Any, what: str, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers of a variable, a member's own, with the rounding errors of a variant."""
    member = 0 if around.member is None else around.member.member
    exact = _drawn(f"{what} {member}", shape)
    if variant.is_truth:
        return exact
    error = resolve_backend(variant.backend).compute.format.unit_roundoff
    return exact * (1.0 + error * _drawn(f"{what} {member} {variant.label}", shape))


def _drawn(seed: str, shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(seed.encode())).uniform(-1.0, 1.0, shape)


def made_up_flow(given: Any, variant: Any, around: Any) -> xr.Dataset:
    """The dataset of a flow."""
    request = _request(given)
    levels = request.parameters.equations.get("levels")
    times = np.concatenate([[0], request.stops]) * request.step_seconds / 86400
    grid, fields = request.truncation, {}
    for name in request.variables:
        above = () if levels is None or name.endswith("surface_pressure") else (int(levels),)
        last = (grid.nlat,) if name.startswith(ZONAL_MEAN) else (grid.nlat, grid.nlon)
        last = (grid.number + 1,) if name.endswith("_spectrum") else last
        shape = (times.size, *above, *last)
        fields[name] = 2.0 + _numbers(variant, around, name, shape)
    budgets = {name: 2.0 + _numbers(variant, around, name, times.shape)
               for name in request.equations.budgets}  # fmt: skip
    edges = np.linspace(0.0, 1.0, int(levels or 1) + 1)
    vertical = {} if levels is None else {
        "sigma": 0.5 * (edges[1:] + edges[:-1]), "sigma_bnds": np.stack([edges[:-1], edges[1:]], 1)
    }  # fmt: skip
    lat = (np.arange(grid.nlat) + 0.5) * 180.0 / grid.nlat - 90.0
    return trajectory_dataset(SimpleNamespace(
        time_days=times, lat=lat, lon=np.arange(grid.nlon) * 360.0 / grid.nlon, fields=fields,
        budgets=budgets, step_seconds=request.step_seconds, steps=request.stops[-1], blow_up=None,
        timing=TIMING, fixed_point=None, units={}, vertical=vertical, radius_m=6.4e6,
    ))  # fmt: skip


def _prices(given: Any, variant: Any, around: Any) -> xr.Dataset:
    """With a number of paths."""
    strikes, maturities = given.payoffs.strikes, given.payoffs.maturities_years
    shape = len(maturities), len(strikes)
    values = {
        "price": 2.0 + _numbers(variant, around, "price", shape),
        "standard_error": np.full(shape, 0.1), "analytic_price": np.full(shape, 2.0),
        "implied_volatility": 0.5 + 0.1 * _numbers(variant, around, "volatility", shape),
        "martingale": 1.0 + 0.01 * _numbers(variant, around, "martingale", shape[:1]),
        "martingale_standard_error": np.full(shape[:1], 0.01),
        "nonfinite_paths": np.zeros(shape[:1]),
    }  # fmt: skip
    return prices_dataset(
        strikes, maturities, values, n_paths=given.simulation.n_paths, blow_up="",
        **timing_attributes(TIMING),
    )  # fmt: skip


def _sums(given: Any, variant: Any, around: Any) -> xr.Dataset:
    update = np.unique(np.linspace(1, given.updates, given.outputs, dtype=int))
    axes = {"update": update.astype(float), "member": np.arange(float(given.members))}
    values = 2.0 + _numbers(variant, around, "sum", (update.size, given.members))
    error = np.abs(_numbers(variant, around, "error", update.shape))
    made = xr.Dataset({"parameter": ((*axes,), values), "largest_error_in_u": ("update", error),
                       "mean_error_in_u": ("update", -error)}, axes)  # fmt: skip
    for name in made.variables:
        made[name].attrs |= {"units": "1", "long_name": name}
    about = {PRIMARY: "parameter", DRAWN: "lines", IN_FORMAT: "parameter", "blow_up": ""}
    return made.assign_attrs(about | timing_attributes(TIMING))
