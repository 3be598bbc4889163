"""Drift: what single steps in fp64 tell of a run; the estimate, its bits, file and refusals."""

import json

import numpy as np
import pytest

import sciprec
from sciprec.climate.running.drifting import difference
from sciprec.climate.running.team import StepMaker
from sciprec.climate.stepping.levels import Addition, Level
from sciprec.climate.stepping.schemes import STEP_KERNELS, TIME_SCHEMES, System
from sciprec.climate.transform.grid import Truncation
from sciprec.facets.monitor.attributes import drift_field
from sciprec.results.output import files
from sciprec.tools.monitor.drift import Drift, StatePart

SMALL = Truncation(10, 16, 32, 1200.0)
STEP = 1200.0


def drift_of(differences, every):
    """The estimate of differences (n, size) of a state of ones."""
    size = differences.shape[1]
    drift = Drift({"x": StatePart(np.arange(size), np.ones(size))}, every)
    for n, one in enumerate(differences):
        drift.note((n + 1) * every, one, np.ones(size))
    return drift


@pytest.mark.parametrize("shared", [0.0, 0.01, 0.1, 1.0])
def test_the_estimate_is_that_of_sums_of_all_steps(shared):
    """Steps drawn with a share that is the same in all: the sum of all 720 from 20 of them.

    Of 400 elements a squared norm has a relative deviation of sqrt(2/400) = 0.07, the systematic
    part one of some K times that where nothing is systematic: E^2 is off by N V times 2.5 at most.
    """
    draws = np.random.default_rng(7)
    size, every, count = 400, 36, 20
    ratios = []
    for _ in range(20):
        same = shared * draws.normal(size=size)
        steps = same + draws.normal(size=(every * count, size))
        true = np.linalg.norm(steps.sum(axis=0)) / np.sqrt(size)
        ratios.append(drift_of(steps[every - 1 :: every], every).estimates[0, -1] / true)
    assert 0.8 < np.median(ratios) < 1.3 and 0.5 < min(ratios) and max(ratios) < 2.1


def run(steps, backend="fp16", *, drift=3, **more):
    """A run of so many steps with drift estimated, or none watched."""
    days = steps * STEP / 86400.0
    hours = more.pop("output_hours", 24.0 * days)
    monitor = {"watch": ["vorticity", "increment:geopotential"], "every": 4, "drift_every": drift}
    return sciprec.climate.run(
        "williamson_5", SMALL, days, backend, step_seconds=STEP, output_hours=hours,
        monitor=monitor if drift else None, **more,
    )  # fmt: skip


def bits(dataset):
    return {n: v.values.tobytes() for n, v in dataset.variables.items() if n[:8] != "monitor_"}


def drifts(dataset):
    return {n: v.values.tobytes() for n, v in dataset.variables.items() if "drift" in n}


@pytest.mark.slow
def test_no_bit_changes_and_a_drift_survives_interruptions_and_threads(tmp_path):
    whole = run(12, output_hours=2.0)
    assert bits(whole) == bits(run(12, drift=None, output_hours=2.0))
    run(6, output_hours=2.0, checkpoints=tmp_path)
    gone_on = run(12, output_hours=2.0, checkpoints=tmp_path)
    assert drifts(gone_on) == drifts(whole) and len(drifts(whole)) == 8
    assert drifts(run(12, output_hours=2.0, threads=2)) == drifts(whole)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"compensation": "carry"}])
def test_of_every_step_and_the_beginning_it_is_the_error_of_a_few(more):
    """K = 1: the flow has turned errors of 8 steps by a part of them only; what rounding the
    initial state has changed is more.
    """
    made, truth = run(8, drift=1, **more), run(8, "fp64", drift=1, **more)
    field = drift_field(made, "height").values
    error = (made["height"] - truth["height"]).values[-1]
    assert np.linalg.norm(field - error) < 0.4 * np.linalg.norm(error)
    assert np.vdot(field, error) / np.vdot(error, error) == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("scheme", ["rk4", "semi_implicit_leapfrog"])
def test_a_steady_error_of_the_tendency_adds_up_in_every_scheme(scheme):
    """x' = c in place of x' = 0: after 40 steps x is 40 c. A leapfrog moves its levels by turns,
    2 c in a step that each of them has every other time; its first step counts by half.
    """

    def steps(slope):
        system = System(
            step=1.0, step_seconds=1.0, filter=(0.1, 0.53),
            addition=Addition(STEP_KERNELS, np.zeros((2, 1))), kernels=STEP_KERNELS,
            tendency=lambda x, out: out.fill(slope), linear=lambda x, out: out.fill(0.0),
            solve=lambda x, out: np.copyto(out, x), work=np.zeros((10, 1)), tables=(),
        )  # fmt: skip
        return StepMaker(TIME_SCHEMES[scheme], system, None)

    run, exact, levels, total = steps(0.25), steps(0.0), [Level(np.zeros(1))], 0.0
    for n in range(40):
        made = [level.copy() for level in levels]
        exact.advance(made, n, 1)
        run.advance(levels, n, 1)
        total += difference(levels, made)[0]
    assert levels[0].values[0] == pytest.approx(10.0)
    assert total == pytest.approx(10.0, rel=0.02)


SCENARIO = """
name = "drifting"
title = "Flow over a mountain"
source = "Williamson et al. (1992), case 5"
kind = "climate"
backends = ["fp16"]

[climate]
case = "williamson_5"
truncation = 10
days = 0.25
step_seconds = 1200.0
output_hours = 6.0

[monitor]
watch = ["vorticity"]
every = 6
"""


@pytest.mark.slow
def test_the_page_has_estimate_and_true_error(tmp_path, call, blank_figures):
    file = tmp_path / "drifting.toml"
    file.write_text(f"{SCENARIO}drift_every = 3\n")
    code, _, err = call("run", file, "--out", tmp_path / "out")
    assert code == 0, err
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "added by rounding, estimated" in page and "3th step" in page
    found = files.read(tmp_path / "out" / "drifting__fp16.nc")
    assert json.loads(found.attrs["sciprec_monitor"])["drift_of"] == ["vorticity"]
    assert found["monitor_drift"].shape == (1, 6)


def test_what_is_wrong_is_said(tmp_path, call):
    file = tmp_path / "wrong.toml"
    file.write_text(f"{SCENARIO}drift_every = 0\n")
    code, _, err = call("run", file, "--out", tmp_path / "out")
    assert code == 2 and "key 'monitor.drift_every' was given 0" in err, err
    with pytest.raises(sciprec.InputError, match="drift_every is 0; accepted: a whole number"):
        sciprec.climate.run(
            "williamson_5", SMALL, 1, monitor={"watch": ["vorticity"], "drift_every": 0}
        )
    code, _, err = call(
        "run", "long_accumulation", "--set", 'monitor.watch=["parameter"]', "--set",
        "monitor.drift_every=3", "--out", tmp_path / "out",
    )  # fmt: skip
    assert code == 2 and "table [monitor]: drift_every is given" in err, err
