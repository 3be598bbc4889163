"""docs/study.md: its commands and its script run, and give what it says."""

import json
import re
import shlex
import warnings
from pathlib import Path

import pytest

from sciprec.studies import bit_search

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "study.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
LINES = [shlex.split(line)[1:] for kind, text in BLOCKS if not kind for line in text.splitlines()]


@pytest.mark.slow
def test_commands_find_what_is_said(tmp_path, call, monkeypatch, blank_figures):
    """Of the formats that are tried for the curve's sake alone, only the one that is said."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(bit_search, "_CURVE", (11,))
    plain, search = (
        json.loads(call(*line[:-1], tmp_path / str(n), "--json")[1]) for n, line in enumerate(LINES)
    )
    assert [row["status"] for row in plain["runs"]] == ["truth", "good", "good"]
    found = search["search"]
    said = re.search(r"finds (\d+) bits, and says that (\d+) would do", TEXT)
    assert [found["bits"], *found["lucky"]] == [int(n) for n in said.groups()]
    status = {row["label"]: row["status"] for row in search["runs"]}
    assert status[found["backend"]] == "good"
    assert sorted(status.values()) == ["beyond", "good", "truth"]


@pytest.mark.slow
def test_the_script_runs(tmp_path, monkeypatch, capsys, blank_figures):
    """Without a warning."""
    monkeypatch.chdir(tmp_path)
    (script,) = (text for kind, text in BLOCKS if kind == "python")
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(script, file, "exec"), {"__name__": "script"})
    said = capsys.readouterr().out
    assert "mlu370 good" in said and "bf16 beyond" in said
    assert (tmp_path / "reports" / "smoothed" / "index.html").is_file()
