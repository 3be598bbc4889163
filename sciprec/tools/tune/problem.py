"""The subject of a tuning: something that runs, whose places each get one of some formats."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from sciprec.arrays.metrics import METRICS, MetricFunction
from sciprec.foundation.course import tell
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.assignment import Assignment, arithmetic_of
from sciprec.instruments.assigning.by_row import BINARY64
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.files import ROUNDS
from sciprec.instruments.assigning.places import Place, place_of
from sciprec.precision.compiled.disk_cache import ENGINE, sources_digest
from sciprec.precision.formats.backend import Backend
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.program import Program
from sciprec.tools.tune.formats import Formats
from sciprec.tools.tune.kept_runs import KeptRuns
from sciprec.tools.tune.metrics import error_of, hidden_element

_VERSIONS = 4
"""The most formats in which functions are compiled once more."""
Choice = tuple[int, ...]
"""A choice of formats: for every group the number of its format."""
Tables = Callable[[Configured], np.ndarray]
"""The table that a kernel runs with."""
Values = Mapping[str, np.ndarray]
"""Results that count, by name."""


class Raised(Exception):
    """An exception of the kernel or model that is tuned."""

    @classmethod
    def by(cls, error: Exception) -> Raised:
        """Return an exception of the subject's as one of this class, in words."""
        message = " ".join(str(error).split())
        return cls(f"{type(error).__name__} ({message})" if message else type(error).__name__)


@dataclass(frozen=True)
class OperationGroup:
    """Operations that have one format.

    Args:
        place: where they are; of a stage the first of several.
        runs: how often they are executed, all together.
        places: all of them.
    """

    place: Place
    runs: int
    places: tuple[Place, ...]

    @property
    def name(self) -> str:
        """The name of the place in a list."""
        place = self.place
        return place.variable if place.by == "stage" else str(place.key(place.file))


class TuningProblem(ABC):
    """A run to tune, with the places of its program that may have formats of their own.

    Args:
        metric: its name, and what it is.
        formats: to choose from.
        by: kind of places.
        rounds: what has formats, see `Assignment`.

    Attributes:
        formats: to choose from, and the one that a search starts from.
        versions: in which functions are compiled once more, see `Configured`.
        name, sort: its name, and its sort: "kernel" or "model".
        file: whose lines are called by their number.
        groups: places with operations that are executed, in the order of the source.
        runs: how many choices were run, or had been before an interruption.
        doubt: how well the truth itself is known, in a sentence; "" where nobody has looked.
    """

    doubt = ""
    name: str
    sort: str
    file: str

    def __init__(
        self, *, metric: tuple[str, MetricFunction], formats: Formats, by: str,
        rounds: str = ROUNDS[0],
    ) -> None:  # fmt: skip
        self.formats, self.by, self.rounds = formats, by, rounds
        self.metric_name, self.metric = metric
        arithmetics = [arithmetic_of(name) for name in formats.names]
        self.layout = rows.layout_of(arithmetics)
        narrower = [] if formats.by_bits else arithmetics
        self.versions = [*dict.fromkeys([BINARY64, *narrower])][:_VERSIONS]
        self._words = np.array([rows.row_of(a, self.layout) for a in arithmetics])
        self._truths: dict[int, Values] = {}
        self._errors: dict[Choice, float] = {}
        """The error of each choice; a key ends with the number of the widest format."""
        self._places: dict[Configured, np.ndarray] = {}

    # ---- what each kind of problem says --------------------------------------------------------

    @abstractmethod
    def results(self, tables: Tables, other: Any = None) -> Values:
        """The results that count of a run.

        Args:
            tables: with the formats of its operations.
            other: inputs that are not its own; None: its own.

        Raises:
            Raised: an operation's kernel raises an exception.
        """

    @abstractmethod
    def lifted_results(self, backend: str | Backend, other: Any = None) -> Values:
        """The results that count of a run as `lift` has it, in a format everywhere or in an
        assignment.

        Args:
            backend: as `lift` takes it.
            other: inputs that are not its own; None: its own.

        Raises:
            Raised: it ends with an exception.
        """

    @property
    @abstractmethod
    def kernels(self) -> Sequence[Configured]:
        """The kernels that are run."""

    @abstractmethod
    def counts(self) -> Counter[Place]:
        """Return how often the operations of places are executed."""

    @abstractmethod
    def identity(self) -> Sequence[Any] | None:
        """Return the facts that its results depend on besides kernels and formats; None where
        nothing is stored.
        """

    @property
    @abstractmethod
    def workers(self) -> int:
        """The number of runs there may be at once."""

    # ---- groups --------------------------------------------------------------------------------

    def place_of(self, program: Program, row: Row) -> Place | None:
        """The place of a row; None where it always has the widest format."""
        return place_of(program, row, self.by)

    def places_of(self, configured: Configured) -> list[Place | None]:
        """The place of every row of a kernel."""
        program = configured.program
        return [self.place_of(program, row) for row in program.layout.rows]

    def by_place(self, configured: Configured, runs: np.ndarray) -> Counter[Place]:
        """Return the executions of places' operations, from those of rows."""
        totals: Counter[Place] = Counter()
        for place, count in zip(self.places_of(configured), runs.tolist(), strict=True):
            if place and count:
                totals[place] += count
        return totals

    @cached_property
    def groups(self) -> tuple[OperationGroup, ...]:
        """Places with operations that are executed, in the order of the source."""
        runs = self.counts()
        places = dict.fromkeys(p for k in self.kernels for p in self.places_of(k))
        return tuple(sorted(
            (OperationGroup(p, runs[p], self.all_of(p)) for p in places if p and runs[p]),
            key=lambda g: (g.place.file, g.place.line, g.place.column, str(g.place)),
        ))  # fmt: skip

    def all_of(self, place: Place) -> tuple[Place, ...]:
        """The places of a group that one of them stands for."""
        return (place,)

    def _table(self, configured: Configured, choice: Choice) -> np.ndarray:
        if configured not in self._places:
            numbers: dict[Place | None, int] = {g.place: n for n, g in enumerate(self.groups)}
            group_numbers = [numbers.get(p, len(numbers)) for p in self.places_of(configured)]
            self._places[configured] = np.array([*group_numbers, len(numbers)])
        numbers = np.array([*choice, self.formats.widest])
        return configured.with_versions(self._words[numbers[self._places[configured]]])

    def in_binary64(self, configured: Configured) -> np.ndarray:
        """The table of a kernel all of whose operations are in binary64."""
        words = rows.row_of(BINARY64, self.layout)
        table = np.tile(words, (len(configured.program.layout.rows) + 1, 1))
        return configured.with_versions(table)

    @property
    def programs(self) -> list[Program]:
        """The programs of the kernels, with their sources."""
        return [kernel.program for kernel in self.kernels]

    # ---- runs ----------------------------------------------------------------------------------

    def run(self, choice: Choice, other: Any = None) -> Values:
        """The results that count of a run in the formats of a choice."""
        return self.results(lambda configured: self._table(configured, choice), other)

    @property
    def all_wide(self) -> Choice:
        """Everything in the widest format."""
        return (self.formats.widest,) * len(self.groups)

    def start_from(self, number: int) -> None:
        """Take a format as the widest one to begin with."""
        self.formats = replace(self.formats, start=number)

    def truth(self, other: Any = None) -> Values:
        """The results in binary64.

        Raises:
            InputError: there are none, or none of their numbers is finite.
        """
        number = id(other)
        if number in self._truths:
            return self._truths[number]
        which = "" if other is None else " on the inputs of the check"
        try:
            results = self.results(self.in_binary64, other)
        except Raised as raised:
            raise InputError(
                f"{self.sort} '{self.name}' raises {raised} in fp64{which}; tune takes inputs on "
                "which it ends"
            ) from raised
        floats = {name: values for name, values in results.items() if values.dtype.kind == "f"}
        if floats and not any(np.isfinite(values).any() for values in floats.values()):
            raise InputError(
                f"{self.sort} '{self.name}' gives no finite number in fp64{which} "
                f"({', '.join(floats)}), so that formats have no error; give inputs on which it "
                "does"
            )
        self._truths[number] = results
        return results

    @cached_property
    def _stored_runs(self) -> KeptRuns:
        depends = self.identity() if METRICS.get(self.metric_name) is self.metric else None
        if depends is None:
            return KeptRuns(None)
        digest = hashlib.sha256(sources_digest(*ENGINE, "tools/tune").encode())
        for program in self.programs:
            digest.update(program.text().encode())
        for setting in (self.formats.names, self.by, self.metric_name, self.rounds):
            digest.update(repr(setting).encode())
        for fact in depends:
            _digest(digest, fact)
        return KeptRuns(digest.hexdigest())

    def error(self, choice: Choice, other: Any = None) -> float:
        """The error of a choice, on other inputs where such are given; infinite where it raises an
        exception.
        """
        if other is not None:
            return self._error(choice, other)
        key = (*choice, self.formats.widest)
        if key not in self._errors:
            error = self._stored_runs.error(key)
            if error is None:
                tell("choices of formats tried", len(self._errors), 0)
                error = self._error(choice, None)
                self._stored_runs.note(key, error)
            self._errors[key] = error
        return self._errors[key]

    def _error(self, choice: Choice, other: Any) -> float:
        truth = self.truth(other)
        try:
            results = self.run(choice, other)
        except Raised:
            return float("inf")
        return error_of(self.metric, results, truth)

    def error_in(self, number: int, other: Any = None) -> float:
        """The error of everything lifted to one of the formats: loads, arguments and comparisons,
        too, have it.
        """
        name = self.formats.names[number]
        if arithmetic_of(name) == BINARY64:
            return 0.0
        if other is not None:
            return self._judged(name, other)[0]
        key = (-1 - number,)  # which no choice has
        error = self._stored_runs.error(key)
        if error is None:
            error = self._judged(name, None)[0]
            self._stored_runs.note(key, error)
        return error

    def judged(self, choice: Choice, other: Any = None) -> tuple[float, str]:
        """The error of a choice as `lift` runs its assignment, and the element that this hides.
        It is always run: an answer does not rest on what a file says.
        """
        assignment = self.assignment(choice)
        if assignment.arithmetics == (BINARY64,):
            return 0.0, ""
        return self._judged(assignment.as_backend(), other)

    def _judged(self, backend: str | Backend, other: Any) -> tuple[float, str]:
        """Return the error of a lifted run, and the element that its norm hides."""
        truth = self.truth(other)
        try:
            results = self.lifted_results(backend, other)
        except Raised:
            return float("inf"), ""
        return error_of(self.metric, results, truth), hidden_element(results, truth)

    def errors(self, choices: Sequence[Choice]) -> list[float]:
        """The errors of several choices, on threads."""
        self.error(self.all_wide)
        errors: list[float] = []
        with ThreadPoolExecutor(self.workers) as pool:
            alone = self.workers == 1 or len(choices) < 2
            for error in (map if alone else pool.map)(self.error, choices):
                errors.append(error)
                tell("formats tried for single groups", len(errors), len(choices))
        return errors

    @property
    def runs(self) -> int:
        """The number of choices that were run."""
        return len(self._errors)

    @property
    def tried(self) -> dict[Choice, float]:
        """The choices that were run, each with its error."""
        widest = self.formats.widest
        return {key[:-1]: e for key, e in self._errors.items() if key[-1] == widest}

    # ---- what a choice costs, and is called ----------------------------------------------------

    def cost(self, choice: Choice) -> float:
        """Bits of all executed operations, over those of the widest format everywhere."""
        return self._sum(choice, self.formats.bits)

    def modelled(self, choice: Choice, seconds: Sequence[float]) -> float:
        """Time of all executed operations, over that of the widest format everywhere."""
        return self._sum(choice, seconds)

    def shares(self, choice: Choice) -> dict[str, float]:
        """Format -> its share of all executed operations, the narrowest first."""
        total = sum(g.runs for g in self.groups)
        of_format = Counter[int]()
        for group, number in zip(self.groups, choice, strict=True):
            of_format[number] += group.runs
        return {
            self.formats.names[n]: of_format[n] / total
            for n in self.formats.ascending if of_format[n]
        }  # fmt: skip

    def _sum(self, choice: Choice, each: Sequence[float]) -> float:
        total = sum(g.runs * each[n] for g, n in zip(self.groups, choice, strict=True))
        widest = sum(g.runs * each[self.formats.widest] for g in self.groups)
        return total / widest if widest else 1.0  # nothing is executed

    def assignment(self, choice: Choice) -> Assignment:
        """The choice as an assignment; what is in the widest format is left out."""
        formats = {
            place: self.formats.names[n]
            for g, n in zip(self.groups, choice, strict=True) if n != self.formats.widest
            for place in g.places
        }  # fmt: skip
        widest = self.formats.names[self.formats.widest]
        return Assignment.of_places(
            self.by, formats, widest, self.file, "tuned", self.rounds
        )

    @property
    def everything(self) -> bool:
        """Whether loads, arguments and comparisons have formats, too."""
        return self.rounds != ROUNDS[0]


def cores() -> int:
    """Return the number of runs there may be at once, of runs that take a core each."""
    return os.cpu_count() or 1


def _digest(digest, value: Any) -> None:
    """Bring a digest up to date with an argument."""
    if isinstance(value, tuple):
        digest.update(f"({len(value)}".encode())
        for item in value:
            _digest(digest, item)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.dtype.str}{value.shape}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        digest.update(f"{type(value).__name__} {value!r}".encode())
