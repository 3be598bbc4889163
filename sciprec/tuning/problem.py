"""What is tuned: a kernel on its inputs, whose places each get one of some formats."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.diagnosis.problem import chosen_names
from sciprec.errors import InputError
from sciprec.precision.assigning import rows
from sciprec.precision.assigning.assignment import Assignment, arithmetic_of, file_of
from sciprec.precision.assigning.by_row import BINARY64
from sciprec.precision.assigning.matching import program_of
from sciprec.precision.assigning.places import Place, place_of
from sciprec.precision.assigning.program import AssignedProgram, Configured
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.lifting.written import written_arrays
from sciprec.precision.rewriting.copies import copied
from sciprec.tuning.formats import Formats
from sciprec.tuning.kept_runs import KeptRuns
from sciprec.tuning.metrics import METRICS, Metric, error_of
from sciprec.tuning.results import results_of

Choice = tuple[int, ...]
"""For every group the number of its format."""


@dataclass(frozen=True)
class Group:
    """Operations that have one format.

    Args:
        place: where they are.
        runs: how often they are executed, all together.
        rows: theirs in the table.
    """

    place: Place
    runs: int
    rows: tuple[int, ...]


class TuningProblem:
    """A kernel, its inputs, and formats for its places.

    Args:
        kernel: the plain Python function.
        args: in the order of its parameters.
        output: names of the results that count, or None for all.
        metric: its name, and what it is.
        formats: to choose from.
        unit: of places.

    Attributes:
        groups: places with operations that are executed, in the order of the source.
        runs: how many choices were run, or had been before an interruption.
    """

    def __init__(
        self, kernel, args: tuple, *, output: str | Iterable[str] | None,
        metric: tuple[str, Metric], formats: Formats, unit: str,
    ) -> None:  # fmt: skip
        self.kernel, self.args, self.formats, self.unit = kernel, args, formats, unit
        self.metric_name, self.metric = metric
        arithmetics = [arithmetic_of(name) for name in formats.names]
        self._configured = Configured(kernel, rows.layout_of(arithmetics), unit)
        program = self._configured.program
        self._words = [rows.row_of(a, program.row_layout) for a in arithmetics]
        self._names = list(program.signature.parameters)
        self._written = written_arrays(kernel)
        self.groups = self._grouped()
        self._output = output
        self._truths: dict[int, dict[str, np.ndarray]] = {}
        self._errors: dict[Choice, float] = {}
        self._kept = KeptRuns(self._identity())
        self._workers = 1 if program.parallel else os.cpu_count() or 1

    def _grouped(self) -> list[Group]:
        runs: dict[Place, int] = {}
        program = program_of(self.kernel)
        profile = lift(self.kernel, "fp64").profile(*self.args)
        counts = {
            (row.site, row.calls): int(n)
            for row, n in zip(profile.rows, profile.runs, strict=True) if row.part == 0
        }  # fmt: skip
        for row in program.layout.rows:
            place = place_of(program, row, self.unit)
            runs[place] = runs.get(place, 0) + counts.get((row.site, row.calls), 0)
        own: dict[Place, list[int]] = {}
        for number, row in enumerate(self._configured.program.layout.rows):
            own.setdefault(place_of(self._configured.program, row, self.unit), []).append(number)
        known = [Group(p, runs.get(p, 0), tuple(own[p])) for p in own]
        return sorted(
            (g for g in known if g.runs),
            key=lambda g: (g.place.file, g.place.line, g.place.column, str(g.place)),
        )

    def _identity(self) -> str | None:
        """What errors of this problem depend on, as digits; None where that cannot be said."""
        if METRICS.get(self.metric_name) is not self.metric:
            return None
        made = hashlib.sha256(self._configured.program.text().encode())
        for said in (self.formats.names, self.unit, self.metric_name, repr(self._output)):
            made.update(repr(said).encode())
        _digest(made, self.args)
        return made.hexdigest()[:24]

    # ---- runs ----------------------------------------------------------------------------------

    def run(self, choice: Choice, args: tuple | None = None) -> dict[str, np.ndarray]:
        """The results that count of a run."""
        table = self._uniform(self._words[self.formats.widest])
        for group, number in zip(self.groups, choice, strict=True):
            table[list(group.rows)] = self._words[number]
        return self._results(table, args)

    def _uniform(self, words: np.ndarray) -> np.ndarray:
        return np.tile(words, (len(self.program.layout.rows) + 1, 1))

    def _results(self, table: np.ndarray, args: tuple | None) -> dict[str, np.ndarray]:
        given = copied(self.args if args is None else args)
        with np.errstate(all="ignore"):
            returned = self._configured(table, *given)
        found = results_of(self._names, given, self._written(given), returned)
        if not found:
            raise InputError(
                f"kernel '{self.kernel.__name__}' returns no floating-point number and writes none "
                "into an argument; tune takes a kernel that does"
            )
        return {name: found[name] for name in chosen_names(list(found), self._output)}

    @property
    def program(self) -> AssignedProgram:
        """The program of the kernel, with its sources."""
        return self._configured.program

    @property
    def all_wide(self) -> Choice:
        """Everything in the widest format."""
        return (self.formats.widest,) * len(self.groups)

    def truth(self, args: tuple | None = None) -> dict[str, np.ndarray]:
        """The results in binary64."""
        number = id(args)
        if number not in self._truths:
            words = rows.row_of(BINARY64, self.program.row_layout)
            self._truths[number] = self._results(self._uniform(words), args)
        return self._truths[number]

    def error(self, choice: Choice, args: tuple | None = None) -> float:
        """The error of a choice, on other inputs where such are given."""
        if args is not None:
            return error_of(self.metric, self.run(choice, args), self.truth(args))
        if choice not in self._errors:
            known = self._kept.error(choice)
            if known is None:
                known = error_of(self.metric, self.run(choice), self.truth())
                self._kept.note(choice, known)
            self._errors[choice] = known
        return self._errors[choice]

    def errors(self, choices: Sequence[Choice]) -> list[float]:
        """The errors of several choices, on threads."""
        self.error(self.all_wide)
        if self._workers == 1 or len(choices) < 2:
            return [self.error(choice) for choice in choices]
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(self.error, choices))

    @property
    def runs(self) -> int:
        """How many choices were run."""
        return len(self._errors)

    @property
    def tried(self) -> dict[Choice, float]:
        """Every choice that was run, with its error."""
        return dict(self._errors)

    # ---- what a choice costs, and is called ----------------------------------------------------

    def cost(self, choice: Choice) -> float:
        """Bits of all executed operations, over those of the widest format everywhere."""
        return self._sum(choice, self.formats.bits)

    def modelled(self, choice: Choice, seconds: Sequence[float]) -> float:
        """Time of all executed operations, over that of the widest format everywhere."""
        return self._sum(choice, seconds)

    def _sum(self, choice: Choice, each: Sequence[float]) -> float:
        own = sum(g.runs * each[n] for g, n in zip(self.groups, choice, strict=True))
        return own / sum(g.runs * each[self.formats.widest] for g in self.groups)

    def assignment(self, choice: Choice) -> Assignment:
        """The choice as an assignment; what is in the widest format is left out."""
        formats = {
            g.place: self.formats.names[n]
            for g, n in zip(self.groups, choice, strict=True) if n != self.formats.widest
        }  # fmt: skip
        widest, file = self.formats.names[self.formats.widest], file_of(self.kernel)
        return Assignment.of_places(self.unit, formats, widest, file, "tuned")


def _digest(made, value: Any) -> None:
    """Bring a digest up to date with an argument."""
    if isinstance(value, tuple):
        made.update(f"({len(value)}".encode())
        for item in value:
            _digest(made, item)
    elif isinstance(value, np.ndarray):
        made.update(f"{value.dtype.str}{value.shape}".encode())
        made.update(np.ascontiguousarray(value).tobytes())
    else:
        made.update(f"{type(value).__name__} {value!r}".encode())
