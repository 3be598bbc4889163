"""Files that verbs write beside what they print: pages, JUnit XML, Markdown."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sciprec.errors import InputError

JUnit = Annotated[
    Path | None,
    typer.Option("--junit-xml", help="File for JUnit XML, with metrics as properties."),
]
Html = Annotated[Path | None, typer.Option("--html", help="File for a self-contained page.")]


def check_folder(path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is computed.

    Raises:
        InputError: it is a folder, or in none.
    """
    folder = path is not None and os.path.isdir(path)  # unlike Path.is_dir, for any name
    if path is not None and (folder or not os.path.isdir(path.parent)):
        why = "it is a folder" if folder else "its folder does not exist"
        raise InputError(f"the file {path} cannot be written ({why}); give another one")


def write(path: Path, text: str) -> None:
    """Write a text file.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"the file {path} cannot be written ({error.strerror}); give another one"
        ) from None
