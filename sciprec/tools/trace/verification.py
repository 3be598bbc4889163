"""Predictions of a trace, tested by runs: the error that is left when lines are computed wider."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.foundation.listing import Listing, Shown, Summary, counted
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.attribution import arithmetics_of
from sciprec.tools.trace.lines import Line, LineGroup
from sciprec.tools.trace.origins import OriginGroup

PREDICTS = 10.0
"""Share of the error beyond which a part that no run confirms has predicted nothing."""
AGREE = 0.15
"""The largest difference of predicted and measured error left, over the larger of the two."""
_NOTHING = 0.02
_TURNED = 1e-3
"""Share of the error beyond which differing exact values belong to other paths."""
_MOSTLY = 0.5


@dataclass(frozen=True)
class LineChange:
    """The change of another line when some are computed wider.

    Attributes:
        group: that line.
        before, after: size of its part then, over the whole error before; pooled over inputs.
        adds: by how much it makes the square of the error left larger than predicted, over the
            square of the error before. All lines together have the whole difference.
    """

    group: OriginGroup
    before: float
    after: float
    adds: float


@dataclass(frozen=True)
class Changes:
    """The changes of all lines when some are computed wider.

    Attributes:
        lines: each of the others.
        inputs: over how many inputs.
        turned: in how many of them the run takes another path.
        by_turning: what the lines add in these.
    """

    lines: tuple[LineChange, ...]
    inputs: int
    turned: int = 0
    by_turning: float = 0.0

    @property
    def adds(self) -> float:
        """The sum of what all lines add."""
        return sum(line.adds for line in self.lines)


@dataclass(frozen=True)
class WiderLines:
    """A group of lines computed in binary64, its results unrounded.

    Attributes:
        group: its number.
        lines: its lines, as they are called.
        predicted, measured: error left, over the error before; pooled over inputs. NaN where the
            parts of the group are no prediction: where they are much larger than the error, beside
            singularities, and where numbers are lost, of which the measured part still is.
        moved_to: where the rounding moves, if it does; else "".
        shrinks: else the line whose part becomes smaller with it, or "".
        otherwise: else the line that rounds other numbers then, or "".
        turned: else in how many inputs the run takes another path.
        why: in words, if they do not agree.
    """

    group: int
    lines: tuple[str, ...]
    predicted: float
    measured: float
    moved_to: str = ""
    shrinks: str = ""
    otherwise: str = ""
    turned: int = 0
    why: str = ""

    @property
    def agrees(self) -> bool:
        """Whether prediction and run agree within 15 %, or both leave next to nothing."""
        if math.isnan(self.predicted):
            return False
        most = max(self.predicted, self.measured)
        return most < _NOTHING or abs(self.predicted - self.measured) <= AGREE * most

    @property
    def words(self) -> str:
        """The verdict in words: they agree, or if not why."""
        no = "–" if math.isnan(self.predicted) else "no"
        return "yes" if self.agrees else f"{no}: {self.why}"


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """The predicted and the measured error without the largest groups.

    Attributes:
        kernel, backend: what was run; of a model its name.
        checks: one for each group, the largest first.
        inputs: over how many inputs errors are pooled.
    """

    kernel: str
    backend: str
    checks: tuple[WiderLines, ...]
    inputs: int

    def __iter__(self):
        return iter(self.checks)

    def _summary(self) -> Summary:
        rows = [
            (", ".join(c.lines), str(c.group or "–"), _percent(c.predicted), _percent(c.measured),
             c.words)
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


@dataclass(frozen=True)
class WiderRun:
    """The results of a run of one input: vectors over usable elements of results, over the same
    norms.

    Attributes:
        error, exact: tested - exact, and exact values.
        parts: of the lines that are not computed wider.
    """

    error: np.ndarray
    exact: np.ndarray
    parts: Sequence[np.ndarray]


class WiderRuns(Protocol):
    """Runs in which some lines are computed in binary64."""

    def left(self, members: Sequence[int]) -> float:
        """The error of a run in which these lines are not rounded over that of an ordinary one;
        pooled over inputs.
        """
        ...

    def predicted(self, group: LineGroup) -> float:
        """Return the error without the parts of a group's lines, over that of an ordinary run."""
        ...

    def changes(self, members: Sequence[int], upward: bool) -> Changes:
        """Return the changes of all other lines then.

        Args:
            members: places of the lines.
            upward: whether the measured error left is larger than the predicted one.
        """
        ...


def verified(
    runs: WiderRuns, groups: Sequence[LineGroup], called: Callable[[Line | OriginGroup], str]
) -> tuple[WiderLines, ...]:
    """Groups computed in binary64, each by itself.

    Args:
        runs: what computes them.
        groups: the groups.
        called: what a line is called.
    """
    checks = []
    for group in groups:
        names = tuple(map(called, group.lines))
        check = WiderLines(group.number, names, runs.predicted(group), runs.left(group.members))
        if not check.agrees and check.predicted > PREDICTS:
            sizes = f"its part is {check.predicted:.2g} times the error"
            why = f"no prediction: {sizes}, and a function is far from linear there"
            checks.append(replace(check, predicted=math.nan, why=why))
            continue
        checks.append(check if check.agrees else _explained(check, runs, group, called))
    return tuple(checks)


def _explained(
    check: WiderLines,
    runs: WiderRuns,
    group: LineGroup,
    called: Callable[[Line | OriginGroup], str],
) -> WiderLines:
    """A check that does not agree, with the line that makes most of the difference."""
    upward = check.measured > check.predicted
    changes = runs.changes(group.members, upward)
    if changes.turned and changes.by_turning / (changes.adds or 1.0) > _MOSTLY:
        inputs = counted(changes.inputs, "input")
        why = f"in {changes.turned} of {inputs} the run decides otherwise with it, on another path"
        return replace(check, turned=changes.turned, why=why)
    most = (max if upward else min)(changes.lines, key=lambda line: line.adds)
    name = called(most.group)
    name = name if most.group.source in name else f"{name} ({most.group.source})"
    sizes = f"from {most.before:.1%} to {most.after:.1%} of the error"
    if upward and most.after > most.before:
        return replace(
            check, moved_to=name, why=f"the rounding moves to {name}, whose part grows {sizes}"
        )
    if not upward and most.after < most.before:
        why = f"the part of {name} becomes smaller with it, {sizes}"
        return replace(check, shrinks=name, why=why)
    does = "adds more to the rest" if upward else "takes more from the rest"
    why = f"{name} rounds other numbers then: its part, {sizes}, {does}"
    return replace(check, otherwise=name, why=why)


def changes_of(
    lines: Sequence[OriginGroup], runs: Sequence[tuple[WiderRun, WiderRun]]
) -> Changes:
    """Return the changes of lines when others are computed wider.

    Args:
        lines: all others.
        runs: for every input what an ordinary run gave, and one with some lines computed wider; the
            same elements of results.

    The square of the error left is that of the predicted one and, for each line, the scalar product
    of what its part changes by and of the sum of both.
    """
    before, after, adds = (np.zeros(len(lines)) for _ in range(3))
    total, turned, by_turning = 0.0, 0, 0.0
    for usual, wider in runs:
        rest = sum(usual.parts, np.zeros_like(usual.error))
        both = rest + sum(wider.parts, np.zeros_like(rest))
        added = np.array([(a - b) @ both for b, a in zip(usual.parts, wider.parts, strict=True)])
        before += [part @ part for part in usual.parts]
        after += [part @ part for part in wider.parts]
        adds, total = adds + added, total + usual.error @ usual.error
        apart = np.linalg.norm(usual.exact - wider.exact)
        if apart > _TURNED * np.linalg.norm(usual.error):
            turned, by_turning = turned + 1, by_turning + float(added.sum())
    total = total or 1.0
    rows = zip(lines, np.sqrt(before / total), np.sqrt(after / total), adds / total, strict=True)
    changes = tuple(LineChange(group, *map(float, numbers)) for group, *numbers in rows)
    return Changes(changes, len(runs), turned, by_turning / total)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{share:.1%}"


def pooled(sizes: Sequence[tuple[float, float]]) -> float:
    """Return the share of errors that is left, from their sizes (before, after) for every input."""
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
