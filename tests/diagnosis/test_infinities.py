"""Infinities, zeros and extremes in a trace: what exact arithmetic gives too is no error, and what
is made of it is split like any other number.
"""

from __future__ import annotations

import math
import operator
import sys
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

from sciprec import lift, quantize, trace
from sciprec.diagnosis.attribution import Result
from sciprec.diagnosis.origins import groups_of
from sciprec.diagnosis.problem import Problem
from sciprec.diagnosis.splitting import Split
from sciprec.precision.formats.backend import resolve_backend
from tests.oracles import exact
from tests.oracles.functions import elementary
from tests.oracles.reals import run_on_reals

SPECIAL = [
    0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 1.1, -0.7, 300.3, 3e-39, 1e-320, -5e-324,
]  # fmt: skip
"""The last ones are subnormal in bf16, fp32 and binary64."""


def over(a, b):
    c = a * 1.1
    return c / b


def harmonic(a, b, c):
    return 1.1 / (1.0 / a + 1.0 / b) + c


def softmax(x, out):
    most = x[0]
    for i in range(x.size):
        most = max(most, x[i])
    total = 0.0
    for i in range(x.size):
        out[i] = math.exp(x[i] - most)
        total += out[i]
    for i in range(x.size):
        out[i] = out[i] / total


@pytest.mark.parametrize("backend", ["bf16", pytest.param("fp32", marks=pytest.mark.slow)])
def test_an_infinity_of_exact_arithmetic_is_no_error(backend):
    """There is nothing to blame, and the end of the format is not its cause."""
    found = trace(over, backend, (1.3, 0.0), samples=1)
    assert "exact operands give it, too." in found.verdict and found.left_out == 1
    event = found.events[0]
    assert (event.kind, event.cause, event.exact) == ("infinity", "", True)


def test_a_number_made_of_an_infinity_is_split():
    found = trace(harmonic, "bf16", (0.0, 0.3, 0.7), samples=1)
    assert found.left_out == 0 and found.closure < 1e-12
    assert {n.name: n.share for n in found.ranked}["argument c"] == pytest.approx(1.0)
    found = trace(softmax, "bf16", (np.array([0.3, 1.7, -math.inf, 0.9]), np.zeros(4)), samples=1)
    assert found.left_out == 0 and found.closure < 1e-12 and not found.events
    assert sum(n.share for n in found.lines) == pytest.approx(1.0)


def of_signed_zero(x, out):
    for i in range(x.size):
        y = x[i] * 0.7
        out[i] = y
        out[i] = math.atan(1.1 / out[i]) + 0.3 * math.atan(1.3 / abs(y))


def test_an_exact_zero_has_a_sign():
    """One over it is the infinity of the tested run, through an array and a magnitude."""
    x, out = np.array([0.0, -0.0, -0.3]), np.zeros(3)
    found = trace(of_signed_zero, "bf16", (x, out), samples=1)
    assert found.left_out == 0 and found.closure < 1e-12
    assert found.outputs["out"] < 0.01


def distance(x, y, out):
    for i in range(x.size):
        out[i] = 1.0 + abs(x[i] - y[i])


def test_the_size_of_a_tested_zero():
    """Of a difference that only exact arithmetic has, the size is one, whatever its sign."""
    x = np.array([1.001, 1.002, 3.1])
    found = trace(distance, "bf16", (x, x[[1, 0, 2]], np.zeros(3)), samples=1)
    assert found.closure < 1e-12
    assert found.outputs["out"] == pytest.approx(0.001 * math.sqrt(2 / 3), rel=1e-3)


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


@pytest.mark.parametrize("backend", ["bf16", pytest.param("fp16", marks=pytest.mark.slow)])
def test_errors_are_those_against_exact_values(backend):
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
    """What a row of `basic` is exactly; None where an operand or the result is no fraction."""
    if not (math.isfinite(x) and math.isfinite(y)) or (row == 3 and y == 0.0) or row == 4:
        return None
    of_two = (operator.add, operator.sub, operator.mul, operator.truediv)
    of_one = {5: abs, 6: operator.neg}
    a, b = Fraction(x), Fraction(y)
    return of_two[row](a, b) if row < 4 else of_one[row](a)


def operands() -> np.ndarray:
    return np.array([(x, y) for x in SPECIAL for y in SPECIAL]).T.copy()


def ran(kernel, backend: str, args: tuple) -> tuple[Result, Result]:
    """A run with the errors beside, those of the first line in a lane, and one with the twin."""
    problem = Problem(kernel, resolve_backend(backend), args, None, 4)
    group = groups_of(problem.kernel("parts").program, "line")[:1]
    return Split(problem, group).results[0], problem.run("twin", problem.table("twin"))[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "backend"), [(basic, "bf16"), (basic, "fp64"), (functions, "fp64")]
)
def test_operations_of_special_operands(kernel, backend):
    """By NumPy's special values, and fractions where there are some."""
    x, y = operands()
    exact = np.zeros((7 if kernel is basic else 10, x.size))
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


# ---- random kernels of them --------------------------------------------------------------------

STEPS = {
    "+": "{} + {}", "-": "{} - {}", "*": "{} * {}", "/": "{} / {}", "max": "max({}, {})",
    "min": "min({}, {})", "exp": "math.exp({})", "atan": "math.atan({})", "tanh": "math.tanh({})",
    "sqrt": "math.sqrt(abs({}))", "where": "({0} if {0} > {1} else 0.7)",
}  # fmt: skip
ROWS, LENGTH = 4, 5
PLAIN = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "sqrt": np.sqrt,
    "exp": np.exp, "atan": np.arctan, "tanh": np.tanh,
}  # fmt: skip
BASIC = {"+": exact.add, "-": exact.sub, "*": exact.mul, "/": exact.div, "sqrt": exact.sqrt}


def _exp(x):
    return math.exp(x)


def _atan(x):
    return math.atan(x)


def _tanh(x):
    return math.tanh(x)


ALONE = {"exp": _exp, "atan": _atan, "tanh": _tanh}


def drawn(rng: np.random.Generator) -> list[list[tuple[str, int, int]]]:
    """Rows of steps: an operation of two earlier numbers, x and y the first ones."""
    return [
        [(str(rng.choice(list(STEPS))), *map(int, rng.integers(0, n + 2, 2)))
         for n in range(LENGTH)]
        for _ in range(ROWS)
    ]  # fmt: skip


def written(rows, folder):
    """A kernel of these rows."""
    text = "import math\n\n\ndef special(x, y, out):\n    for i in range(x.size):\n"
    for row, steps in enumerate(rows):
        names = ["x[i]", "y[i]", *(f"v{row}_{n}" for n in range(LENGTH))]
        for n, (name, a, b) in enumerate(steps):
            text += f"        {names[n + 2]} = {STEPS[name].format(names[a], names[b])}\n"
        text += f"        out[{row}, i] = {names[-1]}\n"
    path = folder / "special.py"
    path.write_text(text)
    space: dict = {"__name__": "special"}
    exec(compile(text, str(path), "exec"), space)
    return space["special"]


def stepped(name: str, backend: str, *operands: float) -> float:
    """An operation of the tested run, by exact arithmetic; of binary64 functions, whose last bit is
    the engine's, by the function alone.
    """
    arithmetic = resolve_backend(backend).compute
    if name in BASIC:
        return BASIC[name](*operands, arithmetic)
    if backend == "fp64":
        return float(_alone(name)(*operands))
    return elementary(name, operands, arithmetic)


@cache
def _alone(name: str):
    return {n: lift(f, "fp64") for n, f in ALONE.items()}[name]


def by_steps(steps, x: float, y: float, backend: str):
    """The tested and the exact values of one row, and whether all of it can be split. Of subnormal
    numbers of binary64 the exact tanh is off by a few units of its last place.
    """
    pairs, clear = [(float(quantize(v, backend)), v) for v in (x, y)], True
    for name, a, b in steps:
        made = []
        for run in (0, 1):
            u, v = np.float64(pairs[a][run]), np.float64(pairs[b][run])
            if name in ("max", "min"):
                # of what is infinite or NaN in the tested run, as in that
                lost = not all(np.isfinite(pairs[n][0]) for n in (a, b))
                s, t = (pairs[a][0], pairs[b][0]) if lost else (u, v)
                other = t > s if name == "max" else t < s
                made.append(v if other else u)
            elif name == "where":
                first = pairs[a][0] > pairs[b][0]
                made.append(u if first else float(quantize(0.7, backend)) if run == 0 else 0.7)
            else:
                u = abs(u) if name == "sqrt" else u
                operands = tuple(map(float, (u, v)[: PLAIN[name].nin]))
                made.append(PLAIN[name](*operands) if run else stepped(name, backend, *operands))
        pairs.append((float(made[0]), float(made[1])))
        size = max(abs(pairs[a][1]), abs(pairs[b][1]))
        vague = name in "+-" and a != b and abs(pairs[-1][1]) < 1e-10 * size < math.inf
        vague = vague or name == "tanh" and 0.0 < abs(pairs[a][1]) < sys.float_info.min
        one = math.isfinite(pairs[-1][0]) != math.isfinite(pairs[-1][1])
        clear = clear and not vague and not one
    clear = clear and all(math.isfinite(p) == math.isfinite(q) for p, q in pairs)
    return pairs[-1], clear


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "backend"), [(1, "bf16"), (6, "fp64")])
def test_random_kernels_of_special_numbers(seed, backend, tmp_path):
    """Elements are left out where they are finite in neither run, or in one alone; parts add up to
    the difference from the twin in all others.
    """
    rows = drawn(np.random.default_rng(seed))
    x, y = operands()
    kernel, args = written(rows, tmp_path), (x, y, np.zeros((ROWS, x.size)))
    with np.errstate(all="ignore"):
        parts, twin = ran(kernel, backend, args)
        lift(kernel, backend)(*args)
        expected = [[by_steps(r, *v, backend) for v in zip(x, y, strict=True)] for r in rows]
    assert np.array_equal(parts.tested, args[2], equal_nan=True)
    split = 0
    for row, i in np.ndindex(args[2].shape):
        (tested, exact), clear = expected[row][i]
        what = f"row {row} of ({x[i]}, {y[i]}): {rows[row]}"
        assert tested == parts.tested[row, i] or math.isnan(tested), what
        error, (high, low) = parts.beside[row, i], twin.beside[row, i][:2]
        if not clear:
            continue
        if not math.isfinite(exact):
            assert high == exact or math.isnan(exact) and math.isnan(high), what
            continue
        assert abs(high - exact) <= 1e-9 * abs(exact) + 1e-300, what
        assert np.isfinite(error).all(), what
        difference = (tested - high) - low
        assert error[0] == pytest.approx(difference, rel=1e-6, abs=1e-13 * abs(exact) + 1e-300), (
            what
        )
        split += 1
    assert split > 0.3 * args[2].size
