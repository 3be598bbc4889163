"""How a batch goes, seen from a notebook: one line that is written anew; nothing elsewhere."""

import re
import sys
from types import ModuleType, SimpleNamespace

import pytest

import sciprec


class Notebook:
    """What is displayed, as IPython's `display` is asked for it."""

    def __init__(self, kernel):
        self.lines, self.displays = [], 0
        self.shell = SimpleNamespace(kernel=kernel)

    def display(self, content, *, raw, display_id):
        assert raw and display_id
        self.displays += 1
        self.update(content, raw=raw)
        return self

    def update(self, content, *, raw):
        self.lines.append(content["text/plain"])


@pytest.fixture
def notebook(monkeypatch):
    """A function that makes this process one of IPython's, with a kernel or without."""

    def make(kernel):
        made = Notebook(kernel)
        ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
        ipython.get_ipython, ipython.display = lambda: made.shell, display
        display.display = made.display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        return made

    return make


def test_a_line_tells_how_a_batch_goes(notebook, models, scenario_files, undrawn, tmp_path):
    seen = notebook(kernel=object())
    models["heston"] = lambda table, backend, compensation: 1 / 0
    result = sciprec.run(scenario_files, out=tmp_path / "out", threads=1)
    assert seen.displays == 1 and seen.lines[0] == "6 runs to do"
    assert any(re.match(r"\[\d/6\] little_climate in fp\d\d: done \(", s) for s in seen.lines)
    assert seen.lines[-1].startswith("6 runs in ") and seen.lines[-1].endswith("; 3 failed")
    assert len(result.failures) == 3


def test_the_line_is_left_out_where_a_caller_listens(
    notebook, models, scenario_files, undrawn, tmp_path
):
    seen, heard = notebook(kernel=object()), []
    sciprec.run(scenario_files[0], out=tmp_path / "out", threads=1, on_done=heard.append)
    assert len(heard) == 3 and not seen.lines


def test_terminals_and_scripts_see_nothing(
    notebook, models, scenario_files, undrawn, tmp_path, capfd
):
    seen = notebook(kernel=None)
    sciprec.run(scenario_files[0], out=tmp_path / "out", threads=1)
    assert not seen.lines and capfd.readouterr() == ("", "")
