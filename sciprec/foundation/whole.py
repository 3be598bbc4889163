"""Files that appear under their names when they are complete, or not at all.

A file is written under another name in the same folder, a part, and renamed. What cannot be made
again is flushed to the disk before (`lasting`): files that users name, baselines, checkpoints, the
list of a batch's runs. Runs and caches are not, since a flush takes some 10 ms, and a digest tells
whether they are whole.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

PART = ".part"
"""Ending of the names of parts; these begin with a point."""
_OLD = "-old"
"""The mark of a folder that was moved aside; in its name it stands before the ending of parts."""
_NAME = re.compile(
    rf"\.(?P<name>.+)\.(?P<process>[0-9]+)-(?P<thread>[0-9]+)(?:{_OLD})?\{PART}", re.DOTALL
)
_own_files: set[str] = set()
"""Paths of the parts that this process writes now."""


def part_of(path: Path) -> Path:
    """The name under which this thread writes a file before it is complete."""
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}{PART}")


def name_of(part: Path) -> str | None:
    """The name of the file that a part was to become, or the folder that it was; None where it is
    no part.
    """
    match = _NAME.fullmatch(part.name)
    return match and match["name"]


def put_back(folder: Path) -> None:
    """Give folders back their names, where these are free, that killed processes had moved aside
    for others, which did not come.
    """
    for old in folder.glob(f".*{_OLD}{PART}"):
        name = name_of(old)
        if name and not os.path.lexists(folder / name) and not _is_at_work(old):
            with contextlib.suppress(OSError):
                os.replace(old, folder / name)


def tidy(folder: Path, name: str | None = None) -> None:
    """Remove what killed processes of this machine have left in a folder that others do not write
    into meanwhile; what they had moved aside is put back.

    Args:
        folder: where parts are.
        name: of the only file of which parts are removed; left out, all are.
    """
    put_back(folder)
    for part in folder.glob(f".*{PART}"):
        of = name_of(part)
        if of is not None and name in (None, of) and not _is_at_work(part):
            remove(part)


def is_running(process: int) -> bool:
    """Whether there is a process of this number on this machine; on Windows it is taken for so."""
    if os.name == "nt":  # where asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_at_work(part: Path) -> bool:
    """Whether the process that a part is named after is running, and is not this one, which knows
    its own: numbers of processes come again, in containers almost always the same one.
    """
    match = _NAME.fullmatch(part.name)
    if match is None or int(match["process"]) != os.getpid():
        return match is not None and is_running(int(match["process"]))
    part_name = f".{match['name']}.{match['process']}-{match['thread']}{PART}"
    return os.path.abspath(part.with_name(part_name)) in _own_files


@contextlib.contextmanager
def replacing(path: Path, *, lasting: bool = False) -> Iterator[Path]:
    """Write a file or folder anew, for a `with` statement: `with replacing(path) as part:`.

    What is at `path` stays as it is until the block has ended without exception; a link there is
    replaced, not followed.

    Args:
        path: of the file or folder.
        lasting: whether it is flushed to the disk before it gets its name, which a loss of power
            then cannot take away.

    Yields:
        The name to write under; nothing is there.

    Raises:
        OSError: the part cannot be put into its place, or flushed, or another one of its name be
            removed.
    """
    part = part_of(path)
    own_file = os.path.abspath(part)
    clear(part)
    _own_files.add(own_file)
    try:
        yield part
        if lasting:
            _flush_all(part)
        _put_in_place(part, path)
        if lasting:
            flush(path.parent)
    finally:
        remove(part)
        _own_files.discard(own_file)


def write_bytes(path: Path, content: bytes, *, lasting: bool = False) -> Path:
    """Write a file whole, or not at all, with the permissions of the one that it replaces.

    Raises:
        OSError: it cannot be written, with the name of its path.
    """
    try:
        with replacing(path, lasting=lasting) as part:
            with open(part, "xb") as stream:
                stream.write(content)
            if path.is_file() and not path.is_symlink():
                shutil.copymode(path, part)
    except OSError as error:
        error.filename = str(path)
        raise
    return path


def write_text(path: Path, text: str, *, lasting: bool = False) -> Path:
    """Write a text file in UTF-8 whole, or not at all; bytes of file names that are no characters
    are spelled out.

    Raises:
        OSError: it cannot be written, with the name of its path.
    """
    return write_bytes(path, text.encode("utf-8", "backslashreplace"), lasting=lasting)


@contextlib.contextmanager
def temporary_folder(purpose: str, where: Path | None = None) -> Iterator[Path]:
    """An empty folder where the system keeps what is temporary, for a `with` statement; it goes
    with the block, and what killed processes have left of the same purpose goes before.

    Args:
        purpose: a word for its name.
        where: another place to keep it.
    """
    start = f"sciprec-{purpose}-"
    for old in Path(where or tempfile.gettempdir()).glob(f"{start}*-*"):
        process = old.name.removeprefix(start).partition("-")[0]
        if process.isdecimal() and not is_running(int(process)):
            remove(old)
    place = Path(tempfile.mkdtemp(prefix=f"{start}{os.getpid()}-", dir=where))
    try:
        yield place
    finally:
        remove(place)


def clear(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it, if it is there.

    Raises:
        OSError: it cannot be removed.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it, as far as the system lets it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def _flush_all(path: Path) -> None:
    """Flush a file to the disk, or a folder with all that is in it."""
    for part in (*path.rglob("*"), path) if path.is_dir() else (path,):
        flush(part)


def flush(path: Path) -> None:
    """Flush a file to the disk, or the names in a folder.

    Raises:
        OSError: the disk does not take it.
    """
    if os.name == "nt" and path.is_dir():  # folders cannot be opened there
        return
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _put_in_place(part: Path, path: Path) -> None:
    """Rename a part; a folder that is in its way is moved aside, and removed at last."""
    if not (path.is_dir() and not path.is_symlink()):
        os.replace(part, path)
        return
    old = part.with_name(f"{part.name[: -len(PART)]}{_OLD}{PART}")
    os.replace(path, old)
    try:
        os.replace(part, path)
    except OSError:
        os.replace(old, path)
        raise
    remove(old)
