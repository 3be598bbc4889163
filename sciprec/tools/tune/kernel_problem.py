"""A kernel, its inputs, and formats for its places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from sciprec.arrays.metrics import Metric
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import file_of
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.files import ROUNDS
from sciprec.instruments.assigning.places import Place
from sciprec.precision.formats.backend import Backend
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.lifting.written import written_arrays
from sciprec.precision.rewriting.copies import copied
from sciprec.tools.trace.problem import chosen_names
from sciprec.tools.tune.formats import Formats
from sciprec.tools.tune.problem import Raised, Tables, TuningProblem, Values, cores
from sciprec.tools.tune.results import results_of


class KernelProblem(TuningProblem):
    """A kernel, its inputs, and formats for its places; see `TuningProblem`.

    Args:
        kernel: the plain Python function.
        args: in the order of its parameters.
        output: names of the results that count, or None for all.
    """

    what = "kernel"

    def __init__(
        self, kernel, args: tuple, *, output: str | Iterable[str] | None,
        metric: tuple[str, Metric], formats: Formats, by: str, rounds: str = ROUNDS[0],
    ) -> None:  # fmt: skip
        super().__init__(metric=metric, formats=formats, by=by, rounds=rounds)
        self.kernel, self.args, self._output = kernel, args, output
        self.name, self.file = kernel.__name__, file_of(kernel)
        self._configured = Configured(
            kernel, self.layout, by, self.versions, everything=self.everything
        )
        self._names = list(self._configured.program.signature.parameters)
        self._lifted: dict[str | Backend, Lifted] = {}

    def results(self, tables: Tables, other: Any = None) -> Values:
        """The results that count of a call."""
        return self._called(partial(self._configured, tables(self._configured)), other)

    def lifted_results(self, backend: str | Backend, other: Any = None) -> Values:
        """The results that count of a call of the lifted kernel."""
        if backend not in self._lifted:
            self._lifted[backend] = lift(self.kernel, backend)
        return self._called(self._lifted[backend], other)

    def _called(self, kernel: Callable[..., Any], other: Any) -> Values:
        args = copied(self.args if other is None else other)
        try:
            with np.errstate(all="ignore"):
                returned = kernel(*args)
        except (InputError, MemoryError):
            raise
        except Exception as error:
            raise Raised.by(error) from error
        results = results_of(self._names, args, self._written(args), returned)
        if not results:
            raise InputError(
                f"kernel '{self.name}' returns no number and writes none into an argument; tune "
                "takes a kernel that does"
            )
        return {name: results[name] for name in chosen_names(list(results), self._output)}

    @cached_property
    def _written(self):
        return written_arrays(self.kernel)

    @property
    def kernels(self) -> Sequence[Configured]:
        """The kernel alone."""
        return (self._configured,)

    def counts(self) -> Counter[Place]:
        """Return the executions of one call."""
        with np.errstate(all="ignore"):
            table, args = self.in_binary64(self._configured), copied(self.args)
            _, runs = self._configured.counted(table, *args)
        return self.by_place(self._configured, runs)

    def identity(self) -> Sequence[Any]:
        """The results that count, and the arguments."""
        return repr(self._output), self.args

    @property
    def workers(self) -> int:
        """The number of runs at once: one for a kernel that takes all cores itself."""
        return 1 if self._configured.program.parallel else cores()
