"""The random bits of stochastic rounding, from their documented addresses.

A key is a hash of (seed, call number) at the entry of a kernel. The key of an iteration is the hash
of (key * odd number of the loop's site + iteration * golden ratio). The draw of an operation is the
upper 24 bits of (key of its iteration * odd number of its own site).

Source: Wellons (2018), "Prospecting for hash functions", lowbias32.
"""

from __future__ import annotations

import numpy as np

GOLDEN = 0x9E3779B9
_ENTRY = 0x51ED2700
_MASK = 0xFFFFFFFF
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B


def lowbias32(word: int) -> int:
    """The mixing function."""
    word &= _MASK
    word = ((word ^ (word >> 16)) * _FIRST) & _MASK
    word = ((word ^ (word >> 15)) * _SECOND) & _MASK
    return word ^ (word >> 16)


def _mixed(word: np.ndarray) -> np.ndarray:
    """lowbias32 of 32-bit words in unsigned 64-bit integers."""
    word = word & np.uint64(_MASK)
    word = ((word ^ (word >> np.uint64(16))) * np.uint64(_FIRST)) & np.uint64(_MASK)
    word = ((word ^ (word >> np.uint64(15))) * np.uint64(_SECOND)) & np.uint64(_MASK)
    return word ^ (word >> np.uint64(16))


def _site(index: int) -> int:
    return lowbias32(index * GOLDEN + 1) | 1


def draws(sites, operation: str, iterations: int, seed: int = 0, call: int = 0) -> np.ndarray:
    """The 24-bit integers of one operation of a kernel of one loop `for i in range(iterations)`.

    Args:
        sites: the operations of the lifted kernel, in order, each with its `operation`.
        operation: the one operation of that name; the loop is the one site named "loop".
        iterations: how many.
        seed, call: of the lifted kernel, and how often it was called before.
    """
    (loop,) = (n for n, s in enumerate(sites) if s.operation == "loop")
    (own,) = (n for n, s in enumerate(sites) if s.operation == operation)
    entry = lowbias32(lowbias32(seed + _ENTRY) + call * GOLDEN)
    counter = np.arange(iterations, dtype=np.uint64)
    start = (entry * _site(loop)) & _MASK
    key = _mixed(np.uint64(start) + counter * np.uint64(GOLDEN))
    word = (key * np.uint64(_site(own))) & np.uint64(_MASK)
    return (word >> np.uint64(8)).astype(np.int64)
