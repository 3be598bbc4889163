"""Assignments in files: TOML that people read and edit, and a store by content, by which other
processes find what was made in this one.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sciprec.foundation import cache_files, targets
from sciprec.foundation.arguments import choice, refused, shown
from sciprec.foundation.arguments import path as checked_path
from sciprec.foundation.errors import InputError, meant
from sciprec.instruments.assigning.places import BY, CallLine, Place, renamed

SCHEMA = 1
_KEYS = ("schema", "name", "by", "default", "rounds", "format")
ROUNDS = ("operations", "everything")
"""Parts of a kernel with formats: operations alone, or loads, arguments and comparisons too."""
_OF_PLACE = ("function", "file", "line", "column", "text", "variable", "source", "names",
             "twin", "twins")  # fmt: skip
_WHOLE = ("line", "column", "twin", "twins")
_OF_CALL = ("function", "file", "line", "source", "twin", "twins")
LONGEST_NAME = 100
"""Characters of a name, which names of other files hold."""
_DIGEST = re.compile("[0-9a-f]{12}")
_texts: dict[str, str] = {}


def write(path: str | Path, content: dict[str, Any]) -> Path:
    """Write what an assignment says (`Assignment.as_dict`) as TOML.

    Raises:
        InputError: the file cannot be written, or what is there is no assignment.
    """
    target = checked_path("the file of an assignment", path)
    return targets.write(target, text_of(content), targets.ASSIGNMENT)


def text_of(content: dict[str, Any]) -> str:
    """The content of an assignment as TOML."""
    lines = [
        f"{targets.ASSIGNMENT.mark} Lines are found again by their source.",
        *(f"{key} = {_toml(content[key])}" for key in _KEYS[:-1] if key in content),
    ]
    for row in content["format"]:
        lines += ["", "[[format]]"]
        lines += [f"{key} = {_toml(value)}" for key, value in row.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, list):
        return "[\n" + "".join(f"  {_toml(item)},\n" for item in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


@dataclass(frozen=True)
class Read:
    """The content of an assignment's file.

    Attributes:
        by, default, name: see `Assignment`.
        formats: place -> format.
        file: in which most places are.
        rounds: see `Assignment`.
    """

    by: str
    default: str
    name: str
    formats: dict[Place, str]
    file: str
    rounds: str = ROUNDS[0]


def read(path: str | Path) -> Read:
    """Read the file of an assignment.

    Raises:
        InputError: it cannot be read, with what is wrong in it.
    """
    source = Path(checked_path("the file of an assignment", path))
    try:
        content = tomllib.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"the assignment '{source}' cannot be read: {error.strerror or error}; give a file "
            "that Assignment.save wrote"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the assignment '{source}' is no TOML file: {error}") from None
    try:
        result = parsed(content, source.stem)
        require_label(result.name)
        return result
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def parsed(content: dict[str, Any], name: str) -> Read:
    """Check the content of an assignment's file.

    Args:
        name: where it says none.

    Raises:
        InputError: something in it cannot be used.
    """
    content = renamed(content, "unit", "by")
    _require_known(content, _KEYS)
    if content.get("schema") != SCHEMA:
        raise InputError(
            f"schema is {shown(content.get('schema'))}; this version reads schema {SCHEMA}: save "
            "the assignment again"
        )
    by, rows = content.get("by"), content.get("format", [])
    if by not in (*BY, "stage"):
        raise InputError(f"by is {shown(by)}; accepted: {', '.join((*BY, 'stage'))}")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("format is no list of tables; write [[format]] before each")
    formats: dict[Place, str] = {}
    for number, row in enumerate(rows, 1):
        keys = ("format", *_OF_PLACE, *(("calls",) if by == "call" else ()))
        _require_known(row, keys, f"[[format]] number {number}: ")
        place, fmt = _place(by, row, number), row.get("format")
        if place in formats:
            raise InputError(f"[[format]] number {number}: {place} is given a format twice")
        formats[place] = _text("format", fmt, number)
    label = _text("name", content.get("name", name), 0)
    default = _text("default", content.get("default", "fp64"), 0)
    files = [place.file for place in formats]
    main = max(set(files), key=files.count) if files else ""
    rounds = choice("rounds", content.get("rounds", ROUNDS[0]), ROUNDS)
    return Read(by, default, label, formats, main, rounds)


def _place(by: str, row: dict[str, Any], number: int) -> Place:
    values = _values(row, _OF_PLACE, number)
    key = {"line": "line", "operation": "line", "variable": "variable", "function": "function",
              "call": "text", "stage": "variable"}[by]  # fmt: skip
    if key not in values:
        raise InputError(f"[[format]] number {number}: the key '{key}' is missing")
    return Place(by, **values, calls=_calls(row.get("calls", []), values.get("text", ""), number))


def _calls(rows: Any, text: str, number: int) -> tuple[CallLine, ...]:
    """The lines of a chain of calls."""
    where = f"[[format]] number {number}: "
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{where}calls is {shown(rows)}; accepted: a list of tables")
    calls = []
    for row in rows:
        _require_known(row, _OF_CALL, f"{where}in calls: ")
        for key in _OF_CALL[:4]:
            if key not in row:
                raise InputError(f"{where}the key '{key}' is missing in calls")
        calls.append(CallLine(**_values(row, _OF_CALL, number)))
    if rows and len(rows) != text.count(" > "):
        raise InputError(
            f"{where}calls has {len(rows)} lines and text, {shown(text)}, {text.count(' > ')}; "
            "give all of them or none"
        )
    return tuple(calls)


def _values(row: dict[str, Any], keys: tuple[str, ...], number: int) -> dict[str, Any]:
    """The values of a table."""
    values: dict[str, Any] = {}
    for key in keys:
        if key not in row:
            continue
        if key in _WHOLE:
            if type(row[key]) is not int or row[key] < 0:
                raise InputError(
                    f"[[format]] number {number}: {key} is {shown(row[key])}; accepted: a whole "
                    "number"
                )
            values[key] = row[key]
        else:
            values[key] = _text(key, row[key], number)
    return values


def _text(key: str, value: Any, number: int) -> str:
    if not isinstance(value, str) or not value:
        where = f"[[format]] number {number}: " if number else ""
        raise InputError(f"{where}{key} is {shown(value)}; accepted: a text")
    return value


def _require_known(table: dict[str, Any], keys: tuple[str, ...], where: str = "") -> None:
    for key in table:
        if key not in keys:
            raise InputError(
                f"{where}unknown key '{key}'; known: {', '.join(keys)}{meant(key, keys)}"
            )


def require_label(name: Any) -> None:
    """Make sure that a text can be the name of an assignment."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        expected = f"a text of 1 to {LONGEST_NAME} printable characters"
        raise refused("the name of an assignment", name, expected)


def digest_of(content: dict[str, Any]) -> str:
    """Twelve hexadecimal digits that depend on everything but the name and the order of places,
    those of files in which `by` was called `unit`.
    """
    rows = sorted(json.dumps(row, sort_keys=True) for row in content["format"])
    text = json.dumps(
        {**renamed(content, "by", "unit"), "name": "", "format": rows}, sort_keys=True
    )
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def keep(digest: str, content: dict[str, Any]) -> None:
    """Let this process and others find what an assignment says by its digest."""
    if digest not in _texts:
        _texts[digest] = text_of(content)
        cache_files.write(_place_of(digest), _texts[digest].encode())


def stored_content(digest: str) -> Read | None:
    """The kept content of the assignment of this digest; None where it was not kept, or is damaged
    by now.
    """
    if digest not in _texts:
        stored = cache_files.read(_place_of(digest)) if _DIGEST.fullmatch(digest) else None
        if stored is None:
            return None
        try:
            text = stored.decode()
            damaged = digest_of({"format": [], **tomllib.loads(text)}) != digest
        except (ValueError, TypeError, RecursionError):
            damaged = True
        if damaged:
            return cache_files.discard(_place_of(digest), "it is damaged")
        _texts[digest] = text
    return parsed(tomllib.loads(_texts[digest]), digest)


def _place_of(digest: str) -> Path:
    return cache_files.cache_folder() / "assignments" / f"{digest}.toml"
