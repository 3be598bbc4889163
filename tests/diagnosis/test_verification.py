"""Answer of `verify` on every group: that prediction and run agree, or why they do not, truly."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from sciprec import InputError, LiftError, trace
from sciprec.tools.trace.verification import AGREE, PREDICTS, WiderLines
from tests.diagnosis.short_kernels import line_of
from tests.diagnosis.test_verdicts import ROWS
from tests.diagnosis.trace_checks import generated

SEEDS = range(503, 505)
"""Of random kernels; 40 were looked at."""
_SIZES = r"from ([\d.]+)% to ([\d.]+)% of the error"


def require_true(found, check: WiderLines) -> str:
    """Make sure that a row has one sentence, and that runs show what it says; which one."""
    if not check.group:  # of numbers that are lost because an argument does not fit
        of = f"instead of {found.outcome.lost} of {found.elements} numbers are not finite then"
        assert of in check.words and check.lines[0].startswith("argument ")
        return "lost"
    if math.isnan(check.predicted):  # a part far beyond the error that the run does not confirm
        left = found.groups[check.group - 1].left
        assert check.words.startswith("–: no prediction: its part is") and not check.agrees
        assert left > PREDICTS and abs(left - check.measured) > AGREE * max(left, check.measured)
        return "none"
    most = max(check.predicted, check.measured)
    near = most < 0.02 or abs(check.predicted - check.measured) <= AGREE * most
    sentences = {
        "yes": near, "moves": check.moved_to, "shrinks": check.shrinks,
        "otherwise": check.otherwise, "turns": check.turned,
    }  # fmt: skip
    [said] = [name for name, is_so in sentences.items() if is_so]
    assert (check.words == "yes") is near and check.agrees is near
    runs = found._work.inputs
    members = found.groups[check.group - 1].members
    upward = check.measured > check.predicted
    if said == "yes":
        return said
    changes = runs.changes(members, upward)
    difference = check.measured**2 - check.predicted**2
    assert changes.adds == pytest.approx(difference, rel=0.05, abs=0.01)
    if said == "turns":
        assert f"in {check.turned} of " in check.words
        return said
    size = sum(line.adds for line in changes.lines if (line.adds > 0.0) is upward)
    before, after = (float(n) for n in re.search(_SIZES, check.words).groups())
    named = check.moved_to or check.shrinks or check.otherwise
    assert named in check.words
    [line] = [c for c in changes.lines if _is_named(c.group, named)]
    assert (before, after) == pytest.approx((100 * line.before, 100 * line.after), abs=0.06)
    assert abs(line.adds) * len(changes.lines) >= abs(size)  # as much as lines have on average
    assert (line.adds > 0.0) is upward
    if said in ("moves", "shrinks"):
        assert (line.after > line.before) is upward is (said == "moves")
    return said


def _is_named(group, named: str) -> bool:
    name = group.source if group.source.startswith("argument ") else group.name
    return named == name or named == f"{name} ({group.source})"


USUAL = "a difference of squares", "an offset", "the long sum, mended", "squares away from the mean"
SLOW = "a long sum", "elements that do not fit"
CASES = [*USUAL, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_of_faults_and_repaired_forms(name):
    case = ROWS[name]
    found = trace(case.kernel, case.backend, case.args)
    checks = list(found.verify(6))
    said = [require_true(found, check) for check in checks]
    if name == "an offset":
        assert "moves" in said
    if name == "the long sum, mended":
        assert "shrinks" in said
    if name == "elements that do not fit":
        assert said[0] == "lost" and checks[0].measured == 1 / 16
        assert checks[0].words == "–: 1 instead of 16 of 18 numbers are not finite then"
    else:
        assert len(said) == min(len(found.groups), 6)


@pytest.mark.survey
def test_of_random_kernels(tmp_path):
    said = []
    narrow = ("bf16", "fp16", "float:p=13,round=rz", "mlu370")
    with np.errstate(all="ignore"):
        for kernel, backend, args in generated(SEEDS, tmp_path, backends=narrow):
            try:
                found = trace(kernel, backend, args)
            except (LiftError, InputError):
                continue
            said += [require_true(found, check) for check in found.verify(4)]
    assert len(said) > 1 and "yes" in said


def turning(x, y, out):
    for i in range(x.size):
        s = x[i] * y[i]
        if s > 1.0:
            out[i] = s * s
        else:
            out[i] = 0.5 * s


def test_a_decision_that_changes_is_told():
    """Products that are one when they are rounded, and larger when they are not."""
    x = 1.0 + np.arange(1, 15) / 1024.0
    y = np.float64(np.float16(1.0 / x))
    y += (x * y < 1.0) * 2.0**-11
    x, y = (z[(x * y > 1.0) & (np.float16(x * y) == 1.0)] for z in (x, y))
    assert x.size > 3
    found = trace(turning, "fp16", (x, y, np.zeros(x.size)), output="out", samples=1)
    check = next(c for c in found.verify() if c.lines == (f"line {line_of(turning, 's = ')}",))
    assert require_true(found, check) == "turns"
    assert check.words == "no: in 1 of 1 input the run decides otherwise with it, on another path"
