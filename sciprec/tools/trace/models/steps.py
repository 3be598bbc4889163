"""Time steps of a model: which calls of kernels belong to which step.

A model says so (climate, prices, `arithmetic.advance`), or shows it: a step
ends with `arithmetic.watch`, or with the last `arithmetic.update` before a state is updated again.
Else steps are the passes of a kernel's loop that does the same again and again, or of the model's
own loop that calls kernels; without any loop they are calls.
"""

from __future__ import annotations

import ast
import sys
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from types import FrameType

import numpy as np

from sciprec.precision.rewriting.syntax import parse

NO_STEP = 0
"""The number of what is before, between and after steps."""
SAID, SHOWN, UPDATES = "said", "shown", "updates"
KERNEL, LOOP, CALLS = "kernel", "loop", "calls"
IN_WORDS = {
    SAID: "time steps",
    SHOWN: "steps that end with arithmetic.watch",
    UPDATES: "steps that end with arithmetic.update",
    KERNEL: "passes of a kernel's loop",
    LOOP: "passes of the model's loop",
    CALLS: "calls of kernels",
}


@dataclass(frozen=True)
class RunSteps:
    """The steps of a run, by call.

    Attributes:
        kind: how they are known, a key of `IN_WORDS`.
        first: (calls,), the step of each call of a kernel and of each rounding of an array between
            them, counted together; `NO_STEP` for none.
        inside: (calls,), whether further steps begin with the passes of the kernel's loop.
        ticks: (calls,), how often the kernel's own count of steps goes on in a call.
        has_inside: (kernels,), whether a kernel has such passes in some of its calls.
        count: how many steps there are.
    """

    kind: str
    first: np.ndarray
    inside: np.ndarray
    ticks: np.ndarray
    has_inside: np.ndarray
    count: int

    def beginning(self, share: float) -> tuple[int, int] | None:
        """A part of a run that ends with a step: (the call with which its last step, or call of
        several, begins, the one after its last call). None where there is no such part.

        Args:
            share: how much of all calls it is about.
        """
        calls = self.first.size
        new = np.ones(calls, bool)
        new[1:] = (np.diff(self.first) != 0) | self.inside[1:]
        begins = [*np.flatnonzero(new).tolist(), calls]
        pairs = [
            (begin, end) for begin, end in zip(begins, begins[1:], strict=False)
            if self.first[begin] != NO_STEP and end < calls
        ]  # fmt: skip
        long = [pair for pair in pairs if pair[1] >= share * calls]
        return long[0] if long else pairs[-1] if pairs else None

    def at(self, number: int, step: int) -> int:
        """Return the time step of an event in a call.

        Args:
            number: of the call.
            step: of the kernel, see `rows.STEP`.
        """
        first = int(self.first[number])
        if first == NO_STEP or not self.inside[number]:
            return first
        return first + min(max(step - 1, 0), max(int(self.ticks[number]) - 2, 0))


@dataclass(frozen=True)
class Calls:
    """The notes of a run on every call, in their order.

    Attributes:
        kernels: number of the kernel; -1 of a rounding between kernels.
        ticks: how often the kernel's own count of steps went on.
    """

    kernels: array[int] = field(default_factory=lambda: array("h"))
    ticks: array[int] = field(default_factory=lambda: array("q"))


class StepLog:
    """The record of a model's steps in an ordinary run, and of the places where it calls kernels;
    it is made where the model is called.
    """

    def __init__(self) -> None:
        self._step, self._inside, self._declared = NO_STEP, False, False
        self._first, self._insides = array("q"), array("b")
        self._ends = array("q")
        self._updates: list[tuple[Hashable, int]] = []
        self._passes = _Passes(sys._getframe(1))

    # ---- see `time_steps.Listener` -------------------------------------------------------------

    def begins(self, step: int, inside: bool) -> None:
        """A step begins."""
        self._step, self._inside, self._declared = step, inside, True

    def ends(self) -> None:
        """Note that what follows is no step."""
        self._step, self._inside = NO_STEP, False

    def shown(self) -> None:
        """A step has been made."""
        self._ends.append(len(self._first))

    def updated(self, state: Hashable) -> None:
        """A state was updated."""
        self._updates.append((state, len(self._first)))

    def ended(self) -> None:
        """The run is over."""
        self._passes.ended()

    # ---- calls ---------------------------------------------------------------------------------

    def met(self, rounds: bool = False) -> None:
        """Note the step in which a kernel is called, or an array rounded."""
        if not (self._declared or rounds):
            self._passes.met(len(self._first))
        self._first.append(self._step)
        self._insides.append(self._inside)

    def steps(self, calls: Calls, loops: Sequence[int], repeats: Sequence[bool]) -> RunSteps:
        """The steps of the run.

        Args:
            calls: of a run with notes.
            loops: (kernels,), how many outermost loops each has.
            repeats: (kernels,), whether it has one that does the same again and again.
        """
        kernels, ticks = np.array(calls.kernels, np.int64), np.array(calls.ticks, np.int64)
        is_call = kernels >= 0
        has_loop = is_call & (np.array([*loops, 0]) == 1)[kernels]
        passes = np.where(has_loop, ticks - 1, 0)

        def steps_of(kind: str, first: np.ndarray, inside: np.ndarray) -> RunSteps:
            last = np.where(inside, first + passes - 1, first)
            has = np.array([bool(inside[kernels == k].any()) for k in range(len(loops))], bool)
            return RunSteps(kind, first, inside, ticks, has, int(last.max(initial=0)))

        nothing = np.zeros(kernels.size, bool)
        if self._declared:
            inside = np.array(self._insides, bool) & (passes > 1)
            return steps_of(SAID, np.array(self._first, np.int64), inside)
        begin = int(np.argmax(is_call)) if is_call.any() else 0
        for kind, ends in ((SHOWN, list(self._ends)), (UPDATES, _ends_of_cycles(self._updates))):
            if ends:
                return steps_of(kind, self._between(begin, ends), nothing)
        repeated = (np.array([*repeats, False], bool))[kernels] & (passes > 0)
        if repeated.any():
            extra = np.where(repeated, passes, 0)
            before = np.cumsum(extra) - extra
            return steps_of(KERNEL, np.where(repeated, before + 1, before), repeated)
        if begins := self._passes.begins():
            return steps_of(LOOP, self._between(begins[0], [*begins[1:], kernels.size]), nothing)
        return steps_of(CALLS, np.where(is_call, np.cumsum(is_call), NO_STEP), nothing)

    def _between(self, begin: int, ends: Sequence[int]) -> np.ndarray:
        """Number the steps from a call on: each lasts until the next one begins."""
        later = [end for end in ends if end > begin]
        numbers = np.arange(len(self._first))
        first = np.searchsorted(later, numbers, side="right") + 1
        first[(numbers < begin) | (first > len(later))] = NO_STEP
        return first.astype(np.int64)


class _Passes:
    """The passes of the model's own loop: one begins where it calls a kernel at a place where it
    has called one before.

    Args:
        base: the frame that the model is called in.
    """

    def __init__(self, base: FrameType) -> None:
        self._base: FrameType | None = base
        self._last: list[tuple[FrameType, int]] = []
        self._serials: list[int] = []
        self._first_seen: dict[tuple[int, int, int], int] = {}
        self._level, self._begins, self._frames = sys.maxsize, array("q"), 0

    def met(self, number: int) -> None:
        """Compare the place of a call with that of the call before.

        Functions that are the same in both stacks, from the outermost one on, are in the same
        activation; the first one that has come to another place has gone on, or back to where a
        loop begins. One that is at the same place has called something once more.
        """
        stack, frame = [], sys._getframe(3)
        while frame is not None and frame is not self._base:
            stack.append((frame, frame.f_lasti))
            frame = frame.f_back
        stack.reverse()
        pairs = enumerate(zip(stack, self._last, strict=False))
        level = next((n for n, (new, old) in pairs if new != old), min(len(stack), len(self._last)))
        both = level < min(len(stack), len(self._last))
        if not (both and stack[level][0] is self._last[level][0]):
            level -= 1
        del self._serials[level + 1 :]
        while len(self._serials) < len(stack):
            self._frames += 1
            self._serials.append(self._frames)
        if 0 <= level <= self._level and stack[level][1] <= self._last[level][1]:
            if level < self._level:
                self._level, self._begins = level, array("q")
            self._begins.append(self._first_seen.get(self._place(stack, level), number))
            self._begins.append(number)
        for n in range(min(len(stack), self._level + 1)):
            self._first_seen.setdefault(self._place(stack, n), number)
        self._last = stack

    def _place(self, stack: Sequence[tuple[FrameType, int]], level: int) -> tuple[int, int, int]:
        return level, self._serials[level], stack[level][1]

    def begins(self) -> list[int]:
        """Numbers of the calls with which passes begin."""
        return sorted(set(self._begins))

    def ended(self) -> None:
        """The run is over: let go of its frames, which hold its arrays."""
        self._last, self._base = [], None
        self._first_seen.clear()


def _ends_of_cycles(updates: Sequence[tuple[Hashable, int]]) -> list[int]:
    """Return the calls after which all states have been updated once more; empty where none is
    again.
    """
    updated: dict[Hashable, None] = {}
    for state, _ in updates:
        if state in updated:
            break
        updated[state] = None
    else:
        return []
    last = next(reversed(updated))
    return [number for state, number in updates if state == last]


def repeats(text: str) -> bool:
    """Whether a kernel has one outermost loop, and it does the same again and again: its variable
    is not used in it, or it has none.

    Args:
        text: the kernel's source.
    """
    [function] = parse(dedent(text)).body
    loops = [n for n in _statements(function) if isinstance(n, (ast.For, ast.While))]
    if len(loops) != 1:
        return False
    loop = loops[0]
    if isinstance(loop, ast.While):
        return True
    targets = {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
    used = {n.id for part in loop.body for n in ast.walk(part) if isinstance(n, ast.Name)}
    return not targets & used


def _statements(node: ast.AST) -> list[ast.stmt]:
    """Statements of a function that are in no loop of it, loops themselves too."""
    statements: list[ast.stmt] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            statements.append(child)
        if not isinstance(child, (ast.For, ast.While, ast.expr)):
            statements += _statements(child)
    return statements
