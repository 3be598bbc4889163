"""Values kept in the cache folder by the digest of everything that they follow from.

What is computed of files whose bytes are known, by code whose sources are known, is the same each
time: the proof that a file holds what was written, the comparison of two, a part of a page. A kept
value has a digest of its own, over its name, too; one that is damaged is computed anew. So is
everything where the cache folder cannot be used.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sciprec.foundation import cache_files
from sciprec.foundation.definitions import code_digest, version_of
from sciprec.results.output.pieces import WHOLE_BYTES

MOST_BYTES = 2**28
"""Most bytes of all kept values; those that were not used for longest are removed first."""
SORTS = "file", "runs", "page"
"""Proofs of files, comparisons of a scenario's runs, and parts of pages."""
_READ_BY = "xarray", "netcdf4", "zarr"
_SUFFIX = ".zlib"
_DIGEST_BYTES = 32
Value = TypeVar("Value")


def recalled_or_computed(sort: str, key: str, compute: Callable[[], Value]) -> Value:
    """The value kept under a key, or else the one that is computed now, and then kept.

    Args:
        sort: one of `SORTS`.
        key: as `key_of` gives it; empty: nothing is kept.
        compute: makes the value, of plain data and sciprec's own classes.
    """
    value = recalled(sort, key)
    if value is None:
        value = compute()
        keep(sort, key, value)
    return value


def recalled(sort: str, key: str) -> Any:
    """The value kept under a key; None where there is none."""
    if not key or cache_files.why_unusable(cache_files.chosen_folder()):
        return None
    path = _path_of(sort, key)
    content = cache_files.read(path)
    if content is None or content[:_DIGEST_BYTES] != _digest_of(path, content[_DIGEST_BYTES:]):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return pickle.loads(zlib.decompress(content[_DIGEST_BYTES:]))


def is_kept(sort: str, key: str) -> bool:
    """Whether there is a value under a key, whole or not."""
    return bool(key) and _path_of(sort, key).exists()


def keep(sort: str, key: str, value: Any) -> None:
    """Keep a value under a key."""
    if key and not cache_files.why_unusable(cache_files.chosen_folder()):
        path, content = _path_of(sort, key), zlib.compress(pickle.dumps(value), 3)
        cache_files.write(path, _digest_of(path, content) + content)


def _path_of(sort: str, key: str) -> Path:
    return cache_files.chosen_folder() / f"{sort}_{key}{_SUFFIX}"


def _digest_of(path: Path, content: bytes) -> bytes:
    return hashlib.sha256(path.name.encode() + content).digest()


def key_of(*parts: object) -> str:
    """The key of what follows from some parts, whose `repr` tells all, by the code of today."""
    text = repr((_computed_by(), *parts)).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:24]


def key_of_files(paths: Sequence[Path], *parts: object) -> str:
    """The key of what follows from the bytes of files, and some parts; empty where one cannot be
    read, or is too large to be read a second time.
    """
    digests = [_bytes_of(path) for path in paths]
    return key_of(*parts, *digests) if all(digests) else ""


def _bytes_of(path: Path) -> str:
    """The digest of a file's bytes, or of those of all files of a store; else empty."""
    try:
        inside = sorted(path.rglob("*")) if path.is_dir() else [path]
        if sum(file.stat().st_size for file in inside) > WHOLE_BYTES:
            return ""
        digest = hashlib.sha256()
        for file in inside:
            digest.update(f"{file.relative_to(path)}\0{file.is_file()}\0".encode())
            digest.update(hashlib.sha256(file.read_bytes() if file.is_file() else b"").digest())
        return digest.hexdigest()
    except OSError:
        return ""


@functools.cache
def _computed_by() -> str:
    """The digest of sciprec's sources, and the versions of what reads files."""
    return " ".join((code_digest(), *map(version_of, _READ_BY)))


def make_room(most: int = MOST_BYTES) -> None:
    """Remove the values that were not used for longest, down to a number of bytes."""
    files, starts = [], tuple(f"{sort}_" for sort in SORTS)
    with contextlib.suppress(OSError), os.scandir(cache_files.chosen_folder()) as entries:
        for entry in entries:
            if entry.name.startswith(starts) and entry.name.endswith(_SUFFIX):
                status = entry.stat()
                files.append((status.st_mtime_ns, status.st_size, Path(entry.path)))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= most:
            return
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size
