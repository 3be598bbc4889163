"""Why a variable counts as identical, noise, changed or broken: one sentence each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sciprec.results.comparison.pointwise.change import BEYOND_NOISE
from sciprec.results.comparison.wording import number

if TYPE_CHECKING:
    from sciprec.results.comparison.pointwise.packing import Packing
    from sciprec.results.comparison.pointwise.pairing import Pair
    from sciprec.results.comparison.rows import Row


def reason(row: Row) -> str:
    """The sentence of a row, with the numbers that decided."""
    if row.severity == "identical":
        return "every value has the same bits"
    if row.severity == "empty":
        phrase = "none of them is finite in both" if row.points else "there are none"
        return f"{row.points} values, {phrase}: nothing was compared"
    if row.severity == "broken":
        counted = f"{row.changed_nonfinite} of {row.points} values"
        return f"{counted} are finite in one and not in the other{_first_change(row)}"
    calls = _calls(row)
    if row.severity in ("noise", "still"):
        holding = [phrase for phrase, good in calls if good]
        phrase = " and ".join(holding) if holding else "nothing was asked for"
        return phrase if row.severity == "noise" else f"{standstill(row)}; {phrase}"
    missed = " and ".join(phrase for phrase, good in calls if not good)
    return f"{missed}{_largest(row)}"


def standstill(row: Row) -> str:
    """The sentence on a variable that stands still where truth moves."""
    units, change = _unit(row.units), row.change
    moved, own = number(change.truth), number(change.run)
    there = f"{row.variable} changes by {moved}{units} in the truth"
    return f"nothing moves: {there}, and by {own}{units} here"


def standing_phrase(row: Row) -> str:
    """Why a variable has no share of change."""
    if row.change is None:
        return "it has no axis of time, nor values to begin with"
    units, change = _unit(row.units), row.change
    moved = f"{number(change.truth)}{units}"
    if change.truth > BEYOND_NOISE * change.noise:
        return f"truth is {moved} from its start again, and was {number(change.most)}{units} before"
    error = f"{number(change.noise)}{units}"
    return f"truth changes by {moved}, which its own error of about {error} explains"


def packing_notes(one: Pair) -> tuple[str, ...]:
    """Sentences on the largest error against the steps in which a file packs a variable, and on
    numbers that wrapped around there: one for each packing.
    """
    error, unit = one.statistics.absolute["max"], _unit(one.units)
    files: dict[Packing, list[str]] = {}
    for packing, which in zip(one.packing, ("first", "second"), strict=True):
        if packing is not None:
            files.setdefault(packing, []).append(which)
    sentences = []
    for packing, which in files.items():
        phrase = (
            f"'{one.name}' is packed in the {' and '.join(which)} as {packing.dtype}, in steps of "
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


def place(where: dict[str, Any]) -> str:
    """A place in words: "time 2, lat -45.5"."""
    return ", ".join(
        f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in where["at"].items()
    )


def _calls(row: Row) -> list[tuple[str, bool]]:
    """The tolerances in words, and whether each holds; of rtol and atol, the one that decides."""
    limits, errors = row.limits, row.errors
    units = _unit(row.units)
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


def _unit(units: str) -> str:
    """Units behind a number."""
    return "" if units in ("", "1") else f" {units}"


def _largest(row: Row) -> str:
    """The place of the largest error, in words."""
    if row.statistics is None or not row.statistics.worst:
        return ""
    units = _unit(row.units)
    worst = row.statistics.worst[0]
    at = f" at {place(worst)}" if worst["at"] else ""
    return f"; largest error {number(worst['error'])}{units}{at}"


def _first_change(row: Row) -> str:
    """The place of the first change of the pattern, in words."""
    if row.statistics is None or row.statistics.first_change is None:
        return ""
    return f", first at {place(row.statistics.first_change)}"
