"""Quantiles and distributions out of the logarithmic histograms of errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from sciprec.results.comparison.pointwise.one_pass import BIN_SHIFT

PERCENTILES = (50, 90, 95, 99)
_INFINITE_BIN = 2047 << (52 - BIN_SHIFT)


def bin_edges(index: int) -> tuple[float, float]:
    """The numbers of a bin: from the first, up to but without the second."""
    if index >= _INFINITE_BIN:
        return math.inf, math.inf
    low, high = np.array([index << BIN_SHIFT, (index + 1) << BIN_SHIFT]).view(np.float64)
    return float(low), float(high)


def rank_of(percent: int, count: int) -> int:
    """The place, from 1, of a percentile among so many sorted values: ceil(percent n / 100)."""
    return max(1, -(-percent * count // 100))


def quantile(histogram: np.ndarray, percent: int, zeros: int, largest: float) -> float:
    """A percentile of non-negative values, the smallest with `percent` % of them at or below it.

    Args:
        histogram: counts by bin.
        percent: 1 to 100.
        zeros: how many of the values are 0.
        largest: the largest value; no percentile is above it.

    Returns:
        The middle of the bin that holds it; NaN of nothing.

    Precision:
        Bins are a 64th of an octave: within 0.8 %, above 2^-1022. Zeros are exact.
    """
    count = int(histogram.sum())
    if not count:
        return math.nan
    rank = rank_of(percent, count)
    if rank <= zeros:
        return 0.0
    low, high = bin_edges(int(np.searchsorted(np.cumsum(histogram), rank)))
    return min(low + (high - low) / 2 if math.isfinite(low) else math.inf, largest)


def bounds_of_quantile(histogram: np.ndarray, percent: int) -> tuple[float, float]:
    """The edges of the bin that holds a percentile."""
    rank = rank_of(percent, int(histogram.sum()))
    return bin_edges(int(np.searchsorted(np.cumsum(histogram), rank)))


def exact_quantile(
    blocks: Callable[[], Iterator[np.ndarray]], histogram: np.ndarray, percent: int
) -> float:
    """A percentile to the last bit, by looking at its bin again: three more passes.

    Each pass counts the next bits of the values that share those known so far, so that memory does
    not depend on how many there are.

    Args:
        blocks: called for each pass, gives the non-negative values.
        histogram: of the same values.
        percent: 1 to 100.
    """
    before = np.concatenate([[0], np.cumsum(histogram)])
    rank = rank_of(percent, int(before[-1]))
    prefix = int(np.searchsorted(before[1:], rank))
    rank -= int(before[prefix])
    shift = BIN_SHIFT
    while shift:
        width = min(16, shift)
        counts = np.zeros(1 << width, np.int64)
        for values in blocks():
            patterns = np.ascontiguousarray(values, np.float64).view(np.int64).ravel()
            inside = patterns[(patterns >> shift) == prefix]
            next_bits = (inside >> (shift - width)) & ((1 << width) - 1)
            counts += np.bincount(next_bits, minlength=counts.size)
        before = np.concatenate([[0], np.cumsum(counts)])
        bin_index = int(np.searchsorted(before[1:], rank))
        rank -= int(before[bin_index])
        prefix, shift = (prefix << width) | bin_index, shift - width
    return float(np.int64(prefix).view(np.float64))


def octaves(histogram: np.ndarray) -> list[tuple[int, int]]:
    """Counts by power of two: (e, values from 2^e up to 2^(e+1)), zeros and infinity left out.

    The first octave holds all that is below the normal range of binary64.
    """
    counts = histogram.reshape(-1, 1 << (52 - BIN_SHIFT)).sum(axis=1)
    counts[0] -= histogram[0]
    return [(int(e) - 1023, int(counts[e])) for e in np.flatnonzero(counts) if e < 2047]
