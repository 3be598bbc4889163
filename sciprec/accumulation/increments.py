"""Increments of a long accumulation: random multiples of a power of two, with their exact sums.

increment = unit * (smallest + floor(words * span / 2^32)),  words random in [0, 2^32)

All of it is integers: an increment is exact in binary64, and so is the sum of all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.streams import MASK32, philox4x32, seed_words

EXACT_BITS = 53
SPAN_BITS = 31  # words of 32 bits times spans of 31 fit 63
LEAST_UNITS = 2**10  # the smallest increment in units: finer than a thousandth
STREAM = 0x53756D73  # keeps these words apart from those of other models with the same seed

_philox = njit(inline="always")(philox4x32)


@dataclass(frozen=True)
class Increments:
    """A stream of increments for each member, uniform in [smallest, largest] up to the unit.

    Args:
        unit: a power of two.
        smallest, span, start: in units; span is largest - smallest + 1.
        seed: of the random words.
        reach: what no sum passes, but for ten of its standard deviations.
    """

    unit: float
    smallest: int
    span: int
    start: int
    seed: int
    reach: float

    @property
    def largest(self) -> float:
        """The largest increment."""
        return (self.smallest + self.span - 1) * self.unit

    def fill(self, first: int, sums: np.ndarray, out: np.ndarray) -> None:
        """Draw a block, and add it to the exact sums.

        Args:
            first: the number of the update of row 0.
            sums: int64 (members,), in units; changed in place.
            out: float64 (updates, members); written.
        """
        key_0, key_1 = seed_words(self.seed)
        _fill(first, key_0, key_1, self.smallest, self.span, self.unit, sums, out)


def increments(smallest: float, largest: float, start: float, updates: int, seed: int):
    """The stream whose unit is the finest that keeps all sums exact in binary64.

    Args:
        smallest, largest: of one increment, 0 < smallest <= largest.
        start: what the sum starts from, >= 0.
        updates: how many increments are summed.
        seed: integer in [0, 2^64).

    Returns:
        Increments; smallest, largest and start are rounded to the unit.

    Raises:
        InputError: numbers so far apart that no unit serves.
    """
    total = start + updates * largest
    exponent = max(math.frexp(total)[1] - EXACT_BITS + 1, math.frexp(largest)[1] - SPAN_BITS)
    unit = math.ldexp(1.0, exponent)
    low, high = round(smallest / unit), round(largest / unit)
    if low < LEAST_UNITS:
        raise InputError(
            f"increments from {smallest:g} to {largest:g} that sum up to {total:g} have no exact "
            f"sum in binary64: the smallest must be at least {LEAST_UNITS * unit:g}; give fewer "
            "updates or increments that are closer together"
        )
    spread = 10.0 * (largest - smallest) * math.sqrt(updates / 12.0)
    reach = min(total, start + updates * (smallest + largest) / 2.0 + spread)
    return Increments(unit, low, high - low + 1, round(start / unit), seed, reach)


@kept(nogil=True)
def _fill(first, key_0, key_1, smallest, span, unit, sums, out):
    """Updates 4 c to 4 c + 3 of a member take the four words of encryption c."""
    updates, members = out.shape
    words = np.empty((4, members), np.int64)
    for counter in range(first // 4, (first + updates + 3) // 4):
        for i in range(members):
            encrypted = _philox(counter & MASK32, counter >> 32, i, STREAM, key_0, key_1)
            words[0, i], words[1, i], words[2, i], words[3, i] = encrypted
        row = 4 * counter - first
        for k in range(max(0, -row), min(4, updates - row)):
            for i in range(members):
                units = smallest + ((words[k, i] * span) >> 32)
                sums[i] += units
                out[row + k, i] = units * unit
