"""The operations of code that all programs with rows of numbers share: those that compute in fixed
point of any format, in any of its variants, and those that record what a kernel makes.

A row is as long in all of them. What their code does differently is asked for, with the address of
the row and of the variable that gathers marks; see `asked`.
"""

from __future__ import annotations

from functools import lru_cache

from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.operations.asked import Asking
from sciprec.precision.operations.intrinsics import Operations
from sciprec.precision.rounding.fixed_rounding import (
    is_integer,
    made_at,
    place_of,
)
from sciprec.precision.rounding.native import by_method
from sciprec.precision.rounding.variant import CAREFUL, PLAIN, PROFILE, WIDE, RowVariant
from sciprec.precision.rounding.words import F64

_ANY = "fixed32"
"""An arithmetic that shares; nothing asks which it is."""


def can_share_rows(backend: Backend, variant: RowVariant) -> bool:
    """Whether nothing but its arithmetic tells the code of a program with rows from that of others.
    """
    if type(backend) is not Backend or backend.noise is not None:
        return False
    if variant == PROFILE:
        return set(backend.roles) == {resolve_backend("fp64").compute}
    fixed = all(role.fixed for role in backend.roles) and backend.storage == backend.compute
    return fixed and variant in (PLAIN, WIDE, CAREFUL)


@by_method("made", "noted")
class _AskingWithRow(Asking):
    """A role whose every operation is asked for, with the address of its row."""

    placed = observes = in_units = True

    def made(self, b, question: str, *operands, row):
        """The result of an operation, known to be made at its row."""
        result = self.ask(b, question, *operands, row=row)
        result.place = place_of(row)
        return result

    def add(self, b, x, y, row):
        question = "add_with_integer" if is_integer(x) or is_integer(y) else "add"
        return self.made(b, question, x, y, row=row)

    def sub(self, b, x, y, row):
        return self.made(b, "sub_with_integer" if is_integer(x) else "sub", x, y, row=row)

    def accumulate(self, b, total, term, row):
        aligned = made_at(total, row) and made_at(term, row)
        return self.made(b, "accumulate_aligned" if aligned else "accumulate", total, term, row=row)

    def from_integer(self, b, i, signed: bool, row=None):
        return (b.sitofp if signed else b.uitofp)(i, F64)


@lru_cache(maxsize=2)
def shared_row_operations(variant: str = "placed") -> Operations:
    """The (two) operations of shared code.

    Args:
        variant: "placed", or "careful" for those on whole arrays.
    """
    names = ("storage", "compute", "accumulate_role", "matmul_role")
    roles = [_AskingWithRow(F64, f"{variant} {name} ") for name in names]
    rows = RowVariant(f"shared, {variant}", PLAIN.row_bytes)
    shared = Operations(resolve_backend(_ANY), 0, rows, roles)
    shared.careful = shared if variant == "careful" else shared_row_operations("careful")
    return shared
