"""The model of a scenario as a program: a backend -> the numbers that count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import xarray as xr

from sciprec.foundation.arguments import choice, names
from sciprec.precision.formats.backend import Backend
from sciprec.results.output.stated import PRIMARY
from sciprec.scenario.changes import changed, changes_of
from sciprec.scenario.loading import Scenario
from sciprec.scenario.variant import Variant
from sciprec.tools.trace.models.traces import Results
from sciprec.workbench.kinds import Surroundings, kind_of, parse_scenario
from sciprec.workbench.kinds.files import read_scenario
from sciprec.workbench.kinds.kind import Kind

TIME = "time"
ScenarioLike = Scenario | Mapping[str, Any] | str | Path
"""A scenario, its content, or a file."""


@dataclass(frozen=True)
class _Handed(Variant):
    """A variant whose arithmetic is a backend by itself."""

    backend: Any

    def _named(self, stored: str = "") -> str:
        return self.backend.name


def first_variant(scenario: Scenario, backend: str) -> Variant:
    """A backend with the first of a scenario's compensations, and of its stages."""
    choices, stages = scenario.choices(), scenario.stage_choices()
    options = {"compensation": choices[0]} if choices else {}
    options |= {"stages": stages[0]} if stages else {}
    return Variant(backend, **options, stored=scenario.stored_format)


def program_of(
    scenario: Scenario, variant: Variant, output: str | Iterable[str] | None
) -> Callable[[Backend], Results]:
    """A function (backend) that runs the model and gives the variables that count.

    Args:
        scenario: validated.
        variant: in which arithmetic it runs, with what belongs to it.
        output: names of variables; None: the fields of the model, of prices the prices.

    Raises:
        InputError: the model does not take the variant, or output is no name or names.
    """
    outputs = output if output is None else tuple(names("output", output))
    kind = kind_of(scenario)
    table = scenario.table.model_copy(update=dict.fromkeys(scenario.folders))
    kind.check(table, variant)

    def program(handed: Backend) -> Results:
        handed_variant = _Handed(handed, variant.compensation, variant.stages, variant.stored)
        return _results(kind.run(table, handed_variant, Surroundings(timed=False)), kind, outputs)

    return program


def loaded(source: ScenarioLike, changes: Mapping[str, Any] | None) -> Scenario:
    """The scenario with the changes.

    Args:
        source: a Scenario, its content, or a file.
        changes: values in place of the file's, by dotted key.

    Raises:
        InputError: it cannot be read, or says what is not accepted.
    """
    changes = changes_of(changes)
    if isinstance(source, Scenario) and not changes:
        return source
    if isinstance(source, Scenario):
        content, origin = source.model_dump(mode="json"), f"scenario '{source.name}'"
    elif isinstance(source, Mapping):
        content, origin = dict(source), "scenario"
    else:
        content, origin = read_scenario(source), str(source)
    return parse_scenario(changed(content, changes), origin)


def _results(dataset: xr.Dataset, kind: Kind, output: tuple[str, ...] | None) -> Results:
    """The variables that count, as plain arrays."""
    numbers = {str(n): v for n, v in dataset.data_vars.items() if v.dtype.kind == "f"}
    if output is None:
        output = tuple(_usual(numbers, {**kind.attributes, **dataset.attrs}))
    outputs = list(output)
    for name in outputs:
        choice("output", name, numbers)
    timed = tuple(n for n in outputs if numbers[n].dims[:1] == (TIME,))
    times = tuple(map(float, dataset[TIME].values)) if timed else ()
    return Results({n: numbers[n].values for n in outputs}, timed, times)


def _usual(numbers: Mapping[str, xr.DataArray], attributes: Mapping[str, Any]) -> list[str]:
    """Variables that the model states as primary, or else fields in time, or else all."""
    primary = [n for n in str(attributes.get(PRIMARY, "")).split() if n in numbers]
    fields = [n for n, v in numbers.items() if v.dims[:1] == (TIME,) and v.ndim > 1]
    return primary[:1] or fields or list(numbers)
