"""Groups of operations of all kernels, by which the error of a model is split."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sciprec.foundation.listing import counted
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.stages import Stage
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import parse
from sciprec.tools.trace.models.census import CallPlace, Census, Lifting
from sciprec.tools.trace.models.notes import TwinNotes
from sciprec.tools.trace.models.steps import NO_STEP, RunSteps
from sciprec.tools.trace.origins import OriginGroup, groups_of

BETWEEN = "float32 arrays"
"""The roundings of the model's own arrays of binary32 numbers, between kernels."""
STEP, ALL_LINES, ARGUMENTS = "step", "all lines", "arguments of calls of several steps"
STAGE, GIVEN, NO_STAGE = "stage", "state and constants as given", "all else"
_INSIDE = {"arguments": "argument", "roundings": "rounding"}


@dataclass(frozen=True)
class Joint:
    """A group of operations of several kernels.

    Args:
        group: what it is called, and its place.
        rows: kernel -> numbers of its rows.
        arguments: (kernel, name) of the arguments whose conversion it is.
        places: where the model rounds arrays between kernels.
        steps: the first step and the one after the last whose roundings they are, of all
            operations; None where that does not matter.
    """

    group: OriginGroup
    rows: dict[Any, list[int]] = field(default_factory=dict)
    arguments: list[tuple] = field(default_factory=list)
    places: list[CallPlace] = field(default_factory=list)
    steps: tuple[int, int] | None = None

    @property
    def count_of_steps(self) -> int:
        """The number of its steps; 0 where it is of none, or of all."""
        first, end = self.steps or (NO_STEP, NO_STEP)
        return end - first if first != NO_STEP else 0

    @property
    def is_of_steps(self) -> bool:
        """Whether it is of steps, or what belongs to none."""
        return self.steps is not None or self.group.name == ARGUMENTS


def _of_callers(group: OriginGroup, callers: Sequence[CallPlace], kernel: Lifting) -> OriginGroup:
    """A group of a kernel of the engine as one of the first user's line that calls it."""
    (file, function, line), more = callers[0], len(callers) - 1
    text = linecache.getline(file, line).strip()
    also = f" and {counted(more, 'more line')}" if more else ""
    source, name = f"{text}{also}: {group.source}", group.name
    if group.argument:
        parameters = list(inspect.signature(kernel.kernel).parameters)
        source = f"argument {_argument_in(text, parameters, group.argument)}{also}"
    elif name == f"line {group.line}":
        name = f"line {line}"
    return replace(group, function=function, file=file, line=line, source=source, name=name)


def _argument_in(text: str, parameters: Sequence[str], argument: str) -> str:
    """Return the text that a line gives a kernel's argument; the argument's name if that cannot be
    said.
    """
    try:
        calls = [node for node in ast.walk(parse(text)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return argument
    place = parameters.index(argument)
    if not calls or len(calls[0].args) <= place:
        return argument
    return f"{ast.unparse(calls[0].args[place])} of {text}"


class ModelGroups:
    """The groups of a model's operations that round.

    Args:
        census: an ordinary run.
        notes: of a run with exact values.
        lanes: how many numbers are beside a value.
    """

    def __init__(self, census: Census, notes: TwinNotes, lanes: int) -> None:
        self._census, self._notes, self._lanes = census, notes, lanes
        self._groups: dict[str, dict[tuple, Joint]] = {}

    def by(self, by: str) -> dict[tuple, Joint]:
        """Return the groups of all kernels' operations, by what tells groups apart, by place."""
        if by not in self._groups:
            self._groups[by] = self._groups_by(by)
        return self._groups[by]

    def _groups_by(self, by: str) -> dict[tuple, Joint]:
        joints: dict[tuple, Joint] = {}
        for kernel in self._census.kernels:
            traced = kernel.traced("parts", self._lanes)
            for group in groups_of(traced.program, by):
                if not (group.argument or self._notes.rounds(kernel, group.rows)):
                    continue
                if by == "function" and not group.argument:
                    group = replace(group, name=ALL_LINES, source=ALL_LINES)
                if group.argument and by == "function":
                    key: tuple = ("arguments", group.file, group.function)
                    group = replace(group, name="arguments", source="conversion of arguments")
                elif group.argument:
                    key = ("argument", group.file, group.function, group.argument)
                else:
                    if by == "call" and group.name != kernel.name:
                        group = replace(group, name=f"{kernel.name} > {group.name}")
                    key = (by, group.file, group.function)
                    key = key if by == "function" else (*key, group.name)
                joint = joints.setdefault(key, Joint(group))
                joint.rows.setdefault(kernel, []).extend(group.rows)
                if group.argument:
                    joint.arguments.append((kernel, group.argument))
        for place in self._census.roundings:
            file, function, line = place
            source = linecache.getline(file, line).strip()
            rounding = OriginGroup(function, file, line, source, f"line {line}", ())
            key = "rounding", file, function, line
            if by == "function":
                rounding = replace(
                    rounding, name="roundings", source="rounding of arrays between kernels"
                )
                key = "roundings", file, function
            joints.setdefault(key, Joint(rounding)).places.append(place)
        ordered = sorted(joints.items(), key=lambda item: _place(item[1].group))
        return {key: self._named(joint) for key, joint in ordered}

    def by_stage(self, stages: Sequence[Stage]) -> dict[tuple, Joint]:
        """Return the groups of all kernels' operations by stage, in the order of a step; before
        them what is rounded when kernels are given it, or between them, behind them the rest.
        """
        names = [GIVEN, *(stage.name for stage in stages), NO_STAGE]
        joints = {name: Joint(OriginGroup("", "", 0, name, name, ())) for name in names}
        joints[GIVEN].places.extend(self._census.roundings)
        for kernel in self._census.kernels:
            program = kernel.traced("parts", self._lanes).program
            for group in groups_of(program, "line"):
                if group.argument:
                    joints[GIVEN].rows.setdefault(kernel, []).extend(group.rows)
                    joints[GIVEN].arguments.append((kernel, group.argument))
                elif self._notes.rounds(kernel, group.rows):
                    for number in group.rows:
                        rows = joints[_stage_of(program, number, stages)].rows
                        rows.setdefault(kernel, []).append(number)
        return {(STAGE, name): joint for name, joint in joints.items()
                if joint.rows or joint.places}  # fmt: skip

    def _named(self, joint: Joint) -> Joint:
        """A group; of a kernel of the engine as one of the user's line that makes use of it."""
        kernel = next(iter(joint.rows), None)
        callers = [*self._census.callers.get(kernel, ())]
        return replace(joint, group=_of_callers(joint.group, callers, kernel)) if callers else joint

    def silent(self) -> dict[tuple, Joint]:
        """Return the rows of each function that round nothing in an ordinary run."""
        joints: dict[tuple, Joint] = {}
        for kernel in self._census.kernels:
            traced = kernel.traced("parts", self._lanes)
            for group in groups_of(traced.program, "line"):
                if group.argument or self._notes.rounds(kernel, group.rows):
                    continue
                key = "silent", group.file, group.function
                silent = replace(group, name=ALL_LINES, source=ALL_LINES)
                joints.setdefault(key, Joint(silent)).rows.setdefault(kernel, []).extend(group.rows)
        return joints

    def inside(self, key: tuple, by: str) -> list[tuple[tuple, Joint]]:
        """Return the groups inside a function, in its order."""
        sort = _INSIDE.get(key[0], by)
        return [(k, j) for k, j in self.by(by).items() if k[:3] == (sort, *key[1:])]


def _stage_of(program: Program, number: int, stages: Sequence[Stage]) -> str:
    """The name of the stage that a row is in."""
    row = program.layout.rows[number]
    origin = own_place(program, row)
    return next(
        (s.name for s in stages if any(p.holds(program, row, origin) for p in s.as_places)),
        NO_STAGE,
    )


def of_steps(run_steps: RunSteps, count: int) -> dict[tuple, Joint]:
    """Return at most so many rows of time steps; before them what belongs to none, and what
    arguments of calls of several steps lose.
    """
    outside = _joint_of_steps("what belongs to no step", NO_STEP, NO_STEP + 1)
    joints: dict[tuple, Joint] = {("no step",): outside}
    if run_steps.inside.any():
        joints["arguments",] = Joint(OriginGroup("", "", 0, ARGUMENTS, ARGUMENTS, ()))
    steps = _steps_from(1, run_steps.count + 1)
    return joints | (pieces_of_steps(steps, count) or {("step", 1, run_steps.count + 1): steps})


def pieces_of_steps(joint: Joint, count: int) -> dict[tuple, Joint]:
    """Return at most so many rows in the place of one of several steps; empty for a single step."""
    first, end = joint.steps or (0, 0)
    number = min(count, end - first)
    borders = [first + (end - first) * n // max(number, 1) for n in range(number + 1)]
    if len(borders) < 3:
        return {}
    pairs = zip(borders, borders[1:], strict=False)
    return {("step", *pair): _steps_from(*pair) for pair in pairs}


def _steps_from(first: int, end: int) -> Joint:
    name = f"step {first}" if end == first + 1 else f"steps {first} to {end - 1}"
    return _joint_of_steps(name, first, end)


def _joint_of_steps(name: str, first: int, end: int) -> Joint:
    return Joint(OriginGroup("", "", first, name, name, ()), steps=(first, end))


def pieces(inside: Sequence[tuple[tuple, Joint]], count: int) -> dict[tuple, tuple[list, Joint]]:
    """Return at most so many pieces of consecutive groups of a function, with what is in them."""
    size = -(-len(inside) // count)
    parts: dict[tuple, tuple[list, Joint]] = {}
    for begin in range(0, len(inside), size):
        some = list(inside[begin : begin + size])
        if len(some) == 1:
            parts[some[0][0]] = [], some[0][1]
            continue
        first, last = some[0][1].group, some[-1][1].group
        name = f"{first.name} to {last.name}"
        if first.name.startswith("line "):
            name = f"lines {first.line} to {last.line}"
        piece = joined([j for _, j in some], replace(first, name=name, source=name))
        parts["piece", some[0][0], some[-1][0]] = some, piece
    return parts


def joined(some: Sequence[Joint], group: OriginGroup) -> Joint:
    """Several groups as one."""
    joint = Joint(group)
    for part in some:
        for kernel, numbers in part.rows.items():
            joint.rows.setdefault(kernel, []).extend(numbers)
        joint.arguments.extend(part.arguments)
        joint.places.extend(part.places)
    return joint


def _place(group: OriginGroup) -> tuple:
    """Return the place of a group; the lines of a function stand together."""
    return group.file, group.function, group.line, group.name
