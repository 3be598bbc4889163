"""Fields of a state that users bring: found in a file or dataset by name, in SI units, checked.

A field is found by the name that it has here, by its CF standard name, by its GRIB short name, or
by what users say.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import refused, word
from sciprec.foundation.dates import start_date
from sciprec.foundation.errors import InputError, meant
from sciprec.results.output import files
from sciprec.results.output.dataset import EARTH_RADIUS_M
from sciprec.results.output.given_levels import HYBRID, PRESSURE_AXES, SIGMA, Levels, levels_along
from sciprec.results.output.given_units import PRESSURES, SI, spelt
from sciprec.results.output.regridding import Bilinear, on_levels

FASTEST_WIND = 250.0
"""m/s; faster than any wind of the Earth that was measured or analysed."""
PER_GRAVITY = "m2 s-2"
"""The unit of a geopotential, which the planet's gravity makes a height."""
_PLACES = 4
"""Digits of degrees that count: 11 m; coordinates in binary32 differ from others behind them."""


@dataclass(frozen=True)
class Quantity:
    """A field that a state begins with.

    Args:
        short_names: of GRIB and of models, in small letters.
        standard_names: of CF.
        units: name of a unit -> what one of it is in SI, and what 0 of it is; the first is that of
            a field without the attribute `units`.
        least, most: values that are accepted, in SI.
    """

    short_names: tuple[str, ...]
    standard_names: tuple[str, ...]
    units: Mapping[str, tuple[float, float]]
    least: float
    most: float


_HEIGHT = {"m": SI, "km": (1000.0, 0.0), PER_GRAVITY: SI}
_WIND = {"m s-1": SI}, -FASTEST_WIND, FASTEST_WIND
_TURNING = {"s-1": SI}, -0.1, 0.1
_GEOPOTENTIALS = ("z", "phi", "phis", "geopotential", "surface_geopotential")
"""Names of fields that are geopotentials where they have no units."""
QUANTITIES = {
    "u": Quantity(("u", "ua", "uwnd"), ("eastward_wind",), *_WIND),
    "v": Quantity(("v", "va", "vwnd"), ("northward_wind",), *_WIND),
    "vorticity": Quantity(
        ("vo", "vor", "relative_vorticity"),
        ("atmosphere_relative_vorticity", "atmosphere_upward_relative_vorticity"), *_TURNING,
    ),
    "divergence": Quantity(("d", "div"), ("divergence_of_wind",), *_TURNING),
    "temperature": Quantity(
        ("t", "ta", "air"), ("air_temperature",), {"K": SI, "degC": (1.0, 273.15)}, 100.0, 400.0
    ),
    "surface_pressure": Quantity(("sp", "ps"), ("surface_air_pressure",), PRESSURES, 1e4, 2e5),
    "log_surface_pressure": Quantity(("lnsp",), (), {"1": SI}, np.log(1e4), np.log(2e5)),
    "height": Quantity(
        ("h", "gh", "z", "zg", "geopotential"), ("geopotential_height", "geopotential"), _HEIGHT,
        -1e6, 1e6,
    ),
    "orography": Quantity(
        ("orog", "zs", "phis", "z", "surface_geopotential"),
        ("surface_altitude", "surface_geopotential"), _HEIGHT, -3e5, 3e5,
    ),
}  # fmt: skip
_MOST = float(np.finfo(np.float64).max)
_OF_A_TRACER = Quantity((), (), {"1": SI}, -_MOST, _MOST)
_LIKE_THE_EARTH = 0.01
"""Share by which the radius of a planet may differ from the Earth's that is taken for it."""
_ELSEWHERE = {
    "u": (-1e4, 1e4), "v": (-1e4, 1e4), "temperature": (1.0, 1e4), "surface_pressure": (1.0, 1e9),
    "log_surface_pressure": (0.0, np.log(1e9)),
}  # fmt: skip
"""Least and largest values on planets that are not like the Earth."""
_AXES = {
    "latitude": (("lat", "latitude"), "degrees_north"),
    "longitude": (("lon", "longitude"), "degrees_east"),
}
_A_GRID = (
    "accepted: a regular or Gaussian grid of latitudes and longitudes (others can be interpolated "
    "to one by `cdo remapbil`)"
)


@dataclass(frozen=True)
class GivenFields:
    """Fields of a state on their own grid.

    Args:
        source: where they come from, in words.
        names: of the variables, by field.
        lat, lon: degrees, ascending (nlat,), (nlon,); longitudes evenly from 0 or a little more.
        levels: from the top down, or None.
        per_gravity: the fields that are geopotentials, m2/s2.
        variables: (levels, nlat, nlon) or (nlat, nlon) in the order and unit of the file.
        order: of levels, rows and columns in the file.
        units: what 1 and 0 of the file are, by field.
        time: number, unit and calendar of their time, where the file says one.
    """

    source: str
    names: dict[str, str]
    lat: np.ndarray
    lon: np.ndarray
    levels: Levels | None
    per_gravity: tuple[str, ...]
    variables: dict[str, xr.Variable] = field(repr=False)
    order: tuple[np.ndarray, ...] = field(repr=False)
    units: dict[str, tuple[float, float]] = field(repr=False)
    time: tuple[float, str, str] | None = None

    def rows_of(self, name: str) -> Iterator[np.ndarray]:
        """A field level by level from the top down, each (nlat, nlon) in binary64."""
        variable, (factor, offset) = self.variables[name], self.units[name]
        steps: Sequence[Any] = self.order[0] if variable.ndim == 3 else [...]
        for k in steps:
            values = np.asarray(variable[k].values, np.float64)
            yield values[np.ix_(*self.order[1:])] * factor + offset

    def on_grid(
        self, lat: np.ndarray, lon: np.ndarray, sigma: np.ndarray | None = None
    ) -> dict[str, np.ndarray]:
        """The fields (levels, nlat, nlon) or (nlat, nlon) on another grid, and on sigma levels.

        Bilinear with the poles as rows (see `Bilinear`); then linear in ln p, constant above the
        highest and below the lowest level. `log_surface_pressure` has become `surface_pressure`.

        Args:
            lat, lon: degrees, ascending.
            sigma: of the wanted levels from the top down, where fields have levels.
        """
        way = Bilinear(self.lat, self.lon, lat, lon)
        result = {}
        if {"u", "v"} <= self.variables.keys():
            pairs = zip(self.rows_of("u"), self.rows_of("v"), strict=True)
            u, v = zip(*(way.wind(*pair) for pair in pairs), strict=True)
            result = {"u": np.array(u), "v": np.array(v)}
        for name in self.variables.keys() - result.keys():
            result[name] = np.array([way.scalar(row) for row in self.rows_of(name)])
        for name, variable in self.variables.items():
            if variable.ndim == 2:
                result[name] = result[name][0]
        if "log_surface_pressure" in result:
            result["surface_pressure"] = np.exp(result.pop("log_surface_pressure"))
        if self.levels is None or sigma is None:
            return result
        target, log_pressure = np.log(sigma)[:, None, None], np.log(self.levels.values)
        if self.levels.kind != SIGMA:
            target = target + np.log(result["surface_pressure"])
        if self.levels.kind == HYBRID:
            log_pressure = np.log(self.levels.pressures(result["surface_pressure"]))
        return {
            name: on_levels(x, log_pressure, target) if x.ndim == 3 else x
            for name, x in result.items()
        }

    def alone(self, name: str) -> GivenFields:
        """One field, with what its levels need."""
        needed = (name, "surface_pressure", "log_surface_pressure")
        variables = {n: x for n, x in self.variables.items() if n in needed}
        return replace(self, variables=variables)

    def is_on(self, lat: np.ndarray, lon: np.ndarray) -> bool:
        """Whether the fields are on a grid already."""
        return Bilinear(self.lat, self.lon, lat, lon).is_same

    def in_words(self, lat: np.ndarray, lon: np.ndarray) -> str:
        """Name these fields, and their way onto a grid, for the attributes of a run."""
        named = (k if k == v else f"{k} ('{v}')" for k, v in self.names.items())
        how = "on the model's own grid"
        if not self.is_on(lat, lon):
            how = (
                f"bilinear from {self.lat.size} latitudes and {self.lon.size} longitudes, poles "
                "as the mean of the nearest circle, those of winds as its wavenumber 1"
            )
        vertical = ""
        if self.levels is not None:
            levels = f"{self.levels.values.size} {self.levels.kind}"
            vertical = f"; linear in ln p from {levels}, constant beyond them"
        return f"{', '.join(named)} of {self.source}; {how}{vertical}"


def read_fields(
    source: xr.Dataset | str | Path, choices: Sequence[Sequence[Sequence[str]]], has_levels: bool,
    radius_m: float, names: Mapping[str, str] | None = None,
) -> GivenFields:  # fmt: skip
    """The fields of a state in a dataset, netCDF file or Zarr store.

    Args:
        source: the dataset, the file, or FILE@TIME where it holds several times: a date such as
            2000-01-01T06, a number of its axis, or `last`.
        choices: for each part of the state the fields that make it, best first; an empty one last
            means that it may be missing. Names that are none of `QUANTITIES` are of tracers.
        has_levels: whether fields but those of the ground have levels.
        radius_m: of the planet, on which depends what is possible there.
        names: of variables, by field, where they cannot be found by their own.

    Raises:
        InputError: a field is missing, has other units, impossible values or axes that say no
            place; the grid does not cover the globe; there are several times.
    """
    parts = tuple(tuple(map(tuple, part)) for part in choices)
    tracers = {name for part in parts for some in part for name in some}
    chosen = tuple(sorted(_checked_names(names, (*QUANTITIES, *sorted(tracers))).items()))
    if isinstance(source, xr.Dataset):
        return _of_dataset(source, "a dataset in memory", None, parts, has_levels, radius_m,
                           dict(chosen))  # fmt: skip
    if not isinstance(source, str | Path) or not str(source):
        accepted = "an xarray Dataset, or the path of a netCDF file or Zarr store"
        raise refused("initial", source, accepted)
    path, time = split_time(str(source))
    stamp = files.stamp_of(path)
    return _of_file(path, stamp, time, parts, has_levels, radius_m, chosen)


def split_time(text: str) -> tuple[str, str | None]:
    """FILE and TIME of FILE@TIME; a file of the whole name goes before."""
    file, at, time = text.rpartition("@")
    return (text, None) if not at or not file or Path(text).exists() else (file, time)


@lru_cache(maxsize=2)
def _of_file(path, stamp, time, quantities, has_levels, radius_m, chosen) -> GivenFields:
    """Fields of a file, held until others have been read: a scenario is checked many times."""
    with files.opened_to_load(path) as dataset:
        about = quantities, has_levels, radius_m, dict(chosen)
        fields = _of_dataset(dataset, f"'{path}'", time, *about)
        for variable in fields.variables.values():
            variable.load()
    return fields


def _quantity(name: str) -> Quantity:
    """The row of a field, or that of all tracers."""
    return QUANTITIES.get(name, _OF_A_TRACER)


def _checked_names(names: Mapping[str, str] | None, accepted: Sequence[str]) -> dict[str, str]:
    if names is not None and not isinstance(names, Mapping):
        raise refused("initial_fields", names, "a table of variables' names by field")
    for name, variable in (names or {}).items():
        word("field of an initial state", name, accepted)
        if not isinstance(variable, str):
            raise refused(f"initial_fields: {name}", variable, "the name of a variable")
    return dict(names or {})


def _of_dataset(
    dataset: xr.Dataset, source: str, time: str | None, quantities: tuple, has_levels: bool,
    radius_m: float, chosen: dict[str, str],
) -> GivenFields:  # fmt: skip
    lat, lon = (_axis(dataset, axis_name, source) for axis_name in _AXES)
    if dataset[lat].dims == dataset[lon].dims:
        raise InputError(f"{source} has latitudes and longitudes along one axis; {_A_GRID}")
    lookup = _DatasetVariables(dataset, source, lat, lon, chosen, has_levels)
    names = lookup.chosen_of(quantities)
    rows, columns = _latitudes(dataset[lat], source), _longitudes(dataset[lon], source)
    place, when = {}, ""
    variables, units, spelt, levels = {}, {}, {}, None
    for quantity, name in names.items():
        variable = dataset.variables[name]
        if variable.dtype.kind not in "fiu":
            raise InputError(f"{source}: '{name}' holds no numbers; accepted: a field of real ones")
        units[quantity], spelt[quantity] = _unit(quantity, name, variable.attrs, source)
        axes = [d for d in variable.dims if d not in (lookup.row, lookup.column)]
        level = lookup.level_of(name)
        if level is not None:
            axes.remove(level)
            if variable.sizes[level] > 1 and not has_levels:
                raise InputError(
                    f"{source}: '{name}' has {variable.sizes[level]} levels ('{level}'), and the "
                    f"model one layer; choose one, as with dataset.sel({level}=...)"
                )
        for axis in axes:
            if axis not in place:
                place[axis], when = _place(dataset, axis, time, source, when)
        variable = variable.isel({axis: place[axis] for axis in axes})
        if level is not None and not has_levels:
            variable = variable.isel({level: 0})
        elif level is not None:
            found_levels = levels_along(dataset, level, source)
            if levels is not None and not np.array_equal(found_levels.values, levels.values):
                raise InputError(
                    f"{source}: '{name}' is on other levels than '{next(iter(names.values()))}'; "
                    "accepted: one axis of levels for all fields"
                )
            levels, variable = found_levels, variable.transpose(level, lookup.row, lookup.column)
        variables[quantity] = variable.transpose(..., lookup.row, lookup.column)
    if time is not None and not when:
        raise InputError(f"{source} has no axis of time to choose '{time}' of; leave the @ out")
    depths = np.array([0]) if levels is None else levels.order
    fields = GivenFields(
        source=source + (when and f" at {when}"), names=names, lat=rows[0], lon=columns[0],
        levels=levels,
        per_gravity=tuple(q for q in names if spelt[q] == PER_GRAVITY),
        variables=variables, order=(depths, rows[1], columns[1]), units=units,
        time=_number_of_time(dataset, place),
    )  # fmt: skip
    for quantity in names:
        _require_possible(fields, quantity, radius_m)
    if levels is not None and levels.kind == HYBRID:
        _require_order(fields)
    return fields


@dataclass(frozen=True)
class _DatasetVariables:
    """Variables of a dataset, looked up by what they are.

    Args:
        dataset, source: and its name in words.
        lat, lon: names of its latitudes and longitudes.
        chosen: names of variables that a user has said, by field.
        has_levels: whether fields but those of the ground have levels.
    """

    dataset: xr.Dataset
    source: str
    lat: Hashable
    lon: Hashable
    chosen: dict[str, str]
    has_levels: bool

    @property
    def row(self) -> Hashable:
        return self.dataset[self.lat].dims[0]

    @property
    def column(self) -> Hashable:
        return self.dataset[self.lon].dims[0]

    @property
    def fields(self) -> list[str]:
        """Names of variables on the grid."""
        return [
            name for name, x in self.dataset.data_vars.items()
            if isinstance(name, str) and {self.row, self.column} <= set(x.dims)
        ]  # fmt: skip

    def chosen_of(self, choices: tuple) -> dict[str, str]:
        """Name of the variable for each field that is needed."""
        names: dict[str, str] = {}
        for quantity, name in self.chosen.items():
            if name not in self.fields:
                raise InputError(
                    f"{self.source} has no field '{name}', which initial_fields names for "
                    f"{quantity}; found: {', '.join(self.fields) or 'none'}"
                    f"{meant(name, self.fields)}"
                )
        for part in choices:
            for quantities in part:
                names_found = [self._name_of(q, names.values()) for q in quantities]
                if all(names_found):
                    names |= zip(quantities, names_found, strict=True)
                    break
            else:
                raise InputError(self._missing(part))
        return names

    def _missing(self, part: tuple) -> str:
        lacking = [[q for q in some if not self._name_of(q, ())] for some in part]
        words = " or ".join(" and ".join(some) for some in lacking)
        on_levels = " on levels" if self.has_levels and _has_levels(part[0][0]) else ""
        near = (meant(q, self.fields) for some in lacking for q in some)
        return (
            f"{self.source} has no {words}{on_levels}; found: "
            f"{', '.join(self.fields) or 'no field on latitudes and longitudes'}; give the fields "
            "their CF standard names, or say which they are with initial_fields"
            f"{next(filter(None, near), '')}"
        )

    def _name_of(self, quantity: str, used: Any) -> str | None:
        """The variable that is a field; None where there is none."""
        if quantity in self.chosen:
            return self.chosen[quantity]
        row = _quantity(quantity)
        free = [n for n in self.fields if n not in used and self._fits(n, quantity)]
        attrs = {name: self.dataset[name].attrs for name in free}
        rules = (
            lambda n: n == quantity,
            lambda n: attrs[n].get("standard_name") in row.standard_names,
            lambda n: str(attrs[n].get("GRIB_shortName", "")).lower() in row.short_names,
            lambda n: n.lower() in row.short_names,
        )
        for rule in rules:
            candidates = [name for name in free if rule(name)]
            if len(candidates) > 1:
                raise InputError(
                    f"{self.source} has several fields that are {quantity}: "
                    f"{', '.join(candidates)}; say which: "
                    f"initial_fields = {{{quantity} = {candidates[0]!r}}}"
                )
            if candidates:
                return candidates[0]
        return None

    def _fits(self, name: str, quantity: str) -> bool:
        """Whether a variable has levels where the field has some."""
        return not self.has_levels or (self.level_of(name) is not None) == _has_levels(quantity)

    def level_of(self, name: str) -> Hashable | None:
        """The vertical axis of a variable; None where it has none."""
        for axis in self.dataset[name].dims:
            if axis in (self.row, self.column):
                continue
            attrs = self.dataset[axis].attrs if axis in self.dataset.variables else {}
            vertical = str(attrs.get("axis", "")).upper() == "Z" or "positive" in attrs
            vertical |= str(attrs.get("standard_name", "")).startswith("atmosphere_")
            names = (
                *PRESSURE_AXES, "level", "lev", "plev", "pressure", "sigma", "hybrid", "height"
            )  # fmt: skip
            pressure = spelt(str(attrs.get("units", ""))) in PRESSURES
            if vertical or pressure or str(axis).lower() in names:
                return axis
        return None


def _has_levels(quantity: str) -> bool:
    return quantity not in ("surface_pressure", "log_surface_pressure", "orography")


def _axis(dataset: xr.Dataset, axis: str, source: str) -> Hashable:
    """The variable of latitudes, or of longitudes, along one axis."""
    names, units = _AXES[axis]
    flat = 0
    for name, variable in dataset.variables.items():
        attrs = variable.attrs
        is_one = attrs.get("standard_name") == axis or str(attrs.get("units", "")) == units
        if is_one or str(name).lower() in names:
            if variable.ndim == 1 and not str(name).endswith(("_bnds", "_bounds")):
                return name
            flat = max(flat, variable.ndim)
    has = f"{axis}s along {flat} axes" if flat > 1 else f"no {axis}s along an axis of their own"
    raise InputError(f"{source} has {has}; {_A_GRID}")


def _degrees(values: xr.DataArray, source: str) -> np.ndarray:
    is_number = values.dtype.kind in "fiu"
    degrees = np.round(values.values.astype(np.float64), _PLACES) if is_number else np.array([])
    if not np.isfinite(degrees).all() or degrees.size < 4:
        raise InputError(
            f"{source}: '{values.name}' has {values.size} values"
            f"{'' if values.size < 4 else ', not all finite numbers'}; accepted: at least 4 degrees"
        )
    return degrees


def _latitudes(values: xr.DataArray, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes from south to north, and their order in the file."""
    degrees = _degrees(values, source)
    order = np.argsort(degrees)
    degrees = degrees[order]
    gaps = np.diff(degrees)
    if gaps.min() <= 0.0 or np.abs(degrees).max() > 90.0:
        raise InputError(
            f"{source}: '{values.name}' goes from {degrees[0]:g} to {degrees[-1]:g}"
            f"{' and has values twice' if gaps.min() <= 0.0 else ''}; accepted: degrees of "
            "latitude from -90 to 90, each once"
        )
    usual = 1.01 * max(gaps.max() if gaps.max() < 2 * np.median(gaps) else 0.0, np.median(gaps))
    missing = np.diff([-90.0, *degrees, 90.0])
    if missing.max() > usual:
        k = int(missing.argmax())
        ends = [-90.0, *degrees, 90.0]
        raise InputError(
            f"{source} does not cover the globe: '{values.name}' has nothing between {ends[k]:g} "
            f"and {ends[k + 1]:g}, and {np.median(gaps):g} degrees lie between its rows"
        )
    return degrees, order


def _longitudes(values: xr.DataArray, source: str) -> tuple[np.ndarray, np.ndarray]:
    """Longitudes evenly around the globe, the least first, and their order in the file; one that
    comes again at the end, as 360 after 0, is left out.
    """
    degrees, order = np.unique(np.mod(_degrees(values, source), 360.0), return_index=True)
    even, gaps = 360.0 / degrees.size, np.diff([*degrees, degrees[0] + 360.0])
    if np.abs(gaps - even).max() > max(0.01 * even, 2.1 * 10.0**-_PLACES):
        k = int(gaps.argmax())
        raise InputError(
            f"{source} does not cover the globe evenly: '{values.name}' has nothing between "
            f"{degrees[k]:g} and {(degrees[k] + gaps[k]) % 360:g}, and {np.median(gaps):g} degrees "
            "lie between its columns; accepted: longitudes of equal distance around the globe"
        )
    return degrees[0] + even * np.arange(degrees.size), order


def _require_order(fields: GivenFields) -> None:
    """Refuse hybrid levels without pressures above the grounds of a file."""
    assert fields.levels is not None
    name = next((n for n in ("surface_pressure", "log_surface_pressure") if n in fields.names), "")
    if not name:
        raise InputError(f"{fields.source} has hybrid levels and no surface pressure; give it, too")
    rows = list(fields.rows_of(name))
    ends = min(x.min() for x in rows), max(x.max() for x in rows)
    for ground in np.exp(ends) if name == "log_surface_pressure" else ends:
        fields.levels.require_order(float(ground), fields.source)


def _place(
    dataset: xr.Dataset, axis: Hashable, time: str | None, source: str, when: str
) -> tuple[int, str]:
    """Choose an index along an axis that is neither horizontal nor vertical; its time in words."""
    size, is_time = dataset.sizes[axis], _is_time(dataset, axis)
    if not is_time:
        if size > 1:
            raise InputError(
                f"{source} has {size} fields along '{axis}'; choose one, as with "
                f"dataset.isel({axis}=0)"
            )
        return 0, when
    texts, numbers = _times(dataset, axis) if size else ([], None)
    if size == 0:
        raise InputError(f"{source} holds no time: '{axis}' has no values; give another file")
    if time is None:
        if size > 1:
            how = "dataset.isel" + f"({axis}=-1)"
            file = source.strip("'")
            examples = f"{file}@{texts[-1]} or {file}@last" if source != file else how
            raise InputError(
                f"{source} holds {size} times, from {texts[0]} to {texts[-1]}; say which, as with "
                f"{examples}"
            )
        return 0, texts[0]
    full = time.replace(" ", "T")
    full = full + "0000-01-01T00:00:00"[len(full) :] if re.match(r"\d{4}-\d\d", full) else full
    hits = [k for k, text in enumerate(texts) if text == full]
    if time == "last":
        hits = [size - 1]
    elif not hits and re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", time, re.I) and numbers is not None:
        hits = np.flatnonzero(np.abs(numbers - float(time)) < 1e-6).tolist()
    if not hits:
        raise InputError(
            f"{source} has no time '{time}'; it holds {size}, from {texts[0]} to {texts[-1]}; "
            f"accepted: one of them, or `last`{_nearest(time, texts, dataset[axis], numbers)}"
        )
    return hits[0], texts[hits[0]]


def _nearest(time: str, texts: list[str], axis: xr.DataArray, numbers: np.ndarray | None) -> str:
    """The time of an axis that is nearest to another one, as the end of a sentence."""
    import cftime

    try:
        moment = float(time)
    except ValueError:
        try:
            date = start_date(time, axis.attrs.get("calendar", "standard"))
            dates = cftime.num2date(0, date.units, date.calendar)
            moment = float(cftime.date2num(dates, str(axis.attrs["units"]), date.calendar))
        except (InputError, KeyError, ValueError):
            return meant(time, texts)
    if numbers is None:
        return meant(time, texts)
    place = int(np.argmin(np.abs(numbers - moment)))
    return f"; the nearest is '{texts[place]}', {numbers[place]:.12g} of its axis"


def _number_of_time(
    dataset: xr.Dataset, place: Mapping[Hashable, int]
) -> tuple[float, str, str] | None:
    """Read the time, as a number, at an index along the axis of times."""
    for axis, index in place.items():
        attrs = dataset[axis].attrs if axis in dataset.variables else {}
        if _is_time(dataset, axis) and dataset[axis].dtype.kind in "fiu" and "units" in attrs:
            number = float(dataset[axis].values[index])
            return number, str(attrs["units"]), str(attrs.get("calendar", "standard"))
    return None


def _is_time(dataset: xr.Dataset, axis: Hashable) -> bool:
    if axis not in dataset.variables:
        return str(axis).lower() == "time"
    variable = dataset[axis]
    return (
        variable.dtype.kind == "M" or variable.attrs.get("standard_name") == "time"
        or " since " in str(variable.attrs.get("units", "")) or str(axis).lower() == "time"
    )  # fmt: skip


def _times(dataset: xr.Dataset, axis: Hashable) -> tuple[list[str], np.ndarray | None]:
    """Times of an axis as dates of ISO 8601 where they can be decoded, and as numbers."""
    if axis not in dataset.variables:
        texts = [str(k) for k in range(dataset.sizes[axis])]
        return texts, np.arange(dataset.sizes[axis])
    times = dataset[axis]
    numbers = times.values if times.dtype.kind in "fiu" else None
    if numbers is not None:
        try:
            plain = xr.Dataset({"time": ("time", numbers, dict(times.attrs))})
            times = xr.decode_cf(plain)["time"]
        except (ValueError, TypeError):  # of a unit that says no date
            pass
    values = times.values
    if values.dtype.kind == "M":
        return np.datetime_as_string(values, "s").tolist(), numbers
    if values.dtype.kind == "O":
        return [x.isoformat() if hasattr(x, "isoformat") else str(x) for x in values], numbers
    return [f"{x:g}" if values.dtype.kind in "fiu" else str(x) for x in values], numbers


def _unit(
    quantity: str, name: str, attrs: Mapping[str, Any], source: str
) -> tuple[tuple[float, float], str]:
    """The values of 1 and of 0 of a variable in SI, and its unit."""
    units = _quantity(quantity).units
    if quantity == "log_surface_pressure" or quantity not in QUANTITIES:
        return SI, "1"
    if not str(attrs.get("units", "")).strip():
        short = (name.lower(), str(attrs.get("GRIB_shortName", "")), attrs.get("standard_name"))
        is_phi = PER_GRAVITY in units and any(unit in _GEOPOTENTIALS for unit in short)
        unit = PER_GRAVITY if is_phi else next(iter(units))
    else:
        unit = spelt(str(attrs["units"]))
    if unit not in units:
        raise InputError(
            f"{source}: '{name}' is in {attrs['units']!r}; accepted for {quantity}: "
            f"{', '.join(units)}"
        )
    return units[unit], unit


def possible(quantity: str, radius_m: float) -> tuple[float, float]:
    """The least and the largest value of a field on a planet, in SI.

    On a planet of the Earth's radius those that the Earth's atmosphere may have. On others winds of
    10 km/s, temperatures of 10,000 K and pressures of 10,000 bar; and, on all, turnings by which
    the wind changes by its largest over a 2548th of the radius.
    """
    row = _quantity(quantity)
    if abs(radius_m / EARTH_RADIUS_M - 1.0) < _LIKE_THE_EARTH:
        return row.least, row.most
    if quantity in ("vorticity", "divergence"):
        most = row.most * (_ELSEWHERE["u"][1] / FASTEST_WIND) * (EARTH_RADIUS_M / radius_m)
        return -most, most
    return _ELSEWHERE.get(quantity, (row.least, row.most))


def _require_possible(fields: GivenFields, quantity: str, radius_m: float) -> None:
    """Refuse values that no atmosphere has, and what is no number."""
    row, (least, most) = _quantity(quantity), possible(quantity, radius_m)
    for k, values in enumerate(fields.rows_of(quantity)):
        bad = ~((values >= least) & (values <= most))
        if bad.any():
            j, i = np.argwhere(bad)[0]
            level = f", level {k + 1} from the top" if fields.variables[quantity].ndim == 3 else ""
            unit = PER_GRAVITY if quantity in fields.per_gravity else next(iter(row.units))
            raise InputError(
                f"{fields.source}: '{fields.names[quantity]}' is {values[j, i]:g} at latitude "
                f"{fields.lat[j]:g}, longitude {fields.lon[i]:g}{level} ({bad.sum()} of "
                f"{bad.size} points there); accepted for {quantity}: {least:g} to {most:g} "
                f"{unit}"
            )
