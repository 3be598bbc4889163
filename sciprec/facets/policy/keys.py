"""The scenario key `policy`: policies of mixed precision in place of `backends`.

policy = "O2"
narrow = "fp16"
wide = "fp32"
deny = ["Fourier"]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, model_validator

from sciprec.facets.tables import AddedKeys, ArithmeticName, OneOrSeveral, as_tuple
from sciprec.foundation.arguments import word
from sciprec.instruments.assigning.policies import MIXTURES, POLICIES
from sciprec.precision.formats.backend import resolve_backend

_KNOWN = (*POLICIES, *MIXTURES)
_FORMAT = "the name of an arithmetic of floats of one format, or a spec string"
_LIST = "an array of names of stages, which `sciprec list policies` lists, that are"


def _checked(policies: tuple[str, ...]) -> tuple[str, ...]:
    for name in policies:
        word("policy", name, _KNOWN)
    if len(set(policies)) < len(policies):
        raise ValueError("a policy is named twice")
    return policies


_StageNames = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
_Policies = Annotated[tuple[str, ...], OneOrSeveral(_KNOWN)]


class WithPolicies(AddedKeys):
    """A scenario whose model has stages that policies give formats to."""

    policy: _Policies = Field(
        default=(), examples=['policy = "O2"'],
        description=f"one of {', '.join(_KNOWN)}, or an array of these, in place of 'backends'; "
        f"all but {', '.join(MIXTURES)} need 'narrow' and 'wide'",
    )  # fmt: skip
    narrow: ArithmeticName | None = Field(
        default=None, description=_FORMAT, examples=['narrow = "fp16"']
    )
    wide: ArithmeticName | None = Field(
        default=None, description=_FORMAT, examples=['wide = "fp32"']
    )
    allow: _StageNames = Field(
        default=(), description=f"{_LIST} narrow besides", examples=['allow = ["Legendre sums"]']
    )
    deny: _StageNames = Field(
        default=(), description=f"{_LIST} wide besides", examples=['deny = ["Fourier"]']
    )

    together: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("policy", "narrow", "wide", "allow", "deny"),
    )  # fmt: skip
    stages_of_policies: ClassVar[Callable[[], list[str]]]
    """Names of the stages of its kind's models."""

    @model_validator(mode="after")
    def _policies_in_place_of_backends(self) -> WithPolicies:
        named = self._named_policies()
        if named and self.backends not in ((), named):
            raise ValueError(
                "the keys 'policy' and 'backends' are both given; give one of them: backends may "
                f'hold policies, too, as in `backends = ["fp32", "{named[0]}"]`'
            )
        if named:
            self.__dict__["backends"] = named  # what its runs are, said in another way
        return self

    def _named_policies(self) -> tuple[str, ...]:
        """The policies as names of backends."""
        _checked(self.policy)
        of_two = [name for name in self.policy if name in POLICIES]
        values = {
            "narrow": self.narrow, "wide": self.wide, "allow": self.allow, "deny": self.deny
        }  # fmt: skip
        for key, value in values.items():
            if value and not of_two:
                raise ValueError(
                    f"the key '{key}' is given without a policy that takes it; give "
                    "`policy = \"O2\"` with 'narrow' and 'wide', or leave it out"
                )
        missing = [key for key in ("narrow", "wide") if values[key] is None]
        if of_two and missing:
            raise ValueError(
                f"policy '{of_two[0]}' is given without the key '{missing[0]}'; give the names of "
                'two formats: narrow = "fp16", wide = "fp32"'
            )
        for name in (*self.allow, *self.deny):
            word("stage", name, self.stages_of_policies())
        lists = "".join(
            f",{key}={'+'.join(values[key])}" for key in ("allow", "deny") if values[key]
        )
        formats = f",narrow={self.narrow},wide={self.wide}{lists}"
        names = [f"policy:{name}{formats * (name in of_two)}" for name in self.policy]
        return tuple(resolve_backend(name).name for name in names)
