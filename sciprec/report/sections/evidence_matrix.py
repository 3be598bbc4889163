"""Measurements beside the pointwise errors, a row for each arithmetic and a column for each
question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.evidence.consistency import TOO_FEW
from sciprec.results.comparison.wording import factor, number

NOTHING = "–"


def evidence_matrix(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """The short answers of all runs of a scenario as plain data.

    Returns:
        `heads` of the columns in which some run has an answer, and `rows`: label and cells.
    """
    rows = [
        (run.label, {head: cell(run.evidence.get(part) or {}) for head, part, cell in _COLUMNS})
        for run in runs
        if run.evidence is not None
    ]
    heads = [head for head, *_ in _COLUMNS if any(cells[head] != NOTHING for _, cells in rows)]
    return {"heads": heads, "rows": [(label, [cells[h] for h in heads]) for label, cells in rows]}


def _share(part: Mapping[str, Any]) -> str:
    """The error as a share of the internal variability: "4.5 %"."""
    share = part.get("share")
    return NOTHING if share is None or not part.get("applies") else f"{factor(100.0 * share)} %"


def _hours(part: Mapping[str, Any]) -> str:
    """Hours of predictability lost."""
    lost = part.get("lost_hours")
    if lost is None or not part.get("applies"):
        return NOTHING
    return "< 0.1" if lost < 0.1 else number(lost)


def _answer(part: Mapping[str, Any]) -> str:
    """The answer of a test: yes or no."""
    answer = part.get("answer", TOO_FEW)
    return NOTHING if answer == TOO_FEW else answer


def _spectrum(part: Mapping[str, Any]) -> str:
    """The wavenumber from which the spectrum departs, in words."""
    if not part:
        return NOTHING
    return "none" if part["departs_at"] is None else f"from {part['departs_at']}"


def _numbered(key: str) -> Callable[[Mapping[str, Any]], str]:
    """A number of a part."""
    return lambda part: number(part.get(key))


def _arbitrage(part: Mapping[str, Any]) -> str:
    """The number of inequalities that rounding breaks, in words."""
    return NOTHING if not part else str(len(part["caused"]) or "none")


def _beside(part: Mapping[str, Any]) -> str:
    """The rounding error beside the largest other one: "÷ 2,200", "× 65"."""
    below = part.get("below_by")
    if below is None or math.isnan(below):
        return NOTHING
    if below >= 1.0:
        return f"÷ {factor(below)}"
    return f"× {factor(1.0 / below)}" if below > 0.0 else "far above"


_COLUMNS: tuple[tuple[str, str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("of the internal variability", "variability", _share),
    ("hours of predictability lost", "variability", _hours),
    ("ensemble like that of fp64", "consistency", _answer),
    ("distributions like those of fp64", "distributions", _answer),
    ("departure of the spectrum, wavenumber", "spectrum", _spectrum),
    ("relative error of the wind", "scales", _numbered("whole")),
    ("basis points of spot", "prices", _numbered("basis_points_of_spot")),
    ("of implied volatility", "prices", _numbered("basis_points_of_volatility")),
    ("static arbitrage caused", "arbitrage", _arbitrage),
    ("rounding against the largest other error", "budget", _beside),
)
"""Head of a column, part of the evidence, and the function that writes its cell."""
