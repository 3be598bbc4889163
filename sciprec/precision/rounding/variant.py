"""Variants of a program: what its operations do with rows of a table, chosen where it is lifted."""

from __future__ import annotations

from sciprec.precision.rounding import fixed_rounding, recording
from sciprec.precision.rounding.around import RowVariant

FLOATS = RowVariant()
"""Of programs in floating point: there is no table."""
PROFILE = RowVariant("profile", recording.ROW_BYTES, recording.SizeRecording)
PLAIN = RowVariant("plain", fixed_rounding.ROW_BYTES, exact_sums=True)
WIDE = RowVariant("wide", fixed_rounding.ROW_BYTES)
CAREFUL = RowVariant("careful", fixed_rounding.ROW_BYTES, enforces=True)
VARIANTS = {v.name: v for v in (FLOATS, PROFILE, PLAIN, WIDE, CAREFUL)}


def name_of(variant: RowVariant) -> str:
    """Return the name that generated modules have for a variant; a user's own has a number in this
    process.
    """
    if not variant.own:
        return variant.name
    name = next((n for n, v in VARIANTS.items() if v == variant), f"rows {len(VARIANTS)}")
    VARIANTS[name] = variant
    return name


def of_arrays(variant: RowVariant) -> RowVariant:
    """The variant for operations on whole arrays: these enforce the ends where they are met."""
    return CAREFUL if variant in (PLAIN, WIDE) else variant
