"""Healing: at a line tested values are replaced by exact ones, rounded to the format, and the run
goes on. Where an error is rounded is one question; where it becomes large another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sciprec.diagnosis.examination import Event, Examination
from sciprec.diagnosis.origins import Group
from sciprec.diagnosis.problem import Problem
from sciprec.diagnosis.splitting import Errors, norm, twin_errors
from sciprec.precision.tracing import rows

LEAST_LOSS = 1.5
"""Bits that a line loses at least before it is asked whether the error becomes large there."""
CARRIED = "errors that are carried from step to step"
MOST_LINES = 24
"""Lines that are healed, one by one, in order of execution."""


@dataclass(frozen=True)
class Healed:
    """The first line, in order of execution, whose healing removes more than half of the error.

    Attributes:
        group: that line.
        left: what is left of the error, from a run.
        bits_lost: there.
    """

    group: Group
    left: float
    bits_lost: float


def becomes_large(problem: Problem, groups: Sequence[Group], seen: Examination) -> Healed | None:
    """Where the error becomes large, if there is such a line. A line that carries a state from pass
    to pass is not asked: healed in each of them it would remove everything.
    """
    asked = [
        g
        for g in groups
        if g.rows and not g.carried and not g.argument and seen.bits_lost(g) >= LEAST_LOSS
    ]
    asked.sort(key=seen.first)
    before = seen.errors
    for group in asked[:MOST_LINES]:
        left = _left(before, healed_errors(problem, group))
        if left < 0.5:
            return Healed(group, left, seen.bits_lost(group))
    return None


def with_causes(
    problem: Problem, groups: Sequence[Group], seen: Examination, events: Sequence[Event]
) -> list[Event]:
    """Events with the line that caused each: of those whose healing makes it not happen, the one
    that loses most bits, the first one of several; none where exact operands give the same, and
    `CARRIED` where errors of more than two steps do it.
    """
    return [
        replace(e, cause=_cause(problem, groups, seen, e))
        if e.kind in ("NaN", "infinity", "saturation")
        else e
        for e in events
    ]


def _cause(problem: Problem, groups: Sequence[Group], seen: Examination, event: Event) -> str:
    row = seen.row_of(event)
    clock = int(seen.column(rows.EVENTS[event.kind] + 1)[row])
    before = [g for g in groups if g.rows and seen.first(g) <= clock]
    before.sort(key=seen.first)
    if seen.is_alike(event.kind, row):
        return ""
    removing = [g for g in before[-MOST_LINES:] if _is_cause(problem, g, event, row, clock)]
    if not removing:
        return CARRIED
    group = max(removing, key=seen.bits_lost)
    return f"line {group.line}: {group.source}"


def _is_cause(problem: Problem, group: Group, event: Event, row: int, clock: int) -> bool:
    """Whether an event does not happen if a group is healed; of what depends on a state that is
    carried in the step of the event, or the one before.
    """
    group = replace(group, rows=tuple(n for n in group.rows if n != row))
    steps = (event.step, event.step - 1) if group.carried else (-1,)
    return any(_removes(problem, group, event, row, clock, step) for step in steps)


def _removes(
    problem: Problem, group: Group, event: Event, row: int, clock: int, step: int
) -> bool:  # fmt: skip
    """Whether an event does not happen where and when it did if a group is healed."""
    table = problem.table("twin")
    _heal(table, group, step)
    twin_errors(problem, table)
    count, first = table.words[row, rows.EVENTS[event.kind] :][:2]
    return not count or first > clock


def healed_errors(problem: Problem, group: Group, step: int = -1) -> Errors:
    """The errors of a run in which a group's values are healed.

    Args:
        problem: which run.
        group: the operations.
        step: the only step in which they are; -1 for all.
    """
    table = problem.table("twin")
    _heal(table, group, step)
    return twin_errors(problem, table)


def _heal(table, group: Group, step: int) -> None:
    table.words[list(group.rows), rows.TREATMENT] = (
        rows.HEALED if step < 0 else rows.HEALED_IN_ONE_STEP
    )
    table.header[rows.HEALED_STEP] = step


def _left(before: Errors, after: Errors) -> float:
    """What is left of an error; infinite where more elements are not finite."""
    if after.left_out > before.left_out or not before.size:
        return float("inf")
    return norm(after.vector) / before.size
