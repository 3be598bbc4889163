"""Zarr stores: folders written under another name and renamed; needs the package zarr."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError
from sciprec.foundation.whole import replacing
from sciprec.results.output.holdable import REFUSALS
from sciprec.results.output.netcdf import require_room, without_encoding
from sciprec.results.output.pieces import TIME, is_large, pieces_of_time

FORMAT = 2
"""Version of the format: texts of fixed length are not in version 3."""


def require() -> None:
    """Make sure that the package is there.

    Raises:
        InputError: it is missing.
    """
    if importlib.util.find_spec("zarr") is None:
        raise InputError(
            "Zarr stores were asked for, and the package zarr is not installed; install it with "
            "`pip install 'zarr>=3'`, or use netCDF files"
        )


def write(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset; the store appears under its name when it is complete, or not at all.

    Raises:
        InputError: the package is missing.
        OSError: it could not be written, with the system's reason.
    """
    require()
    _say_once()
    path = Path(path)
    with replacing(path) as part:
        _write_whole(without_encoding(dataset), part, _encoding(dataset))
    return path


@cache
def _say_once() -> None:
    """Keep asyncio from logging a traceback for each of the chunks that could not be written beside
    the one whose error is raised.
    """
    lost = "Task exception was never retrieved"

    def is_news(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        return not (message.startswith(lost) and "zarr" in message)

    logging.getLogger("asyncio").addFilter(is_news)


def _encoding(dataset: xr.Dataset) -> dict[str, dict]:
    """The encoding of each variable: chunks of numbers have a checksum behind what is compressed,
    and numbers of a chunk that gets lost are read as NaN.
    """
    from numcodecs import CRC32C, Blosc

    encoding: dict[str, dict] = {}
    for name, variable in dataset.variables.items():
        kind = variable.dtype.kind
        encoding[str(name)] = {"_FillValue": np.nan if kind == "f" else None}
        if kind in "biufSU":
            encoding[str(name)] |= {"filters": [Blosc(), CRC32C()], "compressors": None}
    return encoding


def _write_whole(dataset: xr.Dataset, path: Path, encoding: dict[str, dict]) -> None:
    """Write a dataset; a large one in pieces along time."""
    if not is_large(dataset):
        dataset.to_zarr(path, mode="w", zarr_format=FORMAT, consolidated=True, encoding=encoding)
        return
    first, *rest = pieces_of_time(dataset)
    begun = dataset.isel({TIME: first})
    begun.to_zarr(path, mode="w", zarr_format=FORMAT, consolidated=True, encoding=encoding)
    still = [name for name, variable in dataset.variables.items() if TIME not in variable.dims]
    for piece in rest:
        dataset.isel({TIME: piece}).drop_vars(still).to_zarr(
            path, append_dim=TIME, consolidated=True
        )


def left_open(path: str | Path) -> xr.Dataset:
    """A store whose values are read when they are asked for, without end."""
    return xr.open_dataset(path, engine="zarr", decode_times=False, cache=False)


def read(path: str | Path) -> xr.Dataset:
    """Read a store into memory; times stay numbers of days.

    Raises:
        InputError: there is no such store, it is not complete, or the package is missing.
    """
    with opened(path) as dataset:
        require_room(dataset, path)
        return dataset.load()


def attributes(path: str | Path) -> dict[str, Any]:
    """The global attributes of a store.

    Raises:
        InputError: as `read`.
    """
    with opened(path) as dataset:
        return dict(dataset.attrs)


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[xr.Dataset]:
    """A store whose values are read when they are asked for; times stay numbers of days.

    Raises:
        InputError: as `read`.
    """
    require()
    if not Path(path).is_dir():
        raise InputError(
            f"Zarr store '{path}' does not exist; give a folder that `sciprec run --format zarr` "
            "wrote, or any Zarr store of format 2 or 3"
        )
    try:
        with xr.open_dataset(path, engine="zarr", decode_times=False) as dataset:
            yield dataset
    except InputError:
        raise
    except (OSError, MemoryError, SystemError, *REFUSALS) as error:  # texts of damaged lengths
        message = getattr(error, "strerror", "") or str(error) or type(error).__name__
        message = message.splitlines()[0]
        raise InputError(
            f"'{path}' cannot be read as a Zarr store ({message:.120}); "
            "is it complete, and a Zarr store?"
        ) from None


opened_to_load = opened
"""Open a store to load it; whatever goes wrong meanwhile is said in a sentence."""
