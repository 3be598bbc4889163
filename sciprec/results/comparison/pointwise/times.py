"""Times that count from a date, in one unit, date and calendar or another."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.results.comparison.pointwise.units import UnitConversion, conversion, same_units

_SPELT = {"gregorian": "standard", "365_day": "noleap", "366_day": "all_leap"}
"""Calendars with two names in the CF conventions, section 4.4.1."""
_ALIKE = {"standard", "proleptic_gregorian"}
"""Calendars with the same days since 1582-10-15."""
_COMMON = (1582, 10, 15)
_LATE = (2000, 1, 1)
"""A date that counts alike in both of them."""


def are_times(*units: str) -> bool:
    """Whether all units count from a date."""
    return all(" since " in unit for unit in units)


def same_times(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether variables are in the same units and, if these count from a date, in a calendar of the
    same name.
    """
    units = [str(about.get("units", "")).strip() for about in (first, second)]
    if not same_units(*units):
        return False
    return not are_times(*units) or _calendar(first) == _calendar(second)


def time_conversion(
    source: Mapping[str, Any], target: Mapping[str, Any], values: Any, label: str
) -> UnitConversion | None:
    """The conversion of times since one date into those since another; None for unknown units.

    Args:
        source, target: attributes of the variables: units, and the calendar.
        values: times in the units of the source.
        label: words for the times in a message.

    Raises:
        InputError: they are dates of different calendars.
    """
    calendars = _calendar(source), _calendar(target)
    units = str(source["units"]).strip(), str(target["units"]).strip()
    linear = conversion(*(unit.split(" since ", 1)[0].strip() for unit in units))
    try:
        alike = calendars[0] == calendars[1] or _all_late(values, units[0], calendars)
        dates = _one_date(units, calendars) if alike and linear is not None else None
    except (ValueError, OverflowError):  # a unit, date or calendar that cftime does not know
        return None
    if not alike:
        raise InputError(
            f"{label} are '{units[1]}' in the calendar '{calendars[1]}', and '{units[0]}' in the "
            f"calendar '{calendars[0]}', whose days are other ones: convert one of them first, for "
            "instance with xarray's convert_calendar"
        )
    if linear is None or dates is None:
        return None
    return UnitConversion(*units, linear.factor, dates[1] - dates[0] * linear.factor)


def _one_date(
    units: tuple[str, str], calendars: tuple[str, str]
) -> tuple[Fraction, Fraction]:
    """A date in both of two units."""
    import cftime

    anchor = cftime.num2date(0, units[0], calendars[0])
    if calendars[0] != calendars[1]:
        anchor = cftime.datetime(*_LATE, calendar=calendars[0])
    same_date = cftime.datetime(*anchor.timetuple()[:6], anchor.microsecond, calendar=calendars[1])
    dates = zip((anchor, same_date), units, calendars, strict=True)
    first, second = (Fraction(float(cftime.date2num(*date))) for date in dates)
    return first, second


def _all_late(values: Any, units: str, calendars: tuple[str, str]) -> bool:
    """Whether two calendars have the same days at all of some times."""
    import cftime

    numbers = np.asarray(values)
    numbers = numbers[np.isfinite(numbers)]
    if not set(calendars) <= _ALIKE:
        return False
    if not numbers.size:
        return True
    first = cftime.num2date(float(numbers.min()), units, calendars[0])
    return bool(first >= cftime.datetime(*_COMMON, calendar=calendars[0]))


def _calendar(about: Mapping[str, Any]) -> str:
    """The calendar's first name; that of the conventions where none is stated."""
    name = str(about.get("calendar", "standard")).strip().lower()
    return _SPELT.get(name, name)
