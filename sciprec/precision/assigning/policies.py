"""Policies of mixed precision: which stages of a model are narrow, by lists and by name.

O0 all wide; O1 an allow list narrow; O2 all narrow but a deny list, which is wide: the state and
its update, a master copy; O3 all narrow.

Source: the optimisation levels of NVIDIA's Apex; Micikevicius et al. (2018), Mixed precision
training, for the master copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sciprec.checks.arguments import word
from sciprec.errors import InputError
from sciprec.precision.assigning.assignment import Assignment, arithmetic_of
from sciprec.precision.assigning.places import Place

POLICIES = ("O0", "O1", "O2", "O3")
_KEYS = ("narrow", "wide", "allow", "deny")


@dataclass(frozen=True)
class Stage:
    """A named part of a model.

    Args:
        name: in tables, and on lists.
        places: (file, function) as `Place` has them; "" for every function of the file.
        operations: the operations that belong to it, as they are named in a program; none for all.
        allowed: whether O1 has it narrow.
        denied: whether O2 has it wide.
        why: it stands on the lists where it does.
    """

    name: str
    places: tuple[tuple[str, str], ...]
    operations: tuple[str, ...] = ()
    allowed: bool = False
    denied: bool = False
    why: str = ""

    @property
    def as_places(self) -> list[Place]:
        """What an assignment gives a format to."""
        return [
            Place("stage", function, file, text=" ".join(self.operations), variable=self.name)
            for file, function in self.places
        ]


@dataclass(frozen=True)
class Policy:
    """A policy with its formats and lists.

    Args:
        name: O0 to O3.
        narrow, wide: formats.
        allow, deny: names of stages that are put on a list besides, or in place of, the model's.
    """

    name: str
    narrow: str
    wide: str
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        word("policy", self.name, POLICIES)
        narrow, wide = arithmetic_of(self.narrow), arithmetic_of(self.wide)
        if narrow.format.significand_bits > wide.format.significand_bits:
            raise InputError(
                f"policy {self.name} has narrow '{self.narrow}' with more bits than wide "
                f"'{self.wide}'; give them the other way round"
            )
        both = sorted(set(self.allow) & set(self.deny))
        if both:
            raise InputError(f"stage '{both[0]}' is on both lists; put it on one")

    @property
    def text(self) -> str:
        """As the name of a backend."""
        lists = [f"{k}={'+'.join(v)}" for k, v in (("allow", self.allow), ("deny", self.deny)) if v]
        return ",".join(
            [f"policy:{self.name}", f"narrow={self.narrow}", f"wide={self.wide}", *lists]
        )

    def is_narrow(self, stage: Stage) -> bool:
        """Whether a stage is narrow."""
        if stage.name in self.deny or self.name == "O0":
            return False
        if stage.name in self.allow or self.name == "O3":
            return True
        return stage.allowed if self.name == "O1" else not stage.denied

    def assignment(self, models: Mapping[str, Sequence[Stage]]) -> Assignment:
        """The policy for the stages of models.

        Raises:
            InputError: a list names a stage that none has.
        """
        known = {stage.name for stages in models.values() for stage in stages}
        for name in (*self.allow, *self.deny):
            word("stage", name, sorted(known))
        usual = "narrow" if self.name in ("O2", "O3") else "wide"
        formats = {"narrow": self.narrow, "wide": self.wide}
        given: dict[Place, str] = {}
        for stage in (s for stages in models.values() for s in stages):
            own = "narrow" if self.is_narrow(stage) else "wide"
            if own != usual:
                given |= dict.fromkeys(stage.as_places, formats[own])
        return Assignment.of_places("stage", given, formats[usual], "", self.text)


def policy_called(text: str) -> Policy:
    """The policy "policy:O2,narrow=fp16,wide=fp32,deny=Fourier".

    Raises:
        InputError: it is written otherwise, or names what is unknown.
    """
    name, *parts = text.partition(":")[2].split(",")
    given: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and key in _KEYS and value:
            given[key] = value
        elif given and not equals or key not in _KEYS and given:  # of a spec string with commas
            last = list(given)[-1]
            given[last] += f",{part}"
        else:
            raise InputError(
                f"malformed policy '{text}': {part!r} is no key=value; accepted keys: "
                f"{', '.join(_KEYS)}, as in 'policy:O2,narrow=fp16,wide=fp32'"
            )
    for key in ("narrow", "wide"):
        if key not in given:
            raise InputError(
                f"policy '{text}' has no {key}; write for example 'policy:O2,narrow=fp16,wide=fp32'"
            )
    return Policy(name, given["narrow"], given["wide"], _names(given.get("allow")),
                  _names(given.get("deny")))  # fmt: skip


def _names(listed: str | None) -> tuple[str, ...]:
    return () if listed is None else tuple(n.strip() for n in listed.split("+") if n.strip())


def rows_of(models: Mapping[str, Iterable[Stage]]) -> list[dict[str, str]]:
    """Every stage of every model, and how the policies have it."""
    return [
        {"model": model, "stage": stage.name,
         "O1": "narrow" if stage.allowed else "wide",
         "O2": "wide" if stage.denied else "narrow", "why": stage.why,
         "where": ", ".join(dict.fromkeys(f for _, f in stage.places if f)) or
                  ", ".join(dict.fromkeys(f.rpartition("/")[2] for f, _ in stage.places))}
        for model, stages in models.items() for stage in stages
    ]  # fmt: skip
