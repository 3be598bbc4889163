"""Variants of a program: what its operations do with rows of a table, chosen where it is lifted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sciprec.precision.rounding import fixed_rounding, recording
from sciprec.precision.rounding.around import Around
from sciprec.precision.rounding.native import Native


@dataclass(frozen=True)
class Variant:
    """What the operations of a program do with rows of a table.

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

    @property
    def of_arrays(self) -> Variant:
        """The variant for operations on whole arrays: these enforce the ends where they are met."""
        return CAREFUL if self in (PLAIN, WIDE) else self


FLOATS = Variant()
"""Of programs in floating point: there is no table."""
PROFILE = Variant("profile", recording.ROW_BYTES, recording.Recording)
PLAIN = Variant("plain", fixed_rounding.ROW_BYTES, exact_sums=True)
WIDE = Variant("wide", fixed_rounding.ROW_BYTES)
CAREFUL = Variant("careful", fixed_rounding.ROW_BYTES, enforces=True)
VARIANTS = {v.name: v for v in (FLOATS, PROFILE, PLAIN, WIDE, CAREFUL)}
