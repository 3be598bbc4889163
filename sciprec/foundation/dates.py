"""Dates of a calendar, from which the days of a run count."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sciprec.foundation.arguments import refused, word
from sciprec.foundation.errors import InputError

CALENDARS = {
    "standard": "standard", "gregorian": "standard", "proleptic_gregorian": "proleptic_gregorian",
    "noleap": "noleap", "365_day": "noleap", "all_leap": "all_leap", "366_day": "all_leap",
    "360_day": "360_day", "julian": "julian",
}  # fmt: skip
"""Calendars of the CF conventions, section 4.4.1, and the first name of each."""
_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.0*)?)?)?")
_ACCEPTED = "a date of the years 1 to 9999, such as 2000-01-01 or 2000-01-01T06:00"


@dataclass(frozen=True)
class StartDate:
    """The date from which the days of a run count.

    Args:
        date: of ISO 8601 with seconds, such as "2000-01-01T00:00:00".
        calendar: first name of a CF calendar.
    """

    date: str = "2000-01-01T00:00:00"
    calendar: str = "standard"

    @property
    def units(self) -> str:
        """The unit of days since then, as CF writes it."""
        return f"days since {self.date.replace('T', ' ')}"


USUAL_START = StartDate()


def start_date(date: Any = None, calendar: Any = None) -> StartDate:
    """The date from which a run counts.

    Args:
        date: of ISO 8601, as text or as a date of Python, NumPy or cftime; left out, 2000-01-01.
        calendar: name of a CF calendar; left out, that of a cftime date, else "standard".

    Raises:
        InputError: no such calendar, no date, or one that the calendar does not have.
    """
    import cftime

    if calendar is None and isinstance(date, cftime.datetime):
        calendar = date.calendar
    name = USUAL_START.calendar if calendar is None else calendar
    calendar = CALENDARS[word("calendar", name, CALENDARS)]
    text = USUAL_START.date if date is None else _text(date)
    match = _DATE.fullmatch(text)
    if match is None or match[1] == "0000":
        raise refused("start_date", date, _ACCEPTED)
    parts = [int(part or 0) for part in match.groups()]
    try:
        exact = cftime.datetime(*parts, calendar=calendar)
    except ValueError:
        raise InputError(
            f"start_date is '{text}', which the calendar '{calendar}' does not have"
            f"{_length_of(parts, calendar)}; accepted: {_ACCEPTED}"
        ) from None
    return StartDate(exact.isoformat(), calendar)


def _text(date: Any) -> str:
    """A date as text; other things as they are shown."""
    return date.isoformat() if hasattr(date, "isoformat") else str(date)


def _length_of(parts: list[int], calendar: str) -> str:
    """The length of the month of a date that is not there, as a part of a sentence."""
    import cftime

    year, month, day, *_ = parts
    if not 1 <= month <= 12:
        return ""
    first = cftime.datetime(year, month, 1, calendar=calendar)
    if day <= first.daysinmonth:
        return ""
    return f", whose month {year:04d}-{month:02d} has {first.daysinmonth} days"
