"""Policies of mixed precision: which stages of a model are narrow, by lists and by name.

O0 all wide; O1 an allow list narrow; O2 all narrow but a deny list, which is wide: the state and
its update, a master copy; O3 all narrow.

Source: the optimisation levels of NVIDIA's Apex; Micikevicius et al. (2018), Mixed precision
training, for the master copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sciprec.foundation.arguments import refused, shown, word
from sciprec.foundation.errors import InputError
from sciprec.foundation.later import MODEL_STAGES
from sciprec.instruments.assigning.assignment import AssignedBackend, Assignment, arithmetic_of
from sciprec.instruments.assigning.places import Place
from sciprec.instruments.assigning.stages import Models, Stage, require_known
from sciprec.precision.formats.backend import Backend

POLICIES = ("O0", "O1", "O2", "O3")
_KEYS = ("narrow", "wide", "allow", "deny")


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
        word("policy", self.name, (*POLICIES, *MIXTURES))
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
        """The policy as the name of a backend."""
        lists = [f"{k}={'+'.join(v)}" for k, v in (("allow", self.allow), ("deny", self.deny)) if v]
        return ",".join(
            [f"policy:{self.name}", f"narrow={self.narrow}", f"wide={self.wide}", *lists]
        )

    def is_narrow(self, stage: Stage) -> bool:
        """Whether a stage is narrow."""
        if stage.name in (*self.allow, *self.deny):
            return stage.name in self.allow
        if self.name in ("O0", "O3"):
            return self.name == "O3"
        return stage.allowed if self.name == "O1" else not stage.denied

    def assignment(self, models: Models) -> Assignment:
        """The policy for the stages of models.

        Raises:
            InputError: a list names a stage that none has.
        """
        require_known((*self.allow, *self.deny), models)
        return self.of([stage for stages in models.values() for stage in stages])

    def of(self, stages: Iterable[Stage]) -> Assignment:
        """The policy for some stages."""
        usual = "narrow" if self.name in ("O2", "O3") else "wide"
        formats = {"narrow": self.narrow, "wide": self.wide}
        assigned: dict[Place, str] = {}
        for stage in stages:
            width = "narrow" if self.is_narrow(stage) else "wide"
            if width != usual and not stage.always:
                assigned |= dict.fromkeys(stage.as_places, formats[width])
        return Assignment.of_places("stage", assigned, formats[usual], "", self.text)


@dataclass(frozen=True)
class Mixture:
    """A policy of several formats, each of its own stages.

    Args:
        name: of the policy.
        formats: stage -> format.
        rest: the format of all other stages.
        about: one line for tables.
    """

    name: str
    formats: Mapping[str, str]
    rest: str
    about: str

    def assignment(self, models: Models) -> Assignment:
        """The policy for the stages of models."""
        require_known(self.formats, models)
        formats = {
            place: self.formats[stage.name] for stages in models.values() for stage in stages
            for place in stage.as_places if stage.name in self.formats
        }  # fmt: skip
        return Assignment.of_places("stage", formats, self.rest, "", f"policy:{self.name}")


MIXTURES = {
    mixture.name: mixture
    for mixture in (
        Mixture(
            "dcu",
            {"state update": "fp64", "diffusion": "fp64", "Legendre products": "fp16"}, "fp32",
            "state and update in fp64, products in fp16 with sums in fp32, all else in fp32",
        ),
    )
}  # fmt: skip
"""Name -> mixture; given as "policy:dcu", without formats."""


def policy_called(text: str) -> Policy | Mixture:
    """The policy "policy:O2,narrow=fp16,wide=fp32,deny=Fourier", or "policy:dcu".

    Raises:
        InputError: it is written otherwise, or names what is unknown.
    """
    name, *parts = text.partition(":")[2].split(",")
    if name in MIXTURES:
        if parts:
            raise InputError(f"policy '{name}' has its own formats; write 'policy:{name}' alone")
        return MIXTURES[name]
    word("policy", name, (*POLICIES, *MIXTURES))
    options: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if equals and key in options:
            raise InputError(f"policy '{text}' has {key} twice; give it once")
        if equals and key in _KEYS and value:
            options[key] = value
        elif options and not equals or key not in _KEYS and options:  # of a spec string with commas
            last = list(options)[-1]
            options[last] += f",{part}"
        else:
            raise InputError(
                f"malformed policy '{text}': {part!r} is no key=value; accepted keys: "
                f"{', '.join(_KEYS)}, as in 'policy:O2,narrow=fp16,wide=fp32'"
            )
    for key in ("narrow", "wide"):
        if key not in options:
            raise InputError(
                f"policy '{text}' has no {key}; write for example 'policy:O2,narrow=fp16,wide=fp32'"
            )
    return Policy(name, options["narrow"], options["wide"], _names(options.get("allow")),
                  _names(options.get("deny")))  # fmt: skip


@lru_cache(maxsize=64)
def backend_called(name: str) -> AssignedBackend:
    """The (shared) backend "policy:O2,narrow=fp16,wide=fp32", for the stages of all models.

    Raises:
        InputError: it is written otherwise, or names an unknown policy, format or stage.
    """
    return policy_called(name).assignment(MODEL_STAGES).as_backend()


def _names(listed: str | None) -> tuple[str, ...]:
    return () if listed is None else tuple(n.strip() for n in listed.split("+") if n.strip())


def require_stages(backend: Backend, kind: str) -> None:
    """Make sure that the lists of a policy name stages of a kind's models; others have none.

    Raises:
        InputError: one that these do not have.
    """
    if not isinstance(backend, AssignedBackend) or not backend.assignment.is_policy:
        return
    policy = policy_called(backend.name)
    if isinstance(policy, Policy) and kind in MODEL_STAGES:
        stages = [stage.name for stage in MODEL_STAGES[kind] if not stage.always]
        for name in (*policy.allow, *policy.deny):
            word(f"stage of policy {policy.name} for {kind}", name, stages)


def in_place_of(
    backend: Any, policy: str | None, narrow: str | None, wide: str | None, usual: str
) -> Any:
    """The backend that a function works with, whose arguments these are.

    Args:
        backend: what was given, or None.
        policy, narrow, wide: a policy in its place, or None.
        usual: the backend where neither was given.

    Raises:
        InputError: both were given, or a policy without its formats.
    """
    if policy is None:
        if narrow is not None or wide is not None:
            raise InputError(
                "narrow and wide are given without a policy; give policy='O2' too, or a backend"
            )
        return usual if backend is None else backend
    if backend is not None:
        raise InputError(
            f"a policy and the backend {shown(backend)} are given; give one of them: "
            "policy='O2', narrow='fp16', wide='fp32', or the backend"
        )
    for name, value in (("policy", policy), ("narrow", narrow), ("wide", wide)):
        if value is not None and not isinstance(value, str):
            raise refused(name, value, "a name, as in policy='O2', narrow='fp16', wide='fp32'")
    if policy in MIXTURES:
        if (narrow, wide) != (None, None):
            raise InputError(
                f"policy {policy!r} has its own formats; leave out narrow and wide"
            )
        return f"policy:{policy}"
    if narrow is None or wide is None:
        raise InputError(
            f"policy {policy!r} is given without narrow and wide; give the names of two formats"
        )
    return f"policy:{policy},narrow={narrow},wide={wide}"


def rows_of(models: Mapping[str, Iterable[Stage]]) -> list[dict[str, str]]:
    """Every stage of every model, and how the policies have it."""
    return [
        {"model": model, "stage": stage.name, "O1": stage.in_words("O1"),
         "O2": stage.in_words("O2"), "why": stage.why,
         "where": ", ".join(dict.fromkeys(f for _, f, *_ in stage.places if f)) or
                  ", ".join(dict.fromkeys(f.rpartition("/")[2] for f, *_ in stage.places))}
        for model, stages in models.items() for stage in stages
    ]  # fmt: skip
