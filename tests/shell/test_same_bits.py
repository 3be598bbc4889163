"""A run's bits do not depend on threads, processes, a cluster, order, chunks or interruption."""

import os
import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from sciprec.report.stored.batch import read_manifest, verified
from sciprec.results.output import files, netcdf
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.execute import execute
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import load_scenario, parse_scenario
from tests.shell.conftest import dask_cluster
from tests.shell.test_cf import CALLS, COMMON, MODEL, PATHS

pytestmark = pytest.mark.slow
FLOW = """
name = "flow"
title = "A little flow"
source = "Williamson et al. (1992), case 5"
kind = "climate"
backends = ["fp32"]

[climate]
case = "williamson_5"
truncation = 10
days = 0.5
output_hours = 3.0

[ensemble]
members = 2
"""
SMILE = {
    "name": "smile", "kind": "heston", **COMMON, "ensemble": {"members": 2},
    "heston": {"model": MODEL, "payoffs": CALLS, "simulation": PATHS},
}  # fmt: skip


COUNTED = ("bf16,round=sr", "fixed32")
"""Arithmetics whose results depend on the calls before."""


@pytest.fixture(scope="module", autouse=True)
def no_pages():
    """Pages are not drawn, which takes longest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sciprec.report.page.write_page", lambda batch, **keep: None)
        patch.setattr("sciprec.report.page.table", lambda batch, **keep: [])
        patch.setattr("sciprec.report.stored.batch.read_batch", lambda folder, **keep: None)
        yield


@pytest.fixture(scope="module")
def scenarios(tmp_path_factory):
    """A flow and a smile, two members each, in fp64 and fp32."""
    path = tmp_path_factory.mktemp("scenarios") / "flow.toml"
    path.write_text(textwrap.dedent(FLOW))
    return [load_scenario(path), parse_scenario(SMILE)]


@pytest.fixture(scope="module")
def one_thread(scenarios, tmp_path_factory):
    """The bytes of every variable when one thread computes all runs in order."""
    result = workflow.run(scenarios, out=tmp_path_factory.mktemp("one"), threads=1)
    assert not result.failures and len(result.files) == 8
    found = variables(result.files)
    assert found["flow__fp64", "height"] != found["flow__fp64__m0001", "height"]
    assert found["smile__fp32+carry", "price"] != found["smile__fp32+carry__m0001", "price"]
    return found


def variables(paths):
    """By file and variable, type and bytes."""
    found = {}
    for path in paths:
        dataset = files.read(path)
        for name, variable in dataset.variables.items():
            found[path.stem, str(name)] = variable.dtype.str, variable.values.tobytes()
    return found


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_arithmetics_in_which_calls_are_counted(scenarios, tmp_path):
    """Random bits and units of fixed point do not follow the threads, and nothing warns of it."""
    smile = scenarios[1].model_copy(update={"backends": COUNTED})
    one, four = (workflow.run(smile, out=tmp_path / str(n), threads=n) for n in (1, 4))
    assert not one.failures and len(one.files) == 6
    assert variables(one.files) == variables(four.files)


def test_two_threads_the_other_order_and_other_blocks(scenarios, one_thread, tmp_path):
    flow, smile = scenarios
    simulation = smile.heston.simulation.model_copy(update={"block_paths": 300})
    heston = smile.heston.model_copy(update={"simulation": simulation})
    runs = plan([flow, smile.model_copy(update={"heston": heston})])[::-1]
    outcomes = execute(runs, tmp_path, threads=2)
    assert not any(outcome.failure for outcome in outcomes)
    assert variables([tmp_path / run.file for run in runs]) == one_thread


def test_a_cluster_over_loopback(scenarios, one_thread, tmp_path):
    words = []
    with dask_cluster(tmp_path) as (address, _):
        result = workflow.run(
            scenarios, out=tmp_path / "out", scheduler=address, on_cluster=words.append
        )
    assert variables(result.files) == one_thread
    assert address in words[0]


# A command line whose climate runs leave checkpoints at once and which says when it stores.
RESTARTING = """
    import sys, time
    from sciprec.cli import commands as cli
    from sciprec.climate.running import checkpoint
    from sciprec.report import page

    saved = checkpoint.Checkpoints.save

    def save(self, content, last):
        self._written, self._cost = -1.0, 0.0
        saved(self, content, last)
        print("saved", content.steps, last, file=sys.stderr, flush=True)
        time.sleep(0.3)

    checkpoint.Checkpoints.save = save
    page.write_page = lambda batch: batch.folder / "index.html"
    cli.main(sys.argv[1:])
"""


def killed_and_run_again(text, folder, saves):
    """Kill the command of a scenario after so many savings, run it again, and look that it went on.

    Returns:
        Its files.
    """
    scenario, out = folder / "scenario.toml", folder / "out"
    scenario.write_text(text)
    command = [sys.executable, "-c", textwrap.dedent(RESTARTING), "run", scenario, "--out", out]
    command = [*map(str, command), "--threads", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    first, ended = [], 0
    for line in process.stderr:
        first += [int(line.split()[1])] if line.startswith("saved") else []
        ended += line.startswith("saved") and line.endswith("True\n")
        if len(first) == saves:
            process.send_signal(signal.SIGKILL)
            break
    process.stderr.close()
    process.wait(timeout=30)
    assert len(list(out.glob("*.nc"))) == ended
    assert len(list(out.glob(".interrupted/*/*.npz"))) == 1
    again = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert again.returncode == 0, again.stderr
    stored = [int(x.split()[1]) for x in again.stderr.splitlines() if x.startswith("saved")]
    assert stored[0] > first[-1]
    assert re.findall(r"(\d+) of \d runs kept", again.stderr) == [str(ended)] * (ended > 0)
    assert all(verified(out, entry).proven for entry in read_manifest(out)["runs"])
    assert not (out / ".interrupted").exists()
    return sorted(out.glob("*.nc"))


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL on Windows")
def test_a_killed_command_goes_on_in_the_middle_of_a_run(one_thread, tmp_path):
    text = FLOW.replace("[ensemble]\nmembers = 2\n", "")
    found = variables(killed_and_run_again(text, tmp_path, saves=2))
    assert found == {key: one_thread[key] for key in found} and len({k[0] for k in found}) == 2
    (flow,) = tmp_path.glob("out/*__fp64.nc")
    assert np.isfinite(netcdf.read(flow)["height"]).all()
