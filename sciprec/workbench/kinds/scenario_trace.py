"""`trace_scenario`: where the error of a scenario's model arises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sciprec.foundation.later import MODEL_STAGES
from sciprec.precision.formats.backend import TRUTH, Backend, resolve_backend
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.tools.trace.lines import LANES
from sciprec.tools.trace.models.groups import STAGE
from sciprec.tools.trace.models.traces import ModelTrace, trace_program
from sciprec.workbench.kinds import kind_of
from sciprec.workbench.kinds.programs import ScenarioLike, first_variant, loaded, program_of
from sciprec.workbench.kinds.scenario_mend import ScenarioToMend

_LONG = 0.1
"""Seconds of a run in fp64 from which on its trace by line takes minutes."""


def trace_scenario(
    scenario: ScenarioLike,
    backend: str | Backend,
    *,
    output: str | Iterable[str] | None = None,
    by: str = "line",
    lanes: int = LANES,
    samples: int | None = None,
    changes: Mapping[str, Any] | None = None,
    on_estimate: Callable[[str], None] | None = None,
    tell: Callable[[str, int, int], None] = lambda label, count, total: None,
) -> ModelTrace:
    """Split the error of a scenario's model by function and line, from the initial state on.

    Every number of the model's kernels carries its error in parts, also between kernels; exact is
    real arithmetic along the path of the tested run, see `trace`. Of runs in time the state at the
    last stored time counts, unless parts are more than ten times larger than their sum there.

    Args:
        scenario: a Scenario, its content, or a file; the first of its compensations is taken,
            and of its stages.
        backend: a floating-point arithmetic without random bits.
        output: names of variables that count; left out, the fields of the model (of prices the
            prices).
        by: what functions with more than 5 % of the error are split by: "line", "operation",
            "variable" or "call", the chain of calls; "function": by none. "step": everything by
            the model's time steps, several of them in a row where they are many. "stage": by the
            stages that `sciprec list policies` lists.
        lanes: numbers beside each value: lanes - 2 groups are followed in one run; 4, 8, 16 or 32.
        samples: inputs over which parts of lines are correlated, the model's own and perturbed
            ones; left out, 16, of long runs their beginning.
        changes: values in place of the file's, by dotted key: {"climate.days": 0.5}.
        on_estimate: called with a sentence of how long the trace will take, if that is minutes.
        tell: told what is done, how many of its runs are made, and how many there will be, about.

    Raises:
        InputError: an argument cannot be used, or the model cannot be traced.
        LiftError: a kernel of the model cannot.

    Precision:
        Tested values are those of an ordinary run, bit for bit. What a model does between kernels
        is done in binary64 on tested values, on exact ones, and on those between that lack some
        parts of the error: its effect on parts adds up, in that order. In formats of more than 25
        bits these lack the parts many times over, so that they can be told apart.
    """
    scenario_model, resolved = loaded(scenario, changes), resolve_backend(backend)
    variant = first_variant(scenario_model, resolved.name)
    stages = tuple(MODEL_STAGES.get(scenario_model.kind, ()))
    subject = ScenarioToMend(scenario_model, scenario, variant, resolved, output, changes)
    return trace_variant(
        scenario_model, variant, resolved, output=output, by=by, lanes=lanes, samples=samples,
        on_estimate=on_estimate, stages=stages, tell=tell, remedy=subject.mended,
    )  # fmt: skip


def usual_split(scenario: ScenarioLike, changes: Mapping[str, Any] | None, mend: bool) -> str:
    """The key by which the command line splits an error where it is not told: by line, but by
    stage where a long run of a model with stages is to be mended, for which these are enough.
    """
    if mend:
        loaded_one = loaded(scenario, changes)
        kind, variant = kind_of(loaded_one), Variant(TRUTH)
        takes = kind.estimate(loaded_one.table, variant, 1.0).seconds
        if MODEL_STAGES.get(loaded_one.kind) and (takes or 0.0) > _LONG:
            return STAGE
    return "line"


def trace_variant(
    scenario: Scenario,
    variant: Variant,
    backend: Backend,
    *,
    output: str | Iterable[str] | None = None,
    **how: Any,
) -> ModelTrace:
    """The trace of one run of a scenario, see `trace_scenario`.

    Args:
        scenario: validated.
        variant: in which arithmetic it runs, with what belongs to it.
        backend: that arithmetic.
        output: as there.
        how: further arguments of `trace_program`.
    """
    program = program_of(scenario, variant, output)
    return trace_program(program, backend, model=scenario.name, **how)
