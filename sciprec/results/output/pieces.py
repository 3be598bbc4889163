"""Datasets that are larger than they should be in memory: read when asked for, written in pieces.

What a long run stores, and what files hold, may be larger than the memory that a run may take.
Such variables know where their values are, and what goes over all of them does so in pieces along
time, or along their first axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from sciprec.foundation.course import tell

WHOLE_BYTES = 2**26
"""Bytes of a dataset that is held in memory and written at once."""
PIECE_BYTES = 2**24
"""Bytes of a piece."""
TIME = "time"


class _Elsewhere(BackendArray):
    """An array for xarray that is read when it is indexed.

    Args:
        values: has shape and dtype, and is indexed by integers and slices.
    """

    def __init__(self, values: Any) -> None:
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray:
        basic = indexing.IndexingSupport.BASIC
        read = self.values.__getitem__
        return indexing.explicit_indexing_adapter(key, self.shape, basic, read)


def read_later(values: Any) -> Any:
    """The data of a variable whose array is read when it is asked for."""
    return indexing.LazilyIndexedArray(_Elsewhere(values))


def is_large(dataset: xr.Dataset) -> bool:
    """Whether a dataset is written in pieces along time, and stays in its file when it is read."""
    return _bytes_along_time(dataset) > WHOLE_BYTES


def pieces_of_time(dataset: xr.Dataset) -> Iterator[slice]:
    """The times of a dataset, some after another."""
    return _cuts(dataset.sizes[TIME], _bytes_along_time(dataset))


def _bytes_along_time(dataset: xr.Dataset) -> int:
    """The bytes that grow with the number of stored times."""
    return sum(v.nbytes for v in dataset.variables.values() if TIME in v.dims)


def pieces_of(variable: xr.Variable, work: str = "reading values") -> Iterator[np.ndarray]:
    """The values of a variable, some after another along its first axis.

    Args:
        variable: of a dataset.
        work: what is done with them, for whoever hears how far it is.
    """
    if not variable.ndim:
        yield variable.values
        return
    rows = variable.sizes[variable.dims[0]]
    for cut in _cuts(rows, variable.nbytes):
        yield variable[cut].values
        tell(work, cut.stop, rows)


def read_through(dataset: xr.Dataset, purpose: str) -> None:
    """Read all values of a dataset that is in no memory once, in pieces.

    Args:
        dataset: as it is read from a file.
        purpose: of the reading, as in `pieces_of`.
    """
    if is_large(dataset):
        for variable in dataset.variables.values():
            for _ in pieces_of(variable, purpose):
                pass


def times_of(variable: xr.Variable, group: int) -> Iterator[np.ndarray]:
    """The values of a variable along time, which becomes the first axis: all at once, or those of a
    large one some after another.

    Args:
        variable: with an axis of time.
        group: times that stay together.
    """
    count, axis = variable.sizes[TIME], variable.dims.index(TIME)
    all_at_once = variable.nbytes <= WHOLE_BYTES
    for cut in [slice(0, count)] if all_at_once else _cuts(count, variable.nbytes, group):
        yield np.moveaxis(variable.isel({TIME: cut}).values, axis, 0)


def _cuts(count: int, size: int, group: int = 1) -> Iterator[slice]:
    """Cut a number of rows of some bytes in all into pieces of whole groups of rows."""
    groups = max(1, math.floor(PIECE_BYTES * count / max(size, 1)) // group)
    step = groups * group
    return (slice(start, min(start + step, count)) for start in range(0, count, step))
