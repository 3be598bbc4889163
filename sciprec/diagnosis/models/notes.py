"""What the rows of a model's kernels have noted in a run with exact values beside tested ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sciprec.diagnosis.attribution import TWIN_LANES, arithmetics_of
from sciprec.diagnosis.examination import Event, in_bits
from sciprec.diagnosis.models.runs import Census
from sciprec.diagnosis.origins import NEVER_ROUND, groups_of, is_unseen, own_place
from sciprec.precision.formats.backend import Backend
from sciprec.precision.tracing import rows
from sciprec.precision.tracing.operations import SEEN_BITS
from sciprec.precision.tracing.table import Table


class Notes:
    """The tables of all kernels.

    Args:
        census: which kernels there are.

    Attributes:
        tables: kernel -> its table; for a run of the technique "twin".
    """

    def __init__(self, census: Census) -> None:
        self.backend: Backend = census.backend
        known = [arithmetics_of(kernel.backend)[-1] for kernel in census.kernels]
        self.most_bits = max((a.format.significand_bits for a in known), default=0)
        self._programs = {}
        self.tables: dict[Any, Table] = {}
        for kernel in census.kernels:
            traced = kernel.traced("twin", TWIN_LANES)
            self._programs[kernel], self.tables[kernel] = traced.program, traced.table()
            self.tables[kernel].begin()

    def _column(self, kernel, numbers: Sequence[int], word: int):
        return self.tables[kernel].words[list(numbers), word]

    def rounds(self, kernel, numbers: Sequence[int]) -> bool:
        """Whether one of some rows has ever rounded; in wide formats, whether it ran."""
        if self.most_bits > SEEN_BITS:
            return bool(self._column(kernel, numbers, rows.RUNS).any())
        return bool(self._column(kernel, numbers, rows.ROUNDED).any())

    def unseen(self) -> tuple[str, ...]:
        """Executed lines with functions whose own rounding is not seen."""
        found: dict[str, None] = {}
        for kernel, program in self._programs.items():
            bits = arithmetics_of(kernel.backend)[-1].format.significand_bits
            for group in groups_of(program, "line"):
                ran = group.rows and self._column(kernel, group.rows, rows.RUNS).any()
                if ran and is_unseen(program, group, bits):
                    found.setdefault(f"{group.name} of '{group.function}'")
        return tuple(found)

    def runs(self, of: Mapping[Any, Sequence[int]]) -> int:
        """How often the most frequent one of some rows was executed."""
        counts = (self._column(k, n, rows.RUNS).max() for k, n in of.items() if n)
        return int(max(counts, default=0))

    def operations(self) -> int:
        """How many operations were executed, without literals and conversions of arguments."""
        total = 0
        for kernel, table in self.tables.items():
            program = self._programs[kernel]
            for number, row in enumerate(program.layout.rows):
                operation = program.sites[row.site].operation.partition("(")[0]
                if row.site in program.origins and operation not in (*NEVER_ROUND, "literal"):
                    total += int(table.words[number, rows.RUNS])
        return total

    def bits_lost(self, of: Mapping[Any, Sequence[int]]) -> float:
        """log2 of the largest factor by which a relative error grew in an operation; at most the
        bits of the format.
        """
        grown = [self.tables[k].numbers[list(n), rows.LOST].max() for k, n in of.items() if n]
        most = self.backend.compute.format.significand_bits
        return in_bits(float(max(grown, default=0.0)), most)

    def events(self) -> tuple[Event, ...]:
        """What happened to tested numbers: of every kind by line, the most frequent first."""
        found: dict[tuple, int] = {}
        for kernel, table in self.tables.items():
            program = self._programs[kernel]
            for kind, word in rows.EVENTS.items():
                counts = table.words[:, word]
                for number in counts.nonzero()[0].tolist():
                    at = own_place(program, program.layout.rows[number])
                    key = kind, at.function, at.file, at.line, at.source
                    found[key] = found.get(key, 0) + int(counts[number])
        made = [Event(*key, calls=(), index="", step=0, count=n) for key, n in found.items()]
        return tuple(sorted(made, key=lambda event: (event.kind, -event.count)))
