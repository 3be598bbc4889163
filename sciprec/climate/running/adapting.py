"""An adaptive run: its state in fp64, its tendencies on the rungs of a ladder, block by block.

The state, its update and the implicit solve are in fp64 on every rung: a run then changes its
arithmetic without rounding its state, and what a step adds is the error of its tendencies alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sciprec.adaptation.control import Control
from sciprec.adaptation.plan import Plan, require_variable
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.drifting import ExactSteps, difference, parts_of
from sciprec.climate.running.lifted_model import Model
from sciprec.climate.running.request import Request
from sciprec.climate.running.team import Steps
from sciprec.climate.stepping.levels import Level
from sciprec.climate.stepping.schemes import System
from sciprec.climate.stepping.stored import resolve_stored
from sciprec.precision import resolve_backend


@dataclass(frozen=True)
class Adapted:
    """What an adaptive run has done.

    Args:
        plan: what was asked for.
        variable: that was judged.
        history: (blocks, columns) of `control.COLUMNS`, repeated ones included.
    """

    plan: Plan
    variable: str
    history: np.ndarray


class AdaptiveSteps:
    """Makes the steps of an adaptive run, in the place of `team.Steps`.

    Args:
        request: of the run; its `adaptive` is a plan.
        convert: of its equation set.
        model: of its widest rung.

    Attributes:
        control: chooses the rungs.
        lifted: all lifted kernels.
    """

    def __init__(self, request: Request, convert: Conversion, model: Model) -> None:
        assert request.adaptive is not None
        self.plan = request.adaptive
        models = [Model(on_rung(request, name), convert) for name in self.plan.ladder[:-1]]
        self._rungs: list[Steps] = [one.steps for one in (*models, model)]
        self.lifted = [kernel for one in (*models, model) for kernel in one.lifted]
        self._exact = ExactSteps(request, convert)
        self.variable = require_variable(self.plan, request.equations.variables)
        part = parts_of(request, model.columns)[self.variable]
        self._places = part.places
        self.control = Control(self.plan, request.stops[-1], part.weights)

    @property
    def system(self) -> System:
        """What a time scheme sees on the widest rung."""
        return self._rungs[-1].system

    def step(self, levels: list[Level]) -> None:
        """One step on the widest rung; all others compile theirs."""
        self._exact.after(levels, 0)
        for steps in self._rungs[:-1]:
            steps.step([level.copy() for level in levels])
        self._rungs[-1].step(levels)

    def block(self, before: int, stop: int) -> int:
        """How many steps the block after so many has: it ends at multiples of those of a block,
        and where a state is stored.
        """
        every = self.plan.every
        return min(every - before % every, stop - before)

    def advance(self, levels: list[Level], before: int, count: int) -> float:
        """A block, made again on wider rungs until it stays; the processor seconds that it took."""
        start = time.thread_time()
        if before == 0 and not self.control.history:
            every = range(len(self._rungs))
            tried = self._differences(levels, self._exact.after(levels, 0), 0, every)
            self.control.begin(tried, self._judged(levels))
        while not self._made(levels, before, count):
            pass
        return time.thread_time() - start

    def _made(self, levels: list[Level], before: int, count: int) -> bool:
        """Make a block on the present rung; whether it stays, and the levels are those after it."""
        rung, last = self.control.rung, before + count - 1
        made = [level.copy() for level in levels]
        self._rungs[rung].advance(made, before, count - 1)
        exact = self._exact.after(made, last)
        tried = self._differences(made, exact, last, range(rung))
        self._rungs[rung].advance(made, last, 1)
        tried[rung] = self._apart(made, exact)
        kept = self.control.keep(before, count, tried, self._judged(made))
        if kept:
            levels[:] = made
        return kept

    def _differences(
        self, levels: Sequence[Level], exact: Sequence[Level], before: int, rungs: Sequence[int]
    ) -> dict[int, np.ndarray]:
        """What the next step would add on some rungs."""
        found = {}
        for rung in rungs:
            tried = [level.copy() for level in levels]
            self._rungs[rung].advance(tried, before, 1)
            found[rung] = self._apart(tried, exact)
        return found

    def _apart(self, levels: Sequence[Level], exact: Sequence[Level]) -> np.ndarray:
        with np.errstate(invalid="ignore", over="ignore"):
            return difference(levels, exact)[self._places]

    def _judged(self, levels: Sequence[Level]) -> np.ndarray:
        return levels[0].values[self._places].astype(np.float64)

    @property
    def adapted(self) -> Adapted:
        """What was done so far."""
        history = self.control.arrays()["history"]
        return Adapted(self.plan, self.variable, history)


def on_rung(request: Request, name: str) -> Request:
    """The request on a rung of its ladder."""
    backend = resolve_backend(name)
    stored = resolve_stored("fp64", backend, request.truncation.number)
    return replace(request, backend=backend, stored=stored)
