"""The scenario key `compensation`: names, or tables with coefficients of one's own.

compensation = ["none", "carry"]

[[compensation]]
name = "layered"
variables = { vorticity = { alpha = 1.0 }, geopotential = { alpha = 0.15, beta = 0.85 } }

Of a Heston scenario, what is done about the rounding errors of its paths:

compensation = ["none", "carry", "correction"]
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from sciprec.arrays.sums.compensation import COMPENSATIONS, LARGEST_COEFFICIENT, Compensation
from sciprec.facets.compensation import PLAIN
from sciprec.facets.tables import NameOrTable, Section, as_tuple, key, once
from sciprec.foundation.errors import meant

CARRY, CORRECTION = "carry", "correction"
_SHARE = {"ge": 0, "le": LARGEST_COEFFICIENT}
_ALPHA = f"a number from 0 to {LARGEST_COEFFICIENT:g}: the share of the residual that is added"
_BETA = f"a number from 0 to {LARGEST_COEFFICIENT:g}: the share of an update's own loss"
_RESET = (
    "a whole number of updates >= 1 after which residuals are forgotten, which undoes much of the "
    "compensation where it is not many times 1 / alpha; left out, never"
)


class Shares(Section):
    """The coefficients of one variable."""

    alpha: float = Field(default=1.0, description=_ALPHA, examples=["alpha = 0.15"], **_SHARE)
    beta: float = Field(default=0.0, description=_BETA, examples=["beta = 0.85"], **_SHARE)
    reset_every: int | None = Field(
        default=None, ge=1, description=_RESET, examples=["reset_every = 1000"]
    )


class CompensationChoice(Section):
    """One compensation that the runs of a scenario use: a known name, or coefficients."""

    name: str = key(
        f"{', '.join(COMPENSATIONS)}, or a name of your own with coefficients: lower-case letters, "
        "digits, '_' and '-', at most 40", 'name = "weak"', pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$",
    )  # fmt: skip
    alpha: float | None = Field(
        default=None, description=_ALPHA, examples=["alpha = 0.15"], **_SHARE
    )
    beta: float | None = Field(default=None, description=_BETA, examples=["beta = 0.85"], **_SHARE)
    reset_every: int | None = Field(
        default=None, ge=1, description=_RESET, examples=["reset_every = 1000"]
    )
    sums: bool = Field(
        default=False, examples=["sums = true"],
        description="true or false: whether long sums inside the model are compensated too",
    )  # fmt: skip
    variables: dict[str, Shares] = Field(
        default_factory=dict, examples=["variables = { vorticity = { alpha = 1.0 } }"],
        description="tables of alpha, beta and reset_every by variable, instead of one for all",
    )  # fmt: skip

    @model_validator(mode="after")
    def _named_or_given(self) -> CompensationChoice:
        has_coefficients = self.own_coefficients
        if not has_coefficients and self.name not in COMPENSATIONS:
            raise ValueError(
                f"unknown compensation '{self.name}'; known: {', '.join(COMPENSATIONS)}"
                f"{meant(self.name, COMPENSATIONS)}; or give it coefficients, such as "
                f'{{ name = "{self.name}", alpha = 0.5 }}'
            )
        if has_coefficients and self.name in COMPENSATIONS:
            raise ValueError(
                f"compensation '{self.name}' has coefficients of its own already; give yours "
                "another name"
            )
        if self.variables and (self.alpha, self.beta, self.reset_every) != (None, None, None):
            raise ValueError(
                f"compensation '{self.name}' has coefficients for all variables and a table "
                "'variables'; give one of them"
            )
        return self

    @property
    def own_coefficients(self) -> bool:
        """Whether anything beyond the name is given."""
        coefficients = (self.alpha, self.beta, self.reset_every)
        return bool(self.variables) or self.sums or coefficients != (None, None, None)

    def resolved(self) -> Compensation | dict[str, Compensation] | None:
        """The compensation as the models take it: None, one Compensation, or one per variable."""
        if not self.own_coefficients:
            return COMPENSATIONS[self.name]
        if self.variables:
            shares = {name: each.model_dump() for name, each in self.variables.items()}
            return {name: Compensation(**each, sums=self.sums) for name, each in shares.items()}
        alpha = 1.0 if self.alpha is None else self.alpha
        return Compensation(alpha, self.beta or 0.0, self.reset_every, self.sums)


def choice_of(name: str, compensation: Compensation | None) -> CompensationChoice:
    """The choice that stands for a compensation from elsewhere than a scenario."""
    known_name = next((n for n, c in COMPENSATIONS.items() if c == compensation), None)
    if known_name is not None:
        return CompensationChoice(name=known_name)
    return CompensationChoice(name=name, **vars(compensation))


_NamedCompensation = Annotated[CompensationChoice, NameOrTable(tuple(COMPENSATIONS))]
CompensationKey = Annotated[
    tuple[_NamedCompensation, ...],
    BeforeValidator(as_tuple),
    once("a compensation is"),
    Field(
        examples=['compensation = ["none", "carry"]'], json_schema_extra={"uniqueItems": True},
        description="an array of names of compensations, or tables [[compensation]]",
    ),
]  # fmt: skip
NO_COMPENSATION = CompensationChoice(name=PLAIN)


class CorrectionChoice(Section):
    """One way to price: residuals forgotten, carried, or the mean error removed as well."""

    name: Literal["none", "carry", "correction"] = key(
        '"none" (no residuals), "carry" (of log-spot, variance and its integral) or "correction" '
        "(carry, and the mean rounding error removed from the price)", 'name = "carry"',
    )  # fmt: skip

    def resolved(self) -> str:
        """The correction's name, as `sciprec.heston.price` takes it."""
        return self.name


_Way = Annotated[CorrectionChoice, NameOrTable((PLAIN, CARRY, CORRECTION))]
CorrectionKey = Annotated[
    tuple[_Way, ...],
    BeforeValidator(as_tuple),
    once("a compensation is"),
    Field(
        examples=['compensation = ["none", "carry", "correction"]'],
        json_schema_extra={"uniqueItems": True},
        description='an array of "none", "carry" and "correction"; left out, "carry"',
    ),
]  # fmt: skip
