"""Tolerances of a scenario: whether what they name is there to be judged, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sciprec.batch import options
from sciprec.compare.metrics import metrics
from sciprec.errors import InputError, meant
from sciprec.output.variables import VARIABLES
from sciprec.scenario import Scenario

_SUMS = ("parameter", "largest_error_in_u", "mean_error_in_u")


def check_tolerances(scenario: Scenario) -> None:
    """Make sure that every tolerance names a metric, and a variable that these runs compare.

    Raises:
        InputError: one does not.
    """
    for tolerance in scenario.tolerance:
        of_kind = compared_variables(scenario)
        for key, known, whose in (
            ("metric", tuple(metrics()), ""),
            ("variable", of_kind, f" for runs of kind '{scenario.kind}' with these keys"),
        ):
            given = getattr(tolerance, key)
            if given not in known:
                raise InputError(
                    f"scenario '{scenario.name}': [[tolerance]] names the unknown {key} '{given}'; "
                    f"known{whose}: {', '.join(known)}{meant(given, known)}"
                )
        if tolerance.metric == "standard_errors" and not _estimated(tolerance.variable, of_kind):
            estimated = ", ".join(n for n in of_kind if _estimated(n, of_kind)) or "none"
            raise InputError(
                f"scenario '{scenario.name}': [[tolerance]] holds '{tolerance.variable}' against "
                f"its standard error, which it does not have; of these runs' variables have one: "
                f"{estimated}; name another metric, such as relative_l2"
            )


def _estimated(name: str, stored: tuple[str, ...]) -> bool:
    """Whether a variable is a Monte Carlo mean whose standard error is stored beside it."""
    error = dict(VARIABLES[name].attributes).get("ancillary_variables") if name in VARIABLES else ""
    return error in stored


def compared_variables(scenario: Scenario) -> tuple[str, ...]:
    """Names of the variables of a scenario's files that are compared with the truth.

    Raises:
        InputError: as `perform.check`, of kind "climate".
    """
    names = _STORED[scenario.kind](getattr(scenario, scenario.kind))
    return tuple(name for name in names if name not in VARIABLES or VARIABLES[name].compared)


def _climate(given: Any) -> tuple[str, ...]:
    """The variables that are kept, and the budgets of the equations."""
    from sciprec.climate.request import check_request

    request = check_request(**given.model_dump(exclude={"checkpoints"}))
    return (*request.variables, *request.equations.budgets)


_STORED: dict[str, Callable[[Any], tuple[str, ...]]] = {
    "climate": _climate,
    "heston": options.stored_variables,
    "accumulation": lambda given: _SUMS,
}
