"""Files that users name: one may replace what the same verb has written, and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sciprec.foundation import whole
from sciprec.foundation.errors import InputError

_HEAD_BYTES = 2000


@dataclass(frozen=True)
class Sort:
    """A sort of file that this package writes.

    Args:
        name: in words, with its article.
        mark: text that stands within the first 2000 bytes of every such file, and of hardly
            another; empty where a file is never replaced.
        earlier: the part of it that files of earlier versions have, too.
    """

    name: str
    mark: str
    earlier: str = ""

    def is_of(self, path: Path) -> bool:
        """Whether a file is of this sort; an empty one is of every sort.

        Raises:
            OSError: it cannot be read.
        """
        with open(path, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
        return not head or (self.mark != "" and (self.earlier or self.mark).encode() in head)


PAGE = Sort("a page of sciprec", "<title>sciprec: ")
JUNIT = Sort("JUnit XML of sciprec", '<testsuite name="sciprec ')
MARKDOWN = Sort("a summary of `sciprec baseline check`", "<!-- sciprec baseline check -->")
ASSIGNMENT = Sort(
    "an assignment that sciprec wrote",
    "# Formats of operations, see docs/explain/assignments.md.", "# Formats of operations",
)  # fmt: skip
COVERAGE = Sort("the results of `sciprec dev coverage`", '{\n "rows": [')
SCENARIO = Sort("an empty file", "")
"""A scenario file belongs to its user from the first key on."""


def require_free(path: str | Path, sort: Sort, inputs: Iterable[str | Path] = ()) -> Path:
    """Make sure, before anything is computed, that a file may be written.

    Args:
        path: of the file.
        sort: of the file.
        inputs: files that the same command reads.

    Raises:
        InputError: its folder is missing or may not be written, or something is there that is no
            such file: a folder, a link, an input, or what somebody else has written.
    """
    path = Path(path)
    why = in_the_way(path, sort, inputs)
    if why:
        raise InputError(f"the file '{path}' cannot be written ({why}); give another one")
    return path


def in_the_way(path: Path, sort: Sort, inputs: Iterable[str | Path] = ()) -> str:
    """The obstacle to a file, as the middle of a sentence; empty where there is none.

    Args:
        path, sort, inputs: as of `require_free`.
    """
    try:
        if not os.path.isdir(path.parent):
            return "its folder does not exist"
        if os.path.islink(path):
            return "it is a link, and links are not followed"
        if os.path.isdir(path):
            return "it is a folder"
        if os.path.lexists(path):
            if not os.path.isfile(path):
                return "it is no regular file"
            if any(os.path.exists(source) and os.path.samefile(path, source) for source in inputs):
                return "it is an input of this command"
            if not sort.is_of(path):
                return f"it is there already, and is not {sort.name}"
            if not os.access(path, os.W_OK):
                return "it is protected from being written"
        _try(path)
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return ""


def _try(path: Path) -> None:
    """Begin to write a file, and leave nothing.

    Raises:
        OSError: the system refuses it.
    """
    part = whole.part_of(path)
    whole.clear(part)
    try:
        open(part, "xb").close()
    finally:
        whole.remove(part)


def write(path: str | Path, text: str, sort: Sort) -> Path:
    """Write a file that a user names, whole or not at all, and flushed to the disk.

    Raises:
        InputError: as `require_free`, or the system refuses it, with the reason.
    """
    path = require_free(path, sort)
    whole.tidy(path.parent, path.name)
    try:
        return whole.write_text(path, text, lasting=True)
    except OSError as error:
        raise InputError(
            f"the file '{path}' cannot be written ({error.strerror or error}); make room there or "
            "correct its permissions, or give another one; what was there is as it was"
        ) from None
