"""A disk that fails: of the calls that write or read below a folder, or open a file there, one or
all from one on fail.

Python's own calls are counted, in all threads; what libraries in C write is not among them. Linux.
"""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ERRORS = {
    errno.ENOSPC: ("create", "write", "close", "mkdir", "rename", "fsync", "truncate", "link"),
    errno.EACCES: ("open", "create", "mkdir", "rename", "unlink", "rmdir", "link"),
    errno.EIO: ("open", "create", "read", "write", "close", "mkdir", "rename", "fsync", "truncate",
                "link", "unlink", "rmdir"),
}  # fmt: skip
"""Error -> the calls that may end with it."""
ONCE, FROM_THEN_ON = "once", "from then on"


@dataclass(frozen=True)
class Fault:
    """A fault of writing.

    Args:
        number: of the call, from 1; 0: nothing goes wrong.
        error: with which it ends, where that call can; a call that cannot is passed over.
        how: ONCE, or FROM_THEN_ON: all the later ones, too.
    """

    number: int = 0
    error: int = errno.ENOSPC
    how: str = ONCE

    def __str__(self) -> str:
        return f"{errno.errorcode[self.error]} {self.how} at call {self.number}"


@dataclass
class Disk:
    """The calls below a folder, with a fault among them.

    Args:
        folder: everything below it counts, and itself.
        fault: what goes wrong.

    Attributes:
        calls: those so far that the fault's error can befall, as "call path".
        places: their numbers, by the call, the kind of file and the lines of code that led there.
        failed: those of them that failed.
    """

    folder: Path
    fault: Fault = Fault()
    calls: list[str] = field(default_factory=list)
    places: dict[tuple, list[int]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    _lock: Any = field(default_factory=threading.Lock)

    def is_due(self, call: str, path: str) -> bool:
        """Count a call, and say whether it fails."""
        if call not in ERRORS[self.fault.error]:
            return False
        with self._lock:
            self.calls.append(f"{call} {os.path.relpath(path, self.folder)}")
            number = len(self.calls)
            place = call, Path(path).suffix, tuple(_lines())
            self.places.setdefault(place, []).append(number)
            if not self.fault.number or number < self.fault.number:
                return False
            if number > self.fault.number and self.fault.how != FROM_THEN_ON:
                return False
            self.failed.append(self.calls[-1])
        return True

    def require(self, call: str, path: str) -> None:
        """Count a call.

        Raises:
            OSError: it fails.
        """
        if self.is_due(call, path):
            raise self.error(path)

    def error(self, path: str) -> OSError:
        """The exception that the system's error becomes."""
        return OSError(self.fault.error, os.strerror(self.fault.error), path)

    def below(self, path: Any, dir_fd: int | None = None) -> str | None:
        """The absolute path of a name or a descriptor below the folder; None for others."""
        if isinstance(path, int):
            absolute = _path_of(path)
        else:
            start = _path_of(dir_fd) if isinstance(dir_fd, int) else os.getcwd()
            absolute = os.path.normpath(os.path.join(start, os.fsdecode(path)))
        folder = str(self.folder)
        return absolute if absolute == folder or absolute.startswith(folder + os.sep) else None


def _lines() -> Iterator[tuple[str, int]]:
    """The lines of the package, and of Zarr, that are at work in this thread."""
    for frame, line in traceback.walk_stack(None):
        if re.search(r"/(sciprec|zarr)/", frame.f_code.co_filename):
            yield frame.f_code.co_filename, line


def _path_of(descriptor: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        return ""


class _File(io.FileIO):
    """A file whose calls a disk counts. A write that fails has written half of its bytes."""

    disk: Disk
    path: str

    def write(self, content: Any) -> int:
        if self.disk.is_due("write", self.path):
            content = memoryview(content).cast("B")
            super().write(content[: len(content) // 2])
            raise self._error()
        return super().write(content)

    def readinto(self, buffer: Any) -> int | None:
        if self.disk.is_due("read", self.path):
            raise self._error()
        return super().readinto(buffer)

    def readall(self) -> bytes | None:
        if self.disk.is_due("read", self.path):
            raise self._error()
        return super().readall()

    def truncate(self, size: int | None = None) -> int:
        if self.disk.is_due("truncate", self.path):
            raise self._error()
        return super().truncate(size)

    def close(self) -> None:
        failing = not self.closed and self.writable() and self.disk.is_due("close", self.path)
        super().close()
        if failing:
            raise self._error()

    def _error(self) -> OSError:
        """As the system raises it: of an open file, without its name."""
        return OSError(self.disk.fault.error, os.strerror(self.disk.fault.error))


def _opening(disk: Disk) -> Callable[..., Any]:
    real = io.open

    def opened(
        file: Any, mode: str = "r", buffering: int = -1, encoding: str | None = None,
        errors: str | None = None, newline: str | None = None, closefd: bool = True,
        opener: Any = None,
    ) -> Any:  # fmt: skip
        path = disk.below(file)
        if path is None:
            return real(file, mode, buffering, encoding, errors, newline, closefd, opener)
        writing = bool(set(mode) & set("wax+"))
        if not isinstance(file, int) and opener is None:
            disk.require("create" if writing else "open", path)
        raw = _File(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        raw.disk, raw.path = disk, path
        if buffering == 0:
            return raw
        size = buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE
        kind = io.BufferedWriter if writing else io.BufferedReader
        buffer = (io.BufferedRandom if "+" in mode else kind)(raw, size)
        if "b" in mode:
            return buffer
        text = io.TextIOWrapper(buffer, encoding, errors, newline, buffering == 1)
        text.mode = mode
        return text

    return opened


def _counted(disk: Disk, name: str, call: str) -> Callable[..., Any]:
    """A function of `os` that is counted as a call."""
    real = getattr(os, name)

    def counted(path: Any, *args: Any, **kwargs: Any) -> Any:
        where = disk.below(path, kwargs.get("dir_fd", kwargs.get("src_dir_fd")))
        if where is None and call in ("rename", "link"):
            where = disk.below(args[0], kwargs.get("dst_dir_fd"))
        if where is not None:
            kind = call
            if name == "open":
                flags = args[0] if args else kwargs["flags"]
                kind = "create" if flags & (os.O_WRONLY | os.O_RDWR) else "open"
            disk.require(kind, where)
        return real(path, *args, **kwargs)

    return counted


_CALLS = {
    "open": "open", "write": "write", "pwrite": "write", "mkdir": "mkdir", "rename": "rename",
    "replace": "rename", "unlink": "unlink", "remove": "unlink", "rmdir": "rmdir",
    "fsync": "fsync", "fdatasync": "fsync", "truncate": "truncate", "ftruncate": "truncate",
    "link": "link", "symlink": "link",
}  # fmt: skip


@contextlib.contextmanager
def failing(disk: Disk) -> Iterator[Disk]:
    """Put a disk under the calls of this process, for a `with` statement."""
    opened = _opening(disk)
    places = [(io, "open", opened), (builtins, "open", opened)]
    places += [(os, name, _counted(disk, name, call)) for name, call in _CALLS.items()]
    before = [(module, name, getattr(module, name)) for module, name, _ in places]
    try:
        for module, name, function in places:
            setattr(module, name, function)
        yield disk
    finally:
        for module, name, function in before:
            setattr(module, name, function)
