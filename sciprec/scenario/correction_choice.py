"""The key `compensation` of a Heston scenario: what is done about the rounding errors of its paths.

compensation = ["none", "carry", "correction"]
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from sciprec.facets.tables import Section, as_tuple, key
from sciprec.facets.values import NameOrTable

CORRECTION = "correction"
CARRY = "carry"


class CorrectionChoice(Section):
    """One way to price: residuals forgotten, carried, or the mean error removed as well."""

    name: Literal["none", "carry", "correction"] = key(
        '"none" (no residuals), "carry" (of log-spot, variance and its integral) or "correction" '
        "(carry, and the mean rounding error removed from the price)", 'name = "carry"',
    )  # fmt: skip

    def resolved(self) -> str:
        """The correction's name, as `sciprec.heston.price` takes it."""
        return self.name


_Named = Annotated[CorrectionChoice, NameOrTable(("none", CARRY, CORRECTION))]
CorrectionChoices = Annotated[tuple[_Named, ...], BeforeValidator(as_tuple)]
