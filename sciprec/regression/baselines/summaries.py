"""Baselines in words: lists of them, and the contents of one."""

from __future__ import annotations

from collections.abc import Sequence

from sciprec.foundation.listing import Listing
from sciprec.regression.baselines.records import Record
from sciprec.results.comparison.wording import number

_MOST_RUNS = 6


def records_listing(records: Sequence[Record]) -> Listing:
    """One line per baseline."""
    rows = [
        (
            each.name, each.key[:12], _few([run.name for run in each.runs]),
            each.made_by.get("commit", "") or "–", each.history[-1]["at"][:10],
            str(len(each.history)),
        )
        for each in records
    ]  # fmt: skip
    return Listing(
        ("baseline", "key", "runs", "commit", "date"), ("times blessed",), rows,
        droppable=("key", "times blessed", "date"),
    )  # fmt: skip


def _few(names: Sequence[str]) -> str:
    further = f" and {len(names) - _MOST_RUNS} more" if len(names) > _MOST_RUNS else ""
    return ", ".join(names[:_MOST_RUNS]) + further


def record_listing(record: Record) -> Listing:
    """One line per variable of each run: values, noise and error."""
    rows = [
        (
            run.name, name, " x ".join(map(str, facts.shape)) or "1",
            number(facts.mean), number(facts.rms), number(run.noise.get(name, {}).get("max_abs")),
            number(run.noise.get(name, {}).get("rms")), number(run.errors.get(name)),
        )
        for run in record.runs
        for name, facts in run.variables.items()
        if name in run.noise or not run.noise
    ]  # fmt: skip
    return Listing(
        ("run", "variable", "values"), ("mean", "rms", "noise", "RMS noise", "error"), rows,
        droppable=("RMS noise", "mean", "values"),
    )  # fmt: skip


def about_record(record: Record) -> tuple[str, ...]:
    """Lines about a baseline: request, versions, how noise was measured, what was blessed."""
    versions = ", ".join(f"{name} {value}" for name, value in record.made_by.items() if value)
    noise = dict.fromkeys(run.noise_of for run in record.runs if run.noise_of)
    failed = [f"{run.name} failed: {run.failure}" for run in record.runs if run.failure]
    history = [
        f"{entry['at'][:10]} {entry['commit'] or 'without commit'}: {entry['reason']}"
        for entry in record.history
    ]
    return (
        f"key: {record.key}", f"made by: {versions}",
        f"noise: spread of {'; '.join(noise) or 'none'}",
        *failed, *history,
    )  # fmt: skip
