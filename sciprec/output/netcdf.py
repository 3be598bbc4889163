"""NetCDF files: written under another name and renamed, read with a sentence for what is wrong."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.errors import InputError, why_no_file

COMPRESSION_LEVEL = 4
_LIBRARY = threading.RLock()  # the netCDF and HDF5 libraries serve one thread at a time


def write(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset; the file appears under its name when it is complete, or not at all."""
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    encoding: dict[str, dict] = {}
    for name, variable in dataset.variables.items():
        encoding[str(name)] = {"_FillValue": None}
        if name not in dataset.coords and not str(name).endswith("_bnds") and variable.ndim:
            encoding[str(name)] = {"zlib": True, "complevel": COMPRESSION_LEVEL, "shuffle": True}
    try:
        with _LIBRARY:
            dataset.to_netcdf(part, engine="netcdf4", format="NETCDF4", encoding=encoding)
            os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
    return path


def finish_writing() -> None:
    """Wait until no thread is in the middle of a file, and let none begin another.

    For a process that is about to end while other threads still compute.
    """
    _LIBRARY.acquire()


def read(path: str | Path) -> xr.Dataset:
    """Read a netCDF file into memory; times stay numbers of days.

    Raises:
        InputError: there is no such file, or it is not a complete netCDF file.
    """
    with _opened(path) as dataset:
        return dataset.load()


def attributes(path: str | Path) -> dict[str, Any]:
    """The global attributes of a netCDF file.

    Raises:
        InputError: there is no such file, or it is not a complete netCDF file.
    """
    with _opened(path) as dataset:
        return dict(dataset.attrs)


@contextlib.contextmanager
def _opened(path: str | Path) -> Iterator[xr.Dataset]:
    path = Path(path)
    if why := why_no_file(path):
        raise InputError(
            f"netCDF file '{path}' {why}; give a file that `sciprec run` wrote, or any netCDF file"
        )
    try:
        with _LIBRARY, xr.open_dataset(path, engine="netcdf4", decode_times=False) as dataset:
            yield dataset
    except (OSError, ValueError, RuntimeError, AttributeError, KeyError, IndexError) as error:
        raise InputError(
            f"'{path}' cannot be read as netCDF ({str(error).splitlines()[0]:.120}); "
            "is it complete, and a netCDF file?"
        ) from None
