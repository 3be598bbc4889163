"""Exact values whose own error is followed: where they are lost a trace says so, and where they are
not, however much a kernel cancels, it tells errors that 1,200 bits confirm.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from sciprec import trace
from sciprec.cli.console import print_json
from tests.diagnosis import followed_survey
from tests.diagnosis.test_verdicts import LOST, ROWS
from tests.oracles.reals import errors, run_on_reals


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


def closing(x, n):
    """Up and down again: the difference from the start is zero in exact arithmetic."""
    y = x
    for _ in range(n):
        y = y * 1.1
    for _ in range(n):
        y = y / 1.1
    return y - x


def silent(found) -> bool:
    """Whether a trace names no line, and tells no error."""
    return not any(n.share for n in found.lines) and not found.groups


@pytest.mark.parametrize(
    ("name", "given", "near"),
    [*(("Muller's recurrence, 28 passes in fp64", (n,), 1e-3) for n in (10, 16, 20, 23)),
     ("a sine far away", (1e6,), 0.1)],
)  # fmt: skip
def test_what_is_still_known_is_told(name, given, near):
    kernel = ROWS[name].kernel
    found = trace(kernel, "fp64", given, samples=1)
    (exact,), tested = (run_on_reals(kernel, given)[0],), float(kernel(*given))
    error = float(errors([tested], [exact])[0] / abs(exact))
    assert found.outputs["return"] == pytest.approx(error, rel=near)
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


def test_a_zero_of_exact_arithmetic_keeps_its_shares():
    found = trace(closing, "fp64", (0.7, 40))
    assert "or are zero; the error itself is known" in found.verdict
    assert sum(n.share for n in found.lines) == pytest.approx(1.0) and found.closure < 1e-6
    one = ROWS["a compensated sum in fp64"]
    beside = trace(one.kernel, "fp64", one.args)
    assert beside.outcome.followed.absolute == ("return_1",) and "(absolute)" in repr(beside)


@pytest.mark.survey
def test_random_kernels(tmp_path):
    """Some of `followed_survey`."""
    found = followed_survey.survey(tmp_path, 0, 12)
    assert found["seeds"] == {"missed": [], "false alarm": []}
    assert found["right"] >= 9 and found["noticed"] >= 1
