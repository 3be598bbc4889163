"""Random kernels against the exact oracle."""

from dataclasses import replace

import numpy as np
import pytest

from sciprec.precision import lift
from tests.oracles.uncompiled import run_random
from tests.random_kernels.backends import ALL, MIXED, drawn, takes, trial_of
from tests.random_kernels.cases import Argument, Case, Trial
from tests.random_kernels.faults import WITHOUT_SHORT_WAYS
from tests.random_kernels.generator import (
    further_case,
    library_case,
    object_case,
    random_case,
    whole_case,
)
from tests.random_kernels.power import sample
from tests.random_kernels.runner import run_trials
from tests.random_kernels.trials import run_uncompiled


def require_same(trials, *options) -> None:
    """Every trial, run in processes of its own, gives the same bits; else the first is shown."""
    wrong = [(t, o) for t, o in run_trials(trials, *options) if o.kind != "same"]
    first = f"{wrong[0][1]}\n{wrong[0][0].text()}" if wrong else ""
    assert not wrong, f"{len(wrong)} findings; the first: {first}"


UNCOMPILED = {random_case: 20, library_case: 2, whole_case: 4, further_case: 4, object_case: 4}
"""How many kernels of each kind a part of the sample has."""
WIDE = "float:p=12,emin=-200,emax=200"
"""What nobody has rounded passes its operations as it is: its numbers are kept in binary64."""


@pytest.mark.slow
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.survey)])
def test_where_kernels_round(part, tmp_path):
    """Each uncompiled, in drawn backends (floats, random bits, fixed point) and in a wide one."""
    for made, count in UNCOMPILED.items():
        for seed in range(count * part, count * (part + 1)):
            case = made(seed)
            wide = [trial_of(case, WIDE)] if takes(WIDE, case) else []
            for trial in (*drawn(case, 2), *wide):
                calls = 3 if made is object_case else 1  # objects have few numbers
                outcome = run_uncompiled(replace(trial, calls=calls), tmp_path)
                assert outcome.kind == "same", f"{outcome.detail}\n{trial.text()}"


@pytest.mark.slow
def test_sample():
    """Every sixth trial of those that find faults, which are run in test_planted_faults.py, too;
    kernels of calls of NumPy's functions alone, of whole arrays, of further constructs, and of
    objects: fields, methods, members of enumerations and casts in fixed point.
    """
    kinds = library_case(0), whole_case(3), further_case(3)
    trials = [trial for case in kinds for trial in drawn(case, 1)]
    require_same([*sample()[::6], *trials, trial_of(object_case(0), "fixed32")])


@pytest.mark.slow
def test_sample_without_short_ways_through_the_compiler():
    """As in versions of Numba and llvmlite that these are not made for; more by `survey`."""
    require_same(drawn(random_case(21), 1), WITHOUT_SHORT_WAYS)


def passed_on(x):
    return x, 2.0 * x[0]


def test_an_argument_that_is_returned_is_rounded_with_bits_of_its_own():
    lifted, x = lift(passed_on, "float:p=8,round=sr"), np.linspace(0.1, 3.0, 40)
    (found, number), (exact, expected) = lifted(x), run_random(lifted, [x.copy()])
    assert np.array_equal(found, exact) and number == expected
    assert not np.array_equal(found, x)


def test_kernels_belong_to_their_seeds():
    cases = [random_case(seed) for seed in range(200)]
    assert cases == [random_case(seed) for seed in range(200)]
    assert len({c.source for c in cases}) == 200


def test_trials_are_drawn_over_all_backends():
    trials = [t for seed in range(120) for t in drawn(random_case(seed), 3)]
    assert {t.backend for t in trials} == {*ALL, *MIXED}
    assert {t.path for t in trials} == {"auto", "software"}
    assert Trial.from_json(trials[0].as_json()) == trials[0]
    elementary = next(c for c in map(random_case, range(100)) if c.is_elementary)
    assert takes("mlu370", elementary) and not takes("fp64", elementary)


ABORTING = """
import os

def kernel(x, y):
    y[0] = x[0]

os.abort()
"""


@pytest.mark.slow
def test_a_process_that_dies_names_its_trial():
    pair = (Argument("x", "array", shape=(2,)), Argument("y", "array", shape=(2,)))
    good = Trial(Case(0, ABORTING.replace("os.abort()", ""), pair), "fp32")
    bad = replace(good, case=replace(good.case, source=ABORTING))
    stuck = replace(good, case=replace(good.case, source=ABORTING.replace(
        "os.abort()", "import time\ntime.sleep(60)")))  # fmt: skip
    kinds = [o.kind for _, o in run_trials([good, bad, stuck, good], limit=10.0)]
    assert kinds == ["same", "aborted", "hung", "same"]
