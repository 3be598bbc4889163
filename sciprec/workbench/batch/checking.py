"""Everything that is wrong with a scenario, found before anything is computed; in its tolerances,
too, which name variables and metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sciprec.foundation.errors import InputError, meant
from sciprec.precision.formats.backend import TRUTH
from sciprec.results.comparison.pointwise.error_metrics import metrics
from sciprec.results.output.stated import is_compared
from sciprec.results.output.variables import VARIABLES
from sciprec.scenario.loading import Scenario
from sciprec.scenario.sweep import swept
from sciprec.scenario.variant import Variant
from sciprec.tools.monitor.plan import require_known
from sciprec.workbench.batch.plan import variants_of
from sciprec.workbench.kinds import kind_of
from sciprec.workbench.kinds.files import examined, read_scenario


def complaints_of(file: str | Path) -> list[str]:
    """All that is wrong with a scenario file, a sentence each; empty where nothing is.

    What only the model knows is asked where the table of its kind is right by itself.

    Args:
        file: a TOML file, or the name of a scenario that comes with sciprec.
    """
    try:
        content = read_scenario(file)
    except InputError as error:
        return str(error).splitlines()
    try:
        contents = swept(content)
    except InputError as error:
        return [f"{file}: {complaint}" for complaint in str(error).splitlines()]
    wrong: dict[str, list[str]] = {}
    for each in contents:
        result = examined(each)
        of_model = [] if result.rest is None else _wrong_with(result.rest)
        for complaint in dict.fromkeys((*result.complaints, *of_model)):
            wrong.setdefault(complaint, []).append(str(each.get("name")))
    return [
        f"{file}: {_of_some(names, len(contents))}{complaint}" for complaint, names in wrong.items()
    ]


def _of_some(names: list[str], every: int) -> str:
    """The scenarios of a sweep that a complaint is about; empty where it is about all."""
    if len(names) == every:
        return ""
    return f"scenario '{names[0]}'{f' and {len(names) - 1} more' * (len(names) > 1)}: "


def check(scenario: Scenario, others: Iterable[Variant] = ()) -> None:
    """Let the scenario's model check the request, before anything is computed.

    Args:
        scenario: with its own variants.
        others: further ones that are to run, such as those of arithmetics in place of its own.

    Raises:
        InputError: the model does not know a name, numbers do not fit together, or a tolerance
            names what these runs do not have; a line for each.
    """
    wrong = _wrong_with(scenario, others)
    if wrong:
        raise InputError(
            "\n".join(f"scenario '{scenario.name}': {complaint}" for complaint in wrong)
        )


def _wrong_monitor(scenario: Scenario) -> list[str]:
    """Complaints about the table [monitor] of a scenario."""
    if scenario.monitor is None:
        return []
    watched = kind_of(scenario).watched
    if watched is None:
        return [
            f"a table [monitor] is given, and scenarios of kind '{scenario.kind}' have no state "
            "that could be watched from step to step; remove it"
        ]
    if scenario.monitor.drift_every is not None and not kind_of(scenario).drifts:
        return [
            "table [monitor]: drift_every is given, and no step of scenarios of kind "
            f"'{scenario.kind}' can be made again in fp64 from a run's own state; remove it"
        ]
    try:
        variables = watched(scenario.table)
    except InputError:  # the model says what is wrong
        return []
    if not variables:
        return []
    try:
        require_known(scenario.monitor, variables, f"kind '{scenario.kind}'")
    except InputError as error:
        return [f"table [monitor]: {error}"]
    return []


def _wrong_with(scenario: Scenario, variants: Iterable[Variant] = ()) -> list[str]:
    """Complaints about a scenario by its model, and about its tolerances."""
    complaints: dict[str, None] = dict.fromkeys(_wrong_monitor(scenario))
    own_variants = variants_of(scenario, scenario.backends or (TRUTH,))
    plan = None if complaints or scenario.monitor is None else scenario.monitor.plan()
    for variant in (*own_variants, *(v for v in variants if v not in own_variants)):
        try:
            kind_of(scenario).check(scenario.table, variant)
        except InputError as error:
            complaints |= dict.fromkeys(
                f"table [{scenario.kind}]: {e}" for e in str(error).splitlines()
            )
            continue
        try:
            if plan is not None and variant.adaptive is None:
                kind_of(scenario).watchable(scenario.table, variant, plan)
        except InputError as error:
            complaints[f"table [monitor]: {error}"] = None
    compared = None if complaints else compared_variables(scenario)
    return [*complaints, *wrong_tolerances(scenario, compared)]


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
