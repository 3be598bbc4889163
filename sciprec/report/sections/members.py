"""Members that differ in their inputs: how far each is from its tolerances, in each arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sciprec.report.stored.batch import StoredRun

MOST_ROWS = 50


def members_section(runs: Sequence[StoredRun]) -> dict[str, Any] | None:
    """A row for each member, a column for each arithmetic; None where members do not differ so.

    Args:
        runs: of the scenario.
    """
    judged = {run.label: {n: v for n, _, v in run.judged} for run in runs if run.judged}
    if not judged:
        return None
    origins = {number: origin for run in runs for number, origin, _ in run.judged}
    rows = [
        {
            "number": number,
            "origin": origin,
            "verdicts": [of.get(number) for of in judged.values()],
        }
        for number, origin in sorted(origins.items())
    ]
    return {
        "labels": list(judged), "rows": rows[:MOST_ROWS], "left_out": len(rows[MOST_ROWS:]),
    }  # fmt: skip
