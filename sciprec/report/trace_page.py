"""The page of a trace: the source with heat by line, self-contained, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.diagnosis.growth import Growth
from sciprec.report.drawing.picture import Picture
from sciprec.report.drawing.svg import COLOURS, INK, drawn, legend, to_svg
from sciprec.report.drawing.templating import page_style, template

if TYPE_CHECKING:
    from sciprec.diagnosis.lines import Line
    from sciprec.diagnosis.verification import Verification
    from sciprec.studies.traces import Trace

_LEVELS = (0.01, 0.05, 0.2, 0.5)
"""Sizes of shares from which a line is warmer."""


@dataclass(frozen=True)
class Source:
    """A function as it is written.

    Args:
        function, file: where it is.
        first: the number of its first line.
        lines: its text.
    """

    function: str
    file: str
    first: int
    lines: tuple[str, ...]


def trace_page(
    trace: Trace, sources: Sequence[Source], grown: Growth | None, verified: Verification | None
) -> str:
    """The page as text; the same trace gives the same bytes.

    Args:
        trace: by line, or by something else: then no line is warm.
        sources: of the kernel and what it calls.
        grown: when the error arose; None where there is no loop.
        verified: what its shares predict, run; None where that was not asked for.
    """
    return template("trace.html").render(
        style=page_style(),
        title=f"The error of '{trace.kernel}' in {trace.backend}",
        trace=trace,
        sources=[_listing(trace, source) for source in sources],
        others=[_row(line) for line in _others(trace)],
        groups=trace.groups,
        verified=verified,
        picture=_picture(grown) if grown is not None else None,
    )


def _others(trace: Trace) -> list[Line]:
    """What has a share and is no line of the source; steps in their order, else the largest
    first.
    """
    order = trace.lines if trace.by == "step" else trace.ranked
    return [line for line in order if line.share and not _is_shown(trace, line)]


def _is_shown(trace: Trace, line: Line) -> bool:
    """Whether a row of a trace is a line of the source."""
    return trace.by == "line" and not line.source.startswith("argument ")


def _listing(trace: Trace, source: Source) -> dict[str, Any]:
    """The lines of a function, each with what is known of it."""
    last = source.first + len(source.lines)
    own = {
        line.line: line
        for line in trace.lines
        if _is_shown(trace, line) and line.file == source.file and source.first <= line.line < last
    }
    rows = []
    texts = dedent("\n".join(source.lines)).split("\n")
    for number, text in enumerate(texts, source.first):
        known = own.get(number)
        rows.append({"number": number, "text": text} | (_row(known) if known else {"heat": None}))
    return {"function": source.function, "rows": rows, "file": source.file.rpartition("/")[2]}


def _row(line: Line) -> dict[str, Any]:
    """What is known of a line."""
    return {
        "name": line.name,
        "heat": int(sum(abs(line.share) >= level for level in _LEVELS)),
        "share": line.percent,
        "bits_lost": f"{line.bits_lost:.1f}",
        "runs": f"{line.runs:,}",
        "group": line.group,
    }


def _picture(grown: Growth) -> Picture:
    """Shares by the step in which they arose, added up along the run, a band for each line."""
    with drawn("growth", 2.9) as figure:
        axes = figure.subplots()
        places = [0, *(step.last for step in grown.steps)]
        above, below = np.zeros(len(places)), np.zeros(len(places))
        total = np.zeros(len(places))
        for n, (name, shares) in enumerate(grown.shares.items()):
            sums = 100.0 * np.concatenate([[0.0], np.cumsum(shares)])
            base = np.where(sums >= 0.0, above, below)
            axes.fill_between(places, base, base + sums, color=COLOURS[n % len(COLOURS)],
                              label=name, linewidth=0.0, alpha=0.85)  # fmt: skip
            above, below = above + np.maximum(sums, 0.0), below + np.minimum(sums, 0.0)
            total += sums
        axes.plot(places, total, color=INK, linewidth=1.4, label="together")
        axes.set(xlabel="pass of the outermost loops", ylabel="share of the error, %",
                 xlim=(0, places[-1]))  # fmt: skip
        legend(figure)
        svg = to_svg(figure, "Shares of the final error by the pass in which they arose")
    return Picture(
        svg,
        "What part of the final error had arisen by a pass of the kernel's outermost loops, by "
        "line; parts below zero take away what others add.",
    )
