"""The table [sweep] of a scenario file: a scenario for each combination of its values."""

import itertools
import json
import random
import re
import tomllib

import pytest

import sciprec
from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.errors import InputError
from sciprec.report.stored.batch import read_batch
from sciprec.scenario.sweep import MOST_SCENARIOS
from sciprec.workbench.batch import workflow
from tests.shell.conftest import CLIMATE

CONTENT = tomllib.loads(CLIMATE)
POOLS = {
    "climate.truncation": [5, 21, "T42", "TL42", 106],
    "climate.days": [1.0, 2, 0.5, 1e-3, 1.5],
    "climate.step_seconds": [600.0, 300, 450.5],
    "climate.parameters": [{"mountain_height": 500.0}, {"mountain_height": 100.0}, {}],
    "tolerance.0.at_most": [0.0, 1e-5, 2.5e-3],
    "backends": [["fp32"], ["fp16", "bf16"]],
    "compensation": [["none"], ["carry"], ["none", "carry"]],
}


def _nested(flat):
    """The table as TOML has it where keys are written without quotes."""
    table = {}
    for key, values in flat.items():
        *above, last = key.split(".")
        inner = table
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = values
    return table


def _by_hand(row):
    """A file's content with one value for each key, put there without the code of changes."""
    content = tomllib.loads(CLIMATE)
    for key, value in row.items():
        *above, last = (int(part) if part.isdecimal() else part for part in key.split("."))
        place = content
        for part in above:
            place = place[part]
        place[last] = value
    return content


@pytest.mark.parametrize("seed", range(6))
def test_a_sweep_makes_the_scenarios_that_files_of_their_own_would(seed):
    """Random keys and values, in either spelling; names differ, and stay when others join."""
    draw = random.Random(seed)
    keys = draw.sample(list(POOLS), draw.randint(1, 3))
    flat = {key: draw.sample(POOLS[key], draw.randint(1, 2)) for key in keys}
    table = flat if draw.random() < 0.5 else _nested(flat)
    made = sciprec.load_scenarios(CONTENT | {"sweep": table})
    rows = [dict(zip(flat, each, strict=True)) for each in itertools.product(*flat.values())]
    assert len(made) == len(rows) == len({scenario.name for scenario in made})
    for scenario, row in zip(made, rows, strict=True):
        alone = sciprec.load_scenario(_by_hand(row))
        words = {"name", "title"}
        assert scenario.model_dump(exclude=words) == alone.model_dump(exclude=words)
        assert scenario.sweep == row and re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,59}", scenario.name)
        assert all(key in scenario.title for key in row)
    more = {key: [*values, *(v for v in POOLS[key] if v not in values)]
            for key, values in flat.items()}  # fmt: skip
    if MOST_SCENARIOS >= len(list(itertools.product(*more.values()))):
        known = {s.name: s for s in sciprec.load_scenarios(CONTENT | {"sweep": more})}
        assert all(known[scenario.name] == scenario for scenario in made)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({}, "the table [sweep] is empty; give it a key with an array of values"),
        (3, "key 'sweep' was given 3; accepted: a table of arrays by key"),
        ({"climate.days": 3}, "'climate.days' was given 3; accepted: an array of values"),
        ({"climate.days": []}, "'climate.days' has no value; give it at least one"),
        ({"climate.days": [1, 1.0]}, "'climate.days' has 1 and 1.0, and both make a scenario"),
        ({"climate.case": ["a b", "a_b"]}, "whose name ends in 'a_b'; give one of them"),
        ({"climate.days": [1], "climate": {"days": [2]}}, "'climate.days' stands twice"),
        ({"name": ["a", "b"]}, "'name' cannot be swept, since scenarios are told apart by it"),
        ({"sweep.x": [1]}, "'sweep.x' cannot be swept"),
        ({"climate.dayz": [1, 2]}, "unknown key 'climate.dayz'; known: case, "),
        ({"title.x": [1]}, "'title.x' cannot be swept"),
        ({"climate.case.x": [1]}, "key 'climate.case.x' is set, but 'climate.case' is no table"),
        ({"tolerance.1.at_most": [1]}, "'tolerance' is an array of 1; give the number"),
        ({"climate.days": list(range(1, 21)), "climate.truncation": list(range(1, 12))},
         f"makes 220 scenarios (20 x 11); at most {MOST_SCENARIOS} are accepted"),
    ],
)  # fmt: skip
def test_what_cannot_be_swept_is_said_once(table, words):
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        sciprec.load_scenarios(CONTENT | {"sweep": table})
    assert len(str(caught.value).splitlines()) == 1


def test_one_scenario_is_taken_where_one_is_asked_for():
    content = CONTENT | {"sweep": {"climate.days": [1.0, 2.0]}}
    words = r"makes 2 scenarios, and one is accepted here; choose .* --set 'sweep=(.*)'"
    with pytest.raises(InputError, match=words) as caught:
        sciprec.load_scenario(content)
    advice = tomllib.loads(re.search(words, str(caught.value))[1].join(("sweep = ", "")))
    assert sciprec.load_scenario(content | advice).name == "little_climate-days-1"


@pytest.mark.slow
def test_a_swept_file_runs_a_row_for_each_value_and_keeps_them_when_one_is_added(
    call, models, undrawn, tmp_path
):  # fmt: skip
    file, out = tmp_path / "swept.toml", tmp_path / "out"
    file.write_text(CLIMATE + "\n[sweep]\nclimate.days = [1.0, 2.5]\n")
    assert call("scenario", "check", file) == (GOOD, f"{file}: good\n", "")
    rows = json.loads(call("run", file, "--out", out, "--json")[1])["runs"]
    names = ["little_climate-days-1", "little_climate-days-2_5"]
    assert [row["scenario"] for row in rows] == [name for name in names for _ in range(3)]
    file.write_text(CLIMATE + "\n[sweep]\nclimate.days = [0.5, 1.0, 2.5]\n")
    plan = json.loads(call("run", file, "--out", out, "--plan", "--json")[1])
    assert [row["kept"] for row in plan] == [False] * 3 + [True] * 6
    code, _, err = call("run", file, "--out", out)
    assert code == GOOD and err.startswith("6 of 9 runs kept, computed before\n")
    assert call("report", out)[0] == GOOD
    stored = read_batch(out)
    assert set(stored.scenarios) == {*names, "little_climate-days-0_5"}
    added = json.loads(call("run", file, "--set", "sweep.climate.days=[3.0]", "--out", out,
                            "--plan", "--json")[1])  # fmt: skip
    assert {row["scenario"] for row in added} == {"little_climate-days-3"}
    assert workflow.default_folder(sciprec.load_scenarios(file)).name == "little_climate"


def test_mistakes_of_some_values_name_their_scenarios(call, tmp_path):
    file = tmp_path / "swept.toml"
    file.write_text(CLIMATE + '\n[sweep]\n"climate.step_seconds" = [600.0, 601.0, 599.0, -1.0]\n')
    code, out, err = call("scenario", "check", file)
    lines = err.splitlines()
    assert (code, out, len(lines)) == (USAGE, "", 3)
    assert f"{file}: scenario 'little_climate-step_seconds-601': table [climate]: " in lines[0]
    assert "scenario 'little_climate-step_seconds-m1': key 'climate.step_seconds'" in lines[2]


@pytest.mark.slow
def test_baselines_of_a_sweep_are_one_for_each_and_are_asked_for_again(
    call, models, tmp_path, monkeypatch
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "swept.toml"
    file.write_text(CLIMATE + "\n[sweep]\nclimate.days = [1.0, 2.0]\n")
    given = ("baseline", "save", file.name, "--no-commit", "--backend", "fp16")
    code, _, err = call(*given, "--name", "mine")
    assert code == USAGE and "makes 2 baselines, named like its scenarios" in err
    code, out, _ = call(*given)
    assert code == GOOD and out.splitlines() == [
        f"baseline: baselines/little_climate-days-{n}" for n in (1, 2)
    ]
    file.write_text(CLIMATE + "\n[sweep]\nclimate.days = [2.0, 3.0]\n")
    assert call("baseline", "check")[0] == GOOD
