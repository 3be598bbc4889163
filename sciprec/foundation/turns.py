"""Turns: of several processes that want to make a file one makes it, and the others wait for it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sciprec.foundation.cache_files import make_folder
from sciprec.foundation.locks import TAKEN, is_current, lock

LONGEST_WAIT = 120.0
"""Seconds after which a process makes for itself what another one has not finished."""
_LOOK_SECONDS = 0.02


@contextlib.contextmanager
def turn(path: Path) -> Iterator[None]:
    """Make a file, for a `with` statement, while no other process makes it. Where it is there, is
    not finished by another process in time, or cannot be locked, nothing is waited for.
    """
    stream = None if os.path.exists(path) else _locked(path.with_name(f"{path.name}.lock"), path)
    try:
        yield
    finally:
        if stream is not None:
            with contextlib.suppress(OSError):  # Windows keeps files that are open
                os.unlink(stream.name)
            stream.close()


def _locked(lock_file: Path, awaited: Path) -> IO[bytes] | None:
    """The lock file, locked; None where there is no need, or no way."""
    latest = time.monotonic() + LONGEST_WAIT
    while not os.path.exists(awaited) and time.monotonic() < latest:
        try:
            make_folder(lock_file.parent)
            stream = open(lock_file, "a+b")
        except OSError:
            return None
        try:
            lock(stream)
            if is_current(stream, lock_file):
                return stream
            stream.close()
        except OSError as error:
            stream.close()
            if error.errno not in TAKEN:
                return None
            time.sleep(_LOOK_SECONDS)
    return None
