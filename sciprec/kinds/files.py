"""Scenario files: each becomes a frozen scenario of its kind, or sentences of what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sciprec.checks import arguments
from sciprec.errors import InputError, meant
from sciprec.kinds.kind import kinds
from sciprec.scenario.complaints import complaint
from sciprec.scenario.loading import EXAMPLE, Scenario
from sciprec.scenario.shipped import SCENARIOS
from sciprec.scenario.toml_file import read_toml


def load_scenario(path: str | Path) -> Scenario:
    """Read and validate one scenario file.

    Args:
        path: a TOML file, or the name of a scenario that comes with sciprec.

    Returns:
        A frozen scenario of its kind, such as ClimateScenario.

    Raises:
        InputError: the file cannot be read or something in it cannot be used; one line per
            complaint, each naming the file and the key.
    """
    file = Path(arguments.path("a scenario", path))
    return parse_scenario(read_toml(file, "scenario", SCENARIOS, EXAMPLE), origin=str(file))


def parse_scenario(content: dict[str, Any], origin: str = "scenario") -> Scenario:
    """Validate a scenario that is already a dictionary; `origin` is named in the complaints."""
    name, known = content.get("kind"), kinds()
    if not isinstance(name, str) or name not in known:
        given = "is missing" if name is None else f"was given {name!r}"
        raise InputError(
            f"{origin}: the key 'kind' {given}; accepted: {', '.join(known)}{meant(name, known)}"
        )
    schema = known[name].scenario
    try:
        scenario = schema.model_validate(content)
    except ValidationError as error:
        complaints = [complaint(schema, dict(e)) for e in _one_of_each(error.errors())]
        raise InputError("\n".join(f"{origin}: {c}" for c in complaints)) from None
    if scenario.ensemble is not None and not known[name].ensembles:
        others = [f"'{kind.name}'" for kind in known.values() if kind.ensembles]
        raise InputError(
            f"{origin}: the table [ensemble] was given; accepted in scenarios of kind "
            f"{' and '.join(others)}{scenario.instead_of_ensemble}"
        )
    return scenario


def _one_of_each(errors: list[Any]) -> list[Any]:
    """What pydantic refuses, without arrays that are too short for the elements it has refused."""
    inner = {tuple(e["loc"][:-1]) for e in errors}
    return [e for e in errors if e["type"] != "too_short" or tuple(e["loc"]) not in inner]
