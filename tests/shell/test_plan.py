"""Plans: pure data, the truth once, and names that files can have."""

import os

import pytest

from sciprec.arrays.sums.compensation import Compensation
from sciprec.climate.running import labelled
from sciprec.facets.compensation.keys import NO_COMPENSATION
from sciprec.precision.formats.backend import backends
from sciprec.scenario.variant import Variant
from sciprec.workbench.batch.compiling import remember
from sciprec.workbench.batch.course import estimates
from sciprec.workbench.batch.execute import execute
from sciprec.workbench.batch.plan import plan, with_threads
from sciprec.workbench.batch.resume import run_digest
from sciprec.workbench.kinds import Surroundings, load_scenario
from sciprec.workbench.kinds.climate import CLIMATE as CLIMATE_KIND
from sciprec.workbench.kinds.climate import ClimateRun


@pytest.fixture
def scenarios(scenario_files):
    return [load_scenario(path) for path in scenario_files]


def test_truth_comes_first_and_once(scenarios):
    runs = plan(scenarios)
    assert [(r.scenario.name, r.backend) for r in runs] == [
        (name, backend)
        for name in ("little_climate", "little_heston")
        for backend in ("fp64", "fp32", "fp16")
    ]
    assert [r.is_truth for r in runs] == [True, False, False] * 2


@pytest.mark.parametrize(("processors", "inside"), [(1, 1), (11, 1), (12, 2), (64, 10)])
def test_runs_side_by_side_come_before_threads_inside(scenarios, processors, inside):
    """Never more threads than processors; what a run is does not depend on them."""
    runs = plan(scenarios)
    shared = with_threads(runs, processors)
    assert {run.threads for run in shared} == {inside}
    assert [run_digest(run) for run in shared] == [run_digest(run) for run in runs]


def test_one_run_that_is_left_has_all_processors(scenarios, tmp_path, monkeypatch):
    """And its model is told so."""
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    seen = []

    def action(run, folder, debug=False, on_days=None):
        seen.append(run.threads)
        return run.outcome(0.0)

    runs = plan(scenarios)
    for some, threads in ((runs, None), (runs[:1], None), (runs[:1], 2), (runs[:1], 64)):
        execute(some, tmp_path, threads=threads, action=action)
    assert seen == [1] * 6 + [3, 2, 3]
    told = []
    monkeypatch.setattr(labelled, "run_request", lambda request, _: told.append(request.threads))
    for truncation, levels, least in ((21, 10, 1), (42, 20, 2), (85, 20, 3)):
        table = {"case": "held_suarez", "truncation": truncation, "days": 1.0,
                 "parameters": {"levels": levels}}  # fmt: skip
        CLIMATE_KIND.run(ClimateRun(**table), Variant("fp64"), Surroundings(threads=3))
        assert told.pop() == least


def test_files_have_different_and_plain_names(scenarios):
    specs = ["float:p=11,emin=-14,emax=15,round=rz", "float:p=11,emin=-14,emax=15,round=rn"]
    names = [name for name in backends() if name != "dd"]
    files = [r.file for r in plan(scenarios, [*names, *specs])]
    assert len(set(files)) == len(files)
    assert all(set(f) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.") for f in files)
    assert Variant("mlu370-noguard").file_part == "mlu370-noguard"
    assert Variant("float:p=5,emin=-3").file_part != Variant("float:p=5,emin=3").file_part


@pytest.mark.parametrize(
    ("environ", "label", "expected"),
    [
        ({"MLU_ENABLE_COMPENSATION": "1"}, "fp32+carry", Compensation()),
        (
            {"MLU_ENABLE_COMPENSATION": "1", "MLU_COMP_ALPHA": "0.5"},
            "fp32+environment", Compensation(0.5),
        ),
        ({"MLU_COMP_ALPHA": "0.5"}, "fp32", None),
    ],
)  # fmt: skip
def test_environment_serves_scenarios_that_name_no_compensation(
    scenarios, environ, label, expected
):
    climate, heston = (plan([s], environ=environ)[1] for s in scenarios)
    assert climate.label == label
    chosen = climate.variant.compensation
    assert chosen.resolved() == expected
    assert climate.scenario.compensation == (() if expected is None else (chosen,))
    assert heston.label == "fp32" and len(heston.scenario.compensation) == 1
    own = scenarios[0].model_copy(update={"compensation": (NO_COMPENSATION,)})
    assert [r.label for r in plan([own], environ=environ)] == ["fp64", "fp32", "fp16"]


def test_a_forecast_counts_what_has_to_be_compiled_once(scenarios, monkeypatch, tmp_path):
    monkeypatch.setenv("SCIPREC_CACHE_DIR", str(tmp_path))
    climate, heston = scenarios
    finer = climate.model_copy(
        update={"name": "finer", "climate": climate.climate.model_copy(update={"truncation": 63})}
    )
    fixed = heston.model_copy(update={"backends": ("fixed32",)})
    runs = plan([climate, finer, fixed])
    compiling = [about.compile_seconds for about in estimates(runs)]
    assert [s > 0 for s in compiling] == [True] * 3 + [False] * 3 + [True] * 2
    assert compiling[7] == 3 * compiling[6]
    remember(runs[0])
    assert [about.compile_seconds for about in estimates(runs)] == [0.0, *compiling[1:]]
    kept = {runs[1].file}
    assert [a.compile_seconds > 0 for a in estimates(runs, kept)][1:5] == [False, True, False, True]
