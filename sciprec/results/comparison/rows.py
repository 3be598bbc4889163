"""One run against its truth: a row of metrics per variable, and whether each is within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.arguments import warn_of_older_name
from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.foundation.plain_data import plain
from sciprec.results.comparison.adjusting import Adjustments, Places
from sciprec.results.comparison.evidence.error_growth import (
    error_growth,
    errors_along,
    growth_as_dict,
)
from sciprec.results.comparison.evidence.growth_laws import ErrorGrowth
from sciprec.results.comparison.inputs import (
    Readable,
    files_of_both,
    groups_of,
    opened,
    require_end,
    two_folders,
    with_axes_of,
)
from sciprec.results.comparison.pointwise.attributes import stated_tolerances, steps_attribute
from sciprec.results.comparison.pointwise.change import BEYOND_NOISE, Change
from sciprec.results.comparison.pointwise.error_metrics import Metric, metrics, refined
from sciprec.results.comparison.pointwise.number_format import NumberFormat, Packing
from sciprec.results.comparison.pointwise.pairing import (
    VariablePair,
    other_shapes,
    pair,
    shape_phrases,
)
from sciprec.results.comparison.pointwise.statistics import Statistics
from sciprec.results.comparison.tolerances import (
    OF_FILE,
    WITHIN,
    Limit,
    ToleranceLimits,
    Tolerances,
)
from sciprec.results.comparison.wording import behind, factor, number, place
from sciprec.results.output.stated import primary_name

SETTLED = ("identical", "empty")
"""Severities that no tolerance changes."""
METRICS_VERSION = 1
"""Version of the plain data that `as_dict` gives and `stored_metrics` reads."""
SHOWN_METRICS = ("max_abs", "rms", "bias", "relative_l2", "share_of_change", "p99_relative",
                 "max_ulp", "decimal_digits")  # fmt: skip
DROPPED_METRICS = ("p99_relative", "bias", "rms", "max_ulp", "max_abs", "decimal_digits")
"""Metrics that are left out where a line is too long, the first one first."""


@dataclass(frozen=True)
class ComparisonRow:
    """The comparison of one variable.

    Args:
        variable, units: of the variable.
        points: how many values were compared, finite or not.
        errors: metric name -> value over the finite points; NaN over none.
        nonfinite_golden, nonfinite_actual: NaN and infinities in either.
        changed_nonfinite: points where finite became non-finite, or the other way round.
        verdict: identical | noise (within the tolerance) | still (within it, and moves less
            than half as far as truth) | changed (beyond) | broken | empty (no value is finite in
            both, and nothing was compared).
        limits: the tolerances as numbers.
        number_format: of the run.
        statistics: all numbers of the errors; None where only stored metrics are known.
        change: how far truth and run have moved; None without an axis of time.
    """

    variable: str
    units: str
    points: int
    errors: dict[str, float]
    nonfinite_golden: int
    nonfinite_actual: int
    changed_nonfinite: int
    verdict: str
    limits: ToleranceLimits = ToleranceLimits()
    number_format: NumberFormat | None = None
    statistics: Statistics | None = field(default=None, compare=False)
    change: Change | None = None

    @property
    def severity(self) -> str:
        """The older name of `verdict`, with a warning."""
        warn_of_older_name("severity", "verdict")
        return self.verdict

    def reason(self) -> str:
        """The sentence on why it counts as identical, noise, changed or broken, with the numbers
        that decided.
        """
        if self.verdict == "identical":
            return "every value has the same bits"
        if self.verdict == "empty":
            phrase = "none of them is finite in both" if self.points else "there are none"
            return f"{self.points} values, {phrase}: nothing was compared"
        if self.verdict == "broken":
            counted = f"{self.changed_nonfinite} of {self.points} values"
            return f"{counted} are finite in one and not in the other{self._first_change()}"
        calls = self._calls()
        if self.verdict in ("noise", "still"):
            holding = [phrase for phrase, good in calls if good]
            phrase = " and ".join(holding) if holding else "nothing was asked for"
            return phrase if self.verdict == "noise" else f"{self.standstill()}; {phrase}"
        missed = " and ".join(phrase for phrase, good in calls if not good)
        return f"{missed}{self._largest()}"

    def standstill(self) -> str:
        """The sentence on a variable that moves less than half as far as truth does, or not."""
        if self.change is None:
            return ""
        units = behind(self.units)
        moved, of_run = number(self.change.truth), number(self.change.run)
        if self.change.run > 0.0:
            share = f"{factor(100.0 * self.change.run / self.change.truth)} % as far"
            ends = f"by {of_run}{units}, and there by {moved}{units}"
            return f"{self.variable} moves {share} as in the truth: {ends}"
        in_truth = f"{self.variable} changes by {moved}{units} in the truth"
        return f"nothing moves: {in_truth}, and by {of_run}{units} here"

    def standing_phrase(self) -> str:
        """Why it has no share of change."""
        if self.change is None:
            return "it has no axis of time, nor values to begin with"
        units, change = behind(self.units), self.change
        moved = f"{number(change.truth)}{units}"
        if change.truth > BEYOND_NOISE * change.noise:
            before = f"{number(change.most)}{units}"
            return f"truth is {moved} from its start again, and was {before} before"
        error = f"{number(change.noise)}{units}"
        return f"truth changes by {moved}, which its own error of about {error} explains"

    def _calls(self) -> list[tuple[str, bool]]:
        """The tolerances in words, and whether each holds; of rtol and atol, the decisive one."""
        limits, errors = self.limits, self.errors
        units = behind(self.units)
        calls = []
        if not math.isnan(limits.rtol):
            relative = errors["relative_l2"] <= limits.rtol
            if not relative and errors["max_abs"] <= limits.atol:
                size = f"{number(errors['max_abs'])}{units}"
                calls.append((f"largest error {size} is within {number(limits.atol)}{units}", True))
            else:
                how = "is within" if relative else "is above"
                size = number(errors["relative_l2"])
                calls.append((f"relative l2 error {size} {how} {number(limits.rtol)}", relative))
        if not math.isnan(limits.max_ulp):
            close = errors["max_ulp"] <= limits.max_ulp
            how = "are within" if close else "are above"
            size = number(errors["max_ulp"])
            calls.append((f"errors of up to {size} ulps {how} {number(limits.max_ulp)}", close))
        return calls

    def _largest(self) -> str:
        """The place of the largest error, in words."""
        if self.statistics is None or not self.statistics.worst:
            return ""
        units = behind(self.units)
        worst = self.statistics.worst[0]
        at = f" at {place(worst)}" if worst["at"] else ""
        return f"; largest error {number(worst['error'])}{units}{at}"

    def _first_change(self) -> str:
        """The place of the first change of the pattern, in words."""
        if self.statistics is None or self.statistics.first_change is None:
            return ""
        return f", first at {place(self.statistics.first_change)}"


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The comparison of a run with its truth.

    Args:
        rows: one for each variable.
        tolerances: as given.
        growth: the laws of error growth fitted to the main variable, or None without steps.
        steps: of the run; 1 where it makes none.
        main: the variable that summaries show first; empty: by its name.
        notes: what was selected, renamed, left out and converted.
        missing: of two folders the files that only the truth has.
        unlike: a phrase for each variable that has another shape in the truth, and is not compared.
    """

    rows: tuple[ComparisonRow, ...]
    tolerances: Tolerances = field(default_factory=Tolerances)
    growth: ErrorGrowth | None = None
    steps: int = 1
    main: str = ""
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    @property
    def within(self) -> bool:
        """Whether no variable changed beyond the tolerance, none broke or has another shape, no
        file is missing, and something was compared.
        """
        if self.of_nothing or self.missing or self.unlike:
            return False
        return all(row.verdict in WITHIN for row in self.rows)

    @property
    def of_nothing(self) -> bool:
        """Whether no value of any variable is finite in both."""
        return bool(self.rows) and all(row.verdict == "empty" for row in self.rows)

    def row(self, variable: str) -> ComparisonRow:
        """The row of a variable.

        Raises:
            KeyError: the variable was not compared.
        """
        result = next((r for r in self.rows if r.variable == variable), None)
        if result is None:
            names = ", ".join(r.variable for r in self.rows)
            raise KeyError(f"no variable '{variable}' was compared; compared: {names}")
        return result

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, which can be judged again under other tolerances without the files.

        Numbers that are not finite become None.
        """
        return plain({
            "metrics_version": METRICS_VERSION,
            "within": self.within,
            "tolerances": vars(self.tolerances),
            "steps": self.steps,
            "main": self.main,
            "notes": list(self.notes),
            "missing": list(self.missing),
            "unlike": list(self.unlike),
            "growth": growth_as_dict(self.growth),
            "variables": [_row_as_dict(row) for row in self.rows],
        })  # fmt: skip

    def listing(self) -> Listing:
        """One line for each variable."""
        columns = shown_metrics(self.rows, SHOWN_METRICS)
        rows = [
            (
                row.variable, row.verdict, *(number(row.errors.get(m.name)) for m in columns),
                f"{row.nonfinite_golden} / {row.nonfinite_actual}",
            )
            for row in self.rows
        ]  # fmt: skip
        return Listing(
            ("variable", "verdict"),
            (*(m.title for m in columns), "not finite"),
            rows,
            droppable=tuple(metrics()[name].title for name in DROPPED_METRICS),
        )

    def sentences(self) -> tuple[str, ...]:
        """One for each variable that is not within bounds, or of which nothing was compared; one
        for each file that is missing; and what was done before comparing.
        """
        rows = [
            f"{row.variable} {row.verdict}: {row.reason()}"
            for row in self.rows
            if row.verdict in ("still", "changed", "broken", "empty")
        ]
        missing = [f"'{name}' is in the truth's folder only" for name in self.missing]
        return (*rows, *self.unlike, *missing, *self.notes)

    def _summary(self) -> Summary:
        beyond = sum(row.verdict not in WITHIN for row in self.rows)
        limited = self.tolerances != Tolerances()
        count = counted(len(self.rows), "variable")
        empty = sum(row.verdict == "empty" for row in self.rows)
        if self.of_nothing:
            text = f"{count}, nothing was compared"
        elif beyond or self.missing or self.unlike:
            text = f"{beyond} of {count} " + (
                "beyond the tolerances" if limited else "not the same"
            )
        else:
            of_some = f", {len(self.rows) - empty} of them compared" if empty else ""
            text = f"{count}{of_some}, all " + ("within the tolerances" if limited else "the same")
        if self.missing:
            text += f", {counted(len(self.missing), 'file')} missing"
        return Summary(f"comparison: {text}", self.listing(), self.sentences())


def compare(
    golden: Readable, actual: Readable, *, rtol: Limit = (), atol: Limit = (), max_ulp: Limit = (),
    select: Mapping[str, Places] | Iterable[str] = (),
    rename: Mapping[str, str] | Iterable[str] = (), ignore: str | Iterable[str] = (),
    coords_atol: float = 0.0, coords_rtol: float = 0.0,
) -> Comparison:  # fmt: skip
    """Compare a run with its truth.

    Args:
        golden, actual: datasets, arrays, or paths of netCDF, Zarr, .npy or .npz files; or two
            folders, whose files are compared by name.
        rtol: the largest relative l2 error that counts as noise: a number, `"0.1%"`, `"8u"`
            (multiples of the unit roundoff of the run's format), `"auto"` (what rounding leads to
            expect after the run's steps), or one of these by variable. Without tolerances only the
            same bits are the same, and zeros of either sign.
        atol: the largest error that counts as noise, in the variable's units; either is enough.
        max_ulp: the largest error in units in the last place; it has to hold, too.
        select: by axis what is compared: a value of it, several, a slice of values with both its
            ends, or a text as on the command line, as `{"time": "#-1"}` for the last place. An axis
            of which one value is selected is none any more.
        rename: names of variables and axes of the run, and what they are called in the truth.
        ignore: variables, or coordinates beside axes, that are not compared; of folders also files.
        coords_atol, coords_rtol: how far coordinates may be apart that count as the same, in the
            units of the truth's, and relative to them.

    Returns:
        A Comparison: one row of errors per variable in `rows`, and `within`: whether all of them
        are within the tolerances. Statistics are over the points that are finite in both. Values in
        other units are converted into the truth's, and a note says so. Of two folders variables are
        called "FILE: NAME", and `missing` are the files that the run has not.

    Raises:
        InputError: a file cannot be read, a tolerance or an adjustment is none, or the two are not
            on the same points.
    """
    tolerances = Tolerances.read(rtol=rtol, atol=atol, max_ulp=max_ulp)
    adjustments = Adjustments.read(
        select=select, rename=rename, ignore=ignore, coords_atol=coords_atol,
        coords_rtol=coords_rtol,
    )  # fmt: skip
    folders = two_folders(golden, actual)
    if folders is not None:
        return _compared_folders(*folders, tolerances, adjustments)
    return _compared(golden, actual, tolerances, adjustments)


def _compared(
    golden: Readable, actual: Readable, tolerances: Tolerances, adjustments: Adjustments,
    used: set[str] | None = None,
) -> Comparison:  # fmt: skip
    """The comparison of two files or objects.

    Args:
        used: gets the names that adjustments are about, where they need not be in these files.
    """
    with opened(golden) as truth, opened(actual) as run:
        if used is not None:
            adjustments = adjustments.about(truth, run)
            used |= adjustments.named
        run = adjustments.renamed(run)
        truth = with_axes_of(truth, run)
        run = with_axes_of(run, truth)
        truth, run, notes = adjustments.adjusted(
            truth, run, lambda *datasets: [*map(require_end, (golden, actual), datasets)]
        )
        notes += tuple(
            f"what is in the group '{name}' of the {which} is not compared"
            for source, which in ((golden, "truth"), (actual, "run"))
            for name in groups_of(source)
        )
        stated, steps = stated_tolerances(truth.attrs), steps_attribute(run.attrs)
        rows: tuple[ComparisonRow, ...] = ()
        for paired in pair(truth, run):
            rows += (_row(paired, stated),)
            notes += _packing_notes(paired)
        names = [row.variable for row in rows]
        primary = primary_name(names, truth.attrs) if names else ""
        unlike = tuple(shape_phrases(other_shapes(truth, run)))
        comparison = Comparison(rows, steps=steps, main=primary, notes=notes, unlike=unlike)
        comparison = judged(comparison, tolerances)
        main = main_row(comparison)
        if main.verdict in SETTLED:
            return comparison
        return replace(comparison, growth=error_growth(truth, run, main.variable))


def _compared_folders(
    golden: Path, actual: Path, tolerances: Tolerances, adjustments: Adjustments
) -> Comparison:
    """All files that two folders have, as one comparison.

    Raises:
        InputError: as `compare`, with the file; or they have no file in common.
    """
    both, missing, added = files_of_both(golden, actual)
    used = set(adjustments.ignore) & {*both, *missing, *added}
    both, missing, added = ([n for n in files if n not in used] for files in (both, missing, added))
    if not both:
        raise InputError(
            f"ignore names all files that are in both folders, {', '.join(sorted(used))}; leave "
            "one of them"
        )
    rows: list[ComparisonRow] = []
    notes = {f"'{name}' is not compared": None for name in sorted(used)}
    for name in both:
        try:
            comparison = _compared(golden / name, actual / name, Tolerances(), adjustments, used)
        except InputError as error:
            raise InputError(f"{name}: {error} (--ignore {name} leaves the file out)") from None
        named = (replace(row, variable=f"{name}{OF_FILE}{row.variable}") for row in comparison.rows)
        rows += [_judged_row(row, tolerances, comparison.steps) for row in named]
        notes |= dict.fromkeys(f"{name}: {note}" for note in comparison.notes)
    tolerances.check_names(row.variable for row in rows)
    if unknown := sorted(adjustments.named - used):
        raise InputError(
            f"select, rename or ignore names '{unknown[0]}', which no file has that is in both "
            f"folders; these have {', '.join(dict.fromkeys(row.variable for row in rows))}"
        )
    messages = [f"'{name}' is in the run's folder only" for name in added]
    return Comparison(tuple(rows), tolerances, notes=(*notes, *messages), missing=tuple(missing))


def judged(comparison: Comparison, tolerances: Tolerances) -> Comparison:
    """Judge a comparison under other tolerances.

    Raises:
        InputError: a tolerance names a variable that was not compared.
    """
    tolerances.check_names(row.variable for row in comparison.rows)
    rows = tuple(_judged_row(row, tolerances, comparison.steps) for row in comparison.rows)
    return replace(comparison, rows=rows, tolerances=tolerances)


def main_row(comparison: Comparison) -> ComparisonRow:
    """The row that summaries show first."""
    names = [row.variable for row in comparison.rows]
    return comparison.row(comparison.main or primary_name(names, {}))


def shown_metrics(rows: Iterable[ComparisonRow], names: Sequence[str]) -> list[Metric]:
    """The metrics that a table of rows shows: the share of change where something changes."""
    changing = any(not math.isnan(row.errors.get("share_of_change", math.nan)) for row in rows)
    return [metrics()[name] for name in names if changing or name != "share_of_change"]


def growth(golden: xr.Dataset, actual: xr.Dataset, variable: str) -> tuple[np.ndarray, np.ndarray]:
    """The relative l2 error of a variable at each time.

    Returns:
        Times as stored (nt,) and errors (nt,); NaN where nothing finite was left.
    """
    series = next(p for p in pair(golden, actual) if p.name == variable)
    return np.asarray(actual["time"].values, float), errors_along(series)


def error_at_end(golden: xr.Dataset, actual: xr.Dataset, tolerance: Mapping[str, Any]) -> float:
    """The error of a variable over time at the last stored time alone.

    Args:
        golden, actual: with the same times.
        tolerance: has variable, metric and at_most.
    """
    ends = (data.isel(time=[-1]) for data in (golden, actual))
    at_end = next(p for p in pair(*ends) if p.name == tolerance["variable"])
    return _errors(at_end, [tolerance])[tolerance["metric"]]


def _row(compared: VariablePair, stated: list[dict[str, Any]]) -> ComparisonRow:
    """Metrics and counts of one pair."""
    errors = _errors(compared, stated)
    verdict = (
        "broken" if compared.changed_nonfinite else "empty" if not compared.tally.finite
        else "identical" if compared.identical else "changed"
    )  # fmt: skip
    return ComparisonRow(
        compared.name, compared.units, compared.statistics.points, errors, *compared.nonfinite,
        compared.changed_nonfinite, verdict, number_format=compared.number_format,
        statistics=compared.statistics, change=compared.change,
    )  # fmt: skip


def _errors(compared: VariablePair, stated: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """All metrics of a pair; percentiles are exact where a stated tolerance is near."""
    errors = {name: m.compute(compared) for name, m in metrics().items()}
    for tolerance in stated:
        if tolerance["variable"] == compared.name:
            name = tolerance["metric"]
            exact = refined(name, compared, tolerance["at_most"])
            errors[name] = errors[name] if exact is None else exact
    return errors


def _judged_row(row: ComparisonRow, tolerances: Tolerances, steps: int) -> ComparisonRow:
    """A row under other tolerances."""
    limits = tolerances.limits(row.variable, row.number_format, steps)
    verdict = row.verdict
    if verdict not in SETTLED:
        verdict = limits.verdict(row.errors, changed_nonfinite=row.changed_nonfinite)
        still = row.change is not None and row.change.is_still
        verdict = "still" if still and verdict in WITHIN else verdict
    return replace(row, limits=limits, verdict=verdict)


def _row_as_dict(row: ComparisonRow) -> dict[str, Any]:
    """A row as plain data."""
    nested = {name: vars(getattr(row, name)) if getattr(row, name) is not None else None
              for name in ("limits", "number_format", "statistics", "change")}  # fmt: skip
    return vars(row) | nested


def _packing_notes(both: VariablePair) -> tuple[str, ...]:
    """Sentences on the largest error against the steps in which a file packs a variable, and on
    numbers that wrapped around there: one for each packing.
    """
    error, unit = both.statistics.absolute["max"], behind(both.units)
    files: dict[Packing, list[str]] = {}
    for packing, which in zip(both.packing, ("truth", "run"), strict=True):
        if packing is not None:
            files.setdefault(packing, []).append(which)
    sentences = []
    for packing, sides in files.items():
        phrase = (
            f"'{both.name}' is packed in the {' and '.join(sides)} as {packing.dtype}, in steps of "
            f"{number(packing.step)}{unit}; the largest error is "
            f"{number(error / packing.step)} steps"
        )
        least, largest = (f"{end:.6g}" for end in packing.ends)
        if packing.wrapped(error):
            phrase += (
                f", whole turns of {packing.dtype}: values beyond what it holds ({least} to "
                f"{largest}{unit}) wrapped around when the file was written"
            )
        sentences.append(phrase)
    return tuple(sentences)
