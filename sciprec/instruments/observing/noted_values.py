"""Functions that a kernel with notes calls: its variables' and lines' values, pass by pass.

One recording of the process is under way at a time. Values are copied, and nothing else is done
with them here: a lifted kernel may run in another rounding mode of the processor.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numba import njit
from numba.core import types

from sciprec.instruments.observing.watch import reached
from sciprec.precision.compiled.lowering import by_type

MOST_PLACES = 64
"""How many variables and lines can be noted."""
MOST_VALUES = 1 << 26
"""Numbers of a recording: half a gigabyte."""
_ROOM = 4096
_STEP, _EVERY, _DUE, _OUTSIDE, _FIRST, _LENGTH, _LINE, _FILLED = range(8)
"""Words of the table: the step; of passes each so many is noted; whether the present step is, and
has not ended; whether it is outside of loops; the first step of the present loop, how many passes
it has, and its line; then for each place how many values lie in its room, and for each place the
number of axes of its array and their lengths.
"""
_MOST_AXES = 7
_SHAPES = _FILLED + MOST_PLACES
_TABLE = np.zeros(_SHAPES + MOST_PLACES * (1 + _MOST_AXES), np.int64)
_VALUES = np.zeros(MOST_PLACES * _ROOM)
_table, _values = reached(_TABLE), reached(_VALUES)


@dataclass
class Recording:
    """The values noted in a run.

    Attributes:
        steps: numbers of the steps that were noted: passes of the kernel's outermost loops from 1
            on; what is before, between and after loops is a step, too.
        passes: which of them are passes of a loop.
        chunks: (place, step) -> values in the order in which they were given.
        shapes: place -> the shape of the array whose content they are; of others none.
        count: how many values there are; beyond `MOST_VALUES` none is kept.
    """

    steps: list[int] = field(default_factory=list)
    passes: list[bool] = field(default_factory=list)
    chunks: dict[tuple[int, int], list[np.ndarray]] = field(default_factory=dict)
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    count: int = 0

    def values(self, place: int, step: int) -> np.ndarray:
        """The values of a place in a step; empty where it gave none."""
        chunks = self.chunks.get((place, step), [])
        return np.concatenate(chunks) if chunks else np.empty(0)

    def begin(self) -> None:
        """A kernel begins; what an earlier one of this recording noted is forgotten."""
        for store in (self.steps, self.passes, self.chunks, self.shapes):
            store.clear()
        self.count = 0
        _TABLE[_FILLED:] = 0

    def take(self, place: int) -> None:
        """Keep what lies in the room of a place, which is empty then."""
        number = int(_TABLE[_FILLED + place])
        _TABLE[_FILLED + place] = 0
        self.count += number
        if number and self.count <= MOST_VALUES:
            key = place, int(_TABLE[_STEP])
            first, shape = place * _ROOM, _SHAPES + place * (1 + _MOST_AXES)
            self.chunks.setdefault(key, []).append(_VALUES[first : first + number].copy())
            if axes := int(_TABLE[shape]):
                self.shapes[place] = tuple(_TABLE[shape + 1 : shape + 1 + axes].tolist())

    def end_step(self) -> None:
        """Keep what lies in all rooms."""
        self.steps.append(int(_TABLE[_STEP]))
        self.passes.append(not _TABLE[_OUTSIDE])
        for place in np.flatnonzero(_TABLE[_FILLED:_SHAPES]).tolist():
            self.take(place)


_under_way: list[Recording] = []
_BEGUN, _FULL, _ENDED = range(3)


@ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)
def _told(event, place):
    """Take an event that a kernel tells the recording."""
    if _under_way:
        recording = _under_way[-1]
        if event == _BEGUN:
            recording.begin()
        elif event == _FULL:
            recording.take(place)
        else:
            recording.end_step()


@contextmanager
def recording(every: int):
    """Record what kernels with notes give that run inside; gives the Recording.

    Args:
        every: of passes of outermost loops each so many is noted.
    """
    _TABLE[:] = 0
    _TABLE[_EVERY] = every
    record = Recording()
    _under_way.append(record)
    try:
        yield record
    finally:
        _under_way.remove(record)


def passes() -> tuple[int, int, int] | None:
    """The line of the outermost loop that a recorded kernel is in, how many of its passes are done,
    and how many there are; None outside of loops over ranges.
    """
    step, first, length, line = _TABLE[[_STEP, _FIRST, _LENGTH, _LINE]].tolist()
    return (line, max(step - first, 0), length) if length else None


# ---- calls in a kernel -------------------------------------------------------------------------


@njit
def begun():
    """The kernel begins."""
    table = _table()
    table[_STEP] = 0
    table[_LENGTH] = 0
    table[_DUE] = 1
    table[_OUTSIDE] = 1
    _told(_BEGUN, 0)


@njit
def loop(length, line):
    """An outermost loop over a range begins with the next step."""
    table = _table()
    table[_FIRST] = table[_STEP] + 1
    table[_LENGTH] = length
    table[_LINE] = line


@njit
def is_noted():
    """Whether the present step is, and has not ended."""
    return _table()[_DUE] != 0


@njit
def next_step(outside):
    """A step ends, and the next one begins: a pass of an outermost loop, or what is outside (1)."""
    end()
    table = _table()
    table[_STEP] += 1
    table[_OUTSIDE] = outside
    if outside != 0:
        table[_LENGTH] = 0
    table[_DUE] = 1 if outside != 0 or table[_STEP] % table[_EVERY] == 0 else 0


@njit
def end():
    """A step ends, unless it has."""
    table = _table()
    if table[_DUE] != 0:
        _told(_ENDED, 0)
        table[_DUE] = 0


@njit
def _put(value, place):
    """Note a number."""
    table = _table()
    if table[_FILLED + place] == _ROOM:
        _told(_FULL, place)
    number = table[_FILLED + place]
    _values()[place * _ROOM + number] = value
    table[_FILLED + place] = number + 1


@by_type
def given(x, place):
    """A value that is given to a variable or by a line, noted if the step is: a number, or all
    numbers of an array or a tuple.
    """
    if isinstance(x, (types.Float, types.Complex)):

        def note(x, place):
            if is_noted():
                _put_number(x, place)
            return x

        return note
    if _holds_floats(x):

        def note_all(x, place):
            if is_noted():
                _put_all(x, place)
            return x

        return note_all
    if isinstance(x, types.BaseTuple) and len(x):

        def note_items(x, place):
            given(x[0], place)
            given(x[1:], place)
            return x

        return note_items
    return lambda x, place: x


@by_type
def number(x, place):
    """Note a variable that is a number; an array is noted when the step ends."""
    if isinstance(x, (types.Float, types.Complex)):
        return lambda x, place: given(x, place)
    return lambda x, place: x


@by_type
def content(x, place):
    """The content of a variable when a step ends, if it is an array."""
    if not _holds_floats(x):
        return lambda x, place: None
    if isinstance(x.dtype, types.Complex):
        return lambda x, place: _put_all(x, place)

    def note(x, place):
        table, first = _table(), _SHAPES + place * (1 + _MOST_AXES)
        table[first] = x.ndim
        for axis in range(x.ndim):
            table[first + 1 + axis] = x.shape[axis]
        _put_all(x, place)

    return note


def _holds_floats(x) -> bool:
    return isinstance(x, types.Array) and isinstance(x.dtype, (types.Float, types.Complex))


@by_type
def _put_number(x, place):
    if isinstance(x, types.Complex):

        def both(x, place):
            _put(x.real, place)
            _put(x.imag, place)

        return both
    return lambda x, place: _put(np.float64(x), place)


@njit
def _put_all(x, place):
    for value in x.flat:
        _put_number(value, place)
