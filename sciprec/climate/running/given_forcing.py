"""Checks the forcing of a run, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sciprec.climate.equations.forced import FORCED
from sciprec.climate.equations.registry import EquationSet
from sciprec.climate.physics.forcings import Forcing
from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.loading import loaded_file

_ACCEPTED = "a kernel decorated by sciprec.climate.forcing, or FILE.py:NAME of one"


def check_forcing(
    equations: EquationSet, forcing: Any, parameters: Any
) -> tuple[Forcing | None, dict[str, float]]:
    """The forcing that a run is under, and values of its parameters.

    Args:
        equations: of the flow.
        forcing: None, a kernel decorated by `climate.forcing`, or "FILE.py:NAME" of one.
        parameters: None, or a table of values in the units of the forcing's own table.

    Raises:
        InputError: they are not accepted.
    """
    if forcing is None:
        if parameters:
            raise InputError("forcing_parameters is given without a forcing; give forcing, too")
        return None, {}
    if isinstance(forcing, str):
        forcing = _loaded(forcing)
    if not isinstance(forcing, Forcing):
        raise refused("forcing", forcing, _ACCEPTED)
    if equations.name not in FORCED:
        raise InputError(
            f"forcing '{forcing.name}' is given to the equations {equations.name!r}, which take "
            f"none; accepted: cases of {', '.join(FORCED)}"
        )
    changed = {} if parameters is None else parameters
    if not isinstance(changed, Mapping):
        accepted = f"a table of parameters of '{forcing.name}'"
        raise refused("forcing_parameters", parameters, accepted)
    forcing.values(changed)
    return forcing, dict(changed)


def _loaded(place: str) -> Forcing:
    """The forcing of a Python file, FILE.py:NAME, or FILE.py where it has one alone."""
    file, _, name = place.rpartition(":") if ".py:" in place else (place, "", "")
    if not file.endswith(".py"):
        raise refused("forcing", place, _ACCEPTED)
    module = loaded_file(file, "forcing", registers=False)
    names = {key: value for key, value in vars(module).items() if isinstance(value, Forcing)}
    if name in names:
        return names[name]
    if not name and len(names) == 1:
        return next(iter(names.values()))
    lacks = f"has no forcing {name!r}" if name else f"has {len(names)} forcings"
    raise InputError(
        f"forcing: the file '{file}' {lacks}; it has {', '.join(names) or 'none'}"
        f"{meant(name, names) if name else ''}; give FILE.py:NAME of a kernel decorated by "
        "sciprec.climate.forcing"
    )
