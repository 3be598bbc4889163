"""The section of runs whose places have scales, from their files."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from sciprec.report.stored.batch import StoredRun
from sciprec.results.comparison.rows import growth
from sciprec.results.comparison.verdicts import main_row
from sciprec.results.output.stated import SCALED

_SHOWN_CHANGES = 12
_SAME = 1.25
"""Errors that are closer than by this factor are called the same."""


def scaled_section(runs: Sequence[StoredRun]) -> dict[str, Any] | None:
    """Scales of runs, what they gain, and how much depends on them, as plain data.

    Args:
        runs: those of one scenario.

    Returns:
        None where no run has scales; else `rows`, one for each run with scales or without them in
        the same arithmetic (label, factor, small, error at the end, or what became of the run,
        repeated and doubled), `gains`, sentences, and `runs`: label, `stages` and `history`.
    """
    told = {run.label: _scaling(run) for run in runs}
    if not any(told.values()):
        return None
    truth = next((run for run in runs if run.is_truth), None)
    arithmetics = {said["arithmetic"] for said in told.values() if said}
    shown = [run for run in runs if told[run.label] or run.backend in arithmetics]
    rows = [_row(run, told[run.label], truth) for run in shown]
    return {
        "rows": rows,
        "gains": [said for row in rows if (said := _gain(row, rows))],
        "runs": [_places(run.label, said) for run in runs if (said := told[run.label])],
        "variable": next((row["variable"] for row in rows if row["variable"]), ""),
    }


def _scaling(run: StoredRun) -> dict[str, Any] | None:
    text = None if run.dataset is None else run.dataset.attrs.get(SCALED)
    return None if text is None else json.loads(text)


def _row(run: StoredRun, said: dict[str, Any] | None, truth: StoredRun | None) -> dict[str, Any]:
    """A run's scales and its error."""
    error, variable = None, ""
    if run.comparison is not None and truth is not None and truth.dataset is not None:
        variable = main_row(run.comparison).variable
        found = float(growth(truth.dataset, run.dataset, variable)[1][-1])
        error = found if math.isfinite(found) else None
    said = said or {}
    return {
        "label": run.label, "compensation": run.compensation, "variable": variable,
        "arithmetic": said.get("arithmetic", run.backend), "mode": said.get("mode", "none"),
        "factor": f"2^{said.get('times', 0)}" if said else "–",
        "small": said.get("small", "clipped"), "error": error,
        "usual": said.get("times", 0) == 0 and said.get("small", "clipped") == "clipped",
        "repeated": said.get("repeated"), "doubled": said.get("doubled"),
    }  # fmt: skip


def _gain(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> str:
    """The gain by scales, in words; empty for a run that has none, or other than the usual ones."""
    if row["mode"] == "none" or not row["usual"]:
        return ""
    same = ("arithmetic", "compensation")
    without = [r for r in rows if r["mode"] == "none" and all(r[k] == row[k] for k in same)]
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
    more, less = ("smaller", before / after) if after < before else ("larger", after / before)
    return f"{name} make the error {less:.2g} times {more}: {after:.2g}, and {before:.2g} without"


def _places(label: str, said: dict[str, Any]) -> dict[str, Any]:
    """The scales of a run's stages, and what has changed them."""
    stages = [
        {
            "stage": row["stage"], "sites": row["sites"],
            "scales": f"2^{row['least']}" + (
                f" to 2^{row['greatest']}" if row["greatest"] != row["least"] else ""
            ),
            "by_hand": row["stage"] in said["by_hand"],
            "subnormal": _share(row["subnormal"], row["numbers"]),
            "zero": _share(row["zero"], row["numbers"]),
        }
        for row in said["stages"]
    ]  # fmt: skip
    history = [
        f"after step {step}: {sites} {'doubled' if change > 0 else 'halved'}"
        for step, change, sites in said["history"][:_SHOWN_CHANGES]
    ]
    changes = said["repeated"] + said["doubled"]
    return {
        "label": label, "stages": stages, "history": history, "more": changes - len(history),
        "by_hand": [f"{name} 2^{k}" for name, k in said["by_hand"].items()],
        "days": said["profile_days"], "headroom": said["headroom"],
    }  # fmt: skip


def _share(count: int, numbers: int) -> str:
    return f"{count / numbers:.2%}" if numbers else "–"
