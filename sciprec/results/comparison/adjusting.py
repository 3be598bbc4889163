"""Two datasets made comparable: parts of them selected, names and units made those of the truth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import Range, names, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.results.comparison.coordinates import left_out, with_coordinates_of
from sciprec.results.comparison.pointwise.pairing import compared_names, converted
from sciprec.results.comparison.selecting import RANGE, Nearness, selected
from sciprec.results.output.stated import without_history

Places = int | float | str | slice | Sequence[int | float | str]
"""A selection along an axis: a value, "#3" for a place, "2..5" for a range, or several."""
_TOLERANCE = Range("a number from 0 up", least=0.0)


@dataclass(frozen=True)
class Adjustments:
    """Adjustments of two datasets before they are compared.

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
        selected = {axis: _words(axis, places) for axis, places in _pairs("select", select).items()}
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
        """All names that occur in the adjustments."""
        return frozenset((*self.select, *self.rename, *self.ignore))

    def about(self, truth: xr.Dataset, run: xr.Dataset) -> Adjustments:
        """The adjustments of names that two datasets have, which are some of many."""
        existing = {str(name) for data in (truth, run) for name in (*data.variables, *data.sizes)}
        new = {b for a, b in self.rename.items() if a in existing}
        return replace(
            self, select={a: w for a, w in self.select.items() if a in existing | new},
            rename={a: b for a, b in self.rename.items() if a in run.variables or a in run.sizes},
            ignore=tuple(name for name in self.ignore if name in existing | new),
        )  # fmt: skip

    def adjusted(
        self, truth: xr.Dataset, run: xr.Dataset, check: Callable[[xr.Dataset, xr.Dataset], Any]
    ) -> tuple[xr.Dataset, xr.Dataset, tuple[str, ...]]:
        """The two datasets, still read when they are asked for, and sentences of what was done.

        Args:
            truth, run: the run has its new names already.
            check: called with what is left of both before values are read.

        Raises:
            InputError: a name, or what is selected, is not there.
        """
        notes = [f"'{a}' of the run is compared as '{b}'" for a, b in self.rename.items()]
        near = Nearness(self.coords_atol, self.coords_rtol)
        truth, run = (
            selected(data, other, self.select, near) for data, other in ((truth, run), (run, truth))
        )
        notes += [f"of '{a}' only {', '.join(w)} is compared" for a, w in self.select.items()]
        truth, run = self._without_ignored(truth, run)
        notes += [f"'{name}' is not compared" for name in self.ignore]
        truth, run = without_history(truth), without_history(run)
        check(truth, run)
        run, conversions = with_coordinates_of(truth, run, near)
        for name in compared_names(truth):
            other = converted(truth, run, name)
            if other is not None and other.changes:
                conversions.append(f"'{name}' of the run is converted {other}")
        return truth, run, (*notes, *conversions, *left_out(truth, run))

    def renamed(self, run: xr.Dataset) -> xr.Dataset:
        """The run with the truth's names.

        Raises:
            InputError: a name is not there, or is taken.
        """
        existing = [str(name) for name in (*run.variables, *run.sizes)]
        for name, new in self.rename.items():
            if name not in existing:
                raise InputError(
                    f"rename is given '{name}', which the run does not have; it has "
                    f"{', '.join(dict.fromkeys(existing))}{meant(name, existing)}"
                )
            if new in existing and new not in self.rename:
                raise InputError(
                    f"rename calls '{name}' '{new}', and the run has a '{new}' already; leave "
                    "it out, or rename that, too"
                )
        return run.rename(self.rename) if self.rename else run

    def _without_ignored(
        self, truth: xr.Dataset, run: xr.Dataset
    ) -> tuple[xr.Dataset, xr.Dataset]:
        existing = [str(name) for name in dict.fromkeys((*truth.data_vars, *run.data_vars))]
        beside = {str(n) for data in (truth, run) for n in data.coords if n not in data.sizes}
        for name in self.ignore:
            if name not in existing and name not in beside:
                raise InputError(
                    f"ignore names the variable '{name}', which neither has; there are "
                    f"{', '.join(existing)}{meant(name, existing)}"
                )
        dropped = list(self.ignore)
        return truth.drop_vars(dropped, errors="ignore"), run.drop_vars(dropped, errors="ignore")


def _pairs(option: str, values: Any) -> dict[str, Any]:
    """Values by name, from a mapping or `NAME=VALUE`s."""
    if isinstance(values, Mapping):
        return {str(name): value for name, value in values.items()}
    if isinstance(values, str):
        values = [values]
    if not isinstance(values, (list, tuple)):
        raise refused(option, values, "a mapping by name, or texts NAME=VALUE")
    pairs: dict[str, Any] = {}
    for text in values:
        name, equals, value = str(text).partition("=")
        if not (name.strip() and value.strip()):
            raise InputError(
                f"--{option} is given '{text}'; it takes a name and what belongs to it, as in "
                f"--{option} {'time=2.5' if option == 'select' else 't2m=temperature'}"
            )
        name, value = name.strip(), value.strip()
        pairs[name] = f"{pairs[name]},{value}" if name in pairs and option == "select" else value
    return pairs


def _words(axis: str, places: Any) -> tuple[str, ...]:
    """The selection along an axis, as words."""
    if isinstance(places, str):
        places = [part.strip() for part in places.split(",")]
    elif isinstance(places, slice) or not isinstance(places, (list, tuple, np.ndarray)):
        places = [places]
    words = []
    for item in places:
        if isinstance(item, slice):
            ends = ("" if end is None else str(end) for end in (item.start, item.stop))
            words.append(RANGE.join(ends))
        elif isinstance(item, (str, int, float, np.integer, np.floating)):
            words.append(str(item))
        else:
            raise refused(f"select['{axis}']", item, 'a number, "#0", a slice, or several of these')
    for word in words:
        if not word or (word.startswith("#") and not re.fullmatch(r"#-?\d+", word)):
            raise InputError(
                f"select is given {axis}={word}; it takes values, as in {axis}=2.5, several, as in "
                f"{axis}=1,2, a range, as in {axis}=1..4, or places, as in {axis}=#0"
            )
    return tuple(words)


NOTHING = Adjustments()
"""The two datasets as they are, but for units and the order of points."""
