"""Named parts of models, to which policies and assignments give formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sciprec.foundation.arguments import word
from sciprec.foundation.errors import InputError
from sciprec.foundation.later import MODEL_STAGES
from sciprec.instruments.assigning.places import Place


@dataclass(frozen=True)
class Stage:
    """A named part of a model.

    Args:
        name: in tables, and on lists.
        places: (file, function) as `Place` has them, "" for every function of the file; or (file,
            function, names): of the statements that give these variables a value.
        operations: the operations that belong to it, as they are named in a program; none for all.
        allowed: whether O1 has it narrow.
        denied: whether O2 has it wide.
        why: it stands on the lists where it does.
        always: the format that it has in every policy, whatever lists say; "" for none.
    """

    name: str
    places: tuple[tuple[str, ...], ...]
    operations: tuple[str, ...] = ()
    allowed: bool = False
    denied: bool = False
    why: str = ""
    always: str = ""

    @property
    def as_places(self) -> list[Place]:
        """The places of an assignment that give this stage its format."""
        text = " ".join(self.operations)
        return [
            Place("stage", function, file, text=text, variable=self.name, names=" ".join(names))
            for file, function, *names in self.places
        ]

    def in_words(self, policy: str) -> str:
        """The word for its arithmetic under a policy."""
        if self.always:
            return self.always
        return "narrow" if (self.allowed if policy == "O1" else not self.denied) else "wide"


Models = Mapping[str, Sequence[Stage]]
"""Kind -> stages of its models."""


def require_known(names: Iterable[str], models: Models) -> None:
    """Make sure that stages which lists name can be there.

    Raises:
        InputError: no model has one, or it has the same format in every policy.
    """
    by_name = {stage.name: stage for stages in models.values() for stage in stages}
    for name in names:
        stage = by_name[word("stage", name, sorted(by_name))]
        if stage.always:
            raise InputError(
                f"stage '{name}' is in {stage.always} in every policy ({stage.why}); leave it out"
            )


def places_of_stages(formats: Mapping[str, str]) -> dict[Place, str]:
    """The places of stages, of every model that has them, and their formats.

    Raises:
        InputError: no model has a stage of a name.
    """
    require_known(formats, MODEL_STAGES)
    return {
        place: formats[stage.name] for stages in MODEL_STAGES.values() for stage in stages
        if stage.name in formats for place in stage.as_places
    }  # fmt: skip
