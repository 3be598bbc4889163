"""Keys of parts of pages, which are kept by the digest of what they show: drawing takes longest.

Kept is the markup of a scenario, figures and all, and its rows in the table of runs. The digest is
over the files of the scenario's runs, what their comparison has found, and everything that draws:
the sources and templates of sciprec, Matplotlib with its settings, Jinja.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

import matplotlib

from sciprec.foundation.definitions import version_of
from sciprec.report.stored.batch import StoredBatch
from sciprec.results.output import kept_values
from sciprec.results.output.digests import ROOT

_DRAWN_BY = "matplotlib", "jinja2", "cmcrameri", "fonttools"


def key_of(batch: StoredBatch, scenario: str, prefix: str, sections: Sequence[str]) -> str:
    """The key of all that a scenario's sections show; empty where a file has no digest.

    Args:
        batch: as read from its folder.
        scenario: its name.
        prefix: begins the identifiers of figures.
        sections: their names.
    """
    parts: list[object] = [_drawn_by(), str(dict(matplotlib.rcParams)), prefix, *sections]
    further = [member.entry for member in batch.further if member.scenario == scenario]
    parts += [batch.labels, further]
    for run in batch.of_scenario(scenario):
        rows = () if run.comparison is None else run.comparison.rows
        root = None if run.dataset is None else run.dataset.attrs.get(ROOT)
        if run.dataset is not None and root is None:
            return ""
        errors = [(row.variable, row.verdict, row.errors) for row in rows]
        parts += [run.label, run.file, root, run.verdict, run.judged, errors]
    return kept_values.key_of(parts)


@functools.cache
def _drawn_by() -> str:
    """The digest of templates, and the versions of what draws."""
    digest = hashlib.sha256()
    package = Path(__file__).resolve().parents[1]
    for path in sorted(p for end in ("html", "css") for p in package.rglob(f"*.{end}")):
        digest.update(path.read_bytes())
    digest.update(" ".join(version_of(name) for name in _DRAWN_BY).encode())
    return digest.hexdigest()
