"""Folders of commands: one command at a time, foreign pages stay, and names drive no terminal."""

import os
import subprocess
import sys
import unicodedata

import numpy as np
import pytest

from sciprec.cli.console import GOOD, USAGE
from sciprec.foundation.errors import InputError, printable
from sciprec.results.output.folders import LOCK, alone_in
from tests.shell.conftest import little_climate

HOLDING = """
import sys
from sciprec.results.output.folders import alone_in
with alone_in(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A function that starts a process which holds a folder until it is killed."""
    started = []

    def hold(folder):
        folder.mkdir(exist_ok=True)
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDING, str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield hold
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_the_second_command_in_a_folder_is_told_and_a_crash_leaves_no_lock(
    holder, models, undrawn, scenario_files, call, tmp_path
):
    out = tmp_path / "out"
    process = holder(out)
    for command in (("run", scenario_files[0], "--out", out), ("dev", "gallery", "--out", out)):
        code, _, said = call(*command)
        assert code == USAGE
        assert f"another sciprec command (process {process.pid}) is writing into the folder" in said
        assert "wait until it has ended, or give another folder" in said
    assert [path.name for path in out.iterdir()] == [LOCK]
    process.kill()
    process.wait()
    assert call("run", scenario_files[0], "--out", out)[0] == GOOD
    assert not (out / LOCK).exists() and len(list(out.glob("*.nc"))) == 3
    holder(out)
    assert call("report", out)[0] == USAGE


def test_two_threads_of_one_process_are_two_commands(tmp_path):
    with alone_in(tmp_path):
        with pytest.raises(InputError, match="another sciprec command"), alone_in(tmp_path):
            pass
        assert (tmp_path / LOCK).exists()
    with alone_in(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_lock_that_was_removed_meanwhile_is_not_the_lock(tmp_path, monkeypatch):
    """The file that was opened belonged to a command that ended before it could be locked."""
    from sciprec.results.output import folders

    usual, removed = folders.lock, []

    def late(stream):
        if not removed:
            removed.append((tmp_path / LOCK).unlink())
        usual(stream)

    monkeypatch.setattr(folders, "lock", late)
    with alone_in(tmp_path):
        monkeypatch.setattr(folders, "lock", usual)
        with pytest.raises(InputError), alone_in(tmp_path):
            pass


@pytest.mark.slow
def test_a_foreign_page_is_not_overwritten_and_nothing_is_computed(
    models, scenario_files, call, own_batch, tmp_path
):
    out, ours = tmp_path / "web", "<title>Our home</title>"
    out.mkdir()
    (out / "index.html").write_text(ours)
    computed = []
    models["climate"] = lambda *given: computed.append(given)
    for command in (
        ("run", scenario_files[0], "--out", out), ("dev", "coverage", "--small", "--out", out),
    ):  # fmt: skip
        code, _, said = call(*command)
        assert code == USAGE and "it is there already, and is not a page of sciprec" in said
        assert "give another folder, or move that file away" in said
    assert not computed and [path.name for path in out.iterdir()] == ["index.html"]
    own_batch.page.write_text(ours)
    assert call("report", own_batch.folder)[0] == USAGE
    assert own_batch.page.read_text() == (out / "index.html").read_text() == ours


@pytest.mark.parametrize("make", [os.symlink, os.link, lambda _, path: os.mkfifo(path)])
def test_a_lock_that_is_another_file_is_refused_and_that_file_stays(make, call, tmp_path):
    ours, out = tmp_path / "ours.txt", tmp_path / "out"
    ours.write_text("ours")
    out.mkdir()
    make(ours, out / LOCK)
    code, _, said = call("dev", "gallery", "quickstart", "--out", out)
    assert code == USAGE and f"the folder '{out}' cannot be written (its {LOCK} is" in said
    assert ": remove that); give one that you may write into" in said
    assert ours.read_text() == "ours" and [path.name for path in out.iterdir()] == [LOCK]


def test_links_in_a_folder_are_not_followed(models, undrawn, scenario_files, call, tmp_path):
    """Files of runs, the list of runs and what `monitor` reads are put in place of links."""
    ours = tmp_path / "ours"
    ours.mkdir()
    monitored = scenario_files[0].read_text() + '\n[monitor]\nwatch = ["vorticity"]\n'
    scenario_files[0].write_text(monitored)
    out = tmp_path / "linked"
    out.mkdir()
    names = ("batch.json", "little_climate__fp64.nc", "little_climate__fp16.nc")
    for name in names:
        (ours / name).write_text("ours")
        (out / name).symlink_to(ours / name)
    (out / ".watched").symlink_to(ours)
    assert call("run", scenario_files[0], "--out", out)[0] == GOOD
    assert {path.name: path.read_text() for path in ours.iterdir()} == dict.fromkeys(names, "ours")
    assert not any(path.is_symlink() for path in out.rglob("*")), list(out.rglob("*"))


@pytest.mark.slow
def test_a_page_that_is_a_link_is_refused(models, scenario_files, call, own_batch, tmp_path):
    ours = tmp_path / "ours.html"
    own_batch.page.rename(ours)
    own_batch.page.symlink_to(ours)
    before = ours.read_bytes()
    run = "run", scenario_files[0], "--out", own_batch.folder
    for command in (("report", own_batch.folder), run):
        code, _, said = call(*command)
        assert code == USAGE and "cannot be written (it is a link, and links are not" in said
    assert ours.read_bytes() == before and own_batch.page.is_symlink()


def test_escape_sequences_do_not_reach_the_terminal(
    models, undrawn, scenario_files, call, tmp_path
):
    def failing(given, backend, compensation=None):
        if backend == "fp16":
            raise RuntimeError("out\x1b]0;of\x07luck\x9b2J")
        return little_climate(given, backend)

    models["climate"] = failing
    text = scenario_files[0].read_text()
    for old in ("made up", "A little flow"):
        text = text.replace(old, f"{old} \\u001b[31m [/b] :smile: \\u202e")
    scenario_files[0].write_text(text)
    out, err = call("run", scenario_files[0], "--out", tmp_path / "a\x1b[2Jb")[1:]
    assert "made up \\x1b[31m [/b] :smile: \\u202e" in out
    assert "out\\x1b]0;of\\x07luck\\x9b2J" in err
    more = [call("run", tmp_path / "no\x1b[2Jfile.toml"), call("report", tmp_path / "no\x1b[2J")]
    for k in (0, 1):
        np.savez(tmp_path / f"{k}.npz", **{"a\x1b[2J[/b]\u2066": np.arange(3.0) + k})
    more.append(call("compare", tmp_path / "0.npz", tmp_path / "1.npz", "--html", tmp_path / "p"))
    assert "a\\x1b[2J[/b]\\u2066" in (page := (tmp_path / "p").read_text(encoding="utf-8"))
    assert "\u2066" not in page and "\x1b" not in page
    assert "a\\x1b[2J[/b]" in more[-1][1]
    shown = out + err + "".join(a + b for _, a, b in more)
    assert not set(shown) & {*map(chr, range(9)), *"\x0b\x0c\r\x1b\x7f\x9b\u202e"}


VISIBLE = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
"""Signs of Arabic, Syriac and Kaithi among Unicode's format characters."""
BLANK = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0}
"""Letters and marks that are not seen; so are those from U+E0000 to U+E0FFF."""


def test_every_unseen_character_is_written_out_and_no_other():
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code))
        unseen = category in ("Cc", "Cf", "Zl", "Zp", "Cs") and code not in VISIBLE
        unseen = unseen or code in BLANK or 0xE0000 <= code < 0xE1000
        if category != "Cn" and chr(code) not in "\t\n":
            assert (printable(chr(code)) != chr(code)) == unseen, hex(code)
