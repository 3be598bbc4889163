"""Baselines that are interrupted or killed: nothing is lost, and the same command goes on."""

import json
import os
import random
import subprocess
import sys

import pytest

from sciprec.baselines.answering import How
from sciprec.baselines.records import read_record
from sciprec.baselines.requests import scenario_request
from sciprec.baselines.saving import save_request
from tests.baselines.killed_commands import ended, trial

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork, no SIGKILL on Windows")


def test_a_write_that_is_killed_at_any_step_leaves_the_old_baseline_or_the_new_one(tmp_path):
    program = [sys.executable, "-m", "tests.baselines.killed_writes", str(tmp_path / "place")]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert min(json.loads(done.stdout)) > 20


@pytest.mark.parametrize("seed", range(3))
def test_a_save_that_was_interrupted_makes_the_missing_runs_alone(seed, planted, repository):
    """The record is that of an uninterrupted one, to the last bit."""
    request = scenario_request("made_up.toml")
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


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_record(tmp_path):
    known = ended(tmp_path / "whole", "sums")
    kills, _ = trial(random.Random(5), "sums", False, known, tmp_path / "killed")
    assert kills
