"""[monitor] of climate runs: no bit changes, histories survive, errors are those of the state."""

import json

import numpy as np
import pytest

import sciprec
from sciprec.climate.catalogue import EQUATIONS
from sciprec.facets.monitor.section import watched_errors
from sciprec.results.output import files
from sciprec.results.output.stated import is_compared
from sciprec.tools.monitor.sketches import SIZE

STATE = EQUATIONS["shallow_water"].variables
STEP = 1200.0
WATCH = ("vorticity", "increment:geopotential", "tendency:vorticity")


def run(steps, backend="fp16", *, watch=WATCH, level=3, every=4, **more):
    """A run of so many steps at T21, watched."""
    monitor = {"watch": watch, "level": level, "every": every, **more.pop("monitor", {})}
    days = steps * STEP / 86400.0
    hours = more.pop("output_hours", 24.0 * days)
    return sciprec.climate.run(
        "williamson_5", 21, days, backend, step_seconds=STEP, output_hours=hours,
        monitor=None if watch is None else monitor, **more,
    )  # fmt: skip


def seen(dataset):
    """All that a monitor has left in a dataset, as bytes."""
    made = {n: v.values.tobytes() for n, v in dataset.variables.items() if n[:8] == "monitor_"}
    return made | {"told": dataset.attrs["sciprec_monitor"]}


def bits(dataset):
    """All other variables."""
    return {n: v.values.tobytes() for n, v in dataset.variables.items() if n[:8] != "monitor_"}


@pytest.fixture(scope="module")
def half():
    return run(12)


@pytest.mark.slow
def test_no_bit_changes_at_any_level(half):
    plain = bits(run(12, watch=None))
    assert bits(half) == plain
    for level in range(3):
        watched = run(12, level=level, every=5 - level)
        assert bits(watched) == plain and ("sciprec_monitor" in watched.attrs) == (level > 0)
    names = [n for n in half.data_vars if n.startswith("monitor_")]
    assert names and not any(is_compared(n, half.attrs) for n in names)


def state_after(steps, folder):
    """The state (coefficients, columns) of a run's checkpoint."""
    run(steps, watch=None, checkpoints=folder / str(steps))
    (file,) = (folder / str(steps)).glob("*.npz")
    with np.load(file) as saved:
        return saved["level_0"].astype(float).reshape(-1, 2 * len(STATE))


@pytest.mark.slow
def test_whole_arrays_are_those_of_checkpoints(half, tmp_path):
    """Coefficients up to the truncation, real and imaginary parts but those of order zero."""
    number = 21
    held = [(m, n) for m in range(number + 1) for n in range(m, number + 2)]
    keep = np.array([[n <= number, n <= number and m > 0] for m, n in held])
    for row, steps in enumerate(half["monitor_step"].values.tolist()):
        state, before = state_after(steps, tmp_path), state_after(steps - 1, tmp_path)
        place = 2 * STATE.index("vorticity")
        assert (half["monitor_values_0"].values[row] == state[:, place : place + 2][keep]).all()
        place = 2 * STATE.index("geopotential")
        added = (state - before)[:, place : place + 2][keep]
        lost = np.abs(half["monitor_values_1"].values[row] - added)
        unit = 2.0**-10 * np.abs(state[:, place : place + 2][keep]) + 2.0**-14
        assert (lost <= unit).all()
    for k, name in enumerate(WATCH):
        places = [(n, m, part) for m, n in held if n <= number for part in range(1 + (m > 0))]
        given = ("total_wavenumber", "zonal_wavenumber", "part")
        found = [half[f"monitor_{what}_{k}"].values.tolist() for what in given]
        assert list(zip(*found, strict=True)) == places, name
    assert half["monitor_step"].values.tolist() == [4, 8, 12]
    counts = half["monitor_count"].values
    assert (counts == keep.sum()).all()


@pytest.mark.slow
def test_a_history_survives_interruptions_and_threads(half, tmp_path):
    hours = 2.0  # outputs after 6 and 12 steps: no multiples of the watched ones
    whole = run(12, output_hours=hours)
    run(6, output_hours=hours, checkpoints=tmp_path)
    gone_on = run(12, output_hours=hours, checkpoints=tmp_path)
    assert seen(gone_on) == seen(whole) == seen(half)
    assert seen(run(12, threads=2)) == seen(half)


@pytest.mark.slow
def test_blow_ups_are_told_with_step_and_place():
    """A step far too long for the model: alerts before it ends, and none in the usual one."""
    monitor = {"watch": ["vorticity"], "every": 3, "alerts": {"jump": 100.0, "moved": 1e3}}
    made = sciprec.climate.run(
        "williamson_5", 21, 10, "fp16", step_seconds=14400.0, monitor=monitor
    )
    assert made.attrs["blow_up"]
    said = json.loads(made.attrs["sciprec_monitor"])["alerts"]
    rules = {alert["rule"]: alert for alert in said}
    assert rules.keys() & {"nan", "overflow"}
    assert all(0 < alert["step"] <= made.attrs["steps"] for alert in said)
    assert "total wavenumber" in said[0]["text"]
    clean = run(12, watch=list(STATE), monitor={"alerts": {"jump": 100.0, "moved": 1e3}})
    assert json.loads(clean.attrs["sciprec_monitor"])["alerts"] == []


SCENARIO = """
name = "watched_mountain"
title = "Flow over a mountain, watched"
source = "Williamson et al. (1992), case 5"
kind = "climate"
backends = ["fp16"]

[climate]
case = "williamson_5"
truncation = 21
days = 0.25
step_seconds = 1200.0
output_hours = 6.0

[monitor]
watch = ["vorticity", "increment:vorticity"]
every = 3
"""


@pytest.mark.slow
def test_a_batch_has_errors_alerts_and_a_section(tmp_path, blank_figures):
    file = tmp_path / "watched_mountain.toml"
    file.write_text(SCENARIO + "level = 3\nalerts = { jump = 1.0000001 }\n")
    heard = []
    done = sciprec.run(file, out=tmp_path / "out", on_done=heard.append)
    assert not done.failures
    assert all("a jump from" in outcome.alerts[0] for outcome in heard)
    page = done.page.read_text(encoding="utf-8")
    assert "What was watched" in page and "Largest errors" in page and "<strong>Alert" in page
    stem = done.folder / "watched_mountain"
    truth, tested = (files.read(f"{stem}__{b}.nc") for b in ("fp64", "fp16"))
    steps, exact = watched_errors(tested, truth)
    whole = [n for n in tested.variables if n.startswith("monitor_values_")]
    _, sketched = watched_errors(tested.drop_vars(whole), truth)
    assert steps.tolist() == [3, 6, 9, 12, 15, 18] and exact.shape == (2, 6)
    values = [d["monitor_values_0"].values for d in (tested, truth)]
    for k in range(6):
        error = np.linalg.norm(values[0][k] - values[1][k]) / np.linalg.norm(values[1][k])
        assert exact[0, k] == pytest.approx(error, rel=1e-9)
    assert (np.abs(sketched / exact - 1) < 5 * np.sqrt(2 / SIZE) / 2).all()
    again = sciprec.run(file, out=tmp_path / "out")  # kept, with what was told
    assert seen(files.read(done.folder / "watched_mountain__fp16.nc")) == seen(tested)
    assert not again.failures


WRONG = {
    "table [monitor]: watch names 'vortcity'": 'watch = ["vortcity"]',
    "did you mean 'vorticity'": 'watch = ["vortcity"]',
    "did you mean 'increment:vorticity'": 'watch = ["increment:vortcity"]',
    "did you mean 'tendency:vorticity'": 'watch = ["tendncy:vorticity"]',
    "tendency:geopotential\n": 'watch = ["increment:hight"]',
    "key 'monitor.level' was given 7": 'watch = ["vorticity"]\nlevel = 7',
    "key 'monitor.every' was given 0": 'watch = ["vorticity"]\nevery = 0',
    "key 'monitor.every' was given 1.5": 'watch = ["vorticity"]\nevery = 1.5',
    "the unknown rule 'jmp'": 'watch = ["vorticity"]\nalerts = { jmp = 2.0 }',
    "monitor.watch": "watch = []",
    "table [monitor]: drift_every is 19, and the run has 18 steps":
        'watch = ["vorticity"]\ndrift_every = 19',
}


@pytest.mark.parametrize("said", WRONG)
def test_what_is_wrong_in_a_scenario_is_said(said, tmp_path, call):
    head = SCENARIO.partition("[monitor]")[0]
    file = tmp_path / "wrong.toml"
    file.write_text(f"{head}[monitor]\n{WRONG[said]}\n")
    code, _, err = call("run", file, "--out", tmp_path / "out")
    assert code == 2 and said in err and err.count("\n") == 1, err


@pytest.mark.parametrize("kind", ["increment", "tendency"])
def test_dynamic_scales_are_not_watched_inside_their_steps(kind, tmp_path, call):
    """Told in the plan, also where the arithmetic is one of the command line."""
    file = tmp_path / "flow.toml"
    head, _, _ = SCENARIO.partition("[monitor]")
    file.write_text(f'{head}[monitor]\nwatch = ["{kind}:vorticity"]\nevery = 3\n')
    plan = "run", file, "--plan"
    for more in (["--set", "scaling=dynamic"], ["--backend", "scaled:dynamic,fp16"]):
        code, _, err = call(*plan, *more)
        said = f"[monitor]: '{kind}:vorticity' cannot be watched with scaling = 'dynamic'"
        assert code == 2 and said in err and err.count("\n") == 1, err
        code, _, err = call(*plan, *more, "--set", 'monitor.watch=["vorticity"]')
        assert code == 0, err
        assert call(*plan, *more, "--set", "monitor.level=0")[0] == 0
    assert call(*plan, "--set", "scaling=static")[0] == 0


def test_what_is_wrong_in_python_is_said():
    for given, said in {
        '{"level": 1}': "monitor has no key 'watch'",
        '{"watch": ["vorticity"], "evry": 3}': "unknown key 'evry'.*did you mean 'every'",
        "3": "monitor is 3; accepted",
        '{"watch": ["vorticity"], "level": 9}': "level is 9",
    }.items():
        with pytest.raises(sciprec.InputError, match=said):
            sciprec.climate.run("williamson_5", 21, 1, monitor=json.loads(given))
