"""The runs of a model's trace: functions first, then the lines of those with much of the error."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.stages import Stage
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.models.between import Ladder, stretch
from sciprec.tools.trace.models.census import Census
from sciprec.tools.trace.models.groups import (
    BETWEEN,
    STAGE,
    STEP,
    Joint,
    ModelGroups,
    of_steps,
    pieces,
    pieces_of_steps,
)
from sciprec.tools.trace.models.notes import TwinNotes
from sciprec.tools.trace.models.orders import FollowedGroups, FollowedSteps
from sciprec.tools.trace.models.runs import ErrorRun
from sciprec.tools.trace.origins import OriginGroup
from sciprec.tools.trace.splitting import counts_as_none, norm, share, size_of_exact

HOT = 0.05
"""A function whose part is larger than this share of the error is split."""
APART = 10.0
"""Where parts together are so many times larger than their sum, the run is past its horizon."""
_LAST_DIGITS = 2.0**-50
"""Share of a result below which an error, over the stretch, is only the rounding of copies in
binary64.
"""
_FIRST_STEPS, MOST_STEPS = 12, 56
"""Rows of a trace by step: of longer runs at first and, where some have much of the error, in the
end."""
_TIMED = 2
"""Which run is timed: the first one compiles."""
_PEAK = 2.0
"""How many times as large as the mean the part of several steps is that are looked at further."""


class RunsCourse(Protocol):
    """A listener that is told how far the runs are, such as `course.TraceProgress`."""

    def begins(self, label: str, count: int, runs: int) -> None:
        """Further work begins, of so many runs."""
        ...

    def comes_to(self, number: int, seconds: float) -> None:
        """A run with parts begins."""
        ...

    def within(self, calls: int) -> None:
        """A run has made so many calls of kernels."""
        ...


@dataclass(frozen=True)
class PartsOfRun:
    """The results of a run, or of several of the same, by name.

    Args:
        tested: tested values.
        errors: tested - exact.
        parts: group -> its part.
    """

    tested: Mapping[str, np.ndarray]
    errors: Mapping[str, np.ndarray]
    parts: dict[tuple, dict[str, np.ndarray]]


class Splitting:
    """The runs of one trace, and their results.

    Args:
        program: what is traced; its results have `values` and `timed`.
        backend: a traceable arithmetic.
        outputs: names of the results that count.
        lanes: numbers beside each value.
        census: an ordinary run of it.
        course: told before each run with parts, with its number, and with the seconds of the
            second one, for which nothing is compiled any more; 0 before that has been made; and of
            every run how many calls it has made. None: nobody is told.
        stages: of the model.

    Attributes:
        groups: what the error is split by, in the order in which copies lack their parts.
        parts: group -> name of a result -> its part.
        errors, known: name of a result -> tested - exact, of the runs with parts and of the twin.
        notes: of the rows of all kernels.
        steps: the time steps of the run.
        made, differing: roundings of arguments and arrays that change something, and arguments with
            an error, see `ErrorRun`.
        passes: how many runs with parts there were.
    """

    def __init__(
        self, program, backend: Backend, outputs: Sequence[str], lanes: int, census: Census,
        course: RunsCourse | None = None,
        stages: Sequence[Stage] = (),
    ) -> None:  # fmt: skip
        self.course, self.stages, self._seconds = course, tuple(stages), 0.0
        self.program, self.backend, self.lanes, self.census = program, backend, lanes, census
        self.outputs, self.results = tuple(outputs), census.results
        self.parts: dict[tuple, dict[str, np.ndarray]] = {}
        self.groups: dict[tuple, Joint] = {}
        self.passes, self.notes = 0, TwinNotes(census)
        self.twin_errors = self._twin()
        self.steps = census.log.steps(self.notes.calls, self.notes.loops(), self.notes.repeats())
        self._all = ModelGroups(census, self.notes, lanes)

    def split(self, by: str) -> None:
        """Make all runs: of functions, of pieces of those that are hot, down to their lines."""
        if by == STEP:
            self._split_by_step()
            return
        if by == STAGE:
            self.groups = self.by_stage
            self._follow()
            return
        members: dict[tuple, list] = {}
        for key, joint in self._all.by("function").items():
            inside = [] if by == "function" else self._all.inside(key, by)
            if len(inside) == 1:
                key, joint = inside.pop()
            self.groups[key], members[key] = joint, inside
        self._follow()
        while hot := [k for k in self.groups if len(members.get(k, ())) > 1 and self._is_hot(k)]:
            groups: dict[tuple, Joint] = {}
            for key, joint in self.groups.items():
                if key not in hot:
                    groups[key] = joint
                    continue
                for k, (inside, piece) in pieces(members.pop(key), self.lanes - 2).items():
                    groups[k], members[k] = piece, inside
            self.groups = groups
            self._follow()

    def _split_by_step(self) -> None:
        """Run single steps, or ranges where steps are many, and the steps inside ranges that have
        much more of the error than others.
        """
        few = self.steps.count <= MOST_STEPS
        self.groups = of_steps(self.steps, MOST_STEPS if few else _FIRST_STEPS)
        self._follow()
        error = self.at(self.errors, -1)
        while len(self.groups) + self.lanes - 3 <= MOST_STEPS:
            parts = {key: self.at(self.parts[key], -1) for key in self.groups if key[0] == STEP}
            sizes = {key: max(norm(x) / (norm(error) or 1.0), abs(share(x, error)))
                     for key, x in parts.items()}  # fmt: skip
            mean = sum(sizes.values()) / max(len(sizes), 1)
            peaks = [key for key, size in sizes.items() if size > _PEAK * mean
                     and pieces_of_steps(self.groups[key], 2)]  # fmt: skip
            if not peaks:
                return
            largest = max(peaks, key=lambda key: sizes[key])
            groups: dict[tuple, Joint] = {}
            for key, joint in self.groups.items():
                groups |= pieces_of_steps(joint, self.lanes - 2) if key == largest else {key: joint}
            self.groups = groups
            self._follow()

    def step_by_step(self, joint: Joint) -> dict[tuple, tuple[Joint, dict[str, np.ndarray]]]:
        """The parts of one group by rows of steps, which two runs follow."""
        steps = of_steps(self.steps, max(2 * (self.lanes - 2) - 2, 2))
        run = self.run(list(steps), list(steps), table=steps, only=joint)
        return {key: (group, run.parts[key]) for key, group in steps.items()}

    @cached_property
    def by_stage(self) -> dict[tuple, Joint]:
        """The groups of the model's stages; empty where it has none."""
        return self._all.by_stage(self.stages) if self.stages else {}

    def parts_of_stages(self) -> dict[tuple, dict[str, np.ndarray]]:
        """The parts of the stages, which one run or two follow."""
        stages = self.by_stage
        if stages and all(key in self.parts for key in stages):
            return {key: self.parts[key] for key in stages}
        return self.run(list(stages), list(stages), table=stages).parts if stages else {}

    def all_groups(self) -> list[tuple[tuple, Joint]]:
        """Return all groups that have parts, those of roundings between kernels first."""
        between = Joint(OriginGroup("", "", 0, BETWEEN, BETWEEN, ()))
        return [((BETWEEN,), between), *self.groups.items()]

    @cached_property
    def silent(self) -> dict[tuple, Joint]:
        """The groups that round nothing, unless other operations are computed wider."""
        return self._all.silent()

    # ---- runs ----------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Run the model until the part of every group is known."""
        todo = [key for key in self.groups if key not in self.parts]
        run = self.run(list(self.groups), todo)
        self._require_the_same(run.tested)
        self.errors = run.errors
        self.parts = run.parts | self.parts

    def run(
        self, order: Sequence[tuple], followed: Collection[tuple], sample: int = 0,
        wide: Collection[tuple] = (), table: Mapping[tuple, Joint] | None = None,
        only: Joint | None = None, beginning: tuple[int, int] | None = None,
    ) -> PartsOfRun:  # fmt: skip
        """The parts of some groups.

        Copies lack parts in the order of the groups: between two that are followed in one run a
        lane is of those that stand between them. So whatever the model does to numbers between its
        kernels, the parts of all groups add up, in whichever runs they were followed.

        Args:
            order: keys of groups.
            followed: of those whose part is wanted.
            sample: number of a perturbed input; 0 is the model's own.
            wide: of groups that are computed in binary64.
            table: key -> group; left out, those of the trace.
            only: whose roundings count, where groups are of steps; None: all.
            beginning: of a part of the run, whose results are the arrays that it leaves, see
                `ErrorRun`; None: the whole run.
        """
        groups = self.groups if table is None else table
        todo = [n for n, key in enumerate(order) if key in followed]
        total, alone = None, not todo
        while todo or alone:
            alone = False
            lanes: list[list[int]] = [list(range(todo[0] if todo else 0))]  # what is between, too
            while todo and len(lanes) + (todo[0] > _last(lanes) + 1) < self.lanes - 1:
                if todo[0] > _last(lanes) + 1:
                    lanes.append(list(range(_last(lanes) + 1, todo[0])))
                lanes.append([todo.pop(0)])
            joints = [[self._joint(order[n], groups) for n in lane] for lane in lanes]
            result = self._pass(joints, sample, wide, only, beginning)
            total = result if total is None else replace(total, parts=result.parts | total.parts)
        return total

    def _joint(self, key: tuple, groups: Mapping[tuple, Joint]) -> tuple[tuple, Joint]:
        return key, groups[key] if key in groups else self.silent[key]

    def _pass(
        self, lanes: Sequence[Sequence[tuple[tuple, Joint]]], sample: int, wide: Collection[tuple],
        only: Joint | None, beginning: tuple[int, int] | None,
    ) -> PartsOfRun:  # fmt: skip
        orders: FollowedGroups
        if any(joint.is_of_steps for some in lanes for _, joint in some):
            orders = FollowedSteps(self.census, self.steps, self.lanes, only)
        else:
            orders = FollowedGroups(self.census, "wider" if wide else "parts", self.lanes)
        for lane, some in enumerate(lanes, 1):
            for _, joint in some:
                orders.follow(joint, lane)
        wider = orders.wider([self.groups[key] for key in wide], self.changing) if wide else None
        if self.course is not None:
            self.course.comes_to(self.passes + 1, self._seconds)
        begun = perf_counter()
        run, ladder = ErrorRun(
            self.program, self.census, orders, wider, sample, self.differing, beginning,
            self._within if beginning is None else None,
        ), orders.ladder
        self.passes += beginning is None
        if self.passes == _TIMED and beginning is None:
            self._seconds = perf_counter() - begun
        copies, names = [r.values for r in run.results], self.outputs
        if beginning is not None:
            names = tuple(run.left)
            copies = [{n: run.left[n][k] for n in names} for k in range(ladder.copies)]

        def apart(of: int, other: int) -> dict[str, np.ndarray]:
            return _differences(ladder, copies, of, other, names)

        with np.errstate(invalid="ignore"):
            parts = {(BETWEEN,): apart(0, 1)}
            for lane, some in enumerate(lanes):
                if lane and len(some) == 1:
                    parts[some[0][0]] = apart(lane, lane + 1)
            return PartsOfRun({n: _float(copies[0][n]) for n in names}, apart(0, -1), parts)

    def begins(self, label: str, *followed: int) -> None:
        """Tell the purpose of the next runs.

        Args:
            label: in words.
            followed: for each call of `run` of how many groups it follows the parts.
        """
        if self.course is not None:
            runs = sum(max(-(-groups // (self.lanes - 2)), 1) for groups in followed)
            self.course.begins(label, self.passes, runs)

    def _within(self, calls: int) -> None:
        """A run has made so many calls of kernels."""
        if self.course is not None:
            self.course.within(calls)

    def _twin(self) -> dict[str, np.ndarray]:
        """tested - exact, exact values computed apart from the parts; rows make notes."""
        run, ladder = ErrorRun(
            self.program, self.census, self.notes, on_call=self._within
        ), self.notes.ladder
        self.changing, self.differing = frozenset(run.changing), frozenset(run.differing)
        copies = [r.values for r in run.results]
        self._require_the_same(copies[0])
        with np.errstate(invalid="ignore"):
            return _differences(ladder, copies, 0, -1, self.outputs)

    def _require_the_same(self, values: Mapping[str, np.ndarray]) -> None:
        for name in self.outputs:
            if not np.array_equal(values[name], self.results.values[name], equal_nan=True):
                raise InputError(
                    f"the model gives another '{name}' when it is run again; trace takes models "
                    "that give the same numbers in every run"
                )

    # ---- numbers -------------------------------------------------------------------------------

    def _is_hot(self, key: tuple) -> bool:
        part, error = self.at(self.parts[key], -1), self.at(self.errors, -1)
        return norm(part) > HOT * norm(error) or abs(share(part, error)) > HOT

    def unperturbed(self) -> PartsOfRun:
        """The run of the model's own input, with all parts."""
        tested = {n: _float(self.results.values[n]) for n in self.outputs}
        return PartsOfRun(tested, self.errors, self.parts)

    def at(
        self, values: Mapping[str, np.ndarray], time: int, names: Sequence[str] = (),
        of: PartsOfRun | None = None, beside: PartsOfRun | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Usable elements of results at a stored time, each result over the norm of its exact
        values.

        Args:
            values: name of a result -> an array of its shape.
            time: number of the stored state.
            names: of some results; left out, all that count.
            of: the run that says what is usable, and the norms; left out, the model's own.
            beside: another one in which elements have to be usable.
        """
        usual, run = [], of or self.unperturbed()
        is_all = not of or set(of.tested) == set(self.outputs)
        for name in names or (self.outputs if is_all else tuple(run.tested)):
            arrays = (_float(x[name]) for x in (run.tested, run.errors, values))
            timed = is_all and name in self.results.timed
            tested, error, selected = (x[time] if timed else x for x in arrays)
            usable = np.isfinite(tested) & np.isfinite(error)
            if beside is not None:
                other = beside.errors[name]
                usable &= np.isfinite(other[time] if timed else other)
            size = size_of_exact(tested[usable], error[usable])
            usual.append(selected[usable].ravel() / (size if size > 0.0 else 1.0))
        return np.concatenate(usual)

    def cancels(self, time: int, names: Sequence[str] = ()) -> bool:
        """Whether the parts of some results cancel at a stored time, so that their error counts as
        none, as what copies of them in binary64 do not hold does.
        """
        tested, error = (self.at(v, time, names) for v in (self.unperturbed().tested, self.errors))
        parts = (self.at(self.parts[key], time, names) for key, _ in self.all_groups())
        return counts_as_none(tested, error, parts, _LAST_DIGITS / stretch(self.census.bits))

    def share_of(self, key: tuple, time: int, name: str) -> float:
        """The share of a group in the error of one result at a stored time."""
        if self.cancels(time, (name,)):
            return 0.0
        return share(self.at(self.parts[key], time, (name,)), self.at(self.errors, time, (name,)))

    def last_usable(self, count: int) -> int:
        """Return the last of some stored times at which parts are not much larger than their sum.
        """
        for time in range(count - 1, 0, -1):
            error = norm(self.at(self.errors, time))
            sizes = sum(norm(self.at(self.parts[key], time)) for key, _ in self.all_groups())
            if sizes <= APART * error:
                return time
        return -1


def _differences(
    ladder: Ladder, copies: Sequence[Mapping[str, Any]], of: int, other: int, names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return by how much numbers of one copy are larger than those of another."""
    return {n: ladder.difference(_float(copies[of][n]), _float(copies[other][n])) for n in names}


def _last(lanes: Sequence[Sequence[int]]) -> int:
    """The number of the last group that a lane has; -1 before the first."""
    return max((n for lane in lanes for n in lane), default=-1)


def _float(x: Any) -> np.ndarray:
    return np.asarray(x, np.float64)
