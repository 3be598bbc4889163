"""A model that computes nothing: what it gives, and how it fails, is what a test says."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from sciprec.workbench.batch import perform
from sciprec.workbench.kinds import kind
from sciprec.workbench.study import traced_kind  # noqa: F401  registers kinds no test is to forget

SCENARIO = """
name = "made_up"
title = "Made up"
source = "nobody"
kind = "accumulation"
backends = ["fp32"]

[accumulation]
updates = 8
members = 2
outputs = 8
smallest = 1.0e-3
largest = 1.0e-2
start = {start}
"""


class Planted:
    """Results of runs: a dataset for (start, backend), in which a test plants what it likes."""

    def __init__(self):
        self.base = {"field": (("time", "x"), 1.0 + np.arange(12.0).reshape(3, 4))}
        self.coords = {"time": np.arange(3.0), "x": np.arange(4.0)}
        self.sensitivity = 1.0
        self.change = lambda dataset, backend: dataset
        self.calls, self.numbers = 0, 0

    def run(self, table, variant, around):
        self.calls += 1
        np.full(self.numbers, 1.0)
        moved = 1.0 + self.sensitivity * (table.start - 1.0)
        made = xr.Dataset(self.base, self.coords)
        for name, values in made.data_vars.items():
            if values.dtype.kind == "f":
                made[name] = values * moved
        rounded = made if variant.is_truth else made.astype(np.float32).astype(np.float64)
        return self.change(rounded.assign_attrs(blow_up=""), variant.backend)


@pytest.fixture
def planted(monkeypatch):
    """The model of scenarios of kind "accumulation", replaced."""
    made = Planted()
    monkeypatch.setattr(perform, "remember", lambda run: None)
    changed = replace(
        kind.kind_called("accumulation"), run=made.run, variables=None, same_axes=False,
        moved=lambda table, move: table.model_copy(update={"start": move(table.start)}),
    )  # fmt: skip
    monkeypatch.setitem(kind._KINDS, "accumulation", changed)
    return made


@pytest.fixture
def repository(tmp_path, monkeypatch, kept):
    """The working folder: a git repository with a commit, and a scenario."""
    monkeypatch.chdir(tmp_path)
    if kept.exists():
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
        shutil.rmtree(tmp_path / "baselines")
        return tmp_path
    (tmp_path / "made_up.toml").write_text(SCENARIO.format(start=1.0), encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    return tmp_path


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """Where a repository with a baseline is kept once there is one."""
    return tmp_path_factory.mktemp("kept") / "repository"


@pytest.fixture
def saved(call, planted, repository, kept):
    """The repository with a baseline."""
    if kept.exists():
        shutil.copytree(kept, repository, dirs_exist_ok=True)
        return repository
    code, _, err = call("baseline", "save", "made_up.toml", "-q")
    assert code == 0, err
    shutil.copytree(repository, kept)
    return repository


def git(folder, *words):
    """Run git there."""
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)
