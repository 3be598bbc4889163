"""The verb `sciprec repeat`: what it takes and prints, exit codes, every sentence of bad input."""

import json
import os
import sys

import pytest

from sciprec.cli.console import GOOD, NOT_MET, USAGE
from sciprec.foundation.memory import PEAK_MEMORY
from sciprec.regression.repetition import listings
from sciprec.report import page
from sciprec.results.output.stated import SECONDS

KERNELS = """
import numpy as np

def same(x, n):
    return x * n

def drawn(x, n):
    return x + np.random.default_rng().random()

def failing(x, n):
    return 1 / 0

def texts(x, n):
    return "a"

def inputs():
    return {"x": np.arange(5.0), "n": 3}

def endless(x, n):
    ends = np.empty(5_000_000, int)
    for i in range(ends[1]):
        x[0] += 1.0
    return x

def unpicklable():
    return {"x": np.arange(5.0), "n": lambda a: a}

def shared():
    x = np.arange(5.0)
    return {"x": x, "n": x[1:]}
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.py").write_text(KERNELS)
    return tmp_path


@pytest.mark.slow
def test_a_kernel_that_is_the_same_and_one_that_is_not(call, here, monkeypatch):
    there = ("repeat", "k.py:same", "--inputs", "k.py:inputs", "--runs", "3")
    shown = []
    monkeypatch.setattr("sciprec.cli.progress.Waiting.show", lambda _, words: shown.append(words))
    code, out, err = call(*there)
    assert shown == [
        f"repeating k.py:same: {words}" for words in
        ("the first run", "again, in another process: identical", "2 threads: identical")
    ]  # fmt: skip
    assert code == GOOD and err == ""
    assert "kernel 'same' as it is: identical" in out and "2 threads" in out
    assert "not tried with 3 runs: a second call in a process" in out
    options = ("k.py:drawn", "--inputs", "k.py:inputs", "--runs", "3", "--json")
    code, out, err = call("repeat", *options)
    found = json.loads(out)
    assert code == NOT_MET and not err
    assert found["verdict"] == "differs from run to run"
    assert [run["counted"] for run in found["runs"]] == [False, True, False]
    assert [one["aspect"] for one in found["findings"]] == ["from run to run"]
    (place,) = found["findings"][0]["places"]
    drawn = KERNELS.splitlines().index("    return x + np.random.default_rng().random()") + 1
    assert (place["file"], place["line"]) == ("k.py", drawn)
    difference = found["findings"][0]["difference"]
    assert difference["name"] == "return" and difference["index"] == [0] and difference["of"] == 5
    assert float(difference["first"]) != float(difference["other"])


@pytest.mark.slow
def test_a_run_without_end_is_ended(call, here, monkeypatch):
    """What was never written is the bound of a loop: 0 in so large an array as it comes from the
    system.
    """
    patience = "sciprec.regression.repetition.kernels.patience"
    monkeypatch.setattr(patience, lambda seconds: 1.5 + 5.0 * seconds)
    code, out, _ = call("repeat", "k.py:endless", "--inputs", "k.py:inputs", "--runs", "6")
    assert code == NOT_MET and "differs with unwritten memory" in out
    assert "it ends otherwise: no end within" in out


FAST = """
import math
import numpy as np
from numba import njit

@njit(fastmath=True)
def filled(x):
    return 0.0 if math.isnan(x) else x

@njit
def mean(x, out):
    for i in range(x.size):
        out[i] = filled(x[i])

@njit
def beyond(x, out):
    for i in range(x.size):
        out[i] = 0.5 * (x[i] + x[i + 1])

def inputs():
    return {"x": np.array([1.0, np.nan, 3.0, 4.0]), "out": np.zeros(4)}
"""


@pytest.mark.slow
def test_fastmath_that_removes_a_test_for_nan(call, here):
    """In a function that the kernel calls; the strict form is right."""
    (here / "fast.py").write_text(FAST)
    code, out, _ = call("repeat", "fast.py:mean", "--inputs", "fast.py:inputs", "--runs", "3",
                        "--json")  # fmt: skip
    found = json.loads(out)
    assert code == NOT_MET and found["verdict"] == "differs without fastmath"
    (finding,) = found["findings"]
    difference, (place,) = finding["difference"], finding["places"]
    assert (difference["name"], difference["index"], difference["count"]) == ("out", [1], 1)
    assert (difference["first"], difference["other"]) == ("nan", "0.0")
    assert place["text"].startswith("@njit(fastmath=True)") and "tests for NaN" in place["reason"]


@pytest.mark.slow
def test_an_index_beyond_an_array_is_told_as_such(call, here):
    (here / "fast.py").write_text(FAST)
    code, out, _ = call("repeat", "fast.py:beyond", "--inputs", "fast.py:inputs", "--runs", "2",
                        "--json")  # fmt: skip
    found = json.loads(out)
    assert code == NOT_MET and found["verdict"] == "differs with memory beyond an array"
    (place,) = next(f for f in found["findings"] if f["ways"] == ["index"])["places"]
    assert "x[i + 1]" in place["text"] and "index 4 of axis 0, which has 4" in place["reason"]
    assert not [f for f in found["findings"] if f["ways"] == ["memory"]]


PROGRAM = """
import sys, os
print("begun at 10:00:00, took 2.5 s")
words = {"a", "b", "c", "d", "e", "f"}
text = "".join(words if sys.argv[2] == "set" else sorted(words))
open(os.path.join(sys.argv[1], "o.txt"), "w").write(text)
"""


@pytest.mark.slow
def test_a_command_and_its_files(call, here):
    (here / "p.py").write_text(PROGRAM)
    there = ("--", sys.executable, "p.py", "{out}")
    assert call("repeat", "--runs", "4", *there, "sorted")[0] == GOOD
    code, out, _ = call("repeat", "--runs", "4", *there, "set")
    assert code == NOT_MET
    assert "differs with order (another hash seed)" in out and "'o.txt' differ" in out
    assert "p.py, line 5" in out and "a set has no order" in out
    assert call("repeat", "--runs", "4", "--ignore", "o.txt", *there, "set")[0] == GOOD
    folder = ("--", sys.executable, "p.py", "results", "set")
    (here / "results").mkdir()
    code, out, _ = call("repeat", "--runs", "4", "--folder", "results", *folder)
    assert code == NOT_MET and not list((here / "results").iterdir())
    (here / "new.py").write_text("import os; os.mkdir('new'); open('new/a', 'w').write('a')")
    there = ("--folder", "new", "--", sys.executable, "new.py")
    assert call("repeat", "--runs", "2", *there)[0] == GOOD and not (here / "new").exists()


KERNEL = ("k.py:same", "--inputs", "k.py:inputs")
RUN = ("--", sys.executable, "-c")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "nothing is given to repeat; give FILE.py:FUNCTION with --inputs, a scenario, or a"),
        (("gone.py:f", "--inputs", "k.py:inputs"), "the kernel file 'gone.py' does not exist"),
        (("k.py:sane", "--inputs", "k.py:inputs"), "defines no 'sane'; its functions: same"),
        (("k.py:same",), "kernel 'same' is given no arguments; give --inputs"),
        ((*KERNEL, "--runs", "1"), "--runs is 1; accepted: an integer of at least 2"),
        ((*KERNEL, "--backend", "bf61"), "unknown backend 'bf61'"),
        ((*KERNEL, "--backend", "fp32", "--backend", "fp16"), "--backend is given 2 times"),
        ((*KERNEL, "--folder", "a"), "--folder was given, and 'k.py:same' is a kernel"),
        ((*KERNEL, "--block-size", "m=3"), "'m', which is no argument of kernel 'same'"),
        ((*KERNEL, "--block-size", "x=3"), "'x' of kernel 'same', which is no integer"),
        ((*KERNEL, "--block-size", "n=x"), "--block-size is given 'n=x'; it takes a name and"),
        ((*KERNEL, "other"), "one target is taken, and k.py:same, other was given"),
        (("k.py:failing", "--inputs", "k.py:inputs"), "ends with ZeroDivisionError: division by"),
        (("k.py:texts", "--inputs", "k.py:inputs"), "it returns a str, which cannot be compared"),
        (("k.py:same", "--inputs", "k.py:shared"), "'x' and 'n' of kernel 'same' share memory"),
        (("k.py:same", "--inputs", "k.py:unpicklable"), "cannot be given to other processes"),
        (("nothing.toml",), "scenario file 'nothing.toml' does not exist"),
        (("quickstart_climate", "--inputs", "a.npz"), "--inputs was given, and 'quickstart_cl"),
        (("--", "no_such_program", "x"), "the command 'no_such_program' cannot be run (No such"),
        ((*RUN, "import sys; sys.exit('all wrong')"), "ends with code 1: all wrong; correct it"),
        ((*RUN, "pass"), "prints nothing and leaves no files that count; name the folder"),
        (("--folder", ".", *RUN, "pass"), "--folder is given '.', which has files in it; name a"),
        (("--folder", "k.py", *RUN, "pass"), "--folder is given 'k.py', which is a file; name a"),
        (("a", *RUN, "pass"), "one target is taken, and a before -- was given"),
    ],
)  # fmt: skip
def test_bad_input_is_a_sentence(call, here, given, words):
    code, out, err = call("repeat", *given)
    assert code == USAGE and not out
    assert words in err and "Traceback" not in err


ACCUMULATION = """
name = "little"
title = "A few small updates"
source = "made up"
kind = "accumulation"
backends = ["fp32", "fixed16"]

[accumulation]
updates = 512
members = 4
smallest = 1.0e-7
largest = 1.0e-5
"""
UNDRAWN = """
import sys, types

page = types.ModuleType("sciprec.report.page")
page.write_page = lambda batch, **how: batch.folder / "index.html"
page.table = lambda batch, **how: []
sys.modules[page.__name__] = page
"""


@pytest.fixture
def pages_again(monkeypatch):
    """Pages are drawn again after a test whose plugin leaves them out, and all that draws them."""
    monkeypatch.setitem(sys.modules, page.__name__, page)


FLOW = ("quickstart_climate", "--set", "climate.days=0.25", "--set", "climate.truncation=10",
        "--backend", "fp32")  # fmt: skip
PRICES = ("quickstart_heston", "--set", "heston.simulation.n_paths=512", "--backend", "fp32")
OF_KIND = {
    "accumulation": ("little.toml",),
    "climate": (*FLOW, "--runs", "2"),
    "heston": (*PRICES, "--runs", "2"),
}
"""For every kind of scenario that files may be of; the first one under every circumstance."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(OF_KIND))
def test_a_scenario_is_the_same_each_time(call, here, kind, forgotten_plugins, pages_again):
    """By its real command, whose files say how much memory and time the run took; its pages, which
    do not count, take longest and are not drawn.
    """
    (here / "little.toml").write_text(ACCUMULATION)
    (here / "undrawn.py").write_text(UNDRAWN)
    code, out, err = call("--plugin", "undrawn.py", "repeat", *OF_KIND[kind], "--json")
    assert code == GOOD, out + err
    found = json.loads(out)
    assert found["verdict"] == "identical" and not found["findings"]
    assert len(found["runs"]) == (9 if kind == "accumulation" else 2)
    assert {SECONDS, PEAK_MEMORY} <= set(found["notes"][0].replace(",", "").split())


def test_lists_of_files_are_by_name(monkeypatch, tmp_path):
    for name in "phon":
        (tmp_path / name).write_text("")
    orders = (("forwards", "hnop"), ("backwards", "ponh"), ("mixed", "pnoh"))
    for order, wanted in orders:
        with monkeypatch.context() as patch:
            patch.setattr(os, "listdir", os.listdir)
            patch.setattr(os, "scandir", os.scandir)
            listings.list_by_name(order)
            assert os.listdir(tmp_path) == list(wanted)
            with os.scandir(tmp_path) as found:
                assert [entry.name for entry in found] == list(wanted)
