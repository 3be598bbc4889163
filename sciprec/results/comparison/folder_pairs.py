"""Files of two folders that are compared with one another: those of the same name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sciprec.foundation.errors import InputError

_SUFFIXES = (".nc", ".nc4", ".cdf", ".npz", ".npy", ".zarr")
_MOST_NAMED = 3


def two_folders(golden: Any, actual: Any) -> tuple[Path, Path] | None:
    """The two sources as folders with files to compare; None where both are something else. A Zarr
    store is no folder.

    Raises:
        InputError: one of them is, and the other is something else.
    """
    folders = [isinstance(x, (str, Path)) and os.path.isdir(x) and Path(x).suffix != ".zarr"
               for x in (golden, actual)]  # fmt: skip
    if any(folders) and not all(folders):
        folder, other = (golden, actual) if folders[0] else (actual, golden)
        what = f"'{other}'" if isinstance(other, (str, Path)) else f"a {type(other).__name__}"
        raise InputError(
            f"'{folder}' is a folder, and {what} is none; give two files, or two folders whose "
            "files have the same names"
        )
    return (Path(golden), Path(actual)) if all(folders) else None


def files_of_both(golden: Path, actual: Path) -> tuple[list[str], list[str], list[str]]:
    """Names of files below the folders: those of both, of the first alone, of the second alone.

    Raises:
        InputError: none is in both.
    """
    golden_files, actual_files = (set(_files(folder, folder)) for folder in (golden, actual))
    if not golden_files & actual_files:
        first, second = (_listed(names) for names in (golden_files, actual_files))
        raise InputError(
            f"the folders '{golden}' and '{actual}' have no file of the same name ({first}; "
            f"{second}); files of netCDF, Zarr and NumPy are compared, by name"
        )
    return (
        sorted(golden_files & actual_files),
        sorted(golden_files - actual_files),
        sorted(actual_files - golden_files),
    )


def _files(folder: Path, top: Path) -> Iterator[str]:
    for path in folder.iterdir():
        if path.suffix in _SUFFIXES and not path.name.startswith("."):
            yield path.relative_to(top).as_posix()
        elif path.is_dir() and not path.name.startswith("."):
            yield from _files(path, top)


def _listed(names: set[str]) -> str:
    shown = sorted(names)[:_MOST_NAMED] + ["…"] * (len(names) > _MOST_NAMED)
    return ", ".join(shown) or "none"
