"""The trade-off on the first screen: error, drift, cost and memory of each arithmetic.

Costs that were measured and costs that are modelled never share a column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from sciprec.compare.verdicts import main_row
from sciprec.errors import InputError
from sciprec.machine.cost import MACHINES, roofline
from sciprec.machine.work import Work, stored_bytes
from sciprec.precision.backend import Backend
from sciprec.report.drift import PLAIN, drift_rows
from sciprec.report.picture import WIDTH, Picture
from sciprec.report.stored import StoredBatch, StoredRun
from sciprec.report.svg import label_style, new_figure, short, style, to_svg
from sciprec.scenario import TRUTH

REFERENCE = ("a100", "fp64")
"""Modelled costs are multiples of this arithmetic's on this machine."""
NUMBERS = 1_000_000


@dataclass(frozen=True)
class TradeOff:
    """What an arithmetic gives and what it takes, over all scenarios of a batch.

    Args:
        label: backend and compensation.
        error, where: the largest relative l2 error of a main variable, and its scenario; NaN
            where nothing could be compared.
        drifts: budget -> relative drift per day, the largest in size over the scenarios.
        measured: wall time here over that of fp64, over the scenarios where both ran; NaN: none.
        modelled: machine -> memory traffic of the same numbers over that of fp64 on an A100; None
            where the machine does not have the arithmetic.
        bytes_per_number: of the stored state, with its residual where there is one.
        front: on which Pareto fronts it lies: "measured", and names of machines.
    """

    label: str
    error: float
    where: str
    drifts: dict[str, float]
    measured: float
    modelled: dict[str, float | None]
    bytes_per_number: int
    front: tuple[str, ...] = field(default=())


def trade_offs(batch: StoredBatch) -> list[TradeOff]:
    """A row for each arithmetic of a batch, the truth first."""
    drift = {name: drift_rows(batch.of_scenario(name)) for name in batch.scenarios}
    rows = [_row(batch, label, drift) for label in batch.labels]
    costs = {"measured": [row.measured for row in rows]}
    costs |= {name: [row.modelled[name] for row in rows] for name in MACHINES}
    fronts = {name: pareto([row.error for row in rows], cost) for name, cost in costs.items()}
    return [
        TradeOff(**{**vars(row), "front": tuple(n for n, held in fronts.items() if held[i])})
        for i, row in enumerate(rows)
    ]


def pareto(errors: Sequence[float], costs: Sequence[float | None]) -> list[bool]:
    """Which points no other is at least as good as in both, and better in one.

    Points without a finite error or cost are on no front.
    """
    points = [
        (e, c) if c is not None and math.isfinite(c) and math.isfinite(e) else None
        for e, c in zip(errors, costs, strict=True)
    ]
    return [
        mine is not None
        and not any(
            other is not None and other != mine and other[0] <= mine[0] and other[1] <= mine[1]
            for other in points
        )
        for mine in points
    ]


def modelled_traffic(backend: str | Backend, machine: str) -> float | None:
    """Memory traffic of an arithmetic's numbers on a machine, over that of fp64 on an A100.

    Modelled, not measured: bytes over the published bandwidth, for work that memory bounds.

    Returns:
        The ratio, or None where the machine does not have the arithmetic.
    """
    try:
        reference = roofline(_traffic(REFERENCE[1]), *REFERENCE)
        return roofline(_traffic(backend), machine, backend).times(reference)
    except InputError:
        return None


def trade_off_picture(rows: Sequence[TradeOff], order: Sequence[str]) -> Picture | None:
    """Error against cost, measured on the left, modelled on the right, with the Pareto fronts.

    Returns:
        The picture, or None where fewer than two arithmetics have an error and a cost.
    """
    others = [row for row in rows if math.isfinite(row.error) and row.error > 0]
    if len(others) < 2:
        return None
    with style("trade-off"):
        figure = new_figure(WIDTH, 3.4)
        panels = figure.subplots(1, 1 + len(MACHINES), sharey=True)
        for axes, name in zip(panels, ("measured", *MACHINES), strict=True):
            _panel(axes, others, name, order)
        panels[0].set_yscale("log")
        panels[0].set_ylabel("largest relative l2 error")
        handles = {}
        for axes in panels:
            handles |= {text: h for h, text in zip(*axes.get_legend_handles_labels(), strict=True)}
        shown = [name for name in (short(row.label) for row in others) if name in handles]
        figure.legend([handles[n] for n in shown], shown, loc="outside right center")
        svg = to_svg(figure, "trade-off", "Error against measured and modelled cost")
    return Picture(
        svg,
        "Lower and further left is better; the line joins those that no other arithmetic beats in "
        "both. Measured: time of these runs over that of fp64, with the emulation of what this "
        "processor does not have. Modelled: memory traffic at published bandwidths, for work "
        "that memory bounds; an arithmetic that a machine does not have is missing there.",
    )


def _panel(axes, rows: Sequence[TradeOff], name: str, order: Sequence[str]) -> None:
    """One kind of cost."""
    cost = {row.label: row.measured if name == "measured" else row.modelled[name] for row in rows}
    shown = [row for row in rows if cost[row.label] is not None and cost[row.label] > 0]
    front = sorted((cost[row.label], row.error) for row in shown if name in row.front)
    if front:
        axes.plot(*zip(*front, strict=True), color="#808080", linewidth=1, zorder=1)
    for row in shown:
        look = label_style(row.label, order) | {"linestyle": "none"}
        axes.plot(cost[row.label], row.error, label=short(row.label), **look)
    title = "measured here" if name == "measured" else f"modelled: {MACHINES[name].title}"
    axes.set_title(title)
    axes.set_xlabel("cost over fp64" if name == "measured" else "traffic over fp64 on A100")
    if shown:
        axes.set_xlim(0, 1.15 * max(cost[row.label] for row in shown))


def _row(batch: StoredBatch, label: str, drift: dict[str, list[dict]]) -> TradeOff:
    """The numbers of one arithmetic, its fronts left open."""
    runs = batch.of_label(label)
    compared = [run for run in runs if run.comparison is not None]
    worst = max(compared, key=_error, default=None)
    rows = [row for name in batch.scenarios for row in drift[name] if row["label"] == label]
    budgets = {}
    for name in ("mass", "energy"):
        known = [row[name] for row in rows if row[name] is not None]
        if known:
            budgets[name] = max(known, key=abs)
    backend = runs[0].backend
    return TradeOff(
        label=label,
        error=math.nan if worst is None else _error(worst),
        where="" if worst is None else worst.scenario,
        drifts=budgets,
        measured=_measured(batch, runs),
        modelled={name: modelled_traffic(backend, name) for name in MACHINES},
        bytes_per_number=stored_bytes(backend) * (1 if runs[0].compensation == PLAIN else 2),
    )


def _error(run: StoredRun) -> float:
    """The relative l2 error of the run's main variable; a broken run has none that is finite."""
    error = main_row(run.comparison).errors["relative_l2"]
    return math.inf if run.verdict.status == "broken" or math.isnan(error) else error


def _measured(batch: StoredBatch, runs: Sequence[StoredRun]) -> float:
    """Wall time over that of fp64, over the scenarios where both ran."""
    mine = theirs = 0.0
    for run in runs:
        truth = next((r for r in batch.of_scenario(run.scenario) if r.backend == TRUTH), None)
        if truth is not None and run.dataset is not None and truth.dataset is not None:
            mine, theirs = mine + run.kernel_seconds, theirs + truth.kernel_seconds
    return mine / theirs if theirs > 0 else math.nan


def _traffic(backend: str | Backend) -> Work:
    """Reading a million numbers once."""
    return Work(bytes_read=NUMBERS * stored_bytes(backend), flops=1)
