"""An adaptive run: its state in fp64, its tendencies on the rungs of a ladder, block by block.

The state, its update and the implicit solve are in fp64 on every rung: a run then changes its
arithmetic without rounding its state, and what a step adds is the error of its tendencies alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.drifting import ExactSteps, difference, parts_of
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.request import Request
from sciprec.climate.running.team import StepMaker
from sciprec.climate.stepping.levels import Level
from sciprec.climate.stepping.schemes import System
from sciprec.climate.stepping.stored import resolve_stored
from sciprec.precision import resolve_backend
from sciprec.tools.adapt.blocks import Adapted, block, block_size
from sciprec.tools.adapt.control import Control
from sciprec.tools.adapt.plan import require_variable


class _Moving(list[Level]):
    """The levels of a block, newest first.

    Attributes:
        held: tendencies of a forcing that the next step uses, or None.
        seen: states inside the block that statistics look at, flat.
    """

    held: np.ndarray | None = None
    seen: tuple[np.ndarray, ...] = ()


class AdaptiveSteps:
    """Makes the steps of an adaptive run, in the place of `team.StepMaker`.

    Args:
        request: of the run; its `adaptive` is a plan.
        convert: of its equation set.
        model: of its widest rung.

    Attributes:
        control: chooses the rungs.
        lifted: all lifted kernels.
        forcing: of the widest rung, which between blocks holds what the next one begins with.
        pieces: cuts steps where statistics look at states, as `TimeStatistics.pieces`; or None.
        seen: those states of the last block.
    """

    pieces: Callable[[int, int], Iterator[tuple[int, bool]]] | None = None
    seen: tuple[np.ndarray, ...] = ()

    def __init__(self, request: Request, convert: Conversion, model: LiftedModel) -> None:
        assert request.adaptive is not None
        self.plan = request.adaptive
        models = [LiftedModel(on_rung(request, name), convert) for name in self.plan.ladder[:-1]]
        self._rungs: list[StepMaker] = [each.steps for each in (*models, model)]
        self.lifted = [kernel for each in (*models, model) for kernel in each.lifted]
        self._exact = ExactSteps(request, convert)
        self.forcing = model.forcing
        self._spare: list[_Moving] = []
        self._lent: list[_Moving] = []
        self._pool = Pool()
        self.variable = require_variable(self.plan, request.equations.variables)
        part = parts_of(request, model.columns)[self.variable]
        self._places = part.places
        self.control = Control(self.plan, request.stops[-1], [part.weights])

    @property
    def system(self) -> System:
        """The system of the widest rung, for the time scheme."""
        return self._rungs[-1].system

    def step(self, levels: list[Level]) -> None:
        """One step on the widest rung; all others compile theirs."""
        self._exact.after(levels, 0)
        for steps in self._rungs[:-1]:
            steps.step([level.copy() for level in levels])
        self._rungs[-1].step(levels)

    def block(self, before: int, stop: int) -> int:
        """The steps of the block after `before` ones; a block ends where a state is stored."""
        return block_size(self.plan, before, stop)

    def advance(self, levels: list[Level], before: int, count: int) -> float:
        """A block, made again on wider rungs until it stays; the processor seconds that it took."""
        start, begun = time.thread_time(), _Moving(levels)
        begun.held = _held_by(self.forcing)
        self._pool.reset()
        self._lent = []
        result = block(self, self.control, begun, before, count)
        self._spare += [begun, *(state for state in self._lent if state is not result)]
        levels[:], self.seen = result, result.seen
        _hold(self.forcing, result.held)
        return time.thread_time() - start

    @property
    def reason(self) -> str:
        """Copy a state, as `team.StepMaker` does."""
        return next(filter(None, (steps.reason for steps in self._rungs)), "")

    def copied(self, state: _Moving) -> _Moving:
        """See `blocks.Rungs`, as the following."""
        copy = self._spare.pop() if self._spare else _Moving()
        copy.held, copy.seen = state.held, state.seen
        del copy[len(state) :]
        for target, level in zip(copy, state, strict=False):
            target.take(level)
        copy += [level.copy() for level in state[len(copy) :]]
        self._lent.append(copy)
        return copy

    def advanced(self, state: _Moving, rung: int, before: int, count: int) -> None:
        """Advance by `count` steps on a rung."""
        steps = self._rungs[rung]
        _hold(steps.forcing, state.held)
        pieces = [(count, False)] if self.pieces is None else self.pieces(before, count)
        for more, is_seen in pieces:
            steps.advance(state, before, more)
            before += more
            if is_seen:
                state.seen += (state[0].values.copy(),)
        state.held = _held_by(steps.forcing)

    def exact(self, state: _Moving, before: int) -> list[Level]:
        """A step in fp64."""
        _hold(self._exact.forcing, state.held)
        return self._exact.after(state, before)

    def apart(self, state: list[Level], exact: list[Level]) -> np.ndarray:
        """The difference of the judged variable."""
        return self._judged_of(difference(state, exact, self._pool.array))

    def judged(self, state: list[Level]) -> np.ndarray:
        """The judged variable."""
        return self._judged_of(state[0].values)

    def _judged_of(self, values: np.ndarray) -> np.ndarray:
        errors = self._pool.array(self._places.shape)
        np.take(values, self._places, out=errors, mode="clip")
        return errors

    @property
    def adapted(self) -> Adapted:
        """The rungs used so far, and when each was changed."""
        return Adapted(self.plan, self.variable, self.control.arrays()["history"])


def _held_by(forcing: HeldForcing | None) -> np.ndarray | None:
    """A copy of the tendencies that a forcing holds for the next step."""
    state = None if forcing is None else forcing.state()
    return None if state is None else state.astype(np.float64)


def _hold(forcing: HeldForcing | None, tendencies: np.ndarray | None) -> None:
    """Let a forcing go on from such tendencies."""
    if forcing is not None:
        forcing.restore(tendencies)


def on_rung(request: Request, name: str) -> Request:
    """The request on a rung of its ladder."""
    backend = resolve_backend(name)
    stored = resolve_stored("fp64", backend, request.truncation.number)
    return replace(request, backend=backend, stored=stored)
