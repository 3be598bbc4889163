"""Lost updates: what carried sums do not store is what exact sums say, and faults are named."""

from fractions import Fraction

import numpy as np
import pytest

import sciprec
from sciprec.foundation.errors import InputError
from sciprec.tools.monitor.alerts import OVER_ALL
from sciprec.tools.monitor.lost import LEAST_TRUE_SIZE
from sciprec.workbench.models.arithmetic import ModelArithmetic
from tests.monitoring import random_sums
from tests.monitoring.random_sums import (
    KERNELS,
    PLANTED,
    elements,
    lost_sums,
    of_pilot,
    random_case,
    share_lost,
)

LIMIT = 0.5


def judged(seeds, **drawn):
    """Faults that are missed, and harmless sums that are named, with how many there are of each."""
    counts, missed, false = [0, 0], [], []
    for seed in seeds:
        case = random_case(seed, **drawn)
        sums, left = lost_sums(case.kernel, case.backend, case.x, case.d)
        alarm = any(s.alarms(LIMIT) for s in sums)
        share, change = share_lost(case, left[0])
        if case.kind in PLANTED and share >= 0.55 and change > 1.5 * LEAST_TRUE_SIZE:
            counts[0] += 1
            missed += [(seed, case)] * (not alarm)
        elif share <= 0.4:
            counts[1] += 1
            false += [(seed, case)] * alarm
    return counts, missed, false


@pytest.mark.slow
def test_faults_of_random_sums_are_named_and_harmless_ones_are_not():
    (faults, harmless), missed, false = judged(
        range(36), kernels=(elements,), formats=("fp16", "bf16")
    )
    assert faults >= 15 and harmless >= 12
    assert not missed and not false


@pytest.mark.slow
def test_faults_of_named_sums_are_named():
    wrong = []
    for what, is_fault, (kernel, backend, *args) in of_pilot(np.random.default_rng(0)):
        sums, _ = lost_sums(kernel, backend, *args)
        if any(s.alarms(LIMIT) for s in sums) != is_fault:
            wrong.append((what, [(s.text, s.lost, s.zeroed, s.net, s.size, s.t) for s in sums]))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_are_those_of_fractions(kernel):
    """Of one element all is known: what was to be added, what was stored, and the difference."""
    rng = np.random.default_rng(4)
    x, d = rng.uniform(1.0, 2.0, 1), rng.normal(1e-4, 1e-3, (50, 1))
    (found,), left = lost_sums(kernel, "fp16", x, d)
    raw, asked = (np.array(a, float).ravel().tolist() for a in (d, sciprec.quantize(d, "fp16")))
    begun = float(sciprec.quantize(x, "fp16")[0])
    if kernel is random_sums.in_place:  # the first addition rounds what was given, and so do all d
        state, asked = np.array([begun]), raw[1:]
        sciprec.lift(kernel, "fp16")(state, d[:1])
        begun = float(state[0])
    whole = sum(map(Fraction, asked))
    missing = whole - (Fraction(float(left[0][0])) - Fraction(begun))
    totals = found.totals
    assert totals.additions == len(asked)
    assert totals.asked == pytest.approx(float(abs(whole)), rel=1e-12)
    assert totals.lost == pytest.approx(float(abs(missing)), rel=1e-9)
    assert totals.sizes == pytest.approx(sum(map(abs, asked)), rel=1e-12)
    assert totals.size == abs(float(left[0][0]))


def outer(a, n):
    for k in range(n):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = 0.5 * a[i, j] + 0.25 - 1e-3 * k


def rows(a, out):
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total = total + a[i, j] - 0.5
        out[i] = total


def none(x, y):
    n = 0
    for i in range(x.size):
        y[i] = 1.0 + x[i]
        n = n + 1
        y[i] = y[i - 1] * 2.0 + x[i]
    z = x[0]
    z = x[1] - z
    return z


@pytest.mark.slow
def test_what_is_a_sum_is_found_in_the_source():
    """Factors, several terms and restarts are; what feeds nothing back, and integers, are not."""
    (decayed,), _ = lost_sums(outer, "bf16", np.ones((5, 6)), 40)
    assert decayed.name == "a" and decayed.totals.chains == 30
    assert decayed.totals.additions == 30 * 40
    a = np.random.default_rng(0).uniform(size=(12, 400))
    (sums,), _ = lost_sums(rows, "fp16", a, np.zeros(12))
    assert sums.name == "total" and sums.totals.chains == 12
    exact = np.abs(sciprec.quantize(a, "fp16").astype(float).sum(axis=1) - 200.0).sum()
    assert sums.totals.asked == pytest.approx(exact, rel=1e-9)
    assert lost_sums(none, "fp16", np.ones(5), np.zeros(5))[0] == ()


def test_elements_of_large_arrays_are_followed_evenly():
    x = np.full(20_000, 300.0)
    (found,), _ = lost_sums(elements, "fp32", x, np.full((20, x.size), 1e-6))
    assert found.totals.chains == 6667 and found.totals.additions == 20 * 6667
    assert found.lost == 1.0


@pytest.mark.slow
def test_monitors_say_what_is_lost_with_a_remedy():
    args = np.array([288.15]), 3.7, np.zeros(1), 20_000
    seen = sciprec.monitor(random_sums.slab, "fp32", args, watch="ts", every=10_000)
    (alert,) = seen.alerts
    assert alert.rule == "lost" and alert.step == OVER_ALL
    line = random_sums.slab.__code__.co_firstlineno + 5
    assert str(alert) == (
        f"line:{line}: all 20,000 increments of ts are below half a unit (2^-24.7 of it): fp32 "
        "keeps 24 bits; a carry gives 48"
    )
    (told,) = seen.as_dict()["sums"]
    assert told["lost"] == told["zeroed"] == 1.0 and told["text"].startswith("ts[i] = ts[i] + ")
    assert not sciprec.monitor(
        random_sums.slab, "fp32", args, watch="ts", alerts={"lost": False}, every=10_000
    ).alerts
    clock = sciprec.monitor(
        random_sums.clock, "fp16", (np.zeros(1), 0.1, 9000), watch="t", alerts={"lost": 0.9}
    )
    assert not clock.alerts
    note = "rounding takes t off by 72 % of what 9,000 increments add up to, always the same way"
    assert f"{note} (t = 78)" in str(clock)


@pytest.mark.slow
def test_rules_work_from_the_command_line(call, tmp_path):
    kernel = f"{random_sums.__file__}:clock"
    np.savez(tmp_path / "in.npz", t=np.zeros(1), dt=0.1, steps=9000)
    words = "monitor", kernel, "--inputs", tmp_path / "in.npz", "--backend", "fp16", "--watch", "t"
    code, out, err = call(
        *words, "--alert", "lost=50%", "--alert", "digits=3", "--alert", "t<=100"
    )
    assert code == 0 and ": 3 alerts." in out, err
    assert "digits agree with fp64, fewer than 3 in step" in out
    assert "t: 100.062, outside of t<=100 in step" in out
    assert "% of what 9,000 increments of t add up to is lost; " in out
    assert "is lost" not in call(*words, "--alert", "lost=false")[1]


REFUSED = {
    "alerts.lost is 1.5; accepted: a share > 0 and at most 1, such as 50%, or false": {"lost": 1.5},
    "alerts.lost is 'half'; accepted: a share > 0": {"lost": "half"},
    "alerts.digits is 0; accepted: a number of decimal digits > 0": {"digits": 0},
    "alerts names the range 'g>0' of 'g', which is not watched; watched: t": {"g>0": True},
    "alerts['t>0'] is 3; accepted: True or False": {"t>0": 3},
    "alerts names the unknown rule 't>x'; known: nan, overflow, lost": {"t>x": True},
}


@pytest.mark.parametrize("words", REFUSED)
def test_rules_that_name_nothing_are_refused(words):
    with pytest.raises(InputError) as error:
        sciprec.monitor(
            random_sums.clock, "fp16", (np.zeros(1), 0.1, 9), watch="t", alerts=REFUSED[words]
        )
    assert words in str(error.value)


@pytest.mark.parametrize(("backend", "truth"), [("fp64", True), ("fp16", False)])
def test_digits_need_a_run_in_fp64(backend, truth):
    with pytest.raises(InputError, match="alerts.digits counts digits that agree with fp64, and"):
        sciprec.monitor(
            random_sums.clock, backend, (np.zeros(1), 0.1, 9), watch="t", alerts={"digits": 3},
            truth=truth,
        )  # fmt: skip


def stepped(h, ends):
    for k in range(ends.shape[0]):
        for i in range(h.size):
            h[i] = ends[k, i]


RANGES = {"h>0": [0.0, 1.0], "h >= 0": [-1e-3, 1.0], "h<2": [1.0, 2.0], "h<=2": [1.0, 2.5],
          "|h|<2": [-2.0, 1.0], "|h|<=2": [-2.5, 0.0], "|h|>=-1": None, "h > -3.5e0": None,
          "|h|<9": None, "h<=1.5": None}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", RANGES)
def test_ranges_hold_or_name_the_first_step_beyond(text):
    ends = np.array([[1.0, 1.5], [1.0, 1.5], RANGES[text] or [1.0, 1.5]])
    seen = sciprec.monitor(stepped, "fp32", (np.ones(2), ends), watch="h", alerts={text: True})
    assert [a.step for a in seen.alerts] == ([] if RANGES[text] is None else [3])
    assert all(f"outside of {text} in step 3" in str(a) for a in seen.alerts)


@pytest.mark.parametrize("compensation", [None, "carry"])
@pytest.mark.parametrize("backend", ["fp32", "fp16", "bf16"])
def test_updates_of_models_telescope(backend, compensation):
    """The loss of a state is its start and all increments, less what it has become and is owed."""
    rng = np.random.default_rng(2)
    arithmetic = ModelArithmetic(backend, compensation, monitor={"watch": ["x"], "every": 10})
    x = arithmetic.quantize(rng.uniform(1.0, 2.0, 7))
    start, steps = x.copy(), rng.normal(2e-4, 1e-3, (300, 7))
    rounded = np.array(sciprec.quantize(steps, backend), float)
    for step in rounded:
        arithmetic.update(x, step)
        arithmetic.watch(x=x)
    (found,) = arithmetic.observer.observed_at_end().sums
    ((_, update),) = arithmetic._updates.values()
    owed = 0.0 if update.residual is None else update.residual.astype(float)
    missing = [
        Fraction(a) + sum(map(Fraction, column)) - Fraction(b)
        for a, column, b in zip(start.tolist(), rounded.T.tolist(), x.tolist(), strict=True)
    ]
    lost = np.abs(np.array(list(map(float, missing))) - owed).sum()
    assert found.name == "x" and found.totals.additions == 2100
    assert found.totals.lost == pytest.approx(lost, rel=1e-9, abs=1e-14)
    assert found.totals.asked == pytest.approx(np.abs(rounded.sum(axis=0)).sum(), rel=1e-12)


@pytest.mark.slow
def test_a_trace_says_what_loses_updates():
    args = np.array([288.15]), 3.7, np.zeros(1), 600
    line = random_sums.slab.__code__.co_firstlineno + 5
    verdict = sciprec.trace(random_sums.slab, "fp32", args, samples=1).verdict
    assert verdict.endswith(
        f". Line {line} loses updates: all 600 increments of ts are below half a unit (2^-24.7 of "
        "it): fp32 keeps 24 bits; a carry gives 48."
    )
    clock = sciprec.trace(random_sums.clock, "fp32", (np.zeros(1), 0.1, 600), samples=1)
    assert "loses updates" not in clock.verdict


OCEAN = '''
from dataclasses import dataclass

import numpy as np
import xarray as xr

import sciprec


@dataclass(frozen=True)
class Nothing:
    """No keys."""


def warming(ts, dts):
    for i in range(ts.size):
        dts[i] = 600.0 * (3.7 - 1.2 * (ts[i] - 288.15)) / 209200000.0


@sciprec.model("creeping_ocean")
def ocean(given: Nothing, arithmetic):
    kernel, states = arithmetic.lift(warming), []
    ts, dts = arithmetic.quantize(np.array([288.15, 289.0])), np.zeros(2)
    for step in range(2001):
        if step % 1000 == 0:
            states.append(ts.copy())
        kernel(ts, dts)
        arithmetic.update(ts, dts)
        arithmetic.watch(ts=ts)
    return xr.Dataset(
        {"ts": (("time", "place"), np.array(states), {"units": "K"})},
        coords={"time": ("time", np.arange(3.0), {"units": "s"})},
    )
'''
SCENARIO = '''
name = "ocean"
title = "A slab"
source = "any"
kind = "creeping_ocean"
backends = ["fp32"]
compensation = ["none", "carry"]

[creeping_ocean]

[monitor]
watch = ["ts"]
every = 500
alerts = { lost = "50%", digits = 6, "ts<289.005" = true }

[[tolerance]]
variable = "ts"
metric = "relative_l2"
at_most = 1e-2
reason = "none"
'''


@pytest.mark.slow
def test_a_scenario_tells_lost_updates_on_its_page(tmp_path, call):
    (tmp_path / "ocean.py").write_text(OCEAN, encoding="utf-8")
    (tmp_path / "ocean.toml").write_text(SCENARIO, encoding="utf-8")
    out = tmp_path / "out"
    code, said, err = call(
        "run", tmp_path / "ocean.toml", "--plugin", tmp_path / "ocean.py", "--out", out
    )
    assert code == 0 and "nothing moves: ts changes by 0.018 K in the truth" in said, said
    page = (out / "index.html").read_text(encoding="utf-8")
    lost = "ts: all 4,002 increments of ts are below half a unit (2^-24."
    assert page.count(lost) == 1 and "fp32 keeps 24 bits; a carry gives 48." in page
    assert page.count("outside of ts&lt;289.005") == 2  # of fp64 and of fp32 with a carry
    assert "digits agree with fp64, fewer than 6, in step 500" in page
    assert page.count("Lost updates of ") == 3
