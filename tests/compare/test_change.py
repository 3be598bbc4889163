"""The share of truth's change that a run misses, and runs in which nothing moves."""

import json
import math

import numpy as np
import pytest
import xarray as xr

from sciprec.results.comparison import compare
from sciprec.results.comparison.stored_metrics import judge_again
from sciprec.results.comparison.verdicts import judge
from sciprec.results.output.stated import BUDGETS

EPS = np.finfo(float).eps


def history(values, steps=1, **attributes):
    """A dataset of values along time, (nt, n) with areas."""
    values = np.asarray(values, float)
    return xr.Dataset(
        {"h": (("time", "x"), values, {"units": "m"}),
         "cell_area": ("x", np.linspace(1.0, 2.0, values.shape[1]))},
        {"time": ("time", np.arange(values.shape[0], dtype=float), {"units": "s"})},
        {"steps": steps, **attributes},
    )  # fmt: skip


def row_of(truth, run, **given):
    return compare(truth, run, **given).row("h")


@pytest.mark.parametrize(("seed", "exponent"), [(1, -900), (2, 0), (3, 0), (4, 900)])
def test_share_is_the_error_over_truths_change_at_the_end(seed, exponent):
    rng = np.random.default_rng(seed)
    shape = int(rng.integers(2, 40)), int(rng.integers(1, 30))
    golden = rng.normal(size=shape) + np.linspace(0.0, 5.0, shape[0])[:, None]
    actual = golden + 10.0 ** rng.uniform(-9, 0) * rng.normal(size=shape)
    if seed % 2 and shape[1] > 2:
        golden[0, 1] = actual[-1, 2] = np.nan
    good = np.isfinite(golden[0]) & np.isfinite(actual[-1])
    area = np.linspace(1.0, 2.0, shape[1])[good]
    error, moved = (actual - golden)[-1, good], (golden[-1] - golden[0])[good]
    expected = math.sqrt((area * error**2).sum() / (area * moved**2).sum())
    row = row_of(history(golden * 2.0**exponent), history(actual * 2.0**exponent))
    assert row.errors["share_of_change"] == pytest.approx(expected, rel=64 * EPS)


def random_history(kind, rng):
    """Truth of a kind, over at most 60 stored times of 20 numbers, and a run with small errors."""
    times, size = int(rng.integers(20, 60)), 20
    base = 10.0 ** rng.uniform(-3, 5) * rng.uniform(0.5, 1.0, size)
    steps = int(10.0 ** rng.uniform(1, 6))
    own = 2.0**-53 * base * math.sqrt(steps)
    noise = own * np.cumsum(rng.normal(size=(times, size)) / math.sqrt(times), axis=0)
    along = np.linspace(0.0, 1.0, times)[:, None]
    if kind == "steady":
        golden = base + noise
        golden[0] = base
    elif kind == "periodic":
        amplitude = base * 10.0 ** rng.uniform(-4, 0)
        turns = rng.integers(1, 4)
        golden = base + amplitude * (1 - np.cos(2 * np.pi * turns * along)) + noise
    else:
        golden = base * (1 + 10.0 ** rng.uniform(-8, 0) * along) + noise
    return golden, steps


@pytest.mark.parametrize("seed", range(4))
def test_a_dash_stands_where_truth_does_not_change(seed):
    rng = np.random.default_rng(seed)
    for kind in ("steady", "periodic"):
        golden, steps = random_history(kind, rng)
        run = golden * (1.0 + 1e-7 * rng.normal(size=golden.shape))
        row = row_of(history(golden, steps), history(run, steps), rtol=1e-2)
        assert math.isnan(row.errors["share_of_change"]), kind
        assert row.verdict == "noise"


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_stands_where_truth_moves_is_named(seed):
    rng = np.random.default_rng(seed)
    golden, steps = random_history("moving", rng)
    truth = history(golden, steps)
    for share, still in ((0.0, True), (0.4, True), (0.6, False), (1.0, False)):
        run = history(golden[0] + share * (golden - golden[0]) * (1.0 + 1e-12), steps)
        row = row_of(truth, run, rtol=1.0)
        assert (row.verdict == "still") == still
        assert row.errors["share_of_change"] == pytest.approx(1.0 - share, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_chaotic_run_that_ends_where_it_began_has_not_stood(seed):
    """lorenz96 with a carry was called still: its mean had come back at the last time."""
    rng = np.random.default_rng(seed)
    golden, run = (300.0 + rng.uniform(-0.5, 0.5, (40, 5)) for _ in range(2))
    run[0] = golden[0]
    golden[-1], run[-1] = golden[0] + 0.19, golden[0] + 0.057
    row = row_of(history(golden), history(run), rtol=1.0)
    assert row.change.counts and row.verdict == "noise"
    run[1:-1] = golden[0] + 0.057 * rng.uniform(-1.0, 1.0, (38, 5))
    row = row_of(history(golden), history(run), rtol=1.0)
    assert row.verdict == "still"
    words = "h moves 30 % as far as in the truth: by 0.057 m, and there by 0.19 m"
    assert row.standstill() == words


def test_a_budget_that_a_flow_keeps_is_no_state_that_stands():
    """fp32 was called still since the mean enstrophy changed by 1.3e-19 in the truth."""
    golden = 7.6e-13 * (1.0 + 1.7e-7 * np.linspace(0.0, 1.0, 11))
    mean = {"units": "m-1 s-2", "cell_methods": "time: point area: mean"}
    for name, verdict in (
        ("potential_enstrophy", "noise"), ("heat", "noise"), ("global_mean_heat", "still"),
    ):  # fmt: skip
        truth, run = (
            xr.Dataset(
                {name: ("time", values, mean)}, {"time": np.arange(11.0)}, {BUDGETS: "heat"}
            )
            for values in (golden, np.full(11, golden[0]))
        )  # fmt: skip
        assert compare(truth, run, rtol=1e-4).row(name).verdict == verdict


def test_a_tolerance_of_a_dash_judges_nothing():
    tolerance = [{"variable": "h", "metric": "share_of_change", "at_most": 0.1, "reason": "r"}]
    scenario = {"sciprec_scenario": json.dumps({"tolerance": tolerance})}
    golden = history(np.full((5, 3), 300.0), 100, **scenario)
    run = golden.copy(deep=True)
    run["h"] = run["h"] + 1e-3
    verdict = judge(golden, run, compare(golden, run))
    assert verdict.status == "unjudged"
    assert verdict.sentence == (
        "h: no share of change can be held against the tolerance 0.1: truth changes by 0 m, which "
        "its own error of about 3.3e-13 m explains"
    )
    golden["h"][2] += 1.0
    golden["h"][4] += 0.02
    verdict = judge(golden, run, compare(golden, run))
    assert verdict.sentence.endswith(
        "truth is 0.02 m from its start again, and was 1 m before"
    )


def test_the_command_names_what_stands_still(tmp_path, call):
    golden = history(300.0 + np.linspace(0.0, 3.0, 4)[:, None] * np.ones(2), 1000)
    run = history(np.full((4, 2), 300.0), 1000)
    files = tmp_path / "a.nc", tmp_path / "b.nc"
    golden.to_netcdf(files[0])
    run.to_netcdf(files[1])
    code, out, _ = call("compare", *files, "--rtol", "1%")
    assert code == 1
    assert "h still: nothing moves: h changes by 3 m in the truth, and by 0 m here; " in out
    assert "share of change" in out.replace("\n", " ")
    (tmp_path / "m.json").write_text(call("compare", *files, "--json")[1])
    assert judge_again(tmp_path / "m.json", rtol=0.01).row("h").verdict == "still"
