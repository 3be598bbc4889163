"""Scenarios and models that come with sciprec: found by name, and good as they stand."""

import json
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sciprec.cli.pricing.price_request import read_model
from sciprec.foundation.definitions import digest_of
from sciprec.foundation.errors import InputError
from sciprec.foundation.loading import load_files
from sciprec.foundation.shipped import (
    EXAMPLES,
    PRICES,
    SCENARIOS,
    named,
    names,
    shipped,
)
from sciprec.tools.calls.kernel_file import is_kernel, kernel_named, made_by
from sciprec.workbench.batch import workflow
from sciprec.workbench.batch.plan import code_behind, variants_of
from sciprec.workbench.kinds import kind_of, load_scenario
from sciprec.workbench.kinds.schema import scenario_schema

ROOT = Path(__file__).parents[2]


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_checkout_has_them_in_its_root(elsewhere):
    assert shipped(SCENARIOS) == ROOT / "scenarios"
    assert load_scenario("quickstart_heston").name == "quickstart_heston"
    model, source = read_model(Path("lewis"), {})
    assert model.kappa == 4.0 and "Lewis" in source
    for folder in (SCENARIOS, PRICES):
        assert names(folder) == tuple(sorted(p.stem for p in (ROOT / folder).glob("*.toml")))


def test_a_path_that_exists_goes_before_a_name(elsewhere):
    (elsewhere / "quickstart_heston").write_text('kind = "flow"\n')
    assert named("quickstart_heston", SCENARIOS) == Path("quickstart_heston")
    with pytest.raises(InputError, match="quickstart_heston: the key 'kind' was given 'flow'"):
        load_scenario("quickstart_heston")


def test_examples_are_found_by_name_with_their_models(elsewhere, forgotten_plugins, monkeypatch):
    """A scenario brings its model along, to other processes, too, also where both are those of an
    installed package; kernels and inputs are named likewise, with or without the ending.
    """
    monkeypatch.setattr("sciprec.workbench.models.declaration.is_installed", lambda _: True)
    folder = ROOT / "examples"
    for name in names(EXAMPLES):
        scenario = load_scenario(f"examples:{name}")
        own = "" if scenario.kind == "climate" else f"{folder}/{scenario.kind}.py"
        assert scenario.name == name and kind_of(scenario).file == own
    kernel = kernel_named("examples:lorenz63.py:lorenz63")
    assert kernel is kernel_named("examples:lorenz63:lorenz63") and is_kernel("examples:lorenz63:a")
    assert set(made_by("examples:lorenz63.py:start")) == {"s", "h", "path"}
    assert not is_kernel("examples:soil_column")
    assert load_files("examples:lorenz96.py") == (str(folder / "lorenz96.py"),)


def test_examples_are_listed_with_a_sentence_each(elsewhere, call):
    rows = {row["name"]: row for row in json.loads(call("list", "examples", "--json")[1])}
    files = [file for file in (ROOT / "examples").iterdir() if file.suffix in (".toml", ".py")]
    assert len(rows) == len(files) and all(len(row["title"]) > 20 for row in rows.values())
    assert rows["examples:lorenz96"]["title"] == "Waves on a latitude circle"
    code, out, _ = call("list", "examples")
    (line,) = (line for line in out.splitlines() if "lorenz63" in line)
    assert code == 0 and line.split(None, 3)[0] == "examples:lorenz63.py"
    assert "Python file" in line and "Convection after Lorenz (1963)" in line


@pytest.mark.parametrize(
    "act, given, words",
    [
        (load_scenario, "examples:soil_colum", "did you mean 'examples:soil_column'"),
        (load_scenario, "examples:lorenz63", "kernels of its Python file are 'examples:lorenz63.p"),
        (kernel_named, "examples:lorenz36.py:f", "did you mean 'examples:lorenz(63|96)'"),
        (load_files, "examples:half", "accepted: examples:accumulation, examples:age_of_air, exa"),
    ],
)
def test_an_unknown_example_is_answered_with_the_known_ones(elsewhere, act, given, words):
    with pytest.raises(InputError, match=f"'{given[:12]}.*of the examples.*{words}"):
        act(given)


def test_quickstart_runs_both_to_a_page(call, models, undrawn, elsewhere):
    code, out, error = call("quickstart", "--json")
    assert code == 0, error
    told = json.loads(out)
    assert {row["scenario"] for row in told["runs"]} == {"quickstart_climate", "quickstart_heston"}
    assert (told["folder"], told["page"]) == ("reports/quickstart", "reports/quickstart/index.html")


@pytest.fixture(scope="module")
def valid():
    """By the schema of all kinds."""
    return Draft202012Validator(scenario_schema())


@pytest.mark.slow
@pytest.mark.parametrize("name", names(SCENARIOS))
def test_a_shipped_scenario_says_its_source_and_can_be_planned_as_it_stands(name, valid, tmp_path):
    """The digest of the code behind it is the same again, and a brief run of it, which compiles
    ahead, calls the kernels of the whole one.
    """
    path = named(name, SCENARIOS)
    scenario, content = load_scenario(path), tomllib.loads(path.read_text(encoding="utf-8"))
    assert scenario.name == name and scenario.source
    assert not list(valid.iter_errors(content))
    behind = code_behind(scenario)
    assert behind == code_behind(scenario) != digest_of()
    rows = workflow.forecast(path, out=tmp_path)
    sums = scenario.kind == "accumulation"  # a model of the examples, which nobody can forecast
    assert sums or all(row["work"] and row["megabytes"] > 0 for row in rows)
    known = [row["seconds"] for row in rows if row["seconds"] is not None]
    assert all(1e-3 < seconds < 1e6 for seconds in known)
    assert sums or bool(known) != ("tolerance" in content.get("heston", {}).get("simulation", {}))
    kind = kind_of(scenario)
    assert (kind.brief is None) == sums
    if not sums:
        brief = kind.brief(scenario.table)
        for variant in variants_of(scenario, scenario.backends):
            kind.check(brief, variant)
            assert kind.kernels(brief, variant) == kind.kernels(scenario.table, variant)
