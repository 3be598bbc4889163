"""Tolerances of a scenario: whether what they name is there to be judged, before anything runs."""

from __future__ import annotations

from sciprec.comparison.pointwise.error_metrics import metrics
from sciprec.errors import InputError, meant
from sciprec.kinds import kind_of
from sciprec.output.stated import is_compared
from sciprec.output.variables import VARIABLES
from sciprec.scenario.loading import Scenario


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
            if known is not None and given not in known:
                raise InputError(
                    f"scenario '{scenario.name}': [[tolerance]] names the unknown {key} '{given}'; "
                    f"known{whose}: {', '.join(known)}{meant(given, known)}"
                )
        if of_kind is None or tolerance.metric != "standard_errors":
            continue
        if not _estimated(tolerance.variable, of_kind):
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


def compared_variables(scenario: Scenario) -> tuple[str, ...] | None:
    """Names of the variables of a scenario's files that are compared with the truth; None where its
    kind does not say so.

    Raises:
        InputError: as `perform.check`.
    """
    kind = kind_of(scenario)
    if kind.variables is None:
        return None
    names = kind.variables(scenario.table)
    return tuple(name for name in names if is_compared(name, kind.attributes))
