"""The one exception type for bad input, and the words that several of its messages share."""

from __future__ import annotations

import os
from pathlib import Path


class InputError(ValueError):
    """Input that cannot be used; its message says what was given, what is accepted, what to do."""


class Interrupted(Exception):
    """Ctrl-C during long work, under a name that passes through typer; says what is kept."""


def why_no_file(path: str | Path) -> str:
    """What keeps a path from being a file, as the middle of a sentence; empty where it is one."""
    if os.path.isfile(path):  # unlike Path.is_file, without exception for a name too long
        return ""
    if os.path.isdir(path):
        return "is a folder"
    return "is no regular file" if os.path.exists(path) else "does not exist"
