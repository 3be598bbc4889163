"""The random bits of stochastic rounding, from their documented addresses.

A key has two words. The lower one is a hash of (seed, call number) at the entry of a kernel, where
the call numbers of streams are a multiple of the golden ratio further; of an
iteration it is the hash of (key * odd number of the loop's site + iteration * golden ratio); of an
operation the product with the odd number of its site. The upper one is a hash of (seed, call
number), too, and of an iteration a product with the exclusive or of both words at the loop's site.
The draw of an operation is its lower word and, below it, the first 20 bits of the upper one, the
last of them set.

Source: Wellons (2018), "Prospecting for hash functions", lowbias32.
"""

from __future__ import annotations

import numpy as np

GOLDEN = 0x9E3779B9
_UPPER = 0x85EBCA6B
_ENTRY, _UPPER_ENTRY = 0x51ED2700, 0x2545F491
_MASK = 0xFFFFFFFF
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B


def lowbias32(word: int) -> int:
    """The mixing function."""
    word &= _MASK
    word = ((word ^ (word >> 16)) * _FIRST) & _MASK
    word = ((word ^ (word >> 15)) * _SECOND) & _MASK
    return word ^ (word >> 16)


def _site(index: int) -> int:
    return lowbias32(index * GOLDEN + 1) | 1


def entry(seed: int, call: int, stream: int = -1) -> int:
    """The key at the entry of a kernel, of a call of the stream of some number, or a plain one."""
    spread = call + (stream + 1) * GOLDEN
    lower = lowbias32(lowbias32((seed ^ lowbias32(abs(seed) >> 32)) + _ENTRY) + spread * GOLDEN)
    return lowbias32(lowbias32((seed ^ seed >> 32) + _UPPER_ENTRY) + call * _UPPER) << 32 | lower


def at(key: int, number: int) -> int:
    """The key of what has an odd number of its own."""
    return key >> 32 << 32 | (key * number & _MASK)


def descend(key: int, number) -> int:
    """The key of an iteration or call."""
    upper, lower = key >> 32, key & _MASK
    return ((upper ^ lower) * _UPPER & _MASK) << 32 | lowbias32(lower + int(number) * GOLDEN)


def draw(key: int, salt: int = 0) -> int:
    """The 52-bit integer of the operation with a key, or of a further draw of it."""
    upper, word = key >> 32, key & _MASK
    if salt:
        word = (word ^ (word >> 16)) * (lowbias32(salt) | 1) & _MASK
    return word << 20 | upper >> 12 | 1


def draws(sites, operation: str, iterations: int, seed: int = 0, call: int = 0) -> np.ndarray:
    """The 52-bit integers of one operation of a kernel of one loop `for i in range(iterations)`.

    Args:
        sites: the operations of the lifted kernel, in order, each with its `operation`.
        operation: the one operation of that name; the loop is the one site named "loop".
        iterations: how many.
        seed, call: of the lifted kernel, and how often it was called before.
    """
    (loop,) = (n for n, s in enumerate(sites) if s.operation == "loop")
    (own,) = (n for n, s in enumerate(sites) if s.operation == operation)
    start = at(entry(seed, call), _site(loop))
    made = [draw(at(descend(start, n), _site(own))) for n in range(iterations)]
    return np.array(made, dtype=np.int64)
