"""The files of runs in either format: netCDF files, or Zarr stores, told apart by their suffix."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation import arguments
from sciprec.foundation.arguments import word
from sciprec.foundation.errors import InputError
from sciprec.results.output import digests, netcdf, zarr_store
from sciprec.results.output.pieces import is_large, read_later, read_through
from sciprec.results.output.stated import RUN

_SMALL_BYTES = 2**12
NETCDF = "netcdf"
SUFFIXES = {NETCDF: ".nc", "zarr": ".zarr"}
"""Formats and the endings of their files."""
_OF_STORES = (".zgroup", ".zmetadata", "zarr.json")
"""Files of which a Zarr store has one."""
MISSING = "is missing"
"""The damage of a file that is not there."""
OTHER_RUN = "is of another run than the list of runs says"
OTHER_RESULTS = "holds other results than the list of runs says"
SEALED_SINCE = "0.2"
"""Version of sciprec whose runs are the first with digests."""


def suffix_of(name: str) -> str:
    """The suffix of a format's files.

    Raises:
        InputError: no such format, or the package that writes it is missing.
    """
    word("format", name, SUFFIXES)
    if name == "zarr":
        zarr_store.require()
    return SUFFIXES[name]


def read(path: str | Path) -> xr.Dataset:
    """Read a netCDF file or a Zarr store into memory; times stay numbers of days.

    Args:
        path: one that ends with .zarr is a store, any other one is a netCDF file.

    Raises:
        InputError: there is no such file, it is not complete, or the package zarr is missing.
    """
    return _library(path).read(path)


def available(
    path: str | Path, look: Callable[[xr.Dataset], None] | None = None
) -> xr.Dataset:  # fmt: skip
    """A netCDF file or a Zarr store: in memory, or, where it is large, read when its values are
    asked for, after it has been read once from end to end.

    Args:
        path: of the file or store.
        look: reads the dataset from end to end; left out, nothing is done with what is read.

    Raises:
        InputError: as `read`.
    """
    library = _library(path)
    with library.opened_to_load(path) as dataset:
        large = is_large(dataset)
        if not large:
            dataset.load()
        require_written(dataset, path)
        read = partial(read_through, purpose=f"reading {Path(path).name}") if look is None else look
        read(dataset)
    return library.left_open(path) if large else dataset


def opened(path: str | Path) -> contextlib.AbstractContextManager[xr.Dataset]:
    """A file or store whose values are read when they are asked for, for a `with` statement.

    Raises:
        InputError: as `read`, on entry.
    """
    return _library(path).opened(path)


def opened_to_load(path: str | Path) -> contextlib.AbstractContextManager[xr.Dataset]:
    """A file or store as `opened`, where also what goes wrong when it is read is a sentence.

    Raises:
        InputError: as `read`.
    """
    return _library(path).opened_to_load(path)


def stamp_of(path: str | Path) -> tuple[tuple[int, ...], ...]:
    """Times, sizes and numbers of the file, or of all files of a store: another stamp where one of
    them was written since; empty where there is nothing.
    """
    place = Path(path)
    parts = sorted(place.rglob("*")) if place.is_dir() else [place] if place.is_file() else []
    about = (part.stat() for part in parts)
    return tuple((status.st_mtime_ns, status.st_size, status.st_ino) for status in about)


def require_written(dataset: xr.Dataset, path: str | Path) -> None:
    """Make sure that reading the declared content of a file or store comes to an end.

    Raises:
        InputError: it declares far more than it can hold.
    """
    netcdf.require_written(dataset, path)


def attributes(path: str | Path) -> dict[str, Any]:
    """The global attributes of a netCDF file or a Zarr store.

    Raises:
        InputError: as `read`.
    """
    return _library(path).attributes(path)


def values_later(dataset: xr.Dataset, path: str | Path) -> xr.Dataset:
    """The dataset of a file without most of its values, which are read from there when they are
    asked for; axes and small variables stay in memory.

    Args:
        dataset: as `read` gives it.
        path: of its file.
    """
    later = {
        name: xr.Variable(v.dims, read_later(_InFile(Path(path), name, v.shape, v.dtype)), v.attrs)
        for name, v in dataset.variables.items()
        if v.nbytes > _SMALL_BYTES and name not in dataset.indexes
    }
    return dataset.assign(later)


@dataclass(frozen=True)
class _InFile:
    """The array of a variable in a file.

    Args:
        path, name: of the file, and of the variable.
        shape, dtype: of the array.
    """

    path: Path
    name: Any
    shape: tuple[int, ...]
    dtype: np.dtype

    def __getitem__(self, key: Any) -> np.ndarray:
        with opened(self.path) as dataset:
            return dataset.variables[self.name][key].values


def groups(path: str | Path) -> list[str]:
    """Names of the groups in a netCDF file, whose variables `read` and `opened` do not give; of a
    Zarr store none are told.

    Raises:
        InputError: as `read`.
    """
    library = _library(path)
    return library.groups(path) if library is netcdf else []


def require_writable(file: str | Path) -> Path:
    """Make sure, before anything is computed, that a file or store may be written.

    Args:
        file: a path that ends with .nc or .zarr; what is there is a file, or a store.

    Raises:
        InputError: it ends with something else, its folder is missing or may not be written, what
            is there is something else, or the package zarr is missing.
    """
    path = Path(arguments.path("the file of a run", file))
    if path.suffix not in SUFFIXES.values():
        raise InputError(
            f"the file of a run is given as '{path}'; accepted: a name that ends with .nc, for "
            "netCDF, or with .zarr, for a Zarr store"
        )
    store = path.suffix == SUFFIXES["zarr"]
    if store:
        zarr_store.require()
    why = ""
    if not path.parent.is_dir():
        why = "its folder does not exist"
    elif not os.access(path.parent, os.W_OK):
        why = "its folder is protected from being written"
    elif path.is_symlink():
        why = "it is a link, and links are not followed"
    elif path.is_dir() and not store:
        why = "it is a folder"
    elif store and path.exists() and not any((path / name).is_file() for name in _OF_STORES):
        why = "it is there already, and is no Zarr store"
    if why:
        raise InputError(f"the file '{path}' cannot be written ({why}); give another one")
    return path


def write(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset; it appears under its name when it is complete, or not at all.

    Raises:
        OSError: it could not be written, with the system's reason.
    """
    return _library(path).write(dataset, path)


@dataclass(frozen=True)
class Verified:
    """A file, verified: whether it holds what was written into it.

    Args:
        path: of the file.
        damage: how it does not, as the end of a sentence that begins with the file; empty where it
            does, or where it has no digests to tell.
        sealed: whether it has digests.
        digest: of its run, as lists of runs hold it; empty where the file has none.
        attributes: of the file; none where they cannot be read.
        other: whether it says that it is of another run than was asked for; nothing else of it was
            looked at then.
    """

    path: Path
    damage: str = ""
    sealed: bool = False
    digest: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    other: bool = False

    @property
    def proven(self) -> bool:
        """Whether every value and attribute is what was written."""
        return self.sealed and not self.damage

    def __str__(self) -> str:
        if self.damage:
            return f"'{self.path}' {self.damage}"
        if self.sealed:
            return f"'{self.path}' holds what was written"
        return f"'{self.path}' is not verified: made before {SEALED_SINCE}"


def verify(path: str | Path, expected: str = "", *, run: str = "") -> Verified:
    """Read a file or store from end to end, and see whether it holds what was written.

    Args:
        path: of a netCDF file or Zarr store, whatever its bytes are.
        expected: digest of its run where that is known from elsewhere, as `Verified.digest`.
        run: digest of what the run is, where only a file of this one is of interest.

    Returns:
        The verified file; nothing is raised for what is wrong with a file.

    Example:
        `files.verify("reports/mine/flow__fp16.nc").damage`
    """
    path = Path(path)
    if not os.path.lexists(path):
        return Verified(path, MISSING)
    try:
        with opened(path) as dataset:
            attributes, sealed = dict(dataset.attrs), digests.is_sealed(dataset)
            if run and attributes.get(RUN) != run:
                return Verified(path, OTHER_RUN, sealed, attributes=attributes, other=True)
            return seen_of(path, dataset, expected)
    except Exception as error:  # the libraries raise anything for damaged bytes
        words = " ".join((str(error) or type(error).__name__).split()).partition(";")[0]
        message = words.removeprefix(f"'{path}' cannot be read ")
        return Verified(
            path, f"cannot be read {message if message != words else f'({words:.200})'}"
        )


def seen_of(path: Path, dataset: xr.Dataset, expected: str = "") -> Verified:
    """Verify a dataset that is read from a file; see `verify`."""
    attributes, sealed = dict(dataset.attrs), digests.is_sealed(dataset)
    try:
        damage = digests.damage(dataset) if sealed else _without_digest(attributes, expected)
    except OSError as error:
        damage = f"cannot be read ({error.strerror})"
    digest = str(attributes.get(digests.OF_RUN, ""))
    if sealed and expected and digest != expected and not damage:
        damage = OTHER_RESULTS
    return Verified(path, damage, sealed, digest, attributes)


def _without_digest(attributes: Mapping[str, Any], expected: str) -> str:
    """Say whether a file without any digest has lost it; empty where none was written then."""
    if expected:
        return "has lost the digests that it was written with"
    try:
        made_by = json.loads(attributes["sciprec_provenance"])["sciprec"].split(".")
        since = [*map(int, SEALED_SINCE.split("."))]
        lost = [*map(int, made_by[: len(since)])] >= since
    except (KeyError, ValueError, TypeError, AttributeError):  # a file of another program
        lost = False
    return "has lost the digests that it was written with" if lost else ""


def system_reason(error: OSError) -> str:
    """The system's message about a file, and what to do, without the end of the sentence."""
    where = "" if error.filename is None else f" ({error.filename})"
    return (
        f"could not write or read a file: {error.strerror or error}{where}; make room there or "
        "correct its permissions"
    )


def _library(path: str | Path) -> Any:
    """The module that knows a path's format."""
    return zarr_store if Path(path).suffix == SUFFIXES["zarr"] else netcdf
