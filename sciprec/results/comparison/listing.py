"""A comparison in words: a line per variable, and why one of them is not within its bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sciprec.foundation.listing import Listing, Summary, counted
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.comparison.reasons import reason
from sciprec.results.comparison.tolerances import WITHIN, Tolerances
from sciprec.results.comparison.wording import number

if TYPE_CHECKING:
    from sciprec.results.comparison.rows import Comparison

SHOWN_METRICS = ("max_abs", "rms", "bias", "relative_l2", "p99_relative", "max_ulp",
                 "decimal_digits")  # fmt: skip
DROPPED_METRICS = ("p99_relative", "bias", "rms", "max_ulp", "max_abs", "decimal_digits")
"""Metrics that are left out where a line is too long, the first one first."""


def listing(comparison: Comparison) -> Listing:
    """One line per variable."""
    known = metrics()
    shown = [known[name] for name in SHOWN_METRICS]
    rows = [
        (
            row.variable, row.severity, *(number(row.errors.get(m.name)) for m in shown),
            f"{row.nonfinite_golden} / {row.nonfinite_actual}",
        )
        for row in comparison.rows
    ]  # fmt: skip
    return Listing(
        ("variable", "result"),
        (*(m.title for m in shown), "not finite"),
        rows,
        droppable=tuple(known[name].title for name in DROPPED_METRICS),
    )


def sentences(comparison: Comparison) -> tuple[str, ...]:
    """One for each variable that is not within bounds, or of which nothing was compared; one for
    each file that is missing; and what was done before comparing.
    """
    said = [
        f"{row.variable} {row.severity}: {reason(row)}"
        for row in comparison.rows
        if row.severity in ("changed", "broken", "empty")
    ]
    missing = [f"'{name}' is in the first folder only" for name in comparison.missing]
    return (*said, *comparison.unlike, *missing, *comparison.notes)


def summary(comparison: Comparison) -> Summary:
    """The display of a comparison at a prompt and in a notebook."""
    beyond = sum(row.severity not in WITHIN for row in comparison.rows)
    asked = comparison.tolerances != Tolerances()
    count = counted(len(comparison.rows), "variable")
    empty = sum(row.severity == "empty" for row in comparison.rows)
    if comparison.of_nothing:
        said = f"{count}, nothing was compared"
    elif beyond or comparison.missing or comparison.unlike:
        said = f"{beyond} of {count} " + ("beyond the tolerances" if asked else "not the same")
    else:
        of_some = f", {len(comparison.rows) - empty} of them compared" if empty else ""
        said = f"{count}{of_some}, all " + ("within the tolerances" if asked else "the same")
    if comparison.missing:
        said += f", {counted(len(comparison.missing), 'file')} missing"
    return Summary(f"comparison: {said}", listing(comparison), sentences(comparison))
