"""The scenario key `scaling`: scales of a model's places, powers of two.

backends = ["fp16"]
scaling = ["none", "static", "dynamic"]
scales = { advection = 1024.0 }
scale_factors = [0.0625, 16.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from sciprec.facets.tables import AddedKeys, OneOrSeveral, as_tuple
from sciprec.foundation.arguments import word
from sciprec.instruments.assigning.scaling import (
    KEPT,
    SCALED,
    SCALINGS,
    reach,
    scale_exponent,
    with_scaling,
)
from sciprec.precision.formats.backend import TRUTH, resolve_backend

_Scalings = Annotated[tuple[str, ...], OneOrSeveral(SCALINGS)]
_Factors = Annotated[tuple[float, ...], BeforeValidator(as_tuple)]


class WithScaling(AddedKeys):
    """A scenario whose model has places that take scales."""

    scaling: _Scalings = Field(
        default=(), examples=['scaling = ["none", "static"]'],
        description=f"one of {', '.join(SCALINGS)}, or an array of these: how places of the model "
        "get scales in every one of 'backends' but the truth",
    )  # fmt: skip
    scales: dict[str, float] = Field(
        default_factory=dict, examples=["scales = { advection = 1024.0 }"],
        description="a table of stages, which `sciprec list policies` lists ('Legendre' for both), "
        "and powers of two: their scales, whatever a profile says",
    )  # fmt: skip
    scale_factors: _Factors = Field(
        default=(), examples=["scale_factors = [0.0625, 16.0]"],
        description="an array of powers of two: further runs with static scales so many times as "
        "large, to see how much depends on them",
    )  # fmt: skip
    unclipped: bool = Field(
        default=False, examples=["unclipped = true"],
        description="whether there is a further run with static scales in which places have no "
        "smallest number, to see what clipping does",
    )  # fmt: skip

    together: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("scaling", "scales", "scale_factors", "unclipped"),
    )  # fmt: skip
    of_backends: ClassVar[tuple[str, ...]] = together[0]

    @model_validator(mode="after")
    def _scaled_backends(self) -> WithScaling:
        if not self.scaling:
            values = {"scales": self.scales, "scale_factors": self.scale_factors,
                     "unclipped": self.unclipped}  # fmt: skip
            for key in (key for key, value in values.items() if value):
                raise ValueError(
                    f"the key '{key}' is given without a scaling; give `scaling = \"static\"`, or "
                    "leave it out"
                )
            return self
        for name in self.scaling:
            word("scaling", name, SCALINGS)
        if len(set(self.scaling)) < len(self.scaling):
            raise ValueError("a scaling is named twice")
        if not self.backends:
            raise ValueError(
                "the key 'scaling' is given without 'backends'; name the arithmetics that get "
                'scales, as in `backends = ["fp16"]`'
            )
        if all(resolve_backend(name).name == TRUTH for name in self.backends):
            raise ValueError(
                "the key 'scaling' is given, and 'backends' names fp64 alone, the truth, which has "
                'no scales; name arithmetics that get some, as in `backends = ["fp16"]`, or leave '
                "'scaling' out"
            )
        if self.scales and not (set(self.scaling) - {"none"} or self._further()):
            raise ValueError(
                "the key 'scales' is given, and no run has scales; give `scaling = \"static\"`, or "
                "leave it out"
            )
        self.__dict__["backends"] = self._named(self.backends)
        return self

    def arithmetics(self, instead: tuple[str, ...] = ()) -> tuple[str, ...]:
        """The names of its arithmetics, or of others in their place, which get the same scales."""
        return self._named(instead) if instead and self.scaling else super().arithmetics(instead)

    def _named(self, backends: Sequence[str]) -> tuple[str, ...]:
        """The backends with their scales; those that have some stay as they are."""
        names: list[str] = []
        for backend in backends:
            if backend == TRUTH or backend.startswith(SCALED):
                names.append(backend)
                continue
            for scaling in self.scaling:
                scaled = scaling != "none"
                scales = self.scales if scaled else None
                names.append(with_scaling(backend, scaling, scales).name if scaled else backend)
            if self._further():
                with_scaling(backend, "static", self.scales)  # whether it can have some
                most = reach(resolve_backend(backend).compute)
                for factor in self.scale_factors:
                    scale_exponent("'scale_factors'", factor, most)
            for factors in self._further():
                names.append(with_scaling(backend, "static", self.scales, **factors).name)
        return tuple(dict.fromkeys(names))

    def _further(self) -> list[dict[str, Any]]:
        """Further runs with static scales, one after another."""
        factors: list[dict[str, Any]] = [{"times": x} for x in self.scale_factors]
        return factors + [{"small": KEPT}] * self.unclipped
