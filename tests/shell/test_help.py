"""Help pages at two widths, whole sentences with nothing cut; verbs and options by old names."""

import re

import pytest
import typer

from sciprec.cli import commands, old_spellings
from sciprec.cli.console import GOOD, USAGE
from tests.shell.test_completion import VERBS


def command_of(words):
    """The command that some words name."""
    command = typer.main.get_command(commands.app)
    for word in words:
        command = command.commands[word]
    return command


@pytest.mark.slow
@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_help_is_whole_sentences_at_every_width(call, words, monkeypatch):
    """Each stands alone: it begins with a capital and ends with a full stop, and is all there."""
    command = command_of(words)
    sentences = [param.help for param in command.params if not getattr(param, "hidden", False)]
    sentences += [below.help.split("\n\n")[0] for below in getattr(command, "commands", {}).values()
                  if not below.hidden]  # fmt: skip
    for said in sentences:
        assert said[0].isupper() and said.endswith("."), said
        assert len(said.split()) > 2, said
    for width in (60, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, err = call(*words, "--help")
        assert (code, err) == (GOOD, "")
        assert max(map(len, out.splitlines())) <= width
        assert not re.search(r"<(list|str|int|float|Path)\b", out), out
        shown = "".join(out.split())
        for said in sentences:
            assert "".join(said.split()) in shown, said


@pytest.mark.parametrize("old", old_spellings.VERBS, ids=" ".join)
def test_old_verbs_work_with_a_line_that_names_the_new_one(call, old):
    new = old_spellings.VERBS[old]
    assert call(*old, "--help") == (
        GOOD, call(*new, "--help")[1],
        f"sciprec: `sciprec {' '.join(old)}` is now `sciprec {' '.join(new)}`; the old spelling "
        "will go\n",
    )  # fmt: skip
    code, out, err = call("--plugin", "none.py", *old)
    assert (code, out) == (USAGE, "") and len(err.splitlines()) == 2 and "'none.py'" in err


def test_old_options_work_with_a_line_that_names_the_new_one(call):
    for verb, renamed in old_spellings.OPTIONS.items():
        for old, new in renamed.items():
            for given in ((old, "bf61"), (f"{old}=bf61",)):
                code, out, err = call(verb, "none.py:f", "--tolerance", "1", *given)
                assert (code, out) == (USAGE, ""), err
                assert err.startswith(f"sciprec: `{old}` is now `{new}`; the old spelling will")
                assert "No such option" not in err
