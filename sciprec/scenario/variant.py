"""Variants of a scenario's run, which differ within one scenario and member."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sciprec.facets.adaptive.keys import AdaptiveRequest
from sciprec.facets.compensation.attributes import COMPENSATION
from sciprec.facets.compensation.keys import NO_COMPENSATION, CompensationChoice, CorrectionChoice
from sciprec.facets.stages.attributes import stages_attribute
from sciprec.facets.stages.keys import MODEL_STAGES, StagesChoice
from sciprec.precision.formats.backend import TRUTH

_ADAPTIVE = ", adaptive"
NAMES = ("backend", "compensation", "label")
"""Keys of a variant in lists of runs."""


@dataclass(frozen=True)
class Variant:
    """The arithmetic of a run with all that belongs to it.

    Args:
        backend: name or spec string of the arithmetic.
        compensation: of the state's updates.
        stages: arithmetics of the stages of a climate run's transforms.
        stored: format of the state between steps, where it is not that of the arithmetic.
        adaptive: what an adaptive run is to keep, whose backend is the widest rung; or None.
    """

    backend: str
    compensation: CompensationChoice | CorrectionChoice = NO_COMPENSATION
    stages: StagesChoice = MODEL_STAGES
    stored: str | None = None
    adaptive: AdaptiveRequest | None = None

    @classmethod
    def read(cls, names: Mapping[str, str]) -> Variant:
        """The variant of an entry of a list of runs: its choices have names, and nothing else."""
        backend, compensation = names["backend"], names["compensation"]
        text = names["label"].removeprefix(backend)
        if compensation != NO_COMPENSATION.name:
            text = text.removesuffix(f"+{compensation}")
        adaptive = AdaptiveRequest.model_construct() if text.endswith(_ADAPTIVE) else None
        text = text.removesuffix(_ADAPTIVE)
        stored, _, stages = text.removeprefix(" with state in ").partition(", stages ")
        return cls(
            backend,
            CompensationChoice.model_construct(name=compensation),
            StagesChoice.model_construct(name=stages or MODEL_STAGES.name),
            stored or None,
            adaptive,
        )

    @property
    def is_truth(self) -> bool:
        """Whether its run is what others of the scenario and member are compared with."""
        return self.backend == TRUTH and self.stages.name == MODEL_STAGES.name

    @property
    def label(self) -> str:
        """The name of the run beside others: "fp32, stages mixed-m0+carry"."""
        return self._named("" if self.stored is None else f" with state in {self.stored}")

    @property
    def file_part(self) -> str:
        """The variant in names of files, with everything that file systems dislike as '-'.

        The sign in `emin=-14` stays and the '=' goes, so that two specs never share a file.
        """
        return re.sub(r"[^A-Za-z0-9.+]+", "-", self._named().replace("=", "")).strip("-")

    def _named(self, stored: str = "") -> str:
        stages = "" if self.stages.name == MODEL_STAGES.name else f", stages {self.stages.name}"
        plain = self.compensation.name == NO_COMPENSATION.name
        adaptive = "" if self.adaptive is None else _ADAPTIVE
        carried = "" if plain else f"+{self.compensation.name}"
        return self.backend + stored + stages + adaptive + carried

    def as_dict(self) -> dict[str, str]:
        """The variant's names, as lists of runs and tables hold them."""
        return {
            "backend": self.backend, "compensation": self.compensation.name, "label": self.label,
        }  # fmt: skip

    def choices(self) -> dict[str, Any]:
        """The choices beside the backend, with all coefficients, as plain data."""
        chosen = {
            "compensation": self.compensation.model_dump(mode="json"),
            "stages": self.stages.model_dump(mode="json"),
        }
        if self.adaptive is None:
            return chosen
        return chosen | {"adaptive": self.adaptive.model_dump(mode="json")}

    def as_attributes(self) -> dict[str, str]:
        """The attributes of a file about its variant beside the arithmetic: compensation, and
        stages with their arithmetics, where they have some.
        """
        compensation = COMPENSATION.written(self.compensation.model_dump(mode="json"))
        return compensation | stages_attribute(self.stages)


class OfVariant:
    """A base for objects of one variant, which answer with its names."""

    variant: Variant

    @property
    def backend(self) -> str:
        """Name or spec string of the arithmetic."""
        return self.variant.backend

    @property
    def compensation(self) -> str:
        """Name of its compensation."""
        return self.variant.compensation.name

    @property
    def label(self) -> str:
        """The name that tells it from others of its scenario and member."""
        return self.variant.label

    @property
    def is_truth(self) -> bool:
        """Whether others are compared with it."""
        return self.variant.is_truth
