"""Profiles: how often every operation of a kernel ran in binary64, and how large results were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from sciprec.precision.operations.operation import operation_named
from sciprec.precision.rewriting.copies import copied
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.syntax import Site
from sciprec.precision.rounding import recording

_WORDS = recording.ROW_BYTES // 8
_NEVER = (1 << 63) - 1


@dataclass(frozen=True)
class Profile:
    """The counts of a kernel's run, one row per operation and chain of calls (see `layout.Row`).

    Attributes:
        sites: the operations of the source.
        rows: which operation, and which of its values, each row is of.
        runs: (rows,), how often.
        largest, smallest: (rows,), sizes of the largest and of the smallest number but zero; 0 and
            infinity where there was none.
        zeros, unusable: (rows,), how many zeros, infinities and NaN.
        exponents: (rows, 120), how many numbers with 2^e <= |x| < 2^(e+1), e = -80 ... 39; smaller
            and larger ones are in the first and the last column.
    """

    sites: tuple[Site, ...]
    rows: tuple[Row, ...]
    runs: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    zeros: np.ndarray
    unusable: np.ndarray
    exponents: np.ndarray

    @property
    def operations(self) -> dict[str, int]:
        """Runs of each operation: `add`, `mul`, ..., also those of `x += y` and of literal
        powers; `load` of array elements that a kernel names, and `store`, of whole arrays too.
        """
        counts: Counter = Counter()
        parts: list[int] = []
        ends = (*(row.part for row in self.rows[1:]), 0)
        for row, runs, following in zip(self.rows, self.runs.tolist(), ends, strict=True):
            parts.append(runs)
            if following == 0:
                operation, notes, parts = self.sites[row.site].operation, parts, []
                if operation_named(operation).counted:
                    for name, times in _executed(operation, notes):
                        counts[name] += times
        return {name: runs for name, runs in sorted(counts.items()) if runs}


def _executed(text: str, parts: list[int]) -> Iterator[tuple[str, int]]:
    """Yield the machine operations that one operation of a source ran, with the number of each."""
    operation = operation_named(text)
    stores, *operands = parts
    if operation.name == "pow" and "(" in text:  # products, and in the last row a quotient
        turned = operands.pop() if "-" in text else 0
        yield from (("mul", sum(operands[1:])), ("div", turned), ("store", stores))
        return
    times = max(operands, default=0) or stores  # operands are noted of whole arrays and of products
    yield operation.moves or operation.name, times
    yield "accumulate" if operation.role else "store", stores - times


class Recorder:
    """A kernel's profiling variant.

    Args:
        program: the lifted program (variant `PROFILE`).
        dispatcher: its compiled entry; takes the table's address first.
    """

    def __init__(self, program, dispatcher):
        self.program, self.dispatcher = program, dispatcher

    def run(self, args: tuple, enter: Callable) -> Profile:
        """Run on copies of the arguments; enter(dispatcher, arguments) makes the call."""
        rows = tuple(self.program.layout.rows)
        words = np.zeros(len(rows) * (_WORDS + recording.BINS), np.int64)
        table, bins = np.split(words, [len(rows) * _WORDS])
        table, bins = table.reshape(-1, _WORDS), bins.reshape(-1, recording.BINS)
        table[:, recording.SMALLEST] = _NEVER
        apart = bins.strides[0] - table.strides[0]
        table[:, recording.BINS_AT] = table.nbytes + apart * np.arange(len(rows))
        enter(self.dispatcher, (table.ctypes.data, *copied(args)))
        zeros, unusable = (table[:, n].copy() for n in (recording.ZEROS, recording.UNUSABLE))
        smallest = table[:, recording.SMALLEST].copy()
        smallest[smallest == _NEVER] = np.array(np.inf).view(np.int64)
        return Profile(
            sites=tuple(self.program.sites),
            rows=rows,
            runs=bins.sum(axis=1) + zeros + unusable,
            largest=table[:, recording.LARGEST].copy().view(np.float64),
            smallest=smallest.view(np.float64),
            zeros=zeros,
            unusable=unusable,
            exponents=bins.copy(),
        )
