"""Ensembles: members are runs of their own with files of their own; pages show member 0."""

import json

import numpy as np
import pytest
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import read_batch
from sciprec.results.output import netcdf
from sciprec.results.output.dataset import trajectory_dataset
from sciprec.workbench.batch import resume, workflow
from sciprec.workbench.batch.perform import run_dataset
from sciprec.workbench.batch.plan import plan
from sciprec.workbench.kinds import load_scenario, parse_scenario
from sciprec.workbench.kinds.heston import member_seed
from tests.shell.conftest import little_trajectory, unit_roundoff
from tests.shell.test_cf import CALLS, COMMON, MODEL, PATHS

ENSEMBLE = "\n[ensemble]\nmembers = 3\nperturbation = 1.0e-9\nseed = 4\n"


@pytest.fixture
def climate(models, scenario_files):
    """A scenario with three members, and the perturbations with which it was computed."""
    seen = []

    def little(given, backend, compensation=None, perturbation=None):
        seen.append((backend, perturbation))
        member = 0 if perturbation is None else perturbation.member
        if (backend, member) == ("fp16", 2):
            raise InputError("out of luck")
        return trajectory_dataset(little_trajectory(unit_roundoff(backend) + 1e-6 * member))

    models["climate"] = little
    scenario_files[0].write_text(scenario_files[0].read_text() + ENSEMBLE)
    return scenario_files[0], seen


def test_every_member_has_its_runs_and_files(climate, undrawn, tmp_path):
    path, seen = climate
    result = workflow.run(path, out=tmp_path / "out")
    assert len(seen) == 9 and len(result.files) == 8
    assert {(p.member, p.amplitude, p.seed) for _, p in seen if p} == {(1, 1e-9, 4), (2, 1e-9, 4)}
    names = {file.name for file in result.files}
    assert {"little_climate__fp32.nc", "little_climate__fp32__m0002.nc"} <= names
    one = netcdf.read(tmp_path / "out" / "little_climate__fp64__m0001.nc")
    assert one.attrs["sciprec_member"] == 1 and "(fp64, member 1)" in one.attrs["title"]
    assert netcdf.read(result.files[0]).attrs["sciprec_member"] == 0


@pytest.mark.slow
def test_pages_show_member_zero_and_members_that_failed(climate, blank_figures, tmp_path):
    path, _ = climate
    result = workflow.run(path, out=tmp_path / "out")
    assert [(row["label"], row["member"], row["status"]) for row in result.table] == [
        ("fp64", 0, "truth"), ("fp32", 0, "good"), ("fp16", 0, "beyond"), ("fp16", 2, "failed"),
    ]  # fmt: skip
    assert [(o.member, o.failure) for o in result.failures] == [(2, "out of luck")]
    page = result.page.read_text()
    assert "member 2: out of luck" in page and "member 1" not in page
    batch = read_batch(tmp_path / "out")
    assert [run.member for run in batch.runs] == [0, 0, 0]
    assert [m for m, _ in batch.members_of("little_climate", "fp64")] == [0, 1, 2]
    assert [m for m, _ in batch.members_of("little_climate", "fp16")] == [0, 1]
    values = [d["u"].values for _, d in batch.members_of("little_climate", "fp64")]
    assert not np.array_equal(values[1], values[2])


@pytest.mark.slow
def test_more_members_compute_only_those(climate, undrawn, tmp_path):
    path, seen = climate
    first = workflow.run(path, out=tmp_path / "out")
    seen.clear()
    path.write_text(path.read_text().replace("members = 3", "members = 4"))
    workflow.run(path, out=tmp_path / "out")
    assert sorted((b, 0 if p is None else p.member) for b, p in seen) == [
        ("fp16", 2), ("fp16", 3), ("fp32", 3), ("fp64", 3),
    ]  # fmt: skip
    assert json.loads(netcdf.read(first.files[0]).attrs["sciprec_scenario"])["ensemble"]


def test_digests_know_the_member_and_its_beginning_but_not_how_many_there_are(climate):
    path, _ = climate
    runs = plan([load_scenario(path)])
    assert [run.member for run in runs] == [0] * 3 + [1] * 3 + [2] * 3
    assert len({resume.run_digest(run) for run in runs}) == len({run.file for run in runs}) == 9
    text = path.read_text()
    path.write_text(text.replace("members = 3", "members = 30"))
    more = plan([load_scenario(path)])
    assert [resume.run_digest(run) for run in more[:9]] == [resume.run_digest(r) for r in runs]
    path.write_text(text.replace("1.0e-9", "1.0e-8"))
    other = [resume.run_digest(run) for run in plan([load_scenario(path)])]
    same = [a == resume.run_digest(b) for a, b in zip(other, runs, strict=True)]
    assert same == [True] * 3 + [False] * 6


def test_the_plan_counts_members_together(climate, call, tmp_path):
    path, seen = climate
    code, out, _ = call("run", path, "--out", tmp_path / "out", "--plan")
    assert code == 0 and not seen and out.count("3 members: 216 steps of rk4 at T21") == 3
    assert "9 of 9 runs to compute" in out
    rows = json.loads(call("run", path, "--out", tmp_path / "out", "--plan", "--json")[1])
    assert [row["member"] for row in rows] == [0] * 3 + [1] * 3 + [2] * 3


def test_every_member_of_options_has_a_seed_of_its_own(monkeypatch):
    seeds = []
    monkeypatch.setattr(
        "sciprec.workbench.kinds.heston.heston_grid.run",
        lambda given, *_: seeds.append(given.simulation.seed) or xr.Dataset(),
    )
    heston = {"model": MODEL, "payoffs": CALLS, "simulation": PATHS}
    content = {"name": "smile", "kind": "heston", **COMMON, "heston": heston}
    for run in plan([parse_scenario(content | {"ensemble": {"members": 3}})]):
        run_dataset(run)
        assert seeds[-1] == member_seed(PATHS.get("seed", 0), run.member)
    assert len(set(seeds)) == 3
