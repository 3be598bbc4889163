"""The error cache of the published MLU370: what fits into it, and when its banks collide.

A word is what one bank delivers in one cycle; consecutive words lie in consecutive banks. Lanes
that ask for the same word are served together, lanes that ask for different words of one bank one
after the other.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from sciprec.foundation.errors import InputError


@dataclass(frozen=True)
class ErrorCache:
    """A banked memory for residuals.

    Args:
        size_bytes: all of it.
        banks: how many.
        word_bytes: width of a bank.

    Source: published description of the Cambricon MLU370: 128 KB, 32 banks of 128 bit.
    """

    size_bytes: int = 128 * 1024
    banks: int = 32
    word_bytes: int = 16

    @property
    def line_bytes(self) -> int:
        """The bytes that all banks deliver in one cycle."""
        return self.banks * self.word_bytes


ERROR_CACHE = ErrorCache()


def conflict_degree(
    stride_bytes: int, lanes: int = 32, element_bytes: int = 4, cache: ErrorCache = ERROR_CACHE
) -> int:
    """Cycles in which all lanes have their element, when lane k asks at k * stride.

    Args:
        stride_bytes: distance from lane to lane, a multiple of the element, or 0.
        lanes: elements asked for together.
        element_bytes: size of an element, a divisor of the word.
        cache: the memory.

    Returns:
        The largest number of different words in one bank. For strides of whole words,
        d = stride / word, that is ceil(lanes gcd(d, banks) / banks); at best
        ceil(different words / banks).

    Raises:
        InputError: numbers that do not fit together.
    """
    _check(stride_bytes, lanes, element_bytes, cache)
    if stride_bytes == 0:
        return 1
    quotient, remainder = divmod(stride_bytes, cache.word_bytes)
    if remainder == 0:
        return math.ceil(lanes * math.gcd(quotient, cache.banks) / cache.banks)
    words = {k * stride_bytes // cache.word_bytes for k in range(lanes)}
    return max(Counter(word % cache.banks for word in words).values())


def conflict_free_pitch(
    columns: int, lanes: int = 32, element_bytes: int = 4, cache: ErrorCache = ERROR_CACHE
) -> int:
    """The smallest row pitch (bytes) at which walking down a column has the fewest collisions.

    Args:
        columns: elements of a row of the tile.
        lanes, element_bytes, cache: as in `conflict_degree`.

    Returns:
        At least columns * element_bytes, a multiple of the element; less than a whole line more.
    """
    first = columns * element_bytes
    candidates = range(first, first + cache.line_bytes, element_bytes)
    return min(candidates, key=lambda p: (conflict_degree(p, lanes, element_bytes, cache), p))


@dataclass(frozen=True)
class TileLayout:
    """The layout of a tile of residuals in the cache.

    Args:
        rows, columns: elements.
        pitch_bytes: from row to row.
        row_degree, column_degree: cycles for lanes along a row, and down a column.
        padded_pitch_bytes: the smallest pitch at which columns collide least.
        padded_column_degree: cycles down a column with it.
        size_bytes, padded_size_bytes: of the tile.
    """

    rows: int
    columns: int
    pitch_bytes: int
    row_degree: int
    column_degree: int
    padded_pitch_bytes: int
    padded_column_degree: int
    size_bytes: int
    padded_size_bytes: int


def tile_layout(
    rows: int,
    columns: int,
    element_bytes: int = 4,
    *,
    lanes: int = 32,
    pitch_bytes: int | None = None,
    cache: ErrorCache = ERROR_CACHE,
) -> TileLayout:
    """The collisions of a tile, and the padding that removes them.

    Args:
        rows, columns: elements of the tile.
        element_bytes: size of an element.
        lanes: elements asked for together.
        pitch_bytes: from row to row; left out, rows follow each other.
        cache: the memory.

    Raises:
        InputError: a pitch below a row, or numbers that do not fit together.
    """
    pitch = columns * element_bytes if pitch_bytes is None else pitch_bytes
    if rows < 1 or columns < 1 or pitch < columns * element_bytes:
        raise InputError(
            f"a tile of {rows} x {columns} elements of {element_bytes} bytes with a pitch of "
            f"{pitch} bytes; accepted: at least one element, and a pitch of "
            f"{max(columns, 1) * element_bytes} or more"
        )
    padded = conflict_free_pitch(columns, lanes, element_bytes, cache)
    return TileLayout(
        rows=rows,
        columns=columns,
        pitch_bytes=pitch,
        row_degree=conflict_degree(element_bytes, lanes, element_bytes, cache),
        column_degree=conflict_degree(pitch, lanes, element_bytes, cache),
        padded_pitch_bytes=padded,
        padded_column_degree=conflict_degree(padded, lanes, element_bytes, cache),
        size_bytes=rows * pitch,
        padded_size_bytes=rows * padded,
    )


def _check(stride_bytes: int, lanes: int, element_bytes: int, cache: ErrorCache) -> None:
    if element_bytes < 1 or cache.word_bytes % element_bytes or lanes < 1:
        raise InputError(
            f"elements of {element_bytes} bytes in {lanes} lanes; accepted: a divisor of "
            f"{cache.word_bytes} bytes, and at least one lane"
        )
    if stride_bytes < 0 or stride_bytes % element_bytes:
        raise InputError(
            f"a stride of {stride_bytes} bytes; accepted: 0 or a multiple of the element's "
            f"{element_bytes} bytes"
        )
