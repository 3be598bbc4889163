"""Kernels compiled once for all assignments."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba.core import errors

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.instruments.assigning.versions import Versions
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import last_reason
from sciprec.precision.rewriting.syntax import LiftError

_VERSIONS_AFTER = 2.0
"""Seconds of calls, about what versions take to be compiled; the form that counts takes up to six
times as long for a call."""


class Configured:
    """A kernel compiled once for all assignments of a layout, in a form that counts operations, and
    once more where it is called for longer than that takes: without counters, which keep loops from
    vectorising, and with versions of its functions. Both have the same bits.

    Args:
        kernel: the plain Python function.
        layout: of the rows, see `rows`.
        by: what shares a row, see `InRows`.
        formats: of the versions, see `Versions`.
        after: seconds of calls before there are versions; left out, about what these take to be
            compiled.
        everything: whether loads, arguments and comparisons have formats, too.

    Attributes:
        program: with the rows of its operations, `program.layout.rows`.
    """

    def __init__(
        self, kernel, layout: str, by: str = "operation", formats: Sequence[Arithmetic] = (),
        after: float | None = None, everything: bool = False,
    ) -> None:  # fmt: skip
        self._numbers = InRows(layout, by, counts=True, everything=everything)
        self.program = self._counting = program_in_rows(kernel, self._numbers)
        self._kernel, self._formats = kernel, formats
        self._after = _VERSIONS_AFTER if after is None else after
        self._versions: Versions | None = None
        self._seconds, self._compiled, self._lock = 0.0, False, threading.Lock()
        if formats and self._after <= 0.0:
            self.program = self._bring_versions().program
        else:
            self._entry = module_of(self._counting).sp_entry

    def _bring_versions(self) -> Versions:
        """Go on with versions; tables from before choose none of these."""
        program = program_in_rows(self._kernel, replace(self._numbers, counts=False))
        versions = Versions(program, self._formats)
        entry = module_of(program).sp_entry
        self._spans, self._counted = versions.spans, versions.counted
        self._entry, self._versions = entry, versions
        return versions

    def table(self, arithmetics: list[Arithmetic]) -> np.ndarray:
        """The table that gives every row its arithmetic, in the rows' order."""
        row_of = {a: rows.row_of(a, self._numbers.layout) for a in set(arithmetics)}
        table = np.zeros((len(arithmetics) + 1, rows.WORDS))  # the last one is of no operation
        for number, arithmetic in enumerate(arithmetics):
            table[number] = row_of[arithmetic]
        return self.with_versions(table)

    def with_versions(self, table: np.ndarray) -> np.ndarray:
        """A table whose functions take a version of theirs where there is one and it has the bits;
        it is written.
        """
        words = table.view(np.int64)
        words[:, rows.VERSION] = 0
        formats = self._versions.program.formats if self._versions else ()
        for number, arithmetic in enumerate(formats, 1):
            row = rows.row_of(arithmetic, self._numbers.layout).view(np.int64)
            differs = (words[:-1, : rows.VERSION] != row[: rows.VERSION]).any(axis=1)
            before = np.concatenate([[0], np.cumsum(differs & self._counted)])
            same = before[self._spans[:, 0]] == before[self._spans[:, 1]]
            words[self._spans[same, 0], rows.VERSION] = number
        return table

    def __call__(self, table: np.ndarray, *args: Any) -> Any:
        """Run the kernel in the formats of a table; arrays are written as the kernel does."""
        began = time.perf_counter()
        try:
            return self._called(self._entry, table, args)
        finally:
            if self._formats and self._versions is None:
                self._called_for(time.perf_counter() - began)

    def counted(self, table: np.ndarray, *args: Any) -> tuple[Any, np.ndarray]:
        """Run like a call; also count how often each row's operations were executed, (rows,): a
        whole power counts every product that it takes.
        """
        scratch = table.copy()
        counts = scratch.view(np.int64)[:-1, rows.COUNT]
        counts[:] = 0
        return self._called(module_of(self._counting).sp_entry, scratch, args), counts

    def _called(self, entry, table: np.ndarray, args: tuple) -> Any:
        try:
            return entry(table.ctypes.data, *args)[0]
        except errors.NumbaError as error:
            raise LiftError(
                f"kernel '{self.program.kernel.__name__}' cannot run in an assignment: "
                f"{last_reason(str(error))}; an assignment takes what lift takes, but for complex "
                "numbers and functions as arguments"
            ) from None

    def _called_for(self, seconds: float) -> None:
        with self._lock:
            self._seconds += seconds if self._compiled else 0.0  # the first call compiles
            self._compiled = True
            if self._seconds > self._after and self._versions is None:
                self._bring_versions()
