"""Exact values whose own error is followed: where they are lost a trace says so, and where they are
not, however much a kernel cancels, it tells errors that 1,200 bits confirm.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from sciprec import trace
from sciprec.cli.console import print_json
from tests.diagnosis import followed_survey
from tests.oracles.reals import errors, run_on_reals

LOST = "Exact values cannot be followed here: they need more than 106 bits"


def muller(n):
    a = 11.0 / 2.0
    b = 61.0 / 11.0
    for _ in range(n):
        c = 111.0 - (1130.0 - 3000.0 / a) / b
        a = b
        b = c
    return b


def muller_series(out):
    a = 11.0 / 2.0
    b = 61.0 / 11.0
    for i in range(out.size):
        c = 111.0 - (1130.0 - 3000.0 / a) / b
        a = b
        b = c
        out[i] = c


def rump(a, b):
    second = a * a * (11.0 * a * a * b**2 - b**6 - 121.0 * b**4 - 2.0)
    return 333.75 * b**6 + second + 5.5 * b**8 + a / (2.0 * b)


def logistic(x, n):
    for _ in range(n):
        x = 4.0 * x * (1.0 - x)
    return x


def waves(x, n):
    for _ in range(n):
        x = 3.0 * math.sin(2.0 * x)
    return x


def factorials(e, n):
    y = e - 1.0
    for i in range(2, n):
        y = i * y - 1.0
    return y


def newton(x, n):
    y = x
    for _ in range(n):
        y = y - (y * y - x) / (2.0 * y)
    return y


def thirds(x):
    return x / 3.0 * 3.0 - x


def summed(x):
    total = 0.0
    rest = 0.0
    for i in range(x.size):
        term = x[i] + rest
        larger = total + term
        rest = term - (larger - total)
        total = larger
    return total, rest


def compensated(level, rate, n):
    rest = 0.0
    for _ in range(n):
        growth = rate * level + rest
        larger = level + growth
        rest = growth - (larger - level)
        level = larger
    return level


def closing(x, n):
    """Up and down again: the difference from the start is zero in exact arithmetic."""
    y = x
    for _ in range(n):
        y = y * 1.1
    for _ in range(n):
        y = y / 1.1
    return y - x


def arcs(x, y, out):
    for i in range(x.size):
        out[i] = math.asin(math.sqrt(x[i] * x[i] + y[i] * y[i]))


def softmax(x, out):
    total = 0.0
    for i in range(x.size):
        out[i] = math.exp(x[i] - x[0])
        total += out[i]
    for i in range(x.size):
        out[i] = out[i] / total


def silent(found) -> bool:
    """Whether a trace names no line, and tells no error."""
    return not any(n.share for n in found.lines) and not found.groups


@pytest.mark.parametrize("backend", ["fp64", "fp32"])
@pytest.mark.parametrize("n", [28, 60, 100])
def test_a_limit_that_both_twins_agree_on_is_lost(n, backend):
    """Muller's recurrence tends to 6, of anything but exact arithmetic to 100."""
    found = trace(muller, backend, (n,), samples=1)
    assert found.verdict.startswith(f"{LOST} (1 number of return)") and silent(found)
    assert math.isnan(found.outputs["return"]) and "return not known" in repr(found)


def test_what_is_still_known_of_it_is_told():
    for n in (10, 16, 20, 23):
        found = trace(muller, "fp64", (n,), samples=1)
        (exact,), tested = (run_on_reals(muller, (n,))[0],), float(muller(n))
        error = float(errors([tested], [exact])[0] / abs(exact))
        assert found.outputs["return"] == pytest.approx(error, rel=1e-3)
        assert not found.outcome.followed.lost and not silent(found)


def test_some_elements_that_are_lost(tmp_path, capsys):
    found = trace(muller_series, "fp64", (np.zeros(60),))
    assert found.verdict.startswith(LOST) and silent(found)
    assert 30 < found.outcome.followed.lost["out"] < 40
    assert "not known" in found.html(tmp_path / "page.html").read_text(encoding="utf-8")
    print_json(found.as_dict())
    assert json.loads(capsys.readouterr().out)["outputs"] == {"out": None}
    assert trace(muller_series, "fp64", (np.zeros(20),)).groups


def test_an_error_that_is_known_beside_an_exact_value_that_is_not():
    """Rump's polynomial: -0.83 in exact arithmetic, 1.2 in pairs, and -1.2e21 in binary64."""
    given = 77617.0, 33096.0
    found = trace(rump, "fp64", given, samples=1)
    assert found.verdict.startswith(LOST) and "absolute" in found.verdict
    exact = run_on_reals(rump, given)[0]
    error = float(errors([rump(*given)], [exact])[0])
    assert found.outputs["return"] == pytest.approx(error, rel=1e-6)
    assert found.outcome.followed.absolute == ("return",) and "(absolute)" in repr(found)


def test_chaos():
    assert trace(logistic, "fp64", (0.3, 200), samples=1).verdict.startswith(LOST)
    assert not trace(logistic, "fp64", (0.3, 50), samples=1).outcome.followed.lost


def test_parts_have_fewer_bits_than_pairs():
    """After 90 passes pairs have some digits left, and the error that is carried in parts none."""
    found = trace(logistic, "fp32", (0.7, 90), samples=1)
    assert found.verdict.startswith(LOST.replace("106", "53")) and silent(found)


def far_waves(x):
    return math.sin(x / 3.0)


def test_a_sine_far_away_is_lost():
    """The slope at the high number of the quotient says nothing of the sine at both."""
    assert trace(far_waves, "fp64", (1e24,), samples=1).verdict.startswith(LOST)
    found = trace(far_waves, "fp64", (1e6,), samples=1)
    exact = run_on_reals(far_waves, (1e6,))[0]
    error = float(errors([math.sin(1e6 / 3.0)], [exact])[0] / abs(exact))
    assert found.outputs["return"] == pytest.approx(error, rel=0.1)


def test_functions_of_narrow_formats_have_fewer_bits():
    lost = trace(waves, "fp16", (0.3, 100), samples=1).verdict
    assert lost.startswith(LOST.replace("106", "49"))
    assert not trace(waves, "fp64", (0.3, 20), samples=1).outcome.followed.lost


@pytest.mark.parametrize(
    ("kernel", "given"),
    [
        (factorials, (math.e, 40)),
        (newton, (2.0, 30)),
        (thirds, (0.7,)),
        (compensated, (1.0, 0.3**5, 400)),
        (summed, (np.random.default_rng(1).uniform(0.0, 1.0, 300),)),
        (arcs, (np.array([0.6, 0.8, 1.0, 0.28]), np.array([0.8, 0.6, 0.0, 0.96]), np.zeros(4))),
        (softmax, (np.linspace(-30.0, 800.0, 40)[::-1].copy(), np.zeros(40))),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
@pytest.mark.parametrize("backend", ["fp64", "fp32"])
def test_harmless_kernels_are_followed(kernel, given, backend):
    found = trace(kernel, backend, given, samples=1)
    assert "cannot be followed" not in found.verdict and not found.outcome.followed.lost


def test_a_zero_of_exact_arithmetic_keeps_its_shares():
    found = trace(closing, "fp64", (0.7, 40))
    assert "or are zero; the error itself is known" in found.verdict
    assert sum(n.share for n in found.lines) == pytest.approx(1.0) and found.closure < 1e-6
    beside = trace(summed, "fp64", (np.random.default_rng(1).uniform(0.0, 1.0, 300),))
    assert beside.outcome.followed.absolute == ("return_1",) and "(absolute)" in repr(beside)


@pytest.mark.slow
def test_random_kernels(tmp_path):
    """Some of `followed_survey`."""
    found = followed_survey.survey(tmp_path, 0, 12)
    assert found["seeds"] == {"missed": [], "false alarm": []}
    assert found["right"] >= 9 and found["noticed"] >= 1
