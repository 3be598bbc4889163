"""Numbers with their error in parts between kernels: as numbers of several copies of a model.

The first copy holds tested values t, the next ones t less more and more parts of the error, the
last one exact values: t, t - p1, t - p1 - p2, ..., t - e. Whatever the model does with its numbers
between kernels is done in every copy, in binary64, and differences of neighbours are again parts,
which add up to the difference between the first copy and the last. A kernel gets the differences as
companions of tested values.

In formats of more than 25 bits the copies are further away than their parts, by a power of two, so
that differences of binary64 numbers show as much of a part as they do in 25 bits.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from sciprec.foundation.alike import tuple_like
from sciprec.foundation.errors import InputError
from sciprec.instruments.tracing.numbers import CompanionArray, CompanionDtype, CompanionValue
from sciprec.precision.compiled.disk_cache import kept
from sciprec.tools.trace.needed_memory import Recent

_NUMBERS = (float, np.floating)
PLAIN_BITS = 25
"""The most bits of a format whose parts are differences of copies as they are."""
_BLOCK = 128
"""Numbers with companions that are in the first cache at a time."""


@dataclass(frozen=True)
class Ladder:
    """The form in which copies hold numbers with companions.

    Args:
        technique: "parts", "wider": the same where some are computed wider, or "twin": tested and
            exact values alone.
        lanes: how many numbers are beside a value.
        stretch: how many times as large differences of copies are as the parts; a power of two.
    """

    technique: str
    lanes: int
    stretch: float = 1.0

    @property
    def copies(self) -> int:
        """The number of copies that hold them."""
        return 2 if self.technique == "twin" else self.lanes + 1

    def join(self, arrays: Sequence[np.ndarray], numbers: np.ndarray) -> None:
        """Write numbers (size, 1 + lanes) of flat arrays of the copies."""
        if self.technique == "twin":
            _join_pairs(arrays[0], arrays[1], 1.0 / self.stretch, numbers)
        else:
            _join(arrays[0], tuple(arrays[1:]), 1.0 / self.stretch, numbers)

    def take_apart(self, numbers: np.ndarray, arrays: Sequence[np.ndarray]) -> None:
        """Write flat arrays of the copies of numbers (size, 1 + lanes)."""
        if self.technique == "twin":
            _take_pairs_apart(numbers, self.stretch, arrays[0], arrays[1])
        else:
            _take_apart(numbers, self.stretch, arrays[0], tuple(arrays[1:]))

    def difference(self, copy: np.ndarray, other: np.ndarray) -> np.ndarray:
        """The part by which numbers of one copy are larger than those of another."""
        return (copy - other) / self.stretch


def stretch(bits: int) -> float:
    """Return the factor by which copies are further apart than their parts.

    Args:
        bits: of the narrowest format.
    """
    return 2.0 ** max(0, bits - PLAIN_BITS)


@kept(nogil=True, error_model="numpy")
def _join_pairs(tested, other, scale, numbers):
    """Exact values, as pairs, of copies that are as far apart as tested and exact ones, or more."""
    for i in range(tested.size):
        numbers[i, 0] = tested[i]
        if scale == 1.0:
            numbers[i, 1], numbers[i, 2] = other[i], 0.0
            continue
        error = (tested[i] - other[i]) * scale
        total = tested[i] - error
        if np.isfinite(total):
            numbers[i, 1], numbers[i, 2] = total, (tested[i] - total) - error
        else:
            numbers[i, 1], numbers[i, 2] = tested[i], 0.0


@kept(nogil=True, error_model="numpy")
def _take_pairs_apart(numbers, stretch, tested, other):
    """Undo `_join_pairs`; where tested values are not finite nothing is known of exact ones."""
    for i in range(tested.size):
        value, high, low = numbers[i, 0], numbers[i, 1], numbers[i, 2]
        tested[i] = value
        if not np.isfinite(value):
            other[i] = value
        elif stretch == 1.0:
            other[i] = high + low
        else:
            other[i] = value - stretch * ((value - high) - low)


@kept(nogil=True, error_model="numpy")
def _join(first, copies, scale, numbers):
    """Differences of neighbours, scaled; see the module."""
    count, size = len(copies), first.size
    for begin in range(0, size, _BLOCK):
        end = min(begin + _BLOCK, size)
        last = copies[count - 1]
        for i in range(begin, end):
            numbers[i, 0] = first[i]
            numbers[i, 1] = (first[i] - last[i]) * scale
            numbers[i, 2] = (first[i] - copies[0][i]) * scale
        for k in range(count - 2):
            above, below = copies[k], copies[k + 1]
            for i in range(begin, end):
                numbers[i, 3 + k] = (above[i] - below[i]) * scale


@kept(nogil=True, error_model="numpy")
def _take_apart(numbers, stretch, first, copies):
    """Undo `_join`; where tested values are not finite nothing is known of exact ones, and all
    copies hold these.
    """
    count, size = len(copies), first.size
    for begin in range(0, size, _BLOCK):
        end = min(begin + _BLOCK, size)
        for i in range(begin, end):
            first[i] = numbers[i, 0]
        for k in range(count):
            out = copies[k]
            for i in range(begin, end):
                tested = numbers[i, 0]
                if not np.isfinite(tested):
                    out[i] = tested
                elif k == count - 1:
                    out[i] = tested - stretch * numbers[i, 1]
                elif k == 0:
                    out[i] = tested - stretch * numbers[i, 2]
                else:
                    out[i] = copies[k - 1][i] - stretch * numbers[i, 2 + k]


class _Held:
    """An array of all copies, and its numbers with companions."""

    def __init__(self, arrays: Sequence[np.ndarray], ladder: Ladder) -> None:
        self.held, self._ladder = tuple(arrays), ladder
        first = arrays[0]
        self.where = _where(first)
        dtypes = {h.dtype for h in arrays[1:]}
        self.kept_dtype = None if dtypes == {np.dtype(np.float64)} else arrays[1].dtype
        narrow, twin = first.dtype == np.float32, ladder.technique == "twin"
        numbers = np.empty((*first.shape, 1 + ladder.lanes))
        self.taken = CompanionArray(numbers, CompanionDtype(ladder.lanes, narrow, twin))
        self._numbers = numbers.reshape(-1, 1 + ladder.lanes)
        self._are_flat = all(h.flags.c_contiguous for h in arrays)
        self._flat = [h.reshape(-1) for h in arrays] if self._are_flat else []
        self._before: np.ndarray | None = None

    @property
    def is_rounded(self) -> bool:
        """Whether the kernel that was given it last has rounded an element."""
        return self._before is not None

    def join(self, rounding, lane: int | None, moves: Moves | None = None) -> None:
        """The numbers of this moment, rounded as a kernel does that loads them."""
        flat = self._flat if self._are_flat else [h.ravel() for h in self.held]
        if moves is not None and all(np.array_equal(h, flat[0]) for h in flat[1:]):
            flat = [moves.moved(flat[0])] * len(flat)
        self._ladder.join(flat, self._numbers)
        self._before = None if rounding is None else self._rounded(rounding, lane)

    def _rounded(self, rounding, lane: int | None) -> np.ndarray | None:
        """Round the elements; how they are then, where one has changed."""
        numbers = self._numbers
        before = numbers[:, 0].copy()
        rounded = rounding(before)
        if np.array_equal(before, rounded, equal_nan=True):
            return None
        numbers[:, 0] = rounded
        if self._ladder.technique != "twin":
            with np.errstate(invalid="ignore"):
                local = np.where(rounded == before, 0.0, rounded - before)
            numbers[:, 1] += local
            if lane is not None:
                numbers[:, 1 + lane] += local
        numbers[:, 1:][numbers[:, 1:] == 0.0] = -0.0  # which a store never leaves
        return numbers.copy()

    def put(self) -> None:
        """Write what the kernel has stored into the arrays of the copies."""
        if self._before is None and self._are_flat:
            self._ladder.take_apart(self._numbers, self._flat)
            return
        copies = [np.empty(h.size, h.dtype) for h in self.held]
        self._ladder.take_apart(self._numbers, copies)
        stored: Any = True
        if self._before is not None:
            changed = self._before.view(np.int64) != self._numbers.view(np.int64)
            stored = changed.any(axis=-1).reshape(self.held[0].shape)
        for array, values in zip(self.held, copies, strict=True):
            np.copyto(array, values.reshape(array.shape), where=stored)


class Moves(Protocol):
    """Moves numbers that are an input of the model, the same everywhere."""

    def moved(self, values: np.ndarray) -> np.ndarray:
        """The numbers, perturbed."""
        ...


class Crossings:
    """The way of arguments and results between copies of a model and its traced kernels.

    Args:
        ladder: how the copies hold numbers.
    """

    def __init__(self, ladder: Ladder) -> None:
        self.ladder = ladder
        self._tuples = Recent()
        self._sharing: dict[tuple, set[tuple]] = {}

    def of(self, kernel: str, rounding) -> Crossing:
        """Return the crossing of one call.

        Args:
            kernel: its name, for messages.
            rounding: rounds an array to the kernel's storage format; None where it is in it.
        """
        return Crossing(kernel, self.ladder, rounding, self._tuples, self._sharing)


class Crossing:
    """The arguments and results of one call, see `Crossings`."""

    def __init__(self, kernel: str, ladder: Ladder, rounding, tuples: dict, sharing: dict) -> None:
        self.kernel, self.ladder, self._rounding = kernel, ladder, rounding
        self._tuples, self._sharing = tuples, sharing
        self._joined_arrays: dict[tuple, _Held] = {}
        self._rounds, self.has_rounded = True, False
        self._moves: Moves | None = None

    def taken(
        self, values: Sequence[Any], lane: int | None, rounds: bool = True,
        moves: Moves | None = None,
    ) -> Any:  # fmt: skip
        """An argument of the traced kernel; then `has_rounded` says whether an element of an array
        was rounded.

        Args:
            values: what each copy gives.
            lane: of the part to which the rounding of its elements goes; None: to none.
            rounds: whether elements of arrays are rounded.
            moves: perturbs arrays that are the same in all copies.
        """
        self._rounds, self._moves, self.has_rounded = rounds, moves, False
        return self._companion(values, lane)

    def _companion(self, copies: Sequence[Any], lane: int | None) -> Any:
        first = copies[0]
        if isinstance(first, tuple):
            return self._tuple(copies, lane)
        if isinstance(first, np.ndarray) and first.dtype.kind == "f":
            self._require(all(h.shape == first.shape for h in copies))
            return self._joined(_Held(copies, self.ladder), lane)
        if isinstance(first, _NUMBERS):
            return self._number([float(h) for h in copies])
        if isinstance(first, np.ndarray):
            self._require(all(np.array_equal(h, first) for h in copies[1:]))
            return first
        self._require(all(type(h) is type(first) and h == first for h in copies[1:]))
        return first

    def _require(self, is_equal: bool) -> None:
        if not is_equal:
            raise InputError(
                f"kernel '{self.kernel}' is given whole numbers or shapes that depend on rounded "
                "numbers; in a trace the path between kernels has to be the same in exact "
                "arithmetic: decide inside a kernel, or shorten the run"
            )

    def _tuple(self, copies: Sequence[tuple], lane: int | None) -> tuple:
        """A tuple; of one that was given before the arrays are known."""
        first = copies[0]
        refs, companion, arrays, _ = self._tuples.get(id(first), ((), None, [], []))
        is_known = len(refs) == len(copies) and all(map(operator.is_, refs, copies))
        if is_known and all([self._joined(array, lane) is array.taken for array in arrays]):
            return companion
        self._require(all(type(h) is type(first) and len(h) == len(first) for h in copies))
        leaves = list(zip(*map(_leaves, copies), strict=True))
        if not all(isinstance(items[0], np.ndarray) for items in leaves):
            companion = (self._companion(items, lane) for items in zip(*copies, strict=True))
            return tuple_like(first, companion)
        floats = [items for items in leaves if items[0].dtype.kind == "f"]
        plain = [items for items in leaves if items[0].dtype.kind != "f"]
        for items in leaves:
            self._require(all(h.shape == items[0].shape for h in items))
        for items in plain:
            self._require(all(np.array_equal(h, items[0]) for h in items[1:]))
        arrays, views = _together(floats, self.ladder, self._joined_arrays)
        for array in arrays:
            self._joined(array, lane)
        companion = _with_views(first, views | {array.where: array.taken for array in arrays})
        self._tuples[id(first)] = tuple(copies), companion, arrays, plain
        return companion

    def _joined(self, array: _Held, lane: int | None) -> CompanionArray:
        existing = self._joined_arrays.get(array.where)
        if existing is None:
            existing = self._joined_arrays[array.where] = array
            array.join(self._rounding if self._rounds else None, lane, self._moves)
            self.has_rounded |= array.is_rounded
        return existing.taken

    def _number(self, copies: list[float]) -> float | CompanionValue:
        """A number; one that all copies share is rounded by the kernel as any argument."""
        if all(h == copies[0] for h in copies) or copies[0] != copies[0]:
            return copies[0]
        numbers = np.empty((1, 1 + self.ladder.lanes))
        self.ladder.join([np.array([h]) for h in copies], numbers)
        twin = self.ladder.technique == "twin"
        return CompanionValue(numbers[0], CompanionDtype(self.ladder.lanes, False, twin))

    def put_back(self, values: Sequence[Any]) -> None:
        """Write what the kernel has written into an argument back into the copies."""
        first = values[0]
        if isinstance(first, tuple):
            recent = self._tuples.get(id(first))
            if recent is not None:
                for array in recent[2]:
                    self._write_back(array)
            for items in zip(*values, strict=True) if recent is None else recent[3]:
                self.put_back(items)
        elif isinstance(first, np.ndarray) and first.dtype.kind == "f":
            self._write_back(self._joined_arrays[_where(first)])
        elif isinstance(first, np.ndarray):
            for other in values[1:]:
                other[...] = first

    def _write_back(self, array: _Held) -> None:
        if array.kept_dtype is not None:
            raise InputError(
                f"kernel '{self.kernel}' writes an array of {array.kept_dtype} that the model has "
                "made, which does not hold errors beside numbers; in a trace make arrays without "
                "a dtype: np.zeros(n)"
            )
        places = tuple(self._joined_arrays)
        if places not in self._sharing:
            arrays = [item.held[0] for item in self._joined_arrays.values()]
            self._sharing[places] = {
                _where(x) for first, other in combinations(arrays, 2)
                if np.may_share_memory(first, other) and np.shares_memory(first, other)
                for x in (first, other)
            }  # fmt: skip
        if array.where in self._sharing[places]:
            raise InputError(
                f"kernel '{self.kernel}' writes an array that shares memory with another one that "
                "it is given; in a trace give arrays of their own: x.copy()"
            )
        array.put()

    def given_back(self, result: Any, like: Any) -> list[Any]:
        """Return the result of a kernel for every copy.

        Args:
            result: of the traced kernel.
            like: what the kernel returns in an ordinary run.
        """
        count = self.ladder.copies
        if isinstance(like, tuple):
            pairs = zip(result, like, strict=True)
            return list(zip(*(self.given_back(r, k) for r, k in pairs), strict=True))
        if isinstance(like, np.ndarray) and like.dtype.kind == "f":
            return self._copies_of(result, like.dtype)
        if isinstance(like, float):
            return [float(copies[0]) for copies in self._copies_of(np.array([result]), np.float64)]
        if isinstance(result, np.ndarray):
            return [result.copy() for _ in range(count)]
        return [result] * count

    def _copies_of(self, numbers: np.ndarray, dtype) -> list[np.ndarray]:
        shape = numbers.shape[:-1]
        copies = [np.empty(shape, dtype), *(np.empty(shape) for _ in range(self.ladder.copies - 1))]
        flat = numbers.reshape(-1, 1 + self.ladder.lanes)
        self.ladder.take_apart(flat, [h.reshape(-1) for h in copies])
        return copies


def _together(
    floats: Sequence[Sequence[np.ndarray]], ladder: Ladder, existing: Mapping[tuple, _Held]
) -> tuple[list[_Held], dict[tuple, CompanionArray]]:
    """Arrays, those that share memory as one, and views of these as numbers with companions; those
    that the call has been given before, in another tuple, are the same again.
    """

    def holder(items: Sequence[np.ndarray]) -> _Held:
        return existing.get(_where(items[0])) or _Held(items, ladder)

    ordered = sorted(floats, key=lambda items: _span(items[0]))
    arrays: list[_Held] = []
    views: dict[tuple, CompanionArray] = {}
    while ordered:
        some, end = [ordered.pop(0)], 0
        end = _span(some[0][0])[1]
        while ordered and _span(ordered[0][0])[0] < end:
            some.append(ordered.pop(0))
            end = max(end, _span(some[-1][0])[1])
        alike = {_where(items[0]): items for items in some}
        flat = all(h.flags.c_contiguous for items in some for h in items)
        if len(alike) == 1 or not flat:  # what shares memory otherwise is refused if it is written
            arrays += map(holder, alike.values())
            continue
        first, itemsize = some[0], some[0][0].itemsize
        begin = _span(first[0])[0]
        size = (end - begin) // itemsize
        joined = holder([as_strided(h, (size,), (h.itemsize,)) for h in first])
        arrays.append(joined)
        for where, items in alike.items():
            offset, x = (where[0] - begin) // itemsize, items[0]
            part = joined.taken.numbers[offset : offset + x.size].reshape(*x.shape, -1)
            views[where] = CompanionArray(part, joined.taken.dtype)
    return arrays, views


def _span(array: np.ndarray) -> tuple[int, int]:
    """The addresses of its first byte and of the one after its last."""
    return np.lib.array_utils.byte_bounds(array)


def _with_views(items: tuple, views: dict[tuple, CompanionArray]) -> tuple:
    """A tuple with numbers with companions in the place of its arrays."""
    viewed = (
        _with_views(item, views) if isinstance(item, tuple)
        else views[_where(item)] if item.dtype.kind == "f" else item
        for item in items
    )  # fmt: skip
    return tuple_like(items, viewed)


def _where(array: np.ndarray) -> tuple:
    """Return a key that tells the elements of an array from those of others."""
    return array.__array_interface__["data"][0], array.shape, array.strides


def _leaves(items: tuple) -> list[Any]:
    """Return the items of a tuple and of tuples inside it."""
    return [x for item in items for x in (_leaves(item) if isinstance(item, tuple) else [item])]
