"""Sketches: a few sums by which the distance of two arrays is known that are never seen together.

Every element is added, with a sign, to one sum of each of a few tables; sums and signs are drawn by
its place. The sums of a difference are the differences of sums, and the mean over tables of the sum
of their squares estimates its squared l2 norm without bias, the norm with a relative standard
deviation of at most sqrt(2 / SIZE) / 2. Several tables, so that two large elements that meet in one
of them do not in the others.

Source: Charikar, Chen and Farach-Colton (2002); Kane and Nelson (2014).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from sciprec.precision.compiled.disk_cache import kept
from sciprec.tools.monitor.summaries import quotient

TABLES, SUMS, BAND_SIZE = 4, 64, 16
SIZE = TABLES * SUMS
WITHIN = math.sqrt(2.0 / SIZE) / 2.0
"""Sums of a sketch; norms are known within this share of them, 4.4 %, one standard deviation; of a
sketch of a part of an array, with one table: within 18 %.
"""


@lru_cache(maxsize=64)
def _drawn(count: int) -> tuple[np.ndarray, np.ndarray]:
    """The sum of each element in each table, (TABLES, count), and its sign there: by splitmix64
    (Steele, Lea and Flood 2014).
    """
    z = np.arange(1, TABLES * count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    z = z.reshape(count, TABLES).T
    places = (z % np.uint64(SUMS)).astype(np.int64) + SUMS * np.arange(TABLES)[:, None]
    signs = 1.0 - 2.0 * (z >> np.uint64(63)).astype(np.float64)
    return np.ascontiguousarray(places), np.ascontiguousarray(signs)


def sketch(values: np.ndarray) -> np.ndarray:
    """The sums of an array: (SIZE,)."""
    x = np.asarray(values, np.float64).ravel()
    places, signs = _drawn(x.size)
    sums = np.zeros(SIZE)
    for table in range(TABLES):
        _add(x, signs[table], places[table], sums)
    return sums


def sketch_by_band(values: np.ndarray, bands: np.ndarray, count: int) -> np.ndarray:
    """Sums of the parts of an array: (count, BAND_SIZE).

    Args:
        values: (n,).
        bands: (n,), the part of each element, from 0 to count - 1.
    """
    places, signs = _drawn(values.size)
    sums = np.zeros((count, BAND_SIZE))
    _add_by_band(np.asarray(values, np.float64), signs[0], places[0], bands, sums)
    return sums


@kept(nogil=True, error_model="numpy")
def _add(x, signs, places, sums):
    for i in range(x.size):
        sums[places[i]] += signs[i] * x[i]


@kept(nogil=True, error_model="numpy")
def _add_by_band(x, signs, places, bands, sums):
    for i in range(x.size):
        sums[bands[i], places[i] % sums.shape[1]] += signs[i] * x[i]


def sketched_error(tested: np.ndarray, truth: np.ndarray, norm: np.ndarray) -> np.ndarray:
    """Estimates of |tested - truth| / |truth|; infinite where values are not finite in one run
    only, NaN where they are in neither.

    Args:
        tested, truth: (..., SIZE), sketches.
        norm: (...), of the truth.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.sqrt(np.sum((tested - truth) ** 2, axis=-1) / TABLES)
    pairs = zip(error.ravel().tolist(), np.asarray(norm).ravel().tolist(), strict=True)
    quotients = [quotient(e, n) if np.isfinite(e) and np.isfinite(n) else np.nan for e, n in pairs]
    finite_sides = [np.isfinite(side).all(axis=-1) for side in (tested, truth)]
    return np.where(
        finite_sides[0] != finite_sides[1], np.inf, np.array(quotients).reshape(error.shape)
    )
