"""Example notebooks are stored with what their cells show, and show it when they are run."""

import json
import linecache
import re

import pytest

from sciprec.foundation.notebook import NotebookLine
from tests.studies.notebooks import NOTEBOOKS, executed

NAMES = [path.name for path in NOTEBOOKS]


def shown(notebook):
    """The output of each code cell; empty where it ends without a value."""
    return [
        "".join(line for output in cell["outputs"] for line in output["data"]["text/html"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_is_stored_with_results_that_no_machine_changes(path):
    text = path.read_text(encoding="utf-8")
    stored = json.loads(text)
    code = [cell for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert stored["nbformat"] == 4 and len({cell["id"] for cell in stored["cells"]}) > len(code)
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    for cell in code:  # a cell that ends with a value shows it
        assert bool(cell["outputs"]) == (not re.match(r"import|def", "".join(cell["source"])))
    assert not re.search(r"\d (s|ms|min)\b|20\d\d-\d\d|/(home|tmp|root|Users)/|\.venv", text)


@pytest.mark.slow
def test_the_notebook_shows_what_is_stored(tmp_path, monkeypatch, blank_figures):
    """And its lines of progress go on beside it."""
    (path,) = NOTEBOOKS
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))
    lines = []
    monkeypatch.setattr(NotebookLine, "is_seen", lambda: True)
    monkeypatch.setattr(NotebookLine, "write", lambda line, words: lines.append(words))
    stored = json.loads(path.read_text(encoding="utf-8"))
    again = executed(stored)
    assert shown(again) == shown(stored) and again == stored
    _, _, kernel, table, comparison, study, search = shown(stored)
    assert "lifted to fp16" in kernel and "mlu370" in table
    assert "1 of 1 variable beyond the tolerances" in comparison
    assert "good" in study and 'href="reports/pendulum/index.html"' in study
    assert "13 significant bits are enough" in search
    assert any(line.startswith("3 runs in ") for line in lines)
    assert any(line.startswith("tried 13 significant bits: error ") for line in lines)
    assert (tmp_path / "reports" / "pendulum_bits" / "index.html").is_file()
