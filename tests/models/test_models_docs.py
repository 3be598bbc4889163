"""docs/models.md: its model and its commands run, and give what it says."""

import json
import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
LINES = [shlex.split(line)[1:] for kind, text in BLOCKS if not kind for line in text.splitlines()]


@pytest.mark.slow
def test_the_model_runs(tmp_path, fresh, call, monkeypatch, undrawn):
    monkeypatch.chdir(tmp_path)
    for kind, name in (("python", "decay.py"), ("toml", "decay.toml")):
        (text,) = (text for found, text in BLOCKS if found == kind)
        (tmp_path / name).write_text(text, encoding="utf-8")
    code, said, _ = call(*LINES[0], "--json")
    rows = json.loads(said)["runs"]
    assert [(row["label"], row["status"]) for row in rows] == [
        ("fp64", "truth"), ("fp32", "good"), ("fp32+carry", "good"), ("mlu370", "beyond"),
        ("mlu370+carry", "good"), ("fp16", "beyond"), ("fp16+carry", "beyond"),
    ]  # fmt: skip
    assert code == 0


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES[1:], ids=lambda line: Path(line[1]).stem)
def test_the_examples_run(line, tmp_path, fresh, call, monkeypatch, undrawn):
    monkeypatch.chdir(ROOT)
    short = ("--set", "ensemble.members=2") if "lorenz" in line[1] else ()
    code, said, error = call(*line, *short, "--backend", "fp32", "--out", tmp_path, "--json")
    assert code == 0, error
    wrong = {row["scenario"] for row in json.loads(said)["runs"] if row["status"] == "beyond"}
    assert wrong == ({"soil_column"} if "soil" in line[1] else set())
