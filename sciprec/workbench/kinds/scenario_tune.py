"""`tune_scenario`: the cheapest format for every line or stage of a scenario's model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sciprec.arrays.metrics import MetricFunction, metric_of
from sciprec.foundation.arguments import by_of, choice, names
from sciprec.foundation.errors import InputError
from sciprec.foundation.later import MODEL_STAGES
from sciprec.instruments.assigning.files import ROUNDS
from sciprec.instruments.assigning.places import BY
from sciprec.scenario.changes import changes_of
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.tools.tune.formats import formats_of
from sciprec.tools.tune.found import TuneResult, checked_tolerance, tuned
from sciprec.tools.tune.model_problem import ModelProblem
from sciprec.workbench.kinds import kind_of
from sciprec.workbench.kinds.programs import ScenarioLike, loaded, program_of

BY_OF_MODELS = ("stage", *BY)
_BARE = Variant("fp64")


class TunedModel(TuneResult):
    """Formats that a search has found for a model; see `TuneResult` for its attributes."""


def tune_scenario(
    scenario: ScenarioLike,
    *,
    tolerance: float | str,
    output: str | Iterable[str] | None = None,
    metric: str | MetricFunction = "relative_l2",
    formats: str | Sequence[str] = ("fp64", "fp32", "bf16"),
    by: str = "line",
    changes: Mapping[str, Any] | None = None,
    check: Mapping[str, Any] | None = None,
    margin: float = 1.5,
    rounds: str = "operations",
    unit: str | None = None,
) -> TunedModel:
    """Find the cheapest format for every line, or stage, of a scenario's model.

    The model's kernels are compiled once for all choices of formats (and once more to count
    operations); a search then runs the model with some tens to hundreds of them, on threads. It
    goes on where it was interrupted. What is found runs in a scenario:
    `found.save("mix.toml")`, `backends = ["assignment:mix.toml"]`.

    Args:
        scenario: a Scenario, its content, or a file; its compensations and stages are left out.
        tolerance: the largest error of the results, against binary64.
        output: names of variables that count; left out, the fields of the model (of prices the
            prices). Of those in time the last state counts.
        metric: see `tune`.
        formats: names of formats in any order, or "bits" for significands of 2 to 25 bits.
        by: what gets a format of its own: "line", "operation", "variable", "function", "call",
            or "stage" as `sciprec list policies` lists them.
        changes: values in place of the file's, by dotted key: {"climate.days": 0.5}.
        check: further changes, of a run that the search does not see: it keeps to tolerance /
            margin on its own, and the result is checked on this one.
        margin: see `check`; without that it is not used.
        rounds: see `tune`.
        unit: the older name of `by`.

    Returns:
        A TunedModel: the assignment, its error and cost; see `tune`. Operations of the first calls
        of every kernel with arrays of the same shapes are counted; further calls count as their
        mean.

    Raises:
        InputError: the widest format misses the tolerance, or an argument cannot be used.
        LiftError: a kernel of the model cannot be lifted.

    Source:
        As `tune`.
    """
    subject = _require_own_format(loaded(scenario, changes))
    tolerance = checked_tolerance(tolerance, margin, metric)
    by = choice("by", by_of(by, unit), BY_OF_MODELS)
    choice("rounds", rounds, ROUNDS)
    outputs = output if output is None else tuple(names("output", output))
    stages = tuple(s for stages in MODEL_STAGES.values() for s in stages) if by == "stage" else ()
    check_program = None
    if check is not None:
        if not changes_of(check, "check"):
            raise InputError(
                "check has no changes, so that it is the run of the search; leave it out, or "
                'change something, as in {"climate.days": 2.0}'
            )
        changed = _require_own_format(loaded(scenario, {**(changes or {}), **check}))
        check_program = program_of(changed, _BARE, outputs)
    problem = ModelProblem(
        program_of(subject, _BARE, outputs), model=subject.name,
        content=(subject.model_dump_json(), repr(outputs), kind_of(subject).state(subject.table)),
        stages=stages, metric=metric_of(metric), formats=formats_of(formats), by=by,
        rounds=rounds,
    )  # fmt: skip
    return tuned(TunedModel, problem, tolerance, margin, check_program)


def _require_own_format(scenario: Scenario) -> Scenario:
    """A scenario, its state in the arithmetic's own format.

    Raises:
        InputError: it is stored in another one.
    """
    if scenario.stored_format is not None:
        raise InputError(
            f"scenario '{scenario.name}' stores its state in '{scenario.stored_format}'; tune "
            "gives formats to operations: leave 'stored' out"
        )
    return scenario
