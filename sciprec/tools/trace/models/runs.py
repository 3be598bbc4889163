"""Runs of a model in which its numbers carry their error."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from zlib import crc32

import numpy as np

from sciprec.arrays.quantization import quantize
from sciprec.foundation.errors import InputError
from sciprec.instruments.tracing.table import Table
from sciprec.precision.formats.backend import Backend
from sciprec.tools.trace.attribution import TracedKernel, floats
from sciprec.tools.trace.models.between import Crossings, Ladder
from sciprec.tools.trace.models.census import (
    NOWHERE,
    CallPlace,
    Census,
    Lifting,
    Runner,
    handed,
    place,
    plain,
    with_backend,
)
from sciprec.tools.trace.models.copies import Copies, Finished
from sciprec.tools.trace.problem import SEED, displacement


@dataclass(frozen=True)
class Wider:
    """The parts of a run that are computed in binary64, besides rows of tables.

    Args:
        arguments, places: (kernel, argument) and places whose roundings are left out.
        rounded: (number, argument) of the other ones that change a number in an ordinary run, see
            `ErrorRun.changing`; those that change none would only undo what is computed wider.
    """

    arguments: frozenset[tuple]
    places: frozenset[CallPlace]
    rounded: frozenset[tuple[int, str]]

    def rounds(self, number: int, kernel, argument: str) -> bool:
        """Whether an argument's elements are rounded in a call."""
        return (number, argument) in self.rounded and (kernel, argument) not in self.arguments

    def rounds_at(self, number: int, place: CallPlace) -> bool:
        """Whether `quantize` rounds an array."""
        return (number, "") in self.rounded and place not in self.places


class _PerturbedInput:
    """A perturbed input: arrays that kernels are given and that are the same in all copies, and
    arrays that the model rounds before its first kernel.

    Args:
        backend: their arithmetic.
        sample: which perturbation.
        what: what tells one array from another: the same is moved in the same way again.
    """

    def __init__(self, backend: Backend, sample: int, *labels: Any) -> None:
        self._backend, self._sample, self._label = backend, sample, "/".join(map(str, labels))

    def moved(self, values: np.ndarray) -> np.ndarray:
        """The numbers, each by up to four units of the format."""
        return (values + self.by(values)).astype(values.dtype)

    def by(self, values: np.ndarray) -> np.ndarray:
        """Return the displacement of each number."""
        rng = np.random.default_rng((SEED, self._sample, crc32(self._label.encode())))
        return displacement(np.asarray(values, np.float64), self._backend, rng)


class Orders(Protocol):
    """Orders to the calls of a run, and their reports.

    Attributes:
        tables: kernel -> its table, with the notes of its rows.
        ladder: what is carried.
        asks_places: whether `before` is told where the model calls kernels.
    """

    tables: Mapping[Any, Table]
    ladder: Ladder
    asks_places: bool

    def traced(self, kernel: Lifting) -> TracedKernel:
        """A kernel compiled with companions."""
        ...

    def begins(self, number: int) -> None:
        """A call of a kernel, or of `quantize`, begins; they are counted together, from 0."""
        ...

    def lane_of_argument(self, kernel: Lifting, argument: str) -> int | None:
        """The lane of an array's conversion; None: of none."""
        ...

    def lane_of_rounding(self, place: CallPlace) -> int | None:
        """The lane of what `quantize` does; None: of none."""
        ...

    def before(self, kernel: Lifting, args: tuple, written: Sequence[bool], at: CallPlace) -> None:
        """A kernel is called with these arguments, some of which it may write."""
        ...

    def after(self, kernel: Lifting) -> None:
        """Note that the kernel's call has come to its end."""
        ...

    def rounds_beyond(
        self, values: np.ndarray, backend: Backend, at: CallPlace, kernel: Lifting | None, name: str
    ) -> None:
        """An array is about to be rounded; told where `asks_places`."""
        ...


class _PartEnded(BaseException):
    """A run has come to the end of the part that is asked for."""


class ErrorRun:
    """A run of a model whose numbers carry their error.

    Attributes:
        results: what each copy of the program gave, see `between`; empty where only the beginning
            of the run was made.
        left: kernel, argument and a number -> the array of all copies that was written, from the
            call on that was asked for; of those that were read before, as a state is, if there are
            such.
        changing: (number, argument) of calls whose rounding of an argument's elements changed
            one, and (number, "") of such calls of `quantize`; both are counted together.
        differing: (kernel, argument, whether it is the first call) of those that carry an error; of
            runs with notes.

    Args:
        program: what is traced.
        census: an ordinary run of it.
        orders: what its calls are told.
        wider: what is computed in binary64; None for nothing.
        sample: number of a perturbed input; 0 is the model's own.
        unmoved: what is not moved by that, `differing` of a run of the model's own input.
        beginning: the call from which on `left` is noted, and the one before which the run ends;
            None: the whole run is made.
        on_call: told before each call of a kernel how many there have been; None: nobody is.
    """

    def __init__(
        self, program: Runner, census: Census, orders: Orders, wider: Wider | None = None,
        sample: int = 0, unmoved: Collection[tuple] = (),
        beginning: tuple[int, int] | None = None, on_call: Callable[[int], None] | None = None,
    ) -> None:  # fmt: skip
        self._on_call = on_call
        self.backend, self.census, self._orders = census.backend, census, orders
        self.ladder, self._calls = orders.ladder, 0
        self.wider, self._sample, self._number = wider, sample, 0
        self.changing: set[tuple[int, str]] = set()
        self.differing: set[tuple] = set()
        self._unmoved = unmoved
        self._started: set[Any] = set()
        self._crossings = Crossings(self.ladder)
        self._copies = Copies(self.ladder.copies, self._answer)
        self._beginning, self.results = beginning, []
        self._written: dict[int, tuple[str, Sequence[np.ndarray]]] = {}
        self._read: dict[int, np.ndarray] = {}
        try:
            self.results = self._copies.run(lambda k: program(handed(self.backend, _Copy(self, k))))
        except _PartEnded:
            pass
        state = [array for where, array in self._written.items() if where in self._read]
        entries = state or self._written.values()
        self.left = {
            f"{name} {n}": [h.copy() for h in copies] for n, (name, copies) in enumerate(entries)
        }
        del self._written, self._read
        del self._copies, self._crossings  # which hold arrays, and each other

    def call(self, copy: int, kernel, trust_inputs: bool, args: tuple) -> Any:
        """A kernel's result for a copy that calls it."""
        at = place() if copy == 0 and self._orders.asks_places else NOWHERE
        return self._copies.meet(copy, _CallRequest(kernel, trust_inputs, args, at))

    def rounded(self, copy: int, values: np.ndarray, backend: Backend) -> np.ndarray:
        """Return the array that `quantize` gives a copy."""
        return self._copies.meet(copy, _RoundingRequest(values, plain(backend), place()))

    def _answer(self, requests: Sequence[Any]) -> Sequence[Any]:
        if all(isinstance(request, Finished) for request in requests):
            return requests
        if len({request.name for request in requests}) > 1:
            first, last = requests[0], requests[-1]
            raise InputError(
                f"after {self._calls} calls of kernels the model {first.action}, and on exact "
                f"numbers it {last.action}: rounded numbers decide which way it goes; trace takes "
                "a model whose way is the same, or such a part of a run: shorten it"
            )
        first = requests[0]
        if self._beginning is not None and self._number >= self._beginning[1]:
            raise _PartEnded
        self._orders.begins(self._number)
        self._number += 1
        if isinstance(first, _RoundingRequest):
            return self._all_rounded(first, [request.values for request in requests])
        if self._on_call is not None:
            self._on_call(self._calls)
        self._calls += 1
        return self._called(first, [request.args for request in requests])

    def _all_rounded(self, first: _RoundingRequest, copies: list[np.ndarray]) -> list[np.ndarray]:
        """Round an array in all copies, as `quantize` does. A copy with the error of this rounding
        moves as the tested values do; another copy keeps its distance from them.
        """
        place, backend = first.place, first.backend
        moves = None if self._calls else self._moves(backend, place[1], self._number)
        if moves is not None:
            by = moves.by(copies[0])
            copies = [h + by for h in copies]
        if self.wider is not None and not self.wider.rounds_at(self._number, place):
            return copies
        if self._orders.asks_places:
            self._orders.rounds_beyond(copies[0], backend, place, None, "")
        rounded = quantize(copies[0], backend)
        if not np.array_equal(rounded, copies[0], equal_nan=True):
            self.changing.add((self._number, ""))
        with np.errstate(invalid="ignore"):
            change = np.where(rounded == copies[0], 0.0, np.float64(rounded) - copies[0])
            apart = (self.ladder.stretch - 1.0) * change
        lane = self._orders.lane_of_rounding(place) or len(copies) - 1
        numbered = enumerate(copies[1:], 1)
        return [rounded, *(h + change if k < lane else h - apart for k, h in numbered)]

    def _called(self, first_call: _CallRequest, args: list[tuple]) -> Sequence[Any]:
        """A call of the traced kernel with the arguments of all copies."""
        kernel, orders = first_call.kernel, self._orders
        traced = orders.traced(kernel)
        rounding = None if first_call.trust_inputs else lambda x: quantize(x, kernel.storage)
        crossing = self._crossings.of(kernel.name, rounding)
        copies, arguments, written = list(zip(*args, strict=True)), [], traced.written(args[0])
        for name, items, is_written in zip(traced.names, copies, written, strict=True):
            lane = orders.lane_of_argument(kernel, name)
            rounds = self.wider is None or self.wider.rounds(self._number, kernel, name)
            first = kernel not in self._started
            if orders.asks_places and rounding is not None and len(floats(items[0])) == 1:
                values, at = floats(items[0])[0], first_call.called_at
                orders.rounds_beyond(values, kernel.storage, at, kernel, name)
            moves, argument = None, (kernel, name, first)
            if self._orders.asks_places and argument not in self.differing and _differ(items):
                self.differing.add(argument)
            if (first or not is_written) and argument not in self._unmoved:
                moves = self._moves(kernel.storage, kernel.name, name)
            arguments.append(crossing.taken(items, lane, rounds, moves))
            if crossing.has_rounded:
                self.changing.add((self._number, name))
        self._started.add(kernel)
        orders.before(kernel, tuple(arguments), written, first_call.called_at)
        result, _ = traced.entered(orders.tables[kernel], tuple(arguments))
        orders.after(kernel)
        for name, items, is_written in zip(traced.names, copies, written, strict=True):
            if is_written:
                crossing.put_back(items)
            if self._beginning is not None and self._number > self._beginning[0]:
                self._note(kernel.name, name, items, is_written)
        return crossing.given_back(result, self.census.kernels[kernel])

    def _note(self, kernel: str, name: str, copies: Sequence[Any], is_written: bool) -> None:
        """Note the arrays that are left by the last step, and which of them it has read first."""
        if isinstance(copies[0], tuple):
            for n, items in enumerate(zip(*copies, strict=True)):
                self._note(kernel, f"{name}_{n}", items, is_written)
        elif isinstance(copies[0], np.ndarray) and copies[0].dtype.kind == "f":
            where = copies[0].__array_interface__["data"][0]
            if is_written:
                self._written[where] = f"{kernel}: {name}", copies
            elif where not in self._written:
                self._read[where] = copies[0]  # which lives on, so that no other one is there

    def _moves(self, backend: Backend, *labels: Any) -> _PerturbedInput | None:
        """Return the perturbation of an array; None in a run of the model's own input."""
        return _PerturbedInput(backend, self._sample, *labels) if self._sample else None


class _CallRequest:
    """A request of a copy: a call of a kernel."""

    def __init__(
        self, kernel: Lifting, trust_inputs: bool, args: tuple, called_at: CallPlace
    ) -> None:
        self.kernel, self.trust_inputs, self.args = kernel, trust_inputs, args
        self.called_at = called_at
        self.name = kernel.name

    @property
    def action(self) -> str:
        """The action of the copy, in words."""
        return f"calls '{self.name}'"


class _RoundingRequest:
    """A request of a copy: an array rounded to the storage format."""

    name, action = "quantize", "rounds numbers"

    def __init__(self, values: np.ndarray, backend: Backend, place: CallPlace) -> None:
        self.values, self.backend, self.place = values, backend, place


class _Copy:
    """The arithmetic of one copy of a model.

    The first one has the arrays of an ordinary run, unless some of it is computed wider, the others
    binary64 ones, which hold anything.
    """

    def __init__(self, run: ErrorRun, number: int) -> None:
        self._run, self._number = run, number
        self.backend = run.backend
        is_tested = number == 0 and run.wider is None
        self.carrier = run.backend.carrier if is_tested else np.dtype(np.float64)

    def lifted(self, kernel, backend: Backend, trust_inputs: bool) -> Callable[..., Any]:
        """A kernel that all copies call together."""
        signature = inspect.signature(kernel, follow_wrapped=False)

        def called(*args, **kwargs):
            lifting = self._run.census.called_kernel(kernel, backend)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return self._run.call(
                self._number, lifting, trust_inputs, tuple(bound.arguments.values())
            )

        return with_backend(called, backend)

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize`, which all copies do together."""

        def rounded(values: np.ndarray, out: np.ndarray) -> None:
            out[...] = self._run.rounded(self._number, values, backend)

        return rounded


def _differ(copies: Sequence[Any]) -> bool:
    """Whether an argument, or an array of a tuple, is not the same in all copies."""
    if isinstance(copies[0], tuple):
        return any(map(_differ, zip(*copies, strict=False)))
    arrays = isinstance(copies[0], np.ndarray) and copies[0].dtype.kind == "f"
    return arrays and not all(np.array_equal(copies[0], h, equal_nan=True) for h in copies[1:])
