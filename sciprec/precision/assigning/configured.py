"""Kernels compiled once for all assignments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core import errors

from sciprec.precision.assigning import rows
from sciprec.precision.assigning.versions import VersionedProgram
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import last_reason
from sciprec.precision.rewriting.syntax import LiftError


class Configured:
    """A kernel compiled once for all assignments of a layout.

    Args:
        kernel: the plain Python function.
        layout: of the rows, see `rows`.
        unit: what shares a row, see `AssignedProgram`.
        formats: in which functions are compiled once more, see `VersionedProgram`.

    Attributes:
        program: with the rows of its operations, `program.layout.rows`.
    """

    def __init__(
        self, kernel, layout: str, unit: str = "operation", formats: Sequence[Arithmetic] = ()
    ) -> None:
        self.program = VersionedProgram(kernel, layout, unit, formats)
        self._entry = module_of(self.program).sp_entry
        self._spans, self._counted = self.program.spans, self.program.counted

    def table(self, arithmetics: list[Arithmetic]) -> np.ndarray:
        """The table that gives every row its arithmetic, in the rows' order."""
        known = {a: rows.row_of(a, self.program.row_layout) for a in set(arithmetics)}
        made = np.zeros((len(arithmetics) + 1, rows.WORDS))  # the last one is of no operation
        for number, arithmetic in enumerate(arithmetics):
            made[number] = known[arithmetic]
        return self.with_versions(made)

    def with_versions(self, table: np.ndarray) -> np.ndarray:
        """A table whose functions take a version of theirs where it has the bits; it is written."""
        words = table.view(np.int64)
        words[:, rows.VERSION] = 0
        for number, arithmetic in enumerate(self.program.formats, 1):
            wanted = rows.row_of(arithmetic, self.program.row_layout).view(np.int64)
            other = (words[:-1, : rows.VERSION] != wanted[: rows.VERSION]).any(axis=1)
            before = np.concatenate([[0], np.cumsum(other & self._counted)])
            same = before[self._spans[:, 0]] == before[self._spans[:, 1]]
            words[self._spans[same, 0], rows.VERSION] = number
        return table

    def __call__(self, table: np.ndarray, *args: Any) -> Any:
        """Run the kernel in the formats of a table; arrays are written as the kernel does."""
        try:
            return self._entry(table.ctypes.data, *args)[0]
        except errors.NumbaError as error:
            raise LiftError(
                f"kernel '{self.program.kernel.__name__}' cannot run in an assignment: "
                f"{last_reason(str(error))}; an assignment takes what lift takes, but for complex "
                "numbers and functions as arguments"
            ) from None
