"""The page of a search for formats: the source with a format for every line, without scripts."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import dedent
from typing import Any

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, INK, drawn, legend, to_svg
from sciprec.drawing.templating import page_style, template
from sciprec.foundation import targets
from sciprec.foundation.arguments import path as checked_path
from sciprec.precision.rewriting.syntax import Source
from sciprec.tools.tune.found import TuneResult

MANY = 20
"""Places beyond which those that stay wide are listed by themselves."""
_QUIET = "#808080"


def write_tune_page(result: TuneResult, path: str | Path) -> Path:
    """Write the page of a search; a run for every place says what one wider format would buy.

    Raises:
        InputError: it cannot be written, or what is there is no page of sciprec.
    """
    free = targets.require_free(checked_path("the page", path), targets.PAGE)
    return targets.write(free, tune_page(result), targets.PAGE)


def tune_page(result: TuneResult) -> str:
    """The page as text; the same search gives the same bytes."""
    order = sorted(result.next_steps(), key=lambda step: step["error"])
    return template("tune.html").render(
        style=page_style(),
        title=f"Formats of '{result.name}'",
        verdict=result.verdict,
        found=result,
        uniform=[t for t in result.pareto if t.label in result.formats],
        wide=result.wide_places() if len(result.assignment) > MANY else [],
        sources=[_listing(result, source) for source in result.sources()],
        others=[] if result.by == "line" else list(result.assignment.items()),
        picture=_picture(result),
        steps=order,
    )


def _listing(result: TuneResult, source: Source) -> dict[str, Any]:
    """The text of a function, each line with its format."""
    by_line: dict[int, tuple[str, int]] = {}
    for line, name, warmth in result.lines_of(source.file):
        by_line[line] = name, warmth
    texts = dedent("\n".join(source.lines)).split("\n")
    rows = [
        {"number": number, "text": text, "format": by_line.get(number, ("", 0))[0],
         "heat": by_line.get(number, ("", 0))[1]}
        for number, text in enumerate(texts, source.first)
    ]  # fmt: skip
    return {"function": source.function, "file": source.file.rpartition("/")[2], "rows": rows}


def _picture(result: TuneResult) -> Picture | None:
    """Draw error against cost of the choices that were run."""
    points = [t for t in result.pareto if math.isfinite(t.error) and t.error > 0.0]
    if not points:
        return None
    with drawn("pareto", 3.2) as figure:
        axes = figure.subplots()
        curve = [t for t in points if t.label not in result.formats]
        if curve:
            axes.plot([t.cost for t in curve], [t.error for t in curve], color=COLOURS[0],
                      marker="o", markersize=3, label="formats by place")  # fmt: skip
        uniform = [t for t in points if t.label in result.formats]
        axes.plot([t.cost for t in uniform], [t.error for t in uniform], color=_QUIET, marker="s",
                  markersize=4, linewidth=0.0, label="one format everywhere")  # fmt: skip
        if len(uniform) <= 6:
            for t in uniform:
                axes.annotate(t.label, (t.cost, t.error), textcoords="offset points",
                              xytext=(6, 4), fontsize=8, color=_QUIET)  # fmt: skip
        axes.plot([result.cost], [result.error], color=INK, marker="D", markersize=6, linewidth=0.0,
                  label="found", fillstyle="none")  # fmt: skip
        axes.axhline(result.tolerance, color=_QUIET, linewidth=0.8, linestyle="--")
        axes.annotate("tolerance", (0.995, result.tolerance), xycoords=("axes fraction", "data"),
                      xytext=(0, 3), textcoords="offset points", ha="right", fontsize=8,
                      color=_QUIET)  # fmt: skip
        axes.margins(x=0.08, y=0.15)  # room for the labels
        axes.set(xlabel="bits of executed operations over those of the widest format; "
                        "lower is cheaper",
                 ylabel=f"error ({result.metric})", yscale="log")  # fmt: skip
        legend(figure)
        svg = to_svg(figure, "Error against cost of the choices of formats that were run")
    return Picture(svg, "Choices that were run and that no other beats in both cost and error; the "
                        "dashed line is the tolerance.")  # fmt: skip
