"""docs/batch.md: its commands run, its lines are accepted, its scripts call what exists."""

import ast
import glob
import inspect
import json
import re
import shlex
import tomllib
from pathlib import Path

import sciprec
from sciprec.batch.workflow import run
from sciprec.output.health import FLAGS
from sciprec.scenario.ensemble import Ensemble

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "batch.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)


def blocks(language):
    found = [text for kind, text in BLOCKS if kind == language]
    assert found
    return found


def test_the_plan_is_shown(call, monkeypatch):
    monkeypatch.chdir(ROOT)
    line = next(line for line in blocks("")[0].splitlines() if line.startswith("sciprec "))
    _, *arguments = [name for a in shlex.split(line) for name in (sorted(glob.glob(a)) or [a])]
    code, out, said = call(*arguments, "--json")
    assert code == 0, said
    assert all(row["work"] for row in json.loads(out))


def test_the_table_of_an_ensemble_is_accepted():
    (text,) = blocks("toml")
    table = Ensemble.model_validate(tomllib.loads(text)["ensemble"])
    assert (table.members, table.amplitude) == (20, 1.0e-14)


def test_scripts_call_what_exists():
    known = inspect.signature(run).parameters
    for text in blocks("python"):
        calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]
        ours = [c for c in calls if ast.unparse(c.func) == "sciprec.run"]
        assert len(ours) == 1 and hasattr(sciprec, "run")
        assert {keyword.arg for keyword in ours[0].keywords} <= set(known)


def test_every_flag_is_told():
    for bit, name in enumerate(FLAGS):
        assert f"{2**bit} {name.replace('_', ' ')}" in TEXT
