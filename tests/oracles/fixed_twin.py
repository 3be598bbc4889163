"""Runs a kernel's own Python source on exact fractions, each result rounded in its place's unit:
the twin of a kernel lifted to fixed point.

The units are given; which unit belongs to which operation of which call is found from the
places that `tests.oracles.fixed_marks` writes into the source.
"""

from __future__ import annotations

import inspect
import math
import types
from fractions import Fraction

import numpy as np
from scipy import special

from sciprec.precision.library import sequences
from sciprec.precision.operations import reduce
from tests.oracles import fixed, functions, parallel_loops
from tests.oracles.fields import Fields, method_of
from tests.oracles.fixed_marks import marked
from tests.oracles.fixed_places import Places
from tests.oracles.fixed_scalar import (
    NATIVE,
    REAL,
    WHOLE,
    each,
    exact_mpfr,
    exactly,
    is_real_array,
    rounded,
    taken,
)
from tests.oracles.fixed_scalar import applied as scalar

REDUCTIONS = {
    np.sum: reduce.total, np.mean: reduce.mean, np.dot: reduce.dot, "dot": reduce.dot,
    np.max: reduce.largest, np.min: reduce.smallest, np.prod: reduce.running_product,
    np.cumsum: reduce.running_sum, sum: sequences.added_up,
}  # fmt: skip
METHODS = {"sum": np.sum, "mean": np.mean, "dot": np.dot, "max": np.max, "min": np.min,
           "prod": np.prod, "cumsum": np.cumsum}  # fmt: skip
ENGINE = {reduce.accumulate: "accumulate", reduce.product: "product", reduce.fma: "fma"}
OPERATIONS = {
    math.sqrt: "sqrt", np.sqrt: "sqrt", math.fabs: "fabs", np.fabs: "fabs", abs: "abs",
    np.abs: "abs", np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.rint: "rint",
    np.negative: "neg", np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div",
    np.mod: "mod", np.floor_divide: "floordiv", min: "min", max: "max", np.fmin: "fmin",
    np.fmax: "fmax", np.minimum: "minimum", np.maximum: "maximum", math.copysign: "copysign",
    np.copysign: "copysign", math.fmod: "fmod", np.fmod: "fmod", np.square: "square",
    np.reciprocal: "reciprocal", np.sign: "sign", float: "cast", np.float64: "cast",
    np.float32: "cast", pow: "pow", math.pow: "pow",
}  # fmt: skip
ELEMENTARY = {
    getattr(m, n): n for m in (math, np, special) for n in functions.FUNCTIONS if hasattr(m, n)
}
ELEMENTARY[special.gammaln] = "lgamma"
ELEMENTARY |= {np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan", np.arctan2: "atan2"}
PREDICATES = {np.isnan: math.isnan, np.isinf: math.isinf, np.isfinite: math.isfinite}
CREATING = {np.empty: 0, np.zeros: 0, np.ones: 1, np.full: None}
LIKE = {np.empty_like: 0, np.zeros_like: 0, np.ones_like: 1}


class FixedTwin(Places):
    """Everything that the marked functions of one kernel call; see `Places` for the arguments."""

    def __init__(self, *given):
        super().__init__(*given)
        self.functions: dict[types.FunctionType, types.FunctionType] = {}

    # ---- operations -----------------------------------------------------------------------------

    def operate(self, place: tuple, *operands):
        return self.applied(place, place[1][3], operands)

    def applied(self, place: tuple, name: str, operands):
        self.last = name
        if any(is_real_array(x) for x in operands):
            return self._elementwise(place, name, operands)
        arrays = any(isinstance(x, np.ndarray) for x in operands)
        whole = all(isinstance(x, (*WHOLE, np.ndarray)) for x in operands)
        if whole and name in NATIVE:
            return NATIVE[name](*operands)
        if arrays:
            return self._elementwise(place, name, operands)
        if name in ("min", "max") and len(operands) > 2:
            first = self.applied(place, name, operands[:-1])
            return self.applied(place, name, (first, operands[-1]))
        return scalar(self.place(place, name), name, operands)

    def of_sum(self, chain: tuple, loads: tuple, group: str, kind: str, x, y):
        """A product of a sum that a loop forms, or the sum with a term of it."""
        self.last = "product" if kind == "product" else "accumulate"
        if isinstance(x, WHOLE) and isinstance(y, WHOLE):
            return {"product": x * y, "accumulate": x + y, "subtract": x - y}[kind]
        sites = (self.site((chain, key)) for key in dict(loads)[group])
        place = self.rows[chain, next(s for s in sites if s is not None), 0]
        if kind == "product":
            return scalar(place, "product", (x, y))
        return scalar(place, "accumulate", (x, -exactly(y) if kind == "subtract" else y))

    def _elementwise(self, place: tuple, name: str, operands):
        """Operands into their own units, then the operation on every element."""
        parts = [self.place(place, name, n) for n in range(1, len(operands) + 1)]
        result = self.place(place, name)

        def one(*values):
            entered = [taken(v, p) for v, p in zip(values, parts, strict=True)]
            return scalar(result, name, entered)

        return each(one, *operands)

    def updated(self, place: tuple, x, y):
        """x op= y: in place on an array."""
        name = place[1][3]
        base = name[1:].partition("(")[0]
        if base == "power_of":
            return self.power(place, x, int(name.partition("(")[2].rstrip(")")))
        if is_real_array(x):
            parts = [self.place(place, name, n) for n in (0, 1, 2)]
            x[...] = each(
                lambda a, b: scalar(parts[0], base, (taken(a, parts[1]), taken(b, parts[2]))), x, y
            )
            return x
        if isinstance(x, WHOLE) and isinstance(y, WHOLE) and base in NATIVE:
            return NATIVE[base](x, y)
        return scalar(self.place(place, name), base, (x, y))

    def power(self, place: tuple, x, exponent: int):
        """Repeated squaring; each multiplication has a place of its own."""
        if isinstance(x, WHOLE):
            return x**exponent
        if isinstance(x, np.ndarray):
            return each(
                lambda v: self._raised(place, taken(v, self.place(place, part=1)), exponent),
                x,
            )
        return self._raised(place, exactly(x), exponent)

    def _raised(self, place, x, exponent: int):
        result, square, left, part = None, x, abs(exponent), 1
        while left:
            if left & 1:
                at = self.place(place, part=part) if result is not None else None
                result = square if result is None else fixed.mul(result, square, at)
            left >>= 1
            if left:
                square = fixed.mul(square, square, self.place(place, part=part + 1))
            part += 2
        result = Fraction(1) if result is None else result
        return fixed.div(1, result, self.place(place, part=part)) if exponent < 0 else result

    # ---- calls ----------------------------------------------------------------------------------

    def invoke(self, place: tuple, function, *operands, **named):
        """What a call of anything that a kernel may name gives."""
        chain = place[0]
        if isinstance(function, type) and issubclass(function, BaseException):
            return function(*operands)
        if function is isinstance:
            return _is_a(*operands)
        if function is type and isinstance(operands[0], REAL):
            return np.object_  # as of an element of an array of exact numbers
        if function in ENGINE:
            return self.applied(place, ENGINE[function], operands)
        if function is np.object_:  # the type of exact numbers, as a cast
            self.last = "cast_to"
            return scalar(self.place(place, "cast_to"), "cast", operands)
        name = OPERATIONS.get(function) or ELEMENTARY.get(function)
        own = getattr(function, "__module__", "") or ""
        if name is None and own.startswith("sciprec.precision"):
            label = function.__name__
            if label in functions.FROM_BITS:
                bits = functions.FROM_BITS[label](int(operands[0]) % 2**32)
                return rounded(exact_mpfr(bits), self.place(place, label), True)
            name = label if label in functions.FUNCTIONS else None
        if name is not None and not (name in ("min", "max") and len(operands) == 1):
            return self.applied(place, name, operands)
        if function in (min, max):
            function = np.min if function is min else np.max
        if function in REDUCTIONS and not _only_whole(operands):
            function = REDUCTIONS[function]
        if function in CREATING or function in LIKE:
            return self._created(function, *operands, **named)
        if function in PREDICATES and not isinstance(operands[0], np.ndarray):
            return PREDICATES[function](*operands)
        self.last = "call"
        plain = inspect.unwrap(getattr(function, "py_func", function))
        inside = None
        if isinstance(getattr(plain, "__globals__", None), _Namespace):
            inside = plain
        elif isinstance(plain, types.FunctionType) and not plain.__module__.startswith("numpy"):
            inside = self.rebuilt(plain)
        if inside is not None:
            result = inside(self.chain_of(place), *operands, **named)
            self.last = "call"
            return result
        assert chain is not None
        return plain(*operands, **named)

    def method(self, place: tuple, owner, name: str, *operands, **named):
        if isinstance(owner, types.ModuleType):
            return self.invoke(place, getattr(owner, name), *operands, **named)
        if isinstance(owner, np.dtype) and name == "type":
            return self.invoke(place, owner.type, *operands)
        if isinstance(owner, Fields):
            return self.invoke(place, method_of(owner._kind, name), owner, *operands)
        if name in METHODS and isinstance(owner, np.ndarray):
            return self.invoke(place, METHODS[name], owner, *operands)
        return getattr(owner, name)(*operands, **named)

    def _created(self, function, shape, *rest, dtype=None):
        kind = rest[-1] if rest and isinstance(rest[-1], type) else dtype
        if function in LIKE:
            kind, shape = (shape.dtype if kind is None else kind), shape.shape
            kind = None if kind is np.dtype(object) else kind
        filling = rest[0] if function is np.full else {**CREATING, **LIKE}[function]
        whole = kind is None and function is np.full and isinstance(filling, WHOLE)
        if whole or kind is not None and np.dtype(kind).kind in "iub":
            return np.full(shape, filling, kind)
        made = np.empty(shape, object)
        made[...] = exactly(filling)
        return made

    def chunks(self, *ends):
        """The iterations of a parallel loop in at most 64 parts."""
        return parallel_loops.chunks(*ends)

    def begun(self, before, start: int):
        """What a chunk of a parallel loop begins with."""
        made = parallel_loops.begun(before, start)
        return each(exactly, made) if isinstance(made, np.ndarray) else made

    def rebuilt(self, function: types.FunctionType) -> types.FunctionType:
        """The marked function, its constants exact."""
        if function not in self.functions:
            namespace = _Namespace(_twin=self, _slice=slice)
            found = inspect.getclosurevars(function)
            for name, value in {**found.globals, **found.nonlocals}.items():
                namespace[name] = self.converted(value)
            made = types.FunctionType(marked(function), namespace, function.__name__)
            defaults = tuple(map(self.converted, function.__defaults__ or ()))
            made.__defaults__ = defaults or None
            self.functions[function] = made
        return self.functions[function]

    def converted(self, value):
        """A constant of a kernel's surroundings."""
        if isinstance(value, (float, np.floating)):
            return self.literal(float(value))
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return self.constant_array(value)
        if isinstance(value, tuple):
            items = [self.converted(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        return value


class _Namespace(dict):
    """The globals of a marked function."""


def _is_a(value, kinds) -> bool:
    """isinstance of a number, floating-point in fixed point, too."""
    whole = isinstance(value, WHOLE)
    return any(kind is int if whole else kind is float for kind in np.atleast_1d(kinds))


def _only_whole(operands) -> bool:
    return all(isinstance(x, np.ndarray) and x.dtype.kind in "iub" for x in operands)


def run_fixed_twin(kernel, units, args: tuple):
    """Run a kernel's Python source in the units of a lifted one.

    Args:
        kernel: the plain Python function.
        units: with `backend`, `sites`, `rows` and `exponents`.
        args: numbers, arrays (those of floats are written), tuples of these.

    Returns:
        (result, places): what the kernel returns, as floats, and the places in the order of the
        rows, with what they counted.
    """
    twin = FixedTwin(units.backend, units.sites, units.rows, units.exponents)
    inner = getattr(kernel, "py_func", kernel)
    first = inner.__code__.co_firstlineno
    known: dict[int, np.ndarray] = {}

    def at(operation: str, n: int = 0) -> tuple:
        return (), (inner.__name__, first, 0, operation, n)

    def inside(value):
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            if id(value) not in known:
                known[id(value)] = each(exactly, value)
            return known[id(value)]
        if isinstance(value, tuple):
            items = [inside(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, Fields):
            held = {n: getattr(value, n) for n in value.names()}
            exact = {n: exactly(x) if isinstance(x, REAL) else inside(x) for n, x in held.items()}
            objects.append((value, Fields(value._kind, **exact)))
            return objects[-1][1]
        return value

    objects: list[tuple[Fields, Fields]] = []
    given = [twin.entered(at("enter", n), inside(a)) for n, a in enumerate(args)]
    with np.errstate(over="ignore"):
        result = twin.rebuilt(inner)(twin.chain_of(at("call")), *given)
    returned = twin.place(at("returned"))
    result = _plain(twin, result, returned)
    for original in _arrays(args):
        if id(original) in known:
            original[...] = each(float, known[id(original)]).astype(original.dtype)
    for before, after in objects:
        for name, value in zip(after.names(), after.held(), strict=True):
            if isinstance(value, REAL):
                setattr(before, name, float(value))
            elif not isinstance(value, np.ndarray):
                setattr(before, name, value)
    return result, twin.places


def _plain(twin, value, place):
    if isinstance(value, tuple):
        return tuple(_plain(twin, v, place) for v in value)
    if is_real_array(value):
        rounded = each(lambda x: float(taken(x, place)), value)
        return rounded.astype(float)
    return float(taken(value, place)) if isinstance(value, REAL) else value


def _arrays(values):
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(value)
        elif isinstance(value, Fields):
            yield from _arrays(value.held())
        elif isinstance(value, np.ndarray):
            yield value
