"""Orders to the calls of a run with parts: which lane the roundings of each go to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.instruments.tracing import rows
from sciprec.tools.trace.attribution import TracedKernel
from sciprec.tools.trace.models.between import Ladder, stretch
from sciprec.tools.trace.models.census import CallPlace, Census, Lifting
from sciprec.tools.trace.models.groups import Joint
from sciprec.tools.trace.models.runs import Wider
from sciprec.tools.trace.models.steps import RunSteps


class FollowedGroups:
    """Groups of operations whose parts are followed, in the lanes that they are given.

    Args:
        census: an ordinary run.
        technique: "parts", or "wider": the same where some are computed wider.
        lanes: numbers beside each value.
    """

    asks_places = False

    def __init__(self, census: Census, technique: str, lanes: int) -> None:
        self.ladder = Ladder(technique, lanes, stretch(census.bits))
        self.tables = {k: self.traced(k).table() for k in census.kernels}
        for table in self.tables.values():
            table.begin()
        self._of_arguments: dict[tuple, int] = {}
        self._of_roundings: dict[CallPlace, int] = {}

    def traced(self, kernel: Lifting) -> TracedKernel:
        """Compile a kernel such that exact values follow its numbers."""
        return kernel.traced(self.ladder.technique, self.ladder.lanes)

    def follow(self, joint: Joint, lane: int) -> None:
        """Send the roundings of a group to a lane."""
        for kernel, numbers in joint.rows.items():
            self.tables[kernel].masks[numbers, lane] = 1.0
        self._of_arguments |= dict.fromkeys(joint.arguments, lane)
        self._of_roundings |= dict.fromkeys(joint.places, lane)

    def wider(self, some: Sequence[Joint], rounded: frozenset) -> Wider:
        """Return the parts of the run that are computed in binary64 for some groups."""
        for joint in some:
            for kernel, numbers in joint.rows.items():
                self.tables[kernel].numbers[numbers, rows.FACTOR] = 1.0
        arguments = frozenset(a for joint in some for a in joint.arguments)
        return Wider(arguments, frozenset(p for joint in some for p in joint.places), rounded)

    # ---- see `runs.Orders` ---------------------------------------------------------------------

    def begins(self, number: int) -> None:
        """Do nothing: calls get no orders of their own."""

    def rounds_beyond(self, *about: object) -> None:
        """Do nothing: there are no notes."""

    def lane_of_argument(self, kernel: Lifting, argument: str) -> int | None:
        """Return the lane of the argument's group."""
        return self._of_arguments.get((kernel, argument))

    def lane_of_rounding(self, place: CallPlace) -> int | None:
        """Return the lane of the place's group."""
        return self._of_roundings.get(place)

    def before(self, kernel: Lifting, args: tuple, written: Sequence[bool], at: CallPlace) -> None:
        """Do nothing: calls get no orders of their own."""

    def after(self, kernel: Lifting) -> None:
        """Do nothing: there are no notes."""


class FollowedSteps(FollowedGroups):
    """Time steps whose parts are followed, in the lanes that they are given.

    Args:
        census: an ordinary run.
        steps: its steps.
        lanes: numbers beside each value.
        only: whose roundings count; None: all.
    """

    def __init__(
        self, census: Census, steps: RunSteps, lanes: int, only: Joint | None = None
    ) -> None:
        pairs = zip(census.kernels, steps.has_inside, strict=True)
        self._inside = {kernel for kernel, has_inside in pairs if has_inside}
        super().__init__(census, "parts", lanes)
        self._steps, self._only, self._number = steps, only, 0
        self._lanes = np.zeros(steps.count + 1, np.int64)
        self._of_several = 0
        self._present: dict[Lifting, int] = {}
        for kernel in self._inside:
            self.tables[kernel].numbers[self._counted(kernel), rows.FACTOR] = 1.0

    def traced(self, kernel: Lifting) -> TracedKernel:
        """Return the kernel compiled with masks by pass where its passes are steps."""
        technique = "by step" if kernel in self._inside else "parts"
        return kernel.traced(technique, self.ladder.lanes)

    def follow(self, joint: Joint, lane: int) -> None:
        """Let the roundings of some steps go to a lane; of no step: what arguments of calls of
        several steps lose.
        """
        if joint.steps is None:
            self._of_several = lane
        else:
            self._lanes[slice(*joint.steps)] = lane

    def _counted(self, kernel: Lifting) -> slice | list[int]:
        return slice(None) if self._only is None else self._only.rows.get(kernel, [])

    def begins(self, number: int) -> None:
        """Set the step and its lane by the number of the call."""
        self._number = number

    @property
    def _lane(self) -> int:
        return int(self._lanes[self._steps.first[self._number]])

    def lane_of_argument(self, kernel: Lifting, argument: str) -> int | None:
        """Return the lane of the call's step."""
        if self._only is not None and (kernel, argument) not in self._only.arguments:
            return None
        inside = self._steps.inside[self._number]
        return (self._of_several if inside else self._lane) or None

    def lane_of_rounding(self, place: CallPlace) -> int | None:
        """Return the lane of the rounding's step."""
        if self._only is not None and place not in self._only.places:
            return None
        return self._lane or None

    def before(self, kernel: Lifting, args: tuple, written: Sequence[bool], at: CallPlace) -> None:
        """Send roundings to the lane of the step."""
        table, steps = self.tables[kernel], self._steps
        if kernel in self._inside:
            passes = range(int(steps.ticks[self._number]) + 1)
            masks = np.zeros((len(passes), self.ladder.lanes))
            lanes = self._lanes[[steps.at(self._number, n) for n in passes]]
            masks[passes, lanes] = 1.0
            table.of_steps(masks)
            table.begin()
        elif self._present.get(kernel) != self._lane:
            self._present[kernel] = self._lane
            table.masks[:, 1:] = 0.0
            table.masks[self._counted(kernel), self._lane] = 1.0
