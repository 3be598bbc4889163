"""Elementary functions with ranges, and how many bits each is known to there."""

from __future__ import annotations

import mpmath

BITS = {"gamma": 93, "lgamma": 93}
"""Functions that are known less well than to `USUAL` bits."""
USUAL = 100


def _binary(x):
    return mpmath.power(2, x)


def _log2(x):
    return mpmath.log(x) / mpmath.log(2)


def _sinc(x):
    return mpmath.sin(mpmath.pi * x) / (mpmath.pi * x)


def _cbrt(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _lgamma(x):
    return mpmath.loggamma(x).real


TAILS = (1e-8, 3.0), (0.99, 1.01), (1e-250, 1e250)
ANGLES = (-10.0, 10.0), (3.14159, 3.1416), (1.5707, 1.5709), (-1e9, 1e9), (1.0, 4e15)
CASES = {
    "math.exp": (mpmath.exp, [(-600.0, 709.0), (-1e-9, 1e-9)]),
    "np.exp2": (_binary, [(-890.0, 1000.0)]),
    "math.expm1": (mpmath.expm1, [(-1e-3, 1e-3), (-50.0, 709.0)]),
    "math.log": (mpmath.log, TAILS), "np.log2": (_log2, TAILS), "math.log10": (mpmath.log10, TAILS),
    "math.log1p": (mpmath.log1p, [(-0.999, 1.0), (-1e-5, 1e-5), (1.0, 1e100)]),
    "math.sin": (mpmath.sin, ANGLES), "math.cos": (mpmath.cos, ANGLES),
    "math.tan": (mpmath.tan, ANGLES),
    "math.asin": (mpmath.asin, [(-1.0, 1.0), (0.999, 0.9999999), (1e-9, 1e-5)]),
    "math.acos": (mpmath.acos, [(-1.0, 1.0), (0.999, 0.9999999), (-0.9999999, -0.999)]),
    "math.atan": (mpmath.atan, [(-2.0, 2.0), (-1e9, 1e9), (1e-9, 1e-5)]),
    "math.sinh": (mpmath.sinh, [(-1.0, 1.0), (-700.0, 700.0), (709.0, 710.4), (1e-9, 1e-5)]),
    "math.cosh": (mpmath.cosh, [(-1.0, 1.0), (-700.0, 700.0), (709.0, 710.4)]),
    "math.tanh": (mpmath.tanh, [(-1.0, 1.0), (-30.0, 30.0), (1e-9, 1e-5)]),
    "math.asinh": (mpmath.asinh, [(-1.0, 1.0), (-1e9, 1e9), (1e-9, 1e-4), (1e20, 1e40)]),
    "math.acosh": (mpmath.acosh, [(1.000001, 1.001), (1.1, 10.0), (1.1, 1e40)]),
    "math.atanh": (mpmath.atanh, [(-0.999, 0.999), (0.999, 0.9999999), (1e-9, 1e-5)]),
    "math.erf": (mpmath.erf, [(-1.6, 1.6), (-6.0, 6.0), (1e-9, 1e-5)]),
    "math.erfc": (mpmath.erfc, [(-6.0, 3.0), (1.4, 20.0)]),
    "math.gamma": (mpmath.gamma, [(0.1, 10.0), (10.0, 170.0), (-9.9, -0.1)]),
    "math.lgamma": (_lgamma, [(0.1, 10.0), (0.9, 1.1), (10.0, 1e5), (-9.9, -0.1)]),
    "np.sinc": (_sinc, [(-3.0, 3.0), (-100.0, 100.0)]),
    "np.cbrt": (_cbrt, [(-10.0, 10.0), (1e-250, 1e250)]),
}
"""Function -> (the same of mpmath, ranges of its argument)."""
OF_TWO = {
    "math.atan2": (mpmath.atan2, [((-5.0, 5.0), (-5.0, 5.0)), ((1e-99, 1e99), (1e-99, 1e99))]),
    "math.hypot": (mpmath.hypot, [((-5.0, 5.0), (-5.0, 5.0)), ((1e-200, 1e200), (1e-200, 1e200))]),
    "pow": (mpmath.power, [((0.01, 10.0), (-100.0, 100.0)), ((0.9, 1.1), (-3000.0, 3000.0))]),
}
