"""The page of a batch: one self-contained HTML file, made from stored files only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sciprec.cost.peak_rates import MACHINES
from sciprec.drawing.templating import page_script, page_style, template
from sciprec.facets.compensation.section import drift_rows
from sciprec.facets.stages.section import stage_words
from sciprec.foundation.memory import PEAK_MEMORY
from sciprec.precision.formats.backend import TRUTH
from sciprec.report.section import scenario_part
from sciprec.report.sections.fixed_point import idle_roles_of, summary_of
from sciprec.report.sections.tradeoff import (
    drift_columns,
    measured_cost,
    trade_off_picture,
    trade_offs,
)
from sciprec.report.stored.batch import StoredBatch, StoredMember, StoredRun, write_text
from sciprec.report.stored.shown import main_error
from sciprec.results.comparison.evidence.error_growth import growth_as_dict
from sciprec.results.comparison.wording import factor
from sciprec.results.output.folders import PAGE, require_own_page
from sciprec.results.output.stated import STORED_STATE

STATUS_WORDS = {
    "truth": "truth",
    "identical": "identical",
    "good": "good enough",
    "unjudged": "not judged",
    "doubtful": "fp64 itself is not known so well",
    "still": "nothing moves",
    "beyond": "not good enough",
    "broken": "broke down",
    "failed": "failed",
}


def write_page(batch: StoredBatch) -> Path:
    """Write the page of a stored batch, as `read_batch` has read it, beside its files.

    Raises:
        InputError: it cannot be written, or another one, not sciprec's, is there.
    """
    require_own_page(batch.folder)
    return write_text(batch.folder / PAGE, render(batch))


def render(batch: StoredBatch, *, links: bool = True) -> str:
    """The page as text; the same batch gives the same bytes.

    Args:
        batch: as stored.
        links: whether the page links to the files of the batch.
    """
    costs = trade_offs(batch)
    return template("page.html").render(
        style=page_style(),
        script=page_script(),
        trade_offs=costs,
        trade_off_picture=trade_off_picture(costs, batch.labels),
        drifts=drift_columns(batch),
        many_scenarios=len(batch.scenarios) > 1,
        machines=list(MACHINES.values()),
        title=_title(batch),
        cards=[_card(batch, name) for name in batch.labels if name != TRUTH],
        rows=[row if links else row | {"file": None} for row in table(batch)],
        sections=[scenario_part(batch, i, name) for i, name in enumerate(batch.scenarios)],
        status_words=STATUS_WORDS,
        made_by=batch.made_by,
        memory=_most_memory(batch),
        command=batch.command,
        digest=batch.digest,
        formats=_formats(batch),
    )


def table(batch: StoredBatch) -> list[dict[str, Any]]:
    """One row per run as plain data: its main variable's errors and their growth, counts, verdict,
    cost, drift of budgets, and what fixed point did.
    """
    rows = []
    drift = {(s, r["label"]): r for s in batch.scenarios for r in drift_rows(batch.of_scenario(s))}
    for run in batch.runs:
        row: dict[str, Any] = {
            "scenario": run.scenario,
            **run.variant.as_dict(),
            "member": run.member,
            "status": run.verdict.status,
            "reason": run.verdict.short,
            "file": run.file if run.dataset is not None else None,
            "seconds": run.processor_time.seconds if run.processor_time else None,
            "variable": None, "units": None, "nonfinite": None, "errors": {},
            "growth": None, "drift": drift.get((run.scenario, run.label)),
            "fixed_point": summary_of(run),
            "idle_roles": idle_roles_of(run),
        }  # fmt: skip
        if run.comparison is not None:
            main = main_error(run)
            row |= {
                "variable": main.variable,
                "units": "" if main.units == "1" else main.units,
                "nonfinite": main.nonfinite,
                "growth": growth_as_dict(run.comparison.growth),
                "errors": {k: v if math.isfinite(v) else None for k, v in main.errors.items()},
            }
        rows.append(row)
    return rows + [_failed_member(member) for member in batch.further if member.failure]


def _failed_member(member: StoredMember) -> dict[str, Any]:
    """The row of a failed member of an ensemble; members that succeeded have none."""
    return {
        "scenario": member.scenario, **member.variant.as_dict(), "member": member.member,
        "status": "failed", "reason": f"member {member.member}: {member.failure}", "file": None,
        "seconds": None, "variable": None, "units": None, "nonfinite": None, "errors": {},
        "growth": None, "drift": None, "fixed_point": None, "idle_roles": None,
    }  # fmt: skip


def _most_memory(batch: StoredBatch) -> float | None:
    """Megabytes of the largest process of a run of the batch; None where no file says so."""
    peaks = [run.dataset.attrs.get(PEAK_MEMORY) for run in batch.runs if run.dataset is not None]
    return max((float(peak) / 1e6 for peak in peaks if peak is not None), default=None)


def _title(batch: StoredBatch) -> str:
    """The title of the page: how many scenarios, in how many arithmetics."""
    scenarios, arithmetics = len(batch.scenarios), len(batch.labels) - 1
    return (
        f"{scenarios} {'scenario' if scenarios == 1 else 'scenarios'} in "
        f"{arithmetics} {'arithmetic' if arithmetics == 1 else 'arithmetics'}, against fp64"
    )


def _card(batch: StoredBatch, label: str) -> dict[str, str]:
    """An arithmetic's sentence: the verdict over all scenarios and the closest call."""
    runs = batch.of_label(label)
    order = ("failed", "broken", "beyond", "still", "doubtful", "good", "unjudged", "identical")
    worst = min(runs, key=lambda r: (order.index(r.verdict.status), -_sortable(r.verdict.margin)))
    status = worst.verdict.status
    bad = [run for run in runs if not run.verdict.acceptable]
    alone = worst.scenario if len(batch.scenarios) > 1 else "the scenario"
    if status == "identical":
        lead = "gives the same bits as fp64 everywhere"
    elif status == "unjudged":
        lead = "is not judged, because the scenarios state no tolerance"
    elif status == "doubtful":
        lead = "is not judged, because fp64 itself is not known so well"
    elif bad:
        lead = f"{STATUS_WORDS[status]} in {_counted(len(bad), len(runs), alone)}"
        if status == "beyond":
            lead = f"is {lead}"
    else:
        lead = f"is good enough in {_counted(len(runs), len(runs), alone)}"
    where = f". In {worst.scenario}, " if len(runs) > 1 else ": "
    return {
        "label": label,
        "status": status,
        "lead": lead,
        "reason": f"{where}{worst.verdict.short}.",
        "cost": _cost(batch, runs),
        "about": _about(runs),
    }


def _counted(some: int, every: int, alone: str) -> str:
    """ "2 of 3 scenarios", "all 3 scenarios", "both scenarios", or what the only one is called."""
    if every == 1:
        return alone
    if some == every == 2:
        return "both scenarios"
    return f"all {every} scenarios" if some == every else f"{some} of {every} scenarios"


def _sortable(margin: float) -> float:
    """A margin that orders; no margin comes first."""
    return -1.0 if math.isnan(margin) else margin


def _cost(batch: StoredBatch, runs: Iterable[StoredRun]) -> str:
    """Processor time against that of the truth, where it is another for sure."""
    cost = measured_cost(batch, list(runs))
    if cost is None or not cost.told_from_truth:
        return ""
    low, high = factor(cost.low), factor(cost.high)
    return f"{factor(cost.value)} ({low} to {high}) × the processor time of fp64 here"


def _about(runs: Iterable[StoredRun]) -> str:
    """The backend's own line, and the arithmetics of the transforms' stages, from a stored file."""
    for run in runs:
        if run.dataset is not None:
            about = json.loads(run.dataset.attrs["sciprec_backend_properties"]).get("about", "")
            state_words = run.dataset.attrs.get(STORED_STATE, "")
            return ", ".join(part for part in (about, state_words, stage_words(run)) if part)
    return ""


def _formats(batch: StoredBatch) -> list[dict[str, Any]]:
    """The arithmetic of each backend's operators, from stored files."""
    formats = []
    for name in dict.fromkeys(run.backend for run in batch.runs):
        datasets = [r.dataset for r in batch.runs if r.backend == name and r.dataset is not None]
        for stored in datasets[:1]:
            properties = json.loads(stored.attrs["sciprec_backend_properties"])
            by_place = "assignment" in properties
            formats.append({"name": name, "by_place": by_place, **properties["compute"]})
    return formats
