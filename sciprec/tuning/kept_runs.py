"""Errors of choices that were run, kept on disk: a search that was interrupted goes on."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from sciprec.precision.compiled import disk_cache

Known = dict[tuple[int, ...], tuple[float, str]]
"""Choice -> error, and words beside it."""


class KeptRuns:
    """The runs of one problem.

    Args:
        identity: of the problem; None where nothing is kept.
    """

    def __init__(self, identity: str | None) -> None:
        self._path = None if identity is None else _folder() / f"{identity}.jsonl"
        self._known: Known = {} if self._path is None else _read(self._path)
        self._lock = threading.Lock()

    def error(self, choice: tuple[int, ...]) -> float | None:
        """The error of a choice; None where it is not known."""
        known = self._known.get(choice)
        return None if known is None else known[0]

    def said(self, choice: tuple[int, ...]) -> str:
        """Words that were kept beside the error of a choice."""
        return self._known[choice][1]

    def note(self, choice: tuple[int, ...], error: float, said: str = "") -> None:
        """Keep the error of a choice, and words beside it."""
        with self._lock:
            self._known[choice] = error, said
            if self._path is None:
                return
            line = json.dumps([list(choice), error, *([said] if said else [])])
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a") as file:
                    file.write(f"{line}\n")
            except OSError:  # a cache that cannot be written
                self._path = None


def _folder() -> Path:
    return disk_cache.cache_folder() / "tuning"


def _read(path: Path) -> Known:
    """The runs of a file; a line that was cut off is left out."""
    found: Known = {}
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        return found
    for line in text.splitlines():
        try:
            choice, error, *said = json.loads(line)
            found[tuple(map(int, choice))] = float(error), "".join(said)
        except (ValueError, TypeError):
            continue
    return found
