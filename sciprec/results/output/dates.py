"""Axes of time as numbers since a date, as files have them, and as dates, as users want them."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from sciprec.results.output.pieces import TIME

_DATES = "M"
_MEANING = ("units", "calendar", "dtype")
"""Attributes of numbers that stand for dates or durations, which the values have already."""
_IN_NANOSECONDS = 1678, 2261
"""First and last whole year of datetime64[ns]."""
_PLAIN = ("standard", "proleptic_gregorian")
"""Calendars of datetime64 in these years."""


def with_dates(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with dates in place of days along time, as xarray reads them from its file:
    datetime64[ns] where that holds all of them, else dates of cftime. They are right to the
    microsecond, and the encoding says the unit with which they are written again. Variables that
    others name as their coordinates are coordinates, likewise.
    """
    about = dataset[TIME].attrs
    units, calendar = str(about["units"]), str(about["calendar"])
    result = _with_named_coordinates(dataset)
    for name in (TIME, str(about.get("bounds", ""))):
        if name not in dataset:
            continue
        old = dataset[name]
        attrs = {k: v for k, v in old.attrs.items() if k not in _MEANING}
        new = xr.Variable(old.dims, _dates(old.values, units, calendar), attrs)
        new.encoding = {"units": units, "calendar": calendar, "dtype": old.dtype}
        result = result.assign_coords({name: new}) if name == TIME else result.assign({name: new})
    return result


def _with_named_coordinates(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset whose attributes `coordinates` are what they name; xarray writes them again."""
    named = {name: str(v.attrs.get("coordinates", "")).split() for name, v in dataset.items()}
    result = dataset.copy()
    for name, coordinates in named.items():
        if coordinates and all(other in dataset for other in coordinates):
            result = result.set_coords(coordinates)
            del result[name].attrs["coordinates"]
    return result


def _dates(days: np.ndarray, units: str, calendar: str) -> np.ndarray:
    """Dates of days since another one."""
    import cftime

    dates = np.asarray(cftime.num2date(days, units, calendar, only_use_cftime_datetimes=True))
    years = {date.year for date in dates.flat}
    first, last = _IN_NANOSECONDS
    if calendar not in _PLAIN or not all(first <= year <= last for year in years):
        return dates
    texts = np.array([date.isoformat() for date in dates.flat], "M8[ns]")
    return texts.reshape(dates.shape)


def in_numbers(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with dates and durations as numbers, with the attributes that files have: units,
    and the calendar; as it is where there are none.
    """
    from xarray.coders import CFDatetimeCoder, CFTimedeltaCoder

    encoded = {}
    for name, variable in dataset.variables.items():
        kind = variable.dtype.kind
        spans = kind == "m"
        if spans or kind == _DATES or (kind == "O" and _holds_dates(variable)):
            plain = variable.copy(deep=False)
            plain.attrs = {n: v for n, v in variable.attrs.items() if n not in _MEANING}
            coder: Any = CFTimedeltaCoder() if spans else CFDatetimeCoder()
            encoded[name] = coder.encode(plain, name=name)
    if not encoded:
        return dataset
    coordinates = {name: coded for name, coded in encoded.items() if name in dataset.coords}
    data = {name: coded for name, coded in encoded.items() if name not in coordinates}
    return dataset.assign_coords(coordinates).assign(data)


def _holds_dates(variable: xr.Variable) -> bool:
    import cftime

    first = next((value for value in np.asarray(variable.values).flat if value is not None), None)
    return isinstance(first, cftime.datetime)
