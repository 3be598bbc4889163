"""Predictions of a trace, run: what is left of the error when lines are computed wider."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sciprec.diagnosis.attribution import arithmetics_of
from sciprec.diagnosis.lines import Line, LineGroup
from sciprec.diagnosis.origins import Group
from sciprec.display.listing import Listing, Shown, Summary, counted
from sciprec.errors import InputError
from sciprec.precision.formats.backend import Backend

AGREE = 0.15
"""The largest difference of predicted and measured error left, over the larger of the two."""
_NOTHING = 0.02
_MOST_NAMED, _NAMED = 2, 0.3
"""How many lines are named whose parts become smaller, and how much of the largest change theirs
is at least."""


@dataclass(frozen=True)
class Check:
    """A group of lines computed in binary64, its results unrounded.

    Attributes:
        group: its number.
        lines: its lines, as they are called.
        predicted, measured: error left, over the error before; pooled over inputs.
        moved_to: where the rounding moves, if it does; else "".
        shrinks: else the lines whose parts become smaller with it, the one that does most first.
    """

    group: int
    lines: tuple[str, ...]
    predicted: float
    measured: float
    moved_to: str = ""
    shrinks: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether prediction and run agree within 15 %, or both leave next to nothing."""
        most = max(self.predicted, self.measured)
        return most < _NOTHING or abs(self.predicted - self.measured) <= AGREE * most

    @property
    def words(self) -> str:
        """Whether they agree, and if not why."""
        if self.agrees:
            return "yes"
        if self.moved_to:
            return f"no: the rounding moves to {self.moved_to}"
        if not self.shrinks:
            return "no: no other part changes; what is left adds up otherwise"
        some, of = " and ".join(self.shrinks), "parts" if len(self.shrinks) > 1 else "part"
        return f"no: the {of} of {some} become{'s' * (of == 'part')} smaller with it"


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """What was predicted and measured of the largest groups.

    Attributes:
        kernel, backend: what was run; of a model its name.
        checks: one for each group, the largest first.
        inputs: over how many inputs errors are pooled.
    """

    kernel: str
    backend: str
    checks: tuple[Check, ...]
    inputs: int

    def __iter__(self):
        return iter(self.checks)

    def _summary(self) -> Summary:
        rows = [
            (", ".join(c.lines), str(c.group), f"{c.predicted:.1%}", f"{c.measured:.1%}", c.words)
            for c in self.checks
        ]
        if not rows:
            title = f"Nothing to compute wider: '{self.kernel}' in {self.backend} has no group of "
            return Summary(f"{title}lines with a part in an error.")
        inputs = counted(self.inputs, "input")
        title = (
            f"Error of '{self.kernel}' in {self.backend} left when lines are not rounded, over "
            f"{inputs}."
        )
        heads = ("group", "predicted", "measured")
        return Summary(title, Listing(("computed wider",), heads, rows, ("agree",)))


class WiderRuns(Protocol):
    """Runs in which some lines are computed in binary64."""

    def left(self, members: Sequence[int]) -> float:
        """The error of a run in which these lines are not rounded over that of an ordinary one;
        pooled over inputs.
        """
        ...

    def changes(self, members: Sequence[int]) -> list[tuple[Group, float]]:
        """By how much the size of every other line's part grows then."""
        ...


def verified(
    runs: WiderRuns, groups: Sequence[LineGroup], called: Callable[[Line | Group], str]
) -> tuple[Check, ...]:
    """Groups computed in binary64, each by itself.

    Args:
        runs: what computes them.
        groups: the groups.
        called: what a line is called.
    """
    checks = []
    for group in groups:
        names = tuple(map(called, group.lines))
        check = Check(group.number, names, group.left, runs.left(group.members))
        checks.append(check if check.agrees else _explained(check, runs, group, called))
    return tuple(checks)


def _explained(
    check: Check, runs: WiderRuns, group: LineGroup, called: Callable[[Line | Group], str]
) -> Check:
    """A check that does not agree, with the lines whose parts change when it is made."""

    def with_text(of: Group) -> str:
        name = called(of)
        return name if of.source in name else f"{name} ({of.source})"

    changes = sorted(runs.changes(group.members), key=lambda pair: pair[1])
    if changes and changes[-1][1] > 0.0:
        return replace(check, moved_to=with_text(changes[-1][0]))
    least = _NAMED * changes[0][1] if changes else 0.0
    named = [with_text(of) for of, change in changes[:_MOST_NAMED] if change <= least < 0.0]
    return replace(check, shrinks=tuple(named))


def pooled(sizes: Sequence[tuple[float, float]]) -> float:
    """What is left of errors, from their sizes (before, after) for every input."""
    before, after = (math.hypot(*size) for size in zip(*sizes, strict=True))
    return after / before if before else 0.0


def require_narrower(backend: Backend) -> None:
    """Refuse an arithmetic that binary64 is no wider than."""
    if not can_be_wider(backend):
        raise InputError(
            f"backend '{backend.name}' is as wide as what lines would be computed in; verify "
            "takes a trace in an arithmetic with fewer than 53 bits"
        )


def can_be_wider(backend: Backend) -> bool:
    """Whether binary64 is wider than an arithmetic."""
    return arithmetics_of(backend)[0].format.significand_bits < 53
