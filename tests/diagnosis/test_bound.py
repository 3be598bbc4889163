"""`bound`: never below the true error, as near to it as promised, and silent where it must be."""

from __future__ import annotations

import inspect
import json
import math
import re
from copy import deepcopy

import numpy as np
import pytest

from sciprec import InputError, LiftError, bound, lift
from sciprec.precision import resolve_backend
from tests.diagnosis.bound_kernels import nearly_cancelling
from tests.diagnosis.bound_survey import summed, surveyed
from tests.oracles.reals import errors, run_on_reals
from tests.random_kernels.generator import random_case
from tests.random_kernels.trials import kernel_of
from tests.random_kernels.values import values_of

BACKENDS = (
    "bf16", "fp64", "fp16", "fp32", "mlu370", "float:p=13,emin=-60,emax=60,round=rz", "e4m3fn",
    "tf32", "float:p=40,round=ru",
)  # fmt: skip


def proven(found, exact: dict) -> dict:
    """Bounds are not below errors; the largest of each over the largest error, by output."""
    ratios = {}
    for name, values in exact.items():
        known = errors(found.results[name], values)
        bounds = np.ravel(found.bounds[name]).tolist()
        assert all(e <= b for e, b in zip(known, bounds, strict=True)), name
        ratios[name] = float(max(bounds) / max(known))
    return ratios


def counted(seeds, count: int, **how: bool) -> dict:
    """How many elements of drawn kernels had a bound, and how many calls an open decision; no
    bound is below the error. In one arithmetic, or in one for every line.
    """
    every = [surveyed(n, count, **how, names=(BACKENDS[n % len(BACKENDS)],)) for n in seeds]
    found = summed(every)
    assert not [one["below"] for one in every if one["below"]]
    assert found["refused"] == found["no real"] == 0
    return found


def test_random_kernels():
    """Of ordinary and special numbers, every third one deciding element by element; two in a format
    for every line.
    """
    assert counted((2, 6), 16)["bounded"] > 16
    assert counted((4, 7), 12, lines=True)["bounded"] > 12


@pytest.mark.slow
def test_random_kernels_of_operands_that_nearly_cancel():
    """Kinks and jumps between the tested and the exact operand: kernels of the survey, most of
    which bounds fail that follow the tested sign alone.
    """
    found = counted((5, 14, 16, 25, 30), 60, cancelling=True)
    assert found["bounded"] > 150 and found["open"] > 2


def beside_zero(x, y, z, out):
    d = x * y - z
    out[0] = abs(d) - d
    out[1] = math.fabs(d) + np.abs(d)
    out[2] = math.copysign(d, 1.0) - math.copysign(d, -2.0) * d
    out[3] = math.hypot(d, 0.0) * 3.0
    out[4] = math.sqrt(abs(d)) + d
    out[5] = abs(-abs(d)) + d


def test_the_exact_sign_may_be_another_one(backend="fp32"):
    """Beside a kink: x y - z whose tested and exact values have different signs."""
    known = 1.175655620602559, 1.8631789223498867, 2.189071088609699
    found = bound(beside_zero, "bf16", (*known, np.zeros(6)))
    assert found.bounds["out"][0] == pytest.approx(0.03125, rel=1e-9)
    unit, crossed = resolve_backend(backend).storage.format.unit_roundoff, 0
    with np.errstate(all="ignore"):
        for given in np.transpose(nearly_cancelling(1, 80, backend, [unit])).tolist():
            found = bound(beside_zero, backend, (*given, np.zeros(6)))
            exact = run_on_reals(beside_zero, (*given, np.zeros(6)))[1][3]
            tested, bounds = found.results["out"], found.bounds["out"].tolist()
            pairs = zip(errors(tested, exact), bounds, strict=True)
            assert all(e <= b for e, b in pairs if np.isfinite(b)), given
            crossed += bool(np.isfinite(bounds[0]) and (tested[0] == 0.0) != (exact[0] == 0))
    assert crossed > 3


def linear(u, c, x, y, a, b, out, product):
    for i in range(1, u.size - 1):
        out[i] = u[i] + c * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            product[i, j] = s
    return np.dot(x, y), np.sum(x)


def test_stencils_and_products_have_the_error_that_is_promised(backend="bf16"):
    """A step of a stencil within 2 times, products of n terms within 4 sqrt(n)."""
    rng = np.random.default_rng(1)
    u, x, y = rng.normal(size=60), *rng.normal(size=(2, 400))
    a, b = rng.normal(size=(2, 9, 9))
    args = (u, 0.23, x, y, a, b, np.zeros(60), np.zeros((9, 9)))
    found = bound(linear, backend, args)
    returned, after = run_on_reals(linear, args)
    exact = {"out": after[6], "product": after[7], "return_0": returned[0], "return_1": returned[1]}
    ratios = proven(found, exact)
    assert not found.undecided and not found.lost
    assert ratios["out"] <= 2 and ratios["product"] <= 4 * 3
    assert ratios["return_0"] <= 4 * 20 and max(ratios.values()) < 1 + 1e-9
    assert found.largest["out"] == found.bounds["out"].max()
    assert 0.0 < found.relative["return_0"] < 1.0
    assert re.match(r"The error of 'linear' in \w+ is at most [\d.e-]+, [\d.e-]+ of ", str(found))


def sums(x, y):
    s = 0.0
    d = 0.0
    for i in range(x.size):
        s += x[i]
        d += x[i] * y[i]
    return s, d


def deciding(x, case, out):
    third = x[0] / 3.0
    out[0] = third
    if case == 0 and third * 3.0 > x[0]:
        out[0] = 1.0
    if case == 1:
        out[0] = max(third * 3.0, x[0])
    if case == 2:
        out[0] = int(third * 3.0)
    if case == 3:
        out[0] = np.floor(third * 3.0)
    if case == 4:
        out[0] = (third * 3.0) % x[0]
    if case == 5:
        out[0] = (third * 3.0) // x[0]
    if case == 6:
        out[0] = np.sign(third * 3.0 - x[0])
    if case == 7:
        out[0] = math.fmod(third * 3.0, x[0])
    if case == 8:
        out[0] = math.copysign(1.0, third * 3.0 - x[0])
    if case == 9 and np.isfinite(third / (third * 3.0 - x[0])):
        out[0] = 2.0
    if case == 10:
        out[0] = max(third, 2.0 * x[0]) + int(third) + np.sign(third) + third % x[0] + third // 7.0
    if case == 11:
        out[0] = third / (third * 3.0 - x[0])
    if case == 12:
        out[0] = math.sqrt(third * 3.0 - x[0])
    if case == 13:
        out[0] = math.lgamma(third)


def line_of(case: int) -> int:
    """Where a case decides, or loses its bound: below its `if`, or in that."""
    lines, first = inspect.getsourcelines(deciding)
    at = next(n for n, text in enumerate(lines) if f"case == {case}" in text)
    return first + at + (" and " not in lines[at])


def test_what_the_interval_does_not_decide_is_named(backend="fp64"):
    """An x whose third, three times, is x but for rounding: nothing there is certain."""
    for case in range(10):
        found = bound(deciding, backend, (np.array([5.0]), case, np.zeros(1)))
        assert [p.line for p in found.undecided][:1] == [line_of(case)], case
        assert np.isinf(found.bounds["out"]).all() and found.verdict.startswith("No bound of")
        assert f"decide otherwise in line {line_of(case)}: " in found.verdict
    found = bound(deciding, backend, (np.array([5.0]), 10, np.zeros(1)))
    _, after = run_on_reals(deciding, (np.array([5.0]), 10, np.zeros(1)))
    assert not found.undecided and proven(found, {"out": after[2]})["out"] < 1 + 1e-9
    for case in (11, 12, 13):
        found = bound(deciding, backend, (np.array([5.0]), case, np.zeros(1)))
        assert not found.undecided and [p.line for p in found.lost] == [line_of(case)]
        assert "no result has one, first in line" in found.verdict


def narrow(x, y, n):
    y[0] = x[0] * x[1]
    for _ in range(n):
        y[1] = y[0] + x[2]
        y[2] = 4.0 * y[2] * (1.0 - y[2])


def test_a_bound_that_has_become_useless_says_so():
    found = bound(narrow, "fp32", (np.ones(3), np.full(3, 0.3), 34))
    assert found.relative["y"] > 1.0 and "useless" in found.verdict
    assert found.verdict.endswith("; watch how it drifts from fp64 with sciprec.monitor instead")
    lost = bound(narrow, "fp32", (np.ones(3), np.full(3, 0.3), 300))
    assert "1 of 3 numbers have none, first in line" in lost.verdict and lost.lost


def exact(x, out):
    for i in range(x.size):
        out[i] = x[i] + 1.0


def test_no_error_and_nothing_at_all():
    found = bound(exact, "bf16", (np.array([1.0, 2.0]), np.zeros(2)))
    assert found.verdict == "'exact' makes no error in bf16" and not found.bounds["out"].any()
    data = json.loads(json.dumps(found.as_dict()))
    assert data["bounds"] == {"out": [0.0, 0.0]} and data["results"] == {"out": [2.0, 3.0]}
    special = bound(exact, "bf16", (np.array([np.nan, np.inf, 1e39, 1.0]), np.zeros(4)))
    assert np.array_equal(np.isinf(special.bounds["out"]), [True, True, True, False])


def by_condition(x):
    if x - 1.0:
        return 1.0
    return 2.0


def in_a_chain(x):
    return 1.0 if 0.0 < x < 2.0 else 2.0


def sorted_(x):
    return np.sort(x)[0] * 1.1


def ranged(x):
    return np.sum(np.arange(0.0, x, 0.1))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bound(exact, "fixed32", (1.0,)), "fixed point; bound takes floating-point"),
        (lambda: bound(exact, "mlu370-noise", (1.0,)), "random bits; bound takes"),
        (lambda: bound(sums, "bf16", (1j, 1.0)), "complex numbers; bound takes real ones"),
        (lambda: bound(exact, "bf16", (z := np.ones(4), z[1:])), "share memory; bound takes"),
        (lambda: bound("f", "bf16", (1.0,)), "bound takes a Python function"),
        (lambda: bound(exact, "bf16", (np.ones(1), np.ones(1)), output="y"), "accepted: out"),
        (lambda: bound(exact, "bf16", (1.0,), metric="max"), "unknown metric 'max'; known: rel"),
        (lambda: bound(by_condition, "bf16", (1.5,)), "compare two numbers, as in"),
        (lambda: bound(in_a_chain, "bf16", (1.5,)), "in a chain, decides by numbers where"),
        (lambda: bound(sorted_, "bf16", (np.ones(3),)), "decides by numbers where bound cannot"),
        (lambda: bound(ranged, "bf16", (1.0,)), "a range or a rank of floating-point numbers"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises((InputError, LiftError), match=sentence):
        call()


@pytest.mark.slow
def test_a_kernel_of_the_general_generator(tmp_path, seed=9):
    """Calls, loops, tuples and integers: no error against binary64 is above its bound, but for
    what binary64 loses itself.
    """
    case = random_case(seed)
    kernel = kernel_of(case, tmp_path)
    given = values_of(case.arguments, resolve_backend("fp32"), seed, 0, False)
    narrow = [isinstance(a, np.ndarray) and a.dtype == np.float32 for a in given]
    given = [a.astype(np.float64) if n else a for a, n in zip(given, narrow, strict=True)]
    with np.errstate(all="ignore"):
        found = bound(kernel, "fp32", tuple(given))
    assert not found.undecided and found.bounds
    tested, truth = deepcopy(given), deepcopy(given)
    lift(kernel, "fp32")(*tested), lift(kernel, "fp64")(*truth)
    for argument, one, other in zip(case.arguments, tested, truth, strict=True):
        if argument.name in found.bounds:
            with np.errstate(all="ignore"):
                error, left = np.abs(one - other), 1e-12 * np.abs(other)
                above = error > found.bounds[argument.name] + left
            assert not (above & np.isfinite(error)).any(), argument.name
