"""The scenario key `stages`: arithmetics of the transforms' stages, by name or one by one.

stages = ["none", "fp16-legendre", "mixed-m0"]

[[stages]]
name = "half-but-low-orders"
legendre = "fp16"
kept = "fp32"
kept_orders = 8
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from sciprec.facets.matrix_unit.keys import ArithmeticOrUnit
from sciprec.facets.stages.arithmetics import STAGES, resolve_stages
from sciprec.facets.tables import ArithmeticName, NameOrTable, Section, as_tuple, key, once

_ARITHMETIC = "the name of an arithmetic of floats, or a spec string; left out, that of the run"
_OR_UNIT = (
    f"{_ARITHMETIC}; or a matrix unit, 'matrix:table=int8,field=fp16' (docs/explain/matrix_unit.md)"
)
_COUNT = "a whole number >= 0"


class StagesChoice(Section):
    """One choice of arithmetics for the stages of transforms: a known name, or arithmetics."""

    name: str = key(
        '"none" (those of the run), a known name such as "mixed-m0", or a name of your own with '
        "arithmetics: lower-case letters, digits, '_' and '-', at most 40",
        'name = "half-legendre"', pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$",
    )  # fmt: skip
    legendre: ArithmeticOrUnit | None = Field(
        default=None, description=_OR_UNIT, examples=['legendre = "fp16"']
    )
    sums: ArithmeticName | None = Field(
        default=None, description=_ARITHMETIC, examples=['sums = "fp32"']
    )
    fourier: ArithmeticName | None = Field(
        default=None, description=_ARITHMETIC, examples=['fourier = "fp16"']
    )
    kept: ArithmeticOrUnit | None = Field(
        default=None, description=_OR_UNIT, examples=['kept = "fp32"']
    )
    kept_orders: int = Field(default=0, ge=0, description=_COUNT, examples=["kept_orders = 1"])
    kept_degrees: int = Field(default=0, ge=0, description=_COUNT, examples=["kept_degrees = 4"])

    @model_validator(mode="after")
    def _named_or_given(self) -> StagesChoice:
        if self.own and (self.name == "none" or self.name in STAGES):
            raise ValueError(
                f"stages '{self.name}' have arithmetics already; give yours another name"
            )
        resolve_stages(self.own or self.name)
        return self

    @property
    def own(self) -> dict[str, Any]:
        """The values that are given beyond the name."""
        values = self.model_dump(exclude={"name"})
        return {name: value for name, value in values.items() if value not in (None, 0)}

    def resolved(self) -> str | dict[str, Any] | None:
        """The stages as the model takes them: None, a known name, or a table."""
        return self.own or (None if self.name == "none" else self.name)


_NamedStages = Annotated[StagesChoice, NameOrTable(("none", *STAGES))]
StagesKey = Annotated[
    tuple[_NamedStages, ...],
    BeforeValidator(as_tuple),
    once("stages are"),
    Field(
        examples=['stages = ["none", "fp16-legendre", "mixed-m0"]'],
        json_schema_extra={"uniqueItems": True},
        description="an array of names of stages, or tables [[stages]]",
    ),
]  # fmt: skip
MODEL_STAGES = StagesChoice(name="none")
"""No arithmetics of their own."""
