"""The key `compensation` of a Heston scenario: whether the rounding error of a price is removed.

compensation = ["none", "correction"]
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from sciprec.compensation_choice import as_tables
from sciprec.sections import Section, key

CORRECTION = "correction"


class CorrectionChoice(Section):
    """One way to price: the mean rounding error measured and removed, or measured and left."""

    name: Literal["none", "correction"] = key(
        '"none" or "correction" (paths of kind "heston" always carry the residuals of log-spot and '
        "variance)", 'name = "correction"',
    )  # fmt: skip

    def resolved(self) -> bool:
        """Whether the mean rounding error is removed from the price."""
        return self.name == CORRECTION


CorrectionChoices = Annotated[tuple[CorrectionChoice, ...], BeforeValidator(as_tables)]
