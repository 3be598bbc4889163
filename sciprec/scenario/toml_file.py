"""Reading TOML files that users wrote, and the paths in them: data that nothing is executed of."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from sciprec.foundation.errors import InputError, meant, why_no_file
from sciprec.foundation.shipped import named, names

_TYPOGRAPHIC = "“”„‟«»‘’‚‛"
_UNLIKE_QUOTES = re.compile(r"""[^"'#=]*=\s*\[?\s*('[^'"]*"|"[^"']*')""")
LARGEST_FILE_BYTES = 1_000_000

_SLIPS = {
    r"[^\"'#=]*=\s*[\d.eE+-]+\s*%": "a percent sign: write a number, 0.01 for 1 %",
    r"\s*[\w.-]+\s*:": "a colon: write = between key and value",
    r"[^\"'#=]*=\s*(True|False)\b": "a capital letter: write true or false",
    "[^\"'#]*\u00a0": "a space that does not break: write an ordinary one",
    r"[^\"'#=]*=\s*[+-]?[\d.]+(e[+-]?\d+)?\s*[A-Za-z]+\s*(#.*)?$": "a word behind a number: write "
    "the number alone, in the unit that `sciprec scenario keys` names",
    r"[^#=]*=\s*[A-Za-z][\w./:-]*\s*(#.*)?$": "a text without quotes: write it in quotes, \"",
}
"""Beginnings of lines, and what is wrong with them."""


def read_toml(source: Path, sort: str, folder: str, name: str) -> dict[str, Any]:
    """The dictionary that a TOML file holds.

    Args:
        source: the file, or the name of one that comes with sciprec.
        sort: of its content, such as "scenario", for the messages.
        folder: of the files that come with sciprec, as `shipped` takes it.
        name: of one of them, for the messages.

    Raises:
        InputError: there is no such file, it is too large, or it is no TOML.
    """
    path = named(source, folder)
    if why := why_no_file(path):
        beside = [str(file) for file in path.parent.glob("*.toml")]
        near = meant(path, beside) or meant(path.stem, names(folder))
        raise InputError(
            f"{sort} file '{path}' {why}; give the path of a TOML file, or the name of a {sort} "
            f"that comes with sciprec, such as {name}{near}"
        )
    example = f"{folder}/{name}.toml"
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise InputError(
            f"{path}: holds {path.stat().st_size} bytes; a {sort} has at most "
            f"{LARGEST_FILE_BYTES}: is this a {sort} file?"
        )
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: is not UTF-8 text (byte {error.start}); a {sort} is a TOML file: "
            "save it as UTF-8"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path}: {_no_toml(path, error)}; a {sort} is a TOML file, written like {example}"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check permissions") from None


def _no_toml(path: Path, error: Exception) -> str:
    """The words for a file that is no TOML."""
    try:
        json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return f"is not valid TOML: {error}{_known_slip(path, error)}"
    return "holds JSON"


def _known_slip(path: Path, error: Exception) -> str:
    """A word on the line of an error where it has a slip that people make."""
    place, lines = re.search(r"at line (\d+)", str(error)), _lines(path)
    if place is None:
        unlike = [n for n, text in enumerate(lines, 1) if _UNLIKE_QUOTES.match(text)][:1]
        return "".join(f"; line {n} begins a text with one quote and ends it with another"
                       for n in unlike)  # fmt: skip
    number = int(place[1])
    text = lines[number - 1] if number <= len(lines) else ""
    if "overwrite a value" in str(error):
        key = text.partition("=")[0].strip()
        return f"; line {number} gives the key '{key}' once more: leave one of them out"
    if quotes := sorted({mark for mark in text if mark in _TYPOGRAPHIC}):
        return f"; line {number} has the quotes {' '.join(quotes)}: write straight ones, \""
    if comma := re.fullmatch(r"[^\"'#\[]*=\s*([+-]?\d+),(\d+)\s*%?\s*(#.*)?", text):
        integral, decimals = comma[1], comma[2]
        return f"; line {number} has a decimal comma: write {integral}.{decimals}"
    for pattern, words in _SLIPS.items():
        if re.match(pattern, text):
            return f"; line {number} has {words}"
    return ""


def _lines(path: Path) -> list[str]:
    """The lines of a file, as TOML counts them."""
    return path.read_text(encoding="utf-8-sig").splitlines()


def is_inside(path: str) -> bool:
    """Whether a path that a file names stays inside the folder that it is relative to.

    Windows' drives and backslashes are refused on every system; links are looked at when the path
    is used.
    """
    windows, posix = PureWindowsPath(path), PurePosixPath(path)
    absolute = windows.drive or windows.root or posix.is_absolute()
    return not absolute and ".." not in windows.parts and "\0" not in path


def inside(folder: Path, path: str) -> Path:
    """A path inside a folder, links followed.

    Raises:
        InputError: it leaves the folder.
    """
    resolved = (folder / path).resolve()
    if not (is_inside(path) and resolved.is_relative_to(folder.resolve())):
        raise InputError(
            f"the path '{path}' leaves the folder '{folder}'; give a path inside of it, "
            "without '..'"
        )
    return resolved
