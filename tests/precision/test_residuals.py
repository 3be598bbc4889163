"""Residuals of elementary functions over the range that is claimed, against 300 bits of mpmath, and
secants against 600; the functions themselves are looked at in `test_elementary`.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sciprec.instruments.tracing.slopes import DERIVATIVES, SECANTS, secant
from sciprec.precision.elementary.residuals import BITS, MOST_BITS, RESIDUALS

EXACT = {
    "exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x, 2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), "pow": mpmath.power,
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "sinc": lambda x: mpmath.sinpi(x) / (mpmath.pi * x) if x else mpmath.mpf(1),
}  # fmt: skip
_BY_NAME = {function.__name__: function for function in RESIDUALS}
NAMES = sorted(_BY_NAME.keys() - {"ufp", "uniform_from_bits"})


def operands(name: str, count: int, seed: int) -> list[tuple[float, ...]]:
    """Random operands of a function over all of its range, and near its zeros and singularities."""
    rng = np.random.default_rng([seed, NAMES.index(name)])

    def spread(low, high, signs=(1.0,)):
        return np.exp(rng.uniform(math.log(low), math.log(high), count)) * rng.choice(signs, count)

    def between(low, high):
        return rng.uniform(low, high, count)

    both, near = (-1.0, 1.0), spread(1e-15, 0.5)
    tiny, angles = spread(1e-200, 1e-3, both), spread(1e-3, 2.0**29, both)
    turns = np.pi / 2 * rng.integers(1, 3 * 10**8, count)
    logs = [spread(1e-300, 1e300), 1.0 + near, 1.0 - near]
    ranges = {
        "exp": [between(-620, 700), tiny], "exp2": [between(-890, 1000), tiny],
        "expm1": [between(-620, 700), tiny, spread(1e-3, 1, both)],
        "log": logs, "log2": logs, "log10": logs,
        "log1p": [spread(1e-200, 1e300), -near, near - 1.0],
        "sin": [angles, tiny, turns], "cos": [angles, tiny, turns], "tan": [angles, tiny, turns],
        "asin": [between(-1, 1), 1.0 - near, tiny], "acos": [between(-1, 1), 1.0 - near, tiny],
        "atan": [spread(1e-200, 1e300, both)], "sinc": [angles, tiny],
        "sinh": [between(-700, 700), tiny, between(-3, 3)], "cosh": [between(-620, 620)],
        "tanh": [between(-25, 25), tiny], "asinh": [spread(1e-200, 1e300, both), between(-30, 30)],
        "acosh": [1.0 + near, spread(1.1, 1e300)], "atanh": [between(-1, 1), near - 1.0, tiny],
        "erf": [between(-5.9, 5.9), tiny], "erfc": [between(-5, 25.9)],
        "gamma": [between(0.01, 170), between(-20, -0.01)],
        "lgamma": [spread(0.01, 1e6), between(0.5, 3), between(-20, 0)],
        "cbrt": [spread(1e-300, 1e300, both)],
    }  # fmt: skip
    if name in ranges:
        return [(x,) for x in rng.permutation(np.concatenate(ranges[name]))[:count].tolist()]
    size = 1e50 if name == "pow" else 1e150
    first = spread(1.0 / size, size, (1.0,) if name == "pow" else both)
    second = between(-5.5, 5.5) if name == "pow" else spread(1.0 / size, size, both)
    return list(zip(first.tolist(), second.tolist(), strict=True))


def missed(name: str, count: int, seed: int) -> None:
    """Require that a number near a function's value and its residual miss the function by no more
    than the table says.
    """
    function, residual = _BY_NAME[name], RESIDUALS[_BY_NAME[name]]
    exact, (bits, floor) = EXACT.get(name) or getattr(mpmath, name), BITS.get(function, (98, 0.0))
    assert MOST_BITS == 98
    with mpmath.workprec(300):
        for given in operands(name, count, seed):
            true = exact(*map(mpmath.mpf, given))
            if not 2.0**-900 < abs(true) < 2.0**1000:
                continue
            value = float(true)
            for y in (value - 3.0 * math.ulp(value), math.nextafter(value, math.inf)):
                error = abs(mpmath.mpf(y) + residual(*given, y) - true)
                most = 2.0**-bits * max(abs(true), floor)
                assert error <= most, (given, y, float(mpmath.log(error / abs(true), 2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [n if n in ("log", "sinh", "acos") else pytest.param(n, marks=pytest.mark.slow) for n in NAMES],
)
def test_values_and_residuals_are_the_function(name):
    missed(name, 60, 1)


@pytest.mark.slow
def test_where_nothing_is_known_residuals_are_nothing():
    for name in NAMES:
        residual = RESIDUALS[_BY_NAME[name]]
        count = len(residual.py_func.__code__.co_varnames[: residual.py_func.__code__.co_argcount])
        for x in (math.nan, math.inf, -math.inf):
            assert residual(*[x] * count) == 0.0, name


# ---- secants ------------------------------------------------------------------------------------


_ENDS = {
    "asin": (1.0, -1.0), "acos": (1.0, -1.0), "acosh": (1.0,), "atanh": (1.0, -1.0),
    "log1p": (-1.0, 0.0), "log": (1.0,), "log2": (1.0,), "log10": (1.0,),
    "tan": (math.pi / 2, -math.pi / 2, 11.0, 1e5), "sin": (math.pi, math.pi / 2, 1e6),
    "cos": (math.pi, math.pi / 2, 1e6), "exp": (1.0, 600.0, -600.0), "sinh": (0.0, 600.0),
    "cosh": (0.0, 600.0), "tanh": (0.0, 9.0, 17.0, -12.0), "erf": (0.0, 2.0),
    "erfc": (0.0, 2.0, 20.0), "sinc": (1.0, -2.0), "exp2": (1.0, 900.0),
}  # fmt: skip
"""Function -> where it is singular, flat, zero or steep."""
_SLOPED = {f.__name__: f for f in (*DERIVATIVES, *SECANTS)}
SLOPED = sorted(_SLOPED.keys() - {"atan2", "hypot", "pow"})


def drawn(name: str, count: int = 150) -> list[tuple[float, float]]:
    """(argument, its error): arguments beside such places, errors from a rounding in binary64 up to
    the distance from there.
    """
    rng = np.random.default_rng(len(name))
    found = []
    for _ in range(count):
        end = rng.choice(_ENDS.get(name, (0.0, 1.0, 7.0)))
        distance = 2.0 ** rng.uniform(-52, 0) * rng.choice([-1, 1])
        x = float(end + distance)
        if rng.random() < 0.1:
            x = float(end)
        size = max(abs(distance), 2.0**-52 * abs(x), 2.0**-60)
        e = size * 2.0 ** -rng.uniform(0, 40 if rng.random() < 0.5 else 3) * rng.choice([-1, 1])
        found.append((x, float(max(abs(e), 2.0**-58 * abs(x)) * np.sign(e))))
    return found


@pytest.mark.parametrize(
    "name",
    [n if n in ("asin", "exp") else pytest.param(n, marks=pytest.mark.slow) for n in SLOPED],
)
def test_a_secant_is_what_an_error_makes_of_the_result(name):
    """Of an operand, beside singularities above all: to 1e-6, or 2^-73 of the result."""
    function = _SLOPED[name]
    slope = secant(function, DERIVATIVES.get(function, (None,))[0])
    exact, seen = EXACT.get(name) or getattr(mpmath, name), 0
    with mpmath.workprec(600):
        for x, e in drawn(name):
            try:
                here, there = (exact(v) for v in (mpmath.mpf(x), mpmath.mpf(x) - mpmath.mpf(e)))
            except (ValueError, ZeroDivisionError):
                continue
            real = all(isinstance(v, mpmath.mpf) and mpmath.isfinite(v) for v in (here, there))
            if not real or abs(here) > 1e300 or here == there:
                continue
            made = mpmath.mpf(slope(x, e, float(here))) * mpmath.mpf(e)
            missed, change = abs(made - (here - there)), abs(here - there)
            assert missed <= 1e-6 * change + 2.0**-73 * abs(here), (x, e, float(missed / change))
            seen += 1
    assert seen > 50
