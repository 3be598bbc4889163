"""The one exception type for bad input, and the words that several of its messages share."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path

LONGEST_LINE = 1000
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Control characters but line feeds and tabulators, halves of surrogate pairs, and characters that
are not seen or change the direction of others (Unicode's Cf and Default_Ignorable_Code_Point, but
for what chooses the look of an emoji).
"""
_SHOWN = 200
_ALIKE = 0.5  # how alike two names have to be, from 0 to 1, for one to be meant by the other


def printable(text: object) -> str:
    """A text with its unseen characters written out: "\\x1b" would drive the terminal, "\\u202e"
    turns the words behind it around. Line feeds and tabulators stay.
    """
    return _UNSEEN.sub(lambda match: _written_out(ord(match[0])), str(text))


def _written_out(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class InputError(ValueError):
    """Input that cannot be used; its message says what was given, what is accepted, what to do.

    Words of thousands of characters that were given are shown by their beginning.
    """

    def __init__(self, message: str) -> None:
        lines = str(message).splitlines() or [""]
        super().__init__("\n".join(_readable(printable(line)) for line in lines))


class ModelError(InputError):
    """A user's model breaks what every run of it rests on: no other run of it would do better."""


def _readable(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    words = (w if len(w) <= _SHOWN else f"{w[:_SHOWN]}… ({len(w)} characters)"
             for w in line.split(" "))  # fmt: skip
    line = " ".join(words)
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"


class Interrupted(Exception):
    """Ctrl-C during long work, under a name that passes through typer; says what is kept."""


def meant(name: object, accepted: Iterable[str]) -> str:
    """'; did you mean ...?' where an accepted name is near, capitals aside, else nothing.

    Args:
        name: what was given.
        accepted: the names that are.
    """
    small = {word.lower(): word for word in map(str, accepted)}
    near = difflib.get_close_matches(str(name).lower(), small, 1, _ALIKE)
    return f"; did you mean {small[near[0]]!r}?" if near else ""


def why_no_file(path: str | Path) -> str:
    """The reason why a path is no file, as the middle of a sentence; empty where it is one."""
    if os.path.isfile(path):  # unlike Path.is_file, without exception for a name too long
        return ""
    if os.path.isdir(path):
        return "is a folder"
    return "is no regular file" if os.path.exists(path) else "does not exist"
