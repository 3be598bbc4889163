"""The clock of a forcing: whole steps of a rational length, outside of every arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.arguments import refused
from sciprec.foundation.dates import StartDate
from sciprec.precision import Backend

DAY = 86400
_FINEST = 1_000_000


class Time(NamedTuple):
    """The time that a forcing sees.

    Args:
        day: phase of the day in [0, 1): 0 is midnight.
        year: phase of the year in [0, 1): 0 is the first midnight of the calendar's year.
    """

    day: float
    year: float


def rational(name: str, value: Any) -> Fraction:
    """A number of a user as the fraction that it stands for: 3600 / 7 is the seventh of an hour.

    Args:
        name: of the argument.
        value: above zero, of a denominator up to a million.

    Raises:
        InputError: it is no such number.
    """
    accepted = "a number above 0 that is a fraction with a denominator up to a million"
    try:
        exact = Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise refused(name, value, accepted) from None
    nearest = exact.limit_denominator(_FINEST)
    if nearest <= 0 or abs(nearest - exact) > exact / 2**50:
        raise refused(name, value, accepted)
    return nearest


@dataclass(frozen=True)
class Clock:
    """The dates of the steps of a run, in integers and fractions.

    Args:
        step: length of a step, s.
        since: the date of step 0.
    """

    step: Fraction
    since: StartDate

    def phases(self, steps: int) -> tuple[Fraction, Fraction]:
        """The exact phases of the day and of the year after a number of steps, both in [0, 1)."""
        start, seconds = _start(self.since)
        days, rest = divmod(seconds + steps * self.step, DAY)
        day = rest / DAY
        first, length = _year(start + int(days), self.since.calendar)
        return day, (start + int(days) - first + day) / length

    def month(self, steps: int) -> tuple[int, int]:
        """The year and the month after a number of steps."""
        start, seconds = _start(self.since)
        return _month(start + int((seconds + steps * self.step) // DAY), self.since.calendar)

    def time(self, steps: int, backend: Backend) -> Time:
        """The phases in the format of an arithmetic; one that rounds to 1 is 0."""
        numbers = np.array([float(phase) for phase in self.phases(steps)])
        numbers = np.asarray(quantize(numbers, backend), float)
        return Time(*(0.0 if number == 1.0 else float(number) for number in numbers))


@lru_cache(maxsize=16)
def _start(since: StartDate) -> tuple[int, int]:
    """The number of the day of a date in its calendar, and the seconds since its midnight."""
    import cftime

    date = cftime.num2date(0, since.units, since.calendar, only_use_cftime_datetimes=True)
    return date.toordinal(), 3600 * date.hour + 60 * date.minute + date.second


@lru_cache(maxsize=16)
def _month(day: int, calendar: str) -> tuple[int, int]:
    """The year and the month of a day."""
    import cftime

    date = cftime.datetime.fromordinal(day, calendar=calendar)
    return date.year, date.month


@lru_cache(maxsize=16)
def _year(day: int, calendar: str) -> tuple[int, int]:
    """The number of the first day of a day's year, and the number of days of that year."""
    import cftime

    year = cftime.datetime.fromordinal(day, calendar=calendar).year
    first, following = (
        cftime.datetime(y, 1, 1, calendar=calendar).toordinal() for y in (year, year + 1)
    )
    return first, following - first
