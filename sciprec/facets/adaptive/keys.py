"""The table [adaptive] of a scenario: a run whose arithmetic follows a tolerance.

[adaptive]
tolerance = 1e-3
ladder = ["fp16", "mlu370", "fp32"]
"""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from sciprec.facets.tables import AddedKeys, ArithmeticNames, Section, key, limited
from sciprec.tools.adapt.plan import EVERY, TOLERANCE, AdaptivePlan, checked_ladder, checked_plan


class AdaptiveRequest(Section):
    """A run whose tendencies are on a ladder of arithmetics, as narrow as a tolerance allows."""

    tolerance: float = limited(TOLERANCE, "tolerance = 1e-3")
    ladder: ArithmeticNames = key(
        "an array of two arithmetics or more, floats from narrow to wide",
        'ladder = ["fp16", "mlu370", "fp32"]',
    )  # fmt: skip
    every: int = Field(
        default=EVERY, ge=1, le=2**31, examples=["every = 36"],
        description="a whole number of steps from 1; of a block, which is on one arithmetic",
    )  # fmt: skip
    variable: str | None = Field(
        default=None, examples=['variable = "vorticity"'],
        description="the name of a variable of the state, whose error is judged; left out, the "
        "first one of the climate's, and all of a user's model",
    )  # fmt: skip

    @field_validator("ladder")
    @classmethod
    def _rungs_are_wider(cls, ladder: tuple[str, ...]) -> tuple[str, ...]:
        checked_ladder(ladder)
        return ladder

    @model_validator(mode="after")
    def _narrow_to_wide(self) -> AdaptiveRequest:
        self.plan()
        return self

    def plan(self) -> AdaptivePlan:
        """The plan of the adaptive run, checked."""
        return checked_plan(self.tolerance, self.ladder, self.every, self.variable)


class WithAdaptive(AddedKeys):
    """A scenario that may have an adaptive run."""

    adaptive: AdaptiveRequest | None = Field(
        default=None,
        examples=['adaptive = { tolerance = 1e-3, ladder = ["fp16", "mlu370", "fp32"] }'],
        description="the table [adaptive]; left out, no run changes its arithmetic",
    )

    def adaptive_choice(self) -> AdaptiveRequest | None:
        """The request of the adaptive run."""
        return self.adaptive
