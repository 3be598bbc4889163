"""The share of truth's change that a run misses, and runs in which nothing moves."""

import json
import math

import numpy as np
import pytest
import xarray as xr

import sciprec
from sciprec.results.comparison import compare
from sciprec.results.comparison.pointwise import change
from sciprec.results.comparison.stored_metrics import judge_again
from sciprec.results.comparison.verdicts import judge
from sciprec.results.output.stated import BUDGETS
from tests.shell.conftest import undrawn

__all__ = ["undrawn"]
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


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("exponent", [-900, 0, 900])
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


def test_blocks_and_order_of_axes_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    golden = history(np.cumsum(rng.normal(size=(30, 50)), axis=0))
    actual = golden.copy(deep=True) * 1.001
    expected = row_of(golden, actual).errors["share_of_change"]
    turned = row_of(golden.transpose(), actual.transpose()).errors["share_of_change"]
    chunked = row_of(golden.chunk({"time": 7}), actual.chunk({"x": 9})).errors["share_of_change"]
    assert expected == turned == chunked
    monkeypatch.setattr(change, "BLOCK", 8)
    assert row_of(golden, actual).errors["share_of_change"] == pytest.approx(expected, rel=64 * EPS)


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


@pytest.mark.parametrize("seed", range(30))
def test_a_dash_stands_where_truth_does_not_change(seed):
    rng = np.random.default_rng(seed)
    for kind in ("steady", "periodic"):
        golden, steps = random_history(kind, rng)
        run = golden * (1.0 + 1e-7 * rng.normal(size=golden.shape))
        row = row_of(history(golden, steps), history(run, steps), rtol=1e-2)
        assert math.isnan(row.errors["share_of_change"]), kind
        assert row.verdict == "noise"


@pytest.mark.parametrize("seed", range(30))
def test_a_run_that_stands_where_truth_moves_is_named(seed):
    rng = np.random.default_rng(seed)
    golden, steps = random_history("moving", rng)
    truth = history(golden, steps)
    for share, still in ((0.0, True), (0.4, True), (0.6, False), (1.0, False)):
        run = history(golden[0] + share * (golden - golden[0]) * (1.0 + 1e-12), steps)
        row = row_of(truth, run, rtol=1.0)
        assert (row.verdict == "still") == still
        assert row.errors["share_of_change"] == pytest.approx(1.0 - share, abs=1e-6)


@pytest.mark.parametrize("seed", range(20))
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


def test_what_has_no_time_has_no_share():
    one = history([[1.0, 2.0]])
    assert row_of(one, one * 1.1).change is None
    plain = xr.Dataset({"h": ("x", [1.0, 2.0])})
    assert math.isnan(row_of(plain, plain * 1.1).errors["share_of_change"])


def slab(ts, steps, flux):
    for _step in range(steps):
        for i in range(ts.size):
            ts[i] = ts[i] + 600.0 * (flux - 1.2 * (ts[i] - 288.15)) / (4184000.0 * 50.0)


def slab_history(out, steps, flux):
    x = out[0]
    for k in range(1, out.size):
        for _step in range(steps):
            x = x + 600.0 * (flux - 1.2 * (x - 288.15)) / (4184000.0 * 50.0)
        out[k] = x


def test_a_study_says_that_a_slab_does_not_warm(tmp_path, undrawn):
    args = np.array([288.15]), 3000, 3.7
    result = sciprec.study(slab, args, backends="fp32", tolerance=1e-2, out=tmp_path)
    row = result.table[1]
    assert row["status"] == "still"
    assert row["reason"].startswith(
        "nothing moves: ts changes by 0.032 in the truth, and by 0 here; ts: relative l2 error "
    )
    assert row["errors"]["share_of_change"] == pytest.approx(1.0, abs=1e-3)
    still = sciprec.study(
        slab, (np.array([288.15]), 30, 0.0), backends="fp32", tolerance=1e-2,
        metric="share_of_change", out=tmp_path / "steady",
    )  # fmt: skip
    assert still.table[1]["errors"]["share_of_change"] is None


def test_a_search_for_bits_does_not_take_what_stands_still(tmp_path, undrawn):
    args = np.array([288.15]), 3000, 3.7
    found = sciprec.study(slab, args, search="bits", tolerance=1e-2, out=tmp_path).search
    assert 24 <= found.bits <= 30  # an error of 1 % of 288 K is met by 7


def test_a_share_is_a_tolerance_at_the_last_time(tmp_path, undrawn):
    args = {"out": np.full(11, 288.15), "steps": 300, "flux": 3.7}
    result = sciprec.study(
        slab_history, args, backends=["fp32", "float:p=40,emin=-126,emax=127"], tolerance=0.01,
        metric="share_of_change", axes={"out": "time"}, out=tmp_path,
    )  # fmt: skip
    lost, kept = result.table[1:]
    assert (lost["status"], kept["status"]) == ("beyond", "good")
    missed = "; out: share of change 1 at time 10, 100 times above the tolerance 0.01"
    assert missed in lost["reason"]


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
