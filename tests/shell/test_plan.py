"""Plans: pure data, the truth once, and names that files can have."""

import pytest

from sciprec.batch.plan import file_part, plan
from sciprec.errors import InputError
from sciprec.precision.backend import backends
from sciprec.scenario import load_scenario


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


def test_given_backends_replace_the_scenarios_own(scenarios):
    runs = plan(scenarios[:1], ["fp64", "binary16", "fp16", "mlu370"])
    assert [r.backend for r in runs] == ["fp64", "fp16", "mlu370"]


def test_files_have_different_and_plain_names(scenarios):
    specs = ["float:p=11,emin=-14,emax=15,round=rz", "float:p=11,emin=-14,emax=15,round=rn"]
    files = [r.file for r in plan(scenarios, [*backends(), *specs])]
    assert len(set(files)) == len(files)
    assert all(set(f) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-.") for f in files)
    assert file_part("mlu370-noguard") == "mlu370-noguard"
    assert file_part("float:p=5,emin=-3") != file_part("float:p=5,emin=3")


def test_messages(scenarios):
    with pytest.raises(InputError, match="no scenario was given; give TOML files"):
        plan([])
    with pytest.raises(InputError, match="'little_climate' is used by 2 of the scenarios"):
        plan([scenarios[0], scenarios[0]])
    with pytest.raises(InputError, match="unknown backend 'fp23'"):
        plan(scenarios, ["fp23"])
    for key, name in (("metric", "relative_12"), ("variable", "hight")):
        wrong = scenarios[0].tolerance[0].model_copy(update={key: name})
        with pytest.raises(InputError, match=f"unknown {key} '{name}'.*did you mean"):
            plan([scenarios[0].model_copy(update={"tolerance": (wrong,)})])
