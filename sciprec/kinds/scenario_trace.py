"""`trace_scenario`: where the error of a scenario's model arises."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.checks.arguments import names, refused
from sciprec.diagnosis.lines import LANES
from sciprec.diagnosis.models.traces import ModelTrace, Results, trace_program
from sciprec.kinds import Surroundings, kind_of, parse_scenario
from sciprec.kinds.files import read_scenario
from sciprec.kinds.kind import Kind
from sciprec.output.stated import PRIMARY
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.scenario.changes import changed
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant

TIME = "time"


@dataclass(frozen=True)
class _Handed(Variant):
    """A variant whose arithmetic is a backend by itself."""

    backend: Any

    def _named(self, stored: str = "") -> str:
        return self.backend.name


def trace_scenario(
    scenario: Scenario | Mapping[str, Any] | str | Path,
    backend: str | Backend,
    *,
    output: str | Iterable[str] | None = None,
    by: str = "line",
    lanes: int = LANES,
    samples: int | None = None,
    changes: Mapping[str, Any] | None = None,
) -> ModelTrace:
    """Split the error of a scenario's model by function and line, from the initial state on.

    Every number of the model's kernels carries its error in parts, also between kernels; exact is
    real arithmetic along the path of the tested run, see `trace`. Of runs in time the state at the
    last stored time counts, unless parts are more than ten times larger than their sum there.

    Args:
        scenario: a Scenario, its content, or a file; the first of its compensations is taken,
            and of its stages.
        backend: a floating-point arithmetic without random bits, of at most 30 bits.
        output: names of variables that count; left out, the fields of the model (of prices the
            prices).
        by: what functions with more than 5 % of the error are split by: "line", "operation" or
            "variable"; "function": by none.
        lanes: numbers beside each value: lanes - 2 groups are followed in one run; 4, 8, 16 or 32.
        samples: inputs over which parts of lines are correlated, the model's own and perturbed
            ones; left out, 1 where the results are at least 1000 numbers, else 16.
        changes: values in place of the file's, by dotted key: {"climate.days": 0.5}.

    Raises:
        InputError: an argument cannot be used, or the model cannot be traced.
        LiftError: a kernel of the model cannot.

    Precision:
        Tested values are those of an ordinary run, bit for bit. What a model does between kernels
        is done in binary64 on tested values, on exact ones, and on those between that lack some
        parts of the error: its effect on parts adds up, in that order.
    """
    found = _loaded(scenario, changes or {})
    resolved, choices, stages = resolve_backend(backend), found.choices(), found.stage_choices()
    more = {"compensation": choices[0]} if choices else {}
    more |= {"stages": stages[0]} if stages else {}
    variant = Variant(resolved.name, **more, stored=found.stored_format)
    return trace_variant(
        found, variant, resolved, output=output, by=by, lanes=lanes, samples=samples
    )


def trace_variant(
    scenario: Scenario,
    variant: Variant,
    backend: Backend,
    *,
    output: str | Iterable[str] | None = None,
    by: str = "line",
    lanes: int = LANES,
    samples: int | None = None,
) -> ModelTrace:
    """The trace of one run of a scenario, see `trace_scenario`.

    Args:
        scenario: validated.
        variant: in which arithmetic it runs, with what belongs to it.
        backend: that arithmetic.
        output, by, lanes, samples: as there.
    """
    kind = kind_of(scenario)
    table = scenario.table.model_copy(update=dict.fromkeys(scenario.folders))
    kind.check(table, variant)

    def program(handed: Backend) -> Results:
        given = _Handed(handed, variant.compensation, variant.stages, variant.stored)
        return _results(kind.run(table, given, Surroundings(timed=False)), kind, output)

    return trace_program(
        program, backend, model=scenario.name, by=by, lanes=lanes, samples=samples
    )


def _loaded(given: Any, changes: Mapping[str, Any]) -> Scenario:
    """The scenario, with what is said otherwise."""
    if isinstance(given, Scenario) and not changes:
        return given
    if isinstance(given, Scenario):
        content, origin = given.model_dump(mode="json"), f"scenario '{given.name}'"
    elif isinstance(given, Mapping):
        content, origin = dict(given), "scenario"
    else:
        content, origin = read_scenario(given), str(given)
    return parse_scenario(changed(content, changes), origin)


def _results(dataset: xr.Dataset, kind: Kind, output) -> Results:
    """The variables that count, as plain arrays."""
    numbers = {str(n): v for n, v in dataset.data_vars.items() if v.dtype.kind == "f"}
    if output is None:
        wanted = _usual(numbers, {**kind.attributes, **dataset.attrs})
    else:
        wanted = [output] if isinstance(output, str) else list(names("output", output))
        for one in wanted:
            if one not in numbers:
                raise refused("output", one, f"one of {', '.join(numbers)}")
    timed = tuple(n for n in wanted if numbers[n].dims[:1] == (TIME,))
    times = tuple(map(float, dataset[TIME].values)) if timed else ()
    return Results({n: numbers[n].values for n in wanted}, timed, times)


def _usual(numbers: Mapping[str, xr.DataArray], attributes: Mapping[str, Any]) -> list[str]:
    """What the model states as primary, or else fields in time, or else all."""
    primary = [n for n in str(attributes.get(PRIMARY, "")).split() if n in numbers]
    fields = [n for n, v in numbers.items() if v.dims[:1] == (TIME,) and v.ndim > 1]
    return primary[:1] or fields or list(numbers)
