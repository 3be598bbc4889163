"""docs/monitor.md: its script gives what it says, and its commands run."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "monitor.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)
SHELL = [text for kind, text in BLOCKS if not kind and text.startswith("sciprec")]
COMMANDS = [shlex.split(text)[1:] for text in SHELL]


@pytest.mark.slow
def test_the_script_gives_what_is_said(tmp_path, capsys):
    (script,) = (text for kind, text in BLOCKS if kind == "python")
    (said,) = (text for kind, text in BLOCKS if not kind and text.startswith("'"))
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")
    exec(compile(script, file, "exec"), {"__name__": "script"})
    assert capsys.readouterr().out == said


@pytest.mark.slow
def test_commands_run(tmp_path, call, monkeypatch, blank_figures):
    """Of climate runs the first quarter of a day."""
    monkeypatch.chdir(ROOT)
    assert [words[0] for words in COMMANDS] == ["run", "watch", "run", "monitor"]
    for words in COMMANDS:
        if "--out" in words:
            short = ["--set", "climate.days=0.25"]
            words = [*words[:-1], str(tmp_path / Path(words[-1]).name), *short]
        if words[0] == "watch":
            words = ["watch", str(tmp_path / "watched"), "--once"]
        code, _, err = call(*words)
        assert code in (0, 1), err
    pages = [(tmp_path / n / "index.html").read_text("utf-8") for n in ("watched", "drift")]
    assert all("What was watched" in page for page in pages)
    assert ["added by rounding" in page for page in pages] == [False, True]
