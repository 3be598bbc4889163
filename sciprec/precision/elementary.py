"""The elementary functions of every backend: branch-free binary64 code that vectorises.

For every binary64 argument of at most 24 significant bits the relative error is below 2^-49 in
each of the processor's four rounding modes, with or without flushing of subnormals, so that one
more rounding into a format of at most 24 bits is wrong by less than a 2^-25 of an ulp. No function
calls a library (a library is written for rounding to nearest), none branches, and all special
values are those of C99, Annex F.

`ELEMENTARY` has the functions for results kept in binary64: overflow gives infinity, underflow
zero. `NARROW` has them for results that are rounded once into a format of at most 24 bits:
- a result that is too large or too small for binary64 stays finite and nonzero, so that the
  rounding into the format decides (toward zero: its largest number; upward: its smallest one);
- the last three bits are rounded off to nearest by integer arithmetic, so that a result that is
  exact in the format (log10(1000), pow(3, 2)) is met exactly in every rounding mode.
"""

from numpy import inf

from sciprec.precision.bits import bits, copysign, fabs, from_bits, inlined, select
from sciprec.precision.exponential import cosh, exp, exp2, expm1, sinh, tanh
from sciprec.precision.logarithm import exponential_from_bits, log, log1p, log2, log10, pow
from sciprec.precision.normal import erf, erfc, normal_from_bits, uniform_from_bits
from sciprec.precision.power import cbrt, hypot
from sciprec.precision.trigonometric import acos, asin, atan, atan2, cos, sin, tan

ELEMENTARY = {
    "exp": exp,
    "exp2": exp2,
    "expm1": expm1,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "sin": sin,
    "cos": cos,
    "tan": tan,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "atan2": atan2,
    "sinh": sinh,
    "cosh": cosh,
    "tanh": tanh,
    "pow": pow,
    "erf": erf,
    "erfc": erfc,
    "hypot": hypot,
    "cbrt": cbrt,
    "uniform_from_bits": uniform_from_bits,
    "exponential_from_bits": exponential_from_bits,
    "normal_from_bits": normal_from_bits,
}
