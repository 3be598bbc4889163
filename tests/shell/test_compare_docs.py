"""The page about comparing: every command and example of it is run, and does what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
SCRIPTS = [text for kind, text in BLOCKS if kind == "python"]
COMMANDS = [line.split("#") for kind, text in BLOCKS if not kind for line in text.splitlines()]


def started(arguments, folder, **options):
    """What a process printed."""
    command = [sys.executable, "-W", "error", *arguments]
    return subprocess.run(command, cwd=folder, text=True, check=False, **options)


@pytest.mark.slow
def test_commands_exit_as_the_page_says(tmp_path):
    assert {kind for kind, _ in BLOCKS} == {"", "python", "text"}
    (tmp_path / "make.py").write_text(SCRIPTS[0], encoding="utf-8")
    assert started(["make.py"], tmp_path).returncode == 0
    (shown,) = (text for kind, text in BLOCKS if kind == "text")
    for number, (command, comment) in enumerate(COMMANDS):
        _, *arguments = command.partition(">")[0].split()
        done = started(["-m", "sciprec", *arguments], tmp_path, capture_output=True,
                       env=os.environ | {"COLUMNS": "300"})  # fmt: skip
        assert done.returncode == int(comment.split()[-1]), (command, done.stderr)
        if number == 2:
            assert [line.split() for line in done.stdout.splitlines()] == [
                line.split() for line in shown.splitlines()
            ]
        if ">" in command:
            (tmp_path / command.partition(">")[2].strip()).write_text(done.stdout)
    assert (tmp_path / "errors.html").is_file() and (tmp_path / "compare.xml").is_file()


@pytest.mark.slow
def test_the_example_runs(tmp_path):
    (tmp_path / "example.py").write_text(SCRIPTS[1], encoding="utf-8")
    done = started(["example.py"], tmp_path, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("True ")
