"""Parts of pages that are kept by the digest of what they show, since drawing takes longest.

Kept is the markup of a scenario, figures and all, in files of the cache folder. The digest is over
the files of the scenario's runs, what their comparison has found, and everything that draws: the
sources and templates of sciprec, Matplotlib with its settings, Jinja.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib

from sciprec.foundation.definitions import code_digest, version_of
from sciprec.precision.compiled import cache_files
from sciprec.report.stored.batch import StoredBatch
from sciprec.results.output.digests import ROOT

MOST_BYTES = 2**28
"""Of all kept parts; those that were not used for longest are removed first."""
_NAME = "page_{}.zlib"
_DRAWN_BY = "matplotlib", "jinja2", "cmcrameri", "fonttools"


def kept(key: str, draw: Callable[[], list[str]]) -> list[str]:
    """The parts kept under a key, or else those that are drawn now.

    Args:
        key: as `key_of` gives it; empty: nothing is kept.
        draw: makes the parts.
    """
    folder = cache_files.chosen_folder()
    if not key or cache_files.why_unusable(folder):
        return draw()
    path = folder / _NAME.format(key)
    content = cache_files.read(path)
    with contextlib.suppress(zlib.error, ValueError, OSError):
        if content is not None:
            parts = json.loads(zlib.decompress(content))
            os.utime(path)
            return parts
    parts = draw()
    cache_files.write(path, zlib.compress(json.dumps(parts).encode()))
    return parts


def key_of(batch: StoredBatch, scenario: str, prefix: str, sections: Sequence[str]) -> str:
    """The digest of all that a scenario's sections show; empty where a file has no digest.

    Args:
        batch: as read from its folder.
        scenario: its name.
        prefix: begins the identifiers of figures.
        sections: their names.
    """
    shown: list[object] = [_drawn_by(), str(dict(matplotlib.rcParams)), prefix, *sections]
    shown += [batch.labels, [member.entry for member in batch.further]]
    for run in batch.of_scenario(scenario):
        rows = () if run.comparison is None else run.comparison.rows
        root = None if run.dataset is None else run.dataset.attrs.get(ROOT)
        if run.dataset is not None and root is None:
            return ""
        errors = [(row.variable, row.severity, row.errors) for row in rows]
        shown += [run.label, run.file, root, run.verdict, run.judged, errors]
    return hashlib.sha256(repr(shown).encode("utf-8", "backslashreplace")).hexdigest()[:24]


@functools.cache
def _drawn_by() -> str:
    """The digest of sources and templates, and the versions of what draws."""
    digest = hashlib.sha256(code_digest().encode())
    package = Path(__file__).resolve().parents[1]
    for path in sorted(p for end in ("html", "css") for p in package.rglob(f"*.{end}")):
        digest.update(path.read_bytes())
    digest.update(" ".join(version_of(name) for name in _DRAWN_BY).encode())
    return digest.hexdigest()


def make_room(most: int = MOST_BYTES) -> None:
    """Remove the parts that were not used for longest, down to a number of bytes."""
    found = []
    for path in cache_files.chosen_folder().glob(_NAME.format("*")):
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= most:
            return
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size
