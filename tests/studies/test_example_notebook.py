"""The example notebook runs from top to bottom, and shows what its words say."""

import ast
import json
import linecache
from pathlib import Path

import pytest

from sciprec.foundation.notebook import NotebookLine
from sciprec.workbench.study import bit_search

NOTEBOOK = Path(__file__).parents[2] / "examples" / "pendulum.ipynb"


def test_the_notebook_is_stored_without_results():
    """Results have times in them, and grow old."""
    found = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    assert found["nbformat"] == 4 and len({cell["id"] for cell in found["cells"]}) > len(code)
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.slow
def test_the_notebook_runs(tmp_path, monkeypatch, blank_figures):
    """Cells under names as in ipykernel; what a cell ends with is shown as HTML."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))
    lines = []
    monkeypatch.setattr(bit_search, "_CURVE", ())  # formats that are tried for a curve's sake alone
    monkeypatch.setattr(NotebookLine, "is_seen", lambda: True)
    monkeypatch.setattr(NotebookLine, "write", lambda line, words: lines.append(words))
    names, shown = {"__name__": "__main__"}, []
    for number, cell in enumerate(json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] != "code":
            continue
        text, name = "".join(cell["source"]), f"ipykernel_4242/{number}.py"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            shown.append(value._repr_html_())
    kernel, table, comparison, study, search = shown
    assert "lifted to fp16" in kernel and "mlu370" in table
    assert "1 of 1 variable beyond the tolerances" in comparison
    assert "good" in study and 'href="reports/pendulum/index.html"' in study
    assert "13 significant bits are enough" in search
    assert any(line.startswith("3 runs in ") for line in lines)
    assert any(line.startswith("tried 13 significant bits: error ") for line in lines)
    assert (tmp_path / "reports" / "pendulum_bits" / "index.html").is_file()
