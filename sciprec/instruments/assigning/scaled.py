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

from sciprec.instruments.assigning import rows, scaled_in_format
from sciprec.instruments.assigning.by_row import ByRow
from sciprec.instruments.assigning.operations import operations_by, rounds
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.instruments.assigning.scaling import CLIPPED, shifted
from sciprec.precision.formats.backend import Arithmetic, Backend
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.written import written_arrays
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.own_names import own_name
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


@dataclass(frozen=True)
class ScaledInFormat(InRows):
    """Scaled places in a short format, on binary32 variables; see `scaled_in_format`.

    The module has besides `sp_columns`, which runs the kernel for groups of columns of its flat
    arrays, each with rows of its own.

    Args:
        arithmetic: of its places.
    """

    layout: str = "in a format"
    arithmetic: Arithmetic | None = None

    holder, given_back = "scales", "{}[0]"  # nothing: kernels of models write arrays

    def imports(self, backend: Backend) -> str:
        """Return lines at the head of the generated module."""
        return (
            "from sciprec.instruments.assigning.columns import given_columns as sp_given_columns\n"
            "from sciprec.instruments.assigning.columns import taken_columns as sp_taken_columns\n"
            "from sciprec.precision.compiled.disk_cache import kept as sp_on_disk\n"
        )

    def operations(self, program: Program) -> str:
        """Return the operations of the arithmetic at the scales of their rows."""
        place = "'sciprec.instruments.assigning.scaled_in_format', 'operations_in'"
        return f"sp_imported({place})({self.arithmetic!r})"

    def entry(self, program: Program, listed: str, body: str) -> str:
        """The entry, and `sp_columns`, which call the same part."""
        names = [own_name(parameter) for parameter in program.signature.parameters]
        parts = [f"sp_part_{n}" for n in range(len(names))]
        place = "sp_first, sp_last, sp_width, sp_size"
        pairs = list(zip(parts, names, strict=True))
        group = [
            f"{part} = sp_taken_columns({of}, {place}, sp_room[{number}])"
            for number, (part, of) in enumerate(pairs)
        ]
        group.append(f"sp_run(sp_keys[sp_group], {', '.join(parts)})")
        for number, (part, of) in enumerate(pairs):
            group.append(f"if sp_written[{number}]:")
            group.append(f"    sp_given_columns({part}, {of}, {place})")
        lines, listed_alone = "\n".join(f"        {line}" for line in group), ", ".join(names)
        return (
            f"@sp_linked('')\ndef sp_run({listed}):\n    return {body}\n\n"
            f"{program.entry_of(listed, f'sp_run({listed})')}\n\n"
            "@sp_on_disk(nogil=True, error_model='numpy')\n"
            f"def sp_columns(sp_keys, sp_firsts, sp_written, sp_size, sp_room, {listed_alone}):\n"
            "    sp_width = sp_firsts[sp_keys.size]\n"
            "    for sp_group in range(sp_keys.size):\n"
            "        sp_first = sp_firsts[sp_group]\n"
            f"        sp_last = sp_firsts[sp_group + 1]\n{lines}\n"
        )


class ScalableInFormat:
    """A kernel whose places take scales in a short format; compiled once for all of them.

    Args:
        kernel: the plain Python function, which returns nothing.
        arithmetic: of its places, `scaled_in_format.serves` it.

    Attributes:
        entry: the compiled kernel; it takes the address of a `scaled_in_format.table` first.
    """

    def __init__(self, kernel: Any, arithmetic: Arithmetic) -> None:
        setup = scaled_in_format.backend(arithmetic), scaled_in_format.variant(arithmetic)
        module = module_of(program_in_rows(kernel, ScaledInFormat(arithmetic=arithmetic), *setup))
        self.entry, self._columns = module.sp_entry, module.sp_columns
        self._written_of, self._written = written_arrays(kernel), np.empty(0)

    def run(self, table: np.ndarray, *args: Any) -> None:
        """Run the kernel at the scales of a `scaled_in_format.table`; arrays are written."""
        self.entry(table.ctypes.data, *args)

    def room_for(self, *args: Any) -> np.ndarray:
        """The memory that `run_columns` takes to copy the columns of such arguments into."""
        most = max(a.size for a in args if isinstance(a, np.ndarray))
        return np.empty((len(args), most), np.float32)

    def run_columns(
        self, tables: np.ndarray, firsts: np.ndarray, size: int, room: np.ndarray, *args: Any
    ) -> None:
        """Run the kernel for groups of columns of its arrays; arrays are written.

        Args:
            tables: the addresses of the groups' tables (groups,), see `scaled_in_format.table`.
            firsts: the first column of each group, and the number of columns (groups + 1,).
            size: of arrays that have all columns, in their last axis, flat; others are taken whole.
            room: from `room_for`; no two calls at a time may have it.
            args: of the kernel, of the same types in every call.
        """
        if self._written.size == 0:
            self._written = np.array(self._written_of(args))
        self._columns(tables, firsts, self._written, size, room, *args)


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

    def in_format(self, arithmetic: Arithmetic) -> ScalableInFormat | None:
        """The kernel on binary32 variables; None where these do not serve it."""
        program = self.program
        rounding = {s.operation for s in program.sites if rounds(s.operation)}
        served = rounding <= scaled_in_format.OPERATIONS_SERVED
        if not (served and scaled_in_format.serves(arithmetic)):
            return None
        if not scaled_in_format.holds(program.literals):
            return None
        return _in_format(self.kernel, arithmetic)

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


_in_format = lru_cache(maxsize=256)(ScalableInFormat)
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
