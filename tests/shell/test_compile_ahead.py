"""Kernels of a batch, and of comparing, are compiled before its runs, in processes of its own."""

import os
import subprocess

import pytest

from sciprec.foundation.loading import load_files
from sciprec.workbench.batch import compiling
from sciprec.workbench.batch.execute import execute
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import kind as kind_registry
from sciprec.workbench.kinds import parse_scenario

PLUGIN = """
import os
from typing import Literal

import numpy as np
import xarray as xr

import sciprec
from sciprec.workbench.kinds import Kind, register
from sciprec.scenario.loading import Scenario
from sciprec.facets.tables import Section, key


class Doubling(Section):
    steps: int = key("a whole number", "steps = 8", ge=1, le=10**6)


class DoublingScenario(Scenario):
    kind: Literal["doubling"] = key('"doubling"', 'kind = "doubling"')
    doubling: Doubling = key("the table [doubling]", "[doubling]")


def doubled(x, steps):
    for _ in range(steps):
        for i in range(x.size):
            x[i] = 1.5 * x[i] * (1.0 - x[i])


def run(table, variant, around):
    if table.steps > 1 and os.environ.get("ONLY_BRIEF"):
        raise RuntimeError("not brief")
    x = np.linspace(0.1, 0.9, 9)
    sciprec.lift(doubled, variant.backend)(x, table.steps)
    return xr.Dataset({"x": ("place", x)})


brief = lambda table: table.model_copy(update={"steps": 1})
kernels = lambda table, variant: None
register(Kind("doubling", DoublingScenario, run, brief=brief, kernels=kernels, compile_seconds=9.0))
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory):
    file = tmp_path_factory.mktemp("plugins") / "doubling_for_tests.py"
    file.write_text(PLUGIN)
    load_files([str(file)])
    yield str(file)
    del kind_registry._KINDS["doubling"]


@pytest.fixture
def runs(plugin, tmp_path, monkeypatch):
    """Of a kind of one's own in two arithmetics and the truth, and its plugin."""
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path / "cache"))
    scenario = parse_scenario({
        "name": "d", "title": "D", "source": "made up", "kind": "doubling",
        "backends": ["fp32", "bf16"], "doubling": {"steps": 8},
    })  # fmt: skip
    return plan([scenario]), [plugin]


@pytest.mark.slow
def test_every_arithmetic_is_compiled_once_before_the_first_run(runs, tmp_path, monkeypatch):
    runs, plugins = runs
    monkeypatch.setenv("ONLY_BRIEF", "1")  # read by the processes
    heard = []
    compiling.compile_ahead(runs, 2, plugins, heard.append)
    assert heard == list(runs) and all(map(compiling.is_compiled, runs))
    monkeypatch.delenv("ONLY_BRIEF")
    compiling.compile_ahead(runs, 2, plugins, heard.append)  # nothing is left to do
    outcomes = execute(runs, tmp_path, threads=2, plugins=plugins, on_compiling=heard.append)
    assert len(heard) == 3 and not any(o.failure for o in outcomes)


def test_arithmetics_that_share_code_do_not_wait_for_each_other(plugin, monkeypatch):
    """One of them goes first, and what shares nothing with it; the others at the end."""
    scenario = parse_scenario({
        "name": "d", "title": "D", "source": "made up", "kind": "doubling",
        "backends": ["fp32", "bf16", "fixed32", "mlu370", "mlu370-noise"],
        "doubling": {"steps": 8},
    })  # fmt: skip
    begun = []

    def stop(compiler, run, is_first):
        begun.append(run.backend)
        raise KeyboardInterrupt

    ordered = [run.label for run in compiling._without_waiting(plan([scenario]))]
    assert ordered == ["fp64", "fp32", "fixed32", "mlu370-noise", "bf16", "mlu370"]
    monkeypatch.setattr(compiling._CompilerProcess, "give", stop)
    with pytest.raises(KeyboardInterrupt):
        compiling.compile_ahead(list(reversed(plan([scenario]))), 2)
    assert begun == ["mlu370-noise"]


def test_one_at_a_time_is_left_to_the_runs(runs):
    heard = []
    compiling.compile_ahead(runs[0], 1, runs[1], heard.append)
    compiling.compile_ahead(runs[0][:1], 2, runs[1], heard.append)
    assert heard == [] and not any(map(compiling.is_compiled, runs[0]))


@pytest.mark.slow
def test_what_other_processes_cannot_compile_is_compiled_by_the_runs(runs, tmp_path):
    """They do not know the kind without its plugin."""
    heard = []
    outcomes = execute(runs[0], tmp_path, threads=2, on_compiling=heard.append)
    assert heard[:3] == list(runs[0]) and not any(o.failure for o in outcomes)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="no list of processes")
def test_an_interrupt_ends_the_processes(runs, monkeypatch):
    begun, begin = [], subprocess.Popen

    def noted(*args, **more):
        begun.append(begin(*args, **more))
        return begun[-1]

    monkeypatch.setattr(compiling.subprocess, "Popen", noted)

    def interrupt(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compiling.compile_ahead(runs[0], 2, runs[1], interrupt)
    assert begun[0].wait(10) != 0
