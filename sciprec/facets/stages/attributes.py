"""The stages of a run's transforms with their arithmetics, as an attribute of its file."""

from __future__ import annotations

from sciprec.facets.attributes import JsonAttribute
from sciprec.facets.stages.arithmetics import resolve_stages
from sciprec.facets.stages.keys import StagesChoice
from sciprec.results.output.stated import STAGES as NAME

STAGES = JsonAttribute(NAME)


def stages_attribute(choice: StagesChoice) -> dict[str, str]:
    """The attribute of a choice; none where the transforms have the arithmetic of the run."""
    stages = resolve_stages(choice.resolved())
    return STAGES.written(None if stages is None else {"name": choice.name, **vars(stages)})
