"""`sciprec scenario keys, schema, check, new`: what scenario files may say, from one place."""

import json
import re
import tomllib

import pytest
from jsonschema import Draft202012Validator

from sciprec.cli.console import GOOD, USAGE
from sciprec.workbench.kinds import kinds, parse_scenario
from sciprec.workbench.kinds.schema import scenario_keys, scenario_schema
from tests.extending import loading
from tests.random_scenarios.mistakes import places
from tests.shell.conftest import SHIPPED

OWN = ("climate", "heston", "accumulation")
PLUGIN = """
from typing import Literal
import xarray as xr
from pydantic import BaseModel, Field
from sciprec.workbench.kinds import Kind, register
from sciprec.scenario.loading import Scenario

class Inner(BaseModel):
    depth: float = Field(gt=0, json_schema_extra={"unit": "m"})

class Soil(BaseModel):
    layers: int = Field(ge=2, description="a whole number of layers, 2 or more")
    soil: Literal["clay", "sand"]
    column: Inner
    slope: float = 0.5

class SoilScenario(Scenario):
    kind: Literal["soil"]
    soil: Soil

register(Kind("soil", SoilScenario, lambda table, variant, around: xr.Dataset()))
"""


@pytest.fixture
def plugin(tmp_path):
    """A kind whose table is pydantic's alone, without words and examples."""
    with loading(tmp_path):
        file = tmp_path / "soil.py"
        file.write_text(PLUGIN, encoding="utf-8")
        yield file


def test_every_key_is_listed_with_all_that_is_known_of_it(call):
    code, out, err = call("scenario", "keys", "--json")
    assert (code, err) == (GOOD, "")
    found = json.loads(out)
    assert list(found) == list(kinds())
    days = next(key for key in found["climate"] if key["path"] == "climate.days")
    assert days == {
        "path": "climate.days", "type": "number", "unit": "days", "limits": "≥ 0.001, ≤ 1e+06",
        "accepted": "a number of days > 0, from 0.001 to 1000000", "required": True,
        "default": None, "example": 5.0, "choices": [], "opens": False, "about": "",
    }  # fmt: skip
    for name, keys in found.items():
        paths = {key["path"] for key in keys}
        for path in SHIPPED:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
            if content["kind"] == name:
                assert paths_in(content) <= paths
        assert all(key["accepted"] for key in keys)


def paths_in(content):
    """The paths of the keys of a scenario as lists of keys write them, free names left out."""
    free = ("parameters", "variables")
    found = (p for p, _ in places(content) if isinstance(p[-1], str) and p[-2:-1] not in
             [(name,) for name in free] and not any(part in free for part in p[:-1]))  # fmt: skip
    return {re.sub(r"\.\d+", "[]", ".".join(map(str, path))) for path in found}


def test_kinds_of_plugins_are_there_without_a_word_of_their_own(call, plugin):
    given = ("--plugin", plugin)
    keys = json.loads(call("scenario", "keys", "soil", "--json", *given)[1])["soil"]
    depth = next(key for key in keys if key["path"] == "soil.column.depth")
    assert (depth["unit"], depth["limits"], depth["required"]) == ("m", "> 0", True)
    schema = json.loads(call("scenario", "schema", *given)[1])
    Draft202012Validator.check_schema(schema)
    file = plugin.with_name("first.toml")
    assert call("scenario", "new", "soil", "--out", file, *given) == (GOOD, "", "")
    assert tomllib.loads(file.read_text(encoding="utf-8"))["soil"] == {
        "layers": 3, "soil": "clay", "column": {"depth": 1.0}
    }  # fmt: skip
    assert call("scenario", "check", file, *given)[0] == GOOD
    assert Draft202012Validator(schema).is_valid(tomllib.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize("kind", OWN)
def test_a_new_scenario_is_good_and_says_every_key(call, kind, tmp_path):
    file = tmp_path / "Mine (2).toml"
    assert call("scenario", "new", kind, "--out", file) == (GOOD, "", "")
    text = file.read_text(encoding="utf-8")
    scenario = parse_scenario(tomllib.loads(text))
    assert (scenario.kind, scenario.name) == (kind, "mine_2_")
    assert call("scenario", "check", file) == (GOOD, f"{file}: good\n", "")
    code, out, err = call("run", file, "--plan")
    assert (code, err) == (GOOD, "")
    for key in scenario_keys(kind):
        if "[]" not in key.path or key.path.startswith("tolerance"):
            assert re.search(rf"^#?(\[+{re.escape(key.path)}\]+|{key.name} = .*)$", text, re.M), key
    before = file.read_bytes()
    code, _, err = call("scenario", "new", kind, "--out", file)
    assert code == USAGE and f"the file '{file}' cannot be written (it is there already," in err
    assert file.read_bytes() == before
    code, _, err = call("scenario", "new", kind, "--out", tmp_path / "none" / "x.toml")
    assert code == USAGE and "cannot be written (its folder does not exist)" in err


@pytest.mark.parametrize("kind", OWN)
def test_every_comment_of_a_new_scenario_can_be_made_a_key(call, kind):
    """One by one, and all together; what goes together beyond the schema is asked by `check`."""
    validator = Draft202012Validator(scenario_schema([kind]))
    prices = ("#tolerance = ", "#confidence", "#max_paths")  # none with a number of paths
    prices = prices if kind == "heston" else ("# ",)
    lines = [one for one in call("scenario", "new", kind)[1].splitlines()
             if not one.startswith(prices)]  # fmt: skip
    said = [n for n, line in enumerate(lines) if re.match(r"#(\[|[a-z_]+ = )", line)]
    heads = [n for n in said if lines[n].startswith("#[")]
    alone = [n for n in said if not heads or n < heads[0]]
    for numbers in [*([n] for n in alone), said]:
        text = "\n".join(one[1:] if n in numbers else one for n, one in enumerate(lines))
        assert not list(validator.iter_errors(tomllib.loads(text))), numbers
    assert len(said) > 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", OWN)
def test_a_new_scenario_runs_as_it_stands(call, undrawn, kind, tmp_path):
    """But for a thousandth of the ten million updates of sums, and half a day of a flow."""
    file = tmp_path / "mine.toml"
    assert call("scenario", "new", kind, "--out", file)[0] == GOOD
    fewer = {"accumulation": "accumulation.updates=10000", "climate": "climate.days=0.5"}
    less = ("--set", fewer[kind]) if kind in fewer else ()
    code, out, err = call("run", file, "--out", tmp_path / "out", "--quiet", *less)
    assert (code, err) == (GOOD, "") and out.count("not judged") == 2


def test_what_only_the_model_knows_is_said_in_one_go_too(call, scenario_files):
    """Each by itself, beside a mistake in another table; of all files, in their order."""
    climate, heston = scenario_files
    text = climate.read_text().replace("days = 3.0", (
        'days = 3.0\noutput_hours = 6.999\nvariables = ["hight", "u"]\nstored = "fixed16"\n'
        "parameters = { angel = 1.0, levls = 2 }"
    ))  # fmt: skip
    climate.write_text(text.replace('"relative_l2"', '"relative_12"').replace('"fp16"', '"pf16"'))
    code, out, err = call("scenario", "check", heston, climate, "nowhere.toml")
    assert (code, out) == (USAGE, f"{heston}: good\n")
    expected = [
        "key 'backends.1': unknown backend 'pf16'", "leave a time step of ",
        "stored is 'fixed16' beside the arithmetic 'fp32'",
        "unknown parameter 'angel'", "unknown parameter 'levls'", "unknown variable 'hight'",
        "[[tolerance]] names the unknown metric 'relative_12'", "'nowhere.toml' does not exist",
    ]  # fmt: skip
    assert len(err.splitlines()) == len(expected)
    for words in expected:
        assert words in err, words
