"""The section of traced runs: the lines of a model that make the error of a run, from its file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import COLOURS, drawn, legend, to_svg
from sciprec.report.stored.batch import StoredRun
from sciprec.tools.trace.models.groups import STAGE
from sciprec.tools.trace.models.stages import StagePart
from sciprec.tools.trace.page import added_up

_ATTRIBUTE = "sciprec_trace"
_MOST_LINES, _MOST_BANDS = 12, 6


def traced_rows(runs: Sequence[StoredRun], prefix: str) -> list[dict[str, Any]]:
    """A row for each traced run; empty where none was traced.

    Args:
        runs: of the scenario.
        prefix: unique on the page, for identifiers.
    """
    rows = []
    for run in runs:
        attributes = {} if run.dataset is None else run.dataset.attrs
        if _ATTRIBUTE in attributes:
            name = f"{prefix}-trace{len(rows)}"
            rows.append({"label": run.label} | _row(json.loads(attributes[_ATTRIBUTE]), name))
    return rows


def verdicts_of_traces(runs: Sequence[StoredRun]) -> list[tuple[str, str]]:
    """The label and the verdict of the trace of each run that has one."""
    traces = [
        (run.label, json.loads(run.dataset.attrs[_ATTRIBUTE]))
        for run in runs
        if run.dataset is not None and _ATTRIBUTE in run.dataset.attrs
    ]
    return [(label, trace["verdict"]) for label, trace in traces if "refused" not in trace]


def _row(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The trace of a run, or why there is none."""
    if "refused" in content:
        return {"refused": content["refused"]}
    lines = sorted(content["lines"], key=lambda line: -abs(line["share"]))
    shares = [line for line in lines if line["share"]]
    notes = [] if content["until"] is None else [f"Results at time {content['until']:g}."]
    if content["shortened"]:
        notes.append("Later states are left out: parts cancel there beyond what can be told apart.")
    notes.append(f"{added_up(content['closure'])}.")
    return {
        "refused": "",
        "verdict": content["verdict"],
        "outputs": content["outputs"],
        "lines": [_line_row(line, content["by"]) for line in shares[:_MOST_LINES]],
        "more": len(shares) - len(shares[:_MOST_LINES]),
        "stages": _stages(content) if content["by"] == STAGE else [],
        "notes": notes,
        "picture": growth_in_time(content["growth"], content["times"], name),
    }


def _stages(content: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of stages: what is left of the error where one is kept wider, measured."""
    parts = sorted((StagePart(**p) for p in content["stages"]), key=lambda p: -abs(p.share))
    return [{"name": p.name, "share": p.share, "wide": p.wide or "–", "left": p.left_in_words}
            for p in parts]  # fmt: skip


def _line_row(line: Mapping[str, Any], by: str) -> dict[str, Any]:
    """A row of the table: the text of a line, or the name of another part; steps are no lines."""
    is_text = by in ("line", "function", "step") or line["name"].startswith("line ")
    return {
        "function": line["function"] or "all",
        "line": line["line"] if line["file"] else 0,
        "share": line["share"],
        "source": line["source" if is_text else "name"],
    }


def growth_in_time(
    growth: Mapping[str, Sequence[float]], times: Sequence[float], name: str
) -> Picture | None:
    """The parts of the largest lines by stored time, on top of each other; None without times.

    Args:
        growth: name of a line -> rms of its part at these times.
        times: of the stored states.
        name: unique on the page.
    """
    if len(times) < 2:
        return None
    order = sorted(growth, key=lambda line: -np.nan_to_num(growth[line][-1]))
    with drawn(name, 2.9) as figure:
        axes = figure.subplots()
        base = np.zeros(len(times))
        for n, line in enumerate(order[:_MOST_BANDS]):
            top = base + np.nan_to_num(np.array(growth[line], float))
            axes.fill_between(times, base, top, color=COLOURS[n], label=line, linewidth=0.0,
                              alpha=0.85)  # fmt: skip
            base = top
        axes.set(xlabel="time", ylabel="rms of parts", xlim=(times[0], times[-1]))
        legend(figure)
        svg = to_svg(figure, "Sizes of the parts of the largest lines by time")
    return Picture(
        svg,
        "Root mean squares of the parts of the lines with the largest ones at the stored times, "
        "results over their norms, on top of each other. Parts can cancel.",
    )
