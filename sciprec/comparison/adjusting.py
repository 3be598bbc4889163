"""Two datasets made comparable: parts of them selected, names and units made those of the truth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from sciprec.checks.arguments import Range, names, refused
from sciprec.comparison.pointwise.conversions import conversion
from sciprec.comparison.pointwise.pairing import converted
from sciprec.comparison.pointwise.units import same_units
from sciprec.errors import InputError, meant

Places = int | float | str | slice | Sequence[int | float | str]
"""What is selected along an axis: a value, "#3" for a place, "2..5" for a range, or several."""
_RANGE = ".."
_TOLERANCE = Range("a number from 0 up", least=0.0)
_DATE = re.compile(r"(\d{1,4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?)(?::(\d\d))?(?::(\d\d))?)?")
_CONVERTED = 4.0 * float(np.finfo(float).eps)
"""How far converted coordinates may be apart, relative to the largest, by rounding alone."""


@dataclass(frozen=True)
class Adjustments:
    """What is done to two datasets before they are compared.

    Args:
        select: by axis, the values and places that are compared, as words.
        rename: names of the run, and what they are called in the truth.
        ignore: variables that are not compared.
        coords_atol, coords_rtol: how far coordinates may be apart that count as the same.
    """

    select: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rename: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    coords_atol: float = 0.0
    coords_rtol: float = 0.0

    @classmethod
    def read(
        cls, *, select: Mapping[str, Places] | Iterable[str] = (),
        rename: Mapping[str, str] | Iterable[str] = (), ignore: str | Iterable[str] = (),
        coords_atol: float = 0.0, coords_rtol: float = 0.0,
    ) -> Adjustments:  # fmt: skip
        """Adjustments as given in Python, or as `NAME=VALUE`s on a command line.

        Raises:
            InputError: something is no such thing.
        """
        selected = {axis: _words(axis, given) for axis, given in _pairs("select", select).items()}
        renamed = {str(a): str(b) for a, b in _pairs("rename", rename).items()}
        twice = {b for b in renamed.values() if list(renamed.values()).count(b) > 1}
        if twice:
            raise InputError(f"rename gives several variables the name '{min(twice)}'; give one")
        return cls(
            selected, renamed, tuple(names("ignore", ignore)) if ignore else (),
            _TOLERANCE.number("coords-atol", coords_atol),
            _TOLERANCE.number("coords-rtol", coords_rtol),
        )  # fmt: skip

    @property
    def named(self) -> frozenset[str]:
        """All names that something is said about."""
        return frozenset((*self.select, *self.rename, *self.ignore))

    def about(self, truth: xr.Dataset, run: xr.Dataset) -> Adjustments:
        """What is said of names that two datasets have, which are some of many."""
        there = {str(name) for one in (truth, run) for name in (*one.variables, *one.sizes)}
        new = {b for a, b in self.rename.items() if a in there}
        return replace(
            self, select={a: w for a, w in self.select.items() if a in there | new},
            rename={a: b for a, b in self.rename.items() if a in run.variables or a in run.sizes},
            ignore=tuple(name for name in self.ignore if name in there | new),
        )  # fmt: skip

    def adjusted(
        self, truth: xr.Dataset, run: xr.Dataset
    ) -> tuple[xr.Dataset, xr.Dataset, tuple[str, ...]]:
        """Both datasets, still read when they are asked for, and sentences of what was done.

        Args:
            truth, run: the run has its new names already.

        Raises:
            InputError: a name, or what is selected, is not there.
        """
        notes = [f"'{a}' of the second is compared as '{b}'" for a, b in self.rename.items()]
        truth, run = (self._selected(one, other) for one, other in ((truth, run), (run, truth)))
        notes += [f"of '{a}' only {', '.join(w)} is compared" for a, w in self.select.items()]
        truth, run = self._without_ignored(truth, run)
        notes += [f"'{name}' is not compared" for name in self.ignore]
        run, said = self._with_coordinates_of(truth, run)
        for name in truth.data_vars:
            other = converted(truth, run, str(name))
            if other is not None:
                said.append(f"'{name}' of the second is converted {other}")
        return truth, run, (*notes, *said)

    def renamed(self, run: xr.Dataset) -> xr.Dataset:
        """The run with the truth's names.

        Raises:
            InputError: a name is not there, or is taken.
        """
        known = [str(name) for name in (*run.variables, *run.sizes)]
        for name, new in self.rename.items():
            if name not in known:
                raise InputError(
                    f"rename is given '{name}', which the second does not have; it has "
                    f"{', '.join(dict.fromkeys(known))}{meant(name, known)}"
                )
            if new in known and new not in self.rename:
                raise InputError(
                    f"rename calls '{name}' '{new}', and the second has a '{new}' already; leave "
                    "it out, or rename that, too"
                )
        return run.rename(self.rename) if self.rename else run

    def _without_ignored(
        self, truth: xr.Dataset, run: xr.Dataset
    ) -> tuple[xr.Dataset, xr.Dataset]:
        known = [str(name) for name in dict.fromkeys((*truth.data_vars, *run.data_vars))]
        for name in self.ignore:
            if name not in known:
                raise InputError(
                    f"ignore names the variable '{name}', which neither has; there are "
                    f"{', '.join(known)}{meant(name, known)}"
                )
        dropped = list(self.ignore)
        return truth.drop_vars(dropped, errors="ignore"), run.drop_vars(dropped, errors="ignore")

    def _selected(self, data: xr.Dataset, other: xr.Dataset) -> xr.Dataset:
        """The selected part; an axis of which one place is selected is none any more."""
        for axis, words in self.select.items():
            known = [str(one) for one in (*data.sizes, *other.sizes)]
            if axis not in known:
                raise InputError(
                    f"select names the axis '{axis}', which neither has; there are "
                    f"{', '.join(dict.fromkeys(known))}{meant(axis, known)}"
                )
            if axis in data.sizes:
                places = sorted({p for one in words for p in self._places(data, axis, one)})
                single = len(words) == 1 and _RANGE not in words[0]
                data = data.isel({axis: places[0] if single else places})
        return data

    def _places(self, data: xr.Dataset, axis: str, word: str) -> list[int]:
        """The places along an axis that a word stands for."""
        size = data.sizes[axis]
        if word.startswith("#"):
            place = int(word[1:])
            if not -size <= place < size:
                raise InputError(
                    f"select is given {axis}={word}; '{axis}' has {size} places, #0 to #{size - 1}"
                )
            return [place % size]
        if axis not in data.coords:
            raise InputError(
                f"select is given {axis}={word}, and the axis '{axis}' has no values; give places, "
                f"as in {axis}=#0"
            )
        along = np.asarray(data[axis].values)
        if along.dtype.kind not in "fiu":
            raise InputError(
                f"select is given {axis}={word}, and the values of '{axis}' are no numbers; give "
                f"places, as in {axis}=#0"
            )
        first, ranged, last = word.partition(_RANGE)
        if ranged:
            low, high = (self._value(data, axis, part) for part in (first, last))
            inside = np.ones(size, bool)
            if low is not None:
                inside &= along >= low - self._near(low)
            if high is not None:
                inside &= along <= high + self._near(high)
            if not inside.any():
                raise InputError(
                    f"select is given {axis}={word}, and '{axis}' has no value in it; it goes from "
                    f"{along.min()} to {along.max()}"
                )
            return [int(p) for p in np.flatnonzero(inside)]
        value = self._value(data, axis, word)
        if not size:
            raise InputError(f"select is given {axis}={word}, and the axis '{axis}' has no places")
        nearest = int(np.argmin(np.abs(along.astype(float) - value)))
        exact = along.dtype.type(value) == along[nearest] if along.dtype.kind == "f" else (
            value == along[nearest])  # fmt: skip
        if not exact and abs(float(along[nearest]) - value) > self._near(value):
            raise InputError(
                f"select is given {axis}={word}, and '{axis}' has no such value; the nearest is "
                f"{along[nearest]}: give that, a place as in {axis}=#0, or --coords-atol"
            )
        return [nearest]

    def _near(self, value: float) -> float:
        return self.coords_atol + self.coords_rtol * abs(value)

    def _value(self, data: xr.Dataset, axis: str, text: str) -> Any:
        """A value along an axis, in its units; dates of an axis that counts from one. None of "".

        Raises:
            InputError: the text is neither.
        """
        text = text.strip()
        if not text:
            return None
        about = data[axis].attrs
        date = _DATE.fullmatch(text)
        if date and " since " in str(about.get("units", "")):
            import cftime

            parts = [int(p) if p else 0 for p in date.groups()]
            calendar = str(about.get("calendar", "standard"))
            moment = cftime.datetime(*parts, calendar=calendar)
            return float(cftime.date2num(moment, str(about["units"]), calendar))
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            raise InputError(
                f"select is given {axis}={text}; it takes values, as in {axis}=2.5, several, as in "
                f"{axis}=1,2, a range, as in {axis}=1..4, or places, as in {axis}=#0; of a time "
                "since a date also dates, as in 2000-01-31T12:30"
            )
        return value

    def _with_coordinates_of(
        self, truth: xr.Dataset, run: xr.Dataset
    ) -> tuple[xr.Dataset, list[str]]:
        """The run with the truth's values along axes where its own are in other units, or no
        farther from them than the tolerance.
        """
        notes = []
        for axis in truth.sizes:
            if axis not in run.sizes or axis not in truth.coords or axis not in run.coords:
                continue
            run, said = _in_units_of(truth, run, str(axis))
            notes += said
            rounding = _CONVERTED if said else 0.0
            wanted, given = truth[axis].values, run[axis].values
            if np.array_equal(wanted[: given.size], given):
                continue
            places = self._places_of(np.asarray(wanted), np.asarray(given), str(axis), rounding)
            if places is None:
                continue
            apart = float(np.max(np.abs(np.asarray(given[places], float) - wanted[: given.size])))
            run = run.isel({axis: places})
            run = run.assign_coords({axis: (axis, wanted[: given.size], run[axis].attrs)})
            if apart and not said:
                notes.append(f"the values of '{axis}' are up to {apart:.2g} apart")
        return run, notes

    def _places_of(
        self, wanted: np.ndarray, given: np.ndarray, axis: str, rounding: float
    ) -> np.ndarray | None:
        """Where the run has the truth's values along an axis, within the tolerance; None where it
        has not.
        """
        early = axis == "time" and given.size < wanted.size
        wanted = wanted[: given.size] if early else wanted
        if wanted.shape != given.shape or any(a.dtype.kind not in "fiu" for a in (wanted, given)):
            return None
        ordered, found = np.argsort(wanted, kind="stable"), np.argsort(given, kind="stable")
        a, b = wanted[ordered].astype(float), given[found].astype(float)
        atol = self.coords_atol + rounding * float(np.max(np.abs(a), initial=0.0))
        if np.all(np.abs(a - b) <= atol + self.coords_rtol * np.abs(a)):
            places = np.empty_like(ordered)
            places[ordered] = found
            return places
        return None


def _in_units_of(truth: xr.Dataset, run: xr.Dataset, axis: str) -> tuple[xr.Dataset, list[str]]:
    """The run with an axis in the truth's units, where these are others that it can be converted
    from.
    """
    one, two = (str(d[axis].attrs.get("units", "")).strip() for d in (truth, run))
    if not one or not two or same_units(one, two):
        return run, []
    along = np.asarray(run[axis].values)
    if " since " in one and " since " in two:
        made = _since(along, two, one, run[axis].attrs, truth[axis].attrs)
    else:
        linear = conversion(two, one, run[axis].attrs)
        made = None if linear is None else linear(along)
    if made is None:
        return run, []
    attributes = run[axis].attrs | {"units": truth[axis].attrs["units"]}
    return run.assign_coords({axis: (axis, made, attributes)}), [
        f"the values of '{axis}' of the second are converted from '{two}' into '{one}'"
    ]


def _since(
    values: np.ndarray, given: str, wanted: str, mine: Mapping[str, Any], theirs: Mapping[str, Any]
) -> np.ndarray | None:
    """Times since one date as times since another one; None where a unit is not known.

    Raises:
        InputError: they are dates of different calendars.
    """
    import cftime

    calendars = [str(one.get("calendar", "standard")).lower() for one in (mine, theirs)]
    alike = {"gregorian": "standard"}
    if len({alike.get(one, one) for one in calendars}) > 1:
        raise InputError(
            f"the times are '{wanted}' in the calendar '{calendars[1]}', and '{given}' in the "
            f"calendar '{calendars[0]}', whose days are other ones: convert one of them first, for "
            "instance with xarray's convert_calendar"
        )
    unit, base = given.split(" since ", 1)[0].strip(), wanted.split(" since ", 1)[0].strip()
    linear = conversion(unit, base)
    if linear is None:
        return None
    try:
        start = cftime.num2date(0, given, calendars[0])
        offset = cftime.date2num(start, wanted, calendars[0])
    except ValueError:
        return None
    return linear(values) + float(offset)


def _pairs(option: str, given: Any) -> dict[str, Any]:
    """Values by name, from a mapping or `NAME=VALUE`s."""
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, (list, tuple)):
        raise refused(option, given, "a mapping by name, or texts NAME=VALUE")
    found: dict[str, Any] = {}
    for one in given:
        name, equals, value = str(one).partition("=")
        if not (name.strip() and value.strip()):
            raise InputError(
                f"--{option} is given '{one}'; it takes a name and what belongs to it, as in "
                f"--{option} {'time=2.5' if option == 'select' else 't2m=temperature'}"
            )
        name, value = name.strip(), value.strip()
        found[name] = f"{found[name]},{value}" if name in found and option == "select" else value
    return found


def _words(axis: str, given: Any) -> tuple[str, ...]:
    """What is selected along an axis, as words."""
    if isinstance(given, str):
        given = [one.strip() for one in given.split(",")]
    elif isinstance(given, slice) or not isinstance(given, (list, tuple, np.ndarray)):
        given = [given]
    words = []
    for one in given:
        if isinstance(one, slice):
            ends = ("" if end is None else str(end) for end in (one.start, one.stop))
            words.append(_RANGE.join(ends))
        elif isinstance(one, (str, int, float, np.integer, np.floating)):
            words.append(str(one))
        else:
            raise refused(f"select['{axis}']", one, 'a number, "#0", a slice, or several of these')
    for word in words:
        if not word or (word.startswith("#") and not re.fullmatch(r"#-?\d+", word)):
            raise InputError(
                f"select is given {axis}={word}; it takes values, as in {axis}=2.5, several, as in "
                f"{axis}=1,2, a range, as in {axis}=1..4, or places, as in {axis}=#0"
            )
    return tuple(words)


NOTHING = Adjustments()
"""Both as they are, but for units and the order of points."""
