"""Comparison with truth: metrics, counts of what is not finite, pairing, verdicts."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.comparison import compare, metrics
from sciprec.results.comparison.pointwise.pairing import VariablePair, pair
from sciprec.results.comparison.rows import growth
from sciprec.results.comparison.verdicts import judge


def pair_of(golden, actual, weights=1.0, scale=None):
    """A pair of plain arrays."""
    golden, actual = np.asarray(golden, float), np.asarray(actual, float)
    return VariablePair("x", "m", golden, actual, np.asarray(weights, float), scale)


@pytest.fixture
def truth(models):
    return models["climate"](None, "fp64")


@pytest.fixture
def half(models):
    return models["climate"](None, "fp16")


def test_metrics_equal_their_formulas():
    golden, actual, weights = [3.0, -4.0, 0.0], [3.5, -4.0, 1.0], [1.0, 2.0, 1.0]
    one = pair_of(golden, actual, weights, scale=np.array([0.25, 1.0, 2.0]))
    found = {name: m.compute(one) for name, m in metrics().items()}
    l2 = math.sqrt(1.25 / (9 + 32))
    expected = {
        "max_abs": 1.0,
        "rms": math.sqrt(1.25 / 4),
        "mean_abs": 1.5 / 4,
        "bias": 1.5 / 4,
        "relative_l2": l2,
        "relative_max": 1 / 4,
        "decimal_digits": -math.log10(l2),
        "max_relative": math.inf,
        "fewest_digits": 0.0,
        "max_ulp": math.inf,
        "correlation": np.cov(golden, actual, fweights=[1, 2, 1])[0, 1]
        / math.sqrt(np.prod([np.cov(x, fweights=[1, 2, 1]) for x in (golden, actual)])),
        "standard_errors": 2.0,
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=16 * np.finfo(float).eps), name
    percentiles = {"p50_abs": 0.5, "p90_abs": 1.0, "p50_relative": 0.5 / 3}
    percentiles["p99_relative"] = math.inf
    for name, value in percentiles.items():
        assert found[name] == pytest.approx(value, rel=0.0079), name
    assert math.isnan(found["share_of_change"])  # there is no axis of time
    assert found.keys() == expected.keys() | {"share_of_change"} | {
        f"p{p}_{kind}" for p in (50, 90, 95, 99) for kind in ("abs", "relative")
    }
    digits = -math.log10(2.0**-53)  # of equal arrays, which have no error
    equal = {"decimal_digits": digits, "fewest_digits": digits, "correlation": 1.0}
    for name, metric in metrics().items():
        if metric.of_end:
            continue
        same = pair_of([1.0, 2.0], [1.0, 2.0], scale=np.ones(2))
        assert metric.compute(same) == equal.get(name, 0.0), name


def test_nonfinite_points_are_counted_and_hide_nothing(truth, half):
    half["height"][0, 0, :3] = [np.nan, np.inf, -np.inf]
    row = compare(truth, half).row("height")
    assert (row.nonfinite_golden, row.nonfinite_actual, row.changed_nonfinite) == (0, 3, 3)
    assert row.verdict == "broken"
    assert all(math.isfinite(v) for k, v in row.errors.items() if k != "standard_errors")
    assert row.statistics.first_change["index"] == [0, 0, 0]
    truth["height"][0, 0, 0] = np.nan
    truth["height"][0, 0, 1] = -np.inf
    assert compare(truth, half).row("height").changed_nonfinite == 2


def test_bits_decide_what_is_identical(truth):
    same = truth.copy(deep=True)
    assert {r.verdict for r in compare(truth, same).rows} == {"identical"}
    same["u"][0, 0, 0] = -0.0 if math.copysign(1.0, float(same["u"][0, 0, 0])) > 0 else 0.0
    assert compare(truth, same).row("u").verdict != "identical"


def test_weights_are_the_areas_of_cells(truth, half):
    one = next(p for p in pair(truth, half) if p.name == "height")
    area = np.broadcast_to(truth["cell_area"].values, one.golden.shape)
    error = half["height"].values - truth["height"].values
    expected = math.sqrt((area * error**2).sum() / (area * truth["height"].values ** 2).sum())
    found = metrics()["relative_l2"].compute(one)
    assert found == pytest.approx(expected, rel=64 * np.finfo(float).eps)


def test_growth_is_the_error_of_each_time(truth, half):
    days, errors = growth(truth, half, "height")
    assert days.tolist() == [0.0, 1.0, 2.0, 3.0]
    last = compare(truth.isel(time=[3]), half.isel(time=[3])).row("height").errors["relative_l2"]
    assert errors[3] == pytest.approx(last, rel=1e-13)
    assert (np.diff(errors) > 0).all()
    assert compare(truth, half.isel(time=slice(0, 2))).row("mass").points == 2
    with pytest.raises(KeyError, match="no variable 'colour' was compared; compared: height"):
        compare(truth, half).row("colour")


def test_runs_on_other_points_are_refused_with_all_reasons(truth, half):
    other = half.drop_vars("u").isel(lat=slice(1, None)).assign_coords(lon=half["lon"] + 1.0)
    with pytest.raises(InputError) as caught:
        compare(truth, other)
    said = str(caught.value)
    assert "these runs are not comparable" in said
    assert "variables missing from the run: u" in said
    assert "axis 'lat' has 8 and 7 points" in said
    assert "the values of axis 'lon' differ" in said
    with pytest.raises(InputError, match="the truth holds no numeric variable"):
        compare(xr.Dataset(), half)
    for days, more, words in (
        (4.0, {}, r"scenario key 'climate.days' is 3.0 and 4.0; compare"),
        (3.0, dict.fromkeys("abcdef", 2), "'d' is 1 and 2; and 2 more; compare a run with the"),
    ):
        one = {"climate": {"days": 3.0}, "title": "one", **dict.fromkeys(more, 1)}
        truth.attrs["sciprec_scenario"] = json.dumps(one)
        other = {"climate": {"days": days}, "title": "two", **more}
        half.attrs["sciprec_scenario"] = json.dumps(other)
        with pytest.raises(InputError, match=words):
            compare(truth, half)


def judged(truth, run, limit, variable="height", metric="relative_l2", times="last"):
    """The verdict under one tolerance."""
    truth.attrs["sciprec_scenario"] = (
        f'{{"tolerance": [{{"variable": "{variable}", "metric": "{metric}", '
        f'"at_most": {limit}, "reason": "made up", "times": "{times}"}}]}}'
    )
    return judge(truth, run, compare(truth, run))


def test_verdicts(truth, half):
    truth.attrs["sciprec_backend"], half.attrs["sciprec_backend"] = "fp64", "fp16"
    error = growth(truth, half, "height")[1][-1]
    good, beyond = judged(truth, half, 2 * error), judged(truth, half, error / 4)
    assert (good.status, beyond.status) == ("good", "beyond")
    assert "2 times below the tolerance" in good.sentence
    assert "4 times above the tolerance" in beyond.sentence
    assert "(made up)" in beyond.sentence
    assert good.acceptable and not beyond.acceptable
    even = judged(truth, half, error)  # at most, as the scenario says
    assert even.status == "good" and "just below the tolerance" in even.sentence
    assert judge(truth, truth, compare(truth, truth)).status == "truth"
    copy = truth.assign_attrs(sciprec_backend="fp32")
    assert judge(truth, copy, compare(truth, copy)).status == "identical"
    del truth.attrs["sciprec_scenario"]
    assert "decimal digits" in judge(truth, half, compare(truth, half)).sentence


def test_a_tolerance_counts_at_the_last_stored_time_or_over_all(truth, half):
    truth.attrs["sciprec_backend"], half.attrs["sciprec_backend"] = "fp64", "fp16"
    whole = compare(truth, half).row("height").errors["relative_l2"]
    end = growth(truth, half, "height")[1][-1]
    assert 1.9 * whole < end  # of four times, the error grows from one to the next
    limit = 0.5 * (whole + end)
    last, every = judged(truth, half, limit), judged(truth, half, limit, times="all")
    assert (last.status, every.status) == ("beyond", "good")
    assert f"height: relative l2 error {end:.2g} at day 3" in last.sentence
    assert f"height: relative l2 error {whole:.2g} over all stored times" in every.sentence


def test_broken_runs(truth, half):
    half.attrs["blow_up"] = "day 2: height is not finite"
    verdict = judge(truth, half, compare(truth, half))
    assert verdict.status == "failed"
    assert verdict.sentence == "stopped early: day 2: height is not finite"
    half.attrs["blow_up"] = ""
    half["u"][0, 0, 0] = np.nan
    verdict = judge(truth, half, compare(truth, half))
    assert verdict.status == "broken"
    assert verdict.sentence.startswith("1 of 512 values of u are finite in one run and not")


def test_a_truth_that_is_not_finite_judges_nothing(truth, half):
    truth.attrs["sciprec_backend"], half.attrs["sciprec_backend"] = "fp64", "fp16"
    truth["height"][0, 0, :2] = half["height"][0, 0, :2] = np.nan
    own, other = (judge(truth, run, compare(truth, run)) for run in (truth, half))
    assert (own.status, other.status) == ("broken", "failed")
    assert own.sentence == "2 of 512 values of height are not finite in the truth itself"
    assert other.sentence.startswith("nothing can be compared: 2 of 512 values of height are not")
