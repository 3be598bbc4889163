"""Infinities, zeros and extremes in a trace: what exact arithmetic gives too is no error, and what
is made of it is split like any other number.
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from sciprec import lift, quantize, trace
from sciprec.precision.formats.backend import resolve_backend
from sciprec.tools.trace.attribution import Result
from sciprec.tools.trace.origins import groups_of
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.splitting import Split
from tests.oracles.reals import run_on_reals

SPECIAL = [
    0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 1.1, -0.7, 300.3, 3e-39, 1e-320, -5e-324,
]  # fmt: skip
"""The last ones are subnormal in bf16, fp32 and binary64."""


def distance(x, y, out):
    for i in range(x.size):
        out[i] = 1.0 + abs(x[i] - y[i])


def beside_singularities(x, y, out):
    for i in range(x.size):
        c = x[i] * y[i]
        out[0, i] = math.acos(c)
        out[1, i] = math.asin(c)
        out[2, i] = math.acosh(1.0 / c)
        out[3, i] = math.atanh(c)
        out[4, i] = math.log1p(-c)
        out[5, i] = math.tan(1.5707963267948966 * c)


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "bits"), [("fp64", 51), ("bf16", 6)])
def test_functions_beside_their_singularities(backend, bits):
    """Errors as large as the distance of the operand, against 1,200 bits of mpmath."""
    rng, count = np.random.default_rng(5), 60
    x, apart = rng.uniform(0.6, 1.6, count), 2.0 ** rng.uniform(-bits, -1, count)
    args = x, (1.0 - apart) / x, np.zeros((6, count))
    parts, twin = ran(beside_singularities, backend, args)
    expected = run_on_reals(beside_singularities, args)[1][2]
    with mpmath.workprec(200):
        for row, tested in enumerate(parts.tested):
            errors = np.array(tested.tolist(), object) - expected[row]
            of_twin = np.array(tested.tolist(), object)
            for lane in (0, 1):
                of_twin = of_twin - np.array([mpmath.mpf(v) for v in twin.beside[row, :, lane]])
            for made in (parts.beside[row, :, 0], of_twin):
                missed = mpmath.norm([m - e for m, e in zip(made, errors, strict=True)])
                assert missed < 1e-6 * mpmath.norm(errors.tolist()), row


# ---- minima and maxima: exact values take their own, errors go along secants --------------------


def extremes(x, y):
    for i in range(x.size):
        a = x[i] * x[i] - 0.25 * x[i]
        b = max(0.0, a - 0.35) + min(a, 0.3 * x[i]) + np.maximum(0.7 * x[i], a)
        y[i] = np.sqrt(max(a - 0.31, 0.0)) + b - np.fmin(a, 0.25)


def test_errors_are_those_against_exact_values(backend="bf16"):
    """Also where these decide otherwise: what the tested run takes the root of is negative there,
    and the root would be no number.
    """
    x, y = np.random.default_rng(1).uniform(0.2, 1.2, 4000), np.zeros((2, 4000))
    extremes(x, y[0])
    lift(extremes, backend)(x, y[1])
    found = trace(extremes, backend, (x, np.zeros(4000)))
    assert found.closure < 1e-9 and found.left_out == 0
    error = np.linalg.norm(y[1] - y[0]) / np.linalg.norm(y[0])
    assert found.outputs["y"] == pytest.approx(error, rel=1e-9)
    assert found.branches


# ---- every operation of special operands -------------------------------------------------------


def basic(x, y, out):
    for i in range(x.size):
        out[0, i] = x[i] + y[i]
        out[1, i] = x[i] - y[i]
        out[2, i] = x[i] * y[i]
        out[3, i] = x[i] / y[i]
        out[4, i] = np.sqrt(x[i])
        out[5, i] = abs(x[i])
        out[6, i] = -x[i]
        out[7, i] = max(x[i], y[i])
        out[8, i] = min(x[i], y[i])


def functions(x, y, out):
    for i in range(x.size):
        out[0, i] = np.exp(x[i])
        out[1, i] = np.arcsin(x[i])
        out[2, i] = np.log(x[i])
        out[3, i] = np.log1p(x[i])
    for i in range(x.size):
        out[4, i] = np.arccosh(x[i])
        out[5, i] = np.arctan(x[i])
        out[6, i] = np.tanh(x[i])
        out[7, i] = np.arctanh(x[i])
    for i in range(x.size):
        out[8, i] = x[i] ** y[i]
        out[9, i] = np.arctan2(x[i], y[i])


def fraction_of(row: int, x: float, y: float) -> Fraction | None:
    """The exact value of a row of `basic`; None where an operand or the result is no fraction."""
    if not (math.isfinite(x) and math.isfinite(y)) or (row == 3 and y == 0.0) or row == 4:
        return None
    of_one = {5: abs, 6: operator.neg}
    of_two = {
        0: operator.add,
        1: operator.sub,
        2: operator.mul,
        3: operator.truediv,
        7: max,
        8: min,
    }
    a, b = Fraction(x), Fraction(y)
    return of_two[row](a, b) if row in of_two else of_one[row](a)


def operands() -> np.ndarray:
    return np.array([(x, y) for x in SPECIAL for y in SPECIAL]).T.copy()


def ran(kernel, backend: str, args: tuple) -> tuple[Result, Result]:
    """A run with the errors beside, those of the first line in a lane, and one with the twin."""
    problem = Problem(kernel, resolve_backend(backend), args, None, 4)
    group = groups_of(problem.kernel("parts").program, "line")[:1]
    return Split(problem, group).results[0], problem.run("twin", problem.table("twin"))[0]


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "backend"), [(basic, "bf16"), (functions, "fp64")])
def test_operations_of_special_operands(kernel, backend):
    """By NumPy's special values, and fractions where there are some."""
    x, y = operands()
    exact = np.zeros((9 if kernel is basic else 10, x.size))
    with np.errstate(all="ignore"):
        kernel(x, y, exact)
        entered = [quantize(v, backend) for v in (x, y)]
        parts, twin = ran(kernel, backend, (x, y, np.zeros_like(exact)))
    same = [
        (v == w) | (np.isfinite(v) & np.isfinite(w)) for v, w in zip((x, y), entered, strict=True)
    ]
    high, low = twin.beside[..., 0], twin.beside[..., 1]
    tiny = (abs(exact) < 2.0**-960) | (abs(x) < 2.0**-960)  # a pair's rest may underflow
    for row, i in np.ndindex(exact.shape):
        step = not 1e-300 < abs(x[i]) < math.inf and abs(y[i]) < 1e-30
        if kernel is functions and row in (8, 9) and step:
            continue  # at 0^0 a power has a slope beyond binary64, at the origin an angle
        what = f"row {row} of ({x[i]}, {y[i]})"
        if not math.isfinite(exact[row, i]):
            assert high[row, i] == exact[row, i] or math.isnan(exact[row, i]) == math.isnan(
                high[row, i]
            ), what
            assert low[row, i] == 0.0, what
        else:
            assert abs(high[row, i] - exact[row, i]) <= 1e-13 * abs(exact[row, i]) + 1e-320, what
            known = fraction_of(row, x[i], y[i]) if kernel is basic else None
            if known is not None and not tiny[row, i]:
                rest = known - Fraction(high[row, i]) - Fraction(low[row, i])
                assert abs(rest) <= abs(known) / 2**100, what
        tested, error = parts.tested[row, i], parts.beside[row, i]
        if math.isinf(exact[row, i]) and tested == exact[row, i]:
            assert np.isfinite(error).all(), what
        elif math.isfinite(exact[row, i]) and math.isfinite(tested) and same[0][i] and same[1][i]:
            expected = (tested - high[row, i]) - low[row, i]
            scale = abs(tested) + abs(exact[row, i])
            assert abs(error[0] - expected) <= 1e-9 * abs(expected) + 1e-15 * scale + 1e-320, what
