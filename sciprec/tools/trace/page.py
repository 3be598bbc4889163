"""The page of a trace: the source with heat by line, self-contained, without scripts."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.arrays.metrics import TITLES
from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, INK, drawn, legend, to_svg
from sciprec.drawing.templating import page_style, template
from sciprec.foundation import targets
from sciprec.foundation.arguments import integer
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.listing import counted
from sciprec.precision.rewriting.syntax import Source, parse
from sciprec.tools.trace.findings import TraceData, called
from sciprec.tools.trace.growth import ShareGrowth
from sciprec.tools.trace.lines import UNKNOWN
from sciprec.tools.trace.proposals import HEADS, MODEL_HEADS

if TYPE_CHECKING:
    from sciprec.tools.trace.examination import Event
    from sciprec.tools.trace.lines import Line
    from sciprec.tools.trace.models.stages import StagePart
    from sciprec.tools.trace.models.traces import ModelTrace
    from sciprec.tools.trace.proposals import Mend, ModelMend
    from sciprec.tools.trace.verification import Verification

_MOST_EVENTS, _MOST_LINES = 5, 10
_LEVELS = (0.01, 0.05, 0.2, 0.5)
"""Sizes of shares from which a line is warmer."""
_PARTS = {"line": "Lines", "stage": "Stages"}
"""The heading for each kind of group."""
_OF_KERNELS = (
    "Error left: relative l2 on the inputs given. Bits: log2(1 + error in units of the last "
    "place). Each proposal was run in {} and in fp64, on the inputs given and in other regimes, "
    "and is worse nowhere."
)
_OF_MODELS = (
    "Error left: relative l2 against the run in fp64, of a run of the scenario with these keys. "
    "Operations: more in a run. Bits: of executed operations, more than in {}."
)


def trace_page(
    trace: TraceData, sources: Sequence[Source], grown: ShareGrowth | None,
    verified: Verification | None, mend: Mend | None = None,
) -> str:  # fmt: skip
    """The page as text; the same trace gives the same bytes.

    Args:
        trace: by line, or by something else: then no line is warm.
        sources: of the kernel and what it calls.
        grown: when the error arose; None where there is no loop.
        verified: what its shares predict, run; None where that was not asked for.
        mend: what to do about its lines; None where that was not asked for.
    """
    notes = []
    notes += [f"{note}." for note in trace.outcome.notes()]
    notes.append(f"{added_up(trace.closure)}; the kernel was run {trace.passes} times.")
    visible, widest = [line for line in trace.lines if _is_shown(trace, line)], _widest(trace.lines)
    events = _most(list(trace.events))
    harmless = [event for event in events if _is_harmless(trace, event)]
    return _rendered(
        trace,
        f"The error of '{trace.kernel}' in {trace.backend}",
        notes=notes,
        metric=TITLES[trace.metric],
        events=[event for event in events if event not in harmless],
        harmless=harmless,
        branches=trace.branches,
        sources=[_listing(visible, source, widest) for source in sources],
        others=[
            _row(line, f"{UNKNOWN}: {line.source}" if line.name == UNKNOWN else line.name, widest)
            for line in _other_lines(trace)
        ],
        others_title="Other parts" if sources else f"By {trace.by}",
        groups=_groups(trace, called),
        pooled=counted(trace.inputs, "input")
        + " (the given ones and perturbed ones)" * (trace.inputs > 1),
        verified=verified,
        picture=_picture(grown) if grown is not None else None,
        mend=mend,
        mend_heads=HEADS,
        mend_note=_OF_KERNELS.format(trace.backend),
    )


def model_trace_page(
    trace: ModelTrace, verified: Verification | None, grown: ShareGrowth | None = None,
    mend: ModelMend | None = None,
) -> str:  # fmt: skip
    """The page of a model's trace: its functions, and the source of those that are hot.

    Args:
        trace: of a model.
        grown: when the error arose; None where that was not asked for.
        verified: what its shares predict, run; None where that was not asked for.
        mend: what to do about it; None where that was not asked for.
    """
    from sciprec.tools.trace.models.traces import called as of_model

    notes = [
        f"{added_up(trace.closure)}; the model was run {trace.passes} times, "
        f"{trace.calls:,} calls of kernels each."
    ]
    if trace.by == "step":
        notes.append(f"{trace.steps:,} steps: {trace.steps_are}.")
    if trace.until is not None:
        notes.insert(0, f"Results at time {trace.until:g}.")
    if trace.shortened:
        notes.append("Later states are left out: parts cancel there beyond what can be told apart.")
    lines = [line for line in trace.lines if line.name.startswith("line ")]
    hot = [line for line in trace.ranked if line in lines and abs(line.share) >= _LEVELS[0]]
    sources = {_function_of(line): None for line in hot}  # the warmest function first
    order = trace.lines if trace.by == "step" else trace.ranked
    visible = [line for line in order if line.share or line.name == UNKNOWN]
    further = [line for line in visible if line not in lines and trace.by != "stage"]
    widest = _widest(trace.lines)
    events = _most([event for event in trace.events if event.kind != "branch"])
    harmless = [event for event in events if trace.is_harmless(event)]
    return _rendered(
        trace,
        f"The error of '{trace.model}' in {trace.backend}",
        notes=notes,
        metric=TITLES["relative_l2"],
        events=[event for event in events if event not in harmless],
        harmless=harmless,
        stages=_stages(trace.stages),
        has_left=any(part.left is not None for part in trace.stages),
        hottest=[
            _row(line, of_model(line), widest) | {"source": line.source}
            for line in hot[:_MOST_LINES]
        ],
        folded=True,
        branches=_most([event for event in trace.events if event.kind == "branch"]),
        sources=[_listing(lines, source, widest) for source in sources if source is not None],
        others=[
            _row(line, f"{UNKNOWN if line.name == UNKNOWN else line.function}: {line.source}"
                 if line.function else line.name, widest)
            for line in further
        ],
        others_title="Other parts" if sources else f"By {trace.by}",
        groups=_groups(trace, of_model),
        pooled=trace.grouped_over + " (the model's own and perturbed ones)" * (trace.inputs > 1),
        verified=verified,
        picture=_picture(grown) if grown is not None else None,
        mend=mend,
        mend_heads=MODEL_HEADS,
        mend_note=_OF_MODELS.format(trace.backend),
    )


def write_trace_page(
    trace: ModelTrace, path: str | Path, verify: int = 3, mend: ModelMend | None = None
) -> Path:
    """Write the page of a model's trace.

    Args:
        trace: of a model.
        path: of the file.
        verify: how many of its groups are computed wider, each in a run or more.
        mend: what `mend` gave, to be shown on the page; None for nothing.

    Raises:
        InputError: it cannot be written, or what is there is no page of sciprec.
    """
    free = targets.require_free(checked_path("the page", path), targets.PAGE)
    integer("verify", verify, 0, 1000, "a whole number, 0 for none")
    proof = trace.verify(verify) if verify and trace.groups and trace.can_be_wider else None
    return targets.write(free, model_trace_page(trace, proof, trace.by_step(), mend), targets.PAGE)


def _groups(trace: TraceData | ModelTrace, name: Callable[[Line], str]) -> list[dict[str, Any]]:
    """Return the page's rows on every group."""
    return [
        {"number": g.number, "lines": ", ".join(map(name, g.lines)), "share": g.share,
         "correlation": g.correlation, "left": g.left}
        for g in trace.groups
    ]  # fmt: skip


def _rendered(trace: TraceData | ModelTrace, title: str, **context: Any) -> str:
    more = {
        "stages": [], "has_left": False, "hottest": [], "folded": False,
        "parts": _PARTS.get(trace.by, "Parts"), **context,
    }  # fmt: skip
    return template("trace.html").render(
        style=page_style(), title=title, verdict=trace.verdict, outputs=trace.outputs, **more
    )


def _widest(parts: Sequence[Line] | Sequence[StagePart]) -> float:
    """The size of the largest share, whose bar is as wide as its column."""
    return max((abs(part.share) for part in parts), default=0.0)


def _bar(share: float, widest: float) -> dict[str, Any]:
    """The bar of a share: its width in per cent of the column, and whether it takes away."""
    return {"width": round(100.0 * abs(share) / widest) if widest else 0, "cancels": share < 0.0}


def _stages(parts: Sequence[StagePart]) -> list[dict[str, Any]]:
    """Return the page's rows on every stage, the largest share first."""
    widest = _widest(parts)
    return [
        {"name": p.name, "share": p.percent, "wide": p.wide or "–", "left": p.left_in_words,
         "left_width": round(100.0 * min(p.left or 0.0, 1.0)), "operations": f"{p.operations:,}"}
        | _bar(p.share, widest)
        for p in sorted(parts, key=lambda p: -abs(p.share))
    ]  # fmt: skip


def _is_harmless(trace: TraceData, event: Event) -> bool:
    """Whether numbers became zero in a line of a kernel that has next to no part in the error."""
    if event.kind != "underflow to zero" or trace.by != "line":
        return False
    at = [n for n in trace.lines if (n.file, n.line) == (event.file, event.line)]
    return sum(abs(n.share) for n in at) < _LEVELS[0]


def _most(events: list[Event]) -> list[Event]:
    """Return the first event of every kind, and the most frequent others."""
    first = {event.kind: event for event in reversed(events)}
    firsts = [event for event in events if event is first[event.kind]]
    rest = sorted((e for e in events if e not in firsts), key=lambda event: -event.count)
    return firsts + rest[: max(_MOST_EVENTS - len(firsts), 0)]


def _function_of(line: Line) -> Source | None:
    """The function that a line is of, from its file; None where that cannot be read."""
    texts = linecache.getlines(line.file)
    try:
        tree = parse("".join(texts))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        inside = isinstance(node, ast.FunctionDef) and node.lineno <= line.line <= node.end_lineno
        if inside and node.name == line.function:
            lines = tuple(text.rstrip("\n") for text in texts[node.lineno - 1 : node.end_lineno])
            return Source(line.function, line.file, node.lineno, lines)
    return None


def _other_lines(trace: TraceData) -> list[Line]:
    """Return the shares of what is no line of the source; steps in their order, else the largest
    first.
    """
    order = trace.lines if trace.by == "step" else trace.ranked
    visible = [line for line in order if line.share or line.name == UNKNOWN]
    return [line for line in visible if not _is_shown(trace, line)]


def _is_shown(trace: TraceData, line: Line) -> bool:
    """Whether a row of a trace is a line of the source."""
    return trace.by == "line" and line.name.startswith("line ")


def _listing(lines: Sequence[Line], source: Source, widest: float) -> dict[str, Any]:
    """Return the text of a function without its docstring, each line with its share."""
    last = source.first + len(source.lines)
    by_number = {
        line.line: line
        for line in lines
        if line.file == source.file and source.first <= line.line < last
    }
    rows = []
    texts = dedent("\n".join(source.lines)).split("\n")
    prose = _docstring("\n".join(texts))
    for number, text in enumerate(texts, source.first):
        if number - source.first in prose:
            continue
        traced = by_number.get(number)
        cells = _row(traced, traced.name, widest) if traced else {"heat": None}
        rows.append({"number": number, "text": text} | cells)
    return {"function": source.function, "rows": rows, "file": source.file.rpartition("/")[2]}


def _docstring(text: str) -> range:
    """The lines of a function's docstring, the first line of its text is 0."""
    try:
        (function, *_) = parse(text).body
    except (SyntaxError, ValueError):
        return range(0)
    body = getattr(function, "body", [])
    first = body[0] if len(body) > 1 else None
    is_prose = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return range(first.lineno - 1, first.end_lineno or 0) if is_prose else range(0)


def _row(line: Line, name: str, widest: float) -> dict[str, Any]:
    """Return the page's row on a line."""
    return _bar(line.share, widest) | {
        "name": name,
        "heat": int(sum(abs(line.share) >= level for level in _LEVELS)),
        "share": line.percent,
        "bits_lost": f"{line.bits_lost:.1f}",
        "runs": f"{line.runs:,}",
        "group": line.group,
    }


def _picture(grown: ShareGrowth) -> Picture:
    """Shares by the step in which they arose, added up along the run, a band for each line."""
    with drawn("growth", 2.9) as figure:
        axes = figure.subplots()
        places = [0, *(step.last for step in grown.steps)]
        above, below = np.zeros(len(places)), np.zeros(len(places))
        total = np.zeros(len(places))
        for n, (name, shares) in enumerate(grown.shares.items()):
            sums = np.concatenate([[0.0], np.cumsum(shares)]) + grown.before.get(name, 0.0)
            sums *= 100.0
            higher, lower = above + np.maximum(sums, 0.0), below + np.minimum(sums, 0.0)
            how = {"color": COLOURS[n % len(COLOURS)], "linewidth": 0.0, "alpha": 0.85}
            axes.fill_between(places, above, higher, label=name, **how)
            axes.fill_between(places, lower, below, **how)
            above, below = higher, lower
            total += sums
        axes.plot(places, total, color=INK, linewidth=1.4, label="together")
        axes.set(xlabel=grown.unit, ylabel="share of the error, %",
                 xlim=(0, places[-1]))  # fmt: skip
        legend(figure)
        svg = to_svg(figure, f"Shares of the final error by the {grown.unit} in which they arose")
    start = " At 0: what belongs to no step, as rounding the initial state." if grown.before else ""
    return Picture(
        svg,
        f"What part of the final error had arisen by a {grown.unit}, by line; parts below zero "
        f"take away what others add.{start}",
    )


def added_up(closure: float) -> str:
    """Say how well the parts of an error add up to it, without a full stop."""
    return "The parts add up to the error" + (f" within {closure:.1g} of it" if closure else "")
