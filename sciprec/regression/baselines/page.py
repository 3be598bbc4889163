"""The page of checks against baselines: what changed, by how much, since when, what got better."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawn, to_svg
from sciprec.drawing.templating import page_style, template

if TYPE_CHECKING:
    from sciprec.regression.baselines.checking import Check

CHIPS = {"identical": "identical", "noise": "good", "slower": "beyond", "larger": "beyond",
         "changed": "beyond", "pattern": "broken"}  # fmt: skip
MOST_PANELS = 12
_COLUMNS, _ROW_INCHES = 4, 1.5
_TITLE_WIDTH = 26
"""Letters of a panel's title in a line."""


def checks_page(checks: Sequence[Check], metrics: Mapping[str, str]) -> str:
    """The page as text; the same checks give the same bytes.

    Args:
        checks: one for each baseline; those that changed are shown first.
        metrics: titles by name, in the order of those of the rows.
    """
    in_order = sorted(checks, key=lambda check: (check.within, check.identical))
    return template("baseline.html").render(
        style=page_style(),
        title=_title(checks),
        parts=[_part(check, f"b{k}") for k, check in enumerate(in_order)],
        metrics=metrics,
        chips=CHIPS,
    )


def _title(checks: Sequence[Check]) -> str:
    """The answer in one line."""
    bad = [check.name for check in checks if not check.within]
    if bad:
        return f"{len(bad)} of {len(checks)} baselines changed: {', '.join(bad)}"
    if all(check.identical for check in checks):
        return "All bits are those of the baselines"
    return "Nothing changed beyond the noise"


def _part(check: Check, identifier: str) -> dict[str, Any]:
    """The part of the page about one check."""
    return {
        "check": check,
        "identifier": identifier,
        "counts": ", ".join(f"{count} {verdict}" for verdict, count in check.counts.items()),
        "other": [row for row in check.rows if row.verdict != "identical"],
        "better": check.better,
        "picture": _picture(check, identifier),
    }


def _picture(check: Check, name: str) -> Picture | None:
    """The history of each variable's error over the blessings: small multiples."""
    lines = []
    for row in check.rows:
        errors = [entry["errors"].get(row.run, {}).get(row.variable) for entry in check.history]
        values = [*errors, check.errors.get(row.run, {}).get(row.variable)]
        if any(value is not None and value > 0.0 for value in values):
            lines.append((f"{row.run}, {row.variable}", values, row.verdict == "identical"))
    curves = sorted(lines, key=lambda line: line[2])[:MOST_PANELS]
    if not curves:
        return None
    rows = math.ceil(len(curves) / _COLUMNS)
    places = range(len(check.history) + 1)
    with drawn(f"{name}history", 0.4 + _ROW_INCHES * rows) as figure:
        panels = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
        for panel, (title, values, _) in zip(panels, curves, strict=False):
            drawable = [v if v is not None and v > 0.0 else math.nan for v in values]
            panel.plot(places, drawable, color=COLOURS[0], marker="o")
            panel.plot(places[-1:], drawable[-1:], color=COLOURS[1], marker="o")
            panel.set_yscale("log")
            panel.set_ylim(*_ends([v for v in drawable if not math.isnan(v)]))
            panel.set_title("\n".join(wrap(title, _TITLE_WIDTH)), fontsize=8)
            panel.set_xticks([])
        for panel in panels[len(curves) :]:
            panel.set_axis_off()
        svg = to_svg(figure, f"Errors of {check.name} by blessing")
    n_hidden = len(lines) - len(curves)
    return Picture(
        svg,
        "Relative l2 error of the kept values against fp64: when the baseline was saved, each time "
        "that it was blessed, and, in the other colour, now."
        + (f" {n_hidden} further variables are not drawn." if n_hidden else ""),
    )


def _ends(values: list[float]) -> tuple[float, float]:
    """Ends of a logarithmic axis of at least a decade, so that small changes look small."""
    middle, half = math.sqrt(min(values)) * math.sqrt(max(values)), math.sqrt(10.0)
    return min(middle / half, 0.8 * min(values)), max(middle * half, 1.25 * max(values))
