"""Baselines and checks in words: lists of baselines, what one of them holds, Markdown for a pull
request, test cases for JUnit XML.
"""

from __future__ import annotations

from collections.abc import Sequence

from sciprec.foundation.listing import Listing
from sciprec.foundation.targets import MARKDOWN
from sciprec.regression.baselines.checking import Check
from sciprec.regression.baselines.judging import FAILING, CheckRow
from sciprec.regression.baselines.records import Record
from sciprec.results.comparison.junit import JUnitCase
from sciprec.results.comparison.wording import number

MOST_LINES = 30
"""Lines of a table in Markdown; further rows that are not identical are counted."""
_MOST_RUNS = 6


def markdown(checks: Sequence[Check]) -> str:
    """A summary of checks: a line for each baseline, and a table of what is not identical."""
    bad = sum(not check.within for check in checks)
    count = f"{len(checks)} baseline{'s' if len(checks) != 1 else ''}"
    head = f"{bad} of {count} changed" if bad else f"{count}: nothing changed beyond the noise"
    lines = [MARKDOWN.mark, f"### Precision: {head}", ""]
    for check in checks:
        counts = ", ".join(f"{n} {verdict}" for verdict, n in check.counts.items())
        since = f" since `{check.since}`" if check.since else ""
        mark = ":x:" if not check.within else ":white_check_mark:"
        lines.append(f"- {mark} **{_cell(check.name)}**: {counts}{since}")
        lines += [f"  - {_cell(note)}" for note in check.notes]
        lines += [
            f"  - better: {_cell(row.run)}, {_cell(row.variable)}: error {number(row.error_now)}, "
            f"was {number(row.error_then)}" for row in check.better
        ]  # fmt: skip
    unlike = [(c, row) for c in checks for row in c.rows if row.verdict != "identical"]
    if unlike:
        lines += ["", "| baseline | run | variable | verdict | why |", "|---|---|---|---|---|"]
        worst = sorted(unlike, key=lambda pair: pair[1].verdict not in FAILING)
        lines += [
            f"| {' | '.join(map(_cell, (c.name, r.run, r.variable, r.verdict, r.reason)))} |"
            for c, r in worst[:MOST_LINES]
        ]
        if len(worst) > MOST_LINES:
            lines += ["", f"and {len(worst) - MOST_LINES} more"]
    return "\n".join(lines) + "\n"


def check_cases(check: Check) -> list[JUnitCase]:
    """A test case for each row, with its metrics and their noise as properties."""
    return [
        JUnitCase(
            check.name, f"{row.run}, {row.variable}" if row.variable else row.run, row.verdict,
            row.reason, row.verdict in FAILING, _properties(row),
        )
        for row in check.rows
    ]  # fmt: skip


def _properties(row: CheckRow) -> dict[str, float]:
    numbers = {"error_then": row.error_then, "error_now": row.error_now}
    for metric in row.metrics:
        numbers |= {metric.name: metric.apart, f"{metric.name}_noise": metric.noise}
    return numbers


def _cell(text: str) -> str:
    """Words inside a table of Markdown."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


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
