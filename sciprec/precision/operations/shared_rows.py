"""The operations of code that all programs with rows of numbers share: those that compute in fixed
point of any format, in any of its variants, and those that record what a kernel makes.

A row is as long in all of them. What their code does differently is asked for, with the address of
the row and of the variable that gathers marks; see `asked`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from sciprec.precision.formats.backend import Arithmetic, Backend, resolve_backend
from sciprec.precision.operations.asked import asked
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.operations.operation import METHODS, OPERATIONS, Operation
from sciprec.precision.rounding.fixed_rounding import (
    is_integer,
    made_at,
    marks_slot,
    place_of,
)
from sciprec.precision.rounding.native import Native, by_method
from sciprec.precision.rounding.variant import CAREFUL, PLAIN, PROFILE, WIDE, Variant
from sciprec.precision.rounding.words import F64

_ANY = "fixed32"
"""An arithmetic that shares; nothing asks which it is."""


def can_share_rows(backend: Backend, variant: Variant) -> bool:
    """Whether nothing but its arithmetic tells the code of a program with rows from that of others.
    """
    if type(backend) is not Backend or backend.noise is not None:
        return False
    if variant == PROFILE:
        return set(backend.roles) == {resolve_backend("fp64").compute}
    fixed = all(role.fixed for role in backend.roles) and backend.storage == backend.compute
    return fixed and variant in (PLAIN, WIDE, CAREFUL)


@by_method("ask", *METHODS, "from_binary32", "from_binary64", "noted")
class _AskingWithRow(Native):
    """A role whose every operation is asked for.

    Args:
        arithmetic: any in fixed point.
        role: its name.
        prefix: of what is asked for.
    """

    placed = observes = in_units = True

    def __init__(self, arithmetic: Arithmetic, role: str, prefix: str) -> None:
        super().__init__(arithmetic, F64, F64, None)
        self.role, self.prefix = role, prefix

    def ask(self, b, what: str, *operands, row):
        """The result of an operation, known to be made at its row."""
        made = asked(b, f"{self.prefix} {self.role} {what}", *operands, row, marks_slot(b),
                     result=F64)  # fmt: skip
        made.place = place_of(row)
        return made

    def add(self, b, x, y, row):
        what = "add_with_integer" if is_integer(x) or is_integer(y) else "add"
        return self.ask(b, what, x, y, row=row)

    def sub(self, b, x, y, row):
        return self.ask(b, "sub_with_integer" if is_integer(x) else "sub", x, y, row=row)

    def accumulate(self, b, total, term, row):
        aligned = made_at(total, row) and made_at(term, row)
        return self.ask(b, "accumulate_aligned" if aligned else "accumulate", total, term, row=row)

    def from_integer(self, b, i, signed: bool, row=None):
        return (b.sitofp if signed else b.uitofp)(i, F64)


class RowOperations(Operations):
    """Operations that are asked for.

    Args:
        prefix: "placed", or "careful" for those on whole arrays.
    """

    def __init__(self, prefix: str = "placed") -> None:
        self.prefix = prefix
        super().__init__(resolve_backend(_ANY), 0, Variant(f"shared, {prefix}", PLAIN.row_bytes))
        roles = ("storage", "compute", "accumulate_role", "matmul_role")
        for role, arithmetic in zip(roles, self.backend.roles, strict=True):
            setattr(self, role, _AskingWithRow(arithmetic, role, prefix))

    @property
    def careful(self) -> Operations:
        """Operations on whole arrays: those that the entry has for these."""
        return shared_row_operations("careful")

    def _emitted(self, name, role):
        if OPERATIONS[name].by in ("step", "signed", "exact"):
            return super()._emitted(name, role)
        return lambda context, b, values, key: self.ask(b, f"operation {name}", values, key)

    def ask(self, b, what: str, values, key):
        """The result of an operation of no role."""
        return asked(b, f"{self.prefix} {what}", *values, key, marks_slot(b), result=F64)

    def emit_product(self) -> Callable:
        """Of numbers, or of integers of units of their own."""

        def emit(context, b, values, key):
            made = self.ask(b, "product", values, key)
            made.place = place_of(key)
            return made

        return emit

    def in_unit(self, b, value, key):
        """Ask for the number that is stored: the given one, which may be noted."""
        return self.ask(b, "stored", [value], key)

    def of_bits(self, context, b, row: Operation, value, role, key):
        """A function of a 32-bit integer."""
        return self.ask(b, f"of_bits {row.name}", [value], key)

    def rounded_number(self, b, value: float, role):
        """A constant, rounded."""
        return asked(b, f"{self.prefix} literal {float(value).hex()}", result=F64)


shared_row_operations = lru_cache(maxsize=2)(RowOperations)
"""The (two) operations of shared code."""
