"""Kernels whose places have scales: one compilation for all scales and all formats to nearest.

A scale 2^k of a place shifts the least and the greatest exponent of its format by -k, and changes
nothing else: the bits are those of multiplying what is made there by 2^k, keeping it in the format,
and dividing wherever it is used. So operands come as they are, in the range of the places that made
them, and a result is rounded once, in the range of its own place.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.by_row import ByRow
from sciprec.instruments.assigning.operations import operations_by
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.instruments.assigning.scaling import CLIPPED, shifted
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import LiftError, name
from sciprec.precision.rounding import recording
from sciprec.precision.rounding.fixed_rounding import constant_at
from sciprec.precision.rounding.variant import RowVariant
from sciprec.precision.rounding.words import V64, ZERO, call

SCALED, NOTED = "scaled", "noted"
_FIRST_BIN = recording.BINS_AT + 1
_ROW_BYTES = {SCALED: rows.ROW_BYTES, NOTED: 8 * 128}
_NEVER = (1 << 63) - 1
_FEW_BITS = 2  # every format has them
_LITERAL = "significand"


class _ScaledOperations(ByRow):
    """Operations in the range of their place, on operands of any range."""

    scale_word = rows.SCALE

    def taken(self, b, x, row):
        """An operand as it is."""
        return x

    def significand(self, b, x, row):
        """A number with the bits of the format, in any range."""
        power, scale = V64.masked(b, x, V64.exponent), constant_at(b, row, self.scale_word)
        return call(b, "fma", power, b.fneg(scale), call(b, "fma", power, scale, x))

    def is_binary64(self, b, row):
        return b.fcmp_ordered("==", constant_at(b, row, self.scale_word), ZERO)

    def add(self, b, x, y, row):
        """x + y of operands of any range, rounded once."""
        return self.sum_of_binary64(b, x, y, row)


class _Noted(_ScaledOperations):
    """Operations on operands of any range, themselves without one; rows note results' sizes."""

    scale_word = _FIRST_BIN + recording.BINS

    def finish(self, b, r, row):
        finite = b.fcmp_ordered("ord", r, b.fsub(r, r))
        rounded = b.select(finite, self.significand(b, r, row), r)
        return recording.noted(b, rounded, row)

    def by_class(self, b, row, evaluated):
        return evaluated(0)


def _literal(ops: Operations):
    """A number of the source."""

    def emit(context, b, values, key):
        return ops.compute.significand(b, *values, key)

    return ops._operation(1, emit, None, _LITERAL)


def _variant(layout: str) -> RowVariant:
    return RowVariant(f"by row, {layout}", _ROW_BYTES[layout])


@lru_cache(maxsize=2)
def operations_of(layout: str) -> Operations:
    """The (shared) operations of a layout, `SCALED` or `NOTED`."""
    technique = {SCALED: _ScaledOperations, NOTED: _Noted}[layout]()
    return operations_by(technique, _variant(layout), **{_LITERAL: _literal})


@dataclass(frozen=True)
class Scaled(InRows):
    """Numbers whose operations have a row each: its format and range, or, in the layout `NOTED`,
    what it made; rows have the same numbers in both.
    """

    holder = "scales"

    def operations(self, program: Program) -> str:
        """Return the operations of the layout."""
        place = "'sciprec.instruments.assigning.scaled', 'operations_of'"
        return f"sp_imported({place})({self.layout!r})"

    def literal(self, rewriter: Rewriter, value: float) -> ast.expr:
        """A literal with the significand of the format, which every row has, the last one too."""
        node = rewriter.program.number(value)
        if _bits(value) <= _FEW_BITS:
            return node
        any_row = [name("sp_key"), ast.Constant(0)]
        return ast.Call(name(rewriter.program.operation(_LITERAL)), [*any_row, node], [])

    def array(self, program: Program, value: np.ndarray) -> np.ndarray:
        """Refused: it would have a format of its own."""
        raise LiftError(
            f"kernel '{program.kernel.__name__}' has a constant array, whose numbers have no "
            "scale; pass it as an argument"
        )


def _program(kernel: Any, layout: str) -> Program:
    return program_in_rows(kernel, Scaled(layout), variant=_variant(layout))


class Scalable:
    """A kernel whose places take scales; compiled once for all of them.

    Args:
        kernel: the plain Python function.

    Attributes:
        rows: its places, see `layout.Row`.
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.program = _program(kernel, SCALED)
        self._entry = module_of(self.program).sp_entry
        self._noting: Any = None

    @property
    def rows(self) -> list[Row]:
        """The places of the program, in their order."""
        return self.program.layout.rows

    def table(
        self, arithmetic: Arithmetic, exponents: Sequence[int], small: str = CLIPPED
    ) -> np.ndarray:
        """The table for `run`: the rows of an arithmetic at scales 2^k, one k for each place."""
        row_of = {
            k: rows.row_of(shifted(arithmetic, k, small), rows.NEAREST) for k in set(exponents)
        }
        last = rows.row_of(arithmetic, rows.NEAREST)  # of no operation
        return np.array([row_of[k] for k in exponents] + [last])

    def run(self, table: np.ndarray, *args: Any) -> Any:
        """Run the kernel; what it is given is taken as it is, and arrays are written."""
        return self._entry(table.ctypes.data, *args)[0]

    def new_notes(self, arithmetic: Arithmetic) -> np.ndarray:
        """Rows in which nothing is noted yet, of the significand of an arithmetic."""
        notes = np.zeros((len(self.rows) + 1, _ROW_BYTES[NOTED] // 8), np.int64)
        notes[:, recording.SMALLEST] = _NEVER
        notes[:, recording.BINS_AT] = 8 * _FIRST_BIN
        scale = rows.row_of(arithmetic, rows.NEAREST)[rows.SCALE]
        notes.view(np.float64)[:, _Noted.scale_word] = scale
        return notes

    def note(self, notes: np.ndarray, *args: Any) -> Any:
        """Run the kernel without a range, and note how large numbers are; arrays are written."""
        if self._noting is None:
            self._noting = module_of(_program(self.kernel, NOTED)).sp_entry
        return self._noting(notes.ctypes.data, *args)[0]


scalable = lru_cache(maxsize=256)(Scalable)
"""The (shared) kernel whose places take scales."""


def largest_of(notes: np.ndarray) -> np.ndarray:
    """The largest size that each row has noted (rows,), 0 where there was none."""
    return notes[:-1, recording.LARGEST].copy().view(np.float64)


def spread_of(notes: np.ndarray) -> np.ndarray:
    """Counts of the numbers of each size by row, as `exponents` of a `Profile`."""
    return notes[:-1, _FIRST_BIN : _FIRST_BIN + recording.BINS].copy()


def _bits(x: float) -> int:
    """The number of bits of the significand of a number."""
    if not math.isfinite(x) or x == 0.0:
        return 0
    over = abs(x.as_integer_ratio()[0])
    return (over // (over & -over)).bit_length()
