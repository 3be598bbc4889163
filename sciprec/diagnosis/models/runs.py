"""Runs of a model: as ever, to see which kernels it calls, and with the error of its numbers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from zlib import crc32

import numpy as np

from sciprec.diagnosis.attribution import TracedKernel, arithmetics_of, require_traceable
from sciprec.diagnosis.models.between import Crossings, Ladder
from sciprec.diagnosis.models.copies import Copies, Finished
from sciprec.diagnosis.needed_memory import Arrays
from sciprec.diagnosis.problem import SEED, displacement
from sciprec.errors import InputError
from sciprec.precision.assigning.assigned_backend import AssignedBackend
from sciprec.precision.formats.backend import Backend, HandedBackend, uniform_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.quantization import quantize
from sciprec.precision.tracing.table import Table

Program = Callable[[Backend], Any]
"""What is traced: it computes with the kernels of a backend, and gives results."""


Place = tuple[str, str, int]
"""File, function and line of a call."""
_HAND_ON = ("sciprec.precision.", "sciprec.diagnosis.")
HANDS_ON = "_hands_on_arrays"
"""Name that other modules define whose functions, too, are no place of a model."""


def _place() -> Place:
    """Where a model rounds an array: functions called `rounded` hand that on."""
    frame = inspect.currentframe()
    while frame is not None:
        named, code = str(frame.f_globals.get("__name__")), frame.f_code
        hands_on = named.startswith(_HAND_ON) or HANDS_ON in frame.f_globals
        if not hands_on and code.co_name not in ("rounded", "<genexpr>"):
            return code.co_filename, code.co_name, frame.f_lineno
        frame = frame.f_back
    return "", "", 0


def handed(backend: Backend, maker) -> HandedBackend:
    """A backend whose kernels a maker makes."""
    roles = backend.storage, backend.compute, backend.accumulate, backend.matmul
    return HandedBackend(backend.name, *roles, about=backend.about, maker=maker)


@dataclass(frozen=True)
class Lifting:
    """A kernel in the arithmetic in which a model calls it.

    Args:
        kernel: the plain Python function.
        backend: no handed one.
    """

    kernel: Any
    backend: Backend

    @property
    def name(self) -> str:
        """The kernel's."""
        return self.kernel.__name__

    def traced(self, technique: str, lanes: int) -> TracedKernel:
        """The (shared) kernel compiled with companions."""
        return _traced(self.kernel, self.backend, technique, lanes)

    @cached_property
    def storage(self) -> Backend:
        """What rounds to its storage format."""
        return uniform_backend(f"{self.backend.name} storage", self.backend.storage)


@lru_cache(maxsize=64)
def _traced(kernel, backend: Backend, technique: str, lanes: int) -> TracedKernel:
    return TracedKernel(kernel, backend, technique, lanes)


def _with_backend(function: Any, backend: Backend) -> Callable[..., Any]:
    """A function that says its arithmetic, as a lifted kernel does."""
    function.backend = backend
    return function


def plain(backend: Backend) -> Backend:
    """A backend by itself, of a handed one; an assignment's as it is."""
    traced = getattr(getattr(backend, "maker", None), "backend", None)
    if isinstance(traced, AssignedBackend) and traced.name == backend.name:
        return traced
    return Backend(
        backend.name, backend.storage, backend.compute, backend.accumulate, backend.matmul,
        backend.noise, backend.about,
    )  # fmt: skip


class Census:
    """An ordinary run that notes which kernels are called.

    Attributes:
        kernels: those that were called, in the order of their first calls -> what they returned.
        calls: how many calls there were.
        roundings: where `quantize` was called, outside of the engine.
        bits: of the narrowest format that anything is rounded to.
        arrays: that kernels were given.
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
        self.bits = fewest_bits(backend)
        self.arrays = Arrays()
        self.results = program(handed(backend, self))

    def lifted(self, kernel, backend: Backend, trust_inputs: bool) -> Callable[..., Any]:
        """The kernel as ever, its calls noted."""
        own = plain(backend)
        require_alike(kernel.__name__, own, self.backend)
        self.bits = min(self.bits, fewest_bits(own))
        ordinary = lift(kernel, own, trust_inputs=trust_inputs)

        def noted(*args, **kwargs):
            result = ordinary(*args, **kwargs)
            self.kernels.setdefault(Lifting(kernel, own), result)
            self.arrays.note((*args, *kwargs.values()), result)
            self.calls += 1
            return result

        return _with_backend(noted, backend)

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize` as ever, its place noted."""
        self.roundings.setdefault(_place())
        self.bits = min(self.bits, plain(backend).storage.format.significand_bits)
        return rounding_of(plain(backend))

    def known(self, kernel, backend: Backend) -> Lifting:
        """The kernel that was called here, of a function that is defined again in every run.

        Raises:
            InputError: it was not called.
        """
        wanted = Lifting(kernel, plain(backend))
        if wanted in self.kernels:
            return wanted
        for other in self.kernels:
            if other.backend == wanted.backend and same_function(other.kernel, kernel):
                return other
        raise InputError(
            f"kernel '{kernel.__name__}' is called in one run of the model and not in another; "
            "trace takes models that do the same in every run"
        )


def same_function(one: Any, other: Any) -> bool:
    """Whether two functions, or what they name, are the same thing made twice."""
    if one is other:
        return True
    if not (inspect.isfunction(one) and inspect.isfunction(other)):
        return type(one) is type(other) and np.array_equal(one, other)
    return one.__code__ == other.__code__ and all(
        map(same_function, _named_by(one), _named_by(other))
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


def require_alike(kernel: str, backend: Backend, traced: Backend) -> None:
    """Refuse a kernel of a model whose arithmetic cannot be traced beside that of the rest."""
    require_traceable(backend)
    if backend.carrier != traced.carrier:
        raise InputError(
            f"kernel '{kernel}' of the model computes in '{backend.name}', whose numbers take "
            f"{backend.carrier} variables, beside others in '{traced.name}', whose take "
            f"{traced.carrier}; trace takes arithmetics of one kind of variables"
        )


def fewest_bits(backend: Backend) -> int:
    """Of the narrowest format that a backend's numbers are rounded to."""
    if isinstance(backend, AssignedBackend):
        return arithmetics_of(backend)[0].format.significand_bits
    return min(role.format.significand_bits for role in backend.roles)


@dataclass(frozen=True)
class Wider:
    """What of a run is computed in binary64, besides rows of tables.

    Args:
        arguments, places: (kernel, argument) and places whose roundings are left out.
        made: (number, argument) of the other ones that change a number in an ordinary run, see
            `ErrorRun.made`; those that change none would only undo what is computed wider.
    """

    arguments: frozenset[tuple]
    places: frozenset[Place]
    made: frozenset[tuple[int, str]]

    def rounds(self, number: int, kernel, argument: str) -> bool:
        """Whether an argument's elements are rounded in a call."""
        return (number, argument) in self.made and (kernel, argument) not in self.arguments

    def rounds_at(self, number: int, place: Place) -> bool:
        """Whether `quantize` rounds an array."""
        return (number, "") in self.made and place not in self.places


class _Moves:
    """A perturbed input: arrays that kernels are given and that are the same in all copies, and
    what the model rounds before its first kernel.

    Args:
        backend: their arithmetic.
        sample: which perturbation.
        what: what tells one array from another: the same is moved in the same way again.
    """

    def __init__(self, backend: Backend, sample: int, *what: Any) -> None:
        self._backend, self._sample, self._what = backend, sample, "/".join(map(str, what))

    def moved(self, values: np.ndarray) -> np.ndarray:
        """The numbers, each by up to four units of the format."""
        return (values + self.by(values)).astype(values.dtype)

    def by(self, values: np.ndarray) -> np.ndarray:
        """By how much they are."""
        rng = np.random.default_rng((SEED, self._sample, crc32(self._what.encode())))
        return displacement(np.asarray(values, np.float64), self._backend, rng)


class ErrorRun:
    """A run of a model whose numbers carry their error.

    Attributes:
        results: what each copy of the program gave, see `between`.
        tables: kernel -> its table, with the notes of its rows.
        made: (number, argument) of calls whose rounding of an argument's elements changed one, and
            (number, "") of such calls of `quantize`; both are counted together.

    Args:
        program: what is traced.
        census: an ordinary run of it.
        ladder: what is carried.
        tables: kernel -> its table, told which lanes a row's rounding goes to.
        lanes_of_arguments: (kernel, argument) -> the lane of an array's conversion.
        lanes_of_roundings: place -> the lane of what `quantize` does there.
        before_call: told the number of each call, from 0 on, before it is made.
        wider: what is computed in binary64; None for nothing.
        sample: number of a perturbed input; 0 is the model's own.
    """

    def __init__(
        self, program: Program, census: Census, ladder: Ladder, tables: Mapping[Any, Table],
        lanes_of_arguments: Mapping[tuple, int], lanes_of_roundings: Mapping[Place, int],
        before_call: Callable[[int], None] | None = None, wider: Wider | None = None,
        sample: int = 0,
    ) -> None:  # fmt: skip
        self.backend, self.ladder, self.census = census.backend, ladder, census
        self.tables, self._lanes_of_arguments = tables, lanes_of_arguments
        self._lanes_of_roundings = lanes_of_roundings
        self._before_call, self._calls = before_call, 0
        self.wider, self._sample, self._number = wider, sample, 0
        self.made: set[tuple[int, str]] = set()
        self._met: set[Any] = set()
        self._crossings = Crossings(ladder)
        self._copies = Copies(ladder.copies, self._answer)
        self.results = self._copies.run(lambda k: program(handed(self.backend, _Copy(self, k))))
        del self._copies, self._crossings  # which hold arrays, and each other

    def call(self, copy: int, kernel, trust_inputs: bool, args: tuple) -> Any:
        """A kernel's result for a copy that calls it."""
        return self._copies.meet(copy, _Call(kernel, trust_inputs, args))

    def rounded(self, copy: int, values: np.ndarray, backend: Backend) -> np.ndarray:
        """What `quantize` gives a copy."""
        return self._copies.meet(copy, _Rounding(values, plain(backend), _place()))

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
        self._number += 1
        if isinstance(first, _Rounding):
            return self._all_rounded(first, [one.values for one in asked])
        if self._before_call is not None:
            self._before_call(self._calls)
        self._calls += 1
        return self._called(first.kernel, first.trust_inputs, [one.args for one in asked])

    def _all_rounded(self, first: _Rounding, held: list[np.ndarray]) -> list[np.ndarray]:
        """What `quantize` makes of an array: copies that still have its part get the same change
        as tested values, others stay as far from these as the part is.
        """
        place, backend = first.place, first.backend
        moves = None if self._calls else self._moves(backend, place[1], self._number)
        if moves is not None:
            by = moves.by(held[0])
            held = [h + by for h in held]
        if self.wider is not None and not self.wider.rounds_at(self._number, place):
            return held
        rounded = quantize(held[0], backend)
        if not np.array_equal(rounded, held[0], equal_nan=True):
            self.made.add((self._number, ""))
        with np.errstate(invalid="ignore"):
            change = np.where(rounded == held[0], 0.0, np.float64(rounded) - held[0])
            apart = (self.ladder.stretch - 1.0) * change
        lane = self._lanes_of_roundings.get(place, len(held) - 1)
        others = enumerate(held[1:], 1)
        return [rounded, *(h + change if k < lane else h - apart for k, h in others)]

    def _called(self, kernel: Lifting, trust_inputs: bool, args: list[tuple]) -> Sequence[Any]:
        """A call of the traced kernel with the arguments of all copies."""
        traced = kernel.traced(self.ladder.technique, self.ladder.lanes)
        rounding = None if trust_inputs else lambda x: quantize(x, kernel.storage)
        crossing = self._crossings.of(kernel.name, rounding)
        held, taken, written = list(zip(*args, strict=True)), [], traced.written(args[0])
        for name, items, is_written in zip(traced.names, held, written, strict=True):
            lane = self._lanes_of_arguments.get((kernel, name))
            rounds = self.wider is None or self.wider.rounds(self._number, kernel, name)
            first = kernel not in self._met
            moves = None
            if first or not is_written:
                moves = self._moves(kernel.storage, kernel.name, name)
            taken.append(crossing.taken(items, lane, rounds, moves))
            if crossing.has_rounded:
                self.made.add((self._number, name))
        self._met.add(kernel)
        result, _ = traced.entered(self.tables[kernel], tuple(taken))
        for items, is_written in zip(held, written, strict=True):
            if is_written:
                crossing.put_back(items)
        return crossing.given_back(result, self.census.kernels[kernel])

    def _moves(self, backend: Backend, *what: Any) -> _Moves | None:
        """What perturbs an array; None in a run of the model's own input."""
        return _Moves(backend, self._sample, *what) if self._sample else None


class _Call:
    """What a copy asks for: a call of a kernel."""

    def __init__(self, kernel: Lifting, trust_inputs: bool, args: tuple) -> None:
        self.kernel, self.trust_inputs, self.args = kernel, trust_inputs, args
        self.name = kernel.name

    @property
    def said(self) -> str:
        """What the copy does."""
        return f"calls '{self.name}'"


class _Rounding:
    """What a copy asks for: an array rounded to the storage format."""

    name, said = "quantize", "rounds numbers"

    def __init__(self, values: np.ndarray, backend: Backend, place: Place) -> None:
        self.values, self.backend, self.place = values, backend, place


class _Copy:
    """What a copy of a model computes with.

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
            known = self._run.census.known(kernel, backend)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return self._run.call(
                self._number, known, trust_inputs, tuple(bound.arguments.values())
            )

        return _with_backend(called, backend)

    def rounding(self, backend: Backend) -> Callable[[np.ndarray, np.ndarray], None]:
        """`quantize`, which all copies do together."""

        def rounded(values: np.ndarray, out: np.ndarray) -> None:
            out[...] = self._run.rounded(self._number, values, backend)

        return rounded
