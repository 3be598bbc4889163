"""Baselines that are interrupted or killed: nothing is lost, and the same command goes on."""

import json
import os
import random
import signal
import subprocess
import sys

import pytest

from sciprec.cli.console import INTERRUPTED
from sciprec.regression.baselines.answering import How
from sciprec.regression.baselines.records import read_record
from sciprec.regression.baselines.requests import scenario_requests
from sciprec.regression.baselines.saving import save_request
from tests.baselines.conftest import git

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL on Windows")


@pytest.mark.slow
def test_a_write_that_is_killed_at_any_step_leaves_the_old_baseline_or_the_new_one(tmp_path):
    program = [sys.executable, "-m", "tests.baselines.killed_writes", str(tmp_path / "place")]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert min(json.loads(done.stdout)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_save_that_was_interrupted_makes_the_missing_runs_alone(seed, planted, repository):
    """The record is that of an uninterrupted one, to the last bit."""
    request = scenario_requests("made_up.toml")[0]
    expected = save_request(request, name="whole")
    every, planted.calls = planted.calls, 0
    stop = random.Random(seed).randrange(2, 18)

    def interrupted(dataset, backend):
        if planted.calls == stop:
            raise KeyboardInterrupt
        return dataset

    usual, planted.change = planted.change, interrupted
    with pytest.raises(KeyboardInterrupt):
        save_request(request, name="stopped", how=How(threads=1))
    planted.change = usual
    assert planted.calls == stop
    assert (repository / "baselines" / ".saving-stopped").is_dir()
    save_request(request, name="stopped")
    assert planted.calls == every + 1  # the one that was interrupted is made twice, no other
    first, second = (read_record(name) for name in ("whole", "stopped"))
    for one, other, mine in zip(first.runs, second.runs, expected.runs, strict=True):
        assert (one.noise, one.errors) == (other.noise, other.errors) == (mine.noise, mine.errors)
        assert one.variables == other.variables
        assert first.values_of(one).drop_attrs().identical(second.values_of(other).drop_attrs())
    assert not list((repository / "baselines").glob(".*"))


WAITING = """
import os, sys, time
from dataclasses import dataclass

import numpy as np
import xarray as xr

import sciprec


@dataclass(frozen=True)
class Waiting:
    steps: int = 3


@sciprec.model("waiting")
def waiting(given: Waiting, arithmetic):
    if arithmetic.backend == os.environ.get("WAITS"):
        print("waits", file=sys.stderr, flush=True)
        time.sleep(60)
    x = arithmetic.perturb(np.linspace(1.0, 2.0, given.steps))
    return xr.Dataset({"x": ("n", arithmetic.quantize(x), {"units": "1"})})
"""
SCENARIO = """
name = "waiting"
title = "Waiting"
source = "nobody"
kind = "waiting"
backends = ["fp16"]
"""


@pytest.mark.slow
def test_commands_that_are_killed_or_terminated_leave_nothing_temporary(tmp_path):
    folder, temporary = tmp_path / "work", tmp_path / "temporary"
    folder.mkdir()
    temporary.mkdir()
    (folder / "waiting.py").write_text(WAITING)
    (folder / "waiting.toml").write_text(SCENARIO)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")

    def started(*words, waits=""):
        command = [sys.executable, "-m", "sciprec", "baseline", *words, "--plugin", "waiting.py"]
        environment = {**os.environ, "TMPDIR": str(temporary), "WAITS": waits}
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def left():
        """The names beside baselines and their subjects."""
        paths = [*temporary.iterdir(), *(folder / "baselines").glob(".*")]
        return sorted(path.name for path in paths)

    def stopped(number, *words):
        command = started(*words, waits="fp16")
        while "waits" not in (line := command.stderr.readline()):
            assert line, "it ended too early"
        command.send_signal(number)
        said = command.communicate(timeout=30)[1]
        assert "Traceback" not in said
        return command.returncode, said

    code, said = stopped(signal.SIGTERM, "save", "waiting.toml")
    assert code == INTERRUPTED and "goes on from the runs that had finished" in said
    assert left() == [".saving-waiting"]
    stopped(signal.SIGKILL, "save", "waiting.toml")
    assert left() == [".saving-waiting", ".sciprec-lock"]
    command = started("save", "waiting.toml")
    assert "kept, computed before" in command.communicate(timeout=60)[1]
    assert command.returncode == 0 and not left()
    stopped(signal.SIGKILL, "check")
    assert len(left()) == 1 and left()[0].startswith("sciprec-baseline-")
    code, said = stopped(signal.SIGTERM, "check")
    assert code == INTERRUPTED and not left()
    assert said.endswith("interrupted; the baselines are as they were\n")
