"""The section of runs whose places have scales, from their files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sciprec.facets.scaling.attributes import SCALES
from sciprec.facets.sections import PageSection, SectionRun
from sciprec.results.comparison.rows import growth
from sciprec.results.comparison.verdicts import main_row

_SHOWN_CHANGES = 12
_SAME = 1.25
"""Errors that are closer than by this factor are called the same."""


def scaled_section(runs: Sequence[SectionRun]) -> dict[str, Any] | None:
    """Scales of runs, their gain, and counts of the places that depend on them, as plain data.

    Args:
        runs: those of one scenario.

    Returns:
        None where no run has scales; else `rows`, one for each run with scales or without them in
        the same arithmetic (label, factor, small, error at the end, or what became of the run,
        repeated and doubled), `gains`, sentences, and `runs`: label, `stages` and `history`.
    """
    scalings = {run.label: SCALES.read(run.dataset) for run in runs}
    if not any(scalings.values()):
        return None
    truth = next((run for run in runs if run.is_truth), None)
    arithmetics = {scaling["arithmetic"] for scaling in scalings.values() if scaling}
    relevant = [run for run in runs if scalings[run.label] or run.backend in arithmetics]
    rows = [_row(run, scalings[run.label], truth) for run in relevant]
    return {
        "rows": rows,
        "gains": [gain_words for row in rows if (gain_words := _gain(row, rows))],
        "runs": [
            _places(run.label, gain_words) for run in runs if (gain_words := scalings[run.label])
        ],
        "variable": next((row["variable"] for row in rows if row["variable"]), ""),
    }


def _row(
    run: SectionRun, scaling: dict[str, Any] | None, truth: SectionRun | None
) -> dict[str, Any]:
    """A run's scales and its error."""
    error, variable = None, ""
    if run.comparison is not None and truth is not None and truth.dataset is not None:
        variable = main_row(run.comparison).variable
        last_error = float(growth(truth.dataset, run.dataset, variable)[1][-1])
        error = last_error if math.isfinite(last_error) else None
    scaling = scaling or {}
    return {
        "label": run.label, "compensation": run.compensation, "variable": variable,
        "arithmetic": scaling.get("arithmetic", run.backend), "mode": scaling.get("mode", "none"),
        "factor": f"2^{scaling.get('times', 0)}" if scaling else "–",
        "small": scaling.get("small", "clipped"), "error": error,
        "usual": scaling.get("times", 0) == 0 and scaling.get("small", "clipped") == "clipped",
        "repeated": scaling.get("repeated"), "doubled": scaling.get("doubled"),
    }  # fmt: skip


def _gain(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """The gain by scales, in words; empty for a run that has none, or other than the usual ones."""
    if row["mode"] == "none" or not row["usual"]:
        return ""
    keys = ("arithmetic", "compensation")
    without = [r for r in rows if r["mode"] == "none" and all(r[k] == row[k] for k in keys)]
    if not without:
        return ""
    before, after = without[0]["error"], row["error"]
    name = f"{row['label']}: {row['mode']} scales"
    if after is None:
        return f"{name} do not carry the run to its end"
    if before is None:
        return f"{name} carry a run to its end, error {after:.2g}, which stops without them"
    if max(before, after) < _SAME * min(before, after):
        return f"{name} gain nothing: error {after:.2g}, and {before:.2g} without them"
    way, ratio = (
        ("smaller", before / after) if after < before else ("larger", after / before)
    )
    return f"{name} make the error {ratio:.2g} times {way}: {after:.2g}, and {before:.2g} without"


def _places(label: str, scaling: dict[str, Any]) -> dict[str, Any]:
    """The scales of a run's stages, and the changes of these."""
    stages = [
        {
            "stage": row["stage"], "sites": row["sites"],
            "scales": f"2^{row['least']}" + (
                f" to 2^{row['greatest']}" if row["greatest"] != row["least"] else ""
            ),
            "by_hand": row["stage"] in scaling["by_hand"],
            "subnormal": _share(row["subnormal"], row["numbers"]),
            "zero": _share(row["zero"], row["numbers"]),
        }
        for row in scaling["stages"]
    ]  # fmt: skip
    history = [
        f"after step {step}: {sites} {'doubled' if change > 0 else 'halved'}"
        for step, change, sites in scaling["history"][:_SHOWN_CHANGES]
    ]
    changes = scaling["repeated"] + scaling["doubled"]
    return {
        "label": label, "stages": stages, "history": history, "more": changes - len(history),
        "by_hand": [f"{name} 2^{k}" for name, k in scaling["by_hand"].items()],
        "days": scaling["profile_days"], "headroom": scaling["headroom"],
    }  # fmt: skip


def _share(count: int, numbers: int) -> str:
    return f"{count / numbers:.2%}" if numbers else "–"


SECTION = PageSection(
    "scaled", lambda of: scaled_section(of.runs), file="facets/scaling/section.html"
)
