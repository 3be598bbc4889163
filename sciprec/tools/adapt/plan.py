"""The plan of an adaptive run: a tolerance to keep, and a ladder of arithmetics from narrow to
wide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sciprec.foundation.arguments import Range, integer, names, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.backend import Backend, HandedBackend, resolve_backend
from sciprec.precision.formats.float_format import Format

EVERY = 36
"""Steps of a block where nothing is said."""
TOLERANCE = Range("a number above 0 and below 1, such as 1e-3", above=0.0, most=1.0)
_EXAMPLE = 'such as ["fp16", "mlu370", "fp32"]'
_KEYS = ("tolerance", "ladder", "every", "variable")


@dataclass(frozen=True)
class AdaptivePlan:
    """The tolerance that an adaptive run is to keep, and its ladder.

    Args:
        tolerance: the relative l2 error against fp64 that a variable may have at the end.
        ladder: names of arithmetics, from narrow to wide.
        every: steps of a block.
        variable: of the state; empty: the first one of the climate's, all of a user's model.
    """

    tolerance: float
    ladder: tuple[str, ...]
    every: int = EVERY
    variable: str = ""

    @property
    def widest(self) -> str:
        """The last rung of the ladder."""
        return self.ladder[-1]


def checked_plan(
    tolerance: Any, ladder: Sequence[str], every: Any = EVERY, variable: str | None = None
) -> AdaptivePlan:
    """A plan, as far as it can be checked without a model.

    Raises:
        InputError: a tolerance, a ladder or a number of steps is none.
    """
    most = TOLERANCE.number("tolerance", tolerance)
    if most >= 1.0:
        raise refused("tolerance", tolerance, TOLERANCE.words)
    steps = integer("every", every, 1, 2**31, "a whole number of steps from 1")
    if variable is not None and not isinstance(variable, str):
        raise refused("variable", variable, 'the name of a variable of the state, "vorticity"')
    return AdaptivePlan(most, checked_ladder(ladder), steps, variable or "")


def checked_ladder(rungs: Sequence[str]) -> tuple[str, ...]:
    """The names of a ladder's arithmetics, as the table has them.

    Raises:
        InputError: fewer than two, one that is unknown or no float that is rounded alike each time,
            or one that is no wider than the one before it.
    """
    ladder = [resolve_backend(name) for name in names("ladder", rungs)] if rungs else []
    if len(ladder) < 2:
        rungs = list(rungs) if isinstance(rungs, tuple) else rungs
        raise refused("ladder", rungs, f"two arithmetics or more from narrow to wide, {_EXAMPLE}")
    for rung in ladder:
        if rung.fixed or rung.random or isinstance(rung, HandedBackend):
            raise InputError(
                f"ladder names '{rung.name}'; accepted: floats that are rounded alike each time, "
                f"{_EXAMPLE}"
            )
    for before, rung in zip(ladder, ladder[1:], strict=False):
        if not _is_wider(rung, before):
            raise InputError(
                f"ladder names '{rung.name}' after '{before.name}', and it is no wider; give "
                f"arithmetics from narrow to wide, {_EXAMPLE}"
            )
    return tuple(rung.name for rung in ladder)


def _is_wider(backend: Backend, other: Backend) -> bool:
    """Whether a significand has more bits; where it has as many, whether the range holds that of
    the other at both its ends, and is a larger one.
    """
    first, second = backend.compute.format, other.compute.format
    assert isinstance(first, Format)
    assert isinstance(second, Format)
    if first.significand_bits != second.significand_bits:
        return first.significand_bits > second.significand_bits
    ends = first.max_finite, -first.min_positive, second.max_finite, -second.min_positive
    return ends[:2] != ends[2:] and ends[0] >= ends[2] and ends[1] >= ends[3]


def plan_from(plan: AdaptivePlan | Mapping[str, Any] | None) -> AdaptivePlan | None:
    """A plan from what a user gives; None where the arithmetic stays as it is.

    Raises:
        InputError: as `checked_plan`, or it is neither, or a table with other keys.
    """
    if plan is None or isinstance(plan, AdaptivePlan):
        return plan
    example = '{"tolerance": 1e-3, "ladder": ["fp16", "mlu370", "fp32"]}'
    if not isinstance(plan, Mapping):
        raise refused("adaptive", plan, f"a table such as {example}")
    for name in plan:
        if name not in _KEYS:
            raise InputError(
                f"adaptive has the unknown key {name!r}; known: {', '.join(_KEYS)}"
                f"{meant(name, _KEYS)}"
            )
    for name in _KEYS[:2]:
        if name not in plan:
            raise InputError(f"adaptive has no key '{name}'; give a table such as {example}")
    return checked_plan(**plan)


def require_variable(plan: AdaptivePlan, variables: Sequence[str]) -> str:
    """The variable that is judged; the first one where none is named.

    Raises:
        InputError: the model does not have it.
    """
    if plan.variable and plan.variable not in variables:
        raise InputError(
            f"adaptive names the variable {plan.variable!r}; known: {', '.join(variables)}"
            f"{meant(plan.variable, variables)}"
        )
    return plan.variable or variables[0]
