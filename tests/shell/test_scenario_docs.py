"""docs/scenarios.md: its commands run in one folder, and its sentences are those that are said."""

import re
import shlex
from pathlib import Path

import pytest

from sciprec.cli.exit_codes import GOOD, USAGE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, flags=re.DOTALL | re.MULTILINE)

SMALL = " --truncation 5 --days 0.05 --quiet"


def commands():
    """The lines that begin with the command."""
    lines = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
    return [line for line in lines if line.startswith("sciprec ")]


def test_every_block_is_of_a_kind_that_is_tested():
    lines = [line for kind, text in BLOCKS if kind != "toml" for line in text.splitlines()]
    assert all(line.startswith(("sciprec ", "sciprec: ")) for line in lines)
    assert len(commands()) >= 5


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_commands_do_what_is_said(folder, call, blank_figures):
    for line in commands():
        words, _, file = line.partition(" > ")
        if "climate run" in line:
            words = re.sub(r" --(truncation|days) \S+", "", words.partition("#")[0]) + SMALL
        code, out, err = call(*shlex.split(words, comments=True)[1:])
        assert (code, err) == (GOOD, ""), (line, err)
        if file:
            (folder / file.strip()).write_text(out, encoding="utf-8")
    assert (folder / "mine.toml").is_file()
    (named,) = re.findall(r"^#:schema \./(\S+)$", TEXT, re.MULTILINE)
    assert (folder / named).read_text(encoding="utf-8").startswith("{")


def test_the_sentences_are_those_that_are_said(folder, call):
    call("scenario", "new", "heston", "--out", "mine.toml")
    text = (folder / "mine.toml").read_text(encoding="utf-8")
    for old, new in (
        ('"fp16"', '"pf16"'),
        ("n_paths = 65", "n_pahts = 65"),
        ("rho = -0.7", "rho = -1.5"),
    ):
        assert old in text
        text = text.replace(old, new)
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    code, _, err = call("scenario", "check", "mine.toml")
    assert code == USAGE
    for line in re.findall(r"^sciprec: .*$", TEXT, re.MULTILINE):
        form = ".*".join(map(re.escape, line.split("...")))
        assert re.search(form, err), line
