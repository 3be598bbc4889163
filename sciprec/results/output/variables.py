"""The CF table: units and names of every variable that a file of sciprec can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from sciprec.foundation.time_methods import over_time


@dataclass(frozen=True)
class Variable:
    """The description of a variable in a file.

    Args:
        units: in the notation of UDUNITS.
        long_name: a phrase for people.
        standard_name: from the CF standard name table, where it has one.
        attributes: further CF attributes (axis, positive, cell_methods, ...).
        compared: whether it is compared with the truth; not so what no arithmetic changes, and
            what a run says about its own accuracy.
    """

    units: str
    long_name: str
    standard_name: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    compared: bool = True

    def as_attributes(self) -> dict[str, str]:
        """The attributes to write."""
        named = {"long_name": self.long_name, "units": self.units}
        if self.standard_name:
            named["standard_name"] = self.standard_name
        return named | dict(self.attributes)


_MEAN = (("cell_methods", "time: point area: mean"),)
_POINT = (("cell_methods", "time: point lat: lon: point"), ("cell_measures", "area: cell_area"))
_TEMPERATURE_DIFFERENCE = (("units_metadata", "temperature: difference"),)

ZONAL_MEAN = "zonal_mean_"
"""Prefix of the names of zonal means."""

_number = partial(Variable, "1")
_aside = partial(Variable, "1", compared=False)

VARIABLES: dict[str, Variable] = {
    # coordinates
    "time": Variable(
        "days since 2000-01-01 00:00:00",
        "time since the initial state",
        "time",
        (("axis", "T"), ("calendar", "standard"), ("units_metadata", "leap_seconds: none")),
    ),
    "lat": Variable("degrees_north", "latitude", "latitude", (("axis", "Y"),)),
    "lon": Variable("degrees_east", "longitude", "longitude", (("axis", "X"),)),
    "sigma": Variable(
        "1",
        "pressure over surface pressure",
        "atmosphere_sigma_coordinate",
        (("axis", "Z"), ("positive", "down"), ("computed_standard_name", "air_pressure")),
    ),
    "pressure": Variable("Pa", "pressure", "air_pressure", (("axis", "Z"), ("positive", "down"))),
    "total_wavenumber": _number("total wavenumber of spherical harmonics"),
    "strike": _number("strike, in units of currency"),
    "maturity": _number("time to maturity in years"),
    # about the run
    "health": _aside("what happened in the run", "status_flag"),
    "quantization_info": _aside("how numbers of the format are made"),
    # grid
    "cell_area": Variable("m2", "area of the grid cell", "cell_area", compared=False),
    "circle": Variable(
        "degrees_east", "middle of the circle from 0 to 360 degrees", "longitude", compared=False
    ),
    "top_pressure": Variable("Pa", "pressure at the top of the model", compared=False),
    # fields of the atmosphere
    "height": Variable("m", "height of the free surface", None, _POINT),
    "u": Variable("m s-1", "eastward wind", "eastward_wind", _POINT),
    "v": Variable("m s-1", "northward wind", "northward_wind", _POINT),
    "vorticity": Variable("s-1", "relative vorticity", "atmosphere_relative_vorticity", _POINT),
    "divergence": Variable("s-1", "divergence of the wind", "divergence_of_wind", _POINT),
    "streamfunction": Variable(
        "m2 s-1", "streamfunction of the wind", "atmosphere_horizontal_streamfunction", _POINT
    ),
    "temperature": Variable(
        "K",
        "temperature",
        "air_temperature",
        (*_POINT, ("units_metadata", "temperature: on_scale")),
    ),
    "surface_pressure": Variable("Pa", "pressure at the ground", "surface_air_pressure", _POINT),
    "omega": Variable(
        "Pa s-1", "vertical velocity in pressure", "lagrangian_tendency_of_air_pressure", _POINT
    ),
    "geopotential": Variable("m2 s-2", "geopotential", "geopotential", _POINT),
    "eddy_momentum_flux": Variable("m2 s-2", "northward flux of eastward momentum by eddies"),
    "eddy_heat_flux": Variable(
        "K m s-1", "northward flux of temperature by eddies", None, _TEMPERATURE_DIFFERENCE
    ),
    "temperature_variance": Variable(
        "K2", "variance of temperature around circles of latitude", None, _TEMPERATURE_DIFFERENCE
    ),
    "kinetic_energy_spectrum": Variable(
        "m2 s-2",
        "global mean of kinetic energy by total wavenumber",
        None,
        _MEAN,
    ),
    # budgets of the atmosphere
    "mass": Variable("m", "global mean depth of the fluid (mass)", None, _MEAN),
    "energy": Variable("m3 s-2", "global mean total energy", None, _MEAN),
    "potential_enstrophy": Variable("m-1 s-2", "global mean potential enstrophy", None, _MEAN),
    "enstrophy": Variable("s-2", "global mean enstrophy", None, _MEAN),
    "angular_momentum": Variable("m2 s-1", "global mean angular momentum", None, _MEAN),
    # option prices
    "price": Variable(
        "1",
        "Monte Carlo price, in units of currency",
        None,
        (("ancillary_variables", "standard_error"),),
    ),
    "standard_error": _number("standard error of the Monte Carlo price"),
    "analytic_price": _aside("semi-analytic price of the continuous model"),
    "martingale": Variable(
        "1",
        "mean of the spot at maturity over its forward, one in the model",
        None,
        (("ancillary_variables", "martingale_standard_error"),),
    ),
    "martingale_standard_error": _number("standard error of the mean spot over forward"),
    "nonfinite_paths": _number("number of paths that left the range of the arithmetic"),
    # prices with a bound
    "payoff": _number("payoff, with what it has beside strike and maturity"),
    "backend": _number("arithmetic of the cheap paths"),
    "bound": _aside("bound of the price's total error, in units of currency"),
    "statistical": _aside("part of the bound due to the number of paths"),
    "discretisation": _aside("part of the bound due to the length of the steps"),
    "rounding": _aside("part of the bound due to the arithmetic"),
    "rounding_error": _aside("mean of the price in binary64 less that in the backend"),
    "tolerance": _aside("largest bound that was accepted, in units of currency"),
    "greek": _number("price, or the parameter's name of its derivative"),
    "value": _number("Monte Carlo price or derivative, per year, currency and 1"),
    "difference": _aside("part of the bound due to differences in place of derivatives"),
    "relative_rounding": Variable(
        "1", "part of the bound due to the arithmetic, over the price, or over a larger bound"
    ),
    "implied_volatility": _aside("volatility at which Black's formula gives the price"),
    "implied_volatility_low": Variable(
        "1", "volatility at which Black's formula gives the price less its bound", compared=False
    ),
    "implied_volatility_high": Variable(
        "1", "volatility at which Black's formula gives the price and its bound", compared=False
    ),
    "implied_volatility_bound": Variable(
        "1", "half of the range of implied volatilities within the bound", compared=False
    ),
    "analytic_implied_volatility": Variable(
        "1", "volatility at which Black's formula gives the semi-analytic price", compared=False
    ),
}

GLOBAL_MEANS = frozenset(name for name, row in VARIABLES.items() if row.attributes == _MEAN)
"""Names of the budgets of the atmosphere in this table."""


def of_equations(
    fields: Iterable[str], budgets: Iterable[str], units: Mapping[str, str]
) -> dict[str, Variable]:
    """The table with rows for variables of a user's own equations, named by their names.

    Args:
        fields, budgets: names of variables, on the grid and of the globe.
        units: of those whose unit is not the table's, nor 1 where the table has no row.
    """
    rows = dict(VARIABLES)
    for names, attributes in ((fields, _POINT), (budgets, _MEAN)):
        for name in (over_time(name)[1].removeprefix(ZONAL_MEAN) for name in names):
            description = Variable("1", name.replace("_", " "), attributes=attributes)
            row = rows.get(name, description)
            rows[name] = replace(row, units=units.get(name, row.units))
    return rows


def _over_time(method: str, row: Variable) -> Variable:
    """The row of a statistic over the time from one stored state to the next."""
    attributes = dict(row.attributes)
    methods = attributes.get("cell_methods", "").removeprefix("time: point")
    methods = methods.removeprefix("time: ").strip()  # time: lat: point
    attributes["cell_methods"] = f"{methods} time: {method}".strip()
    summed = method == "sum"
    return replace(
        row, units=f"{row.units} s" if summed else row.units,
        long_name=f"{method} over time of {row.long_name}",
        standard_name=None if summed else row.standard_name, attributes=tuple(attributes.items()),
    )  # fmt: skip


def describe(name: str, rows: Mapping[str, Variable] = VARIABLES) -> Variable:
    """The table's row of a variable; a zonal mean has that of its field, and a statistic over time
    that of its variable.

    Raises:
        KeyError: the table has no such row; add one.
    """
    method, variable = over_time(name)
    if method and name not in rows:
        return _over_time(method, describe(variable, rows))
    field = name.removeprefix(ZONAL_MEAN)
    if field != name and field in rows:
        row = rows[field]
        attributes = [(k, v) for k, v in row.attributes if k == "units_metadata"]
        attributes.append(("cell_methods", "time: lat: point circle: mean"))
        name = f"zonal mean of {row.long_name}"
        return replace(row, long_name=name, attributes=tuple(attributes))
    if name not in rows:
        raise KeyError(f"no row for the variable '{name}' in output/variables.py; add one")
    return rows[name]
