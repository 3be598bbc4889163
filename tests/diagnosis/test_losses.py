"""What a trace says of results that are not finite, of those made of an infinity, and of those
beside singularities: nothing that misleads.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from sciprec import InputError, lift, trace
from sciprec.comparison.pointwise.error_metrics import metrics
from sciprec.diagnosis.metrics import METRICS, TITLES
from tests.diagnosis.headline_survey import drawn, wrong


def gradient(p, dx, out):
    for i in range(1, p.size - 1):
        out[i] = (p[i + 1] - p[i - 1]) / (2.0 * dx)


def test_elements_that_overflow_when_they_are_loaded_are_an_event():
    p = 101_325.0 + 10.0 * np.arange(18.0)
    p[0] = 7.0
    found = trace(gradient, "fp16", (p, 1000.0, np.zeros(18)))
    assert found.verdict == (
        "'gradient' in fp16 gives an infinity first in argument p[1] = 101,335, 17 of 18 elements: "
        "the format ends at 65,504."
    )
    event = found.events[0]
    assert (event.kind, event.argument, event.count, event.of) == ("infinity", "p", 17, 18)
    assert found.outcome.lost == found.left_out == 16 and found.outcome.nans == 15
    check = found.verify().checks[0]
    assert check.lines == ("argument p",) and check.measured == 1 / 16
    assert check.words == "–: 1 instead of 16 of 18 numbers are not finite then"


def scaled(x, out):
    for i in range(x.size):
        out[i] = 2.0 * x[i]


def test_elements_that_vanish_or_saturate_when_they_are_loaded():
    found = trace(scaled, "fp16", (np.array([1e-9, 2e-9, 1e-3]), np.zeros(3)))
    assert [str(e) for e in found.events] == [
        "underflow to zero in argument x[0] = 1e-09, 2 of 3 elements"
    ]
    small = trace(scaled, "fp16", (np.full(3, 1e-9), np.zeros(3)))
    assert small.verdict == (
        "'scaled' in fp16 underflows to zero in argument x[0] = 1e-09, 3 of 3 elements; the format "
        "begins at 5.96e-08, and 100% of the error is of that argument."
    )
    narrow = "float:p=8,emin=-10,emax=10,overflow=saturate"
    held = trace(scaled, narrow, (np.full(2, 1e5), np.zeros(2)))
    assert "saturates in argument x[0] = 100,000, 2 of 2 elements" in held.verdict


def test_elements_that_nothing_depends_on_are_no_event():
    """What was in an array before it was written is not looked at."""
    found = trace(scaled, "fp16", (np.ones(3), np.full(3, 1e9)))
    assert not found.events and "no error" in found.verdict


def difference_of_roots(x, y, out):
    for i in range(x.size):
        far = math.sqrt(x[i] - y[i])
        out[i] = y[i] * math.log(x[i]) - far


def test_an_element_that_gives_nan_whatever_its_size_is_still_an_event():
    """Found by the survey: 1 in its place gives NaN, too, and the end of the format does not."""
    args = np.array([1100.0, 1.5e8]), np.array([150.0, 114.0]), np.zeros(2)
    found = trace(difference_of_roots, "fp16", args)
    assert "an infinity first in argument x[1] = 1.5e+08, 1 of 2 elements" in found.verdict


def mean(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total / x.size


def test_a_finite_result_of_an_overflow_has_its_error():
    """The count overflows, and 2048 over infinity is zero: all of the error, and none in parts."""
    found = trace(mean, "fp16", (np.ones(2**17),))
    assert "gives an infinity first in line" in found.verdict
    assert found.outputs["return"] == pytest.approx(1.0)
    assert (found.outcome.lost, found.outcome.passed) == (0, 1)
    assert "not finite, and exact" not in repr(found)


def inverse(x, out):
    for i in range(x.size):
        out[i] = 1.0 / x[i]


def test_a_finite_result_is_not_said_to_be_none():
    found = trace(inverse, "fp16", (np.full(4, 1e5), np.zeros(4)))
    assert "an infinity first in argument x[0] = 100,000, 4 of 4 elements" in found.verdict
    assert found.outputs["out"] == pytest.approx(1.0) and found.outcome.passed == 4


def saturation_of(x, out):
    for i in range(x.size):
        out[i] = x[i] * x[i] / (x[i] * x[i] + 1.0)


def test_nan_behind_an_infinity_is_told():
    found = trace(saturation_of, "fp16", (np.array([300.0, 2.0]), np.zeros(2)))
    assert "which makes NaN of 1 of 2 numbers" in found.verdict


def one_of_two(x, y, out):
    for i in range(x.size):
        far = x[i] * x[i]
        near = y[i] - 300.25
        out[i] = 1.0 / far + math.sqrt(near * near - 0.0625)


def test_an_infinity_without_consequence_does_not_hide_what_loses_results():
    """1 / infinity is right to the last digit; the root of a negative number is not."""
    x, y = np.array([3e19, 2.0]), np.array([310.0, 300.6])
    found = trace(one_of_two, "bf16", (x, y, np.zeros(2)))
    first = next(e for e in found.events if e.kind == "infinity")
    assert "far =" in first.source and first.index == "i = 0"
    assert "gives NaN first in line" in found.verdict and "at i = 1" in found.verdict


def likelihood(x):
    total = 0.0
    for i in range(x.size):
        p = math.exp(-x[i] * x[i])
        total += math.log(p)
    return total


def test_what_underflows_one_line_above_is_the_cause():
    found = trace(likelihood, "fp16", (np.array([1.0, 2.0, 5.0]),))
    assert "the cause is underflow to zero in line" in found.verdict
    assert "p = math.exp(-x[i] * x[i])" in found.verdict


def logarithm_beside(x):
    return math.log1p(-x[0])


def test_an_array_that_is_rounded_is_a_cause():
    found = trace(logarithm_beside, "bf16", (np.array([0.9999]),))
    assert "the cause is rounding of argument x." in found.verdict


def flushed(x, out):
    for i in range(x.size):
        square = x[i] * x[i]
        small = x[i] * 0.0005
        out[i] = 1.0 + square + small * small


def test_every_line_that_underflows_is_counted():
    found = trace(flushed, "fp16", (np.full(6, 1e-4), np.zeros(6)))
    told = [(e.kind, e.source.partition(" =")[0], e.count) for e in found.events]
    assert told == [
        ("underflow to zero", "square", 6), ("underflow to zero", "out[i]", 6),
    ]  # fmt: skip


def angle(x, y, out):
    for i in range(x.size):
        out[i] = math.asin(math.sqrt(x[i] * x[i] + y[i] * y[i]))


def test_elements_beside_a_singularity_are_left_out_and_counted():
    """Their slopes are infinite or huge, and no share of them says anything."""
    turn = np.random.default_rng(2).uniform(0.0, 1.57, 50)
    found = trace(angle, "fp16", (np.sin(turn), np.cos(turn), np.zeros(50)))
    assert found.outcome.singular > 10 and "as beside a singularity" in repr(found)
    assert sum(line.share for line in found.lines) == pytest.approx(1.0)
    assert all(abs(line.share) < 2.0 for line in found.lines)
    assert "nan" not in repr(found).replace("singularity", "")


def distances(x, out):
    for i in range(x.size):
        for j in range(x.size):
            both = x[i] * x[j]
            square = x[i] * x[i] + x[j] * x[j] - 2.0 * both
            out[i, j] = math.sqrt(max(square, 0.0))


def test_exact_zeros_among_results_leave_the_shares_of_others():
    """A distance from itself is zero, whose root has an infinite slope."""
    x = np.random.default_rng(3).normal(2.0, 0.5, 6)
    found = trace(distances, "fp32", (x, np.zeros((6, 6))))
    assert sum(line.share for line in found.lines) == pytest.approx(1.0)
    assert 0 < found.outcome.singular <= 6 and "none" not in found.verdict


# ---- which error -------------------------------------------------------------------------------


def windows(x, out):
    """Sums of squares about the mean of two neighbours, kept by adding and taking away."""
    mean = x[0]
    square = 0.0
    for i in range(1, x.size):
        square += (x[i] - x[i - 1]) * (x[i] - x[i - 1]) * 0.5
        if i > 1:
            square -= (x[i - 1] - x[i - 2]) * (x[i - 1] - x[i - 2]) * 0.5
        out[i] = square
    return mean


FAR = np.array([1.2e3, 1.3e9, 1.5e9, 1995.0, 1990.0])


def test_a_wrong_number_that_the_norm_hides_is_named():
    """What is left of a removed square is larger than the last one, 12.5."""
    found = trace(windows, "fp64", (FAR, np.zeros(5)), output="out")
    assert "No line stands out" in found.verdict
    worst = found.outcome.worst
    assert worst.name == "out[4]" and worst.truth == 12.5 and abs(worst.found) != 12.5
    assert found.verdict.endswith(f"Its norm hides that out[4] is {worst.found:.6g} for 12.5.")
    by_one = trace(windows, "fp64", (FAR, np.zeros(5)), output="out", metric="max_relative")
    assert "100% of the error" in by_one.verdict
    assert by_one.outputs["out"] == pytest.approx(abs(worst.found - 12.5) / 12.5)


def test_a_wrong_number_is_named_where_exact_values_are_lost_beside_it():
    """Of 1.3e17 and 1.5e17 squares of differences need more than 106 bits beside 12.5."""
    given = np.array([1.2e3, 1.3e17, 1.5e17, 1995.0, 1990.0])
    found = trace(windows, "fp64", (given, np.zeros(5)), output="out")
    end = re.search(r" Its norm hides that (out\[4\]) is (\S+), where exact values are below (\S+)",
                    found.verdict)  # fmt: skip
    mine = np.zeros(5)
    lift(windows, "fp64")(given, mine)
    assert end and float(end[2]) == pytest.approx(mine[4], rel=1e-5)
    assert 12.5 <= float(end[3].rstrip(".")) < 1e6


def products(x, y, out):
    for i in range(x.size):
        out[i] = x[i] * y[i] - 0.7


@pytest.mark.parametrize("metric", METRICS)
def test_a_metric_says_what_is_split(metric):
    """Of one number the parts of a call with it alone; errors are those of a study."""
    rng = np.random.default_rng(5)
    x, y = rng.uniform(0.5, 2.0, (2, 9))
    made, exact = np.zeros(9), np.array([a * b - 0.7 for a, b in zip(x, y, strict=True)])
    lift(products, "fp16")(x, y, made)
    found = trace(products, "fp16", (x, y, np.zeros(9)), metric=metric, samples=1)
    assert found.outputs["out"] == pytest.approx(METRICS[metric](made, exact), rel=1e-9)
    assert sum(line.share for line in found.lines) == pytest.approx(1.0)
    assert f"{TITLES[metric]}: out" in repr(found) and TITLES[metric] == metrics()[metric].title
    sizes = abs(made - exact) / (abs(exact) if metric == "max_relative" else 1.0)
    worst = int(np.argmax(sizes))
    one = slice(worst, worst + 1)
    some = (x[one], y[one]) if metric.startswith("max") or metric == "relative_max" else (x, y)
    alone = trace(products, "fp16", (*some, np.zeros(some[0].size)), samples=1)
    assert [n.share for n in found.lines] == pytest.approx([n.share for n in alone.lines])


def test_a_metric_that_is_not_known_is_refused():
    with pytest.raises(InputError, match="unknown metric 'max'; .*relative_max"):
        trace(mean, "fp16", (np.ones(3),), metric="max")


def steep(x, out):
    for i in range(x.size):
        first = 0.3 * x[i]
        second = 0.3 * x[i]
        out[i] = math.atan(3e4 * (first - second)) + x[i] / 7.0


def test_a_part_far_beyond_the_error_that_no_run_confirms_predicts_nothing():
    """Two parts cancel; one of them alone would be beyond the arctangent's range."""
    found = trace(steep, "fp16", (np.array([1.2001953125]), np.zeros(1)), samples=1)
    check = next(c for c in found.verify().checks if math.isnan(c.predicted))
    assert not check.agrees and check.measured > 100.0
    assert "times the error, and a function is far from linear there" in check.words


def test_an_error_beside_parts_that_cancel_is_no_none():
    """The arcsine's slope at 1 is infinite, and its value is rounded all the same."""
    turn = np.array([0.3])
    found = trace(angle, "fp16", (np.sin(turn), np.cos(turn), np.zeros(1)), samples=1)
    assert found.outputs["out"] > 3e-4
    assert found.verdict.startswith("No line can be named: the error of 'angle' in fp16 is 0.0003")


# ---- decisions ---------------------------------------------------------------------------------


def guarded(x, out):
    for i in range(x.size):
        left = x[i] * x[i] - x[i] * x[i]
        if left + x[i] * 0.001 > 0.0:
            out[i] = x[i] * 2.0


def test_a_decision_that_keeps_a_kernel_from_writing_is_the_verdict():
    """Infinity less infinity is larger than nothing."""
    found = trace(guarded, "fp16", (np.full(3, 300.0), np.zeros(3)))
    assert "Exact values decide otherwise in line" in found.verdict and "at i = 0" in found.verdict
    assert "stores nothing into out, and its results are 1 from exact ones" in found.verdict
    likewise = trace(guarded, "fp16", (np.full(3, -3.0), np.zeros(3)))
    assert likewise.verdict == (
        "No error: 'guarded' in fp16 stores nothing into out, and exact values decide likewise."
    )


def fourth_power(x, out):
    y = x * x * x * x
    z = y - y
    if z >= 0.0:
        out[0] = z


def test_a_decision_beside_exact_values_that_are_zero_is_told_in_their_units():
    """NaN is not above zero: what was given stays, where exact values store a zero."""
    found = trace(fourth_power, "fp16", (300.0, np.ones(1)))
    assert found.verdict.endswith(
        "if z >= 0.0. 'fourth_power' in fp16 stores nothing into out, and its results are up to 1 "
        "from exact ones, which are zero; rounding on its own path makes 0."
    )


def limited(q, n, out):
    for i in range(q.size):
        small = max(q[i], 0.5) * 1.0
        out[i] = 0.01 * small
        if q[i] > 1.0:
            out[i] = n[i] / 3.0


def test_a_decision_that_explains_more_than_the_shares_is_the_verdict():
    q, n = np.array([1.0001, 1.0002, 0.5001, 2.0]), np.ones(4)
    found = trace(limited, "bf16", (q, n, np.zeros(4)))
    assert found.verdict.startswith("Exact values decide otherwise in line")
    assert "if q[i] > 1.0. 'limited' in bf16 gives results that are" in found.verdict
    exact = np.zeros(4)
    limited(q, n, exact)
    made = np.zeros(4)
    lift(limited, "bf16")(q, n, made)
    far = METRICS["relative_l2"](made, exact)
    assert f"results that are {far:.2g} from exact ones" in found.verdict


def bisected(x, out):
    for i in range(x.size):
        low = 0.0
        high = 2.0
        for _ in range(20):
            middle = 0.5 * (low + high)
            if middle * middle * middle > x[i]:
                high = middle
            else:
                low = middle
        out[i] = 0.5 * (low + high)


def test_a_decision_without_consequence_is_no_verdict():
    """The last ones of a bisection follow what is rounded."""
    found = trace(bisected, "fp16", (np.array([0.3, 1.1, 2.0]), np.zeros(3)))
    assert found.branches and "No line stands out" in found.verdict


def until_nothing_is_left(x):
    count = 0.0
    while x > 0.0:
        x = x * 0.99
        count += 1.0
    return count


def test_a_run_whose_exact_decisions_take_much_longer_is_given_up():
    """Exact values are above zero for some 74,000 passes."""
    found = trace(until_nothing_is_left, "float:p=11,emin=-14,emax=15,round=rz", (0.3,))
    assert found.branches and "decide otherwise" not in found.verdict


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 3, 5, 6, 9, 11, 12, 462])
def test_verdicts_of_random_kernels(seed, tmp_path):
    """A sample of the survey."""
    case = drawn(seed, tmp_path)
    assert case is not None and not wrong(case)
