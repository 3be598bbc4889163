"""The table [ensemble] of a scenario: the same run several times, each from its own beginning."""

from __future__ import annotations

from pydantic import Field

from sciprec.facets.tables import Section, key

MOST_MEMBERS = 100_000
ONE_ULP = 2.0**-52
"""Relative distance of neighbouring numbers of binary64, at most."""


class Ensemble(Section):
    """The members of a scenario's ensemble; member 0 is undisturbed."""

    members: int = key(
        f"a whole number of members from 1 to {MOST_MEMBERS}, the undisturbed one included",
        "members = 20", ge=1, le=MOST_MEMBERS,
    )  # fmt: skip
    perturbation: float | None = Field(
        default=None, gt=0, le=0.1, examples=["perturbation = 1.0e-14"],
        description="a share of the initial values > 0, at most 0.1; left out, 2^-52, one unit in "
        "the last place of binary64; prices take none: their members draw paths of their own",
    )  # fmt: skip
    seed: int | None = Field(
        default=None, ge=0, lt=2**63, examples=["seed = 1"],
        description="a whole number >= 0, which draws perturbations; left out, 0; prices take none",
    )  # fmt: skip

    @property
    def amplitude(self) -> float:
        """The largest relative change of an initial value."""
        return ONE_ULP if self.perturbation is None else self.perturbation
