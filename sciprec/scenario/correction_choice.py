"""The key `compensation` of a Heston scenario: what is done about the rounding errors of its paths.

compensation = ["none", "carry", "correction"]
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from sciprec.scenario.compensation_choice import as_tables
from sciprec.scenario.sections import Section, key

CORRECTION = "correction"
CARRY = "carry"


class CorrectionChoice(Section):
    """One way to price: residuals forgotten, carried, or the mean error removed as well."""

    name: Literal["none", "carry", "correction"] = key(
        '"none" (no residuals), "carry" (of log-spot, variance and its integral) or "correction" '
        "(carry, and the mean rounding error removed from the price)", 'name = "carry"',
    )  # fmt: skip

    def resolved(self) -> str:
        """What `sciprec.heston.price` takes."""
        return self.name


CorrectionChoices = Annotated[tuple[CorrectionChoice, ...], BeforeValidator(as_tables)]
