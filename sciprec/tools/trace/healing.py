"""Healing: at a line tested values are replaced by exact ones, rounded to the format, and the run
goes on. Where an error is rounded is one question; where it becomes large another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.table import Table
from sciprec.tools.trace.attribution import floats
from sciprec.tools.trace.examination import Event, Examination
from sciprec.tools.trace.losses import held_arguments
from sciprec.tools.trace.origins import OriginGroup
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.splitting import Errors, norm, twin_errors

LEAST_LOSS = 1.5
"""Bits that a line loses at least before it is asked whether the error becomes large there."""
CARRIED = "errors that are carried from step to step"
SEVERAL = "several roundings together"
CLEARLY = 0.15
"""Share of the error that a later line has to remove beyond an earlier one to be named."""
MOST_LINES = 24
"""Lines that are healed, one by one, in order of execution."""


@dataclass(frozen=True)
class Healed:
    """The line whose healing removes most of the error, more than half of it.

    Attributes:
        group: that line.
        left: what is left of the error, from a run.
        bits_lost: there.
    """

    group: OriginGroup
    left: float
    bits_lost: float


def becomes_large(
    problem: Problem, groups: Sequence[OriginGroup], exact_run: Examination
) -> Healed | None:
    """Find the line where the error becomes large, if there is one: the line whose healing removes
    most. A later one has to remove `CLEARLY` more than an earlier one, since lines behind that only
    pass the error on remove it, too. A line whose value comes back to it from pass to pass is not
    asked: healed in each of them it would remove everything.
    """
    candidates = [
        g
        for g in groups
        if g.rows and not g.carried and not g.argument and exact_run.bits_lost(g) >= LEAST_LOSS
    ]
    candidates.sort(key=exact_run.first)
    best: Healed | None = None
    for group in candidates[:MOST_LINES]:
        share = _share(exact_run.errors, healed_errors(problem, group))
        if share < (best.left - CLEARLY if best else 0.5):
            best = Healed(group, share, exact_run.bits_lost(group))
    return best


def with_causes(
    problem: Problem, groups: Sequence[OriginGroup], exact_run: Examination,
    events: Sequence[Event], named: Event | None = None,
) -> list[Event]:  # fmt: skip
    """Events, the first of every kind and the one that is named with the line that caused it: of
    those whose healing makes it not happen, the one with the operation that loses most bits, the
    first one of several; else of those that leave the range before. None where exact operands give
    the same; where errors of more than two steps do it, `CARRIED`.
    """
    first = {event.kind: event for event in reversed(events)}
    return [
        replace(e, cause=_Inquiry(problem, exact_run, e, events).cause(groups))
        if not e.argument and (e == named or e is first[e.kind])
        else e
        for e in events
    ]


class _Inquiry:
    """The search for the cause of an event.

    Args:
        problem, seen: the run in which it happened.
        event: what happened.
        events: all that did, by time.
    """

    def __init__(
        self, problem: Problem, exact_run: Examination, event: Event, events: Sequence[Event]
    ) -> None:
        self.problem, self.exam, self.event = problem, exact_run, event
        self.events = events[: events.index(event)]
        self.row, self.word = exact_run.rows_of(event)[0], rows.EVENTS[event.kind]
        self.clock = int(exact_run.column(self.word + 1)[self.row])

    def cause(self, groups: Sequence[OriginGroup]) -> str:
        """The line, by number and text."""
        if self.exam.is_alike(self.event.kind, self.row):
            return ""
        before = [g for g in groups if g.rows and self.exam.first(g) <= self.clock]
        before.sort(key=self.exam.first)
        removing = [g for g in before[-MOST_LINES:] if self._is_cause(g)]
        if not removing:
            return self._before() or self._rounded() or (
                CARRIED if any(g.carried for g in before) else SEVERAL
            )
        group = max(removing, key=self._bits_lost)
        return f"line {group.line}: {group.source}"

    def _before(self) -> str:
        """The last event before this one without which it does not happen, in words."""
        for event in reversed(self.events[-MOST_LINES:]):
            table, args = self.problem.table("twin"), self.problem.args
            if event.of:
                args = held_arguments(self.problem, event.argument)
            else:
                rest = [n for n in self.exam.rows_of(event) if n != self.row]
                table.words[rest, rows.TREATMENT] = rows.HELD
            self.problem.run("twin", table, args)
            if self._is_gone(table):
                at = event.source if event.argument else f"line {event.line}: {event.source}"
                return f"{event.kind} in {at}"
        return ""

    def _rounded(self) -> str:
        """The array whose elements need not be rounded for it not to happen."""
        names = self.problem.kernel("twin").names
        for name, argument in zip(names, self.problem.args, strict=True):
            if floats(argument):
                table = self.problem.table("twin")
                self.problem.run("twin", table, unrounded=(name,))
                if self._is_gone(table):
                    return f"rounding of argument {name}"
        return ""

    def _bits_lost(self, group: OriginGroup) -> float:
        """The most bits that an operation of a group loses whose healing alone is enough."""
        alone = [replace(group, rows=(n,)) for n in group.rows if n != self.row]
        losing = [g for g in alone if self.exam.bits_lost(g) >= LEAST_LOSS]
        return max((self.exam.bits_lost(g) for g in losing if self._is_cause(g)), default=0.0)

    def _is_cause(self, group: OriginGroup) -> bool:
        """Whether the event does not happen if a group is healed; of what depends on a state that
        is carried in the step of the event, or the one before.
        """
        group = replace(group, rows=tuple(n for n in group.rows if n != self.row))
        steps = (self.event.step, self.event.step - 1) if group.carried else (-1,)
        return any(self._removes(group, step) for step in steps)

    def _removes(self, group: OriginGroup, step: int) -> bool:
        """Whether it does not happen where and when it did if a group is healed."""
        table = self.problem.table("twin")
        _heal(table, group, step)
        self.problem.run("twin", table)
        return self._is_gone(table)

    def _is_gone(self, table: Table) -> bool:
        """Whether a run does not have the event where and when it was."""
        count, first = table.words[self.row, self.word :][:2]
        return not count or first > self.clock


def healed_errors(problem: Problem, group: OriginGroup, step: int = -1) -> Errors:
    """The errors of a run in which a group's values are healed.

    Args:
        problem: which run.
        group: the operations.
        step: the only step in which they are; -1 for all.
    """
    table = problem.table("twin")
    _heal(table, group, step)
    return twin_errors(problem, table)


def _heal(table, group: OriginGroup, step: int) -> None:
    table.words[list(group.rows), rows.TREATMENT] = (
        rows.HEALED if step < 0 else rows.HEALED_IN_ONE_STEP
    )
    table.header[rows.HEALED_STEP] = step


def _share(before: Errors, after: Errors) -> float:
    """Return the error that is left when lines are exact; infinite if fewer elements are finite."""
    if after.left_out > before.left_out or not before.size:
        return float("inf")
    return norm(after.vector) / before.size
