"""Threads that make the steps of one run together, each those of some orders.

Sums, schemes, diffusion and the implicit solver take every coefficient by itself, and an order's
coefficients are neighbours: a thread holds the levels of its orders alone and runs the time scheme
on them. Threads meet inside the tendency (`equations.tendency`), whose kernel all of them run, and
where something is made of the whole state by one of them. The compiled code is that of one thread,
and every element is made by the same operations: no bit depends on the number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sciprec.climate.equations.share import Share
from sciprec.climate.stepping.levels import Addition, Level
from sciprec.climate.stepping.schemes import System, TimeScheme
from sciprec.foundation.time_steps import step_begins, steps_end
from sciprec.precision.operations.meeting import abandon, meet_from_python

if TYPE_CHECKING:
    from sciprec.climate.running.held_forcing import HeldForcing


@dataclass(frozen=True)
class Shared:
    """Memory and counters that the threads of a run share.

    Args:
        state, out: (coefficients, columns), of a whole state and of what is made of it.
        counters: what they meet by.
        parts: how many they are.
    """

    state: np.ndarray
    out: np.ndarray
    counters: np.ndarray
    parts: int

    def meet(self) -> None:
        """Wait for the others."""
        meet_from_python(self.counters, self.parts)


@dataclass(frozen=True)
class TeamThread:
    """One thread of a run.

    Args:
        share: its part.
        shared: with the others.
        tendency: function (state, out), of whole states; it makes the share's part of it.
        work: (WORK_ARRAYS, size), of whole states.
        wholes: whole states by the address of the share's elements in them: of the work, and of the
            levels that are advanced now. Other elements are copied, from and to the shared ones.
    """

    share: Share
    shared: Shared
    tendency: Callable
    work: np.ndarray
    wholes: dict[int, np.ndarray] = field(default_factory=dict)

    def _know(self, wholes: Iterable[np.ndarray]) -> None:
        """Find these whole states, flat, where their elements are given."""
        for shared in wholes:
            self.wholes[_address(shared[self.elements])] = shared.reshape(self.shared.state.shape)

    def slope(self, values: np.ndarray, out: np.ndarray) -> None:
        """The tendency of the share's elements, of those and the others'."""
        out_room = self._room(out)
        self.tendency(self._room_of(values), out_room)
        self._give(out_room, out)

    def of_own_rows(self, kernel: Callable) -> Callable:
        """A function (values, out) of the share's elements alone."""
        return lambda x, out: kernel(x.reshape(self.shape), out.reshape(self.shape))

    def by_one(self, kernel: Callable) -> Callable:
        """A function (values, out) by a kernel (state, out) of whole states, run by one thread."""

        def function(values: np.ndarray, out: np.ndarray) -> None:
            out_room = self._room(out)
            self._alone(lambda state: kernel(state, out_room), self._room_of(values))
            self._give(out_room, out)

        return function

    def changed_by_one(self, adjust: Callable) -> Callable:
        """A function (values) that changes the share's elements, by one of whole states."""

        def function(values: np.ndarray) -> None:
            state = self._room_of(values)
            self._alone(adjust, state)
            self._give(state, values)

        return function

    def _room_of(self, values: np.ndarray) -> np.ndarray:
        """The whole state that holds the share's elements; others' are there after a meeting."""
        existing = self.wholes.get(_address(values))
        if existing is not None:
            return existing
        self.shared.state[self.share.rows] = values.reshape(self.shape)
        return self.shared.state

    def _room(self, out: np.ndarray) -> np.ndarray:
        """The whole state in which the share's elements are to be written."""
        return self.wholes.get(_address(out), self.shared.out)

    def _give(self, result: np.ndarray, out: np.ndarray) -> None:
        """Copy the share's elements of a whole state, unless they are in their place."""
        if result is self.shared.state or result is self.shared.out:
            out.reshape(self.shape)[:] = result[self.share.rows]

    def _alone(self, function: Callable, state: np.ndarray) -> None:
        """One thread does something with a whole state while the others wait."""
        self.shared.meet()
        if self.share.part == 0:
            function(state)
        self.shared.meet()

    def addition(self, of_model: Addition) -> Addition:
        """The addition of the share's elements."""
        part = self.elements
        shares = None if of_model.shares is None else np.ascontiguousarray(of_model.shares[:, part])
        resets = tuple((compensation, which[part]) for compensation, which in of_model.resets)
        damping = np.ascontiguousarray(of_model.damping[:, part])
        losses = None if of_model.losses is None else of_model.losses.part(self.share.rows)
        options = {"damping": damping, "shares": shares, "resets": resets, "losses": losses}
        return replace(of_model, **options)

    def part_of(self, levels: Sequence[Level]) -> list[Level]:
        """The share's elements of levels, in their places."""
        part = self.elements
        self.wholes.clear()
        self._know([*self.work, *(level.values for level in levels)])
        return [
            Level(level.values[part], None if level.residual is None else level.residual[part])
            for level in levels
        ]

    @property
    def shape(self) -> tuple[int, int]:
        """Coefficients and columns of the share."""
        rows = self.share.rows
        return rows.stop - rows.start, self.shared.state.shape[1]

    @property
    def elements(self) -> slice:
        """The elements of a flat state that belong to the share."""
        rows, columns = self.share.rows, self.shared.state.shape[1]
        return slice(columns * rows.start, columns * rows.stop)


@dataclass(frozen=True)
class StepMaker:
    """The steps of a whole model, or of one thread's share of it.

    Args:
        scheme: the time scheme.
        system: what it sees.
        adjust: function (values) that changes each new state in place, or None.
        forcing: of a user, whose tendencies are held from step to step; or None.
    """

    scheme: TimeScheme
    system: System
    adjust: Callable[[np.ndarray], None] | None
    forcing: HeldForcing | None = field(default=None, kw_only=True)

    @property
    def reason(self) -> str:
        """A forcing's reason why the run is not finite any more; usually empty."""
        return "" if self.forcing is None else self.forcing.lost()

    def step(self, levels: list[Level]) -> None:
        """One step of the levels, newest first."""
        self.scheme.advance(self.system, levels)
        if self.adjust is not None:
            self.adjust(levels[0].values)

    def advance(self, levels: list[Level], before: int, count: int) -> float:
        """Advance by `count` steps after `before` steps; the processor seconds that they took."""
        start = time.thread_time()
        for step in range(before + 1, before + count + 1):
            step_begins(step)
            self.system.addition.begin(step)
            if self.forcing is not None:
                self.forcing.begin(step - 1, len(levels))
            self.step(levels)
            self.system.addition.forget(levels, step)
        steps_end()
        return time.thread_time() - start


class Team:
    """The threads of one run; `advance` as that of `StepMaker`.

    Args:
        members: the threads, by part.
        steps: what makes the steps of each.
    """

    def __init__(self, members: Sequence[TeamThread], steps: Sequence[StepMaker]) -> None:
        self._members, self._steps = members, steps
        self._pool = ThreadPoolExecutor(len(members), "sciprec-team")

    def advance(self, levels: list[Level], before: int, count: int) -> float:
        """Advance by `count` steps; the processor seconds that they took, summed over threads."""
        parts = [member.part_of(levels) for member in self._members]
        wholes = [x for each in levels for x in (each.values, each.residual) if x is not None]
        running = []
        try:
            for steps, part in zip(self._steps, parts, strict=True):
                running.append(self._pool.submit(self._advance, steps, part, before, count))
            ended, _ = wait(running, return_when=FIRST_EXCEPTION)
            seconds = sum(each.result() for each in ended)
        except BaseException:  # an interrupt, too: nobody may wait for one that does not come
            self._abandon()
            raise
        levels[:] = [self._joined(each, wholes) for each in zip(*parts, strict=True)]
        return seconds

    def _joined(self, parts: Sequence[Level], wholes: Sequence[np.ndarray]) -> Level:
        """The level of all elements."""
        residuals = [part.residual for part in parts if part.residual is not None]
        values = self._room_of([part.values for part in parts], wholes)
        return Level(values, self._room_of(residuals, wholes) if residuals else None)

    def _room_of(self, parts: Sequence[np.ndarray], wholes: Sequence[np.ndarray]) -> np.ndarray:
        """The array, one of these, whose elements are all in their places, or a new one."""
        where = [member.elements for member in self._members]
        for room in wholes:
            if all(_address(room[e]) == _address(p) for e, p in zip(where, parts, strict=True)):
                return room
        return np.concatenate(parts)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    def _advance(self, steps: StepMaker, levels: list[Level], before: int, count: int) -> float:
        try:
            return steps.advance(levels, before, count)
        except BaseException:
            self._abandon()
            raise

    def _abandon(self) -> None:
        abandon(self._members[0].shared.counters)


def _address(values: np.ndarray) -> int:
    return values.__array_interface__["data"][0]
