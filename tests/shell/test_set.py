"""`sciprec run --set KEY=VALUE`: as if the file said so."""

import json
import shlex

import pytest

import sciprec
from sciprec.cli.console import GOOD
from sciprec.foundation.errors import InputError
from sciprec.scenario.changes import change
from sciprec.workbench.batch import workflow
from sciprec.workbench.kinds import load_scenario


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("climate.days = 3.5 ", ("climate.days", 3.5)),
        ('title="a = b"', ("title", "a = b")),
        ("title=two words", ("title", "two words")),
        ('backends=["fp16", "bf16"]', ("backends", ["fp16", "bf16"])),
        ("backends=float:p=11,round=rz", ("backends", "float:p=11,round=rz")),
        ("climate.parameters={levels = 3}", ("climate.parameters", {"levels": 3})),
        ("name=1\nkind='x'", ("name", "1\nkind='x'")),
    ],
)
def test_values_are_tomls_and_bare_words_are_texts(written, found):
    assert change(written) == found


def test_the_batch_is_the_one_of_a_file_that_says_so(
    call, models, undrawn, scenario_files, tmp_path
):
    """Its files are kept by a run of the edited file; its command line makes it again."""
    path, out = scenario_files[0], tmp_path / "out"
    given = ("--set", "climate.truncation=5", "--set", "title=Other words")
    assert call("run", path, *given, "--out", out)[0] == GOOD
    text = path.read_text().replace("truncation = 21", "truncation = 5")
    other = path.with_name("edited.toml")
    other.write_text(text.replace("A little flow", "Other words"))
    assert [row["kept"] for row in workflow.forecast(other, out=out)] == [True] * 3
    assert [row["kept"] for row in workflow.forecast(path, out=out)] == [False] * 3
    command = shlex.split(json.loads((out / "batch.json").read_text())["command"])
    assert command[:3] == ["sciprec", "run", str(path)]
    code, _, err = call(*command[1:])
    assert code == GOOD and err == "3 of 3 runs kept, computed before\n"
    rows = json.loads(call("run", path, *given, "--out", out, "--plan", "--json")[1])
    assert all(row["kept"] for row in rows)


def test_from_python_files_and_loaded_scenarios_take_changes(scenario_files, tmp_path):
    scenario = load_scenario(scenario_files[0])
    (first, *_) = workflow.forecast(scenario, changes={"name": "other"})
    assert first["scenario"] == "other"
    with pytest.raises(InputError, match=r"^scenario 'little_climate': unknown key 'nam'; known"):
        sciprec.run(scenario, out=tmp_path / "none", changes={"nam": "other"})
    with pytest.raises(InputError, match="changes is 3; accepted: values by dotted key"):
        sciprec.run(scenario, out=tmp_path / "none", changes=3)
