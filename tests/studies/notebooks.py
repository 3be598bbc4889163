"""Notebooks of the examples, run from top to bottom as a notebook's kernel does it.

    python -m tests.studies.notebooks

Stores in each what its cells show: as HTML, without the lines of progress, and with an ellipsis in
place of what a machine's clock says.
"""

from __future__ import annotations

import ast
import copy
import json
import linecache
import os
import re
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))
_SECONDS = re.compile(r"[0-9][0-9.]*(e[-+]?[0-9]+)? (s|ms|min)\b")


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """A notebook with its cells' outputs, run in the folder that the process works in."""
    notebook, names, count = copy.deepcopy(notebook), {"__name__": "__main__"}, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        count += 1
        text, name = "".join(cell["source"]), f"ipykernel_4242/{count}.py"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        cell["execution_count"], cell["outputs"] = count, []
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            cell["outputs"] = [_shown(value, count)]
    return notebook


def _shown(value: Any, count: int) -> dict[str, Any]:
    """The output of a cell that ends with a value."""
    html = _SECONDS.sub(r"… \2", value._repr_html_())
    lines = html.replace("</tr>", "</tr>\n").splitlines(keepends=True)
    return {"data": {"text/html": lines}, "execution_count": count, "metadata": {},
            "output_type": "execute_result"}  # fmt: skip


def main() -> None:
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            made = executed(json.loads(path.read_text(encoding="utf-8")))
            os.chdir(path.parent)
        path.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
