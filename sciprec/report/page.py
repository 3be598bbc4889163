"""The page of a batch: one self-contained HTML file, made from stored files only."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sciprec.drawing.templating import page_script, page_style, template
from sciprec.facets.compensation.section import drift_rows
from sciprec.foundation import targets
from sciprec.foundation.arguments import path as checked_path
from sciprec.precision.formats.rounding_rules import ROUNDINGS
from sciprec.report.drawing_ahead import draw_ahead
from sciprec.report.first_screen import first_screen
from sciprec.report.kept import key_of
from sciprec.report.section import scenario_part
from sciprec.report.sections.fixed_point import idle_roles_of, summary_of
from sciprec.report.stored.batch import StoredBatch, StoredMember, write_text
from sciprec.report.stored.shown import main_error
from sciprec.results.comparison.evidence.error_growth import growth_as_dict
from sciprec.results.comparison.verdicts import STATUS_WORDS
from sciprec.results.output.folders import PAGE, pages_of, require_own, require_own_page
from sciprec.results.output.kept_values import make_room, recalled_or_computed


def write_page(batch: StoredBatch) -> Path:
    """Write the page of a stored batch, as `read_batch` has read it, beside its files: of many
    scenarios an index, and a page of each.

    Raises:
        InputError: it cannot be written, or another one, not sciprec's, is there.
    """
    require_own_page(batch.folder)
    pages = pages_of(batch.scenarios)
    for name in pages.values():
        require_own(batch.folder / name, targets.PAGE)
    draw_ahead(batch, pages)
    for scenario, name in pages.items():
        write_text(batch.folder / name, render(batch.only(scenario), keep=True, pages=pages))
    page = write_text(batch.folder / PAGE, render(batch, keep=True, pages=pages))
    for path in batch.folder.glob("scenario_*.html"):
        if path.name not in pages.values() and not targets.in_the_way(path, targets.PAGE):
            with contextlib.suppress(OSError):
                path.unlink()
    make_room()
    return page


def write_alone(batch: StoredBatch, path: str | Path) -> Path:
    """Write the page of a stored batch to a file of its own, all scenarios in it and without links
    to the files of the batch.

    Raises:
        InputError: it cannot be written, or what is there is no page of sciprec.
    """
    free = targets.require_free(checked_path("the page", path), targets.PAGE)
    return targets.write(free, render(batch, links=False, keep=True), targets.PAGE)


def render(
    batch: StoredBatch, *, links: bool = True, keep: bool = False, pages: Mapping[str, str] = {},
) -> str:  # fmt: skip
    """The page as text; the same batch gives the same bytes.

    Args:
        batch: as stored.
        links: whether the page links to the files of the batch.
        keep: whether its parts are kept for later pages, and those that were kept are used.
        pages: scenario -> its page, where the batch has an index: of several scenarios the index
            is made, of one its page.
    """
    is_index = len(batch.scenarios) > 1 and bool(pages)
    runs = [] if is_index else table(batch, keep=keep)
    return template("page.html").render(
        style=page_style(),
        script=page_script(),
        **first_screen(batch),
        links=links,
        sections=[
            scenario_part(batch, place, name, keep=keep)
            | {"runs": [r for r in runs if r["scenario"] == name]}
            for place, name in enumerate(() if is_index else batch.scenarios)
        ],
        pages=pages,
        is_index=is_index,
        status_words=STATUS_WORDS,
        roundings={rule.name: rule.words for rule in ROUNDINGS.values()},
        made_by=batch.made_by,
        command=batch.command,
        digest=batch.digest,
        formats=[
            {"name": run.backend, "by_place": "assignment" in run.arithmetic}
            | run.arithmetic["compute"]
            for run in {run.backend: run for run in batch.runs if run.arithmetic}.values()
        ],
    )


def table(batch: StoredBatch, *, keep: bool = False) -> list[dict[str, Any]]:
    """One row per run as plain data: its main variable's errors and their growth, counts, verdict,
    cost, drift of budgets, and what fixed point did.

    Args:
        batch: as stored.
        keep: as in `render`.
    """
    rows: dict[str, Iterator[dict[str, Any]]] = {}
    for scenario in batch.scenarios:
        key = key_of(batch, scenario, "", ["table"]) if keep else ""
        rows[scenario] = iter(recalled_or_computed("page", key, partial(_rows_of, batch, scenario)))
    failed = [_failed_member(member) for member in batch.further if member.failure]
    return [next(rows[run.scenario]) for run in batch.runs] + failed


def _rows_of(batch: StoredBatch, scenario: str) -> list[dict[str, Any]]:
    """The rows of a scenario's runs in the table."""
    rows, runs = [], batch.of_scenario(scenario)
    drift = {row["label"]: row for row in drift_rows(runs)}
    for run in runs:
        row: dict[str, Any] = {
            "scenario": run.scenario,
            **run.variant.as_dict(),
            "member": run.member,
            "status": run.verdict.status,
            "verdict": STATUS_WORDS[run.verdict.status],
            "reason": run.verdict.short,
            "margin": run.verdict.margin if math.isfinite(run.verdict.margin) else None,
            "file": run.file if run.dataset is not None else None,
            "seconds": run.processor_time.seconds if run.processor_time else None,
            "variable": None, "units": None, "nonfinite": None, "errors": {},
            "growth": None, "drift": drift.get(run.label),
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
    return rows


def _failed_member(member: StoredMember) -> dict[str, Any]:
    """The row of a failed member of an ensemble; members that succeeded have none."""
    return {
        "scenario": member.scenario, **member.variant.as_dict(), "member": member.member,
        "status": "failed", "verdict": STATUS_WORDS["failed"],
        "reason": f"member {member.member}: {member.failure}", "margin": None, "file": None,
        "seconds": None, "variable": None, "units": None, "nonfinite": None, "errors": {},
        "growth": None, "drift": None, "fixed_point": None, "idle_roles": None,
    }  # fmt: skip
