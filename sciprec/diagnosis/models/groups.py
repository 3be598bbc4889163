"""What the error of a model is split by: groups of operations of all its kernels."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sciprec.diagnosis.models.notes import Notes
from sciprec.diagnosis.models.runs import Census, Place
from sciprec.diagnosis.origins import Group, groups_of

BETWEEN = "float32 arrays"
"""What the model's own arrays of binary32 numbers round between kernels."""
STEP, ALL_LINES = "step", "all lines"
_INSIDE = {"arguments": "argument", "roundings": "rounding"}


@dataclass(frozen=True)
class Joint:
    """A group of operations of several kernels.

    Args:
        group: what it is called, and its place.
        rows: kernel -> numbers of its rows.
        arguments: (kernel, name) of the arguments whose conversion it is.
        places: where the model rounds arrays between kernels.
        calls: the first call of a kernel and the one after the last whose roundings they are;
            None: of all.
    """

    group: Group
    rows: dict[Any, list[int]] = field(default_factory=dict)
    arguments: list[tuple] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    calls: tuple[int, int] | None = None


class ModelGroups:
    """The groups of a model's operations that round.

    Args:
        census: an ordinary run.
        notes: of a run with exact values.
        lanes: how many numbers are beside a value.
    """

    def __init__(self, census: Census, notes: Notes, lanes: int) -> None:
        self._census, self._notes, self._lanes = census, notes, lanes
        self._known: dict[str, dict[tuple, Joint]] = {}

    def by(self, by: str) -> dict[tuple, Joint]:
        """What operations of all kernels belong to, by what tells groups apart, by place."""
        if by not in self._known:
            self._known[by] = self._made(by)
        return self._known[by]

    def _made(self, by: str) -> dict[tuple, Joint]:
        found: dict[tuple, Joint] = {}
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
                    key = (by, group.file, group.function)
                    key = key if by == "function" else (*key, group.name)
                joint = found.setdefault(key, Joint(group))
                joint.rows.setdefault(kernel, []).extend(group.rows)
                if group.argument:
                    joint.arguments.append((kernel, group.argument))
        for place in self._census.roundings:
            file, function, line = place
            source = linecache.getline(file, line).strip()
            one = Group(function, file, line, source, f"line {line}", ())
            key = "rounding", file, function, line
            if by == "function":
                one = replace(one, name="roundings", source="rounding of arrays between kernels")
                key = "roundings", file, function
            found.setdefault(key, Joint(one)).places.append(place)
        return dict(sorted(found.items(), key=lambda item: _place(item[1].group)))

    def silent(self) -> dict[tuple, Joint]:
        """What of each function was executed and rounds nothing in an ordinary run."""
        found: dict[tuple, Joint] = {}
        for kernel in self._census.kernels:
            traced = kernel.traced("parts", self._lanes)
            for group in groups_of(traced.program, "line"):
                some = {kernel: list(group.rows)}
                rounds = self._notes.rounds(kernel, group.rows)
                if group.argument or rounds or not self._notes.runs(some):
                    continue
                key = "silent", group.file, group.function
                one = replace(group, name=ALL_LINES, source=ALL_LINES)
                found.setdefault(key, Joint(one)).rows.setdefault(kernel, []).extend(group.rows)
        return found

    def inside(self, key: tuple, by: str) -> list[tuple[tuple, Joint]]:
        """What is in a function, in its order."""
        what = _INSIDE.get(key[0], by)
        return [(k, j) for k, j in self.by(by).items() if k[:3] == (what, *key[1:])]

    def steps(self, count: int) -> dict[tuple, Joint]:
        """Consecutive calls of kernels, and before them what is rounded between kernels."""
        found = {k: j for k, j in self.by("function").items() if k[0] == "roundings"}
        operations = [j for k, j in self.by("function").items() if k[0] != "roundings"]
        calls = self._census.calls
        for n in range(min(count, calls)):
            first, last = (calls * k // min(count, calls) for k in (n, n + 1))
            name = f"calls {first + 1} to {last} of {calls}"
            one = _joined(operations, Group("", "", n + 1, name, name, ()))
            found["step", n] = replace(one, calls=(first, last))
        return found


def pieces(inside: Sequence[tuple[tuple, Joint]], count: int) -> dict[tuple, tuple[list, Joint]]:
    """At most so many pieces of consecutive groups of a function, with what is in them."""
    size = -(-len(inside) // count)
    found: dict[tuple, tuple[list, Joint]] = {}
    for begin in range(0, len(inside), size):
        some = list(inside[begin : begin + size])
        if len(some) == 1:
            found[some[0][0]] = [], some[0][1]
            continue
        first, last = some[0][1].group, some[-1][1].group
        name = f"{first.name} to {last.name}"
        if first.name.startswith("line "):
            name = f"lines {first.line} to {last.line}"
        whole = _joined([j for _, j in some], replace(first, name=name, source=name))
        found["piece", some[0][0], some[-1][0]] = some, whole
    return found


def _joined(some: Sequence[Joint], group: Group) -> Joint:
    """Several groups as one."""
    joint = Joint(group)
    for one in some:
        for kernel, numbers in one.rows.items():
            joint.rows.setdefault(kernel, []).extend(numbers)
        joint.arguments.extend(one.arguments)
        joint.places.extend(one.places)
    return joint


def _place(group: Group) -> tuple:
    """Where a group stands; the lines of a function stand together."""
    return group.file, group.function, group.line, group.name
