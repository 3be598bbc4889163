"""Files that users name, from Python: what is there, what is left, what stays."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import benchmarks as bench
import sciprec
from sciprec.foundation import targets, whole
from sciprec.foundation.errors import InputError
from sciprec.tools.trace.page import write_trace_page
from sciprec.tools.tune.page import write_tune_page

SORTS = {name: one for name, one in vars(targets).items() if isinstance(one, targets.Sort)}


def third(x, out):
    for i in range(x.size):
        out[i] = x[i] / 3.0


def args():
    return np.arange(1.0, 5.0) / 7.0, np.zeros(4)


@pytest.mark.parametrize("name", SORTS)
def test_a_file_of_one_sort_is_not_replaced_by_another(name, tmp_path):
    path, text = tmp_path / "x", f"a\n{SORTS[name].mark}b\n"
    for other, sort in SORTS.items():
        path.write_text(text)
        if other == name != "SCENARIO":
            assert targets.write(path, "new", sort).read_text() == "new"
        else:
            with pytest.raises(InputError, match="it is there already, and is not "):
                targets.write(path, "new", sort)
            assert path.read_text() == text


def test_an_assignment_of_an_earlier_version_is_replaced(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("# Formats of operations, see docs/assignments.md. Lines are found again")
    assert targets.write(path, "new", targets.ASSIGNMENT).read_text() == "new"


def test_a_mark_beyond_the_head_is_none(tmp_path):
    path = tmp_path / "x"
    path.write_text(2000 * " " + targets.PAGE.mark)
    with pytest.raises(InputError, match="is not a page of sciprec"):
        targets.write(path, "new", targets.PAGE)


def written():
    """Methods and functions that write a file that their caller names: words, call."""
    traced = sciprec.trace(third, "bf16", args())
    tuned = sciprec.tune(third, args(), tolerance=1e-2)
    monitored = sciprec.monitor(third, "bf16", args(), watch="out")
    return {
        "trace": lambda path: traced.html(path, verify=0), "tune": tuned.html,
        "monitor": monitored.html, "tune, its assignment": tuned.save,
        "assignment": tuned.assignment.save,
    }  # fmt: skip


@pytest.mark.slow
def test_a_method_called_twice_replaces_its_file_and_no_other(blank_figures, tmp_path):
    source = tmp_path / "kernel.py"
    for words, write in written().items():
        path = tmp_path / words
        assert write(path) == path and write(str(path)) == path
        source.write_text("def kernel(x): ...\n")
        with pytest.raises(InputError, match="kernel.py' cannot be written .it is there already"):
            write(source)
        with pytest.raises(InputError, match="is 3; accepted: a path"):
            write(3)
        assert source.read_text() == "def kernel(x): ...\n"


def test_what_is_in_the_way_is_told_before_anything_is_computed(tmp_path):
    """Of nothing: the first look at it would fail."""
    path = tmp_path / "ours.json"
    path.write_text("{}")
    for write in (write_trace_page, write_tune_page):
        with pytest.raises(InputError, match="it is there already, and is not a page of sciprec"):
            write(None, path)
    with pytest.raises(InputError, match="is not the result of a benchmark"):
        bench.run("start", out=path)


def test_a_hard_link_to_an_input_is_that_input(tmp_path):
    page, other = tmp_path / "page.html", tmp_path / "other.html"
    targets.write(page, targets.PAGE.mark, targets.PAGE)
    os.link(page, other)
    with pytest.raises(InputError, match="it is an input of this command"):
        targets.require_free(other, targets.PAGE, [tmp_path / "none", page])


def test_permissions_stay(tmp_path):
    path = targets.write(tmp_path / "page.html", targets.PAGE.mark, targets.PAGE)
    path.chmod(0o600)
    targets.write(path, targets.PAGE.mark + "more", targets.PAGE)
    assert path.stat().st_mode & 0o777 == 0o600 and path.read_text().endswith("more")


@pytest.fixture
def nobody(tmp_path, monkeypatch):
    """A function after which this process may do no more than a usual user, here in a folder."""
    if not hasattr(os, "setresuid"):
        pytest.skip("users cannot be changed here")
    monkeypatch.chdir(tmp_path)
    usual = os.getresuid()
    yield lambda: os.setresuid(65534, 65534, -1) if usual[0] == 0 else None
    os.setresuid(*usual)


def test_what_is_protected_is_not_written(nobody, tmp_path):
    for folder, mode in (("open", 0o777), ("closed", 0o555)):
        (tmp_path / folder).mkdir()
        targets.write(tmp_path / folder / "page.html", targets.PAGE.mark, targets.PAGE)
        (tmp_path / folder / "page.html").chmod(0o444)
        (tmp_path / folder).chmod(mode)
    tmp_path.chmod(0o755)
    nobody()
    refused = {"open/page.html": "it is protected from being written",
               "closed/new.html": "Permission denied"}  # fmt: skip
    for path, why in refused.items():
        with pytest.raises(InputError, match=f"'{path}' cannot be written .{why}.; give another"):
            targets.require_free(path, targets.PAGE)
    targets.write("open/new.html", targets.PAGE.mark, targets.PAGE)


def test_what_a_killed_process_left_of_a_file_goes_with_the_next_one(tmp_path):
    path = tmp_path / "page.html"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = tmp_path / f".page.html.{ended.pid}-1{whole.PART}"
    names = f"other.html.{ended.pid}-1", f"page.html.{os.getppid()}-1", "page.html"
    others = [tmp_path / f".{name}{whole.PART}" for name in names]
    for one in (left, *others):
        one.write_text("half")
    targets.write(path, targets.PAGE.mark, targets.PAGE)
    assert set(tmp_path.iterdir()) == {path, *others}


def test_a_full_disk_leaves_the_old_file(tmp_path):
    """A limit on the size of files stands for the full disk, to the same call of the system."""
    resource = pytest.importorskip("resource")
    path = targets.write(tmp_path / "page.html", targets.PAGE.mark, targets.PAGE)
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, usual[1]))
    try:
        with pytest.raises(InputError, match="cannot be written .File too large.; make room there"):
            targets.write(path, 2000 * "x", targets.PAGE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == targets.PAGE.mark and list(tmp_path.iterdir()) == [path]


def test_names_that_are_no_characters_are_spelled_out(tmp_path):
    path = targets.write(tmp_path / "page.html", "of a\udcff.nc", targets.PAGE)
    assert path.read_text(encoding="utf-8") == "of a\\udcff.nc"
