"""NetCDF files: written under another name and renamed, read with a sentence for what is wrong."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError, why_no_file
from sciprec.foundation.memory import bytes_of_memory
from sciprec.foundation.whole import flush, replacing, temporary_folder, write_bytes
from sciprec.results.output import pieces
from sciprec.results.output.dates import in_numbers
from sciprec.results.output.holdable import REFUSALS, refused_piece
from sciprec.results.output.pieces import PIECE_BYTES, TIME, is_large, pieces_of_time

_COMPRESSED = {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True}
_KEPT_BYTES = 2**22
_MOST_COMPRESSED = 1000
"""Bytes of values that a byte of a file holds, at most; deflate reaches 1032 of zeros."""
_MEMORY = Path("/dev/shm")
"""The folder where Linux keeps files in memory."""
_RAGGED = np.array("ragged", object)
_LIBRARY = threading.RLock()  # the netCDF and HDF5 libraries serve one thread at a time


def write(dataset: xr.Dataset, path: str | Path) -> Path:
    """Write a dataset; the file appears under its name when it is complete, or not at all.

    The netCDF library ends the process where it cannot close a file. Where the system keeps files
    in memory, as Linux does, it is therefore given a disk only for what is large.

    Raises:
        InputError: a netCDF file cannot hold a name, an attribute or the values of a variable.
        OSError: it could not be written, with the system's reason, such as a full disk.
    """
    path, plain = Path(path), without_encoding(dataset)
    with _LIBRARY:
        content = None if plain.nbytes > pieces.WHOLE_BYTES else _formed_in_memory(plain)
        if content is None:
            _write_to_disk(plain, path)
        else:
            write_bytes(path, content)
    return path


def _write_to_disk(dataset: xr.Dataset, path: Path) -> None:
    """Let the library write a file itself. All is flushed before it is closed; where the disk fails
    only then, the library reads what it has freed, to list what is open, and the process ends.
    """
    with replacing(path) as part:
        try:
            with _let_go():
                _write_whole(dataset, part)
        except (OSError, *REFUSALS) as error:
            of_disk = isinstance(error, (OSError, RuntimeError))
            if of_disk:  # the library says only "HDF error"
                _try_to_write(part, dataset.nbytes)
            refused = refused_piece(dataset, _write_into_memory)
            if refused is not None:
                raise refused from None
            if of_disk:  # it is gone by now
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(path)) from error
            raise


def _formed_in_memory(dataset: xr.Dataset) -> bytes | None:
    """The bytes of a file that the library writes where the system keeps files in memory; None
    where there is no such place, or the library fails there. (What the library itself calls a file
    in memory loses the order of variables, and cannot be written into again.)
    """
    if not os.access(_MEMORY, os.W_OK):
        return None
    with contextlib.suppress(OSError, *REFUSALS), temporary_folder("netcdf", _MEMORY) as folder:
        with _let_go():
            _write_whole(dataset, folder / "file.nc")
        return (folder / "file.nc").read_bytes()
    return None


def without_encoding(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset with numbers in place of dates, and without its variables' memory of the file
    that they were read from.
    """
    result = in_numbers(dataset).copy()
    for variable in result.variables.values():
        variable.encoding = {}
    result.encoding = {}
    return result


def _encoding(dataset: xr.Dataset) -> dict[str, dict]:
    """The encoding of each variable: what lies in pieces has a checksum for each, and numbers of a
    piece that gets lost are read as NaN.
    """
    encoding: dict[str, dict] = {}
    for name, variable in dataset.variables.items():
        encoding[str(name)] = {"_FillValue": None}
        if name not in dataset.coords and not str(name).endswith("_bnds") and variable.ndim:
            fill = {"_FillValue": np.nan if variable.dtype.kind == "f" else None}
            encoding[str(name)] = _COMPRESSED | fill
    return encoding


def _write_whole(dataset: xr.Dataset, path: Path) -> None:
    """Write a dataset; a large one in pieces along time, whose axis then has no fixed length. It is
    on the disk before the library closes it: file systems of networks, and some of this machine,
    tell of a full disk only when all is to be there.
    """
    import netCDF4

    large, how = is_large(dataset), {"encoding": _encoding(dataset)}
    along = {str(name): v for name, v in dataset.variables.items() if TIME in v.dims}
    with _little_kept(), netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        if not large:
            _dump(dataset, file, how)
        else:
            _dump(dataset.isel({TIME: slice(0, 0)}), file, {**how, "unlimited_dims": [TIME]})
            file.set_auto_maskandscale(False)
            for piece in pieces_of_time(dataset):
                for name, variable in along.items():
                    at = tuple(piece if axis == TIME else slice(None) for axis in variable.dims)
                    file.variables[name][at] = variable[at].values
        file.sync()
        if os.name == "posix":
            flush(path)


def _write_into_memory(dataset: xr.Dataset) -> None:
    """Write a dataset as into a file, where nothing but what it consists of can be in the way."""
    import netCDF4

    with _let_go(), netCDF4.Dataset("memory", "w", format="NETCDF4", memory=1) as file:
        _dump(dataset, file, {"encoding": _encoding(dataset)})


def _dump(dataset: xr.Dataset, file: Any, how: dict[str, Any]) -> None:
    computed = dataset.compute() if dataset.chunks else dataset
    computed.dump_to_store(xr.backends.NetCDF4DataStore(file), **how)


@contextlib.contextmanager
def _let_go() -> Iterator[None]:
    """A file that could not be finished is given up at once. What has gone wrong still holds it,
    and the library would close it when Python collects that: in another thread's call, too.
    """
    try:
        yield
    except BaseException as error:
        wrong: BaseException | None = error
        while wrong is not None:
            traceback.clear_frames(wrong.__traceback__)
            wrong = wrong.__context__
        gc.collect()
        raise


@contextlib.contextmanager
def _little_kept() -> Iterator[None]:
    """Files that are opened meanwhile keep little of each variable in memory; the library itself
    would keep up to 64 MB, of each of them.
    """
    import netCDF4

    size, *rest = netCDF4.get_chunk_cache()
    netCDF4.set_chunk_cache(min(size, _KEPT_BYTES), *rest)
    try:
        yield
    finally:
        netCDF4.set_chunk_cache(size, *rest)


def _try_to_write(path: Path, size: int) -> None:
    """Write more bytes behind those of a file that could not be finished, and remove it: the system
    tells why they cannot be written.

    Args:
        path: of the file, whose bytes still fill the disk.
        size: of all values; the library's own tables need some room, too.

    Raises:
        OSError: they cannot.
    """
    block = b"\1" * 1_000_000
    try:
        with open(path, "ab") as stream:
            for _ in range(1 + size // len(block)):
                stream.write(block)
            os.fsync(stream.fileno())
    except OSError as error:
        error.filename = str(path.parent)
        raise
    finally:
        path.unlink(missing_ok=True)


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
    with opened(path) as dataset, _readable(path, _BROKEN):
        require_room(dataset, path)
        return dataset.load()


@contextlib.contextmanager
def opened_to_load(path: str | Path) -> Iterator[xr.Dataset]:
    """A netCDF file as `opened`, where also what goes wrong when it is read is said in a sentence.

    Raises:
        InputError: there is no such file, or it is not a complete netCDF file.
    """
    with _little_kept(), opened(path) as dataset, _readable(path, _BROKEN):
        yield dataset


def left_open(path: str | Path) -> xr.Dataset:
    """A netCDF file that is open as long as its dataset is there.

    Raises:
        InputError: it is not a complete netCDF file.
    """
    with _LIBRARY, _little_kept(), _readable(path, _BROKEN):
        return _dataset(Path(path), cache=False)


def require_room(dataset: xr.Dataset, path: str | Path) -> None:
    """Make sure that this machine's memory could hold what a file declares, however small it is.

    Raises:
        InputError: it could not.
    """
    memory = bytes_of_memory()
    if memory is not None and dataset.nbytes > memory:
        raise InputError(
            f"'{path}' declares {dataset.nbytes / 1e9:,.0f} GB of values, and this machine has "
            f"{memory / 1e9:,.0f} GB of memory; read parts of it with xarray.open_dataset"
        )


def require_written(dataset: xr.Dataset, path: str | Path) -> None:
    """Make sure that reading what a file declares comes to an end: it fits into memory, or a fair
    part of it was written.

    Args:
        dataset: what is read of the file.
        path: of the file, or of the folder of a store.

    Raises:
        InputError: the file is far too small for what it declares.
    """
    memory = bytes_of_memory() or pieces.WHOLE_BYTES
    if dataset.nbytes <= memory:
        return
    parts = Path(path).rglob("*") if os.path.isdir(path) else (Path(path),)
    size = sum(part.stat().st_size for part in parts)
    if dataset.nbytes > _MOST_COMPRESSED * size:
        raise InputError(
            f"'{path}' declares {dataset.nbytes / 1e9:,.0f} GB of values in a file of "
            f"{size / 1e9:,.3g} GB, so that most of them were never written; take the part that "
            "was, with --select AXIS=WHAT or xarray.open_dataset"
        )


def attributes(path: str | Path) -> dict[str, Any]:
    """The global attributes of a netCDF file.

    Raises:
        InputError: there is no such file, or it is not a complete netCDF file.
    """
    with opened(path) as dataset, _readable(path, _BROKEN):
        return dict(dataset.attrs)


def groups(path: str | Path) -> list[str]:
    """Names of the groups in a file, which `opened` does not look into.

    Raises:
        InputError: it is not a complete netCDF file.
    """
    import netCDF4

    with _LIBRARY, _readable(path, _BROKEN), netCDF4.Dataset(path) as file:
        return list(file.groups)


@contextlib.contextmanager
def opened(path: str | Path) -> Iterator[xr.Dataset]:
    """A netCDF file whose values are read when they are asked for; times stay numbers of days.

    Raises:
        InputError: there is no such file, or it is not a complete netCDF file.
    """
    path = Path(path)
    if why := why_no_file(path):
        raise InputError(
            f"netCDF file '{path}' {why}; give a file that `sciprec run` wrote, or any netCDF file"
        )
    with _LIBRARY:
        with _readable(path, _BROKEN):
            dataset = _dataset(path)
        with dataset, _readable(path, (OSError, RuntimeError)):
            yield dataset


def _dataset(path: Path, **how: Any) -> xr.Dataset:
    """The dataset of a file, read when it is asked for. A ragged variable, each of whose values is
    an array of its own, has values that are no numbers: xarray would take it for an array of these.
    """
    import netCDF4

    file = xr.backends.NetCDF4DataStore.open(path, mode="r")
    try:
        ragged = {
            name: variable for name, variable in file.ds.variables.items()
            if isinstance(variable.datatype, netCDF4.VLType) and variable.dtype is not str
        }  # fmt: skip
        nothing = {name: (v.dimensions, np.broadcast_to(_RAGGED, v.shape))
                   for name, v in ragged.items()}  # fmt: skip
        dataset = xr.open_dataset(file, decode_times=False, drop_variables=list(ragged), **how)
        for name, variable in dataset.variables.items():
            for key in ("scale_factor", "add_offset"):
                if isinstance(variable.encoding.get(key), str):
                    raise TypeError(f"{key} of '{name}' is text")
    except BaseException:
        file.close()
        raise
    return dataset.assign(nothing) if nothing else dataset


_BROKEN = (OSError, IndexError, MemoryError, *REFUSALS)
"""Exceptions that the libraries raise for a file that is cut off, no netCDF file, has a coordinate
that is too large, or a variable with an attribute that cannot be followed, such as a scale that is
text.
"""


@contextlib.contextmanager
def _readable(path: str | Path, errors: tuple[type[Exception], ...]) -> Iterator[None]:
    """Turn the libraries' errors into a sentence."""
    try:
        yield
    except InputError:
        raise
    except errors as error:
        reason = _disk_says(path) or getattr(error, "strerror", "") or str(error)
        reason = (reason or type(error).__name__).splitlines()[0]
        raise InputError(
            f"'{path}' cannot be read as netCDF ({reason:.120}); is it complete, and a netCDF file?"
        ) from None


def _disk_says(path: str | Path) -> str:
    """The system's reason where the bytes of a file cannot be read, of which the library says only
    "HDF error"; empty where they can.
    """
    try:
        with open(path, "rb") as stream:
            while stream.read(PIECE_BYTES):
                pass
    except OSError as error:
        return error.strerror or ""
    return ""
