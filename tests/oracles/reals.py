"""A kernel's own source run on real numbers: 1,200 bits of mpmath, remainders by fractions."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np

BITS = 1200


NAN = mpmath.mpf("nan")
"""Values that are no real number, and results of these."""


def real(value) -> mpmath.mpf:
    """Any number, exactly."""
    return mpmath.mpf(value if isinstance(value, mpmath.mpf) else float(value))


def _fraction(x: mpmath.mpf) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** exponent


def _quotient(x, y, rounding) -> int | mpmath.mpf:
    if not (mpmath.isfinite(x) and mpmath.isfinite(y)) or y == 0:
        return NAN
    return rounding(_fraction(real(x)) / _fraction(real(y)))


def _remainder(x, y, rounding) -> mpmath.mpf:
    q = _quotient(x, y, rounding)
    if not isinstance(q, int):
        return NAN
    rest = _fraction(real(x)) - q * _fraction(real(y))
    return mpmath.mpf(rest.numerator) / rest.denominator


def _of_reals(function):
    def called(*values):
        given = [real(v) for v in values]
        if not all(map(mpmath.isfinite, given)):
            return NAN
        try:
            made = function(*given)
        except (ZeroDivisionError, ValueError, OverflowError):
            return NAN
        return NAN if isinstance(made, mpmath.mpc) or not mpmath.isfinite(made) else made

    return called


def _whole(rounding):
    """int(x) by a rounding, where x is a number."""
    return lambda x: int(rounding(real(x))) if mpmath.isfinite(x) else NAN


def _truncated(x):
    return mpmath.sign(x) * mpmath.floor(abs(real(x)))


def _to_decimals(x, decimals=None):
    """round(x), and round(x, n) as a rounded product and a quotient."""
    if decimals is None:
        return _whole(mpmath.nint)(x)
    return mpmath.nint(real(x) * mpmath.mpf(10) ** decimals) / mpmath.mpf(10) ** decimals


def _is_close(x, y):
    return abs(x - y) <= real(1e-8) + real(1e-5) * abs(y)


_NAMES = (
    *"sqrt exp expm1 log log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh".split(),
    *"acosh atanh erf erfc gamma atan2 hypot".split(),
)  # fmt: skip
MATH = SimpleNamespace(
    **{n: _of_reals(getattr(mpmath, n)) for n in _NAMES},
    exp2=_of_reals(lambda x: mpmath.power(2, x)),
    log2=_of_reals(lambda x: mpmath.log(x, 2)),
    pow=_of_reals(mpmath.power),
    fabs=abs,
    fma=lambda x, y, z: x * y + z,
    fmod=lambda x, y: _remainder(x, y, math.trunc),
    floor=_whole(mpmath.floor),
    ceil=_whole(mpmath.ceil),
    trunc=_whole(_truncated),
    copysign=lambda x, y: abs(x) if y >= 0 else -abs(x),
    isnan=lambda x: False,
    isfinite=lambda x: True,
)
NUMPY = SimpleNamespace(
    **vars(MATH) | {"floor": mpmath.floor, "ceil": mpmath.ceil, "trunc": _truncated},
    abs=abs,
    rint=lambda x: mpmath.nint(real(x)),
    square=lambda x: x * x,
    reciprocal=lambda x: _divided(1.0, x),
    clip=lambda x, low, high: min(max(x, low), high),
    isclose=_is_close,
    cbrt=_of_reals(lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x))),
    sinc=_of_reals(lambda x: mpmath.sinc(mpmath.pi * x)),
    sum=lambda a: sum(a.ravel().tolist(), mpmath.mpf(0)),
    dot=lambda a, b: a.dot(b),
    sign=mpmath.sign,
    **dict.fromkeys(("maximum", "fmax"), max),
    **dict.fromkeys(("minimum", "fmin"), min),
    zeros=lambda shape: _array(np.zeros(shape)),
)


def _divided(x, y):
    return NAN if y == 0 else real(x) / y


class _Source(ast.NodeTransformer):
    """Literals are real numbers; so are quotients of integers."""

    def visit_Constant(self, node):
        return self._call("_real", node) if isinstance(node.value, float) else node

    def visit_BinOp(self, node):
        self.generic_visit(node)
        named = {ast.Div: "_divided", ast.FloorDiv: "_floor_divided", ast.Mod: "_modulus"}
        known = named.get(type(node.op))
        return self._call(known, node.left, node.right) if known else node

    def _call(self, named: str, *operands):
        return ast.Call(ast.Name(named, ast.Load()), list(operands), [])


def _array(values) -> np.ndarray:
    made = np.empty(np.shape(values), object)
    for index in np.ndindex(made.shape):
        made[index] = real(np.asarray(values)[index])
    return made


def run_on_reals(kernel, args: tuple, names: dict | None = None):
    """The result of a kernel, or the contents of its arrays afterwards, as real numbers.

    Args:
        kernel: a plain function of `math`, the `np` above, arrays of floats and integers.
        args: floats become real numbers, exactly.
        names: what else it names.

    Returns:
        Its result, and its arguments afterwards; NaN where there is no real number.
    """
    return real_kernel(kernel, names)(args)


def real_kernel(kernel, names: dict | None = None):
    """A function that runs a kernel on real numbers, as `run_on_reals` does, again and again."""
    tree = _Source().visit(ast.parse(textwrap.dedent(inspect.getsource(kernel))))
    own = {
        "math": MATH, "np": NUMPY, "_real": real, "_divided": _divided,
        "_modulus": lambda x, y: _remainder(x, y, math.floor),
        "int": _whole(_truncated), "float": real, "round": _to_decimals,
        "divmod": lambda x, y: (_quotient(x, y, math.floor), _remainder(x, y, math.floor)),
        "_floor_divided": lambda x, y: mpmath.mpf(_quotient(x, y, math.floor)),
    } | (names or {})  # fmt: skip
    exec(compile(ast.fix_missing_locations(tree), "<reals>", "exec"), own)

    def run(args: tuple):
        with mpmath.workprec(BITS):
            given = [_taken(a) for a in args]
            return own[kernel.__name__](*given), given

    return run


def errors(tested, exact) -> list[mpmath.mpf]:
    """|tested - exact|, to 1,200 bits."""
    pairs = zip(np.ravel(tested).tolist(), np.ravel(exact).tolist(), strict=True)
    with mpmath.workprec(BITS):
        return [abs(mpmath.mpf(t) - x) for t, x in pairs]


def _taken(argument):
    if isinstance(argument, np.ndarray) and argument.dtype.kind == "f":
        return _array(argument)
    return real(argument) if isinstance(argument, float) else argument
