"""Notes in the rows of a model's kernels, from a run with exact values beside tested ones."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sciprec.foundation.alike import tuple_like
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.numbers import CompanionArray
from sciprec.instruments.tracing.operations import OUTERMOST_PASS
from sciprec.instruments.tracing.table import Table
from sciprec.instruments.tracing.technique import SEEN_BITS
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.attribution import TWIN_LANES, TracedKernel, arithmetics_of, stored_in
from sciprec.tools.trace.examination import Event, in_bits, loop_variables, loops_around
from sciprec.tools.trace.losses import element, kinds_of
from sciprec.tools.trace.models.between import Ladder, stretch
from sciprec.tools.trace.models.census import NOWHERE, CallPlace, Census, Lifting
from sciprec.tools.trace.models.steps import Calls, repeats
from sciprec.tools.trace.origins import NEVER_ROUND, groups_of, is_unseen

_TWIN_STRETCH = 2.0
"""How many times further away the twin is than parts are, where they are stretched: what that does
where a model is not linear between kernels then shows in the closure, as large as it is.
"""
EVENT_WORDS = list(rows.EVENTS.values())


@dataclass(frozen=True)
class First:
    """The first time that something happened in a row.

    Args:
        number: of the call, as `runs.Orders` counts them.
        clock, step: of the kernel's table, in that call.
        called_at: where the model calls the kernel.
        index: the loop variables then.
    """

    number: int
    clock: int
    step: int
    called_at: CallPlace
    index: str


class TwinNotes:
    """The tables of all kernels, for a run of the technique "twin"; see `runs.Orders`.

    Args:
        census: which kernels there are.

    Attributes:
        tables: kernel -> its table.
        calls: of all calls of the run.
        first: (kernel, row, word of an event) -> when it first happened.
        beyond: of arrays that do not fit into the format when kernels load them or the model rounds
            them, by kernel and argument, or by place: the first time.
    """

    asks_places = True

    def __init__(self, census: Census) -> None:
        further = stretch(census.bits)
        further *= _TWIN_STRETCH if further > 1.0 else 1.0
        self.ladder = Ladder("twin", TWIN_LANES, further)
        self.calls = Calls()
        self.first: dict[tuple[Lifting, int, int], First] = {}
        self.beyond: dict[tuple, Event] = {}
        self._numbers = {k: n for n, k in enumerate(census.kernels)}
        self._noted: dict[Lifting, np.ndarray] = {}
        self._number, self._arguments = 0, ((), NOWHERE)
        self.backend: Backend = census.backend
        widest = [arithmetics_of(kernel.backend)[-1] for kernel in census.kernels]
        self.most_bits = max((a.format.significand_bits for a in widest), default=0)
        self._programs = {}
        self.tables: dict[Any, Table] = {}
        for kernel in census.kernels:
            traced = kernel.traced("twin", TWIN_LANES)
            self._programs[kernel], self.tables[kernel] = traced.program, traced.table()
            self._noted[kernel] = np.zeros((len(self.tables[kernel].words), len(EVENT_WORDS)), bool)

    # ---- see `runs.Orders` ---------------------------------------------------------------------

    def traced(self, kernel: Lifting) -> TracedKernel:
        """Return the kernel compiled with exact values."""
        return kernel.traced("twin", TWIN_LANES)

    def begins(self, number: int) -> None:
        """Count a call."""
        self._number = number
        self.calls.kernels.append(-1)
        self.calls.ticks.append(0)

    def lane_of_argument(self, kernel: Lifting, argument: str) -> int | None:
        """Return None: there are no parts."""
        return None

    def lane_of_rounding(self, place: CallPlace) -> int | None:
        """Return None: there are no parts."""
        return None

    def before(self, kernel: Lifting, args: tuple, written: Sequence[bool], at: CallPlace) -> None:
        """Clock and steps begin anew in every call."""
        self.tables[kernel].begin()
        self.calls.kernels[-1] = self._numbers[kernel]
        copies = (_copied(x) if may_be else x for x, may_be in zip(args, written, strict=True))
        self._arguments = tuple(copies), at

    def after(self, kernel: Lifting) -> None:
        """Note what has happened for the first time."""
        table, noted = self.tables[kernel], self._noted[kernel]
        self.calls.ticks[-1] = int(table.header[rows.STEP])
        has = table.words[:, EVENT_WORDS] != 0
        if np.array_equal(has, noted):
            return
        arguments, at = self._arguments
        for row, n in np.argwhere(has & ~noted).tolist():
            word = EVENT_WORDS[n]
            clock, step = table.words[row, word + 1 : word + 3].tolist()
            index = self._index(kernel, row, clock, arguments)
            self.first[kernel, row, word] = First(self._number, clock, step, at, index)
        self._noted[kernel] = has

    def _index(self, kernel: Lifting, row: int, clock: int, arguments: tuple) -> str:
        """The loop variables around a row at a time of the call that has ended, made again."""
        program, traced = self._programs[kernel], self.traced(kernel)
        loops = loops_around(program, program.layout.rows[row])
        if not loops:
            return ""
        table = traced.table()
        table.header[rows.STOP] = clock
        traced.entered(table, tuple(map(_copied, arguments)))
        return loop_variables(program, loops, table)

    def rounds_beyond(
        self, values: np.ndarray, backend: Backend, at: CallPlace, kernel: Lifting | None, name: str
    ) -> None:
        """Note elements of an array that leave the range of the format at its end when they are
        rounded.

        Args:
            values: (...), of tested numbers.
            backend: whose storage they are rounded to.
            at: where the model calls the kernel, or rounds.
            kernel, name: what takes them, and its argument; None and "" where the model rounds.
        """
        sizes = np.abs(np.asarray(values, np.float64))
        end = stored_in(backend).format.max_finite
        if not (np.where(np.isfinite(sizes), sizes, 0.0) > end).any():
            return
        for kind in ("NaN", "infinity", "saturation"):
            where = kinds_of(values, backend)[kind]
            key = kind, kernel, name or at
            if not where.any() or key in self.beyond:
                continue
            file, function, line = at
            source, called_at, count = linecache.getline(file, line).strip(), NOWHERE, where.sum()
            if kernel is not None:
                code, called_at = kernel.kernel.__code__, at
                file, function, line = code.co_filename, kernel.name, code.co_firstlineno
                source = element(name, values, where)
            self.beyond[key] = Event(
                kind, function, file, line, source, (), "", 0, int(count),
                called_at=in_words(called_at) if kernel is not None else "", argument=name,
                of=values.size if kernel is not None else 0,
            )  # fmt: skip

    # ---- loops ---------------------------------------------------------------------------------

    def loops(self) -> list[int]:
        """The number of outermost loops of each kernel."""
        return [
            sum(
                row.part == 0 and program.sites[row.site].operation == OUTERMOST_PASS
                for row in program.layout.rows
            )
            for program in self._programs.values()
        ]

    def repeats(self) -> list[bool]:
        """Whether each kernel has a loop that does the same again and again."""
        return [repeats(p.sources[k.kernel.__code__]) for k, p in self._programs.items()]

    # ---- by group ------------------------------------------------------------------------------

    def _column(self, kernel, numbers: Sequence[int], word: int):
        return self.tables[kernel].words[list(numbers), word]

    def rounds(self, kernel, numbers: Sequence[int]) -> bool:
        """Whether one of some rows has ever rounded; in wide formats, whether it ran."""
        if self.most_bits > SEEN_BITS:
            return bool(self._column(kernel, numbers, rows.RUNS).any())
        return bool(self._column(kernel, numbers, rows.ROUNDED).any())

    def unseen(self) -> tuple[str, ...]:
        """Executed lines with functions whose own rounding is not seen."""
        names: dict[str, None] = {}
        for kernel, program in self._programs.items():
            bits = arithmetics_of(kernel.backend)[-1].format.significand_bits
            for group in groups_of(program, "line"):
                ran = group.rows and self._column(kernel, group.rows, rows.RUNS).any()
                if ran and is_unseen(program, group, bits):
                    names.setdefault(f"{group.name} of '{group.function}'")
        return tuple(names)

    def runs(self, of: Mapping[Any, Sequence[int]]) -> int:
        """Return the number of executions of the most frequent of some rows."""
        counts = (self._column(k, n, rows.RUNS).max() for k, n in of.items() if n)
        return int(max(counts, default=0))

    def operations(self) -> int:
        """The number of operations that were executed, without literals and conversions of
        arguments.
        """
        return self.executed({k: range(len(p.layout.rows)) for k, p in self._programs.items()})

    def executed(self, of: Mapping[Any, Sequence[int]]) -> int:
        """The number of operations of some rows that were executed, likewise."""
        total = 0
        for kernel, numbers in of.items():
            program, words = self._programs[kernel], self.tables[kernel].words
            for number in numbers:
                site = program.layout.rows[number].site
                operation = program.sites[site].operation.partition("(")[0]
                if site in program.origins and operation not in (*NEVER_ROUND, "literal"):
                    total += int(words[number, rows.RUNS])
        return total

    def bits_lost(self, of: Mapping[Any, Sequence[int]]) -> float:
        """log2 of the largest factor by which a relative error grew in an operation; at most the
        bits of the format.
        """
        grown = [self.tables[k].numbers[list(n), rows.LOST].max() for k, n in of.items() if n]
        most = self.backend.compute.format.significand_bits
        return in_bits(float(max(grown, default=0.0)), most)

    def program(self, kernel: Lifting):
        """The program of a kernel."""
        return self._programs[kernel]


def in_words(place: CallPlace) -> str:
    """Say where a model calls a kernel."""
    file, function, line = place
    return f"line {line} of '{function}'" if linecache.getline(file, line) else f"'{function}'"


def _copied(argument: Any) -> Any:
    """An argument of a traced kernel that it may write, again."""
    if isinstance(argument, tuple):
        return tuple_like(argument, map(_copied, argument))
    if isinstance(argument, CompanionArray):
        return replace(argument, numbers=argument.numbers.copy())
    return argument.copy() if isinstance(argument, np.ndarray) else argument
