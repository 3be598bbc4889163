"""A batch in words: a line per run, at a prompt, in a notebook and on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sciprec.foundation.listing import Listing, Summary, counted
from sciprec.results.comparison.wording import digits, duration, number

if TYPE_CHECKING:
    from sciprec.workbench.batch.workflow import BatchResult


def runs_listing(table: Sequence[dict[str, Any]]) -> Listing:
    """One line per run.

    Args:
        table: of a BatchResult.
    """
    rows = []
    for row in table:
        errors = row["errors"] if row["status"] != "truth" else {}
        largest = number(errors.get("max_abs")) + (f" {row['units']}" if errors else "")
        rows.append((
            row["scenario"],
            row["label"],
            row["status"],
            row["variable"] or "–",
            largest.strip(),
            number(errors.get("relative_l2")),
            digits(errors.get("decimal_digits")),
            "–" if row["nonfinite"] is None else str(row["nonfinite"]),
            duration(row["seconds"]),
        ))  # fmt: skip
    return Listing(
        ("scenario", "arithmetic", "verdict", "variable"),
        ("largest error", "relative l2", "digits", "not finite", "time"),
        rows,
        droppable=("not finite", "time", "variable", "largest error", "digits"),
    )


def summary(result: BatchResult) -> Summary:
    """The display of a batch at a prompt and in a notebook."""
    said = [counted(len(result.table), "run")]
    if result.failures:
        said.append(f"{len(result.failures)} failed")
    if result.beyond:
        said.append(f"{len(result.beyond)} beyond a tolerance")
    failed = [f"{one.label} in {one.scenario} failed: {one.failure}" for one in result.failures]
    return Summary(
        f"batch in {result.folder}: {', '.join(said)}",
        runs_listing(result.table),
        (*failed, *result.notes),
        result.page,
    )
