"""Predictions of a trace, run: what is left of the error when lines are computed wider."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.diagnosis.families import Family
from sciprec.diagnosis.origins import Group
from sciprec.diagnosis.problem import Problem
from sciprec.diagnosis.splitting import Errors, Split, norm
from sciprec.display.listing import Listing, Shown, Summary

AGREE = 0.15
"""The largest difference of predicted and measured error left, over the larger of the two."""
_NOTHING = 0.02


@dataclass(frozen=True)
class Check:
    """A family of lines computed in binary64, its results unrounded.

    Attributes:
        group: the family's number.
        lines: its lines, as they are called.
        predicted, measured: error left, over the error before; pooled over perturbed inputs.
        moved_to: where the rounding moves, if it does; else "".
    """

    group: int
    lines: tuple[str, ...]
    predicted: float
    measured: float
    moved_to: str = ""

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
        moved = f"the rounding moves to {self.moved_to}" if self.moved_to else ""
        return f"no: {moved or 'other parts change with it'}"


@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """What was predicted and measured of the largest groups.

    Attributes:
        kernel, backend: what was run.
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
        title = (
            f"Error of '{self.kernel}' in {self.backend} left when lines are not rounded, over "
            f"{self.inputs} inputs."
        )
        heads = ("group", "predicted", "measured")
        return Summary(title, Listing(("computed wider",), heads, rows, ("agree",)))


def verified(
    problem: Problem, groups: Sequence[Group], split: Split, found: Sequence[Family],
    rounding: Sequence[int], inputs: Sequence[tuple[tuple, Errors]],
) -> list[Check]:  # fmt: skip
    """Families computed in binary64, each by itself.

    Args:
        problem: whose error it is.
        groups: all of them, those too that round nothing so far.
        split: of the arguments as they are, by the rounding ones.
        found: the families, of rounding groups.
        rounding: numbers of the rounding groups.
        inputs: (arguments, their errors) to pool over.
    """
    checks = []
    for family in found:
        wide = [groups[rounding[n]] for n in family.members]
        sizes = []
        for args, before in inputs:
            after = Split(problem, [], args, wide=wide).whole
            sizes.append((before.among(after), after.among(before)))
        before, after = (math.hypot(*size) for size in zip(*sizes, strict=True))
        measured = after / before if before else 0.0
        lines = tuple(g.name if not g.argument else g.source for g in wide)
        check = Check(family.number, lines, family.left, measured)
        if not check.agrees:
            moved = _moved_to(problem, groups, split, rounding, wide)
            check = Check(family.number, lines, family.left, measured, moved)
        checks.append(check)
    return checks


def _moved_to(problem: Problem, groups, split: Split, rounding, wide: Sequence[Group]) -> str:
    """The group whose part grows most when others are computed wider; "" where none does."""
    rest = [n for n, g in enumerate(groups) if g not in wide]
    if not rest:
        return ""
    after, known = Split(problem, [groups[n] for n in rest], wide=wide), list(rounding)
    grown = [
        norm(after.part(place)) - (norm(split.part(known.index(n))) if n in known else 0.0)
        for place, n in enumerate(rest)
    ]
    best = int(np.argmax(grown))
    return f"{groups[rest[best]].name} ({groups[rest[best]].source})" if grown[best] > 0.0 else ""
