"""The operations of a backend as Python functions: what generated modules call `sp_ops`.

Intrinsics decide by type, these functions by value. A number of the backend (Numba: of the carrier)
is a Python `float` or `complex`; what an array or a caller holds is a NumPy scalar. One of the
carrier's type passes an operation as it is, as in the engine: to round it is the generated module's
duty. Every step is one of `tests.oracles.exact`, `derived` and `functions`, which round once.
"""

from __future__ import annotations

import collections
import functools
import math
import operator
import types
from fractions import Fraction

import numpy as np

from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.formats.literal import round_literal
from sciprec.precision.operations.complex_algorithms import (
    BOUNDS,
    COMPLEX_OPERATIONS,
    ComplexParts,
    raised,
    scaled,
    shared,
)
from sciprec.precision.operations.operation import OPERATIONS
from tests.oracles import derived, exact, functions, random_bits

WHOLE, REAL = (int, np.integer, np.bool_), (float, np.floating)
PAIRS = (complex, np.complexfloating)
STEPS = {
    **{n: getattr(exact, n) for n in ("add", "sub", "mul", "div", "sqrt", "fma", "neg")},
    **{n: getattr(derived, n) for n in ("mod", "floordiv", "fmod", "floor", "ceil", "trunc")},
    **{n: getattr(derived, n) for n in ("rint", "copysign", "fmin", "fmax", "square", "sign")},
    "reciprocal": derived.reciprocal,
    "abs": exact.absolute, "fabs": exact.absolute, "min": derived.minimum, "max": derived.maximum,
    "minimum": derived.least, "maximum": derived.greatest, "pos": lambda a, arithmetic, random: a,
    "conj": lambda a, arithmetic, random: a,
    "accumulate": exact.add, "product": exact.mul, "subtract": exact.sub,
}  # fmt: skip
IN_PLACE = {f"i{n}": n for n in ("add", "sub", "mul", "div", "mod", "floordiv", "pow")}
OF_PAIRS = ("to_complex", "as_complex", "of_parts", "rect", "angle", "polar")
"""Operations whose operands are complex numbers, whatever is given."""
OF_SUMS = {"accumulate": operator.add, "subtract": operator.sub, "product": operator.mul}
WITHOUT_KEY = ("call", "call_normally", "chosen", "closed", "constant", "entry", "held", "kept",
               "literal", "of_dimensions", "of_method", "opened", "result_type", "row")  # fmt: skip
MAKERS = ("contracting", "icontracting", "ipower_of", "over", "power", "power_of",
          "running_sum_along", "times", "total_along")  # fmt: skip
"""What makes an operation of a number that stands in the text of the generated module."""
_FIRST_STEP, _FIRST_PART = 1 << 20, 1 << 10


def is_array(x) -> bool:
    return isinstance(x, np.ndarray)


def kind_of(x) -> str:
    """The kind of a number or of an array's elements: "c", "f", "i" (truths too), else "O"."""
    if is_array(x):
        return "i" if x.dtype.kind in "iub" else x.dtype.kind
    kinds = (("c", PAIRS), ("f", REAL), ("i", WHOLE))
    return next((kind for kind, own in kinds if isinstance(x, own)), "O")


def step_key(key: int | None, number: int) -> int | None:
    """The key of a step of an operation on complex numbers, or of a part that is rounded."""
    if key is None:
        return None
    odd = random_bits.lowbias32((_FIRST_STEP + number) * random_bits.GOLDEN + 1) | 1
    return random_bits.at(key, odd)


class Role:
    """Steps of one arithmetic on Python floats."""

    def __init__(self, arithmetic, mixed: bool = False) -> None:
        self.mixed, self.random = mixed, arithmetic.rounding in exact.AT_RANDOM
        self.literal = functools.partial(round_literal, arithmetic=arithmetic)
        self.arithmetic = types.SimpleNamespace(
            format=arithmetic.format, rounding=arithmetic.rounding, aligned=arithmetic.aligned,
            random_bits=arithmetic.random_bits, mixed=mixed,
        )  # fmt: skip

    def _drawn(self, key: int | None, salt: int) -> int:
        return random_bits.draw(key, salt) if self.random else 0

    def number(self, x, key: int | None = None, salt: int = 0) -> float:
        """A float or an integer, rounded once."""
        x = int(x) if isinstance(x, WHOLE) else float(x)
        return exact.round_exact(x, self.arithmetic, self._drawn(key, salt))

    def step(self, name: str, values, key: int | None = None, salt: int = 0) -> float:
        """An operation on numbers of the format; those of other roles may come through one."""
        own = self.arithmetic, self._drawn(key, salt)
        if name in STEPS:
            made = STEPS[name](*values, *own)
        else:
            made = functions.elementary(name, tuple(values), *own)
        return self.number(made, key, salt) if self.mixed else made


class Number:
    """A number in a formula of `complex_algorithms`: operators are rounded steps."""

    __slots__ = ("steps", "value")
    __hash__ = None

    def __init__(self, steps: Steps, value: float) -> None:
        self.steps, self.value = steps, value

    def __add__(self, other):
        return self.steps("add", self, other)

    def __sub__(self, other):
        return self.steps("sub", self, other)

    def __mul__(self, other):
        return self.steps("mul", self, other)

    def __truediv__(self, other):
        return self.steps("div", self, other)

    def __neg__(self):
        return Number(self.steps, -self.value)

    def __abs__(self):
        return Number(self.steps, abs(self.value))

    def __lt__(self, other):
        return np.bool_(self.value < other.value)

    def __ge__(self, other):
        return np.bool_(self.value >= other.value)

    def __eq__(self, other):
        return np.bool_(self.value == other.value)


class Steps:
    """The steps of one operation on complex numbers, each with its own key."""

    def __init__(self, role: Role, key: int | None) -> None:
        self.role, self.key, self.count = role, key, 0

    def __call__(self, name: str, *numbers: Number) -> Number:
        self.count += 1
        values = [n.value for n in numbers]
        return self.number(self.role.step(name, values, step_key(self.key, self.count)))

    def number(self, value: float) -> Number:
        return Number(self, value)

    def literal(self, value: float) -> Number:
        """A constant, rounded to the format, never at random."""
        return self.number(self.role.literal(value))

    def bound(self, name: str) -> Number:
        return self.number(BOUNDS[name](self.role.arithmetic.format))

    def choose(self, condition, first: Number, second: Number) -> Number:
        return first if condition else second


class PythonOperations:
    """The operations of a backend of floats. In one with random bits they take a key first.

    Attributes:
        drawn: how often each key was that of an operation on numbers, in a backend with keys.
    """

    def __init__(self, backend) -> None:
        if backend.fixed:
            raise NotImplementedError("these are the operations of floats: see fixed_operations")
        self.backend, self.narrow = backend, backend.carrier == np.float32
        self.takes_keys = backend.random
        self.storage, self.compute, *sums = (Role(role, backend.mixed) for role in backend.roles)
        accumulate, product = sums
        self.roles = {"accumulate": accumulate, "subtract": accumulate, "product": product}
        of_pairs = np.result_type(backend.carrier, np.complex64).type
        self.own = (float, complex, backend.carrier.type, of_pairs)
        same = backend.storage == backend.compute and not backend.mixed
        self.stores_as_is = same and backend.noise is None
        direction = backend.storage.rounding
        nearest = "rn" if direction in exact.AT_RANDOM else direction
        self.to_binary32 = Role(Arithmetic(FORMATS["binary32"], nearest))
        self.drawn: collections.Counter = collections.Counter()

    def __getattr__(self, name: str):
        """The operation as generated modules call it: with a key where the backend has keys."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name in WITHOUT_KEY:
            return getattr(self, f"_{name}")
        if name in MAKERS:
            return lambda fact: self._keyed(getattr(self, f"_{name}")(fact))
        return self._keyed(self.operation(name))

    def _keyed(self, function):
        if not self.takes_keys:
            return functools.partial(function, None)

        def noted(key, *operands):
            key = int(key)
            self.drawn[key & 0xFFFFFFFF] += not all(isinstance(x, WHOLE) for x in operands)
            return function(key, *operands)

        return noted

    def operation(self, name: str):
        """operation(key, operand, ...) of a name."""
        if name in IN_PLACE:
            return functools.partial(self._in_place, self.operation(IN_PLACE[name]))
        own = getattr(type(self), f"_{name}", None)
        if own is not None:
            return functools.partial(own, self)
        if name in ("total", "running_product", "running_sum"):
            of_integers = {"total": np.sum, "running_product": np.prod, "running_sum": np.cumsum}
            return functools.partial(self._reduced, of_integers[name])
        if name in OF_PAIRS or name in ("accumulate", "product"):
            return functools.partial(self.applied, name, None)
        if name == "conj":
            return functools.partial(self.applied, name, operator.pos)
        row = OPERATIONS.get(name)
        if row is None:
            raise NotImplementedError(f"no operation '{name}'")
        if row.of_bits:
            return functools.partial(self._from_bits, name)
        return functools.partial(self.applied, name, getattr(row.whole, "py_func", row.whole))

    # ---- operations on numbers -----------------------------------------------------------------

    def applied(self, name, native, key, *operands, formula=None, evaluate=None, role=None):
        """An operation by the kinds of its operands: arrays, complex ones, integers, numbers.

        Args:
            name: of the step, and of the formula of complex numbers.
            native: of integers; None where they become numbers.
            key: where its random bits come from.
            formula: of complex numbers, where it is not the one of that name.
            evaluate: (values, key) -> number, where it is no step of that name.
            role: that has made operands, and rounds them; `compute` unless said.
        """
        kinds = [kind_of(x) for x in operands]
        if native is not None and not {"f", "c"} & {*kinds}:
            return wrapped(name, native, operands)
        operation = formula or COMPLEX_OPERATIONS.get("sub" if name == "subtract" else name)
        if any(map(is_array, operands)):
            one = functools.partial(
                self.applied, name, None, formula=formula, evaluate=evaluate, role=role
            )
            pairs = name in OF_PAIRS or "c" in kinds
            return self._each(one, key, operands, pairs and operation.gives == "complex")
        if name in OF_PAIRS or "c" in kinds:
            return self._of_pairs(operation, self.roles.get(name, self.compute), key, operands)
        return self._of_numbers(name, key, operands, role or self.compute, evaluate)

    def _of_numbers(self, name, key, operands, entering: Role, evaluate) -> float:
        own, values = self.roles.get(name, self.compute), []
        for n, x in enumerate(operands, 1):
            role = entering if kind_of(x) == "f" else self.compute
            values.append(float(x) if type(x) in self.own else role.number(x, key, n))
        if evaluate is None:
            return own.step(name, values, key)
        made = evaluate(values, key)
        return own.number(made, key) if self.backend.mixed else made

    def _of_pairs(self, operation, role, key, operands):
        pairs, steps = [], Steps(role, key)
        for place, x in enumerate(operands):
            parts = (x.real, x.imag) if kind_of(x) == "c" else (x,)
            if type(x) not in self.own:
                keys = (step_key(key, -1 - 2 * place - n) for n in range(2))
                parts = [self.compute.number(p, k) for p, k in zip(parts, keys, strict=False)]
            pairs.append(ComplexParts(*(steps.number(float(p)) for p in (*parts, 0.0)[:2])))
        made = operation.formula(steps, *pairs)
        if operation.gives == "real":
            return made.value
        return (complex if operation.gives == "complex" else lambda *x: x)(*(n.value for n in made))

    def _from_bits(self, name, key, u):
        drawn = self.compute._drawn(key, 0)
        return functions.from_bits(name, int(u), self.compute.arithmetic, drawn)

    def _cast(self, key, x):
        return self.applied("pos", None, key, x)

    def _cast_to(self, key, kind, x):
        if not isinstance(kind, (type, np.dtype)):
            return kind(x)
        wanted = np.dtype(kind)
        if wanted.kind == "c":
            return self.applied("to_complex", None, key, x)
        if wanted.kind == "f":
            return self._cast(key, x)
        return x.astype(wanted) if is_array(x) else wanted.type(x)

    def _contracting(self, name: str):
        role = self.roles["accumulate"] if self.backend.mixed and name != "product" else None
        return functools.partial(self.applied, name, OF_SUMS[name], role=role)

    def _icontracting(self, name: str):
        return functools.partial(self._in_place, self._contracting(name))

    def _power(self, exponent: int):
        """Repeated multiplication, each product with a draw of its own."""

        def repeated(values, key):
            result, square, left, salt = None, *values, abs(exponent), 11
            while left:
                if left & 1:
                    result = square if result is None else step("mul", (result, square), key, salt)
                left >>= 1
                square = step("mul", (square, square), key, salt + 1) if left else square
                salt += 2
            result = 1.0 if result is None else result
            return step("div", (1.0, result), key, salt) if exponent < 0 else result

        step, formula = self.compute.step, raised(exponent)
        native = functools.partial(lambda x: x**exponent)
        return functools.partial(self.applied, "power", native, formula=formula, evaluate=repeated)

    def _power_of(self, exponent: int):
        return lambda key, x, _: self._power(exponent)(key, x)

    def _ipower_of(self, exponent: int):
        return functools.partial(self._in_place, self._power_of(exponent))

    def _times(self, factor):
        native = (lambda x: x * factor) if isinstance(factor, int) else None
        return self._by_power_of_two("mul", native, factor, scaled(factor))

    def _over(self, divisor):
        return self._by_power_of_two("div", None, divisor, shared(divisor))

    def _by_power_of_two(self, name, native, factor, formula):
        def evaluate(values, key):
            return self.compute.step(name, (*values, float(factor)), key)

        return functools.partial(self.applied, name, native, formula=formula, evaluate=evaluate)

    # ---- arrays --------------------------------------------------------------------------------

    def _dtype(self, arrays, pairs: bool) -> np.dtype:
        """Of a new array: narrow where the arrays are and the carrier is."""
        narrow = self.narrow and all(a.dtype in (np.float32, np.complex64) for a in arrays)
        return np.dtype(("c8" if pairs else "f4") if narrow else ("c16" if pairs else "f8"))

    def _element(self, key, number: int):
        """The key of an element of an array."""
        return None if key is None else random_bits.descend(key, number)

    def _operand(self, key, place: int, x, alone: bool):
        """An operand of an operation on arrays, an element or a number beside them."""
        return x if alone and self.backend.mixed else self._enter(key, x)

    def _settled(self, key, made):
        """What an operation has made of an element: where roles differ in format, no load may round
        it to that of the storage.
        """
        return self._enter(self._element(key, 1), made) if self.backend.mixed else made

    def _each(self, function, key, operands, pairs: bool):
        """A new array of what a function gives of elements; those of arrays enter first."""
        arrays = [x for x in operands if is_array(x)]
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        out = np.empty(shape, self._dtype(arrays, pairs))
        given = [np.broadcast_to(x, shape) if is_array(x) else x for x in operands]
        for number, place in enumerate(np.ndindex(shape)):
            own = self._element(key, number)
            values = [
                self._operand(own, n, x[place] if is_array(x) else x, not is_array(x))
                for n, x in enumerate(given, 1)
            ]
            out[place] = self._settled(own, function(own, *values))
        return out

    def _mapped(self, function, key, x, dtype) -> np.ndarray:
        """A new array of function(key, element)."""
        made = np.empty(x.shape, dtype)
        for number, place in enumerate(np.ndindex(x.shape)):
            made[place] = function(self._element(key, number), x[place])
        return made

    def _in_place(self, operation, key, x, y):
        """x op= y: written into x where that is an array."""
        if not is_array(x):
            return operation(key, x, y)
        others = np.broadcast_to(y, x.shape) if is_array(y) else None
        for number, place in enumerate(np.ndindex(x.shape)):
            own = self._element(key, number)
            term = self._operand(own, 2, y if others is None else others[place], others is None)
            made = operation(own, self._operand(own, 1, x[place], False), term)
            x[place] = self._leave(own, x, self._enter(own, self._settled(own, made)))
        return x

    def _reduced(self, of_integers, key, function, x):
        return of_integers(x) if kind_of(x) == "i" else self._called(function, key, x)

    def _total_along(self, axis: int):
        def total(key, function, x):
            own = axis % x.ndim
            if kind_of(x) == "i":
                return np.sum(x, own)
            return self._called(function, key, x, x.shape[:own] + x.shape[own + 1 :], own)

        return total

    def _running_sum_along(self, axis: int):
        return lambda key, function, x: (
            np.cumsum(x, axis) if kind_of(x) == "i"
            else self._called(function, key, x, axis % x.ndim)
        )  # fmt: skip

    def _arange(self, key, function, *ends):
        if all(isinstance(x, WHOLE) for x in ends):
            return np.arange(*ends)
        return self._called(function, key, *ends)

    def _called(self, function, key, *operands):
        """A kernel of the generated module, with the key where it takes one."""
        return function(*([] if key is None else [key]), *operands)

    # ---- where numbers enter and leave ---------------------------------------------------------

    def _enter(self, key, x):
        if isinstance(x, REAL):
            return self.storage.number(x, key)
        if isinstance(x, PAIRS):
            keys = (step_key(key, _FIRST_PART + n) for n in range(2))
            parts = zip((x.real, x.imag), keys, strict=True)
            return complex(*(self.storage.number(p, own) for p, own in parts))
        if isinstance(x, tuple) and not hasattr(x, "_fields"):
            return tuple(self._enter(key, item) for item in x)
        return x

    def _taken(self, key, container, x):
        return self._enter(key, x) if _is_stored(container) else x

    def _item(self, key, container, index):
        return self._taken(key, container, container[index])

    def _trusted(self, key, x):
        return {"f": float, "c": complex}.get("" if is_array(x) else kind_of(x), lambda v: v)(x)

    def _viewed(self, key, x):
        if is_array(x) and kind_of(x) in "fc":
            return self._mapped(self._enter, key, x, self._dtype([x], kind_of(x) == "c"))
        return x

    _ordered = _viewed

    def _returned(self, key, x):
        if isinstance(x, tuple):
            items = [self._returned(key, item) for item in x]
            return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
        if not is_array(x):
            return self._enter(key, x)
        storage, narrow = self.backend.storage.format, x.dtype in (np.float32, np.complex64)
        fits = storage.is_binary64 or narrow and storage.is_binary32
        return x if fits else self._viewed(key, x)

    def _leave(self, key, target, x):
        """The stored number: one of the storage, with the backend's noise."""
        of = target[0] if isinstance(target, list) and target else target
        if kind_of(of) not in "fc" or kind_of(x) == "O":
            return x
        if is_array(x):
            dtype = complex if kind_of(x) == "c" else float
            return self._mapped(
                lambda own, v: self._leave(own, target, self._enter(own, v)), key, x, dtype
            )
        narrow = np.asarray(of).dtype in (np.float32, np.complex64) and not self.narrow
        if not isinstance(x, PAIRS):
            return self._stored_number(key, x, type(x) in self.own, narrow)
        keys = (step_key(key, _FIRST_PART + n) for n in range(2))
        parts = zip((x.real, x.imag), keys, strict=True)
        is_own = type(x) in self.own
        return complex(*(self._stored_number(own, p, is_own, narrow) for p, own in parts))

    def _stored_number(self, key, x, is_own: bool, narrow: bool) -> float:
        made = float(x) if is_own and self.stores_as_is else self.storage.number(x, key)
        made = self._noisy(key, made)
        return self.to_binary32.number(made) if narrow else made

    def _noisy(self, key, value: float) -> float:
        if self.backend.noise is None or not math.isfinite(value) or value == 0.0:
            return value
        low, high = (round(edge * 2**31) for edge in self.backend.noise)
        n = ((random_bits.draw(key, 7) >> 36) * (high - low + 1) >> 16) + low
        changed, drawn = Fraction(value) * (1 + Fraction(n, 2**31)), self.storage._drawn(key, 0)
        return exact.round_exact(changed, self.storage.arithmetic, drawn)

    _stored = _leave

    def _put(self, key, field, x):
        return x if is_array(x) else self._leave(key, field, x)

    def _filling(self, key, x):
        return x

    def _paired(self, key, x, y):
        return complex(x, y)

    def _real(self, key, x):
        return x.real

    def _imag(self, key, x):
        return x.imag

    # ---- what takes no key ---------------------------------------------------------------------

    def _literal(self, text: str):
        return self._constant(round_literal(float.fromhex(text), self.backend.compute).hex())

    @staticmethod
    def _constant(text: str):
        return functools.partial(float.fromhex, text)

    @staticmethod
    def _held(x):
        return x

    @staticmethod
    def _entry(*facts):
        return lambda function: function

    _of_dimensions = _of_method = _entry
    _row = None

    @staticmethod
    def _call(arity: int):
        return lambda function, *given: function(*given)

    _call_normally = _call

    def _chosen(self, arity: int):
        """A vectorized function of numbers, or its loop over arrays, each with its key."""
        count = 2 if self.takes_keys else 0

        def chosen(function, loop, *given):
            keys, operands = given[:count], given[count:]
            over = any(map(is_array, operands))
            return (loop if over else function)(*keys[over : over + 1], *operands)

        return chosen

    def _result_type(self, arity: int):
        """The dtype of a new array of what a function gives of elements."""
        count = 1 if self.takes_keys else 0

        def result_type(function, *given):
            keys, operands = given[:count], given[count:]
            arrays = [x for x in operands if is_array(x)]
            made = function(
                *keys, *(self._enter(None, x.dtype.type(1)) if is_array(x) else x for x in operands)
            )
            made = made.value if isinstance(made, Closed) else made
            inexact = kind_of(made) in "fc"
            return self._dtype(arrays, kind_of(made) == "c") if inexact else type(made)

        return result_type


class Closed:
    """The result of a function of a text with rows: a value, beside its marks."""

    __slots__ = ("value",)

    def __init__(self, value) -> None:
        self.value = value


class WithoutKeys(PythonOperations):
    """Operations of floats for the text of a backend with keys or rows, which they leave out: the
    text rounds where it says so, in this arithmetic.

    Args:
        backend: of floats.
        rows: whether the number of a row follows each key.
    """

    def __init__(self, backend, rows: bool) -> None:
        super().__init__(backend)
        self.takes_keys, self.rows = True, rows

    def _keyed(self, function):
        return lambda *given: function(None, *given[1 + self.rows :])

    def _called(self, function, key, *operands):
        made = function(key or 0, *operands)
        return self._opened(made) if self.rows else made

    @staticmethod
    def _row(key, number):
        return key

    @staticmethod
    def _closed(x):
        return Closed(x)

    @staticmethod
    def _opened(x):
        return x.value

    @staticmethod
    def _kept(key, x):
        return x.value


def _is_stored(container) -> bool:
    """Whether the numbers of a container, or of what is iterated over, are in the storage format:
    those of arrays and named tuples are, the kernel's own tuples and lists are not.
    """
    if isinstance(container, (zip, enumerate)):
        return any("array" in type(s).__name__ or type(s).__name__ == "iterator"
                   for s in container.__reduce__()[1])  # fmt: skip
    return hasattr(container, "_fields") or not isinstance(container, (tuple, list, set))


def wrapped(name: str, native, operands):
    """Numba's operator on integers: 64 bits that wrap, n // 0 = n % 0 = 0."""
    if not all(isinstance(x, WHOLE) for x in operands):
        return native(*operands)
    if name in ("mod", "floordiv") and operands[1] == 0:
        return 0
    made = native(*map(int, operands))
    return (int(made) + 2**63) % 2**64 - 2**63 if isinstance(made, WHOLE) else float(made)
