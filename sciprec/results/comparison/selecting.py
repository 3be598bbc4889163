"""Parts of a dataset: the places along its axes that words stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError, meant

RANGE = ".."
_DATE = re.compile(r"(\d{1,4})-(\d\d?)-(\d\d?)(?:[T ](\d\d?)(?::(\d\d))?(?::(\d\d))?)?")


@dataclass(frozen=True)
class Nearness:
    """The distance up to which coordinates count as the same: atol + rtol |value|."""

    atol: float = 0.0
    rtol: float = 0.0

    def of(self, value: Any) -> Any:
        """The distance from a value, or from several."""
        return self.atol + self.rtol * np.abs(value)


def selected(
    data: xr.Dataset, other: xr.Dataset, select: Mapping[str, tuple[str, ...]], near: Nearness
) -> xr.Dataset:
    """The selected part; an axis of which one place is selected is none any more.

    Args:
        data, other: what is cut, and what it is compared with.
        select: by axis, words for values, places (`#3`) and ranges (`1..4`).
        near: how far a value of an axis may be from that which is asked for.

    Raises:
        InputError: neither has the axis, or this one lacks what is selected.
    """
    for axis, words in select.items():
        axes = [str(dim) for dim in (*data.sizes, *other.sizes)]
        if axis not in axes:
            raise InputError(
                f"select names the axis '{axis}', which neither has; there are "
                f"{', '.join(dict.fromkeys(axes))}{meant(axis, axes)}"
            )
        if axis in data.sizes:
            places = sorted({p for word in words for p in _places(data, axis, word, near)})
            single = len(words) == 1 and RANGE not in words[0]
            data = data.isel({axis: places[0] if single else places})
    return data


def _places(data: xr.Dataset, axis: str, word: str, near: Nearness) -> list[int]:
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
        return _texts(along, axis, word)
    first, ranged, last = word.partition(RANGE)
    if ranged:
        low, high = (_value(data, axis, part) for part in (first, last))
        inside = np.ones(size, bool)
        if low is not None:
            inside &= along >= low - near.of(low)
        if high is not None:
            inside &= along <= high + near.of(high)
        if not inside.any():
            raise InputError(
                f"select is given {axis}={word}, and '{axis}' has no value in it"
                + (f"; it goes from {along.min()} to {along.max()}" if size else "")
            )
        return [int(p) for p in np.flatnonzero(inside)]
    value = _value(data, axis, word)
    if not size:
        raise InputError(f"select is given {axis}={word}, and the axis '{axis}' has no places")
    apart = np.abs(along.astype(float) - value)
    nearest = int(np.argmin(np.where(np.isnan(apart), np.inf, apart)))
    exact = along.dtype.type(value) == along[nearest] if along.dtype.kind == "f" else (
        value == along[nearest])  # fmt: skip
    if not exact and not abs(float(along[nearest]) - value) <= near.of(value):
        raise InputError(
            f"select is given {axis}={word}, and '{axis}' has no such value; the nearest is "
            f"{along[nearest]}: give that, a place as in {axis}=#0, or --coords-atol"
        )
    return [nearest]


def _texts(along: np.ndarray, axis: str, word: str) -> list[int]:
    """The places of a name along an axis of names, such as stations."""
    places = np.flatnonzero([str(name) == word for name in along])
    if not places.size:
        listed = ", ".join(str(name) for name in along[:3]) + (", …" if along.size > 3 else "")
        raise InputError(
            f"select is given {axis}={word}, and the values of '{axis}' are no numbers, but "
            f"{listed or 'none'}; give one of them, or places, as in {axis}=#0"
        )
    return [int(p) for p in places]


def _value(data: xr.Dataset, axis: str, text: str) -> Any:
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
        try:
            moment = cftime.datetime(*parts, calendar=calendar)
            return float(cftime.date2num(moment, str(about["units"]), calendar))
        except ValueError as error:
            raise InputError(
                f"select is given {axis}={text}, which is no valid date in the calendar "
                f"'{calendar}' of the axis, in '{about['units']}' ({error}); give a value, or a "
                f"place as in {axis}=#0"
            ) from None
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise InputError(
            f"select is given {axis}={text}; it takes values, as in {axis}=2.5, several, as in "
            f"{axis}=1,2, a range, as in {axis}=1..4, or places, as in {axis}=#0; on a time "
            "axis 'since' a date also dates, as in 2000-01-31T12:30"
        )
    return value
