"""Roundings around other ones: what else is done with the result of every operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

from sciprec.precision.rounding.native import Native, by_method
from sciprec.precision.rounding.words import F64, I64

_OPERATIONS = {
    **{name: name for name in ("add", "sub", "mul", "div", "sqrt", "fma", "negated", "magnitude",
                               "from_binary32", "from_binary64", "from_integer", "sum_of_binary64",
                               "round")},
    "accumulate": "add", "accumulate_aligned": "add",
    "add_with_integer": "add", "sub_with_integer": "sub",
}  # fmt: skip
"""Operations that take the address of a row -> those of the rounding inside."""


@by_method("looked_at", **_OPERATIONS)
class Around:
    """A rounding around another one, which has the other's results and writes into rows.

    Subclasses write `result`. Whatever is no operation is the other's.

    Args:
        base: the rounding inside.
        first: number of the first word of a row that is this one's.
    """

    placed = observes = True

    def __init__(self, base: Native | Around, first: int = 0) -> None:
        self.base, self.first = base, first

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def result(self, b: ir.IRBuilder, name: str, operands: tuple, r: Any, row: Any) -> Any:
        """Return the result r of an operation, and write code that looks at it.

        Args:
            b: writes LLVM's instructions.
            name: "add", "sub", "mul", "div", "sqrt", "fma", "negated", "magnitude", "round", the
                conversions "from_binary32", "from_binary64", "from_integer" and "sum_of_binary64",
                or "noted" of a number that is taken or stored as it is.
            operands: numbers in the type of the kernel's variables; of conversions in their own.
            r: the rounded result.
            row: the address of this one's words of the operation's row.
        """
        return r

    def noted(self, b: ir.IRBuilder, x: Any, row: Any) -> Any:
        """Look at a number that is taken or stored as it is."""
        base: Any = self.base
        x = base.noted(b, x, row=row) if base.placed else x
        return self.result(b, "noted", (x,), x, self._from_first(b, row))

    @staticmethod
    def in_binary64(b: ir.IRBuilder, x: Any) -> Any:
        """A number in binary64, exactly."""
        return x if x.type == F64 else b.fpext(x, F64)

    @staticmethod
    def gather(b: ir.IRBuilder, row: Any, word: int, more: Any) -> None:
        """Add a binary64 number to a word of a row."""
        address = b.add(row, ir.Constant(I64, 8 * word)) if word else row
        place = b.inttoptr(address, F64.as_pointer())
        b.store(b.fadd(b.load(place), more), place)

    def looked_at(self, b: ir.IRBuilder, name: str, *operands: Any, row: Any) -> Any:
        """The result of an operation of the rounding inside, which is looked at."""
        place = {"row": row} if self.base.placed else {}
        r = getattr(self.base, name)(b, *operands, **place)
        return self.result(b, name, operands, r, self._from_first(b, row))

    def _from_first(self, b: ir.IRBuilder, row: Any) -> Any:
        return b.add(row, ir.Constant(I64, 8 * self.first)) if self.first else row


@dataclass(frozen=True)
class RowVariant:
    """The way in which the operations of a program use rows of a table.

    Args:
        name: in generated modules.
        row_bytes: size of a row; 0 where there is no table.
        around: makes a rounding around that of the arithmetic, which writes into rows; None where
            there is none.
        own: whether rows are a user's own: one thread writes them, the code is not kept, and what
            is stored into an array is rounded as it is without rows.
        exact_sums: whether sums of two operands are known to be exact in binary64.
        enforces: whether ends of the range are enforced, and what is beyond them is counted; else
            it is only marked that something was.
    """

    name: str = ""
    row_bytes: int = 0
    around: Callable[[Native], Around] | None = None
    own: bool = False
    exact_sums: bool = False
    enforces: bool = False


Variant = RowVariant  # its name in pickles of version 0.1
