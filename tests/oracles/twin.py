"""Runs a kernel's own Python source on self-rounding scalars: the twin of its lifted form.

The source is parsed; float literals become scalars of the backend, `/` and `**` become calls that
know about integers, and every global that the kernel reads is replaced by its exact counterpart:
modules by shims, constants by scalars, called kernels by their own twins. Integers stay Python's
and NumPy's.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import inspect
import math
import operator
import textwrap
import types

import numba
import numpy as np
from numba.np.ufunc.dufunc import DUFunc
from scipy import special

from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.library import axes, construction, places
from sciprec.precision.library.sequences import MODES
from sciprec.precision.library.table import LIBRARY as OF_ENGINE
from sciprec.precision.operations import reduce
from tests.oracles import derived, exact, functions, library, pairs, parallel_loops, ranks
from tests.oracles.contracted import contracted
from tests.oracles.fields import ExactFields, ExactMembers, Fields
from tests.oracles.pairs import Pair
from tests.oracles.scalar import (
    WHOLE,
    Exact,
    at_operation,
    elementwise,
    entered,
    exactly,
    result,
)

ELEMENTARY = {getattr(math, n): n for n in functions.FUNCTIONS if hasattr(math, n)}
ELEMENTARY |= {getattr(np, n): n for n in functions.FUNCTIONS if hasattr(np, n)}
ELEMENTARY |= {np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan", np.arctan2: "atan2"}
ELEMENTARY |= {np.power: "pow"}
ELEMENTARY |= {getattr(special, n): n for n in functions.FUNCTIONS if hasattr(special, n)}
ELEMENTARY[special.gammaln] = "lgamma"

OPERATIONS = {
    math.sqrt: exact.sqrt, np.sqrt: exact.sqrt, math.fabs: exact.absolute, np.fabs: exact.absolute,
    abs: exact.absolute, np.abs: exact.absolute, np.floor: derived.floor, np.ceil: derived.ceil,
    np.trunc: derived.trunc, np.rint: derived.rint,
    np.negative: exact.neg, np.add: exact.add,
    np.subtract: exact.sub, np.multiply: exact.mul, np.divide: exact.div, np.mod: derived.mod,
    np.floor_divide: derived.floordiv, min: derived.minimum, max: derived.maximum,
    np.fmin: derived.fmin, np.fmax: derived.fmax, np.minimum: derived.least,
    np.maximum: derived.greatest,
    math.copysign: derived.copysign, np.copysign: derived.copysign, math.fmod: derived.fmod,
    np.fmod: derived.fmod, np.square: derived.square, np.reciprocal: derived.reciprocal,
    np.sign: derived.sign,
}  # fmt: skip
REDUCTIONS = {  # whose order the engine names: its own kernels, run on exact scalars
    np.sum: reduce.total, np.mean: reduce.mean, np.dot: reduce.dot, np.max: reduce.largest,
    np.min: reduce.smallest, np.prod: reduce.running_product, np.cumsum: reduce.running_sum,
    np.vdot: reduce.vdot,
}  # fmt: skip
LIBRARY = OF_ENGINE
BUILTINS = ("float", "min", "max", "abs", "divmod", "round", "complex")
INTEGER_ALIKE = {
    abs, min, max, np.abs, np.minimum, np.maximum, np.mod, np.floor_divide, np.add, np.subtract,
    np.multiply, np.negative, np.square, np.sign, np.fmin, np.fmax,
}  # fmt: skip
PREDICATES = {np.isnan: math.isnan, np.isinf: math.isinf, np.isfinite: math.isfinite}
CASTS = {float, np.float64, np.float32, np.float16, numba.float64, numba.float32}
OF_SUMS = {"product": "_multiplied", "accumulate": "_added", "subtract": "_less"}
_WHOLE_SUMS = {exact.mul: operator.mul, exact.add: operator.add, exact.sub: operator.sub}
_AS_ARRAYS = {np.asarray: None, np.ascontiguousarray: "C", np.asfortranarray: "F"}
ENGINE = "sciprec.precision"


class ExactArray(np.ndarray):
    """An array of self-rounding scalars; what is stored is rounded to the storage arithmetic.

    Attributes:
        backend: whose arithmetics these are.
        narrow: None, or binary32 in the storage's rounding, to which an array of float32 of a wide
            arithmetic rounds what it is given once more.
        first: of an argument, its elements as they came.
        pairs: whether it holds complex numbers.
    """

    backend = None
    narrow = None
    first = None
    pairs = False

    def __array_finalize__(self, source) -> None:
        self.backend = getattr(source, "backend", None)
        # a copy is a new array, and holds what is computed
        self.narrow = None if self.base is None else getattr(source, "narrow", None)
        self.pairs = getattr(source, "pairs", False)

    def __array_ufunc__(self, ufunc, method, *operands, **more):
        """Operators on arrays alone, which NumPy applies to the elements."""
        plain = [x.view(np.ndarray) if isinstance(x, ExactArray) else x for x in operands]
        made = getattr(ufunc, method)(*plain, **more)
        if not isinstance(made, np.ndarray) or made.dtype != object:
            return made
        made = made.view(ExactArray)
        made.__array_finalize__(self)
        return elementwise(lambda x: x, [made])

    def kept(self, value):
        """An element of a new array that an operation on this one makes: arrays hold numbers of the
        storage arithmetic.
        """
        if isinstance(value, Pair):
            return Pair(self.kept(value.real), self.kept(value.imag), value.twin)
        if isinstance(value, Exact) and value.arithmetic is self.backend.compute:
            return _number(value, self.backend.storage, self.backend)
        return value

    def __setitem__(self, index, value) -> None:
        if isinstance(value, np.ndarray):
            value = _array(value, self.backend)
            if self.pairs and value.size:
                value = elementwise(twin_of(self.backend).pair_of, [value])
        else:
            value = _number(value, self.backend.storage, self.backend)
            value = twin_of(self.backend).pair_of(value) if self.pairs else value
        if self.narrow is not None:
            value = _narrowed(value, self)
        super().__setitem__(index, value)

    def astype(self, dtype, **more):
        """The elements as complex numbers, or as they are."""
        if _is_complex_type(dtype):
            return elementwise(lambda x: +twin_of(self.backend).pair_of(x), [self])
        return super().astype(dtype, **more)

    def _reduced(self, function, *others):
        return Twin(self.backend).rebuild(function)(self, *others)

    def max(self):
        """The largest element."""
        return self._reduced(reduce.largest)

    def min(self):
        """The smallest element."""
        return self._reduced(reduce.smallest)

    def sum(self, axis=None, dtype=None):
        """The pairwise sum, or sums along an axis."""
        return Twin(self.backend).convert(np.sum)(self, axis)

    def cumsum(self, axis=None):
        """Running sums, along an axis or of all."""
        return Twin(self.backend).convert(np.cumsum)(self, axis)

    def mean(self):
        """The pairwise sum over the number of elements."""
        return self._reduced(reduce.mean)

    def var(self):
        return library.var(Twin(self.backend), self)

    def std(self):
        return library.std(Twin(self.backend), self)

    def dot(self, other):
        """The sequential sum of products."""
        return self._reduced(reduce.dot, other)


def _sorted(a):
    """np.sort of a vector: NaN last."""
    if isinstance(a, ExactArray):
        made = np.array([None, *sorted(a, key=lambda x: (math.isnan(x), x.value))])[1:]
        made = made.view(ExactArray)
        made.backend = a.backend
        return made
    return np.sort(a)


def _is_a(value, kinds) -> bool:
    """isinstance; self-rounding scalars are what is named by `float`, here a function."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    plain = tuple(k for k in kinds if isinstance(k, type))
    return isinstance(value, plain) or isinstance(value, Exact) and len(plain) < len(kinds)


def as_float(value):
    """The operands of arithmetic of indices: integers, and floats as they are."""
    return value.value if isinstance(value, Exact) else value


def _number(value, arithmetic, backend) -> Exact:
    """A number of any kind rounded by one role's arithmetic, for use in the compute role."""
    if pairs.is_complex(value):
        parts = (_number(x, arithmetic, backend) for x in (value.real, value.imag))
        return Pair(*parts, twin_of(backend))
    if isinstance(value, Exact):
        if arithmetic == backend.compute and not getattr(arithmetic, "mixed", False):
            return exactly(value.value, backend.compute)
        value = value.value
    return exactly(Exact(value, arithmetic).value, backend.compute)


def _array(values: np.ndarray, backend) -> ExactArray:
    made = np.empty(values.shape, dtype=object)
    for index in np.ndindex(values.shape):
        made[index] = _number(values[index], backend.storage, backend)
    made = made.view(ExactArray)
    made.backend = backend
    made.pairs = getattr(values, "pairs", False) or values.dtype.kind == "c"
    return made


def _narrowed(value, array: ExactArray):
    """A number or an array of numbers as an array of float32 in a wide arithmetic keeps it."""
    if isinstance(value, np.ndarray):
        return elementwise(lambda x: _narrowed(x, array), [value])
    if isinstance(value, Pair):
        return Pair(_narrowed(value.real, array), _narrowed(value.imag, array), value.twin)
    return exactly(exact.round_exact(value.value, array.narrow), array.backend.compute)


class _Source(ast.NodeTransformer):
    """Marks float literals, divisions and powers, and cuts parallel loops into chunks; everything
    else runs as it is written.

    Args:
        forms_sums: whether sums of products that loops form have arithmetics of their own.
    """

    def __init__(self, forms_sums: bool) -> None:
        self.outside: dict[ast.For, set[str]] = {}
        self.parallel, self.forms_sums = False, forms_sums
        self.of_sums: dict[ast.AST, tuple[str, int]] = {}

    def _call(self, name: str, *operands: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(name, ast.Load()), list(operands), [])

    def visit_Constant(self, node):
        return self._call("_literal", node) if isinstance(node.value, (float, complex)) else node

    def visit_Attribute(self, node):
        of_dtype = node.attr == "type" and getattr(node.value, "attr", "") == "dtype"
        node = self.generic_visit(node)
        if of_dtype:
            return node.value  # it makes arrays, and casts
        return self._call("_dtype_of", node.value) if node.attr == "dtype" else node

    def visit_Call(self, node):
        node = self.generic_visit(node)
        if node not in self.of_sums:
            return node
        x, y, total = node.args
        made = self._call("_added", total, self._call("_multiplied", x, y))
        return ast.copy_location(made, node)

    def visit_BinOp(self, node):
        node = self.generic_visit(node)
        if node in self.of_sums:
            name = OF_SUMS[self.of_sums[node][0]]
            return ast.copy_location(self._call(name, node.left, node.right), node)
        marked = {ast.Div: "_divide", ast.Pow: "_power", ast.MatMult: "_matmul"}
        name = marked.get(type(node.op))
        if name is None:
            return node
        return ast.copy_location(self._call(name, node.left, node.right), node)

    def visit_AugAssign(self, node):
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        for part in ast.walk(read):
            ast.copy_location(part, node)
        whole = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        if node in self.of_sums:
            self.of_sums[whole] = self.of_sums[node]
        updated = self.visit(whole)
        if isinstance(node.target, ast.Name):
            updated = self._call("_updated", read, updated)
        return ast.copy_location(ast.Assign([node.target], updated), node)

    def visit_For(self, node):
        if self.parallel or not parallel_loops.is_parallel(node):
            return self.generic_visit(node)
        reduced = [
            r._replace(operation="i" * (r.operation[0] == "i") + "accumulate")
            if r.at in self.of_sums else r
            for r in parallel_loops.reductions(node, self.outside[node])
        ]  # fmt: skip
        self.parallel = True
        node = self.generic_visit(node)
        self.parallel = False
        return parallel_loops.chunked(node, reduced) if reduced else node

    def visit_FunctionDef(self, node):
        self.parallel = self.parallel or parallel_loops.is_in_order(node)
        if self.forms_sums:
            self.of_sums |= contracted(node)
        node.decorator_list, node.returns = [], None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        for loop in (n for n in ast.walk(node) if isinstance(n, ast.For)):
            self.outside[loop] = parallel_loops.names_outside(node, loop)
        return self.generic_visit(node)


def _told(backend):
    """The backend; where its roles differ in format, each arithmetic is told so."""
    if isinstance(backend, types.SimpleNamespace):
        return backend
    roles = {n: getattr(backend, n) for n in ("storage", "compute", "accumulate", "matmul")}
    told_already = getattr(backend.compute, "mixed", False)
    if told_already or len({role.format for role in roles.values()}) == 1:
        return backend
    told = {
        n: types.SimpleNamespace(
            format=a.format, rounding=a.rounding, aligned=a.aligned, mixed=True
        )
        for n, a in roles.items()
    }  # fmt: skip
    return types.SimpleNamespace(carrier=backend.carrier, **told)


class Twin:
    """Everything that the twins of one backend share: conversions, shims and rebuilt kernels."""

    def __init__(self, backend) -> None:
        self.backend = _told(backend)
        self.rebuilt: dict[types.FunctionType, types.FunctionType] = {}
        self.own = {
            "_literal": self.literal,
            "_divide": self.divide,
            "_power": self.power,
            "_chunks": parallel_loops.chunks,
            "_begun": parallel_loops.begun,
            "_updated": _updated,
            "_multiplied": functools.partial(self._of_sum, exact.mul, self.backend.matmul),
            "_added": functools.partial(self._of_sum, exact.add, self.backend.accumulate),
            "_less": functools.partial(self._of_sum, exact.sub, self.backend.accumulate),
            "_dtype_of": lambda a: Kind(self, a) if isinstance(a, ExactArray) else a.dtype,
            "isinstance": _is_a,
            "type": lambda x: self.literal if isinstance(x, Exact) else type(x),
            "_matmul": lambda a, b: self.rebuild(reduce.dot)(a, b),
        }
        for name in BUILTINS:
            self.own[name] = self.convert(getattr(builtins, name))

    def _of_sum(self, operation, arithmetic, x, y):
        """An operation of a sum of products that a loop forms; of integers Python's own."""
        if isinstance(x, WHOLE) and isinstance(y, WHOLE):
            return _WHOLE_SUMS[operation](x, y)
        return self.apply(operation, x, y, arithmetic=arithmetic)

    def literal(self, value: float) -> Exact:
        """A constant of the source or a cast, rounded to the compute arithmetic."""
        if pairs.is_complex(value):
            return Pair(self.literal(value.real), self.literal(value.imag), self)
        return +Exact(value, self.backend.compute)

    def argument(self, value):
        """A number, array or tuple from outside, rounded to the storage arithmetic."""
        if isinstance(value, np.ndarray):
            return self._given_array(value) if value.dtype.kind in "fc" else value
        if isinstance(value, tuple):
            items = [self.argument(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, (float, np.floating)) or pairs.is_complex(value):
            return _number(value, self.backend.storage, self.backend)
        return ExactFields(self, value) if isinstance(value, Fields) else value

    def operand(self, x) -> Exact:
        """A real number as an operand."""
        return Exact(x, self.backend.compute)

    def pair_of(self, x) -> Pair:
        """A number as a complex one."""
        return pairs.pair_of(self, x)

    def _given_array(self, values: np.ndarray) -> ExactArray:
        made = _array(values, self.backend)
        wide = np.dtype(getattr(self.backend, "carrier", np.float64)) == np.float64
        if values.dtype in (np.float32, np.complex64) and wide:
            rounding = self.backend.storage.rounding
            rounding = "rn" if rounding in exact.AT_RANDOM else rounding
            made.narrow = types.SimpleNamespace(
                format=FORMATS["binary32"], rounding=rounding, aligned=False
            )
        made.first = np.array(made)
        return made

    def stored(self, value) -> Exact:
        """A number that is kept in an array."""
        return _number(value, self.backend.storage, self.backend)

    def known(self, value: float) -> Exact:
        """A number that some role has rounded."""
        return exactly(value, self.backend.compute)

    def array(self, numbers, shape: tuple[int, ...]) -> ExactArray:
        """A new array of numbers, each kept."""
        made = np.empty(shape, dtype=object)
        made[...] = np.array(numbers, dtype=object).reshape(shape)
        return _array(made, self.backend)

    def returned(self, value):
        """A result, rounded to the storage arithmetic like everything that leaves a kernel."""
        if isinstance(value, tuple):
            return tuple(self.returned(v) for v in value)
        if isinstance(value, ExactArray):
            return _array(value, self.backend)
        if isinstance(value, (Exact, Pair)):
            return _number(value, self.backend.storage, self.backend)
        return value

    def divide(self, a, b):
        """a / b; two integers are brought to the format first."""
        return Exact(a, self.backend.compute) / b if isinstance(a, WHOLE) else a / b

    def power(self, a, b):
        """a ** b: repeated multiplication for an integer exponent, else the elementary function."""
        if isinstance(b, WHOLE) and isinstance(a, WHOLE):
            return a**b
        if isinstance(a, Pair) and not isinstance(b, WHOLE) or isinstance(b, Pair):
            return pairs.applied(self, "pow", (a, b))
        if not isinstance(b, WHOLE):
            return self.elementary("pow", a, b)
        own = at_operation(self.backend.compute, "power")
        if own is not self.backend.compute:
            if isinstance(a, np.ndarray):
                return elementwise(lambda x: self.power(x, b), (a,))
            a = exactly(entered(a, own), self.backend.compute)
        power, square, left = None, a, abs(int(b))
        while left:
            if left & 1:
                power = square if power is None else power * square
            left >>= 1
            if left:
                square = square * square
        power = self.literal(1.0) if power is None else power
        return 1 / power if b < 0 else +power

    def apply(self, operation, *operands, arithmetic=None) -> Exact:
        """An operation of `exact` in a role's arithmetic (compute unless said)."""
        if any(isinstance(x, np.ndarray) for x in operands):
            return elementwise(
                lambda *x: self.apply(operation, *x, arithmetic=arithmetic), operands
            )
        if any(map(pairs.is_complex, operands)):
            return pairs.applied(self, pairs.BY_STEP[operation], operands, arithmetic)
        given = arithmetic or self.backend.compute
        arithmetic = at_operation(given, operation)
        own = self.backend.compute if arithmetic is given else arithmetic
        values = [entered(x, own) for x in operands]
        made = result(operation(*values, arithmetic), arithmetic)
        return exactly(made.value, self.backend.compute)

    def filled(self, filling: float, shape, dtype=float) -> np.ndarray:
        """A new array: of scalars, or of integers where the dtype says so."""
        if isinstance(dtype, type) and issubclass(dtype, WHOLE):
            return np.full(shape, filling, dtype)
        if isinstance(dtype, Kind):
            return dtype.filled(filling, shape)
        if _is_complex_type(dtype):
            return _array(np.full(shape, filling, complex), self.backend)
        return _array(np.full(shape, filling), self.backend)

    def elementary(self, name: str, *operands) -> Exact:
        """An elementary function, rounded once."""
        if any(map(pairs.is_complex, operands)):
            return pairs.applied(self, name, operands)
        if any(isinstance(x, np.ndarray) for x in operands):
            return elementwise(functools.partial(self.elementary, name), operands)
        return self.apply(lambda *v: functions.elementary(name, v[:-1], v[-1]), *operands)

    def from_bits(self, name: str, u) -> Exact:
        """A random variate of a 32-bit integer, rounded once."""
        value = functions.from_bits(name, int(u), at_operation(self.backend.compute, name))
        return exactly(value, self.backend.compute)

    def convert(self, value):
        """The exact counterpart of anything that a kernel's source may name."""
        if isinstance(value, types.ModuleType):
            return _Shim(value, self)
        if isinstance(value, (float, np.floating)) or pairs.is_complex(value):
            return self.literal(value)
        if isinstance(value, tuple):
            items = [self.convert(v) for v in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        if isinstance(value, np.ndarray):
            return self.argument(value)
        if isinstance(value, (bool, int, str, np.integer, types.NoneType)):
            return value
        if isinstance(value, enum.EnumMeta) and not issubclass(value, int):
            return ExactMembers(self, value)
        return self.function(value)

    def function(self, value):
        """The exact counterpart of a function, type or kernel."""
        name, module = getattr(value, "__name__", ""), getattr(value, "__module__", "") or ""
        if value in CASTS:
            return self.literal
        if value in (np.real, np.imag):
            return lambda x: getattr(x, name)
        if value in pairs.NAMES:
            return functools.partial(self._of_pairs, value)
        if value in ELEMENTARY:
            return functools.partial(self.elementary, ELEMENTARY[value])
        if value in OPERATIONS:
            return functools.partial(self._operation, value)
        if value in PREDICATES:
            return lambda x: (
                elementwise(PREDICATES[value], [x]).astype(bool)
                if isinstance(x, np.ndarray)
                else PREDICATES[value](x)
            )
        if module.startswith(ENGINE):
            counterpart = self._engine_function(name)
            if counterpart is not None:
                return counterpart
        if value in (np.empty, np.zeros, np.ones):
            return functools.partial(self.filled, float(value is np.ones))
        if value is np.full_like:
            return lambda a, fill_value: Kind(self, a).filled(fill_value, a.shape)
        if value is np.full:
            return lambda shape, fill_value, dtype=float: self.filled(fill_value, shape, dtype)
        if value is numba.prange:
            return range
        if value is numba.typed.List:
            return list
        if value is np.copy:
            return lambda array: array.copy()
        if value in _AS_ARRAYS:
            return functools.partial(np.asanyarray, order=_AS_ARRAYS[value])
        if isinstance(value, DUFunc):
            return functools.partial(self._broadcast, self.rebuild(value._dispatcher.py_func))
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            return functools.partial(self._named, value)
        if value is np.sort:
            return _sorted
        if value is np.array:
            return self._of_list
        if value in (np.concatenate, np.hstack, np.vstack, np.stack, np.column_stack):
            return functools.partial(self._joined, value)
        if value is np.finfo:
            return lambda _: types.SimpleNamespace(eps=self.literal(2.0**-52))
        if value in (np.sum, np.cumsum):
            return functools.partial(self._summed, value)
        if value in REDUCTIONS:
            return self.rebuild(REDUCTIONS[value])
        if value is np.arange:
            return self._range
        if module == places.__name__:
            counted = getattr(ranks, value.__name__)
            return lambda *given: self.argument(counted(*(as_float(x) for x in given)))
        if value in (np.convolve, np.correlate):
            made = self.rebuild(LIBRARY[value])
            usual = "full" if value is np.convolve else "valid"
            return lambda a, v, mode=usual: made(a, v, MODES[mode])
        if value is np.bincount:
            weighted = self.rebuild(LIBRARY[value])
            return lambda x, *weights: weighted(x, *weights) if weights else np.bincount(x)
        if value in library.COUNTERPARTS:
            return functools.partial(library.COUNTERPARTS[value], self)
        if value in LIBRARY:
            return self.rebuild(LIBRARY[value])
        plain = inspect.unwrap(getattr(value, "py_func", value))
        if isinstance(plain, types.FunctionType) and not plain.__module__.startswith("numpy"):
            return self.rebuild(plain)
        return value

    def _of_pairs(self, function, *operands):
        """A function of complex numbers, or one that real ones have, too."""
        if any(isinstance(x, np.ndarray) for x in operands):
            return elementwise(functools.partial(self._of_pairs, function), operands)
        made = pairs.called(self, function, operands)
        if made is not None:
            return made
        return operands[0] if function is np.conj else self._operation(function, *operands)

    def _named(self, kind, *fields, **named):
        """A named tuple, which holds numbers of the storage arithmetic."""
        made = kind(*fields, **named)
        return kind(*(self.stored(x) if isinstance(x, (Exact, Pair)) else x for x in made))

    def _broadcast(self, function, *operands):
        """A function of numbers, of arrays too."""
        if any(isinstance(x, np.ndarray) for x in operands):
            return elementwise(lambda *x: self.returned(function(*x)), operands)
        return function(*operands)

    def _operation(self, function, *operands):
        if function in INTEGER_ALIKE and all(isinstance(x, WHOLE) for x in operands):
            return function(*operands)
        if len(operands) > 2:
            return functools.reduce(functools.partial(self._operation, function), operands)
        if len(operands) == 1 and function in (min, max):
            return self.rebuild(reduce.smallest if function is min else reduce.largest)(*operands)
        return self.apply(OPERATIONS[function], *operands)

    def _of_list(self, values, dtype=None):
        """np.array of a list: of numbers, or of integers alone."""
        if dtype is None and any(isinstance(x, Exact) for x in values):
            return _array(np.array(values, dtype=object), self.backend)
        return np.array(values, dtype)

    def _joined(self, function, arrays, **more) -> np.ndarray:
        """Arrays of numbers, or of integers alone, side by side."""
        made = function(arrays, **more)
        return _array(made, self.backend) if made.dtype == object else made

    def _summed(self, function, a, axis=None, dtype=None):
        """np.sum or np.cumsum, along an axis or of all."""
        if not isinstance(a, ExactArray):
            return function(a, axis) if dtype is None else function(_array(a, self.backend), axis)
        if axis is None:
            return self.rebuild(REDUCTIONS[function])(a)
        axis %= a.ndim
        if function is np.cumsum:
            return self.rebuild(axes.running_sum_along)(a, axis)
        return self.rebuild(axes.total_along)(a, a.shape[:axis] + a.shape[axis + 1 :], axis)

    def _range(self, *ends, dtype=None):
        """np.arange of integers, or of numbers."""
        if dtype != self.literal and all(isinstance(x, WHOLE) for x in ends):
            return np.arange(*ends, dtype=dtype)
        start, stop, step = {1: (0, *ends, 1), 2: (*ends, 1), 3: ends}[len(ends)]
        return self.rebuild(construction.arange)(self.literal(start), stop, step)

    def _engine_function(self, name: str):
        roles = {
            "accumulate": (exact.add, self.backend.accumulate),
            "product": (exact.mul, self.backend.matmul),
            "fma": (exact.fma, self.backend.compute),
        }
        if name in roles:
            operation, arithmetic = roles[name]
            return functools.partial(self.apply, operation, arithmetic=arithmetic)
        if name == "sum_block":
            return lambda a: 64 if a.pairs else 128
        if name == "zeros_for":
            return self._zeros_for
        if name in functions.FROM_BITS:
            return functools.partial(self.from_bits, name)
        if name in functions.FUNCTIONS:
            return functools.partial(self.elementary, name)
        return None

    def _zeros_for(self, shape, a, b):
        pairs = any(getattr(x, "pairs", False) for x in (a, b))
        return self.filled(0.0, shape, complex if pairs else float)

    def rebuild(self, function: types.FunctionType) -> types.FunctionType:
        """The kernel compiled from its marked source, its globals and closure converted."""
        if function in self.rebuilt:
            return self.rebuilt[function]
        namespace = _Namespace(self, function)
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        tree.body[0].args.defaults = [ast.Constant(None)] * len(function.__defaults__ or ())
        roles = self.backend.accumulate, self.backend.matmul
        sums = any(role != self.backend.compute for role in roles)
        users = not (function.__module__ or "").startswith("sciprec.")
        tree = ast.fix_missing_locations(_Source(sums and users).visit(tree))
        code = compile(tree, inspect.getfile(function), "exec")
        made: dict = {}
        exec(code, dict(namespace), made)
        twin = types.FunctionType(made[function.__name__].__code__, namespace)
        twin.__defaults__ = tuple(
            self.function(v) if callable(v) else self.argument(v)
            for v in function.__defaults__ or ()
        )
        namespace[function.__name__] = self.rebuilt[function] = twin
        namespace.fill()
        return twin


class Kind:
    """The dtype of an array of exact numbers, or its type: makes arrays alike, and casts."""

    def __init__(self, twin: Twin, array: ExactArray) -> None:
        self.twin, self.array = twin, array

    def __call__(self, value):
        return self.twin.pair_of(value) if self.array.pairs else self.twin.literal(value)

    def filled(self, filling: float, shape) -> ExactArray:
        """An array that keeps what is stored as this one does."""
        made = self.twin.filled(0.0, shape, complex if self.array.pairs else float)
        made.narrow = self.array.narrow
        made[...] = np.full(shape, filling, object)
        return made


def _is_complex_type(dtype) -> bool:
    """Whether a dtype, or what a twin has in its place, is that of complex numbers."""
    return getattr(dtype, "args", (dtype,))[0] in (complex, np.complex128, np.complex64)


_TWINS: dict[int, Twin] = {}


def twin_of(backend) -> Twin:
    """A twin of a backend, for numbers alone; it keeps the backend, whose identity is its key."""
    if id(backend) not in _TWINS:
        _TWINS[id(backend)] = Twin(backend)
        _TWINS[id(backend)].kept = backend
    return _TWINS[id(backend)]


class _Namespace(dict):
    """The converted globals and closure variables that a kernel names."""

    def __init__(self, twin: Twin, function: types.FunctionType) -> None:
        super().__init__(twin.own)
        self.twin, self.function = twin, function

    def fill(self) -> None:
        """Convert what the kernel names (after the kernel is known, so that it may call itself)."""
        found = inspect.getclosurevars(self.function)
        for name, value in {**found.globals, **found.nonlocals}.items():
            if name not in self:
                self[name] = self.twin.convert(value)


class _Shim:
    """A module whose members are their exact counterparts."""

    def __init__(self, module: types.ModuleType, twin: Twin) -> None:
        self._module, self._twin = module, twin

    def __getattr__(self, name: str):
        return self._twin.convert(getattr(self._module, name))


def run_twin(kernel, backend, args: tuple, kind: type[Twin] | None = None):
    """Run a kernel's Python source in exact arithmetic; arrays among the arguments are written
    where the kernel writes them.

    Args:
        kernel: a plain Python function, or a jitted one.
        backend: any object with the arithmetics `storage`, `compute`, `accumulate` and `matmul`.
        args: numbers, float64 arrays, integer arrays, tuples of these.
        kind: of twin, with functions of its own.

    Returns:
        What the kernel returns, self-rounding scalars as floats.
    """
    twin = (kind or Twin)(backend)
    seen = {id(a): twin.argument(a) for a in args}
    with np.errstate(all="ignore"):
        result = twin.function(kernel)(*(seen[id(a)] for a in args))
    for original in args:
        _write(original, seen[id(original)])
    return _plain(twin.returned(result))


def _write(original, made) -> None:
    """Write what a kernel has written into an argument, an array in a tuple included."""
    if isinstance(made, ExactArray):
        for index in np.ndindex(made.shape):
            if made[index] is not made.first[index]:
                original[index] = _plain(made[index])
    elif isinstance(made, ExactFields):
        made.write_into(original, _write)
    elif isinstance(made, tuple):
        for before, after in zip(original, made, strict=True):
            _write(before, after)


def _updated(value, new):
    """The object that `value` stands for after `value op= ...`: an array keeps its place."""
    if not isinstance(value, np.ndarray):
        return new
    value[...] = new
    return value


def _plain(value):
    if isinstance(value, Exact):
        return value.value
    if isinstance(value, Pair):
        return complex(value)
    pairs = isinstance(value, ExactArray) and any(isinstance(x, Pair) for x in value.flat)
    if pairs or isinstance(value, ExactArray) and value.pairs:
        return np.array([complex(x) for x in value.ravel()], dtype=complex).reshape(value.shape)
    if isinstance(value, ExactArray):
        return np.array([x.value for x in value.ravel()], dtype=np.float64).reshape(value.shape)
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return value
