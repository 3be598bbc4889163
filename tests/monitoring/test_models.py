"""[monitor] for users' models, and `sciprec monitor`, which reads how their batch goes."""

import json
import math
import random
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from sciprec.results.output import files
from sciprec.workbench.batch import states
from sciprec.workbench.batch.states import BATCH, STATES, read_states

MODEL = '''
import time
from pathlib import Path
from dataclasses import dataclass

import numpy as np
import xarray as xr

import sciprec


@dataclass(frozen=True)
class Fading:
    """The table [fading]."""

    rate: float = 0.5
    steps: int = 12
    broken: int = 0
    pause: float = 0.0


@sciprec.model("fading")
def fading(given: Fading, arithmetic):
    x, states = arithmetic.quantize(np.linspace(1.0, 2.0, 6)), []
    for step in range(1, given.steps + 1):
        increment = -given.rate / given.steps * x
        arithmetic.update(x, increment)
        if step == given.broken and arithmetic.backend != "fp64":
            x[4] = np.inf
        time.sleep(given.pause)
        arithmetic.watch(x=x, increment=increment)
        states.append(x.copy())
    return xr.Dataset({"x": (("time", "place"), np.array(states), {"units": "1"})})
'''
SCENARIO = """
name = "fading"
title = "Fading"
source = "nobody (2026)"
kind = "fading"
backends = ["fp16"]

[monitor]
watch = ["x", "increment"]
level = 3
every = 4
"""


@pytest.fixture
def scenario(tmp_path):
    """A function that writes a scenario, and gives the words that run it."""

    def write(text=SCENARIO, model=MODEL):
        (tmp_path / "fading.py").write_text(model)
        (tmp_path / "fading.toml").write_text(text)
        out = tmp_path / "out"
        return ["run", f"{tmp_path}/fading.toml", "--plugin", f"{tmp_path}/fading.py", "--out", out]

    return write


def test_a_model_is_watched(scenario, call, tmp_path, blank_figures):
    code, out, err = call(*scenario())
    assert code == 0 and "ALERT" not in err + out, err
    found = files.read(tmp_path / "out" / "fading__fp16.nc")
    assert found["monitor_step"].values.tolist() == [4, 8, 12]
    assert (found["monitor_values_0"].values == found["x"].values[[3, 7, 11]]).all()
    code, out, _ = call("monitor", tmp_path / "out")
    assert code == 0 and "the batch ended: 2 of 2 runs done" in out
    code, out, _ = call("monitor", tmp_path / "out", "--json")
    told = json.loads(out)
    assert told["ended"] and [run["state"] for run in told["runs"]] == ["done", "done"]
    first, last = found["monitor_mean"].values[0, [0, -1]]
    size = found["monitor_norm"].values[0, 0] / np.sqrt(6)
    assert told["runs"][1]["variables"]["x"]["moved"] == pytest.approx((last - first) / size)
    plain = SCENARIO.partition("[monitor]")[0]
    call(*scenario(plain)[:-1], tmp_path / "plain")
    without = files.read(tmp_path / "plain" / "fading__fp16.nc")
    assert without["x"].values.tobytes() == found["x"].values.tobytes()
    code, _, err = call("monitor", tmp_path / "plain")
    assert code == 2 and "holds no batch that can be watched" in err


def test_an_infinity_is_told_with_step_and_place(scenario, call, tmp_path, blank_figures):
    code, _, err = call(*scenario(f"{SCENARIO}\n[fading]\nbroken = 8\n"))
    assert code == 1 and "ALERT: x: first infinity (1 of 6) in step 8" in err, err
    code, out, _ = call("monitor", tmp_path / "out", "--once")
    said = "ALERT in fading in fp16: x: first infinity (1 of 6) in step 8, not at step 4 at [4]"
    assert code == 1 and said in out and "fading in fp16: failed" in out


WRONG = {
    "watch names 'xx'.*gives: x, increment": ('"x", ', '"xx", '),
    "the model shows nothing": ("arithmetic.watch(", "dict("),
    "of shape .2,. after one of shape .1,.": ("watch(x=x", "watch(x=x[:step]"),
    "give real numbers": ("watch(x=x", "watch(x='x'"),
}


@pytest.mark.parametrize("said", WRONG)
def test_what_a_model_does_not_show_is_said(said, scenario, call, blank_figures):
    every = SCENARIO.replace("every = 4", "every = 1")
    code, out, err = call(*scenario(every.replace(*WRONG[said]), MODEL.replace(*WRONG[said])))
    assert code in (1, 2) and re.search(said, " ".join((err + out).split())), err


def test_of_fewer_steps_than_are_left_out_the_last_one_is_watched(
    scenario, call, tmp_path, blank_figures
):
    """Each step of a model may be its last one."""
    code, out, err = call(*scenario(SCENARIO.replace("every = 4", "every = 13")))
    assert code == 0, err
    found = files.read(tmp_path / "out" / "fading__fp16.nc")
    assert found["monitor_step"].values.tolist() == [12]
    assert (found["monitor_values_0"].values == found["x"].values[[-1]]).all()


@pytest.mark.slow
def test_a_running_batch_is_watched_until_it_ends(scenario, tmp_path, call):
    words = [str(w) for w in scenario(f"{SCENARIO}\n[fading]\nsteps = 24\npause = 0.12\n")]
    running = subprocess.Popen(
        [sys.executable, "-m", "sciprec", *words], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        listed = tmp_path / "out" / STATES / BATCH
        while not listed.exists():
            assert running.poll() is None
            time.sleep(0.05)
        code, out, _ = call("monitor", tmp_path / "out", "--json")
        seen = [json.loads(line) for line in out.splitlines()]
        assert code == 0 and seen[-1]["ended"] and len(seen) > 1
        assert any(run["state"] == "running" for told in seen for run in told["runs"])
        steps = [run["step"] for told in seen for run in told["runs"] if run.get("step")]
        assert steps and max(steps) == 24
    finally:
        running.wait(timeout=120)


def test_a_batch_that_died_has_been_interrupted(scenario, call, tmp_path, monkeypatch):
    """Its list says that it runs, its process is gone, and its lock lies there."""
    call(*scenario())
    place = tmp_path / "out" / STATES / BATCH
    told = json.loads(place.read_text())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    place.write_text(json.dumps(told | {"ended": False, "process": gone.pid}))
    (tmp_path / "out" / states.LOCK).touch()
    assert read_states(tmp_path / "out")["interrupted"]
    code, out, _ = call("monitor", tmp_path / "out")
    assert code == 1 and "the batch was interrupted" in out
    place.unlink()
    code, _, err = call("monitor", tmp_path / "out")
    assert code == 2 and "no batch that can be watched" in err


OTHERS = (
    None, True, 3, -1.5, 10**400, math.nan, "x", "x\n\ud800", "../x", [], ["x"], [3], {}, {"a": 1},
    [{}], {"\ud800": {"moved": 1.0, "growth": 1.0}}, {"x": {}},
    {"x": {"moved": "y", "growth": 1}}, {"x": {"moved": 1.0, "growth": None}},
)  # fmt: skip


def spoilt(content, draws):
    """A copy in which a key, at any depth, is missing or has a value of another kind; or no JSON
    any more.
    """
    made = json.loads(json.dumps(content))
    places = [(made, key) for key in made]
    for where, key in places:
        inner = where[key]
        keys = inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) \
            else ()
        places += [(inner, one) for one in keys]
    where, key = draws.choice(places)
    kind = draws.random()
    if kind < 0.05:
        return json.dumps(made)[: draws.randrange(20)]
    if kind < 0.25:
        del where[key]
    else:
        where[key] = draws.choice(OTHERS)
    return json.dumps(made if kind < 0.95 else draws.choice(OTHERS))


@pytest.mark.slow
def test_files_that_are_damaged_get_a_sentence_or_are_shown(scenario, call, tmp_path):
    """Each file of a batch that has ended, and of one that has not, in turn."""
    call(*scenario())
    folder, draws, codes = tmp_path / "out" / STATES, random.Random(3), []
    (tmp_path / "out" / states.LOCK).touch()
    whole = json.loads((folder / BATCH).read_text())
    running = whole | {"ended": False, "runs": [
        {key: run[key] for key in ("file", "name")} for run in whole["runs"]
    ]}  # fmt: skip
    for number in range(80):
        listed = (whole, running)[number % 2]
        (folder / BATCH).write_text(json.dumps(listed))
        file = draws.choice(sorted(folder.glob("*.json")))
        before = file.read_text()
        after = spoilt(json.loads(before), draws)
        file.write_text(after)
        code, out, err = call("monitor", tmp_path / "out", "--once")
        assert code in (0, 1, 2), (file.name, after, err)
        assert (code == 2) == (err.count("\n") == 1), (file.name, after, err)
        assert code != 2 or "is damaged (" in err, err
        codes.append(code)
        file.write_text(before)
    assert codes.count(2) > 25 and codes.count(0) > 5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "it has no 'ended'"), ({"ended": False, "runs": [{}]}, "it has no 'process'"),
        ({"ended": "no", "runs": 5}, "its 'ended' is 'no'"), ([], "it holds no table"),
    ],
)  # fmt: skip
def test_a_damaged_list_is_told(content, said, tmp_path, call):
    (tmp_path / STATES).mkdir()
    (tmp_path / STATES / BATCH).write_text(json.dumps(content))
    code, _, err = call("monitor", tmp_path)
    assert code == 2 and f"is damaged ({said})" in err and err.count("\n") == 1
