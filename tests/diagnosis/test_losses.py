"""What a trace says of results that are not finite, of those made of an infinity, and of those
beside singularities: nothing that misleads.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from sciprec import InputError, lift, trace
from sciprec.arrays.metrics import METRICS, TITLES
from sciprec.results.comparison.pointwise.error_metrics import metrics


def mean(x):
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total / x.size


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
    """The rest of a removed square is larger than the last one, 12.5."""
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
    windows(given, mine)
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


# ---- decisions ---------------------------------------------------------------------------------
