"""Kernels defined in notebook cells: lifted from what a cell says, not from what it said before."""

import json
import linecache
import pickle
import sys
import zlib
from types import SimpleNamespace

import pytest

import sciprec
from tests.precision.processes import started


class Cells:
    """Runs cells as ipykernel does: each under a file name made of its text, its lines known to
    `linecache`.
    """

    def __init__(self):
        self.names = {"__name__": "__main__", "sciprec": sciprec}

    def run(self, text, name=None):
        """Run a cell; `name`: of its file, where it has one of its own."""
        name = name or f"ipykernel_4242/{zlib.crc32(text.encode())}.py"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"), self.names)

    def lifted(self, name, backend="bf16"):
        return sciprec.lift(self.names[name], backend)


@pytest.fixture
def cells():
    before = dict(linecache.cache)
    yield Cells()
    linecache.cache.clear()
    linecache.cache.update(before)


def test_a_kernel_that_is_defined_again_is_lifted_anew(cells):
    cells.run("def scaled(x):\n    return 2.0 * x")
    first = cells.lifted("scaled")
    assert first(3.0) == 6.0
    cells.run("def scaled(x):\n    return 4.0 * x")
    assert cells.lifted("scaled")(3.0) == 12.0 and first(3.0) == 6.0
    cells.run("# the same line as before\n\ndef scaled(x):\n    return 2.0 * x")
    again = cells.lifted("scaled")
    assert again(3.0) == 6.0 and again.path == first.path  # compiled once for one source
    assert pickle.loads(pickle.dumps(again))(3.0) == 6.0


def test_kernels_call_those_of_other_cells_as_they_are_now(cells):
    cells.run("WEIGHT = 0.5\ndef inner(x):\n    return WEIGHT * x")
    cells.run("from numba import njit\n\n@njit\ndef outer(x):\n    return inner(x) + 1.0")
    assert cells.lifted("outer")(4.0) == 3.0
    cells.run("def inner(x):\n    return x - WEIGHT")
    assert cells.lifted("outer")(4.0) == 4.5
    cells.run("WEIGHT = 1.5")
    assert cells.lifted("outer")(4.0) == 3.5


CHANGES = {
    "an operator": "    return 2.0 + x",
    "a number": "    return 2.5 * x",
    "the sign of a zero": "    return 2.0 * x - -0.0",
    "the order": "    return x * 2.0",
    "a line more": "    x = x + 1.0\n    return 2.0 * x",
    "another function": "    return 2.0 * abs(x)",
}


@pytest.mark.parametrize("body", CHANGES.values(), ids=CHANGES)
def test_a_source_that_is_not_of_the_function_is_refused(cells, body):
    """Two cells under one name: what `linecache` knows is the second one's."""
    first = "    return 2.0 * x - 0.0" if "-0.0" in body else "    return 2.0 * x"
    cells.run(f"def scaled(x):\n{first}", "<cell>")
    first = cells.names["scaled"]
    assert sciprec.lift(first, "fp64").kernel is first
    cells.run(f"def scaled(x):\n{body}", "<cell>")
    words = r"no longer that of the function in memory; lifting reads the source: .* run the cell"
    with pytest.raises(sciprec.LiftError, match=words):
        sciprec.lift(first, "fp16")
    assert sciprec.lift(cells.names["scaled"], "fp16").kernel is not first


def test_a_cell_without_a_source_is_refused(cells):
    exec(compile("def timed(x):\n    return x", "<timed exec>", "exec"), cells.names)
    with pytest.raises(sciprec.LiftError, match="below %%time a cell has no source"):
        cells.lifted("timed")


def test_messages_name_the_cell_as_tracebacks_do(cells, monkeypatch):
    cells.run("def wrong(x):\n    return y + x", "ipykernel_1/5.py")
    with pytest.raises(sciprec.LiftError, match=r"kernel 'wrong' \(5\.py, line 2\): the unknown"):
        cells.lifted("wrong")
    names = {"ipykernel_1/5.py": ("Cell", "In[7]")}
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name=names.get))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    with pytest.raises(sciprec.LiftError, match=r"kernel 'wrong' \(Cell In\[7\], line 2\): "):
        cells.lifted("wrong")
    cells.run("def other(x):\n    return y + x", "model.py")
    with pytest.raises(sciprec.LiftError, match=r"kernel 'other' \(model\.py, line 2\): "):
        cells.lifted("other")


SESSION = [
    "import json, sciprec",
    "def inner(x):\n    return 2.0 * x",
    "!echo shell\ndef outer(x):\n    return inner(x) + 1.0",
    "first = sciprec.lift(outer, 'bf16')\nfound = [first(3.0)]",
    "def inner(x):\n    return 4.0 * x",
    "found += [first(3.0), sciprec.lift(outer, 'bf16')(3.0)]",
    "def outer(x):\n    return inner(x) + 2.0",
    "found += [sciprec.lift(outer, 'bf16')(3.0)]",
    "def caught(x):\n    return y + x",
    "try:\n    sciprec.lift(caught)\nexcept sciprec.LiftError as error:\n    found += [str(error)]",
    "shown, _ = get_ipython().display_formatter.format(first)",
    "print('found', json.dumps([found, sorted(shown), shown['text/plain']]))",
]
PROGRAM = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
for cell in json.loads(sys.argv[1]):
    shell.run_cell(cell, store_history=True).raise_error()
"""


@pytest.mark.slow
def test_in_ipython_itself(tmp_path):
    pytest.importorskip("IPython", reason="IPython is not installed; cells are emulated above")
    printed = started(PROGRAM, json.dumps(SESSION), IPYTHONDIR=tmp_path).splitlines()
    (line,) = [line for line in printed if line.startswith("found ")]
    (*numbers, message), kinds, text = json.loads(line.removeprefix("found "))
    assert numbers == [7.0, 7.0, 13.0, 14.0]
    assert message.startswith("kernel 'caught' (Cell In[9], line 2): the unknown name 'y'")
    assert kinds == ["text/html", "text/plain"] and text.startswith("outer(x) lifted to bf16\n")
