"""All counts and sums of the errors of one variable, block by block, in any order; along the axes
of a block, and in the cells of a map, by a compiled loop.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.precision.compiled.disk_cache import kept
from sciprec.precision.compiled.lowering import helper
from sciprec.precision.elementary.bits import bits, fabs, from_bits, select
from sciprec.results.comparison.pointwise.blocks import cut_up
from sciprec.results.comparison.pointwise.number_format import NumberFormat
from sciprec.results.comparison.pointwise.one_pass import (
    BINS,
    CLASSES,
    HISTOGRAMS,
    ORIGIN,
    PLACES,
    SUMS,
    WIDTH,
    scan,
)
from sciprec.results.comparison.pointwise.pass_state import State

PIECE = 1 << 17
"""Pairs that one call of a compiled loop works on, of a block of any size."""
WORST = 10
LONGEST_PROFILE = 1024
MAP_SHAPE = (36, 72)
_HEAVIEST = 2.0**60
_LONG = 8
"""Bytes of integers that binary64 does not hold all of."""
_loop = helper(nogil=True, error_model="numpy")

_LARGEST = 1.7976931348623157e308


@dataclass(frozen=True, order=True)
class WorstValue:
    """One of the largest errors; they sort by size, then by place.

    Args:
        negative_error: -|error|.
        place: in the flat array.
        golden, actual: the values there.
    """

    negative_error: float
    place: int
    golden: float
    actual: float


class Tally:
    """The errors of one variable, counted and summed.

    Blocks may be added in any order and tallies of parts be merged: the result is the same to the
    last bit, except for the sums of profiles, which are binary64 in the order of adding.

    Args:
        shape: of the whole variable.
        number_format: of the run.
        weighted: whether blocks come with weights.
    """

    def __init__(
        self, shape: tuple[int, ...], number_format: NumberFormat, *, weighted: bool = False
    ) -> None:
        self.shape = shape or (1,)
        self.number_format, self.weighted = number_format, weighted
        self.matrix = np.zeros((len(CLASSES),) * 2, np.int64)
        self.differing = np.zeros(1, np.int64)
        self.largest_bits = np.zeros(len(HISTOGRAMS) + 1, np.int64)
        self.histograms = np.zeros((len(HISTOGRAMS), BINS), np.int64)
        self.magnitudes = np.zeros((2048, 4), np.int64)
        self.places = np.zeros((len(SUMS), PLACES), np.int64)
        self.worst: list[WorstValue] = []
        self.changed_place = math.prod(self.shape)
        self.strides = [max(1, -(-size // LONGEST_PROFILE)) for size in self.shape]
        self.profiles = [
            np.zeros((-(-size // step), 4))
            for size, step in zip(self.shape, self.strides, strict=True)
        ]
        last = (1, *self.shape)[-2:]
        self.cell = tuple(max(1, -(-n // most)) for n, most in zip(last, MAP_SHAPE, strict=True))
        self.map = np.zeros([-(-n // c) for n, c in zip(last, self.cell, strict=True)])

    def add(
        self,
        golden: np.ndarray,
        actual: np.ndarray,
        weights: np.ndarray | None = None,
        start: tuple[int, ...] = (),
    ) -> None:
        """Add a block of pairs.

        Args:
            golden, actual: of one shape, real numbers.
            weights: non-negative, broadcastable to that shape; None where all weigh 1.
            start: index of the block's first element; the beginning when left out.

        Raises:
            InputError: a weight is negative, not finite, or beyond 2^60.
        """
        golden, actual = np.atleast_1d(golden), np.atleast_1d(actual)
        start = start or (0,) * golden.ndim
        if weights is not None:
            if not (np.all(weights >= 0.0) and np.all(weights <= _HEAVIEST)):
                raise InputError(
                    "weights of a comparison are numbers from 0 to 2^60; give areas in units "
                    "that keep them there"
                )
            weights = np.broadcast_to(weights, golden.shape)
        for piece in cut_up(golden.shape, PIECE):
            corner = tuple(s + p.start for s, p in zip(start, piece, strict=True))
            heavy = None if weights is None else _plain(weights[piece])
            golden_values, actual_values = _apart(golden[piece], actual[piece])
            self._add_piece(golden_values, actual_values, heavy, corner)

    def merge(self, other: Tally) -> None:
        """Add the counts of another tally of the same variable over other blocks."""
        for profile, theirs in (
            (self.matrix, other.matrix),
            (self.differing, other.differing),
            (self.histograms, other.histograms),
        ):
            profile += theirs
        np.maximum(self.largest_bits, other.largest_bits, out=self.largest_bits)
        most = np.maximum(self.magnitudes[:, 2], other.magnitudes[:, 2])
        self.magnitudes += other.magnitudes
        self.magnitudes[:, 2] = most
        self.places = _settled(self.places) + _settled(other.places)
        self.worst = sorted(self.worst + other.worst)[:WORST]
        self.changed_place = min(self.changed_place, other.changed_place)
        for profile, theirs in zip(self.profiles, other.profiles, strict=True):
            profile[:, 0] = np.maximum(profile[:, 0], theirs[:, 0])
            with np.errstate(over="ignore", invalid="ignore"):
                profile[:, 1:] += theirs[:, 1:]
        np.maximum(self.map, other.map, out=self.map)

    @property
    def finite(self) -> int:
        """Pairs of finite values."""
        return int(self.matrix[:4, :4].sum())

    @property
    def exact(self) -> int:
        """Finite pairs without any error."""
        return int(self.magnitudes[:, 1].sum())

    @property
    def largest(self) -> tuple[float, ...]:
        """The largest of each of HISTOGRAMS, and the largest |truth|."""
        return tuple(self.largest_bits.view(np.float64).tolist())

    def sum(self, name: str) -> Fraction:
        """One of SUMS, exactly."""
        if name == "w" and not self.weighted:
            return Fraction(self.finite)
        places = self.places[SUMS.index(name)]
        total = sum(int(places[j]) << (WIDTH * int(j)) for j in np.flatnonzero(places))
        return Fraction(total, 1 << (WIDTH * ORIGIN))

    def _add_piece(self, golden, actual, weights, corner) -> None:
        """Add a contiguous block of few elements."""
        full = len(self.worst) == WORST
        threshold = -self.worst[-1].negative_error if full else 0.0
        state = State(
            self.matrix, self.differing, np.full(1, -1), self.largest_bits, self.histograms,
            self.magnitudes, self.places, np.full(WORST, -1.0), np.zeros(WORST, np.int64),
        )  # fmt: skip
        heavy = np.empty(0) if weights is None else weights.ravel()
        scan(golden.ravel(), actual.ravel(), heavy, self.number_format.limits, threshold, state)
        worst = [
            WorstValue(-float(size), self._place(place, golden.shape, corner),
                  float(golden.flat[place]), float(actual.flat[place]))
            for size, place in zip(state.worst, state.worst_place, strict=True)
            if size > 0.0
        ]  # fmt: skip
        if worst:
            self.worst = sorted(self.worst + worst)[:WORST]
        if state.changed_place[0] >= 0:
            place = self._place(state.changed_place[0], golden.shape, corner)
            self.changed_place = min(self.changed_place, place)
        self._add_profiles(golden, actual, weights, corner)

    def _place(self, place, shape, corner) -> int:
        """The place in the flat variable of a place in a block."""
        index = [c + i for c, i in zip(corner, np.unravel_index(place, shape), strict=True)]
        return int(np.ravel_multi_index(index, self.shape))

    def _add_profiles(self, golden, actual, weights, corner) -> None:
        """Add the block's rows and columns to the profiles and to the map."""
        *leading, length = golden.shape
        flat = (-1, length)
        heavy = np.empty((0, 0)) if weights is None else weights.reshape(flat)
        width = self.cell[1]
        first = corner[-1] // width
        phase = corner[-1] - first * width
        blocks = (phase + length - 1) // width + 1
        rows, columns = np.zeros((golden.size // length, 4)), np.zeros((4, length))
        cells = np.zeros((rows.shape[0], blocks))
        profile(
            golden.reshape(flat), actual.reshape(flat), heavy, rows, columns, cells, width, phase
        )
        self._merge_profile(golden.ndim - 1, corner[-1], columns.T)
        rows = rows.reshape(*leading, 4)
        for axis in range(len(leading)):
            rest = tuple(k for k in range(len(leading)) if k != axis)
            largest = rows[..., :1].max(axis=rest)
            with np.errstate(over="ignore", invalid="ignore"):
                sums = rows[..., 1:].sum(axis=rest)
            along = np.concatenate([largest, sums], axis=-1)
            self._merge_profile(axis, corner[axis], along)
        height = leading[-1] if leading else 1
        cells = cells.reshape(-1, height, blocks).max(axis=0)
        begin = corner[-2] if leading else 0
        row, edges = _groups(begin, height, self.cell[0])
        part = self.map[row : row + edges.size, first : first + blocks]
        np.maximum(part, np.maximum.reduceat(cells, edges, axis=0), out=part)

    def _merge_profile(self, axis, start, along) -> None:
        """Add numbers along an axis, (n, 4), to its profile."""
        first, edges = _groups(start, along.shape[0], self.strides[axis])
        part = self.profiles[axis][first : first + edges.size]
        np.maximum(part[:, 0], np.maximum.reduceat(along[:, 0], edges), out=part[:, 0])
        with np.errstate(over="ignore", invalid="ignore"):
            part[:, 1:] += np.add.reduceat(along[:, 1:], edges, axis=0)


def _groups(start: int, count: int, step: int) -> tuple[int, np.ndarray]:
    """The first group of `step` places that so many places from `start` on touch, and where among
    these places each group begins.
    """
    first = start // step
    edges = np.arange(first, (start + count - 1) // step + 1) * step - start
    return first, np.maximum(edges, 0)


def _apart(golden: np.ndarray, actual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Values in binary64; integers that differ and become one number there are neighbours, so that
    their error is not below the true one.
    """
    golden_values, actual_values = _plain(golden), _plain(actual)
    if all(a.dtype.kind in "iu" and a.dtype.itemsize == _LONG for a in (golden, actual)):
        hidden = (golden_values == actual_values) & (golden != actual)
        if hidden.any():
            beyond = np.nextafter(golden_values, np.where(actual > golden, np.inf, -np.inf))
            actual_values = np.where(hidden, beyond, actual_values)
    return golden_values, actual_values


def _plain(block: np.ndarray) -> np.ndarray:
    """The block as contiguous binary64 that may be written: one kind of array, compiled once."""
    plain = np.ascontiguousarray(block, np.float64)
    return plain if plain.flags.writeable else plain.copy()


def _settled(places: np.ndarray) -> np.ndarray:
    """The sums with all places but the last in [0, 2^WIDTH)."""
    settled = places.copy()
    for j in range(PLACES - 1):
        above = settled[:, j] >> WIDTH
        settled[:, j] -= above << WIDTH
        settled[:, j + 1] += above
    return settled


@kept(nogil=True, error_model="numpy")
def profile(golden, actual, weights, rows, columns, cells, width, phase):
    """Errors of a block, row by row and column by column, over its finite pairs.

    Args:
        golden, actual: contiguous (n, m).
        weights: (n, m), or (0, 0) where all weigh 1.
        rows, columns: added to, (n, 4) and (4, m): largest |e|, sum w e e, sum w e, sum w.
        cells: largest |e| by row and cell of columns, (n, blocks), added to.
        width: columns in a cell.
        phase: columns of the first cell that lie before this block.
    """
    n, m = golden.shape
    error, weight = np.empty(m), np.empty(m)
    for r in range(n):
        for i in range(m):
            good = (fabs(golden[r, i]) <= _LARGEST) & (fabs(actual[r, i]) <= _LARGEST)
            difference = select(good, actual[r, i] - golden[r, i], 0.0)
            difference = select(difference > _LARGEST, _LARGEST, difference)
            error[i] = select(difference < -_LARGEST, -_LARGEST, difference)
            weight[i] = select(good, 1.0, 0.0)
        if weights.size:
            for i in range(m):
                weight[i] *= weights[r, i]
        for i in range(m):
            columns[1, i] += weight[i] * (error[i] * error[i])
        for i in range(m):
            columns[2, i] += weight[i] * error[i]
        for i in range(m):
            columns[3, i] += weight[i]
        for i in range(m):
            size = fabs(error[i])
            columns[0, i] = select(size > columns[0, i], size, columns[0, i])
        _add_row_sums(error, weight, rows[r])
        rows[r, 0] = max(rows[r, 0], _add_cells(error, cells[r], width, phase))


@_loop
def _add_row_sums(error, weight, row):
    """Add the sums of one row, from left to right."""
    square, bias, total = 0.0, 0.0, 0.0
    for i in range(error.size):
        square += weight[i] * (error[i] * error[i])
        bias += weight[i] * error[i]
        total += weight[i]
    row[1] += square
    row[2] += bias
    row[3] += total


@_loop
def _add_cells(error, cells, width, phase):
    """The largest errors of one row by cell; returns the largest of all."""
    most = 0.0
    for c in range(cells.size):
        largest = 0
        for i in range(max(c * width - phase, 0), min((c + 1) * width - phase, error.size)):
            pattern = bits(fabs(error[i]))
            if pattern > largest:
                largest = pattern
        cells[c] = max(cells[c], from_bits(largest))
        most = max(most, from_bits(largest))
    return most
