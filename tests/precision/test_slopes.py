"""Secants of elementary functions, against 600 bits of mpmath: what an error of an operand makes
of the result, beside singularities above all.
"""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from sciprec.precision.elementary.slopes import DERIVATIVES, SECANTS, secant
from tests.precision.test_residuals import EXACT

_ENDS = {
    "asin": (1.0, -1.0), "acos": (1.0, -1.0), "acosh": (1.0,), "atanh": (1.0, -1.0),
    "log1p": (-1.0, 0.0), "log": (1.0,), "log2": (1.0,), "log10": (1.0,),
    "tan": (math.pi / 2, -math.pi / 2, 11.0, 1e5), "sin": (math.pi, math.pi / 2, 1e6),
    "cos": (math.pi, math.pi / 2, 1e6), "exp": (1.0, 600.0, -600.0), "sinh": (0.0, 600.0),
    "cosh": (0.0, 600.0), "tanh": (0.0, 9.0, 17.0, -12.0), "erf": (0.0, 2.0),
    "erfc": (0.0, 2.0, 20.0), "sinc": (1.0, -2.0), "exp2": (1.0, 900.0),
}  # fmt: skip
"""Function -> where it is singular, flat, zero or steep."""
_FUNCTIONS = {f.__name__: f for f in (*DERIVATIVES, *SECANTS)}
NAMES = sorted(_FUNCTIONS.keys() - {"atan2", "hypot", "pow"})


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
    "name", [n if n in ("asin", "exp") else pytest.param(n, marks=pytest.mark.slow) for n in NAMES]
)
def test_a_secant_is_what_an_error_makes_of_the_result(name):
    """To 1e-6, or 2^-73 of the result."""
    function = _FUNCTIONS[name]
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
            made = mpmath.mpf(slope(x, e, function(x))) * mpmath.mpf(e)
            missed, change = abs(made - (here - there)), abs(here - there)
            assert missed <= 1e-6 * change + 2.0**-73 * abs(here), (x, e, float(missed / change))
            seen += 1
    assert seen > 50
