"""Checks for others to read: Markdown for a pull request, test cases for JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence

from sciprec.foundation.targets import MARKDOWN
from sciprec.regression.baselines.checking import Check
from sciprec.regression.baselines.judging import FAILING, CheckRow
from sciprec.results.comparison.junit import JUnitCase
from sciprec.results.comparison.wording import number

MOST_LINES = 30
"""Lines of a table in Markdown; further rows that are not identical are counted."""


def markdown(checks: Sequence[Check]) -> str:
    """A summary of checks: a line for each baseline, and a table of what is not identical."""
    bad = sum(not check.within for check in checks)
    count = f"{len(checks)} baseline{'s' if len(checks) != 1 else ''}"
    head = f"{bad} of {count} changed" if bad else f"{count}: nothing changed beyond the noise"
    lines = [MARKDOWN.mark, f"### Precision: {head}", ""]
    for check in checks:
        counts = ", ".join(f"{n} {verdict}" for verdict, n in check.found.items())
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
