"""Modules of docs/how_to/add_*.md: each block as the file of a user's own that it is."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sciprec.climate.catalogue import CASES, EQUATIONS, TIME_SCHEMES
from sciprec.extend import FORMATS, OPERATIONS, ROUNDINGS, RULES
from sciprec.foundation.loading import load_files
from sciprec.heston.options import path_payoffs as _payoffs  # noqa: F401
from sciprec.heston.payoff_registry import _REGISTRY
from sciprec.heston.schemes import catalogue as _schemes  # noqa: F401
from sciprec.heston.schemes import registry
from sciprec.report import section
from sciprec.results.comparison.pointwise import error_metrics
from sciprec.workbench.kinds import kind

PAGES = sorted((Path(__file__).parents[1] / "docs/how_to").glob("add_*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCKS = dict(
    re.findall(r"^## (?:An? )([^\n]*)\n(?:(?!^## ).)*?^```python\n(.*?)^```", TEXT,
               flags=re.DOTALL | re.MULTILINE)
)  # fmt: skip
"""Text of each by its heading, without the article."""
_TABLES = (
    FORMATS, ROUNDINGS, OPERATIONS, CASES, EQUATIONS, TIME_SCHEMES, error_metrics._METRICS,
    section._ADDED, RULES, _REGISTRY, registry._SCHEMES, kind._KINDS,
)  # fmt: skip


@contextmanager
def loading(folder: Path) -> Iterator[Callable[[str], types.ModuleType]]:
    """Loads blocks by their headings, from files in a folder; afterwards nobody knows of them."""
    tables, modules = [dict(table) for table in _TABLES], set(sys.modules)

    def load(heading: str) -> types.ModuleType:
        file = folder / f"{heading.replace(' ', '_')}.py"
        file.write_text(BLOCKS[heading], encoding="utf-8")
        load_files(file)
        return sys.modules[f"sciprec_plugin_{file.stem}"]

    try:
        yield load
    finally:
        for table, rows in zip(_TABLES, tables, strict=True):
            table.clear()
            table.update(rows)
        for name in set(sys.modules) - modules:
            if name.startswith("sciprec_plugin_"):
                del sys.modules[name]
