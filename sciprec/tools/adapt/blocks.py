"""A block of steps, made again on wider rungs until it stays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from sciprec.tools.adapt.control import Control
from sciprec.tools.adapt.plan import AdaptivePlan

S = TypeVar("S")


class Rungs(Protocol[S]):
    """A model on the rungs of a ladder; S is its state."""

    def copied(self, state: S) -> S:
        """Return a copy of a state."""

    def advanced(self, state: S, rung: int, before: int, count: int) -> None:
        """Advance by some steps on a rung; the state is changed in place."""

    def exact(self, state: S, before: int) -> S:
        """The state that one step in fp64 makes of a state, which stays as it is."""

    def apart(self, state: S, exact: S) -> np.ndarray:
        """The judged variable of a state less that of another one, flat, binary64."""

    def judged(self, state: S) -> np.ndarray:
        """The judged variable of a state, flat, binary64."""


@dataclass(frozen=True)
class Adapted:
    """The history of an adaptive run.

    Args:
        plan: what was asked for.
        variable: that was judged.
        history: (blocks, columns) of `control.COLUMNS`, repeated ones included.
        ended: empty, or a sentence: the widest rung has left the tolerance.
    """

    plan: AdaptivePlan
    variable: str
    history: np.ndarray
    ended: str = ""


def block_size(plan: AdaptivePlan, before: int, stop: int) -> int:
    """Return the steps of the block after so many steps: it ends at multiples of those of a block,
    and where the model stops for something else.
    """
    return min(plan.every - before % plan.every, stop - before)


def block(rungs: Rungs[S], control: Control, state: S, before: int, count: int) -> S:
    """The state after a block that stays.

    Args:
        rungs: the model.
        control: of the run.
        state: at the beginning of the block; it stays as it is.
        before: steps before it.
        count: its steps, at least one.
    """
    if before == 0 and not control.history:
        exact = rungs.exact(state, 0)
        differences = _differences(rungs, state, exact, 0, range(len(control.plan.ladder)))
        control.begin(differences, rungs.judged(state))
    while True:
        after, rung, last = rungs.copied(state), control.rung, before + count - 1
        if count > 1:
            rungs.advanced(after, rung, before, count - 1)
        exact = rungs.exact(after, last)
        differences = _differences(rungs, after, exact, last, range(rung))
        rungs.advanced(after, rung, last, 1)
        differences[rung] = _apart(rungs, after, exact)
        if control.keep(before, count, differences, rungs.judged(after)):
            return after


def _differences(
    rungs: Rungs[S], state: S, exact: S, before: int, numbers: Iterable[int]
) -> dict[int, np.ndarray]:
    """Return the error that the next step would add, on some rungs of the ladder of formats."""
    differences = {}
    for rung in numbers:
        after = rungs.copied(state)
        rungs.advanced(after, rung, before, 1)
        differences[rung] = _apart(rungs, after, exact)
    return differences


def _apart(rungs: Rungs[S], state: S, exact: S) -> np.ndarray:
    with np.errstate(invalid="ignore", over="ignore"):
        return rungs.apart(state, exact)
