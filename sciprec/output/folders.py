"""Folders that commands write into: one command at a time, and no page of someone else's lost."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sciprec.errors import InputError
from sciprec.precision.compiled.turns import TAKEN, is_current, lock

PAGE = "index.html"
_OWN_PAGE = b"<title>sciprec: "
_HEAD_BYTES = 2000
LOCK = ".sciprec-lock"
"""Name of the file that is locked; it is removed at the end, and means nothing after a crash."""


def require_own_page(folder: str | Path) -> None:
    """Make sure that the page of a folder is none that something else has made.

    Raises:
        InputError: it is, or cannot be read.
    """
    path = Path(folder) / PAGE
    try:
        head = path.read_bytes()[:_HEAD_BYTES]
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be read ({error.strerror}); give another folder"
        ) from None
    if _OWN_PAGE not in head:
        raise InputError(
            f"'{path}' is a page that sciprec did not write, and is not overwritten; give another "
            "folder, or move that file away"
        )


@contextlib.contextmanager
def alone_in(folder: str | Path) -> Iterator[None]:
    """Hold a folder, for a `with` statement; a file system without locks lets everyone in.

    Raises:
        InputError: another process, or another thread of this one, holds it.
    """
    path = Path(folder) / LOCK
    stream = _taken(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows keeps files that are open
            path.unlink()
        stream.close()


def _taken(path: Path) -> IO[bytes]:
    """The file, locked: that of this path, not one that its last owner has removed meanwhile."""
    while True:
        try:
            stream = open(path, "a+b")
        except OSError as error:
            raise InputError(
                f"the folder '{path.parent}' cannot be written ({error.strerror}); give one that "
                "you may write into"
            ) from None
        try:
            lock(stream)
        except OSError as error:
            if error.errno in TAKEN:
                stream.seek(0)
                owner = stream.read(20).decode(errors="replace")
                stream.close()
                raise InputError(
                    f"another sciprec command (process {owner or 'unknown'}) is writing into the "
                    f"folder '{path.parent}'; wait until it has ended, or give another folder"
                ) from None
        if is_current(stream, path):
            with contextlib.suppress(OSError):  # a full disk is told by who needs it
                os.ftruncate(stream.fileno(), 0)
                os.write(stream.fileno(), str(os.getpid()).encode())
            return stream
        stream.close()
