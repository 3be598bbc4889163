"""Files of runs that are read only as far as they hold what was written, and how to make the others
again.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.results.output import digests, files, kept_values
from sciprec.results.output.folders import MANIFEST
from sciprec.results.output.kept_values import key_of_files
from sciprec.results.output.netcdf import require_written
from sciprec.results.output.pieces import is_large
from sciprec.results.output.stated import RUN


def available(
    path: str | Path, expected: str = "",
    check: Callable[[files.Verified], files.Verified] = lambda verified: verified,
    *, keep: bool = False,
) -> xr.Dataset:  # fmt: skip
    """The dataset of a run's file, as `files.available`, which holds what was written.

    Args:
        path: of a netCDF file or Zarr store.
        expected: digest of its run, as a list of runs has it; empty where that is not known.
        check: holds what was seen of the file against what else is known of it.
        keep: whether the proof is kept for `verify`.

    Raises:
        InputError: the file is missing, cannot be read, or is damaged; how to make it again.
    """
    path = Path(path)
    key = key_of_files([path]) if keep else ""

    def look(dataset: xr.Dataset) -> None:
        verified = check(files.seen_of(path, dataset, expected))
        _require_whole(verified)
        remember(key, verified)

    try:
        return files.available(path, look)
    except DamagedFileError:
        raise
    except Exception:  # the libraries raise anything for damaged bytes
        _require_whole(files.verify(path, expected))
        raise


def verify(path: str | Path, expected: str = "", *, run: str = "") -> files.Verified:
    """Verify a file as `files.verify`; of one whose bytes were proven before, by this code,
    only the bytes are read.
    """
    path = Path(path)
    key = key_of_files([path])
    recalled = kept_values.recalled("file", key)
    if recalled is None:
        verified = files.verify(path, expected, run=run)
        remember(key, verified)
        return verified
    attributes, digest = recalled
    if run and attributes.get(RUN) != run:
        return files.Verified(path, files.OTHER_RUN, True, attributes=attributes, other=True)
    damage = files.OTHER_RESULTS if expected and digest != expected else ""
    return files.Verified(path, damage, True, digest, attributes)


def remember(key: str, verified: files.Verified) -> None:
    """Keep the proof of a file for `verify`, where it holds what was written.

    Args:
        key: of its bytes before they were read; where they are others by now, nothing is kept.
        verified: as `files.verify` has found the file.
    """
    if key and verified.proven and key == key_of_files([verified.path]):
        kept_values.keep("file", key, (dict(verified.attributes), verified.digest))


UNKNOWN_WAY = "run its scenario again"
"""Advice where no list of runs beside a file gives the command."""


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[xr.Dataset]:
    """A file or store whose values are read when they are asked for, as `files.opened`; one with
    digests has been read once before, and holds what was written.

    Raises:
        InputError: as `available`; of files without digests as `files.opened`.
    """
    path = Path(path)
    with contextlib.ExitStack() as stack:
        try:
            dataset = stack.enter_context(files.opened(path))
        except InputError as error:
            again = way_back(path)
            raise InputError(f"{error}; {again}" if again != UNKNOWN_WAY else str(error)) from None
        if digests.is_sealed(dataset):
            require_written(dataset, path)
            if not is_large(dataset):
                with contextlib.suppress(Exception):  # damaged bytes, which are looked for below
                    dataset.load()
            _require_whole(files.seen_of(path, dataset))
        yield dataset


class DamagedFileError(InputError):
    """A run's file does not hold what was written; the message says how to make it again."""


def _require_whole(verified: files.Verified) -> None:
    """
    Raises:
        DamagedFileError: the file is damaged or missing.
    """
    if verified.damage:
        raise DamagedFileError(f"{damage_of(verified)}; {way_back(verified.path)}")


def damage_of(verified: files.Verified) -> str:
    """A sentence on the damage of a file, without its end."""
    if verified.damage == files.MISSING:
        return f"'{verified.path}' {verified.damage}"
    return f"'{verified.path}' is damaged: it {verified.damage}"


def way_back(path: Path) -> str:
    """Advice on how to get a run's file again."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        content = json.loads((path.parent / MANIFEST).read_text(encoding="utf-8"))
        if any(entry["file"] == path.name for entry in content["runs"]):
            return f"make it again with `{content['command']}`"
    return UNKNOWN_WAY
