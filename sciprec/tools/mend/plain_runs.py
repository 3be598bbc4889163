"""Runs of a source by Python itself, in numbers that round: what a candidate leaves before anything
is compiled.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from sciprec.foundation.alike import tuple_like
from sciprec.precision.formats.backend import Backend
from sciprec.precision.rewriting.syntax import plain_function

_TWICE = 25
"""Bits of the widest format in which sums, products, quotients and roots of binary64, rounded to
it, are the exact ones rounded once (Figueroa 1995)."""
_NAMES = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
"""Functions of `math` that NumPy calls otherwise."""
_MAKING = ("zeros", "ones", "empty", "zeros_like", "ones_like", "empty_like", "full")


class TooLong(Exception):
    """A run has more operations than it may."""


def rounding_of(backend: Backend) -> Callable[[float], float] | None:
    """Return how to round a result in binary64 to a backend's format; None where that is another
    number than the exact result rounded once, or there are several formats.
    """
    compute_rounding = backend.compute
    is_uniform = compute_rounding == backend.storage == backend.accumulate and backend.noise is None
    if (
        not is_uniform
        or compute_rounding.fixed
        or compute_rounding.random_bits
        or compute_rounding.rounding != "rn"
    ):
        return None
    form = compute_rounding.format
    if form.name == "binary64":
        return lambda value: value
    if form.name == "binary32":
        return lambda value: float(np.float32(value))
    bits, least, top = form.significand_bits, form.emin, form.max_finite
    if bits > _TWICE or not form.subnormals or form.overflow != "infinity":
        return None

    def rounded(value: float) -> float:
        if not value or not math.isfinite(value):
            return value
        unit = max(math.frexp(value)[1] - 1, least) - bits + 1
        result = math.ldexp(round(math.ldexp(value, -unit)), unit)
        return math.copysign(result if abs(result) <= top else math.inf, value)

    return rounded


class PlainRuns:
    """Runs of sources in one format, by Python.

    Args:
        rounding: of a binary64 number to the format.

    Attributes:
        operations: of the last run.
        most: operations of a run, beyond which it is given up.
    """

    def __init__(self, rounding: Callable[[float], float]):
        self.operations, self.most = 0, 100_000
        self.number = _numbers(self, rounding)
        functions = {n: self._function(n) for n in dir(math) if callable(getattr(np, _named(n), 0))}
        functions["fma"] = self._fma  # of Python from 3.13 on
        self._math = types.SimpleNamespace(**vars(math) | functions)
        makers = {n: _of_objects(getattr(np, n)) for n in _MAKING}
        named = {_named(n): f for n, f in functions.items()}
        self._numpy = types.SimpleNamespace(**vars(np) | named | makers)
        self._ours = types.SimpleNamespace(fma=self._fma)

    def run(self, function: FunctionType, before: tuple, args: tuple) -> tuple[tuple, Any]:
        """Arguments after a call, and what it returned.

        Args:
            function: whose globals are its own.
            before: arguments before the others, taken as they are.
            args: numbers of the format.

        Raises:
            Exception: Python cannot run it on such numbers, or not as far.
        """
        self.operations = 0
        converted = tuple(map(self._converted, args))
        with np.errstate(all="ignore"):
            returned = self._in_numbers(function)(*before, *converted)
        return tuple(map(_restored, converted)), _restored(returned)

    def _converted(self, argument: Any) -> Any:
        if isinstance(argument, tuple):
            return tuple_like(argument, map(self._converted, argument))
        if isinstance(argument, float | np.floating):
            return self.number(float(argument))
        if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
            converted = np.empty(argument.shape, object)
            converted.ravel()[:] = [self.number(v) for v in argument.ravel().tolist()]
            return converted
        return argument.copy() if isinstance(argument, np.ndarray) else argument

    def _in_numbers(self, function: FunctionType) -> FunctionType:
        """The function with functions of these numbers in place of those of `math` and NumPy, in
        all that it calls, too.
        """
        names = {n for code in _codes(function.__code__) for n in code.co_names}
        scope = {n: self._standing_for(v) for n, v in function.__globals__.items() if n in names}
        scope["__builtins__"] = function.__globals__.get("__builtins__")
        defaults = function.__defaults__ and self._converted(function.__defaults__)
        return FunctionType(self._rounded(function.__code__), scope, function.__name__, defaults,
                            function.__closure__)  # fmt: skip

    def _rounded(self, code: types.CodeType) -> types.CodeType:
        """The code with its literals as numbers."""
        literals = [self.number.made(c) if type(c) is float else
                    self._rounded(c) if isinstance(c, types.CodeType) else c
                    for c in code.co_consts]  # fmt: skip
        return code.replace(co_consts=tuple(literals))

    def _standing_for(self, value: Any) -> Any:
        module = getattr(value, "__name__", "") if isinstance(value, types.ModuleType) else ""
        substitutes = {"math": self._math, "numpy": self._numpy, "sciprec": self._ours}
        if module in substitutes:
            return substitutes[module]
        if isinstance(value, np.ufunc):
            return getattr(self._numpy, value.__name__)
        if getattr(value, "__module__", "") == "math":
            return getattr(self._math, value.__name__)
        if getattr(value, "__name__", "") == "fma":
            return self._fma
        inner = plain_function(value) if callable(value) else None
        is_user = isinstance(inner, FunctionType) and not inner.__module__.startswith("sciprec.")
        return self._in_numbers(inner) if is_user else value

    def _function(self, name: str) -> Callable[..., Any]:
        """An elementary function of numbers that are rounded afterwards; of arrays each."""
        function, number = getattr(np, _named(name)), self.number

        def called(*values: Any) -> Any:
            if any(isinstance(v, np.ndarray) for v in values):
                return np.vectorize(called, otypes=[object])(*values)
            self.count()
            return number.made(float(function(*map(float, values))))

        return called

    def _fma(self, x: Any, y: Any, z: Any) -> Any:
        self.count()
        values = [float(v) for v in (x, y, z)]
        if not all(map(math.isfinite, values)):
            return self.number.made(values[0] * values[1] + values[2])
        a, b, c = map(Fraction, values)
        return self.number.made(float(a * b + c))

    def count(self) -> None:
        """Note an operation."""
        self.operations += 1
        if self.operations > self.most:
            raise TooLong


def _named(name: str) -> str:
    return _NAMES.get(name, name)


def _codes(code: types.CodeType) -> list[types.CodeType]:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *(c for inner_code in inner for c in _codes(inner_code))]


def _of_objects(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    return lambda *args, **kwargs: np.asarray(function(*args, **kwargs), float).astype(object)


def _restored(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple_like(value, map(_restored, value))
    if isinstance(value, np.ndarray):
        return value.astype(float) if value.dtype == object else value
    return float(value) if hasattr(value, "made") else value


def _quotient(x: float, y: float) -> float:
    return x / y if y else float(np.float64(x) / np.float64(y))


def _power(x: float, y: float) -> float:
    return x * x if y == 2.0 else float(np.power(x, y))


_OPERATIONS: Mapping[str, Callable[[float, float], float]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": _quotient,
    "pow": _power, "floordiv": lambda x, y: float(np.floor_divide(x, y)),
    "mod": lambda x, y: float(np.mod(x, y)),
}  # fmt: skip
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


def _numbers(owner: PlainRuns, rounding: Callable[[float], float]) -> Any:
    """The class of numbers whose operations are rounded, and counted."""

    class PlainNumber:
        __slots__ = ("value",)
        __array_ufunc__ = None

        def __init__(self, value: float):
            self.value = value

        @classmethod
        def made(cls, value: float) -> PlainNumber:
            return cls(rounding(value))

        def __float__(self) -> float:
            return self.value

        def __int__(self) -> int:
            return int(self.value)

        def __bool__(self) -> bool:
            return self.value != 0.0

        def __neg__(self) -> PlainNumber:
            return PlainNumber(-self.value)

        def __pos__(self) -> PlainNumber:
            return self

        def __abs__(self) -> PlainNumber:
            return PlainNumber(abs(self.value))

    def value_of(other: Any) -> float:
        return other.value if type(other) is PlainNumber else rounding(float(other))

    def binary(function: Callable[[float, float], float]) -> tuple[Callable, Callable]:
        def forward(self, other: Any) -> Any:
            if isinstance(other, np.ndarray):
                return NotImplemented
            owner.count()
            return PlainNumber(rounding(function(self.value, value_of(other))))

        def backward(self, other: Any) -> Any:
            owner.count()
            return PlainNumber(rounding(function(value_of(other), self.value)))

        return forward, backward

    def compared(function: Callable[[float, float], bool]) -> Callable:
        return lambda self, other: function(self.value, value_of(other))

    for name, function in _OPERATIONS.items():
        forward, backward = binary(function)
        setattr(PlainNumber, f"__{name}__", forward)
        setattr(PlainNumber, f"__r{name}__", backward)
    for name in _COMPARISONS:
        setattr(PlainNumber, f"__{name}__", compared(getattr(operator, name)))
    return PlainNumber
