"""Tolerances of a scenario: whether the variables and metrics that they name exist."""

from __future__ import annotations

from sciprec.foundation.errors import meant
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.output.stated import is_compared
from sciprec.results.output.variables import VARIABLES
from sciprec.scenario.loading import Scenario
from sciprec.workbench.kinds import kind_of


def wrong_tolerances(scenario: Scenario, compared: tuple[str, ...] | None) -> list[str]:
    """A sentence for each tolerance that names no metric, or no variable that these runs compare.

    Args:
        scenario: whose tolerances.
        compared: the variables of its files that are compared; None where that cannot be told.
    """
    complaints = []
    for tolerance in scenario.tolerance:
        for key, names, whose in (
            ("metric", tuple(metrics()), ""),
            ("variable", compared, f" for runs of kind '{scenario.kind}' with these keys"),
        ):
            value = getattr(tolerance, key)
            if names is not None and value not in names:
                complaints.append(
                    f"[[tolerance]] names the unknown {key} '{value}'; known{whose}: "
                    f"{', '.join(names)}{meant(value, names)}"
                )
        in_errors = tolerance.metric == "standard_errors" and tolerance.variable in (compared or ())
        if in_errors and not _estimated(tolerance.variable, compared):
            estimated = ", ".join(n for n in compared if _estimated(n, compared)) or "none"
            complaints.append(
                f"[[tolerance]] holds '{tolerance.variable}' against its standard error, which it "
                f"does not have; of these runs' variables have one: {estimated}; name another "
                "metric, such as relative_l2"
            )
    return list(dict.fromkeys(complaints))


def _estimated(name: str, stored: tuple[str, ...]) -> bool:
    """Whether a variable is a Monte Carlo mean whose standard error is stored beside it."""
    error = dict(VARIABLES[name].attributes).get("ancillary_variables") if name in VARIABLES else ""
    return error in stored


def compared_variables(scenario: Scenario) -> tuple[str, ...] | None:
    """Names of the variables of a scenario's files that are compared with the truth; None where its
    kind does not say so.

    Raises:
        InputError: as `checking.check`.
    """
    kind = kind_of(scenario)
    if kind.variables is None:
        return None
    names = kind.variables(scenario.table)
    return tuple(name for name in names if is_compared(name, kind.attributes))
