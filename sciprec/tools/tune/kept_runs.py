"""Errors of choices that were run, kept on disk: a search that was interrupted goes on."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from sciprec.foundation import cache_files
from sciprec.foundation.sealed import is_sealed, sealed

ErrorsOfChoices = dict[tuple[int, ...], float]
"""Choice -> error."""


class KeptRuns:
    """The runs of one problem: a line for each in a file, to which several processes may append.

    Args:
        identity: of the problem, in hexadecimal digits; None where nothing is kept.
    """

    def __init__(self, identity: str | None) -> None:
        self._identity = identity
        self._path = None if identity is None else _folder() / f"{identity[:24]}.jsonl"
        self._errors = {} if self._path is None else _read(self._path, identity)
        self._lock = threading.Lock()

    def error(self, choice: tuple[int, ...]) -> float | None:
        """The error of a choice; None where it is not known."""
        return self._errors.get(choice)

    def note(self, choice: tuple[int, ...], error: float) -> None:
        """Keep the error of a choice."""
        with self._lock:
            self._errors[choice] = error
            if self._path is None:
                return
            row = {"problem": self._identity, "choice": list(choice), "error": error}
            line = f"\n{json.dumps(sealed(row))}"  # what another process wrote may be cut off
            try:
                cache_files.append(self._path, line.encode())
            except OSError:  # a cache that cannot be written
                self._path = None


def _folder() -> Path:
    return cache_files.cache_folder() / "tuning"


def _read(path: Path, identity: str) -> ErrorsOfChoices:
    """The runs of a file; lines that are cut off, damaged or of another problem are left out."""
    errors: ErrorsOfChoices = {}
    for line in (cache_files.read(path) or b"").split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if is_sealed(row) and row["problem"] == identity:
            errors[tuple(row["choice"])] = row["error"]
    return errors
