"""Files that users name: every option of every verb replaces what sciprec wrote, and nothing else.

Verbs and options are read from the command line's own description, so that a new option is among
them by being there.
"""

import os
import typing
from pathlib import Path

import numpy as np
import pytest

from sciprec.cli import commands
from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.cli.written_files import FileToWrite
from tests.shell.conftest import KERNEL

FOREIGN = b"<html><title>Our home</title></html>\n"
FOLDERS_AND_INPUTS = {
    "plugin", "files", "out", "folder", "golden", "actual", "stored", "model", "references",
    "scenarios", "batch", "scenario",
}  # fmt: skip
"""Paths that name no file to write."""


def callbacks(app=commands.app, before=""):
    """The function of every verb, by its words."""
    found = {before.strip(): app.registered_callback.callback} if app.registered_callback else {}
    for one in app.registered_commands:
        name = one.name or one.callback.__name__.replace("_", "-")
        found[f"{before}{name}"] = one.callback
    for group in app.registered_groups:
        found |= callbacks(group.typer_instance, f"{before}{group.name} ")
    return found


def paths_of(callback):
    """Parameters of a verb that are paths: name -> its option if a file is written, else ""."""
    found = {}
    for name, hint in typing.get_type_hints(callback, include_extras=True).items():
        if Path not in _leaves(hint):
            continue
        infos = [one for one in hint.__metadata__ if hasattr(one, "parser")]
        (info,) = infos
        written = info.parser is not None and isinstance(info.parser("x"), FileToWrite)
        found[name] = f"--{name.replace('_', '-')}" if written else ""
    return found


def _leaves(hint):
    args = typing.get_args(hint)
    return {leaf for arg in args for leaf in _leaves(arg)} if args else {hint}


WRITTEN = {
    verb: options for verb, callback in callbacks().items()
    if (options := [option for option in paths_of(callback).values() if option])
}  # fmt: skip


def test_every_path_of_a_verb_is_a_file_to_write_or_is_known_to_be_none():
    """A new one has to be made with `written`, or be named above."""
    paths = [one for callback in callbacks().values() for one in paths_of(callback).items()]
    assert {name for name, option in paths if not option} == FOLDERS_AND_INPUTS
    assert FOLDERS_AND_INPUTS & {name for name, option in paths if option} == {"out"}
    assert [verb for verb, options in WRITTEN.items() if "--out" in options] == ["scenario new"]
    assert sum(map(len, WRITTEN.values())) >= 11


@pytest.fixture
def words_of(models, scenario_files, blank_figures, call, monkeypatch, tmp_path):
    """A function of a verb: the words of a call of it that takes little time."""
    monkeypatch.chdir(tmp_path)
    plugin = tmp_path / "plugin.py"
    plugin.write_text("")

    def words(verb):
        Path("own").mkdir()
        Path("own/kernel.py").write_text(KERNEL)
        for name in ("golden", "actual"):
            np.savez(f"own/{name}.npz", x=np.arange(3.0))
        of_kernel = ["own/kernel.py:kernel", "--inputs", "own/kernel.py:given"]
        if verb == "baseline check":
            kept = ["--folder", "kept", "--no-commit", "-q"]
            assert call("baseline", "save", *of_kernel, "-b", "fp16", *kept)[0] == GOOD
        if verb == "report":
            assert call("run", scenario_files[0], "--out", "batch", "-q")[0] == GOOD
        further = {
            "run": [scenario_files[0], "--out", "out", "-q"],
            "study": [*of_kernel, "-b", "fp16", "--out", "out", "-q"],
            "trace": [*of_kernel, "-b", "fp16"],
            "digits": of_kernel,
            "bound": [*of_kernel, "-b", "fp16"],
            "check-memory": of_kernel,
            "report": ["batch"],
            "quickstart": ["--out", "out", "-q"],
            "climate run": ["williamson_2", "-b", "fp16", "--out", "out", "-q"],
            "price": ["--model", "lewis", "--payoff", "call", "--strike", "100", "--maturity", "1",
                      "--tolerance", "20%"],
            "repeat": [*of_kernel, "--runs", "2", "-q"],
            "tune": [*of_kernel, "--tolerance", "1e-2"],
            "monitor": [*of_kernel, "-b", "fp16", "--watch", "out"],
            "compare": ["own/golden.npz", "own/actual.npz"],
            "baseline check": ["--folder", "kept", "-q"],
            "scenario new": ["climate"],
        }
        return ["--plugin", plugin, *verb.split(), *further[verb]]

    return words


def files_below(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("verb", WRITTEN)
def test_what_is_in_the_way_is_one_sentence_before_anything_is_computed(
    verb, words_of, call, tmp_path
):
    words = words_of(verb)
    foreign = tmp_path / "foreign.html"
    foreign.write_bytes(FOREIGN)
    os.symlink(foreign, "link")
    os.symlink(tmp_path / "nothing", "dangling")
    os.mkfifo("pipe")
    inputs = [p for p in (str(w).partition(".py:")[0] + ".py" * (".py:" in str(w)) for w in words)
              if os.path.isfile(p)]  # fmt: skip
    beside = [p for p in map(Path, ("own", "kept")) for p in p.rglob("*") if p.is_file()]
    before = files_below(tmp_path)
    refused = [
        (foreign, "it is there already, and is not "), ("link", "it is a link, and links are not"),
        ("dangling", "it is a link, and links are not"), (tmp_path, "it is a folder"),
        ("none/x", "its folder does not exist"), (foreign / "x", "its folder does not exist"),
        ("pipe", "it is no regular file"), ("/dev/null", "it is no regular file"),
        ("n" * 300, "File name too long"), ("/proc/self/x", "No such file or directory"),
        *((path, "it is an input of this command") for path in inputs),
        *((path, "(it is ") for path in beside),
    ]  # fmt: skip
    if verb != "compare":  # one obstacle shows that a verb looks for all
        refused = [refused[0], *refused[10:]]
    for option in WRITTEN[verb]:
        for path, why in refused:
            if str(path).startswith("/proc") and not os.path.isdir("/proc/self"):
                continue  # Linux has such a folder, which takes no files from anybody
            code, out, said = call(*words, option, path)
            assert (code, out) == (USAGE, ""), (option, path)
            assert len(said.splitlines()) == 1 and f"'{path}' cannot be written (" in said, said
            assert why in said and said.endswith("; give another one\n"), said
    assert files_below(tmp_path) == before and not Path("out").exists()
    assert Path("link").is_symlink() and not Path("nothing").exists()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["bound", "compare", "report", "run", "scenario new"])
def test_an_empty_file_and_one_of_the_same_sort_are_replaced(verb, words_of, call, tmp_path):
    """Others write over older files of theirs in tests/writing/scenes.py."""
    words = words_of(verb)
    for number, option in enumerate(WRITTEN[verb]):
        path = tmp_path / f"{number}.file"
        path.touch()
        assert call(*words, option, path)[0] in (GOOD, NOT_MET)
        written = path.read_bytes()
        assert len(written) > 20
        if verb == "scenario new":  # which is its user's from then on
            assert "is not an empty file" in call(*words, option, path)[2]
            continue
        path.write_bytes(written + b"<!-- more -->\n")
        assert call(*words, option, path)[0] in (GOOD, NOT_MET)
        assert not path.read_bytes().endswith(b"<!-- more -->\n")
        assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("verb", [verb for verb, options in WRITTEN.items() if len(options) > 1])
def test_one_file_for_two_options_is_refused(verb, words_of, call):
    words, options = words_of(verb), WRITTEN[verb][:2]
    code, _, said = call(*words, options[0], "x", options[1], "own/../x")
    assert code == USAGE and not Path("x").exists()
    assert f"{options[0]} and {options[1]} are given the same file 'own/../x'; give each" in said


@pytest.mark.slow
def test_the_page_of_a_batch_in_one_file_needs_none_of_the_others(
    models, scenario_files, blank_figures, call, tmp_path
):
    """And `report` writes the same bytes from the stored files."""
    one, again = tmp_path / "one.html", tmp_path / "again.html"
    code, out, said = call("run", *scenario_files, "--out", tmp_path / "out", "--html", one, "-q")
    assert code == GOOD and f"page: {one}" in out, said
    assert call("report", tmp_path / "out", "--html", again)[0] == GOOD
    page = one.read_text(encoding="utf-8")
    assert again.read_text(encoding="utf-8") == page
    assert page.count('<section id="scenario-') == 2
    assert 'href="little' not in page and "scenario_" not in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "--plan"), "--html is given with --plan, which computes nothing"),
        (("report", "--verify"), "--html is given with --verify, which writes nothing"),
    ],
)
def test_a_page_beside_what_writes_nothing_is_refused(words, said, call, scenario_files, tmp_path):
    verb, option = words
    code, _, err = call(verb, scenario_files[0], option, "--html", tmp_path / "one.html")
    assert code == USAGE and said in err and not (tmp_path / "one.html").exists()
