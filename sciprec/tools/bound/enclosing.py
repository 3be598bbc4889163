"""The places where a run with intervals could not confirm a decision, or lost a bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.tracing import rows
from sciprec.instruments.tracing.table import Table
from sciprec.precision.rewriting.program import Program


@dataclass(frozen=True)
class BoundedLine:
    """A line of the kernel at which an event happened, such as a division by zero.

    Attributes:
        function, file, line, source: the line.
        calls: lines of the calls that lead there, the kernel's first.
        count: how often it happened.
    """

    function: str
    file: str
    line: int
    source: str
    calls: tuple[int, ...]
    count: int

    def __str__(self) -> str:
        called = "".join(f", called in line {n}" for n in reversed(self.calls))
        return f"line {self.line}{called}: {self.source}"


def undecided_places(program: Program, table: Table) -> tuple[BoundedLine, ...]:
    """Return the places where the run decided and the interval did not confirm it, by time."""
    return _places(program, table, rows.OTHERWISE)


def lost_places(program: Program, table: Table) -> tuple[BoundedLine, ...]:
    """Return the places where operands had a bound and the result has none, by time."""
    return _places(program, table, rows.NO_NUMBER)


def loop_passes(program: Program, table: Table) -> tuple[str, int, int] | None:
    """Return the loop that a run is in, how many of its passes are done, and how many there are;
    None outside of loops over ranges.
    """
    passes = table.passes()
    if passes is None:
        return None
    row, done, length = passes
    at = own_place(program, program.layout.rows[row])
    return f"passes of the loop in line {at.line}", done, length


def _places(program: Program, table: Table, word: int) -> tuple[BoundedLine, ...]:
    counts, clocks = table.words[:, word], table.words[:, word + 1]
    rows_of: dict[tuple, list[int]] = {}
    for number in sorted(np.flatnonzero(counts).tolist(), key=lambda n: clocks[n]):
        at = own_place(program, program.layout.rows[number])
        rows_of.setdefault((at.file, at.line), []).append(number)
    return tuple(
        _place(program, numbers[0], int(counts[numbers].sum())) for numbers in rows_of.values()
    )


def _place(program: Program, number: int, count: int) -> BoundedLine:
    row = program.layout.rows[number]
    at = own_place(program, row)
    calls = [program.origins[c] for c in row.calls if c in program.origins]
    lines = tuple(c.line for c in calls if not c.of_engine and c.line != at.line)
    return BoundedLine(at.function, at.file, at.line, at.source, lines, count)
