"""The error that rounding adds in one step of a run: the step again in fp64, from its own state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.request import Request
from sciprec.climate.stepping.levels import Level
from sciprec.climate.stepping.stored import StoredState
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.precision import resolve_backend
from sciprec.tools.monitor.drift import Drift, StatePart
from sciprec.tools.monitor.summaries import Allocator


def true_values(level: Level, room: Allocator = np.empty) -> np.ndarray:
    """The numbers that a level stands for, in binary64: its values plus its carries."""
    return _true_into(level, room(level.values.shape), room)


def _true_into(level: Level, values: np.ndarray, room: Allocator) -> np.ndarray:
    values[...] = level.values
    if level.residual is not None:
        owed = room(values.shape)
        owed[...] = level.residual
        np.add(values, owed, out=values)
    return values


class ExactSteps:
    """Steps in fp64 from the states of a run.

    Args:
        request: of the run.
        convert: of its equation set.
    """

    def __init__(self, request: Request, convert: Conversion) -> None:
        self._steps = LiftedModel(in_fp64(request), convert).steps
        self._true_levels: list[Level] = []
        self._pool = Pool()

    @property
    def forcing(self) -> HeldForcing | None:
        """The forcing of the exact steps, or None."""
        return self._steps.forcing

    def after(
        self, levels: Sequence[Level], before: int, forcing: HeldForcing | None = None
    ) -> list[Level]:
        """The levels that a step in fp64 makes of such, until the next call; these stay as they
        are.

        Args:
            levels: of the time scheme, newest first.
            before: how many steps were made.
            forcing: of the run, or None.
        """
        if forcing is not None:
            self._steps.forcing.follow(forcing)
        self._pool.reset()
        while len(self._true_levels) < len(levels):
            self._true_levels.append(Level(np.empty(levels[0].values.shape)))
        states = self._true_levels[: len(levels)]
        for level, state in zip(levels, states, strict=True):
            _true_into(level, state.values, self._pool.array)
        self._steps.advance(states, before, 1)
        return states


def difference(
    levels: Sequence[Level], exact: Sequence[Level], room: Allocator = np.empty
) -> np.ndarray:
    """The error that a step has added to the states, flat: the mean over the levels of the scheme,
    since a leapfrog's levels move on by turns.

    Args:
        levels: after the step of the run.
        exact: after that in fp64.
        room: makes the arrays.
    """
    each = [true_values(values, room) for values in levels]
    for values, truth in zip(each, exact, strict=True):
        np.subtract(values, truth.values, out=values)
    total = each[0]
    for more in each[1:]:
        np.add(total, more, out=total)
    return np.divide(total, len(each), out=total)


def in_fp64(request: Request) -> Request:
    """Copy a request for fp64, uncompensated and unwatched."""
    plain = resolve_backend("fp64")
    return replace(
        request, backend=plain, stored=StoredState(plain), compensation={}, stages=None,
        monitor=None,
    )  # fmt: skip


def is_fp64(request: Request) -> bool:
    """Whether a run is that in fp64 itself."""
    formats = request.backend, request.stored, request.compensation, request.stages
    exact = in_fp64(request)
    return formats == (exact.backend, exact.stored, exact.compensation, exact.stages)


def parts_of(request: Request, columns: np.ndarray) -> dict[str, StatePart]:
    """The variables of a state with the weights of their l2 norm on the sphere.

    Args:
        request: the run.
        columns: name of the variable of each column of the state.
    """
    degree, order = coefficient_orders(request.truncation.number)
    mask = (degree <= request.truncation.number)[:, None] & np.ones(columns.size, bool)
    mask[:, 1::2] &= (order > 0)[:, None]
    twice = np.broadcast_to(np.where(order > 0, 2.0, 1.0)[:, None], mask.shape).ravel()
    result = {}
    for name in dict.fromkeys(columns.tolist()):
        places = np.flatnonzero((mask & (columns == name)).ravel())
        result[name] = StatePart(places, twice[places])
    return result


class Drifting:
    """A run's steps beside those in fp64.

    Args:
        request: of the run; its monitor says how often.
        convert: of its equation set.
        columns: name of the variable of each column of the state.

    Attributes:
        drift: what was found.
    """

    def __init__(self, request: Request, convert: Conversion, columns: np.ndarray) -> None:
        watched = {name.rpartition(":")[2] for name in request.monitor.watch}
        parts = parts_of(request, columns)
        chosen = {name: part for name, part in parts.items() if name in watched}
        self.drift = Drift(chosen, request.monitor.drift_every)
        self._exact = ExactSteps(request, convert)
        self._convert, self._columns = convert, columns
        self._true_levels: list[Level] = []
        self._pool = Pool()

    def begin(
        self, levels: Sequence[Level], before: int, forcing: HeldForcing | None = None
    ) -> None:
        """The run is about to make a step, under a forcing or none."""
        self._true_levels = self._exact.after(levels, before, forcing)

    def end(self, levels: Sequence[Level], steps: int) -> None:
        """Note that the run has made the step."""
        self._pool.reset()
        room = self._pool.array
        apart = difference(levels, self._true_levels, room)
        self.drift.note(steps, apart, true_values(levels[0], room), room)

    def fields(self, levels: Sequence[Level]) -> dict[str, np.ndarray]:
        """The signed sum in SI units: by how much the fields of the state differ from those of the
        state without it. Empty where there is none, or it is not finite.
        """
        state, moved = true_values(levels[0]), self.drift.summed
        if not moved.size or not (np.isfinite(state).all() and np.isfinite(moved).all()):
            return {}
        shape = -1, self._columns.size
        with_it, without = (
            self._convert.to_fields(x.reshape(shape)) for x in (state, state - moved)
        )
        return {name: values - without[name] for name, values in with_it.items()}
