"""The trade-off on the first screen: error, drift, cost and memory of each arithmetic.

Costs that were measured and costs that are modelled never share a column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sciprec.cost.peak_rates import MACHINES, roofline
from sciprec.cost.work import Work, update_work
from sciprec.drawing.picture import Picture
from sciprec.drawing.svg import drawn, label_style, legend, short, to_svg
from sciprec.facets.compensation.section import drift_rows
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Timing
from sciprec.precision.formats.backend import TRUTH, Backend
from sciprec.report.stored.batch import StoredBatch, StoredRun, truth_of
from sciprec.report.stored.shown import main_error

REFERENCE = ("a100", "fp64")
"""Modelled costs are multiples of this arithmetic's on this machine."""
QUIET = "#808080"
JOINED = (
    "; a line joins those that no other of the same scenarios beats in both, ranges taken into "
    "account"
)


class Cost(NamedTuple):
    """A cost over that of the truth, and the range in which it may be; modelled ones have none."""

    value: float
    low: float
    high: float

    @property
    def told_from_truth(self) -> bool:
        """Whether it is above or below that of the truth for sure."""
        return not self.low <= 1.0 <= self.high


class Modelled(NamedTuple):
    """A modelled cost over that of fp64 on an A100: with the vendor's bandwidth, and with the one
    that is described elsewhere, where there is one.
    """

    value: float
    described: float | None


@dataclass(frozen=True)
class TradeOff:
    """Accuracy and cost of an arithmetic over all scenarios of a batch.

    Args:
        label: backend and compensation.
        error, where: the largest relative l2 error of a main variable, and its scenario; NaN
            where a run failed or nothing could be compared.
        drifts: budget -> relative drift per day, the largest in size over the scenarios.
        measured: processor time here over that of fp64, over the scenarios where both were timed;
            None: in none.
        modelled: machine -> time of the memory traffic of an update of the state, its residual
            included, over that of fp64 on an A100, in the scenario where that is most; None where
            the machine does not have the arithmetic.
        bytes_per_number: of the state between steps, with its residual where there is one: the
            sizes in the scenarios, ascending.
        scenarios: in which it ran; errors in others say nothing about it.
        front: on which Pareto fronts it lies: "measured", and names of machines.
    """

    label: str
    error: float
    where: str
    drifts: dict[str, float]
    measured: Cost | None
    modelled: dict[str, Modelled | None]
    bytes_per_number: tuple[int, ...]
    scenarios: tuple[str, ...]
    front: tuple[str, ...] = field(default=())


def trade_offs(batch: StoredBatch) -> list[TradeOff]:
    """A row for each arithmetic of a batch, the truth first."""
    drift = {name: drift_rows(batch.of_scenario(name)) for name in batch.scenarios}
    rows = [_row(batch, label, drift) for label in batch.labels]
    return [replace(row, front=_fronts_of(row, rows)) for row in rows]


def drift_columns(batch: StoredBatch) -> dict[str, str]:
    """The unit of time of each budget's drift, such as "day", of all scenarios that have one."""
    rows = [row for name in batch.scenarios for row in drift_rows(batch.of_scenario(name))]
    return {name: row["per"] for row in rows for name in row["budgets"]}


def _fronts_of(mine: TradeOff, rows: Sequence[TradeOff]) -> tuple[str, ...]:
    """The fronts on which an arithmetic lies, among those of the same scenarios and the truth."""
    beside = [row for row in rows if row.scenarios == mine.scenarios or row.label == TRUTH]
    errors, place = [row.error for row in beside], beside.index(mine)
    names = ("measured", *MACHINES)
    return tuple(n for n in names if pareto(errors, [_cost(row, n) for row in beside])[place])


def pareto(errors: Sequence[float], costs: Sequence[Cost | None]) -> list[bool]:
    """Mark the points that are cheaper for sure than each that has a smaller error.

    Of points with the same error those stay than which none is cheaper for sure. Points without a
    finite error or cost are on no front.
    """
    points = [
        (e, c) if c is not None and math.isfinite(c.value) and math.isfinite(e) else None
        for e, c in zip(errors, costs, strict=True)
    ]
    drawable = [point for point in points if point is not None]
    return [
        mine is not None and not any(_beats(point, mine) for point in drawable) for mine in points
    ]


def _beats(other: tuple[float, Cost], mine: tuple[float, Cost]) -> bool:
    """Whether a point is better in one and, as far as ranges tell, not worse in the other."""
    if other[0] == mine[0]:
        return other[1].high < mine[1].low
    return other[0] < mine[0] and other[1].low <= mine[1].high


def modelled_traffic(
    backend: str | Backend, machine: str, update: Work | None = None, truth: Work | None = None
) -> Modelled | None:
    """Time of an arithmetic's memory traffic on a machine, over that of fp64 on an A100.

    Modelled, not measured: bytes over the published bandwidth, for work that memory bounds.

    Args:
        backend: the arithmetic.
        machine: "mlu370" or "a100".
        update: of a number of the state and its residual; left out, without one.
        truth: the same of fp64.

    Returns:
        The ratio, or None where the machine does not have the arithmetic.
    """
    try:
        reference = roofline(truth or update_work(REFERENCE[1]), *REFERENCE)
        estimate = roofline(update or update_work(backend), machine, backend)
    except InputError:
        return None
    beside = estimate.seconds_described_modelled
    described = None if beside is None else beside / reference.seconds_modelled
    return Modelled(estimate.times(reference), described)


def measured_cost(batch: StoredBatch, runs: Sequence[StoredRun]) -> Cost | None:
    """Processor time of runs over that of fp64, over the scenarios where both were timed."""
    mine = theirs = Timing()
    for run in (run for run in runs if run.comparison is not None):
        truth = truth_of(batch, run)
        if truth is not None and run.processor_time and truth.processor_time:
            mine, theirs = mine + run.processor_time, theirs + truth.processor_time
    if not theirs.low > 0.0:
        return None
    if all(run.is_truth for run in runs):
        return Cost(1.0, 1.0, 1.0)
    return Cost(mine.seconds / theirs.seconds, mine.low / theirs.high, mine.high / theirs.low)


def trade_off_picture(rows: Sequence[TradeOff], order: Sequence[str]) -> Picture | None:
    """Error against cost, measured on the left, modelled on the right, with the Pareto fronts.

    Returns:
        The picture, or None where fewer than two arithmetics have an error and a cost.
    """
    others = [row for row in rows if math.isfinite(row.error) and row.error > 0]
    if len(others) < 2:
        return None
    with drawn("trade-off", 3.4) as figure:
        kinds = [n for n in ("measured", *MACHINES) if any(_cost(row, n) for row in others)]
        panels = figure.subplots(1, max(len(kinds), 1), sharey=True, squeeze=False)[0]
        joined = [_panel(axes, others, n, order) for axes, n in zip(panels, kinds, strict=False)]
        panels[0].set_yscale("log")
        panels[0].set_ylabel("largest relative l2 error")
        legend(figure, [short(row.label) for row in others])
        svg = to_svg(figure, "Error against measured and modelled cost")
    return Picture(
        svg,
        f"Lower and further left is better{JOINED if any(joined) else ''}. "
        "Measured: processor time of these runs, with the emulation of what this processor does "
        "not have; bars are ranges. Modelled: memory traffic of updates of the state at the "
        "vendors' bandwidths, for work that memory bounds; an arithmetic that a machine does not "
        "have is missing there.",
    )


def _cost(row: TradeOff, name: str) -> Cost | None:
    """One kind of cost of an arithmetic."""
    if name == "measured":
        return row.measured
    modelled = row.modelled[name]
    return None if modelled is None else Cost(*3 * (modelled.value,))


def _panel(axes, rows: Sequence[TradeOff], name: str, order: Sequence[str]) -> bool:
    """Draw one kind of cost; whether a line joins what no other beats."""
    shown = [(row, cost) for row in rows if (cost := _cost(row, name)) is not None]
    joined = False
    for scenarios in dict.fromkeys(row.scenarios for row, _ in shown):
        alike = [(row, cost) for row, cost in shown if row.scenarios == scenarios]
        front = sorted((cost.value, row.error) for row, cost in alike if name in row.front)
        if len(front) > 1:
            axes.plot(*zip(*front, strict=True), color=QUIET, linewidth=1, zorder=1)
            joined = True
    for row, cost in shown:
        look = label_style(row.label, order) | {"linestyle": "none"}
        axes.plot(cost.value, row.error, label=short(row.label), **look)
        if cost.low < cost.high:
            axes.hlines(row.error, cost.low, cost.high, color=look["color"], linewidth=1.2)
    axes.axvline(1.0, color=QUIET, linewidth=0.8, linestyle=":")
    axes.set_title("measured here" if name == "measured" else f"modelled: {MACHINES[name].title}")
    axes.set_xlabel("fp64 here = 1" if name == "measured" else "fp64 on an A100 = 1")
    axes.set_xlim(0, 1.1 * max(1.0, *(cost.high for _, cost in shown)))
    return joined


def _row(batch: StoredBatch, label: str, drift: dict[str, list[dict]]) -> TradeOff:
    """The numbers of one arithmetic, its fronts left open."""
    runs = batch.of_label(label)
    compared = [run for run in runs if run.comparison is not None]
    failed = any(run.verdict.status == "failed" for run in runs)
    worst = None if failed else max(compared, key=_error, default=None)
    rows = [row for name in batch.scenarios for row in drift[name] if row["label"] == label]
    budgets = {}
    for name in dict.fromkeys(name for row in rows for name in row["budgets"]):
        values = [row[name] for row in rows if row.get(name) is not None]
        if values:
            budgets[name] = max(values, key=abs)
    return TradeOff(
        label=label,
        error=math.nan if worst is None else _error(worst),
        where="" if worst is None else worst.scenario,
        drifts=budgets,
        measured=measured_cost(batch, runs),
        modelled={name: _modelled(batch, runs, name) for name in MACHINES},
        bytes_per_number=tuple(sorted({run.bytes_per_number for run in runs})),
        scenarios=tuple(run.scenario for run in runs),
    )


def _error(run: StoredRun) -> float:
    """The relative l2 error of the run's main variable; a broken run has none that is finite."""
    error = main_error(run).errors["relative_l2"]
    return math.inf if run.verdict.status == "broken" or math.isnan(error) else error


def _modelled(batch: StoredBatch, runs: Sequence[StoredRun], machine: str) -> Modelled | None:
    """The most of the modelled ratios of all scenarios."""
    pairs = [(run, truth_of(batch, run) or run) for run in runs]
    updates = {(run.state_update, truth.state_update) for run, truth in pairs}
    ratios = [modelled_traffic(runs[0].backend, machine, *pair) for pair in updates]
    return None if None in ratios else max(ratios)
