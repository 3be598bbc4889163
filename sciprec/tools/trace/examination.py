"""One run that follows exact values beside tested ones, and the counts of its operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.listing import counted
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.operations import OUTERMOST_PASS
from sciprec.instruments.tracing.table import Table
from sciprec.instruments.tracing.technique import SEEN_BITS
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import Origin
from sciprec.tools.trace.attribution import Result, arithmetics_of
from sciprec.tools.trace.origins import OriginGroup, own_place
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.splitting import Errors, errors_of

MOST_STEPS = 56
"""Rows of a trace by step; of more steps several are one row."""
MOST_PLACED = 12
"""Lines with an event of a kind whose loop variables are found, each by a run."""
MOST_TOLD = 4
"""Events of a kind that are told one by one."""
_NOTHING = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Event:
    """An event that happened to numbers of the tested run, first at a place.

    Attributes:
        kind: "NaN", "infinity", "saturation", "underflow to zero", or "branch": a decision that
            exact values would have made otherwise.
        function, file, line, source: of the operation where it happened first.
        calls: lines of the calls that lead there, the kernel's first.
        index: loop variables at that time, "i = 3, j = 0"; "" outside of loops.
        step: the pass of the outermost loop, in a model the time step, from 1; 0 before the first.
        count: how often it happened at this line.
        cause: the line that caused it, "line 12: ...", or what did; "" where exact operands give
            it, too, and of branches.
        exact: whether the exact value is not finite there, whatever the range of the format.
        called_at: in a model, where it calls the kernel: "line 12 of 'flow'"; else "".
        argument: the parameter whose conversion it is; "" of operations.
        of: how many elements an array has that it happened to when it was loaded; else 0.
    """

    kind: str
    function: str
    file: str
    line: int
    source: str
    calls: tuple[int, ...]
    index: str
    step: int
    count: int
    cause: str = ""
    exact: bool = False
    called_at: str = ""
    argument: str = ""
    of: int = 0

    def __str__(self) -> str:
        if self.argument:
            return f"{self.kind} in {self.source}{self.elements}"
        times = "once" if self.count == 1 else f"{self.count:,} times"
        return f"{self.kind} in {self.place}, {times}: {self.source}"

    @property
    def elements(self) -> str:
        """Say in words to how many elements of an array an event happened."""
        return f", {self.count:,} of {counted(self.of, 'element')}" if self.of else ""

    @property
    def place(self) -> str:
        """Line, calls, loop variables, and of a model the time step."""
        where = f"line {self.line}" + "".join(
            f", called in line {n}" for n in reversed(self.calls)
        )
        at = f" at {self.index}" if self.index else ""
        if not self.called_at:
            return f"{where}{at}"
        step = f" in step {self.step}" if self.step else " outside of steps"
        return f"{where} of '{self.function}', called in {self.called_at},{step}{at}"


def told(events: Sequence[Event]) -> list[str]:
    """Events in words, of every kind the first ones."""
    sentences = []
    for kind in dict.fromkeys(event.kind for event in events):
        some = [event for event in events if event.kind == kind]
        sentences += map(str, some[:MOST_TOLD])
        if more := len(some) - MOST_TOLD:
            times = sum(event.count for event in some[MOST_TOLD:])
            sentences += [f"{kind} in {counted(more, 'more line')}, {times:,} times"] * (more > 0)
    return sentences


@dataclass(frozen=True)
class Step:
    """Consecutive passes of an outermost loop, or the operations between such loops.

    Attributes:
        first, last: numbers in the run; `last` is the one after.
        origin: the loop's, or None outside of loops.
        passes: which passes of that loop, from 1.
    """

    first: int
    last: int
    origin: Origin | None
    passes: tuple[int, int] = (0, 0)


class Examination:
    """The notes in the rows of a run.

    Args:
        problem: which run.

    Attributes:
        errors: of its results, by the exact values beside them.
    """

    def __init__(self, problem: Problem):
        self.problem, self.program = problem, problem.kernel("twin").program
        self.table: Table = problem.table("twin")
        self.results: list[Result] = problem.run("twin", self.table)
        self.errors: Errors = errors_of(self.results, problem.metric)
        arithmetics = arithmetics_of(problem.backend)
        self.bits = arithmetics[0].format.significand_bits
        self.most_bits = arithmetics[-1].format.significand_bits

    def column(self, word: int) -> np.ndarray:
        """A word of every row."""
        return self.table.words[:, word]

    # ---- by group ------------------------------------------------------------------------------

    def ran(self, group: OriginGroup) -> bool:
        """Whether an operation of a group was ever executed, or an argument is converted."""
        return bool(group.argument) or bool(self.column(rows.RUNS)[list(group.rows)].any())

    def rounds(self, group: OriginGroup) -> bool:
        """Whether an operation of a group ever rounded; in wide formats, whether it ran."""
        if group.argument or self.most_bits > SEEN_BITS:
            return self.ran(group)
        return bool(self.column(rows.ROUNDED)[list(group.rows)].any())

    def runs(self, group: OriginGroup) -> int:
        """Return the number of executions of a group: those of its most frequent operation, for
        each chain of calls.
        """
        counts: dict[tuple, int] = {}
        for number in group.rows:
            row = self.program.layout.rows[number]
            calls = tuple(c for c in row.calls if not self._in_engine(c))
            if not self._in_engine(row.site):
                runs = int(self.column(rows.RUNS)[number])
                counts[calls] = max(counts.get(calls, 0), runs)
        if not counts and group.rows:
            return int(self.column(rows.RUNS)[list(group.rows)].max())
        return sum(counts.values())

    def _in_engine(self, site: int) -> bool:
        origin = self.program.origins.get(site)
        return origin is not None and origin.of_engine

    def bits_lost(self, group: OriginGroup) -> float:
        """log2 of the largest factor by which a relative error grew in an operation; operands
        without error count as rounded once. At most the bits of the format.
        """
        if not group.rows:
            return 0.0
        grown = float(self.table.numbers[list(group.rows), rows.LOST].max())
        return in_bits(grown, self.bits)

    def first(self, group: OriginGroup) -> int:
        """Return the time of a group's first execution, in operations of the run."""
        clocks = self.column(rows.FIRST)[list(group.rows)]
        return int(clocks[clocks > 0].min()) if (clocks > 0).any() else _NOTHING

    # ---- steps ---------------------------------------------------------------------------------

    def steps(self, most: int = MOST_STEPS) -> list[Step]:
        """The steps of the run: outside of loops, and passes of outermost loops, several to a row,
        so that there are about `most` rows.
        """
        loops = [
            (self.program.origins[row.site], int(self.column(rows.RUNS)[number]))
            for number, row in enumerate(self.program.layout.rows)
            if row.part == 0 and self.program.sites[row.site].operation == OUTERMOST_PASS
        ]
        every = -(-sum(runs for _, runs in loops) // most)
        steps, step = [Step(0, 1, None)], 1
        for origin, runs in loops:
            for first in range(0, runs, max(every, 1)):
                last = min(first + every, runs)
                steps.append(Step(step + first, step + last, origin, (first + 1, last)))
            step += runs
            steps.append(Step(step, step + 1, None))
            step += 1
        return steps

    def count_of_steps(self) -> int:
        """The number of steps of the run."""
        return int(self.table.header[rows.STEP]) + 1

    # ---- events --------------------------------------------------------------------------------

    def events(self) -> list[Event]:
        """Return the events by kind and line, the earliest first."""
        by_time = []
        for kind in rows.EVENTS:
            by_time += self._by_line(kind)
        return [event for _, event in sorted(by_time, key=lambda pair: pair[0])]

    def is_alike(self, kind: str, row: int) -> bool:
        """Whether exact values make such an event, too, where it happened first in a row."""
        return self._is_noted(kind, row, 0)

    def _is_noted(self, kind: str, row: int, first: int) -> bool:
        """A bit of the word `rows.ALIKE`."""
        return bool(self.column(rows.ALIKE)[row] >> first + list(rows.EVENTS).index(kind) & 1)

    def rows_of(self, event: Event) -> list[int]:
        """The rows where an event happened, the first one before others."""
        where = self._lines_of(event.kind)
        return where[(event.file, event.line, event.argument)]

    def _lines_of(self, kind: str) -> dict[tuple, list[int]]:
        """Place -> the rows where a kind of event happened, by time."""
        word, lines = rows.EVENTS[kind], {}
        where = np.flatnonzero(self.column(word))
        for number in sorted(where.tolist(), key=lambda n: self.column(word + 1)[n]):
            place = own_place(self.program, self.program.layout.rows[number])
            key = place.file, place.line, self._argument(place.source)
            lines.setdefault(key, []).append(number)
        return lines

    def _argument(self, source: str) -> str:
        """The parameter that a place is the conversion of; else ""."""
        name = source.removeprefix("argument ")
        return name if name != source and name in self.program.signature.parameters else ""

    def _by_line(self, kind: str) -> list[tuple[int, Event]]:
        word, lines = rows.EVENTS[kind], self._lines_of(kind)
        return [
            (
                int(self.column(word + 1)[numbers[0]]),
                self._event(
                    kind, numbers[0], int(self.column(word)[numbers].sum()), n < MOST_PLACED
                ),
            )
            for n, numbers in enumerate(lines.values())
        ]

    def _event(self, kind: str, number: int, count: int, placed: bool) -> Event:
        word, row = rows.EVENTS[kind], self.program.layout.rows[number]
        clock, step = (int(self.column(word + n)[number]) for n in (1, 2))
        at = own_place(self.program, row)
        argument, source = self._argument(at.source), at.source
        if argument:
            arguments = zip(self.program.signature.parameters, self.problem.args, strict=True)
            source = f"{source} = {float(dict(arguments)[argument]):,.6g}"
        return Event(
            kind, at.function, at.file, at.line, source, calls_to(self.program, row),
            self._index(row, clock) if placed else "", step, count,
            exact=self._is_noted(kind, number, rows.ENDLESS), argument=argument,
        )  # fmt: skip

    def _index(self, row, clock: int) -> str:
        """The loop variables around a row at a time, by another run that stops noting them then."""
        loops = loops_around(self.program, row)
        if not loops:
            return ""
        table = self.problem.table("twin")
        table.header[rows.STOP] = clock
        self.problem.run("twin", table)
        return loop_variables(self.program, loops, table)


def loops_around(program: Program, row: Row) -> list[tuple]:
    """The user's loops around a row, the outermost first: calls that lead there, and its site."""
    loops = []
    for depth, site in enumerate((*row.calls, row.site)):
        origin = program.origins.get(site)
        if origin is not None and not origin.of_engine:
            loops += [(row.calls[:depth], program.passes[n]) for n in origin.loops]
    return loops


def loop_variables(program: Program, loops: Sequence[tuple], table: Table) -> str:
    """Return the values of loop variables when a run stopped noting them: "i = 3, j = 0"."""
    places = {
        (r.calls, r.site): n for n, r in enumerate(program.layout.rows) if r.part == 0
    }  # fmt: skip
    values = []
    for key in loops:
        words = table.words[places[key]] if key in places else None
        variable = program.loop_variables.get(key[1], "")
        if words is not None and variable:
            values.append(f"{variable} = {int(words[rows.INDEX])}")
    return ", ".join(values)


def calls_to(program: Program, row: Row) -> tuple[int, ...]:
    """The lines of the user's calls that lead to a row, the kernel's first."""
    at = own_place(program, row)
    calls = [program.origins[c] for c in row.calls if c in program.origins]
    return tuple(c.line for c in calls if not c.of_engine and c.line != at.line)


def in_bits(grown: float, most: int) -> float:
    """The bits that are lost where a relative error grows by a factor; 0 to those of the format."""
    return min(max(math.log2(grown), 0.0), float(most)) if grown > 0.0 else 0.0
