"""The exact twin of a kernel lifted to a backend with random bits: stochastic rounding, noise.

Where the random bits of an operation come from is written in the generated module: the numbers of
sites and loops. The twin runs that module's own text in Python, on exact numbers, with keys formed
by `tests.oracles.random_bits`; that the text says what the kernel says, the other backends' twins
show, whose text differs in the keys alone. That every operation has a key of its own is counted.
"""

from __future__ import annotations

import collections
import functools
import math
import types
from fractions import Fraction
from pathlib import Path

import numpy as np
from numba.typed import List

from sciprec.precision.operations import by_type
from sciprec.precision.rewriting.imported import imported
from tests.oracles import derived, exact, functions, parallel_loops, random_bits, ranks
from tests.oracles.scalar import WHOLE, Exact, exactly
from tests.random_kernels import random_pairs
from tests.random_kernels.random_pairs import RandomPair, is_pair

EXACT = {
    n: getattr(exact, n) for n in ("add", "sub", "mul", "div", "sqrt", "fma", "neg")
} | {
    n: getattr(derived, n)
    for n in ("floor", "ceil", "trunc", "rint", "mod", "floordiv", "fmod", "copysign", "fmin",
              "fmax", "square", "reciprocal", "sign")
} | {
    "min": derived.minimum, "max": derived.maximum, "minimum": derived.least,
    "maximum": derived.greatest, "abs": exact.absolute, "fabs": exact.absolute,
    "pos": lambda a, arithmetic, random=0: a,
}  # fmt: skip
INTEGERS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "mod": lambda a, b: a % b, "floordiv": lambda a, b: a // b, "neg": lambda a: -a, "abs": abs,
    "pos": lambda a: a, "min": min, "max": max, "minimum": min, "maximum": max,
    "square": lambda a: a * a,
}  # fmt: skip


def at_site(key: int, number: int) -> int:
    """The key of an operation."""
    return random_bits.at(key, number | 1)


class RandomOperations:
    """What a generated module calls `sp_ops`: operations on exact numbers, each with its key."""

    def __init__(self, backend):
        self.backend, self.arithmetic = backend, backend.compute
        self.random = backend.compute.rounding == "sr"

    def __getattr__(self, name: str):
        if name[0] == "i" and name[1:] in ("add", "sub", "mul", "div", "mod", "floordiv"):
            return functools.partial(self.updated, name[1:])
        return functools.partial(self.applied, name)

    def drawn(self, key: int, salt: int = 0) -> int:
        """The bits of a stochastic rounding."""
        return random_bits.draw(key, salt) if self.random else 0

    def rounded(self, x, key: int, salt: int = 0):
        """A number from outside, in the format."""
        if isinstance(x, (Exact, RandomPair)):
            return x
        if isinstance(x, (complex, np.complexfloating)):
            keys = (random_pairs.part_key(key, n) for n in range(2))
            parts = zip((x.real, x.imag), keys, strict=True)
            return RandomPair(*(self.rounded(p, own) for p, own in parts))
        value = int(x) if isinstance(x, WHOLE) else float(x)
        return exactly(
            exact.round_exact(value, self.arithmetic, self.drawn(key, salt)), self.arithmetic
        )

    def applied(self, name: str, key: int, *operands):
        """An operation on numbers or arrays."""
        if any(isinstance(x, np.ndarray) for x in operands):
            return self.elementwise(
                lambda own, *x: self.applied(name, own, *(self.enter(own, v) for v in x)),
                key, operands,
            )  # fmt: skip
        if any(map(is_pair, operands)) or name in ("to_complex", "as_complex", "of_parts"):
            return random_pairs.applied(self, name, key, operands)
        name = "pos" if name == "conj" else name
        if name in INTEGERS and all(isinstance(x, WHOLE) for x in operands):
            return INTEGERS[name](*operands)
        values = [self.rounded(x, key, 1 + n).value for n, x in enumerate(operands)]
        draw = self.drawn(key)
        name = {"accumulate": "add", "product": "mul"}.get(name, name)
        if name in EXACT:
            return exactly(EXACT[name](*values, self.arithmetic, draw), self.arithmetic)
        result = functions.elementary(name, tuple(values), self.arithmetic, draw)
        return exactly(result, self.arithmetic)

    def elementwise(self, function, key: int, operands) -> np.ndarray:
        """function(key of the element, elements) in the order of memory."""
        arrays = np.broadcast_arrays(*(_boxed(x) for x in operands))
        made = [
            function(random_bits.descend(key, n), *(a[index] for a in arrays))
            for n, index in enumerate(np.ndindex(arrays[0].shape))
        ]
        pairs = any(map(is_pair, made)) or any(a.dtype.kind == "c" for a in arrays)
        made = [complex(x) if pairs else x for x in made]
        out = np.array(made, complex if pairs else float).reshape(arrays[0].shape)
        narrow = all(x.dtype == np.float32 for x in operands if isinstance(x, np.ndarray))
        return out.astype(np.float32) if narrow and self.backend.carrier == np.float32 else out

    def updated(self, name: str, key: int, x, y):
        """x op= y, in place on an array."""
        if not isinstance(x, np.ndarray):
            return self.applied(name, key, x, y)
        other = np.broadcast_to(_boxed(y), x.shape)
        for n, index in enumerate(np.ndindex(x.shape)):
            own = random_bits.descend(key, n)
            terms = [self.enter(own, v) for v in (x[index], other[index])]
            x[index] = self.leave(own, x, self.applied(name, own, *terms))
        return x

    def enter(self, key: int, x):
        inexact = (float, np.floating, complex, np.complexfloating)
        return self.rounded(x, key) if isinstance(x, inexact) else x

    trusted = enter

    def viewed(self, key: int, x):
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            return self.elementwise(self.enter, key, [x])
        return x

    ordered = viewed

    def returned(self, key: int, x):
        """What leaves the kernel: an array that it was given is rounded like what it loads."""
        if isinstance(x, tuple):
            items = [self.returned(key, v) for v in x]
            return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
        return self.viewed(key, self.enter(key, x))

    def cast(self, key: int, x):
        return self.applied("pos", key, self.rounded(x, key, 1))

    def leave(self, key: int, target, x):
        """What is stored: numbers in the format, with the backend's noise."""
        if not isinstance(target, list) and target.dtype.kind not in "fc":
            return x
        if isinstance(x, np.ndarray):
            return self.elementwise(
                lambda own, v: self.leave(own, target, self.rounded(v, own)), key, [x]
            )
        value = self.rounded(x, key)
        if self.backend.noise is None or is_pair(value):
            return value
        if not math.isfinite(value.value) or value.value == 0.0:
            return value
        low, high = (round(edge * 2**31) for edge in self.backend.noise)
        n = ((random_bits.draw(key, 7) >> 36) * (high - low + 1) >> 16) + low
        changed = Fraction(value.value) * (1 + Fraction(n, 2**31))
        return exactly(exact.round_exact(changed, self.arithmetic), self.arithmetic)

    def put(self, key: int, field, x):
        """What is stored into a field, of its type."""
        if not isinstance(field, (float, np.floating)):
            return x
        return type(field)(float(self.leave(key, np.empty(1), x)))

    def of_method(self, name: str, digest: str):
        return lambda owner: owner

    def filling(self, key: int, x):
        return float(x) if isinstance(x, Exact) else x

    def total(self, key: int, function, x):
        return function(key, x)

    running_product = running_sum = total

    def arange(self, key: int, function, start, stop, step):
        if all(isinstance(x, WHOLE) for x in (start, stop, step)):
            return np.arange(start, stop, step)
        return function(key, start, stop, step)

    def total_along(self, axis: int):
        def along(key: int, function, x):
            own = axis % x.ndim
            return function(key, x, x.shape[:own] + x.shape[own + 1 :], own)

        return along

    def running_sum_along(self, axis: int):
        return lambda key, function, x: function(key, x, axis % x.ndim)

    def cast_to(self, key: int, kind: type, x):
        floating = issubclass(kind, (Exact, float, np.floating))
        return self.cast(key, x) if floating else int(x)

    def call(self, arity: int):
        return lambda function, *given: function(*given)

    call_normally = call

    def chosen(self, arity: int):
        """A vectorized function of numbers, beside its loop over arrays, each with its key."""
        return lambda function, loop, key, other, *given: function(key, *given)

    def result_type(self, arity: int):
        """Of the loop over arrays, which kernels that are drawn never take."""

    def constant(self, text: str):
        return lambda: exactly(float.fromhex(text), self.arithmetic)

    def paired(self, key: int, x, y):
        return RandomPair(x, y)

    def real(self, key: int, x):
        return x.real

    def imag(self, key: int, x):
        return x.imag

    def held(self, x):
        return x

    def power(self, exponent: int):
        return lambda key, x: self._raised(key, x, exponent)

    def power_of(self, exponent: int):
        return lambda key, x, y: self._raised(key, x, exponent)

    ipower_of = power_of

    def _raised(self, key: int, x, exponent: int):
        if isinstance(x, WHOLE):
            return x**exponent
        if isinstance(x, np.ndarray):
            return self.elementwise(
                lambda own, v: self._raised(own, self.rounded(v, own), exponent), key, [x]
            )
        if is_pair(x):
            steps = random_pairs.Steps(self, key)
            made = random_pairs.raised(exponent)(steps, steps.operand(0, x))
            return RandomPair(*(exactly(v, self.arithmetic) for v in made))
        result, square, left, salt = None, self.rounded(x, key, 1).value, abs(exponent), 11

        def times(a: float, b: float, salt: int) -> float:
            return exact.mul(a, b, self.arithmetic, self.drawn(key, salt))

        while left:
            if left & 1:
                result = square if result is None else times(result, square, salt)
            left >>= 1
            if left:
                square = times(square, square, salt + 1)
            salt += 2
        result = 1.0 if result is None else result
        if exponent < 0:
            result = exact.div(1.0, result, self.arithmetic, self.drawn(key, salt))
        return exactly(result, self.arithmetic)


PLAIN = ("call", "call_normally", "chosen", "constant", "held", "of_method", "result_type")
"""What takes no key."""


class Noting:
    """The operations as the generated module sees them; how often each key was used is noted."""

    def __init__(self, operations: RandomOperations):
        self.operations, self.keys = operations, collections.Counter()

    def __getattr__(self, name: str):
        found = getattr(self.operations, name)
        if name in PLAIN:
            return found
        if name in ("power", "power_of", "ipower_of"):
            return lambda exponent: self._noting(found(exponent))
        return self._noting(found)

    def _noting(self, function):
        def noted(key: int, *operands):
            self.keys[key & 0xFFFFFFFF] += not all(isinstance(x, WHOLE) for x in operands)
            return function(key, *operands)

        return noted


def _boxed(x):
    if isinstance(x, np.ndarray):
        return x
    box = np.empty((), object)
    box[()] = x
    return box


def run_random_twin(lifted, args: tuple):
    """What the last call of a lifted kernel should have given for these arguments (written).

    Args:
        lifted: called once more than this function before.
        args: the arguments of that call.

    Raises:
        AssertionError: more operations than chance explains draw what others drew.
    """
    text = Path(lifted.path).read_text()
    start = text.index("\nsp_row") if "\nsp_row" in text else text.index("\nsp_carrier")
    text = "\n".join(x for x in text[start:].splitlines() if not x.startswith(("@", "sp_row")))
    noting = Noting(RandomOperations(lifted.backend))
    namespace = {
        "sp_ops": noting, "sp_at": at_site, "sp_descend": random_bits.descend,
        "sp_prange": range, "sp_lesser": min, "sp_greater": max, "math": math,
        "np": _Numpy("np"), "sp_start_of_sum": lambda s: parallel_loops.begun(s, 0),
        "sp_start_of_product": lambda s: parallel_loops.begun(s, 1),
        "sp_results": lambda count, first: [first] * count, "sp_imported": _imported,
        "sp_sum_block": by_type.sum_block, "sp_zeros_for": by_type.zeros_for,
        "isinstance": _is_a,
    }  # fmt: skip
    for place in (ranks.index_of_rank, ranks.fraction_of_rank, ranks.number_of_steps):
        namespace[f"sp_{place.__name__}"] = _of_floats(place)
    exec(compile(text, str(lifted.path), "exec"), namespace)
    key = random_bits.entry(lifted.seed, lifted._calls - 1, getattr(lifted, "number", -1))
    with np.errstate(all="ignore"):
        result = _plain(namespace["sp_entry"](key, *args))
    repeated = sum(n - 1 for n in noting.keys.values() if n)
    assert repeated < 4, f"{repeated} operations draw what others drew"
    return result


def _is_a(value, kinds: tuple) -> bool:
    """isinstance, of which exact numbers are floats."""
    return isinstance(value, kinds) or isinstance(value, Exact) and float in kinds


def _imported(*place):
    """What a generated module names by its place; lists of Numba's are Python's."""
    found = imported(*place)
    return list if found is List else found


def _of_floats(function):
    """A function of plain numbers, given exact ones."""
    return lambda *given: function(*(x.value if isinstance(x, Exact) else x for x in given))


class _Numpy(types.ModuleType):
    """NumPy, whose predicates take exact numbers."""

    def __getattr__(self, name: str):
        found = getattr(np, name)
        if name in ("isnan", "isinf", "isfinite"):
            return lambda x: found(float(x) if isinstance(x, Exact) else x)
        return found


def _plain(value):
    if isinstance(value, Exact):
        return value.value
    if isinstance(value, RandomPair):
        return complex(value)
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return value
