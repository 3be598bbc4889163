"""Kernels lifted to the backend `dd`, by programs whose numbers are pairs, and pairs outside of
kernels.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from sciprec.instruments.pairs.functions import FUNCTIONS
from sciprec.instruments.pairs.technique import DTYPE, PAIRS
from sciprec.instruments.tracing.numbers import CompanionArray, CompanionValue
from sciprec.instruments.tracing.program import IMPORTS, Companions
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import Lifted
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.copies import arrays_of
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import LiftError

_ROW_WORDS = 8
_DTYPES = "\nsp_wide = sp_narrow = sp_carrier = sp_dtype(1, paired=True)\n"
"""There is one format: binary32 means the backend's numbers, as in every other."""


class Pair(NamedTuple):
    """Numbers as unevaluated sums high + low, each of the two an array or a float.

    Attributes:
        high: the numbers, rounded to binary64.
        low: what is left, of the same shape: at most half a unit in the last place of high.
    """

    high: Any
    low: Any


class PairLifted(Lifted):
    """A kernel in pairs; call it like the kernel.

    Numbers that are given are exact, as pairs where they are a `Pair`, an array's elements each.
    Results are rounded to binary64 once, of arrays of binary32 to that; `pairs` gives both numbers.

    Args:
        kernel: the plain Python function.
        backend: under which the kernel is known.
    """

    def __init__(self, kernel, backend: Backend) -> None:
        program = pair_program(kernel)
        again = partial(lift, backend=backend)
        super().__init__(kernel, backend, program, module_of(program), 0, again)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the kernel."""
        return self._called(args, kwargs)[0]

    def pairs(self, *args: Any, **kwargs: Any) -> dict[str, Pair]:
        """Run the kernel; both numbers of its results.

        Args:
            args, kwargs: those of the kernel.

        Returns:
            Name of an array that the kernel may write, of tuples `NAME_0` and so on, or "return"
            (`return_0`, ... where there are several) -> its numbers after the call.

        Example:
            >>> import sciprec
            >>> def third(x):
            ...     return x / 3.0
            >>> sciprec.lift(third, "dd").pairs(1.0)["return"]
            Pair(high=0.3333333333333333, low=1.850371707708594e-17)
        """
        _, result, arguments = self._called(args, kwargs)
        pairs: dict[str, Pair] = {}
        for name, argument, is_written in arguments:
            if is_written:
                pairs |= _named(name, argument)
        return pairs | _named("return", result)

    def address(self, *args: Any) -> int:
        """Refuse what needs numbers as they are outside."""
        raise LiftError(
            f"kernel '{self.kernel.__name__}' in '{self.backend.name}' has no address to call: its "
            "arguments are made pairs first; call the lifted kernel"
        )

    def _explained(self, error, args) -> LiftError:
        return super()._explained(error, tuple(map(_outside, args)))

    def _called(self, args: tuple, kwargs: dict):
        """The result as it is returned, as compiled code gave it, and (name, argument as compiled
        code took it, whether it may have been written) of each argument.
        """
        args, names = self.bound(args, kwargs), list(self.signature.parameters)
        plain = tuple(a.high if isinstance(a, Pair) else a for a in args)
        self._require_apart(names, plain)
        with self._native(tuple(map(self._checked, names, plain))) as native:
            passed, writable = self.taken(native, args), self._written(native)
            result = self.entered(passed)
            every = zip(names, native, passed, args, writable, strict=True)
            for name, argument, pair, before, may_be in every:
                if may_be:
                    self._write_back(name, argument, pair, before)
        arguments = list(zip(names, passed, writable, strict=True))
        return _returned(result, list(_arrays_beside(plain, passed))), result, arguments

    def taken(self, native: tuple, args: tuple) -> tuple:
        """Arguments as the compiled kernel takes them.

        Args:
            native: as other kernels take them.
            args: as they were given, a `Pair` with its low numbers.
        """
        names, converted = self.signature.parameters, dict[int, CompanionArray]()
        lows = [a.low if isinstance(a, Pair) else None for a in args]
        every = zip(names, native, lows, strict=True)
        return tuple(_taken(name, argument, converted, low) for name, argument, low in every)

    def entered(self, passed: tuple) -> Any:
        """Call the compiled kernel with arguments that were taken before."""
        table = np.zeros((len(self._program.layout.rows) + 1, _ROW_WORDS), np.int64)
        result, _ = self._enter(self.dispatcher, (table.ctypes.data, *passed))
        return result

    def _write_back(self, name: str, argument, pair, before) -> None:
        """Put what an argument holds after a call where it was given."""
        if isinstance(pair, tuple):
            for a, p, b in zip(argument, pair, before, strict=True):
                self._write_back(name, a, p, b)
        if not isinstance(pair, CompanionArray):
            return
        high, low = pair.numbers[..., 0], pair.numbers[..., 1]
        if argument.dtype == np.float32:
            high = _toward_odd(high, low)
        targets = [(argument, high)]
        if isinstance(before, Pair):
            targets.append((before.low, low))
        for target, numbers in targets:
            with np.errstate(all="ignore"):
                numbers = numbers.astype(target.dtype)
            if numbers.tobytes() == target.tobytes():
                continue
            if not target.flags.writeable:
                raise LiftError(
                    f"kernel '{self.kernel.__name__}' writes into '{name}', which is read-only; "
                    "give a copy"
                )
            target[...] = numbers

    def _require_apart(self, names: list[str], args: tuple) -> None:
        """Refuse arrays that share memory without being the same one."""
        each = zip(names, args, strict=True)
        arrays = [
            (n, a) for n, argument in each for a in arrays_of(argument) if a.dtype.kind == "f"
        ]
        for (name, array), (second_name, second) in itertools.combinations(arrays, 2):
            if array is not second and np.may_share_memory(array, second):
                raise LiftError(
                    f"kernel '{self.kernel.__name__}' is given '{name}' and '{second_name}', which "
                    f"share memory; '{self.backend.name}' takes arrays of their own: give a copy"
                )

    def _checked(self, name: str, argument):
        """An argument that is made of real numbers."""
        if isinstance(argument, Pair):
            return argument
        if isinstance(argument, tuple):
            return tuple(self._checked(name, a) for a in argument)
        usual = "c" * isinstance(argument, complex)
        kind = getattr(getattr(argument, "dtype", None), "kind", usual)
        if callable(argument):
            words = f"the function '{getattr(argument, '__name__', argument)}'"
        elif isinstance(getattr(argument, "_numba_type_", None), types.ClassInstanceType):
            words = f"an object of class {type(argument).__name__}"
        elif kind == "c":
            words = "complex numbers"
        else:
            return self._prepared(argument)
        raise LiftError(
            f"kernel '{self.kernel.__name__}' is given {words} as '{name}'; '{self.backend.name}' "
            "takes real numbers, arrays and tuples of these: give real and imaginary parts, fields "
            "of objects, and write calls of functions into the kernel"
        )


@numba.extending.typeof_impl.register(PairLifted)
def _typeof_lifted(value, context):
    raise LiftError(
        f"kernel '{value.kernel.__name__}' in '{value.backend.name}' is called by compiled code, "
        "which has no pairs; lift the kernel that calls it"
    )


def _outside(argument):
    """An argument of compiled code as it was given."""
    if isinstance(argument, tuple):
        return tuple(map(_outside, argument))
    if isinstance(argument, CompanionArray):
        return argument.numbers[..., 0]
    return float(argument.numbers[0]) if isinstance(argument, CompanionValue) else argument


def _taken(name: str, argument, converted: dict[int, CompanionArray], low=None):
    """An argument as compiled code takes it."""
    if isinstance(argument, tuple):
        return tuple(_taken(name, a, converted) for a in argument)
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
        if id(argument) not in converted:
            converted[id(argument)] = CompanionArray(_numbers(name, argument, low), DTYPE)
        return converted[id(argument)]
    return argument if low is None else CompanionValue(_numbers(name, argument, low), DTYPE)


def _numbers(name: str, high, low) -> np.ndarray:
    """Numbers (..., 2), normalised."""
    high = np.asarray(high, np.float64)
    numbers = np.zeros((*high.shape, 2))
    numbers[..., 0] = high
    if low is None:
        return numbers
    low = np.asarray(low, np.float64)
    if low.shape != high.shape:
        raise LiftError(
            f"'{name}' is a Pair of the shapes {high.shape} and {low.shape}; give one low number "
            "for each high one"
        )
    with np.errstate(all="ignore"):
        total = high + low
        low_part = total - high
        error = (high - (total - low_part)) + (low - low_part)
        finite = np.isfinite(error)
        numbers[..., 0] = np.where(finite, total, high)
        numbers[..., 1] = np.where(finite, error, 0.0)
    return numbers


def _toward_odd(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """high + low in binary64 such that rounding it to fewer bits rounds the sum once: its last bit
    is odd where it is not exact (Boldo and Melquiond 2008).
    """
    even = (np.ascontiguousarray(high).view(np.int64) & 1) == 0
    with np.errstate(all="ignore"):
        moved = np.nextafter(high, np.copysign(np.inf, low))
    return np.where(even & (low != 0.0) & np.isfinite(high), moved, high)


def _is_pair(value: Any) -> bool:
    return len(value) == 2 and all(type(v) is float for v in value)


def _arrays_beside(args: tuple, passed: tuple):
    """Every array of floats as it was given, and as compiled code took it."""
    for argument, pair in zip(args, passed, strict=True):
        if isinstance(pair, tuple):
            yield from _arrays_beside(argument, pair)
        elif isinstance(pair, CompanionArray):
            yield argument, pair.numbers


def _returned(value: Any, arguments: list[tuple[Any, np.ndarray]]):
    """A result rounded to binary64; an array that was given is that array."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        for argument, numbers in arguments:
            if _are_same(value, numbers):
                return argument
        return value[..., 0].copy()
    if isinstance(value, tuple):
        return value[0] if _is_pair(value) else tuple(_returned(v, arguments) for v in value)
    return value


def _are_same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays are the same memory."""
    places = [(a.__array_interface__["data"][0], a.shape, a.strides) for a in (first, second)]
    return places[0] == places[1]


def _named(name: str, value: Any) -> dict[str, Pair]:
    """The numbers of a result, or of several in a tuple, by name."""
    if isinstance(value, CompanionArray):
        value = value.numbers
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return {name: Pair(value[..., 0].copy(), value[..., 1].copy())}
    if not isinstance(value, tuple):
        return {}
    if _is_pair(value):
        return {name: Pair(*value)}
    every = [_named(f"{name}_{n}", item) for n, item in enumerate(value)]
    return {key: pair for pairs in every for key, pair in pairs.items()}


@dataclass(frozen=True)
class _PairRows(Companions):
    """Numbers as pairs, whose rows are a place for marks alone."""

    technique: str = PAIRS
    lanes: int = 1

    holder = "backend 'dd'"
    def imports(self, backend: Backend) -> str:
        """Return lines at the head of the generated module."""
        return IMPORTS + _DTYPES

    def operations(self, program: Program) -> str:
        """Return the operations on pairs."""
        return "sp_imported('sciprec.instruments.pairs.operations', 'pair_operations')()"


def pair_program(kernel) -> Program:
    """The program of a kernel in pairs.

    Raises:
        LiftError: an operation that was added has no form for pairs.
    """
    numbers = _PairRows()
    build = Build(trust_inputs=True, may_share=False, variant=numbers.variant, numbers=numbers)
    program = Program(kernel, resolve_backend("fp64"), build)
    for operation in program.operations.values():
        row = OPERATIONS.get(operation, NOTHING)
        if not (row.evaluate is None or row.of_bits or row.evaluate in FUNCTIONS):
            raise LiftError(
                f"kernel '{kernel.__name__}' has the operation '{operation}', which is added in "
                "binary64 and has no further bits for 'dd'; write it as a kernel"
            )
    return program
