"""Operations: one row for each, with everything that the engine knows of it.

`OPERATIONS.add(Operation("sinpi", 1, evaluate=sinpi))` is all that a further elementary function
costs: kernels call `sinpi` itself, a function of binary64 numbers without branches (see
`elementary`).
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from inspect import signature
from types import ModuleType

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.foundation.registry import Registry
from sciprec.precision.compiled.lowering import helper
from sciprec.precision.elementary.bits import ufp
from sciprec.precision.elementary.directed import (
    directed_atan2,
    directed_erfc,
    directed_exp,
    directed_exp2,
    directed_gamma,
    directed_hypot,
    directed_pow,
    directed_sinc,
    downward,
    from_zero,
    on_side,
    toward_zero,
    upward,
)
from sciprec.precision.elementary.exponential import cosh, exp, exp2, expm1, sinh, tanh
from sciprec.precision.elementary.functions import (
    narrow_hypot,
    narrow_lgamma,
    narrow_pow,
    snapped,
    snapped_and_bounded,
)
from sciprec.precision.elementary.gamma import gamma, lgamma
from sciprec.precision.elementary.logarithm import (
    acosh,
    asinh,
    atanh,
    exponential_from_bits,
    log,
    log1p,
    log2,
    log10,
    pow,
)
from sciprec.precision.elementary.normal import erf, erfc, normal_from_bits, uniform_from_bits
from sciprec.precision.elementary.power import cbrt, hypot
from sciprec.precision.elementary.trigonometric import acos, asin, atan, atan2, cos, sin, sinc, tan
from sciprec.precision.operations import reduce

_MODULES = {"": builtins, "math": math, "np": np, "operator": operator, "reduce": reduce}


@dataclass(frozen=True)
class Operation:
    """One operation of generated modules.

    Args:
        name: in generated modules and profiles.
        arity: how many operands it takes.
        called: what kernels call it by, as in "math.asin np.arcsin special.gamma", the latter of
            SciPy; `evaluate` itself besides.
        evaluate: of an elementary function, on binary64 numbers (see `elementary`).
        platform: the platform's function, in formats of more than 24 bits where `evaluate` is off
            by more than an ulp of binary64.
        bounded: whether an `evaluate` of one operand leaves the range of binary64 at finite ones.
        infinite: whether it has infinite limits.
        side: what moves a result that comes close to a number of the format to the function's side
            of it (see `directed`), for functions of one operand that are exact at 0 alone.
        narrowed, directed_by: `evaluate` for results that are rounded once into at most 24 bits,
            to nearest and toward one side, where the two follow from the above in no usual way.
        of_bits: whether the operand of `evaluate` is a 32-bit integer.
        whole: Numba's own function for integers and whatever else is no float; None where these
            become numbers of the backend.
        exact: Numba's own function for floats, whose results are operands, or need no more bits.
        toward: LLVM's rounding to an integer that the operation is.
        step: whether techniques of rounding have it as a method of its name, which rounds once.
        signed: the method of theirs that it is, where it gives an operand with another sign; ""
            where with the same one.
        infix: Python's operator for it; it has a form in place, too, such as `iadd`.
        joins: the operation that joins its results over the chunks of a parallel loop.
        role: of a backend, whose rounding it has; `compute` where that is "".
        like: the operation that it is, in a role of its own.
        largest: whether it gives the largest operand.
        promotes: whether real operands become complex ones.
        work: as how many operations of a machine it counts; 0 where it rounds nothing, None for an
            elementary function.
        moves: "load" or "store", where it moves numbers from or to an array, or a field.
        quiet: whether it writes into no array; operations on elements do not anyway.
        rows: of a table that a call of it has, where these are not one for the result and one for
            each operand.
        counted: whether profiles count it.

    Raises:
        InputError: the arity is missing, or is not that of `evaluate`.
    """

    name: str
    arity: int = 0
    called: str = ""
    evaluate: Callable | None = None
    platform: Callable | None = None
    bounded: bool = False
    infinite: bool = False
    side: Callable | None = None
    narrowed: Callable | None = None
    directed_by: Callable | None = None
    of_bits: bool = False
    whole: Callable | None = None
    exact: Callable | None = None
    toward: str = ""
    step: bool = False
    signed: str | None = None
    infix: type[ast.operator] | None = None
    joins: str = ""
    role: str = ""
    like: str = ""
    largest: bool = False
    promotes: bool = False
    work: int | None = None
    moves: str = ""
    quiet: bool = False
    rows: int = 0
    counted: bool = True

    def __post_init__(self) -> None:
        if self.arity not in (1, 2, 3):
            self._refuse(f"is given the arity {self.arity!r}; accepted: 1, 2 or 3")
        if self.evaluate is None:
            return
        if not hasattr(self.evaluate, "py_func"):
            self._refuse("is given a plain function; accepted: one with the decorator @inlined")
        count = len(signature(self.evaluate.py_func).parameters)
        if self.arity != count or count == 3:
            self._refuse(
                f"is given the arity {self.arity} where its evaluation takes {count}; accepted: 1 "
                "or 2, the same for both"
            )
        if count == 2 and (self.side or self.bounded):
            self._refuse(
                "has two operands and is given a side or bounds; accepted: these for one operand; "
                "give evaluations of its own as narrowed and directed_by"
            )

    def _refuse(self, reason: str) -> None:
        raise InputError(f"operation '{self.name}' {reason}")

    @property
    def functions(self) -> tuple:
        """The functions that a kernel may call the operation by, as far as this Python and NumPy
        have them; those of SciPy as soon as somebody has imported it.
        """
        modules = _MODULES | {"special": sys.modules.get("scipy.special")}
        names = [name.rpartition(".") for name in self.called.split()]
        functions = [getattr(modules[owner], name, None) for owner, _, name in names]
        return tuple(f for f in (*functions, self.evaluate) if f is not None)

    @property
    def by(self) -> str:
        """The field that says how it is evaluated; "" where the operation does so by itself."""
        has = {"of_bits": self.of_bits, "evaluate": self.evaluate, "toward": self.toward}
        has |= {"step": self.step, "signed": self.signed is not None, "exact": self.exact}
        return next((kind for kind in has if has[kind]), "")

    @property
    def rounds(self) -> bool:
        """Whether its results are no operands, and rounded."""
        return self.work != 0 and self.exact is None

    @property
    def computes(self) -> bool:
        """Whether it makes a number, in place of moving one or turning its sign."""
        return not (self.moves or self.quiet or self.rows or self.signed in ("", "negated"))

    @property
    def method(self) -> str:
        """The method of techniques of rounding that forms its result in a unit of its own, in fixed
        point; "" for others.
        """
        return self.name if self.step and not self.role else self.signed or ""

    @cached_property
    def narrow(self) -> Callable:
        """`evaluate` for results that are rounded once into a format of at most 24 bits."""
        wrap = snapped_and_bounded if self.bounded else snapped
        return self.narrowed or wrap(self.evaluate)

    @cached_property
    def directed(self) -> Callable:
        """`evaluate` for results that are rounded toward one side, or to odd."""
        if self.side:
            return on_side(self.evaluate, self.side, self.bounded, self.infinite)
        return self.directed_by or self.narrow


@helper
def _smaller(x, y):
    return min(x, y)


@helper
def _larger(x, y):
    return max(x, y)


OPERATIONS = Registry(
    "operation",
    Operation("add", 2, "operator.add np.add", whole=operator.add, step=True, infix=ast.Add,
              joins="add", work=1),
    Operation("sub", 2, "operator.sub np.subtract", whole=operator.sub, step=True, infix=ast.Sub,
              joins="add", work=1),
    Operation("mul", 2, "operator.mul np.multiply", whole=operator.mul, step=True, infix=ast.Mult,
              joins="mul", work=1),
    Operation("div", 2, "operator.truediv np.divide np.true_divide", step=True, infix=ast.Div,
              joins="mul", work=1),
    Operation("mod", 2, "np.mod np.remainder", whole=operator.mod, infix=ast.Mod),
    Operation("floordiv", 2, "np.floor_divide", whole=operator.floordiv, infix=ast.FloorDiv),
    Operation("fmod", 2, "math.fmod np.fmod"),
    Operation("fma", 3, "math.fma reduce.fma", step=True, work=2),
    Operation("accumulate", 2, "reduce.accumulate", step=True, role="accumulate", like="add",
              work=1),
    Operation("subtract", 2, role="accumulate", like="sub", work=1),
    Operation("product", 2, "reduce.product", role="matmul", like="mul", work=1),
    Operation("cast", 1, "float np.float64 np.float32 np.float16 np.double np.single",
              signed="", work=0),
    Operation("neg", 1, "operator.neg np.negative", whole=operator.neg, signed="negated", work=0),
    Operation("pos", 1, "np.positive", whole=operator.pos, signed="", work=0),
    Operation("abs", 1, "abs np.abs np.absolute", whole=abs, signed="magnitude", work=0),
    Operation("fabs", 1, "math.fabs np.fabs", signed="magnitude", work=0),
    Operation("sqrt", 1, "math.sqrt np.sqrt", step=True, work=1),
    Operation("square", 1, "np.square", whole=np.square, work=1),
    Operation("reciprocal", 1, "np.reciprocal", work=1),
    Operation("sign", 1, "np.sign", whole=np.sign, work=0),
    Operation("min", 2, "min", whole=_smaller, exact=_smaller, work=1),
    Operation("max", 2, "max", whole=_larger, exact=_larger, largest=True, work=1),
    Operation("minimum", 2, "np.minimum", whole=np.minimum, exact=np.minimum, work=1),
    Operation("maximum", 2, "np.maximum", whole=np.maximum, exact=np.maximum, largest=True,
              work=1),
    Operation("fmin", 2, "np.fmin", whole=np.fmin, exact=np.fmin, work=1),
    Operation("fmax", 2, "np.fmax", whole=np.fmax, exact=np.fmax, largest=True, work=1),
    Operation("copysign", 2, "math.copysign np.copysign", exact=math.copysign, work=0),
    Operation("floor", 1, "np.floor", toward="floor", work=1),
    Operation("ceil", 1, "np.ceil", toward="ceil", work=1),
    Operation("trunc", 1, "np.trunc", toward="trunc", work=1),
    Operation("rint", 1, "np.rint", toward="roundeven", work=1),
    # ---- complex numbers ------------------------------------------------------------------------
    Operation("conj", 1, whole=operator.pos, work=0),
    Operation("real", 1, work=0),
    Operation("imag", 1, work=0),
    Operation("to_complex", 1, promotes=True, work=0),
    Operation("as_complex", 1, promotes=True, work=0),
    Operation("of_parts", 2, promotes=True, work=0),
    Operation("angle", 1, promotes=True),
    Operation("polar", 1, promotes=True),
    Operation("rect", 2, promotes=True),
    # ---- numbers that are moved as they are, or into a format -----------------------------------
    Operation("enter", 1, moves="load", quiet=True, rows=1, work=0),
    Operation("trusted", 1, moves="load", quiet=True, rows=1, work=0),
    Operation("taken", 2, quiet=True, work=0),
    Operation("item", 2, quiet=True, work=0),
    Operation("viewed", 1, quiet=True, rows=1, work=0, counted=False),
    Operation("ordered", 1, quiet=True, work=0),
    Operation("leave", 2, moves="store", rows=1, work=0),
    Operation("stored", 2, moves="store", rows=1, work=0),
    Operation("put", 2, moves="store", work=0),
    Operation("filling", 1, rows=1, work=0),
    Operation("returned", 1, rows=1, work=0, counted=False),
    Operation("prange", 1, rows=1, work=0, counted=False),
    # ---- elementary functions -------------------------------------------------------------------
    Operation("exp", 1, "math.exp np.exp", exp, bounded=True, directed_by=directed_exp),
    Operation("exp2", 1, "math.exp2 np.exp2 special.exp2", exp2, bounded=True,
              directed_by=directed_exp2),
    Operation("expm1", 1, "math.expm1 np.expm1 special.expm1", expm1, math.expm1, bounded=True,
              infinite=True, side=upward),  # above x, and above -1
    Operation("log", 1, "math.log np.log", log),
    Operation("log2", 1, "math.log2 np.log2", log2),
    Operation("log10", 1, "math.log10 np.log10", log10, math.log10),
    Operation("log1p", 1, "math.log1p np.log1p special.log1p", log1p, math.log1p,
              infinite=True, side=downward),  # below x
    Operation("sin", 1, "math.sin np.sin", sin, math.sin, side=toward_zero),  # below x and 1
    Operation("cos", 1, "math.cos np.cos", cos, math.cos, side=toward_zero),
    Operation("tan", 1, "math.tan np.tan", tan, math.tan, side=from_zero),
    Operation("asin", 1, "math.asin np.arcsin", asin, math.asin, side=from_zero),
    Operation("acos", 1, "math.acos np.arccos", acos, math.acos),
    Operation("atan", 1, "math.atan np.arctan", atan, math.atan, side=toward_zero),
    Operation("atan2", 2, "math.atan2 np.arctan2", atan2, math.atan2, directed_by=directed_atan2),
    Operation("sinh", 1, "math.sinh np.sinh", sinh, math.sinh, bounded=True, infinite=True,
              side=from_zero),
    Operation("cosh", 1, "math.cosh np.cosh", cosh, math.cosh, bounded=True, infinite=True,
              side=from_zero),
    Operation("tanh", 1, "math.tanh np.tanh", tanh, math.tanh, side=toward_zero),
    Operation("asinh", 1, "math.asinh np.arcsinh", asinh, math.asinh, infinite=True,
              side=toward_zero),
    Operation("acosh", 1, "math.acosh np.arccosh", acosh, math.acosh),
    Operation("atanh", 1, "math.atanh np.arctanh", atanh, math.atanh, infinite=True,
              side=from_zero),
    Operation("pow", 2, "pow math.pow np.power", pow, math.pow, whole=operator.pow,
              narrowed=narrow_pow, directed_by=directed_pow, infix=ast.Pow),
    Operation("erf", 1, "math.erf special.erf", erf, math.erf, side=toward_zero),
    Operation("erfc", 1, "math.erfc special.erfc", erfc, math.erfc, bounded=True,
              directed_by=directed_erfc),
    Operation("gamma", 1, "math.gamma special.gamma", gamma, math.gamma, bounded=True,
              directed_by=directed_gamma),
    Operation("lgamma", 1, "math.lgamma special.gammaln", lgamma, math.lgamma,
              narrowed=narrow_lgamma),
    Operation("sinc", 1, "np.sinc", sinc, directed_by=directed_sinc),
    Operation("hypot", 2, "math.hypot np.hypot", hypot, math.hypot, narrowed=narrow_hypot,
              directed_by=directed_hypot),
    Operation("cbrt", 1, "math.cbrt np.cbrt special.cbrt", cbrt),
    Operation("ufp", 1, evaluate=ufp),
    Operation("uniform_from_bits", 1, evaluate=uniform_from_bits, of_bits=True),
    Operation("exponential_from_bits", 1, evaluate=exponential_from_bits, of_bits=True),
    Operation("normal_from_bits", 1, evaluate=normal_from_bits, of_bits=True),
)  # fmt: skip
"""Every operation of the backends by name; `add` takes more of them."""

NOTHING = Operation("", 1, work=0)
"""The row of what is no operation."""

METHODS = frozenset(row.method for row in OPERATIONS.values()) - {""}
"""The operations that techniques of rounding have as methods."""

_WITH_A_NUMBER = {"power": "pow", "power_of": "pow", "times": "mul", "over": "div"}
"""Operation that has a number in its name -> the one that it is."""


def operation_named(text: str) -> Operation:
    """The row of an operation as programs and sites name it: `iadd`, `power(3)`, ...; `NOTHING` for
    what is none of the table.
    """
    stem, _, literal = text.partition("(")
    if stem in ("contracting", "icontracting"):
        stem = literal.strip("')")
    base = stem.removeprefix("i")
    return OPERATIONS.get(stem) or OPERATIONS.get(_WITH_A_NUMBER.get(base, base), NOTHING)


def operation_called(function) -> Operation | None:
    """The operation that a function means in a kernel."""
    by_id = _called(sys.modules.get("scipy.special"), tuple(map(id, OPERATIONS.values())))
    return by_id.get(id(function), (None, None))[1]


@lru_cache(4)
def _called(special: ModuleType | None, operations: tuple[int, ...]) -> dict[int, tuple]:
    """Map the id of each function that kernels may call to the function and its operation;
    made again where SciPy's functions or further operations have come.
    """
    by_id: dict[int, tuple] = {}
    for operation in OPERATIONS.values():
        for function in operation.functions:
            by_id.setdefault(id(function), (function, operation))
    return by_id
