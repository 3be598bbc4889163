"""Reading two arrays block by block, whether they are in memory, in a file, or dask's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sciprec.foundation.course import tell

BLOCK = 1 << 20
"""Values of a block where an array has no chunks: 8 MiB of binary64."""


class PairBlock(NamedTuple):
    """A block of a pair.

    Args:
        start: index of its first element.
        golden, actual: the values, in memory.
        weights: of the values, broadcastable to them.
        scale: standard errors of the golden values, or None.
    """

    start: tuple[int, ...]
    golden: np.ndarray
    actual: np.ndarray
    weights: np.ndarray
    scale: np.ndarray | None


def blocks_of(
    truth: Any, run: Any, weights: np.ndarray, scale: np.ndarray | None, name: str = "coordinates"
) -> Iterator:
    """The blocks of two arrays of one shape, in the order of their places.

    Args:
        truth, run: NumPy arrays or DataArrays; the chunks of dask arrays are kept as blocks, other
            arrays are cut along their first axes.
        weights, scale: broadcastable to that shape; scale may be None.
        name: of the values, for whoever hears how far they are.

    Returns:
        An iterator of Block.
    """
    shape, count = np.shape(truth), 0
    for cut in _cuts(truth, run, shape):
        golden = np.asarray(truth[cut])
        tell(f"comparing {name}", count := count + golden.size, math.prod(shape))
        yield PairBlock(
            tuple(part.start for part in cut),
            golden,
            np.asarray(run[cut]),
            _part(weights, cut),
            None if scale is None else _part(scale, cut),
        )


def cut_up(shape: tuple[int, ...], most: int, *, multiple: int = 1) -> Iterator[tuple[slice, ...]]:
    """Cut an array into contiguous blocks.

    Args:
        shape: of the array.
        most: elements of a block.
        multiple: blocks are multiples of it along the axis that is cut, where they are that large.
    """
    if not shape:
        yield ()
    if not shape or not math.prod(shape):
        return
    axis = next(k for k in range(len(shape)) if math.prod(shape[k + 1 :]) <= most)
    step = max(1, most // math.prod(shape[axis + 1 :]))
    step = step - step % multiple if step >= multiple else step
    rest = tuple(slice(0, n) for n in shape[axis + 1 :])
    for index in np.ndindex(shape[:axis]):
        for begin in range(0, shape[axis], step):
            end = min(begin + step, shape[axis])
            yield (*(slice(i, i + 1) for i in index), slice(begin, end), *rest)


def _cuts(truth: Any, run: Any, shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Places to cut: at the chunks of either, else along the first axes."""
    for array in (run, truth):
        if chunks := getattr(array, "chunks", None):
            ends = [np.cumsum(sizes).tolist() for sizes in chunks]
            slices = ([slice(b, e) for b, e in zip([0, *e[:-1]], e, strict=True)] for e in ends)
            return itertools.product(*slices)
    encoding = getattr(run, "encoding", {})
    stored = encoding.get("chunksizes") or encoding.get("chunks") or (1,)
    return cut_up(shape, BLOCK, multiple=stored[0])


def _part(values: np.ndarray, cut: tuple[slice, ...]) -> np.ndarray:
    """The part of an array that broadcasts to a block."""
    if not np.ndim(values):
        return values
    sizes = zip(cut, values.shape, strict=True)
    return values[tuple(part if size > 1 else slice(0, 1) for part, size in sizes)]
