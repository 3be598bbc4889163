"""Inputs of a comparison: files of several kinds, pairs of files of two folders, and objects of
NumPy and xarray, as datasets.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.foundation.errors import InputError, why_no_file
from sciprec.results.output import files, proven
from sciprec.results.output.dates import in_numbers

ONLY = "values"
"""Name of the variable that an array without a name becomes."""
NAMELESS = "axes without names"

Readable = xr.Dataset | xr.DataArray | np.ndarray | Mapping[str, Any] | str | Path


@contextlib.contextmanager
def opened(source: Readable) -> Iterator[xr.Dataset]:
    """Anything that can be compared as a dataset; files are open meanwhile and read by blocks.

    Args:
        source: Dataset, DataArray, array, arrays by name, or the path of a netCDF, Zarr, .npy or
            .npz file.

    Raises:
        InputError: it cannot be read, holds what is no number, or is a run's file that is damaged.
    """
    if isinstance(source, (str, Path)):
        path = Path(source)
        if path.suffix in (".npy", ".npz"):
            yield _named(numpy_arrays(path))
        else:
            with proven.opened(path) as dataset:
                yield dataset
    else:
        yield as_dataset(source)


def as_dataset(source: xr.Dataset | xr.DataArray | np.ndarray | Mapping[str, Any]) -> xr.Dataset:
    """An object of NumPy or xarray as a dataset, without copying.

    Raises:
        InputError: it holds what is no real number, or is something else.
    """
    if isinstance(source, xr.Dataset):
        return in_numbers(source)
    if isinstance(source, xr.DataArray):
        return in_numbers(source.to_dataset(name=source.name or ONLY))
    if isinstance(source, Mapping):
        return _named({str(name): np.asanyarray(array) for name, array in source.items()})
    if isinstance(source, (np.ndarray, np.generic, list, tuple, int, float)):
        return _named({ONLY: np.asanyarray(source)})
    raise InputError(
        f"a {type(source).__name__} cannot be compared; give an xarray Dataset or DataArray, a "
        "NumPy array, arrays by name, or the path of a netCDF, Zarr, .npy or .npz file"
    )


def with_axes_of(dataset: xr.Dataset, other: xr.Dataset) -> xr.Dataset:
    """Arrays of NumPy, whose axes have no names of their own, with those of the other side.

    A single array without a name is paired with the other side's only variable.
    """
    if not dataset.attrs.get(NAMELESS):
        return dataset
    if list(dataset) == [ONLY] and len(other.data_vars) == 1:
        dataset = dataset.rename({ONLY: next(iter(other.data_vars))})
    return xr.Dataset(
        {
            name: (
                other[name].dims if _alike(variable, other, name) else variable.dims,
                variable.data,
            )
            for name, variable in dataset.variables.items()
        },
        attrs=dataset.attrs,
    )


def _alike(variable: xr.Variable, other: xr.Dataset, name: str) -> bool:
    return name in other and other[name].shape == variable.shape


def require_end(source: Readable, dataset: xr.Dataset) -> None:
    """Make sure that reading the compared variables of a file comes to an end.

    Raises:
        InputError: it declares far more than it can hold.
    """
    if isinstance(source, (str, Path)) and Path(source).suffix not in (".npy", ".npz"):
        files.require_written(dataset, source)


def groups_of(source: Readable) -> list[str]:
    """Groups of a netCDF file whose variables are not among those of its dataset."""
    if not isinstance(source, (str, Path)) or Path(source).suffix in (".npy", ".npz"):
        return []
    return files.groups(source)


def numpy_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file of NumPy's by name; .npy is mapped into memory, of .npz each is read.

    Raises:
        InputError: it cannot be read, or holds Python objects.
    """
    if why := why_no_file(path):
        raise InputError(f"NumPy file '{path}' {why}; give a .npy or .npz file")
    try:
        if path.suffix == ".npy":
            return {ONLY: np.load(path, mmap_mode="r", allow_pickle=False)}
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:  # archives, compression and NumPy's heads have many of their own
        words = getattr(error, "strerror", "") or str(error) or type(error).__name__
        words = words.splitlines()[0]
        raise InputError(
            f"'{path}' cannot be read as a NumPy file ({words:.120}); is it complete, and without "
            "Python objects?"
        ) from None
    for name, member in arrays.items():
        if not isinstance(member, np.ndarray):
            raise InputError(
                f"'{path}' holds '{name}', which is no array; give an .npz file of arrays alone, "
                "as np.savez writes it"
            )
    return arrays


def _named(arrays: Mapping[str, np.ndarray]) -> xr.Dataset:
    """Arrays by name as variables with axes of their own."""
    for name, array in arrays.items():
        if array.dtype.kind not in "fiub" or array.dtype.itemsize > 8:
            raise InputError(
                f"'{name}' has dtype {array.dtype}, which cannot be compared; real numbers of up "
                "to 8 bytes can (convert first, or take real and imaginary parts separately)"
            )
    return xr.Dataset(
        {
            name: ([_axis(f"{name}_axis_{k}", arrays) for k in range(array.ndim)], array)
            for name, array in arrays.items()
        },
        attrs={NAMELESS: True},
    )


def _axis(name: str, used_names: Mapping[str, Any]) -> str:
    """A name of an axis that no variable has."""
    return _axis(f"{name}_", used_names) if name in used_names else name


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
        second = f"'{other}'" if isinstance(other, (str, Path)) else f"a {type(other).__name__}"
        raise InputError(
            f"'{folder}' is a folder, and {second} is none; give two files, or two folders whose "
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
    listed = sorted(names)[:_MOST_NAMED] + ["…"] * (len(names) > _MOST_NAMED)
    return ", ".join(listed) or "none"
