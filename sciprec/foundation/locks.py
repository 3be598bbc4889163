"""Locks of open files against other processes."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO

TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
"""Error numbers that a system gives for a lock that somebody else holds."""
_FAR = 1 << 30  # on Windows locked bytes cannot be read


def lock(stream: IO[bytes]) -> None:
    """Lock an open file against other processes and other openings of it, without waiting; closing
    it, or the end of the process, unlocks it.

    Raises:
        OSError: it is locked, or the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        stream.seek(_FAR)
        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        return
    fcntl.flock(stream.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_current(stream: IO[bytes], path: Path) -> bool:
    """Whether an open file is still that of a path, not one that its last owner has removed."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(stream.fileno()))
    except FileNotFoundError:
        return False
