"""The operations of kernels whose operations have formats of their own: binary64's, each operand
rounded to the operation's format, and its result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ClassVar

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.by_row import BINARY64, ByAnyRow, ByRow
from sciprec.instruments.assigning.in_format import InFormat
from sciprec.precision.formats.backend import Arithmetic, Backend, resolve_backend
from sciprec.precision.operations import arrays, boundaries
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.operations.number_types import (
    call_inlined,
    identity,
    is_complex,
    is_inexact,
)
from sciprec.precision.operations.operation import Operation, operation_named
from sciprec.precision.rounding.fixed_rounding import word_at
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.variant import FLOATS, Variant
from sciprec.precision.rounding.words import F64, I64

NUMBERS, ELEMENTS, LITERALS = "narrowed", "narrowed_elements", "narrowed_literal"
"""Operations that give a number as it is in a format; the elements of an array; a literal, which is
not counted.
"""
_NARROWING = (NUMBERS, ELEMENTS, LITERALS)
_TECHNIQUES: dict[str, type[ByRow]] = {rows.NEAREST: ByRow, rows.ANY: ByAnyRow}


def rounds(operation: str) -> bool:
    """Whether an operation, by its name in a program, has a format."""
    return operation_named(operation).rounds or operation in _NARROWING


class AssignedOperations(Operations):
    """Operations of binary64 in a format of their own: one that is known, or one for each row.

    Args:
        technique: of every operation.
        variant: what operations do with rows of a table.
        backend: of the variables that numbers are in; left out, binary64.
    """

    def __init__(
        self, technique: Native, variant: Variant, backend: Backend | None = None
    ) -> None:
        self._technique = technique
        super().__init__(backend or resolve_backend("fp64"), 0, variant)
        self.storage = rounder(BINARY64, F64, 0)

    def _rounder(self, arithmetic: Arithmetic, others: tuple = ()) -> Native:
        return self._technique

    def draw(self, b, role: Native, key, salt: int = 0) -> dict:
        """The address of the operation's row, for its operands too."""
        return {"row": key} if role.placed else {}

    def _scalar(self, emit, kinds, key, places: bool, made_by=None):
        role = self.storage if getattr(emit, "copies", False) else self.compute
        return super()._scalar(emit, kinds, key, False, role)

    def _operand(self, b, kind, value, key, salt: int, role=None):
        """An operand; what an operation takes as it is, whole numbers too, as arrays hold it."""
        role = role or self.compute
        return value if kind == self.carrier else self.rounded(b, kind, value, role, key, 0)

    emit_of_sum = Operations.emit_in_role

    def narrowed_number(self, b, kind, value, key):
        """A number in the format."""
        return self.rounded(b, kind, value, self.compute, key, 0)

    uncounted_number = narrowed_number

    def _narrowed_elements(self):
        """A new array of the elements, each in the format; what is no array as it is."""
        of_numbers = getattr(self, NUMBERS)

        def resolve(typingctx, key, x):
            kind = types.unliteral(x)
            if not isinstance(kind, types.Array) or not is_inexact(kind.dtype):
                return identity(x, key)
            gives = "complex" if is_complex(kind.dtype) else "real"
            return arrays.elementwise(self, of_numbers, [kind], key, gives)

        return self.intrinsic(1, resolve)

    makers: ClassVar[dict[str, Callable]] = {
        **Operations.makers, ELEMENTS: _narrowed_elements,
        NUMBERS: lambda ops: boundaries.enter(ops, ops.narrowed_number),
        LITERALS: lambda ops: boundaries.enter(ops, ops.uncounted_number),
    }  # fmt: skip


class OperationsByRow(AssignedOperations):
    """Operations that read their format from a row at run time.

    Args:
        layout: of the rows, see `rows`.
        formats: of versions that read none; their operations are `version_1`, `version_2`, ...
        counts: "plain" where every operation counts in its row how often it is executed, "atomic"
            where several threads do, else "".
    """

    _counts = ""

    def __init__(
        self, layout: str, formats: tuple[Arithmetic, ...] = (), counts: str = ""
    ) -> None:
        self._counts = counts
        variant = Variant(f"by row, {layout}", rows.ROW_BYTES)
        super().__init__(_TECHNIQUES[layout](), variant)

        for number, arithmetic in enumerate(formats, 1):
            setattr(self, f"version_{number}", in_format(arithmetic))

    @property
    def version(self):
        """version(key): the version of the function whose rows begin there, 0 for none."""

        @intrinsic
        def version(typingctx, key):
            def codegen(context, b, signature, args):
                return b.load(word_at(b, args[0], rows.VERSION, I64))

            return types.int64(types.int64), codegen

        return version

    def emit(self, name: str, role: Native) -> Callable:
        """An operation, its operands rounded; it is counted."""
        made = super().emit(name, role)
        if not self._counts or not rounds(name):
            return made

        def counted(context, b, values, key):
            self._count(b, key, 1)
            return made(context, b, values, key)

        return counted

    def narrowed_number(self, b, kind, value, key):
        """A number in the format; it is counted."""
        if self._counts:
            self._count(b, key, 1)
        return super().narrowed_number(b, kind, value, key)

    def repeated(self, b, x, exponent: int, key):
        """x^exponent by repeated squaring, of a rounded x; its products are counted."""
        size = abs(exponent)
        if self._counts and size:
            self._count(b, key, size.bit_length() + size.bit_count() - 2 + (exponent < 0))
        return super().repeated(b, x, exponent, key)

    def _count(self, b, row, runs: int) -> None:
        place, more = word_at(b, row, rows.COUNT, I64), ir.Constant(I64, runs)
        if self._counts == "atomic":
            b.atomic_rmw("add", place, more, "monotonic")
        else:
            b.store(b.add(b.load(place), more), place)

    def by_mod(self, context, b, row: Operation, values, role: Native, key):
        """Python's x % y."""
        return self._modulus(context, b, role, values, key)

    def by_evaluate(self, context, b, row: Operation, values, role: Native, key):
        """An elementary function, as the row's format wants it."""
        kinds = (types.float64,) * len(values)

        def evaluated(way: int):
            if way == 0 and row.platform is not None:
                return self._native(context, b, row.platform, values, types.float64)
            function = (row.evaluate, row.narrow, row.directed)[way]
            return call_inlined(context, b, function, kinds, values)

        return role.from_binary64(b, self._by_class(b, key, evaluated), row=key)

    def of_bits(self, context, b, row: Operation, value, role: Native, key):
        """A function of a 32-bit integer, as the row's format wants it."""
        if self._counts:
            self._count(b, key, 1)

        def evaluated(way: int):
            function = (row.evaluate, row.narrow, row.narrow)[way]
            return call_inlined(context, b, function, (types.int64,), [value])

        return role.from_binary64(b, self._by_class(b, key, evaluated), row=key)

    def _by_class(self, b, row, evaluated: Callable[[int], ir.Value]):
        """The result of `evaluated`, in the way that the row's format wants."""
        ways = (rows.WIDE, rows.NARROW, rows.DIRECTED)
        ways = ways if self.compute.layout == rows.ANY else ways[:2]
        after, found = b.append_basic_block("evaluated"), []
        for number, way in enumerate(ways):
            last = number == len(ways) - 1
            if not last:
                here, other = b.append_basic_block("way"), b.append_basic_block("others")
                b.cbranch(self.compute.is_of_class(b, row, way), here, other)
                b.position_at_end(here)
            value = evaluated(number)
            found.append((value, b.block))
            b.branch(after)
            if not last:
                b.position_at_end(other)
        b.position_at_end(after)
        merged = b.phi(F64)
        for value, block in found:
            merged.add_incoming(value, block)
        return merged


by_row = lru_cache(maxsize=64)(OperationsByRow)
"""The (shared) operations that read rows of a layout."""


@lru_cache(maxsize=64)
def in_format(arithmetic: Arithmetic) -> AssignedOperations:
    """The (shared) operations in a format that is known."""
    return AssignedOperations(InFormat(arithmetic), FLOATS)


class InFormats:
    """Operations in several formats that are known: those of the first one, and `in_1`, `in_2`, ...
    those of the others.
    """

    def __init__(self, first: Operations, *others: Operations) -> None:
        self._first = first
        for number, operations in enumerate(others, 1):
            setattr(self, f"in_{number}", operations)

    def __getattr__(self, name: str):
        return getattr(self._first, name)


@lru_cache(maxsize=64)
def in_formats(arithmetics: tuple[Arithmetic, ...]) -> InFormats:
    """The (shared) operations in some formats, binary64 first."""
    return InFormats(*map(in_format, arithmetics))
