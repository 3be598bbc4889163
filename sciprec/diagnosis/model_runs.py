"""Runs of a model: as ever, to see which kernels it calls, and with the error of its numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sciprec.diagnosis.attribution import TracedKernel
from sciprec.diagnosis.between import Crossings, Ladder
from sciprec.diagnosis.copies import Copies, Finished
from sciprec.errors import InputError
from sciprec.precision.formats.backend import Backend, HandedBackend, uniform_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.quantization import quantize
from sciprec.precision.tracing.table import Table

Program = Callable[[Backend], Any]
"""What is traced: it computes with the kernels of a backend, and gives results."""


Place = tuple[str, str, int]
"""File, function and line of a call."""
_HAND_ON = ("sciprec.precision.", "sciprec.models.arithmetic", "sciprec.diagnosis.")


def _place() -> Place:
    """Where a model rounds an array: functions called `rounded` hand that on."""
    frame = inspect.currentframe()
    while frame is not None:
        named, code = str(frame.f_globals.get("__name__")), frame.f_code
        if not named.startswith(_HAND_ON) and code.co_name not in ("rounded", "<genexpr>"):
            return code.co_filename, code.co_name, frame.f_lineno
        frame = frame.f_back
    return "", "", 0


def handed(backend: Backend, maker) -> HandedBackend:
    """A backend whose kernels a maker makes."""
    roles = backend.storage, backend.compute, backend.accumulate, backend.matmul
    return HandedBackend(backend.name, *roles, about=backend.about, maker=maker)


class Census:
    """An ordinary run that notes which kernels are called.

    Attributes:
        kernels: those that were called, in the order of their first calls -> what they returned.
        calls: how many calls there were.
        roundings: where `quantize` was called, outside of the engine.
        results: what the program gave.

    Args:
        program: what is traced.
        backend: a traceable arithmetic.
    """

    def __init__(self, program: Program, backend: Backend) -> None:
        self.backend, self.carrier = backend, backend.carrier
        self.kernels: dict[Any, Any] = {}
        self.calls = 0
        self.roundings: dict[Place, None] = {}
        self.results = program(handed(backend, self))

    def lifted(self, kernel, backend: Backend, trust_inputs: bool) -> Callable[..., Any]:
        """The kernel as ever, its calls noted."""
        require_same_formats(kernel.__name__, backend, self.backend)
        ordinary = lift(kernel, self.backend, trust_inputs=trust_inputs)

        def noted(*args, **kwargs):
            result = ordinary(*args, **kwargs)
            self.kernels.setdefault(kernel, result)
            self.calls += 1
            return result

        return noted

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize` as ever, its place noted."""
        self.roundings.setdefault(_place())
        return rounding_of(self.backend)

    def known(self, kernel) -> Any:
        """The kernel that was called here, of a function that is defined again in every run.

        Raises:
            InputError: it was not called.
        """
        if kernel in self.kernels:
            return kernel
        for other in self.kernels:
            if _same(other, kernel):
                return other
        raise InputError(
            f"kernel '{kernel.__name__}' is called in one run of the model and not in another; "
            "trace takes models that do the same in every run"
        )


def _same(one: Any, other: Any) -> bool:
    """Whether two functions, or what they name, are the same thing made twice."""
    if one is other:
        return True
    if not (inspect.isfunction(one) and inspect.isfunction(other)):
        return type(one) is type(other) and np.array_equal(one, other)
    return one.__code__ == other.__code__ and all(
        map(_same, _named_by(one), _named_by(other))
    )  # fmt: skip


def _named_by(function) -> list[Any]:
    """What the code of a function finds in its closure and its module."""
    known = [cell.cell_contents for cell in function.__closure__ or ()]
    return known + [function.__globals__.get(name) for name in function.__code__.co_names]


def rounding_of(backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
    """A function (values, out) that rounds to the storage format."""

    def rounded(values: np.ndarray, out: np.ndarray) -> None:
        out[...] = quantize(values, backend)

    return rounded


@lru_cache(maxsize=64)
def traced_kernel(kernel, backend: Backend, technique: str, lanes: int) -> TracedKernel:
    """The (shared) kernel compiled with companions."""
    return TracedKernel(kernel, backend, technique, lanes)


def require_same_formats(kernel: str, backend: Backend, traced: Backend) -> None:
    """Refuse a kernel of a model that computes in another arithmetic than the rest."""
    if backend.roles != traced.roles or backend.noise is not None:
        raise InputError(
            f"kernel '{kernel}' of the model computes in '{backend.name}', beside others in "
            f"'{traced.name}'; trace takes a model whose kernels have one arithmetic: leave out "
            "'stored' and 'stages'"
        )


class ErrorRun:
    """A run of a model whose numbers carry their error.

    Attributes:
        results: what each copy of the program gave, see `between`.
        tables: kernel -> its table, with the notes of its rows.

    Args:
        program: what is traced.
        census: an ordinary run of it.
        ladder: what is carried.
        tables: kernel -> its table, told which lanes a row's rounding goes to.
        lanes_of_arguments: (kernel, argument) -> the lane of an array's conversion.
        lanes_of_roundings: place -> the lane of what `quantize` does there.
        before_call: told the number of each call, from 0 on, before it is made.
    """

    def __init__(
        self, program: Program, census: Census, ladder: Ladder, tables: Mapping[Any, Table],
        lanes_of_arguments: Mapping[tuple, int], lanes_of_roundings: Mapping[Place, int],
        before_call: Callable[[int], None] | None = None,
    ) -> None:  # fmt: skip
        self.backend, self.ladder, self.census = census.backend, ladder, census
        self.tables, self._lanes_of_arguments = tables, lanes_of_arguments
        self._lanes_of_roundings = lanes_of_roundings
        self._before_call, self._calls = before_call, 0
        self._crossings = Crossings(ladder)
        self._copies = Copies(ladder.copies, self._answer)
        self.results = self._copies.run(lambda k: program(handed(self.backend, _Copy(self, k))))

    def call(self, copy: int, kernel, trust_inputs: bool, args: tuple) -> Any:
        """A kernel's result for a copy that calls it."""
        return self._copies.meet(copy, _Call(kernel, trust_inputs, args))

    def rounded(self, copy: int, values: np.ndarray) -> np.ndarray:
        """What `quantize` gives a copy."""
        return self._copies.meet(copy, _Rounding(values, _place()))

    def _answer(self, asked: Sequence[Any]) -> Sequence[Any]:
        if all(isinstance(one, Finished) for one in asked):
            return asked
        if len({one.name for one in asked}) > 1:
            first, last = asked[0], asked[-1]
            raise InputError(
                f"after {self._calls} calls of kernels the model {first.said}, and on exact "
                f"numbers it {last.said}: rounded numbers decide which way it goes; trace takes a "
                "model whose way is the same, or such a part of a run: shorten it"
            )
        first = asked[0]
        if isinstance(first, _Rounding):
            return self._all_rounded(first.place, [one.values for one in asked])
        if self._before_call is not None:
            self._before_call(self._calls)
        self._calls += 1
        return self._called(first.kernel, first.trust_inputs, [one.args for one in asked])

    def _all_rounded(self, place: Place, held: list[np.ndarray]) -> list[np.ndarray]:
        """What `quantize` makes of an array: copies that still have its part get the same change
        as tested values.
        """
        rounded = quantize(held[0], self.backend)
        with np.errstate(invalid="ignore"):
            change = np.where(rounded == held[0], 0.0, np.float64(rounded) - held[0])
        lane = self._lanes_of_roundings.get(place, len(held) - 1)
        return [rounded, *(h + change if k < lane else h for k, h in enumerate(held[1:], 1))]

    def _called(self, kernel, trust_inputs: bool, args: list[tuple]) -> Sequence[Any]:
        """A call of the traced kernel with the arguments of all copies."""
        traced = traced_kernel(kernel, self.backend, self.ladder.technique, self.ladder.lanes)
        rounding = None if trust_inputs else lambda x: quantize(x, self._storage)
        crossing = self._crossings.of(kernel.__name__, rounding)
        held = list(zip(*args, strict=True))
        taken = tuple(
            crossing.taken(items, self._lanes_of_arguments.get((kernel, name)))
            for name, items in zip(traced.names, held, strict=True)
        )
        result, _ = traced.entered(self.tables[kernel], taken)
        for items, written in zip(held, traced.written(args[0]), strict=True):
            if written:
                crossing.put_back(items)
        return crossing.given_back(result, self.census.kernels[kernel])

    @cached_property
    def _storage(self) -> Backend:
        return uniform_backend(f"{self.backend.name} storage", self.backend.storage)


class _Call:
    """What a copy asks for: a call of a kernel."""

    def __init__(self, kernel, trust_inputs: bool, args: tuple) -> None:
        self.kernel, self.trust_inputs, self.args = kernel, trust_inputs, args
        self.name = kernel.__name__

    @property
    def said(self) -> str:
        """What the copy does."""
        return f"calls '{self.name}'"


class _Rounding:
    """What a copy asks for: an array rounded to the storage format."""

    name, said = "quantize", "rounds numbers"

    def __init__(self, values: np.ndarray, place: Place) -> None:
        self.values, self.place = values, place


class _Copy:
    """What a copy of a model computes with.

    The first one has the arrays of an ordinary run, the others binary64 ones, which hold anything.
    """

    def __init__(self, run: ErrorRun, number: int) -> None:
        self._run, self._number = run, number
        self.carrier = run.backend.carrier if number == 0 else np.dtype(np.float64)

    def lifted(self, kernel, backend: Backend, trust_inputs: bool) -> Callable[..., Any]:
        """A kernel that all copies call together."""
        signature = inspect.signature(kernel, follow_wrapped=False)

        def called(*args, **kwargs):
            known = self._run.census.known(kernel)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return self._run.call(
                self._number, known, trust_inputs, tuple(bound.arguments.values())
            )

        return called

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize`, which all copies do together."""

        def rounded(values: np.ndarray, out: np.ndarray) -> None:
            out[...] = self._run.rounded(self._number, values)

        return rounded
