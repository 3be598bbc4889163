"""`tune` judged as `lift` runs its answer: whole formats, integer results, hidden elements, and
searches in which loads, arguments and comparisons have formats, too.
"""

import itertools
import math

import numpy as np
import pytest

from sciprec import Assignment, InputError, lift, trace, tune
from sciprec.instruments.assigning.configured import Configured
from sciprec.instruments.assigning.matching import Matching
from sciprec.instruments.assigning.rows import layout_of
from tests.diagnosis.model_programs import ROOT
from tests.draws import few
from tests.precision.comparison import assert_same
from tests.precision.test_assignments import numbers
from tests.tuning.branching_survey import differences


def limited(q, n, qsmall, out):
    for i in range(q.size):
        slope = 0.0
        if q[i] > qsmall:
            slope = n[i] * 2.0
        if q[i] >= qsmall:
            out[i] = n[i] / slope


QSMALL = 1e-18
NEAR = (
    np.array([2.0, 1.5, 1 + 1e-9, 0.5]) * QSMALL, np.array([0.3, 0.4, 0.1, 0.6]), QSMALL,
    np.zeros(4),
)  # fmt: skip


def steps(step, end):
    t = 0.0
    count = 0
    while t < end:
        t += step
        count += 1
    return count


def lost(x, y, out):
    for i in range(x.size):
        out[i] = (x[i] + y[i]) - x[i]


def test_formats_that_break_whole_are_told():
    """Formats that a study calls broken: one step of fp32 above qsmall there is nothing."""
    found = tune(limited, NEAR, tolerance=1e-2, formats=("fp64", "fp32"))
    assert found.good and found.error == 0.0 and found.cost == 0.5
    assert "Lifted whole to 'fp32' (inf) it misses: loads, arguments and" in found.verdict
    whole = {t.label: t.error for t in found.pareto if t.label in found.formats}
    assert whole == {"fp32": math.inf, "fp64": 0.0}
    assert "loads, arguments and comparisons as they are" in str(found)


def test_a_search_of_everything_leaves_wide_what_decides():
    found = tune(limited, NEAR, tolerance=1e-2, formats=("fp64", "fp32"), rounds="everything")
    first = limited.__code__.co_firstlineno
    assert found.good and found.rounds == "everything" and "Lifted whole" not in found.verdict
    assert dict(found.assignment) == dict.fromkeys([first + 4, first + 5, first + 6], "fp32")
    assert found.assignment.everything and "compared numbers among them" in str(found)
    out = np.zeros(4)
    found.apply()(*NEAR[:3], out)
    assert np.array_equal(out[:3], [0.5, 0.5, 0.5])
    assert found.as_dict()["assignment"]["rounds"] == "everything"


def test_integer_results_are_judged():
    exact = steps(0.1, 3600.0)
    narrow = lift(steps, "fp32")(0.1, 3600.0)
    off = abs(narrow - exact) / exact
    assert 0.0 < off < 1e-2
    found = tune(steps, (0.1, 3600.0), tolerance=1.01 * off, formats=("fp64", "fp32"))
    assert found.good and found.error == pytest.approx(off) and found.cost == 0.5
    found = tune(steps, (0.1, 3600.0), tolerance=0.5 * off, formats=("fp64", "fp32"))
    assert found.cost == 1.0 and not found.assignment


def test_a_wrong_element_of_a_good_answer_is_named(tmp_path):
    args = np.array([1e9, 1.0, 1.0]), np.array([3.5, 1e9, 1e9]), np.zeros(3)
    for _ in range(2):  # the second time from the disk
        found = tune(lost, args, tolerance=1e-3, formats=("fp64", "fp32"))
        assert found.good and "But out[0] is 0 for 3.5, which this error hides." in found.verdict
    kept = np.ones(3), *args[1:]
    checked = tune(lost, kept, tolerance=1e-3, formats=("fp64", "fp32"), check=args)
    assert checked.good and "out[0] is 0 for 3.5 on the inputs of the check" in checked.verdict


def quotients(x, y, out):
    total = 0.1
    for i in range(x.size):
        if y[i] * x[i] < x[0]:
            total += max(x[i], y[i]) / 3
        out[i] = -total
    return total, np.floor(y[2]), np.sum(x)


def test_one_format_for_everything_is_the_backend_of_that_format(name="mlu370"):
    """In both forms, whatever the numbers are that it is given."""
    assignment = Assignment({}, default=name, rounds="everything")
    known, plain = assignment.arithmetics, lift(quotients, name)
    made = Configured(quotients, layout_of(known), formats=known, after=0.0, everything=True)
    table = made.table(Matching(assignment, quotients).arithmetics)
    forms = [lift(quotients, assignment), lambda *args: made(table, *args)]
    for seed, form in itertools.product(range(4), forms):
        given, expected = ((numbers(24, seed), numbers(24, seed + 1), np.zeros(24)) for _ in "ab")
        assert_same(form(*given), plain(*expected), f"results of {seed}")
        assert_same(given, expected, f"arrays of {seed}")


@pytest.mark.parametrize("seed", few((0, 1, 6, 8, 19, 25), 2))
def test_answers_of_random_branches_are_those_of_an_oracle(seed, tmp_path):
    assert not differences(seed, tmp_path)


@pytest.mark.slow
def test_a_model_is_tuned_in_everything(call, tmp_path):
    """And lifted whole to each format."""
    waves = ("--plugin", ROOT / "examples/lorenz96.py")
    given = (ROOT / "examples/lorenz96.toml", "--set", "lorenz96.days=0.5")
    mix = tmp_path / "mix.toml"
    asked = ("--tolerance", "1e-2", "--rounds", "everything", "--save", mix)
    status, out, said = call(*waves, "tune", *given, *asked)
    assert status == 0 and "compared numbers among them" in out, said
    assert all(f"lifted whole to {name}: cost" in out for name in ("fp64", "fp32", "bf16"))
    assert Assignment.load(mix).everything


def chosen(x, y):
    if x[0] * y[0] > 0.1:
        return x.sum() + np.dot(x, y)
    return 0.0


@pytest.mark.parametrize(
    ("by", "rounds"), [("operation", "operations"), ("variable", "everything")]
)
def test_every_place_of_an_answer_is_found_again(by, rounds, tmp_path):
    """Places without a variable, on several lines, and in the engine's own kernels."""
    args = np.linspace(0.5, 1.5, 9) * 1.1, np.linspace(1.0, 3.0, 9) * 0.7
    found = tune(chosen, args, tolerance=1e-4, formats=("fp64", "fp32"), by=by, rounds=rounds)
    assert found.assignment and found.error == found._problem.error(found._choice) > 0.0
    result = found.apply()(*args)
    path = found.save(tmp_path / "found.toml")
    assert result == lift(chosen, f"assignment:{path}")(*args) != lift(chosen, "fp64")(*args)


def test_files_say_what_rounds(tmp_path):
    first = limited.__code__.co_firstlineno
    made = Assignment({first: "fp16", first + 3: "fp32"}, rounds="everything", kernel=limited)
    path = made.save(tmp_path / "mix.toml")
    again = Assignment.load(path)
    assert again == made and again.everything and 'rounds = "everything"' in path.read_text()
    assert "too" in again.as_backend().about and "arguments and comparisons too" in str(again)
    operations = Assignment({first + 4: "fp32"}, kernel=limited)
    assert "rounds" not in operations.save(tmp_path / "two.toml").read_text()
    path.write_text(path.read_text().replace('"everything"', '"all"'))
    with pytest.raises(InputError, match="rounds 'all' is unknown"):
        Assignment.load(path)


def test_refusals():
    with pytest.raises(InputError, match="rounds 'all' is unknown.*operations, everything"):
        tune(limited, NEAR, tolerance=1e-2, rounds="all")
    whole = Assignment({}, default="bf16", rounds="everything")
    with pytest.raises(InputError, match="trace and bound take assignments of operations alone"):
        trace(limited, whole, NEAR)
