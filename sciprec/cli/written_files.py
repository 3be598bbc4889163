"""Options for files that verbs write beside what they print; what is in the way of one is told
before a verb does anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sciprec.cli.settings import Settings
from sciprec.foundation import targets
from sciprec.foundation.errors import InputError


class FileToWrite(type(Path())):  # type: ignore[misc]
    """A file that an option names for writing.

    Attributes:
        sort: of the file.
    """

    sort: targets.Sort


def written(sort: targets.Sort, name: str, words: str | None = None) -> Any:
    """An option for a file to write.

    Args:
        sort: of the file.
        name: of the option.
        words: about the file, where a verb does not say it below `Args:`.
    """

    def read(text: str | Path) -> FileToWrite:
        path = FileToWrite(text)
        path.sort = sort
        return path

    return typer.Option(name, help=words, parser=read, metavar="FILE")


JUnit = Annotated[
    Path | None,
    written(targets.JUNIT, "--junit-xml", "Write JUnit XML, with metrics as properties."),
]
Html = Annotated[Path | None, written(targets.PAGE, "--html", "Write a self-contained page.")]


def require_free_files(command: Any) -> None:
    """Let a command and those below it refuse files that they may not write, before they begin."""
    invoke = command.invoke

    def invoked(context: Any) -> Any:
        _require_free(context.params)
        return invoke(context)

    command.invoke = invoked
    for below in getattr(command, "commands", {}).values():
        require_free_files(below)


def _require_free(options: Mapping[str, Any]) -> None:
    """Refuse files to write that are in the way of something, or of one another.

    Args:
        options: values of a verb's options and arguments, by name.

    Raises:
        InputError: there is one.
    """
    to_write = {name: value for name, value in options.items() if isinstance(value, FileToWrite)}
    inputs = [*Settings.plugins]
    for name, value in options.items():
        inputs += () if name in to_write else _files_in(value)
    places: dict[str, str] = {}
    for name, path in to_write.items():
        other = places.setdefault(os.path.realpath(path), name)
        if other != name:
            both = " and ".join(f"--{option.replace('_', '-')}" for option in (other, name))
            raise InputError(f"{both} are given the same file '{path}'; give each one of its own")
        targets.require_free(path, path.sort, inputs)


def _files_in(value: Any) -> Iterator[str]:
    """The files that a value may name: alone, in FILE.py:FUNCTION, assignment:FILE or A=FILE."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _files_in(item)
    elif isinstance(value, (str, Path)):
        text = str(value)
        yield from (text, text.rpartition(":")[0], text.partition(":")[2], text.partition("=")[2])
