"""The files of runs in either format: netCDF files, or Zarr stores, told apart by their suffix."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.checks.arguments import word
from sciprec.output import netcdf, zarr_store

NETCDF = "netcdf"
SUFFIXES = {NETCDF: ".nc", "zarr": ".zarr"}
"""Formats and the endings of their files."""


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


def available(path: str | Path) -> xr.Dataset:
    """A netCDF file or a Zarr store: in memory, or, where it is large, read when its values are
    asked for, after it has been read once from end to end.

    Raises:
        InputError: as `read`.
    """
    return _library(path).available(path)


def opened(path: str | Path) -> contextlib.AbstractContextManager[xr.Dataset]:
    """A file or store whose values are read when they are asked for, for a `with` statement.

    Raises:
        InputError: as `read`, on entry.
    """
    return _library(path).opened(path)


def attributes(path: str | Path) -> dict[str, Any]:
    """The global attributes of a netCDF file or a Zarr store.

    Raises:
        InputError: as `read`.
    """
    return _library(path).attributes(path)


def groups(path: str | Path) -> list[str]:
    """Names of the groups in a netCDF file, whose variables `read` and `opened` do not give; of a
    Zarr store none are told.

    Raises:
        InputError: as `read`.
    """
    library = _library(path)
    return library.groups(path) if library is netcdf else []


def write(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset; it appears under its name when it is complete, or not at all.

    Raises:
        OSError: it could not be written, with the system's reason.
    """
    return _library(path).write(dataset, path)


def system_reason(error: OSError) -> str:
    """What the operating system says of a file, and what to do, without the end of the sentence."""
    where = "" if error.filename is None else f" ({error.filename})"
    return (
        f"could not write or read a file: {error.strerror or error}{where}; make room there or "
        "correct its permissions"
    )


def _library(path: str | Path) -> Any:
    """The module that knows a path's format."""
    return zarr_store if Path(path).suffix == SUFFIXES["zarr"] else netcdf
