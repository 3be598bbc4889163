"""Residuals of elementary functions, against 300 bits of mpmath."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sciprec.precision.elementary.residuals import RESIDUALS

_ANY = np.concatenate([[0.5, 1.0, 2.0**-30], np.linspace(-12.3, 11.7, 25)])
_POSITIVE = np.concatenate(
    [2.0 ** np.linspace(-40.3, 40.1, 15), 1.0 + 2.0 ** -np.arange(1.0, 52, 7)]
)
_INSIDE = np.concatenate([np.linspace(-0.99, 0.99, 16), 1.0 - 2.0 ** -np.arange(2.0, 52, 9)])
ARGUMENTS = {
    "log": _POSITIVE, "log2": _POSITIVE, "log10": _POSITIVE, "acosh": 1.0 + _POSITIVE,
    "log1p": np.concatenate([_POSITIVE, _INSIDE]), "asin": _INSIDE, "acos": _INSIDE,
    "atanh": _INSIDE, "sin": _ANY * 1e5, "cos": _ANY * 1e5, "tan": _ANY * 1e5,
    "gamma": _ANY + 0.31, "lgamma": _ANY + 0.31, "erfc": np.linspace(-5.0, 24.0, 30),
    "erf": np.linspace(-5.5, 5.0, 30), "exp": _ANY * 50.0, "exp2": _ANY * 70.0,
}  # fmt: skip
EXACT = {
    "exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x, 2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "pow": mpmath.power,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "sinc": lambda x: mpmath.sinpi(x) / (mpmath.pi * x) if x else mpmath.mpf(1),
}  # fmt: skip
_BY_NAME = {function.__name__: function for function in RESIDUALS}
NAMES = sorted(_BY_NAME.keys() - {"ufp", "uniform_from_bits"})


@pytest.mark.parametrize(
    "name",
    [name if name == "log" else pytest.param(name, marks=pytest.mark.slow)
     for name in NAMES],
)  # fmt: skip
def test_values_and_residuals_are_the_function(name):
    """Together they are right to 2^-80, also where the value is off by some ulps."""
    function, residual = _BY_NAME[name], RESIDUALS[_BY_NAME[name]]
    exact, drawn = EXACT.get(name) or getattr(mpmath, name), ARGUMENTS.get(name, _ANY)
    operands = [(x,) for x in drawn.tolist()]
    if name in ("pow", "hypot", "atan2"):
        first = abs(drawn) if name == "pow" else drawn
        operands = list(zip(first.tolist(), drawn[::-1].tolist(), strict=True))
    wrong = 0.0
    with mpmath.workprec(300):
        for given in operands:
            true = exact(*map(mpmath.mpf, given))
            if abs(true) < 1e-300 or abs(true) > 1e300:
                continue
            value = function(*given)
            for y in (value, math.nextafter(value, math.inf)):
                missed = abs((mpmath.mpf(y) + residual(*given, y) - true) / true)
                wrong = max(wrong, float(missed))
                assert missed < 2.0**-80, (given, y, float(missed))
    assert wrong < 2.0**-80


@pytest.mark.slow
def test_where_nothing_is_known_residuals_are_nothing():
    for name in NAMES:
        residual = RESIDUALS[_BY_NAME[name]]
        count = len(residual.py_func.__code__.co_varnames[: residual.py_func.__code__.co_argcount])
        for x in (math.nan, math.inf, -math.inf):
            assert residual(*[x] * count) == 0.0, name
