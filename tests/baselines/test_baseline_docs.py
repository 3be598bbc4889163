"""The page about baselines: its commands are verbs, and the scripts of its recipes run."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from sciprec.cli.exit_codes import GOOD, USAGE

PAGE = (Path(__file__).parents[2] / "docs" / "baselines.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)
RECIPES = [yaml.safe_load(text) for kind, text in BLOCKS if kind == "yaml"]
SCRIPTS = {
    "github": next(s["run"] for s in RECIPES[0]["jobs"]["baselines"]["steps"] if "name" in s),
    "gitlab": "\n".join(RECIPES[1]["precision"]["script"]),
}
"""What the recipes let a runner do, as shell scripts."""


def test_the_recipes_check_alike():
    """One command; the other runner adds its own page of results."""
    assert SCRIPTS["gitlab"].startswith("sciprec baseline check ")
    assert f"{SCRIPTS['gitlab']} || code=$?" in SCRIPTS["github"]


@pytest.mark.slow
def test_a_recipe_checks_and_leaves_its_files(repository, tmp_path, call):
    shim = tmp_path / "bin" / "sciprec"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m sciprec "$@"\n')
    shim.chmod(0o755)
    seen = {
        "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }

    def shell(script):
        return subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script], env=os.environ | seen, cwd=tmp_path,
            capture_output=True, text=True,
        )  # fmt: skip

    assert call("baseline", "save", "made_up.toml", "--quiet")[0] == GOOD
    done = shell(SCRIPTS["github"])
    assert done.returncode == GOOD, done.stderr
    for ending in ("xml", "html", "md"):
        assert (tmp_path / f"precision.{ending}").stat().st_size
    assert (tmp_path / "summary").read_text() == (tmp_path / "precision.md").read_text()
    (tmp_path / "baselines" / "made_up" / "fp32.nc").unlink()
    assert shell(SCRIPTS["github"]).returncode == USAGE


def test_commands_are_those_of_the_command_line(call):
    lines = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]
    verbs = [shlex.split(line, comments=True) for line in lines if line.startswith("sciprec ")]
    assert {words[2] for words in verbs} == {"save", "check", "bless", "list", "show"}
    for words in verbs:
        mine, _, behind = (" ".join(words) + " -- ").partition(" -- ")
        out = call(*mine.split()[1:3], "--help")[1]
        assert all(word in out for word in mine.split() if word.startswith("--"))
        if behind.strip():
            verb, *options = behind.split()
            out = call(verb, "--help")[1]
            assert all(word in out for word in options[:-1] if word.startswith("--"))
            assert verb == "price" or options[0] in out
