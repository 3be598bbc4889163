"""Folders that commands write into: one command at a time, and no page of someone else's lost."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import IO

from sciprec.foundation import targets
from sciprec.foundation.errors import InputError
from sciprec.foundation.locks import TAKEN, is_current, lock

PAGE, MANIFEST = "index.html", "batch.json"
"""The page of a folder, and the list of the runs of a batch."""
INDEXED = 30
"""Scenarios of a batch from which on its page is an index, and each has a page of its own."""
LOCK = ".sciprec-lock"
"""Name of the file that is locked; it is removed at the end, and means nothing after a crash."""

_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Keeps the opening of a pipe from waiting for its other end."""


def pages_of(scenarios: Collection[str]) -> dict[str, str]:
    """Name of the page of each scenario of a batch, where they have pages of their own."""
    return {s: f"scenario_{s}.html" for s in scenarios if len(scenarios) >= INDEXED}


def require_own_page(folder: str | Path) -> None:
    """Make sure that the page of a folder may be written: none is there that something else made.

    Raises:
        InputError: it may not.
    """
    require_own(Path(folder) / PAGE, targets.PAGE)


def require_own(path: Path, sort: targets.Sort) -> None:
    """Make sure that a file of a folder may be written.

    Raises:
        InputError: it may not, or something is there that is not of its sort.
    """
    why = targets.in_the_way(path, sort)
    if why:
        raise InputError(
            f"'{path}' cannot be written ({why}); give another folder, or move that file away"
        )


@contextlib.contextmanager
def alone_in(folder: str | Path) -> Iterator[None]:
    """Hold a folder, for a `with` statement; a file system without locks lets everyone in.

    Raises:
        InputError: another process, or another thread of this one, holds it.
    """
    path = Path(folder) / LOCK
    stream = _locked(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows keeps files that are open
            path.unlink()
        stream.close()


def _locked(path: Path) -> IO[bytes]:
    """The file, locked: that of this path, not one that its last owner has removed meanwhile."""
    while True:
        try:
            stream = open(path, "a+b", opener=_open_own)
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


def _open_own(path: str, flags: int) -> int:
    """Open the file of a lock, and no other file by its name.

    Raises:
        OSError: it cannot be opened, or is a link, another name of a file, or no file.
    """
    if os.path.islink(path):
        raise OSError(errno.ELOOP, f"its {LOCK} is a link: remove that")
    descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | _AT_ONCE, 0o666)
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(descriptor)
        raise OSError(errno.EEXIST, f"its {LOCK} is not a file of its own: remove that")
    return descriptor
