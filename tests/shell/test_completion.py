"""Help at a prompt: -h and --quiet everywhere, completion of words."""

import subprocess
import sys

import pytest
import typer

from sciprec.cli import commands as cli
from sciprec.cli.console import GOOD, USAGE


def verbs(command, words=()):
    """The words of every verb, those of groups among them."""
    yield words
    for name, inner in getattr(command, "commands", {}).items():
        yield from verbs(inner, (*words, name))


VERBS = list(verbs(typer.main.get_command(cli.app)))


def test_quiet_says_nothing_of_the_progress(call, models, undrawn, scenario_files, tmp_path):
    given = ("run", scenario_files[0], "--out", tmp_path / "out")
    call(*given)
    (code, out, err), (again, same, silent) = call(*given), call(*given, "-q")
    assert (code, again) == (GOOD, GOOD)
    assert "3 runs kept" in err and silent == "" and same.splitlines()[0] == out.splitlines()[0]
    code, out, err = call("run", scenario_files[0], "--set", "climate.days=-1", "-q")
    assert (code, out) == (USAGE, "") and "climate.days" in err


def asking(shell, *words):
    """The environment in which a shell asks for what the last of some words may become."""
    return {
        "COMP_WORDS": " ".join(("sciprec", *words)), "COMP_CWORD": str(len(words)),
        "_TYPER_COMPLETE_ARGS": " ".join(("sciprec", *words)),
        "_TYPER_COMPLETE_FISH_ACTION": "get-args", "_SCIPREC_COMPLETE": f"complete_{shell}",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("scenario", "ke"), "keys"),
        (("run", "quickstart_h"), "quickstart_heston"),
        (("run", "--qui"), "--quiet"),
        (("run", "-b", "mlu370-no"), "mlu370-noguard"),
    ],
)
def test_words_are_completed(words, offered, call, monkeypatch):
    for name, value in asking("bash", *words).items():
        monkeypatch.setenv(name, value)
    code, out, err = call()
    assert (code, err) == (GOOD, "") and offered in out.split()


def test_the_script_works_in_bash(call, tmp_path):
    script = tmp_path / "completion.sh"
    script.write_text(call("--completion", "bash")[1], encoding="utf-8")
    command = tmp_path / "sciprec"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m sciprec "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    asked = (
        f'. {script}; complete -p sciprec; COMP_WORDS=(sciprec scenario ""); COMP_CWORD=2; '
        f'_sciprec_completion {command}; echo "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "complete -o default -F _sciprec_completion sciprec", "keys schema check new",
    ]  # fmt: skip
