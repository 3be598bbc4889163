"""Heat that diffuses into the ground for a hundred years, after Paxton et al. (2022), section 4.

    sciprec run examples/soil_column.toml --plugin examples/soil_column.py

dT/dt = D d2T/dz2 in a column of 60 m, levels 1 m apart, steps of 1800 s, D = 7e-7 m2/s, at first
273.15 K everywhere, 280 K held at the surface, no flux through the bottom. An increment is a
share of 1.3e-3 of a second difference: where that is below half a unit in the last place of T,
rounding to nearest leaves T where it is, for ever. Stochastic rounding does not, nor does a carried
residual. In lines of their own (differences, flux, update) each gets the format that it needs by
`tune`, as in Dawson, Duben, MacLeod and Palmer (2018), 10.1007/s00382-017-4034-x:

    sciprec tune examples/soil_column.py:diffuse_by_flux --inputs examples/soil_column.py:year \
        --check examples/soil_column.py:colder_year --output temperature --tolerance 1e-6 \
        -b fp64,fp32,fp16
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from pydantic import Field

import sciprec

SECONDS_PER_YEAR = 365.0 * 86400.0


@dataclass(frozen=True)
class Column:
    """The column, its heat, and how long it is followed."""

    depth: Annotated[int, Field(ge=2, le=10_000, description="levels, 1 m apart")] = 60
    years: Annotated[float, Field(gt=0, le=10_000, description="length of the run")] = 100.0
    stored: Annotated[int, Field(ge=1, le=1000, description="states that are stored")] = 20
    step_seconds: Annotated[float, Field(gt=0, le=500_000, description="of a step")] = 1800.0
    diffusivity: Annotated[float, Field(gt=0, le=1e-6, description="D in m2 s-1")] = 7e-7
    surface_kelvin: Annotated[float, Field(gt=0, description="held at the surface")] = 280.0
    ground_kelvin: Annotated[float, Field(gt=0, description="everywhere at first")] = 273.15
    carried: Annotated[bool, Field(description="whether a residual is carried along")] = False


def diffuse(temperature, share, surface, steps):
    """Steps of Euler's scheme with second differences; `temperature` is changed in place."""
    n = temperature.size
    for _ in range(steps):
        above = surface
        for k in range(n):
            here = temperature[k]
            below = temperature[k + 1] if k + 1 < n else here
            temperature[k] = here + share * ((below - here) - (here - above))
            above = here


def diffuse_carried(temperature, residual, share, surface, steps):
    """Like `diffuse`; the loss of a rounding is kept and added at the next step (Kahan 1965)."""
    n = temperature.size
    for _ in range(steps):
        above = surface
        for k in range(n):
            here = temperature[k]
            below = temperature[k + 1] if k + 1 < n else here
            whole = share * ((below - here) - (here - above)) + residual[k]
            temperature[k] = here + whole
            residual[k] = whole - (temperature[k] - here)
            above = here


def diffuse_by_flux(temperature, flux, share, surface, steps):
    """Steps of the same scheme over the fluxes (n + 1) between levels; the lowest is zero."""
    n = temperature.size
    for _ in range(steps):
        above = surface
        for k in range(n):
            difference = above - temperature[k]
            flux[k] = share * difference
            above = temperature[k]
        flux[n] = 0.0
        for k in range(n):
            change = flux[k] - flux[k + 1]
            temperature[k] = temperature[k] + change


def year(ground_kelvin=Column.ground_kelvin):
    """A year of `diffuse_by_flux`."""
    column = Column()
    return {
        "temperature": np.full(column.depth, ground_kelvin), "flux": np.zeros(column.depth + 1),
        "share": column.diffusivity * column.step_seconds, "surface": column.surface_kelvin,
        "steps": int(SECONDS_PER_YEAR / column.step_seconds),
    }  # fmt: skip


def colder_year():
    """One that begins at 270 K."""
    return year(270.0)


@sciprec.model(
    "soil_column", variables=("temperature", "heat"), perturbs=["ground_kelvin"],
    brief={"years": 0.001, "stored": 1},
)  # fmt: skip
def soil_column(column: Column, arithmetic):
    """Temperature by depth, and the heat that the column has taken up."""
    share = column.diffusivity * column.step_seconds  # of a second difference over 1 m
    temperature = arithmetic.quantize(np.full(column.depth, column.ground_kelvin))
    residual = np.zeros(column.depth)
    kernel = arithmetic.lift(diffuse_carried if column.carried else diffuse)
    arrays = (temperature, residual) if column.carried else (temperature,)
    total = column.years * SECONDS_PER_YEAR / column.step_seconds
    ends = np.rint(total * np.arange(column.stored + 1) / column.stored).astype(int)
    states = [temperature.copy()]
    for steps in np.diff(ends):
        kernel(*arrays, share, column.surface_kelvin, int(steps))
        states.append(temperature.copy())
    states = np.array(states)
    return xr.Dataset(
        {
            "temperature": (("time", "depth"), states, {
                "units": "K", "standard_name": "soil_temperature"}),
            "heat": (("time",), (states - column.ground_kelvin).sum(axis=1), {
                "units": "K m", "long_name": "warming of the column"}),
        },
        coords={
            "time": ("time", ends * column.step_seconds / SECONDS_PER_YEAR, {"units": "years"}),
            "depth": ("depth", np.arange(column.depth) + 0.5, {"units": "m", "positive": "down"}),
        },
        attrs={"primary": "temperature", "pictures": "growth lines"},
    )  # fmt: skip
