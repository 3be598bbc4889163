"""Runs of a kernel whose numbers carry their error: the parts of its results, group by group."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba.core import errors, types

from sciprec.arrays.quantization import quantize
from sciprec.foundation.alike import tuple_like
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.assigning.scaling import ScaledBackend
from sciprec.instruments.tracing.assigned import traced_program
from sciprec.instruments.tracing.numbers import CompanionArray, CompanionDtype
from sciprec.instruments.tracing.table import Table
from sciprec.instruments.tracing.twin import FOLLOWED_LANES
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import last_reason
from sciprec.precision.lifting.written import stored_arrays, written_arrays
from sciprec.precision.rewriting.syntax import LiftError

TWIN_LANES = 2
"""Lanes for traces of models: the error of their exact values is not followed."""
LANES_BESIDE = {"twin": FOLLOWED_LANES, "enclosure": 2}
"""Lanes of techniques that always hold this many numbers beside a value of a kernel."""
ONE_THREAD = ("twin", "by step", "enclosure")


@dataclass(frozen=True)
class Result:
    """One result of a run: what an argument holds after it, or what was returned.

    Attributes:
        name: the argument's, or "return" (`return_0`, ... where there are several).
        tested: values, of the result's shape.
        beside: (..., lanes), what is beside them.
        written: whether the run stored any of them.
    """

    name: str
    tested: np.ndarray
    beside: np.ndarray
    written: bool = True


class TracedKernel:
    """A kernel compiled with companions of one kind.

    Args:
        kernel: the plain function.
        backend: the arithmetic of tested values.
        technique: of `tracing.operations.TECHNIQUES`.
        lanes: how many numbers are beside a value.
    """

    def __init__(self, kernel, backend: Backend, technique: str, lanes: int):
        self.backend, self.technique, self.lanes = backend, technique, lanes
        self.watched = technique == "enclosure"
        self.program = traced_program(kernel, backend, technique, lanes)
        self.entry = module_of(self.program).sp_entry
        self.written, self.stored = written_arrays(kernel), stored_arrays(kernel)
        self.names = list(self.program.signature.parameters)

    def table(self) -> Table:
        """A new table for one run; the caller may change its rows."""
        return Table(self.program)

    def run(
        self, args: tuple, table: Table, of_arguments: Mapping[str, int] | None = None,
        unrounded: Iterable[str] = (), moved: Mapping[str, np.ndarray] | None = None,
    ) -> list[Result]:  # fmt: skip
        """The results of one call.

        Args:
            args: as the kernel takes them; they are not written.
            table: of this run; operations leave their notes in it.
            of_arguments: the lane of an array argument's conversion, besides the first one.
            unrounded: arguments whose arrays are taken as they are.
            moved: name of an array -> by how much of themselves its exact values are moved.
        """
        of_arguments = of_arguments or {}
        table.begin()
        companions = self.taken(args, of_arguments, unrounded)
        for name, shares in (moved or {}).items():
            numbers = companions[self.names.index(name)].numbers
            numbers[..., 2] = numbers[..., 1] * shares
        result, _ = self.entered(table, companions)
        results, unwritten = [], []
        for name, before, after, may_be in zip(
            self.names, args, companions, self.written(args), strict=True
        ):
            if may_be:
                affected = self._after(name, before, after, of_arguments.get(name, 0))
                results += [r for r in affected if r.written or r.name in self.stored]
                unwritten += [r for r in affected if name in self.stored]
        results += self._returned("return", result)
        if not results:
            self._require_elements(args)
        return results or unwritten

    def _require_elements(self, args: tuple) -> None:
        """Refuse arrays for results that have no element."""
        for name, argument, may_be in zip(self.names, args, self.written(args), strict=True):
            if may_be and any(a.size == 0 for a in floats(argument)):
                raise InputError(
                    f"kernel '{self.program.kernel.__name__}' writes into '{name}' alone, which is "
                    "empty: there is no number to trace; give an array with elements"
                )

    def taken(
        self, args: tuple, of_arguments: Mapping[str, int] | None = None,
        unrounded: Iterable[str] = (),
    ) -> tuple:  # fmt: skip
        """Arguments as the compiled kernel takes them, see `run`."""
        arrays: dict[int, CompanionArray] = {}
        lanes = of_arguments or {}
        return tuple(
            self._companion(a, arrays, lanes.get(n, 0), n not in unrounded)
            for n, a in zip(self.names, args, strict=True)
        )

    def entered(self, table: Table, args: tuple):
        """A call of the compiled kernel: on one thread, where rows note what happens."""
        threads = numba.get_num_threads()
        try:
            if self.technique in ONE_THREAD:
                numba.set_num_threads(1)
            return self.entry(table.address, *args)
        except errors.NumbaError as error:
            participle, verb = ("bounded", "bound") if self.watched else ("traced", "trace")
            require_numbers(self.program.kernel.__name__, self.names, args, verb)
            raise LiftError(
                f"kernel '{self.program.kernel.__name__}' cannot be {participle} in "
                f"'{self.backend.name}': {last_reason(str(error))}; {verb} takes what lift takes, "
                "but for complex numbers and functions as arguments"
            ) from None
        finally:
            numba.set_num_threads(threads)

    def _companion(self, argument, companions: dict, lane: int, rounds: bool):
        """An argument as the traced kernel takes it: arrays of floats rounded, their errors beside
        them. Lanes without error hold -0.0, which a store never leaves.
        """
        if isinstance(argument, tuple):
            items = (self._companion(a, companions, lane, rounds) for a in argument)
            return tuple_like(argument, items)
        if not isinstance(argument, np.ndarray) or argument.dtype.kind != "f":
            return argument.copy() if isinstance(argument, np.ndarray) else argument
        if id(argument) not in companions:
            numbers = np.full((*argument.shape, 1 + self.lanes), -0.0)
            exact = argument.astype(np.float64)
            rounded = quantize(exact, self.backend) if rounds else exact
            numbers[..., 0] = rounded
            if self.technique == "twin":
                numbers[..., 1] = exact
            elif self.watched:
                numbers[..., 1], radius = conversion_error(exact, rounded)
                numbers[..., 2] = -radius  # not stored yet
            else:
                with np.errstate(invalid="ignore"):
                    error = np.where(rounded == exact, 0.0, rounded - exact)
                numbers[..., 1] = error
                numbers[..., 1 + lane] = error
            narrow, twin = argument.dtype == np.float32, self.technique == "twin"
            dtype = CompanionDtype(self.lanes, narrow, twin, self.watched)
            companions[id(argument)] = CompanionArray(numbers, dtype)
        return companions[id(argument)]

    def _after(self, name: str, before, after, lane: int) -> list[Result]:
        """Return the contents of an argument's arrays after the call, and whether it wrote them."""
        if isinstance(before, tuple):
            pairs = zip(before, after, strict=True)
            return [
                r for n, (b, a) in enumerate(pairs) for r in self._after(f"{name}_{n}", b, a, lane)
            ]
        if not isinstance(after, CompanionArray) or after.numbers.size == 0:
            return []
        unwritten = self._is_marked(after.numbers, lane)
        tested, beside = after.numbers[..., 0].copy(), after.numbers[..., 1:].copy()
        tested[unwritten] = before[unwritten]
        beside[unwritten] = 0.0
        if self.technique == "twin":
            beside[..., 0] = np.where(unwritten, before, beside[..., 0])
        return [Result(name, tested, beside, not unwritten.all())]

    def _is_marked(self, numbers: np.ndarray, lane: int) -> np.ndarray:
        """Whether nothing was stored in an element since it was given."""
        if self.watched:
            return np.signbit(numbers[..., -1])
        last = self.lanes if lane != self.lanes - 1 else self.lanes - 1
        return np.signbit(numbers[..., last]) & (numbers[..., last] == 0.0)

    def _returned(self, name: str, value: Any) -> list[Result]:
        if isinstance(value, np.ndarray):
            is_integer = value.dtype.kind != "f"
            return [] if is_integer else [Result(name, value[..., 0], value[..., 1:])]
        if not isinstance(value, tuple):
            return []
        if len(value) == 1 + self.lanes and all(type(v) is float for v in value):
            return [Result(name, np.array(value[0]), np.array(value[1:]))]
        results = [r for n, v in enumerate(value) for r in self._returned(f"{name}_{n}", v)]
        return results


def conversion_error(exact: np.ndarray, rounded: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exact - rounded as midpoints and radii; a radius is infinite where only one of the two is
    finite, or they are far apart.
    """
    with np.errstate(all="ignore"):
        is_exact = (exact == rounded) | (np.isnan(exact) & np.isnan(rounded))
        middle = exact - rounded
        other = middle - exact  # what the difference itself rounds: Knuth (1969)
        rest = (exact - (middle - other)) - (rounded + other)
        unknown = ~np.isfinite(middle) | ~np.isfinite(rest)
    middle = np.where(is_exact | unknown, 0.0, middle)
    return middle, np.where(is_exact, 0.0, np.where(unknown, np.inf, abs(rest)))


def require_real(kernel: str, args: tuple, verb: str) -> list[np.ndarray]:
    """Refuse complex numbers; the arrays of floats."""
    arrays = [a for argument in args for a in floats(argument)]
    if any(a.dtype.kind == "c" for a in arrays):
        raise InputError(
            f"kernel '{kernel}' is given complex numbers; {verb} takes real ones: give "
            "their real and imaginary parts"
        )
    return arrays


def require_numbers(kernel: str, names: Iterable[str], args: Iterable, verb: str) -> None:
    """Refuse what no operation takes: a string, or None."""
    for name, argument in zip(names, args, strict=True):
        if argument is None or isinstance(argument, str):
            value = "None" if argument is None else f"the string {argument!r}"
            raise InputError(
                f"kernel '{kernel}' is given {value} as '{name}', and computes with it; {verb} "
                "takes numbers, arrays and tuples of these"
            )


def require_apart(kernel: str, args: tuple, verb: str = "trace") -> None:
    """Refuse complex numbers, objects of jitclasses, and arrays that share memory without being
    the same one.
    """
    for argument in args:
        if isinstance(getattr(argument, "_numba_type_", None), types.ClassInstanceType):
            raise InputError(
                f"kernel '{kernel}' is given an object of class {type(argument).__name__}; {verb} "
                "takes numbers, arrays and tuples of these: give its fields as arguments"
            )
    for array, other in itertools.combinations(require_real(kernel, args, verb), 2):
        if other is not array and np.may_share_memory(array, other):
            raise InputError(
                f"kernel '{kernel}' is given two arrays that share memory; {verb} takes "
                "arrays of their own: give copies, x.copy()"
            )


def floats(argument) -> list[np.ndarray]:
    """The arrays of floats or complex numbers in an argument."""
    if isinstance(argument, tuple):
        return [a for item in argument for a in floats(item)]
    if isinstance(argument, complex):
        return [np.array(argument)]
    is_floating = isinstance(argument, np.ndarray) and argument.dtype.kind in "fc"
    return [argument] if is_floating else []


def require_traceable(
    backend: Backend, verb: str = "trace", kernel: Callable[..., Any] | None = None
) -> None:
    """Refuse arithmetics whose rounding error has no place of its own, and, where a kernel is
    given, formats of places that it does not have.
    """
    if kernel is not None and isinstance(backend, AssignedBackend):
        backend.require_met(kernel)
    backend.require_taken_by(verb)
    if backend.fixed or backend.random:
        kind = "fixed point" if backend.fixed else "an arithmetic with random bits"
        raise InputError(
            f"backend '{backend.name}' is {kind}; {verb} takes floating-point arithmetics "
            "without random bits, such as 'bf16', 'fp16' or 'float:p=13'"
        )
    if isinstance(backend, ScaledBackend):
        raise InputError(
            f"backend '{backend.name}' has scales, which {verb} does not follow; give the "
            f"arithmetic without them, '{backend.unscaled}'"
        )


def stored_in(backend: Backend) -> Arithmetic:
    """Return the arithmetic in which perturbed inputs are given; of formats by place the one with
    the fewest bits.
    """
    return arithmetics_of(backend)[0] if isinstance(backend, AssignedBackend) else backend.storage


def arithmetics_of(backend: Backend) -> list[Arithmetic]:
    """Return the arithmetics in which operations compute, the one with the fewest bits first."""
    arithmetics = [backend.compute]
    if isinstance(backend, AssignedBackend):
        arithmetics = list(backend.assignment.arithmetics)
    return sorted(arithmetics, key=lambda a: a.format.significand_bits)
