"""The page about comparing: every command and example of it is run, and does what it says."""

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
SCRIPTS = [text for kind, text in BLOCKS if kind == "python"]
COMMANDS = [line.split("#") for kind, text in BLOCKS if not kind for line in text.splitlines()]


@pytest.mark.slow
def test_commands_exit_as_the_page_says(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    assert {kind for kind, _ in BLOCKS} == {"", "python", "text"}
    exec(SCRIPTS[0], {})
    (shown,) = (text for kind, text in BLOCKS if kind == "text")
    for number, (command, comment) in enumerate(COMMANDS):
        _, *arguments = command.partition(">")[0].split()
        code, out, err = call(*arguments)
        assert code == int(comment.split()[-1]), (command, err)
        if number == 2:
            assert [line.split() for line in out.splitlines()] == [
                line.split() for line in shown.splitlines()
            ]
        if ">" in command:
            Path(command.partition(">")[2].strip()).write_text(out)
    assert Path("errors.html").is_file() and Path("compare.xml").is_file()


@pytest.mark.slow
def test_the_example_runs(capsys):
    exec(SCRIPTS[1], {})
    assert capsys.readouterr().out.startswith("True ")
