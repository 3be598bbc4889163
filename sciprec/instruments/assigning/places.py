"""Places that an assignment gives formats to: lines, operations, variables, functions, chains of
calls. What they are called, and which rows of a program are theirs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sciprec.foundation.arguments import choice, refused
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.origins import chain_of, own_place
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import Origin

BY = ("line", "operation", "variable", "function", "call")
_LINE = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d+)")
_NO_VARIABLE = "(no variable)"
_CALL = re.compile(r"\w+\((?P<first>\w+)\b")
_OPERATION = re.compile(
    r"(?:(?P<file>[^:]+\.py):)?(?P<line>\d+)(?::(?P<column>\d+))?: (?P<text>.+)"
)


@dataclass(frozen=True)
class CallLine:
    """A line that calls a function, see `Place`.

    Args:
        function, file, line, source, twin, twins: of the line, as those of a place.
    """

    function: str
    file: str
    line: int
    source: str
    twin: int = 0
    twins: int = 0


Call = CallLine  # its name in older pickles


@dataclass(frozen=True)
class Place:
    """A part of a source whose operations have one format.

    Args:
        by: one of `BY`, or "stage": operations, by their names in `text`, of a function or of
            every function of a file, that are part of a model's stage `variable`.
        function, file: where it is; "" for any.
        line: of a line or an operation.
        column, text: of an operation, -1 for any; the text of a chain of calls.
        variable: its name.
        source: the line's, or "" where that is not checked.
        names: of a stage, the variables whose statements belong to it, with spaces between; "" for
            all statements. A call that is a statement has the name of its first argument.
        twin, twins: of a line that is not the only one of its text in the function, which of them
            it is, from 1, and how many there are; 0 of others.
        calls: of a chain of calls, its lines; none where they are known by their numbers alone.
    """

    by: str
    function: str = ""
    file: str = ""
    line: int = 0
    column: int = -1
    text: str = ""
    variable: str = ""
    source: str = ""
    names: str = ""
    twin: int = 0
    twins: int = 0
    calls: tuple[CallLine, ...] = ()

    def key(self, file: str = "") -> Hashable:
        """The name of the place in an assignment for a kernel of this file; "" for several."""
        same_file = not self.file or bool(file) and is_in(file, self.file)
        elsewhere = "" if same_file else f"{self.file}:"
        if self.by == "line":
            return f"{elsewhere}{self.line}" if elsewhere else self.line
        if self.by == "operation":
            column = "" if self.column < 0 else f":{self.column}"
            return f"{elsewhere}{self.line}{column}: {self.text}"
        if self.by == "variable":
            return f"{elsewhere}{self.function}.{self.variable}".lstrip(".")
        if self.by == "stage":
            return f"{self.variable}: {self.function or self.file.rpartition('/')[2]}"
        return f"{elsewhere}{self.text if self.by == 'call' else self.function}"

    def __str__(self) -> str:
        where = f" of '{self.function}'" if self.function else ""
        if self.by in ("line", "operation"):
            text = f", `{self.text}`" if self.text else ""
            return f"line {self.line}{where}{text}"
        return f"{self.by} '{self.key(self.file)}'"

    @property
    def has_numbers_alone(self) -> bool:
        """Whether lines are known by their numbers and not by their texts."""
        if self.by == "call":
            return " > " in self.text and not self.calls
        return bool(self.line) and not self.source

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Take what is pickled, by earlier versions, too."""
        self.__dict__.update(renamed(state, "unit", "by"))

    def is_in(self, file: str) -> bool:
        """Whether the place may be in a file."""
        return not self.file or is_in(file, self.file)

    def holds(self, program: Program, row: Row, origin: Origin) -> bool:
        """Whether a row of a program is in the place; its line is the one in force."""
        if not self.is_in(origin.file):
            return False
        if self.by != "call" and self.function and self.function != origin.function:
            return False
        if self.by == "variable":
            return self.variable == (origin.variable or _NO_VARIABLE)
        if self.by == "stage":
            operation = program.sites[row.site].operation
            name_fits = not self.names or given_by(origin) in self.names.split()
            return name_fits and (not self.text or operation in self.text.split())
        if self.by == "function":
            return True
        if self.by == "call":
            return self.text == path_of(program, row)
        if self.line != origin.line:
            return False
        if self.by == "line":
            return True
        text, column = _operation_of(program, row)
        return self.text == text and self.column in (-1, column)


def place_of(program: Program, row: Row, by: str) -> Place:
    """The place that a row is in."""
    origin = own_place(program, row)
    function, file = origin.function, known_as(origin.file)
    alike = _alike(origin)
    if by == "line":
        return Place(by, function, file, origin.line, -1, "", "", origin.source, "", *alike)
    if by == "operation":
        text, column = _operation_of(program, row)
        return Place(
            by, function, file, origin.line, column, text, "", origin.source, "", *alike
        )  # fmt: skip
    if by == "variable":
        return Place(by, function, file, variable=origin.variable or _NO_VARIABLE)
    if by == "function":
        return Place(by, function, file)
    calls, path = calls_of(program, row), path_of(program, row)
    return Place(by, function, file, text=path, calls=tuple(calls))


def _operation_of(program: Program, row: Row) -> tuple[str, int]:
    """The text of an operation and where it begins; in a kernel of the engine, of the user's call.
    """
    sites = [site for site in (*row.calls, row.site) if site in program.origins]
    path = [site for site in sites if not program.origins[site].of_engine] or sites or [row.site]
    site = program.sites[path[-1]]
    return site.text or site.operation, site.column


def given_by(origin: Origin) -> str:
    """The name that the statement of an operation gives a value; of a call, its first argument."""
    if origin.variable:
        return origin.variable
    call = _CALL.match(origin.source)
    return call["first"] if call else ""


def path_of(program: Program, row: Row) -> str:
    """The lines of the user's calls that lead to a row, and its function."""
    chain = _own_chain(program, row)
    return joined([o.line for o in chain[:-1]], chain[-1].function)


def joined(lines: Sequence[int], function: str) -> str:
    """The text of a chain of calls."""
    return " > ".join([*(f"line {line}" for line in lines), function])


def calls_of(program: Program, row: Row) -> list[CallLine]:
    """The user's calls that lead to a row."""
    return [
        CallLine(o.function, known_as(o.file), o.line, o.source, *_alike(o))
        for o in _own_chain(program, row)[:-1]
    ]


def _own_chain(program: Program, row: Row) -> list[Origin]:
    chain = chain_of(program, row) or [own_place(program, row)]
    return [o for o in chain if not o.of_engine] or chain[-1:]


def _alike(origin: Origin) -> tuple[int, int]:
    """The number of a line among those that read alike, and their count."""
    return (origin.twin, origin.twins) if origin.twins > 1 else (0, 0)


def known_as(file: str) -> str:
    """A file as other machines know it: from the folder on that Python finds it in."""
    return _below(file, tuple(sys.path))


@lru_cache
def _below(file: str, searched: tuple[str, ...]) -> str:
    """A file's path below the nearest folder of those; asked for every operation of a kernel."""
    path = Path(file)
    folders = [Path(p) for p in searched if p and path.is_relative_to(p)]
    if not folders:
        return path.name
    return path.relative_to(max(folders, key=lambda f: len(f.parts))).as_posix()


def is_in(file: str, end: str) -> bool:
    """Whether a file may be the one that is known by this end of its path."""
    return file == end or file.endswith(f"/{end}") or not file


def renamed(content: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    """The content with another name for a key, unless it has that name, too."""
    return {(new if key == old and new not in content else key): content[key] for key in content}


def read_place(by: str, key: Any) -> Place:
    """The place that a key of an assignment means.

    Raises:
        InputError: it means none.
    """
    choice("by", by, (*BY, "stage"))
    if by == "line":
        if isinstance(key, int) and not isinstance(key, bool) and key > 0:
            return Place(by, line=key)
        match = _LINE.fullmatch(key) if isinstance(key, str) else None
        if match is None:
            raise refused("a line of an assignment", key, "its number, or 'file.py:12'")
        return Place(by, file=match["file"] or "", line=int(match["line"]))
    if by == "operation":
        match = _OPERATION.fullmatch(key) if isinstance(key, str) else None
        if match is None:
            raise refused(
                "an operation of an assignment", key, "its line and text, as in '12: a * b'"
            )
        column = int(match["column"]) if match["column"] else -1
        return Place(by, "", match["file"] or "", int(match["line"]), column, match["text"])
    if not isinstance(key, str) or not key:
        raise refused(f"a {by} of an assignment", key, "its name")
    file, _, name = key.rpartition(":")
    if by == "call":
        return Place(by, file=file, text=name)
    if by == "function":
        return Place(by, name, file)
    function, _, variable = name.rpartition(".")
    return Place(by, function, file, variable=variable)


def require_different(places: Mapping[Hashable, Place]) -> None:
    """Make sure that no place has two keys.

    Raises:
        InputError: one has.
    """
    key_of: dict[Place, Hashable] = {}
    for key, place in places.items():
        if (earlier := key_of.setdefault(place, key)) != key:
            raise InputError(f"{place} is named twice, as {earlier!r} and as {key!r}; name it once")
