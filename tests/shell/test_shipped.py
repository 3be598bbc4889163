"""Scenarios and models that come with sciprec are found by name; a path that exists goes first."""

import json
import re
from pathlib import Path

import pytest

from sciprec.cli.pricing.price_request import read_model
from sciprec.errors import InputError
from sciprec.kinds import load_scenario
from sciprec.scenario.shipped import PRICES, SCENARIOS, named, names, shipped

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


@pytest.mark.parametrize("name", ["quickstart_hesto", "scenarios/quickstart_hesto.toml"])
def test_unknown_names_are_told_the_nearest(call, elsewhere, name):
    said = (
        f"scenario file '{name}' does not exist; give the path of a TOML file, or the name of a "
        "scenario that comes with sciprec, such as quickstart_climate; did you mean "
        "'quickstart_heston'?"
    )
    with pytest.raises(InputError, match=re.escape(said)):
        load_scenario(name)
    option = ("--payoff", "call", "--strike", 90, "--maturity", 1)
    _, _, error = call("price", *option, "--model", "lewi")
    assert error.endswith("comes with sciprec, such as lewis; did you mean 'lewis'?\n")


def test_quickstart_runs_both_to_a_page(call, models, undrawn, elsewhere):
    code, out, error = call("quickstart", "--json")
    assert code == 0, error
    told = json.loads(out)
    assert {row["scenario"] for row in told["runs"]} == {"quickstart_climate", "quickstart_heston"}
    assert (told["folder"], told["page"]) == ("reports/quickstart", "reports/quickstart/index.html")
