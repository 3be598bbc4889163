"""The operations of kernels whose operations have formats of their own: binary64's, each operand
rounded to the operation's format, and its result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from numba.core import types
from numba.extending import intrinsic

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.by_row import ByAnyRow, ByRow
from sciprec.instruments.assigning.in_format import InFormat
from sciprec.precision.formats.backend import Arithmetic, resolve_backend
from sciprec.precision.formats.float_format import FORMATS
from sciprec.precision.operations import arrays, boundaries
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.operations.number_types import identity, is_complex, is_inexact
from sciprec.precision.operations.operation import operation_named
from sciprec.precision.rounding.fixed_rounding import word_at
from sciprec.precision.rounding.native import Native
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.variant import FLOATS, RowVariant
from sciprec.precision.rounding.words import I64

NUMBERS, ELEMENTS, LITERALS = "narrowed", "narrowed_elements", "narrowed_literal"
"""Operations that give a number as it is in a format; the elements of an array; a literal, which is
not counted.
"""
_NARROWING = (NUMBERS, ELEMENTS, LITERALS)
_TECHNIQUES: dict[str, type[ByRow]] = {rows.NEAREST: ByRow, rows.ANY: ByAnyRow}


def rounds(operation: str) -> bool:
    """Whether an operation, by its name in a program, has a format."""
    return operation_named(operation).rounds or operation in _NARROWING


def _narrowed(ops: Operations, counts: bool, b, kind, value, key):
    """A number in the format."""
    if counts:
        ops.compute.count(b, key, 1)
    return ops.rounded(b, kind, value, ops.compute, key, 0)


def _narrowed_elements(ops: Operations):
    """A new array of the elements, each in the format; what is no array as it is."""
    of_numbers = getattr(ops, NUMBERS)

    def resolve(typingctx, key, x):
        kind = types.unliteral(x)
        if not isinstance(kind, types.Array) or not is_inexact(kind.dtype):
            return identity(x, key)
        gives = "complex" if is_complex(kind.dtype) else "real"
        return arrays.elementwise(ops, of_numbers, [kind], key, gives)

    return ops.intrinsic(1, resolve)


def _version(ops: Operations):
    """version(key): the version of the function whose rows begin there, 0 for none."""

    @intrinsic
    def version(typingctx, key):
        def codegen(context, b, signature, args):
            return b.load(word_at(b, args[0], rows.VERSION, I64))

        return types.int64(types.int64), codegen

    return version


OWN: dict[str, Callable] = {
    NUMBERS: lambda ops: boundaries.enter(ops, partial(_narrowed, ops, ops.compute.counts)),
    LITERALS: lambda ops: boundaries.enter(ops, partial(_narrowed, ops, "")),
    ELEMENTS: _narrowed_elements, "version": _version,
}  # fmt: skip
"""Operation -> what makes it."""


def operations_by(technique: Native, variant: RowVariant, **further: Callable) -> Operations:
    """Operations of binary64 in a format of their own: one for all, or one for each row.

    Args:
        technique: of every operation.
        variant: what operations do with rows of a table.
        further: what makes further operations.
    """
    storage = rounder(Arithmetic(FORMATS["binary64"]), technique.carrier, 0)
    roles = storage, technique, technique, technique
    return Operations(resolve_backend("fp64"), 0, variant, roles, {**OWN, **further})


@lru_cache(maxsize=64)
def by_row(layout: str, formats: tuple[Arithmetic, ...] = (), counts: str = "") -> Operations:
    """The (shared) operations that read their format from a row at run time.

    Args:
        layout: of the rows, see `rows`.
        formats: of versions that read none; their operations are `version_1`, `version_2`, ...
        counts: "plain" where every operation counts in its row how often it is executed, "atomic"
            where several threads do, else "".
    """
    variant = RowVariant(f"by row, {layout}", rows.ROW_BYTES)
    result = operations_by(_TECHNIQUES[layout](counts), variant)
    for number, arithmetic in enumerate(formats, 1):
        setattr(result, f"version_{number}", in_format(arithmetic))
    return result


@lru_cache(maxsize=64)
def in_format(arithmetic: Arithmetic) -> Operations:
    """The (shared) operations in a format that is known."""
    return operations_by(InFormat(arithmetic), FLOATS)


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
