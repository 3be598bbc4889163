"""Elementary functions in binary64, for evaluations of others: see docs/how_to."""

from sciprec.precision.elementary.bits import copysign, fabs, floor, fma, inlined, select, sqrt
from sciprec.precision.elementary.exponential import cosh, exp, exp2, expm1, sinh, tanh
from sciprec.precision.elementary.gamma import gamma, lgamma
from sciprec.precision.elementary.logarithm import (
    acosh,
    asinh,
    atanh,
    log,
    log1p,
    log2,
    log10,
    pow,
)
from sciprec.precision.elementary.normal import erf, erfc
from sciprec.precision.elementary.power import cbrt, hypot
from sciprec.precision.elementary.trigonometric import (
    acos,
    asin,
    atan,
    atan2,
    cos,
    sin,
    sinc,
    sinpi,
    tan,
)

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cos", "cosh",
    "erf", "erfc", "exp", "exp2", "expm1", "fabs", "floor", "fma", "gamma", "hypot", "inlined",
    "lgamma", "log", "log10", "log1p", "log2", "pow", "select", "sin", "sinc", "sinh", "sinpi",
    "sqrt", "tan", "tanh",
]  # fmt: skip
