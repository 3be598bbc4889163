"""A model, which calls many kernels, and formats for the places of all of them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sciprec.arrays.metrics import MetricFunction
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.files import ROUNDS
from sciprec.instruments.assigning.origins import own_place
from sciprec.instruments.assigning.places import Place
from sciprec.instruments.assigning.stages import Stage
from sciprec.precision.formats.backend import Backend, copied, resolve_backend
from sciprec.precision.rewriting import program as programs
from sciprec.precision.rewriting.layout import Row
from sciprec.tools.trace.models.census import handed, same_function
from sciprec.tools.trace.models.traces import Results
from sciprec.tools.tune.formats import Formats
from sciprec.tools.tune.problem import Raised, Tables, TuningProblem, Values, cores

PROFILED = 8
"""Calls of a kernel with arrays of the same shapes and other numbers that are counted one by one;
further ones count as their mean."""
Runner = Callable[[Backend], Results]


class ModelProblem(TuningProblem):
    """A model and formats for the places of its kernels; see `TuningProblem`.

    Args:
        program: runs the model in a backend and gives its results; of those with a time axis the
            last state counts. All kernels are lifted to that very backend.
        model: its name.
        said: what its results depend on, as plain data; None where that cannot be said.
        stages: with by="stage".
        versions_after: seconds of a kernel's calls, see `Configured`.
    """

    sort = "model"
    file = ""

    def __init__(
        self, program: Runner, *, model: str, content: Sequence[Any] | None,
        stages: Sequence[Stage], metric: tuple[str, MetricFunction], formats: Formats, by: str,
        versions_after: float | None = None, rounds: str = ROUNDS[0],
    ) -> None:  # fmt: skip
        super().__init__(metric=metric, formats=formats, by=by, rounds=rounds)
        self.program, self.name, self.stages, self._sentence = program, model, stages, content
        self._kernels: dict[Any, Configured] = {}
        self._versions_after = versions_after
        self._lock = threading.Lock()
        self.truth()  # makes the kernels known

    def results(self, tables: Tables, other: Any = None) -> Values:
        """The results that count of a run.

        Args:
            tables: with the formats of its operations.
            other: another program; None: its own.
        """
        maker = _Maker(self, tables)
        try:
            values = (other or self.program)(self._handed(maker))
        except Exception as error:
            if error is maker.raised and not isinstance(error, (InputError, MemoryError)):
                raise Raised.by(error) from error
            raise
        return _last_states(values)

    def lifted_results(self, backend: str | Backend, other: Any = None) -> Values:
        """The results that count of a run in a backend, as any other run of the model."""
        try:
            return _last_states((other or self.program)(resolve_backend(backend)))
        except MemoryError:
            raise
        except Exception as error:
            raise Raised.by(error) from error

    def _handed(self, maker: _Maker) -> Backend:
        return handed(resolve_backend("fp64"), maker)

    def configured(self, kernel) -> Configured:
        """The (shared) kernel with rows, also of a function that is defined again in every run."""
        with self._lock:
            if kernel not in self._kernels:
                existing = next((k for k in self._kernels if same_function(k, kernel)), None)
                self._kernels[kernel] = (
                    Configured(
                        kernel, self.layout, self.by, self.versions, self._versions_after,
                        self.everything,
                    )  # fmt: skip
                    if existing is None
                    else self._kernels[existing]
                )
            return self._kernels[kernel]

    @property
    def kernels(self) -> Sequence[Configured]:
        """The kernels that were called in any run."""
        with self._lock:
            return list(dict.fromkeys(self._kernels.values()))

    def counts(self) -> Counter[Place]:
        """Return the executions of a run in binary64."""
        census = _CountingMaker(self)
        self.program(self._handed(census))
        return census.counts()

    def place_of(self, program: programs.Program, row: Row) -> Place | None:
        """The place of a row; of a stage the first of its places."""
        if self.by != "stage":
            return super().place_of(program, row)
        origin = own_place(program, row)
        for stage in self.stages:
            if any(place.holds(program, row, origin) for place in stage.as_places):
                return stage.as_places[0]
        return None

    def all_of(self, place: Place) -> tuple[Place, ...]:
        """Return all places of a stage."""
        for stage in self.stages:
            if place in stage.as_places:
                return tuple(stage.as_places)
        return (place,)

    def identity(self) -> Sequence[Any] | None:
        """Return the facts that the results depend on."""
        return self._sentence

    @property
    def workers(self) -> int:
        """The number of runs at once: one for each core."""
        return cores()


class _Maker:
    """The kernels of one run, compiled for formats that may change.

    Args:
        problem: that compiles them.
        tables: with the formats of their operations.

    Attributes:
        raised: what a kernel has raised.
    """

    raised: Exception | None = None
    carrier = np.dtype(np.float64)

    def __init__(self, problem: ModelProblem, tables: Tables) -> None:
        self.problem, self._tables = problem, tables

    def lifted(self, kernel, backend: Backend, trust_inputs: bool) -> Callable[..., Any]:
        """The kernel with the formats of its operations."""
        if backend.fixed or backend.random:
            raise InputError(
                f"kernel '{kernel.__name__}' of the model computes in '{backend.name}'; tune takes "
                "models whose formats are all floating point without random bits"
            )
        configured = self.problem.configured(kernel)
        table = self._tables(configured)

        def run(*args, **kwargs):
            if kwargs:
                bound = configured.program.signature.bind(*args, **kwargs)
                bound.apply_defaults()
                args = tuple(bound.arguments.values())
            return self.called(kernel, configured, table, args)

        run.backend = backend  # type: ignore[attr-defined]
        return run

    def called(self, kernel, configured: Configured, table: np.ndarray, args: tuple) -> Any:
        """Call a kernel, and return what it gives."""
        try:
            return configured(table, *args)
        except Exception as error:
            self.raised = error
            raise

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize`, which leaves numbers as they are."""
        return copied


class _CountingMaker(_Maker):
    """Notes the calls of a run in binary64, and how often their operations are executed."""

    def __init__(self, problem: ModelProblem) -> None:
        super().__init__(problem, problem.in_binary64)
        self._calls: dict[tuple, Counter[tuple]] = {}
        self._counts: dict[tuple, dict[tuple, Counter[Place]]] = {}

    def called(self, kernel, configured: Configured, table: np.ndarray, args: tuple) -> Any:
        """Call a kernel, note the call, and return what it gives."""
        numbers: list[Any] = []
        shapes = configured, _shapes(args, numbers)
        profiled = self._counts.setdefault(shapes, {})
        key = tuple(numbers)
        self._calls.setdefault(shapes, Counter())[key] += 1
        if key in profiled or len(profiled) >= PROFILED:
            return super().called(kernel, configured, table, args)
        result, runs = configured.counted(table, *args)
        profiled[key] = self.problem.by_place(configured, runs)
        return result

    def counts(self) -> Counter[Place]:
        """Return the executions of the whole run."""
        totals: Counter[Place] = Counter()
        for shapes, calls in self._calls.items():
            profiled = self._counts[shapes]
            for numbers, counts in profiled.items():
                for place, runs in counts.items():
                    totals[place] += runs * calls[numbers]
            missed = sum(n for numbers, n in calls.items() if numbers not in profiled)
            for place, runs in sum(profiled.values(), Counter()).items():
                totals[place] += round(runs * missed / len(profiled))
        return totals


def _last_states(results: Results) -> Values:
    """Results that count, of those in time the last state."""
    return {
        name: np.asarray(values[-1] if name in results.timed else values, np.float64)
        for name, values in results.values.items()
    }


def _shapes(args: Mapping | tuple, numbers: list[Any]) -> tuple:
    """Return a key that tells calls apart: shapes of arrays; numbers besides are appended to a
    list.
    """
    shapes: list[Any] = []
    for argument in args:
        if isinstance(argument, tuple):
            shapes.append(_shapes(argument, numbers))
        elif isinstance(argument, np.ndarray):
            shapes.append((argument.dtype.str, argument.shape))
        else:
            shapes.append(type(argument).__name__)
            if isinstance(argument, (bool, int, np.integer, np.bool_)):
                numbers.append(int(argument))
    return tuple(shapes)
