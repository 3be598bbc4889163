"""The files of the cache folder: where they are, who may have written them, and how they are read
and written.

Compiled code runs when it is read, so that a file counts only where no other user can have written
it (docs/help/trust.md). A cache may be lost at any time: whatever is wrong with it, the code is
compiled as if there were none, and one warning says what was found.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import warnings
from pathlib import Path

from sciprec.foundation.whole import replacing

_NOWHERE = Path(os.devnull) / "sciprec"
"""A folder in which nothing can be."""
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_HAS_OWNERS = hasattr(os, "geteuid")  # Windows has other rights
_OWN_LINKS = getattr(os, "O_NOFOLLOW", 0)
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)  # a pipe would be waited for
_OF_CACHE = re.compile(r".+_[0-9a-f]{24}\..+|\..+\.part|assignments|compiled-runs|tuning")
"""Names in a cache folder."""
_warned: set[tuple[Path, str]] = set()


class CacheWarning(UserWarning):
    """The cache folder is damaged, or cannot be used; results are as they would be without it."""


def chosen_folder() -> Path:
    """SCIPREC_CACHE_DIR, or the user's cache, whether it can be used or not."""
    chosen = os.environ.get("SCIPREC_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "sciprec"
    except RuntimeError:  # a user without a home
        return _NOWHERE


def cache_folder() -> Path:
    """The folder of generated modules and compiled code; a place where nothing can be, after a
    warning, if the chosen one cannot be used.
    """
    folder = chosen_folder()
    why = why_unusable(folder)
    if why:
        _warn_unusable(why)
    return _NOWHERE if why else folder


def why_unusable(folder: Path) -> str:
    """Why a folder is not used as a cache, as the middle of a sentence; empty where it is used, or
    can be made. The user's own folder of a cache that others may write into is closed to them.
    """
    try:
        status = os.lstat(folder)
        if _is_shared():
            status = os.stat(folder)
        elif why := _why_foreign(folder, status):
            return why
        if not stat.S_ISDIR(status.st_mode):
            return os.strerror(errno.ENOTDIR)
        return "" if os.access(folder, os.X_OK) else os.strerror(errno.EACCES)
    except FileNotFoundError:
        return os.strerror(errno.ENOENT) if os.path.islink(folder) else ""
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)


def _is_shared() -> bool:
    """Whether the user trusts whoever can write into the cache folder."""
    return not _HAS_OWNERS or os.environ.get("SCIPREC_CACHE_SHARED") == "1"


def _why_foreign(folder: Path, status: os.stat_result) -> str:
    """Say why others may have written files of a folder, after it was closed to them."""
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if not _is_trusted_user(status):
        return f"it belongs to user {status.st_uid}"
    if not stat.S_ISDIR(status.st_mode) or not _is_open(status):
        return ""
    if status.st_uid == os.geteuid() and _closed(folder):
        _warn(
            "unusable",
            f"others could write into the cache folder '{folder}' (mode "
            f"{stat.S_IMODE(status.st_mode):o}), and what is in it runs as code; it is now for "
            "you alone (mode 700); SCIPREC_CACHE_SHARED=1 leaves such a folder as it is",
        )
        return ""
    return f"others can write into it, mode {stat.S_IMODE(status.st_mode):o}"


def _is_trusted_user(status: os.stat_result) -> bool:
    """Whether something belongs to this user, or to root, who needs no file to run code."""
    return status.st_uid in (0, os.geteuid())


def _is_open(status: os.stat_result) -> bool:
    """Whether others may replace files of a folder; in a sticky one they may only add to it."""
    return bool(status.st_mode & _OTHERS) and not status.st_mode & stat.S_ISVTX


def _closed(folder: Path) -> bool:
    """Close the user's own folder to all others; whether that was possible. One that holds other
    things than a cache is left as it is: others may need them.
    """
    try:
        if not all(map(_OF_CACHE.fullmatch, os.listdir(folder))):
            return False
        descriptor = os.open(folder, os.O_RDONLY | _OWN_LINKS)
    except OSError:
        return False
    try:
        os.fchmod(descriptor, stat.S_IRWXU)
        return not _is_open(os.fstat(descriptor))
    except OSError:
        return False
    finally:
        os.close(descriptor)


# ---- files -------------------------------------------------------------------------------------


def make_folder(folder: Path) -> None:
    """Make the cache folder, or one in it, for this user alone.

    Raises:
        OSError: that is not possible.
    """
    for path in dict.fromkeys((cache_folder(), folder)):
        path.mkdir(0o777 if _is_shared() else stat.S_IRWXU, parents=True, exist_ok=True)


def read(path: Path) -> bytes | None:
    """Return the content of a file of the cache folder; None where it is not there, cannot be read,
    or may have been written by another user.
    """
    if _NOWHERE in path.parents:
        return None
    try:
        with open(path, "rb", opener=_opened) as stream:
            return stream.read() if _counts(path, os.fstat(stream.fileno())) else None
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and os.path.islink(path):
            _warn_foreign(path, "is a link")
        else:
            discard(path, error.strerror)
        return None


def write(path: Path, content: bytes) -> bool:
    """Write a file of the cache folder, whole or not at all; whether that was possible."""
    if _NOWHERE in path.parents:
        return False
    try:
        make_folder(path.parent)
        with replacing(path) as part, open(part, "xb", opener=_opened) as stream:
            stream.write(content)
        return True
    except OSError as error:
        _warn_unusable(error.strerror)
        return False


def append(path: Path, content: bytes) -> None:
    """Write at the end of a file of the cache folder at once; one that does not count is replaced.

    Raises:
        OSError: that is not possible.
    """
    make_folder(path.parent)
    with open(path, "ab", buffering=0, opener=_opened) as stream:
        if _counts(path, os.fstat(stream.fileno())):
            stream.write(content)
            return
    with replacing(path) as part, open(part, "xb", opener=_opened) as stream:
        stream.write(content)


def _opened(path: str, flags: int) -> int:
    """Open a file that is this user's alone; no link is followed, and no pipe waited for."""
    if _is_shared():
        return os.open(path, flags | _NO_WAITING, 0o666)
    return os.open(path, flags | _NO_WAITING | _OWN_LINKS, stat.S_IRUSR | stat.S_IWUSR)


def _counts(path: Path, status: os.stat_result) -> bool:
    """Whether an open file is a regular one that no other user can have written."""
    if not stat.S_ISREG(status.st_mode):
        discard(path, "it is no regular file")
        return False
    if _is_shared():
        return True
    if not _is_trusted_user(status):
        _warn_foreign(path, f"belongs to user {status.st_uid}")
        return False
    return not status.st_mode & _OTHERS


def discard(path: Path, reason: str) -> None:
    """Remove a file that cannot be used from the cache folder."""
    try:
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    except FileNotFoundError:
        pass  # another process was faster
    except OSError as error:
        _warn_unusable(error.strerror)
        return
    _warn(
        "damaged",
        f"the cache folder '{path.parent}' held what cannot be used ('{path.name}': {reason}); "
        "it was removed, and the code is compiled again",
    )


def _warn_unusable(reason: str) -> None:
    _warn(
        "unusable",
        f"the cache folder '{chosen_folder()}' cannot be used ({reason}): kernels are compiled in "
        "each process; set SCIPREC_CACHE_DIR to a folder of your own that can be written"
        + _unless_trusted(reason),
    )


def _warn_foreign(path: Path, reason: str) -> None:
    _warn(
        "unusable",
        f"a file of the cache folder '{path.parent}' is not read ('{path.name}' {reason}): what is "
        "in it would run as code, and is compiled anew" + _unless_trusted(reason),
    )


def _unless_trusted(reason: str) -> str:
    """Return advice for the case in which only the trust is missing."""
    if not any(words in reason for words in ("a link", "belongs to", "others can")):
        return ""
    return ", or SCIPREC_CACHE_SHARED=1 if you trust whoever can write there (docs/help/trust.md)"


def _warn(kind: str, text: str) -> None:
    """Warn once of a kind for a folder in each process."""
    key = chosen_folder(), kind
    if key not in _warned:
        _warned.add(key)
        warnings.warn(text, CacheWarning, stacklevel=2)
