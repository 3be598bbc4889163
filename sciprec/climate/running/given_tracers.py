"""Checks the tracers of a run: their names, and where they begin."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sciprec.climate.equations.registry import EquationSet
from sciprec.climate.equations.tracers import SHAPES, TRACED, Tracer
from sciprec.foundation.arguments import refused, shown
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import PARAMETER
from sciprec.foundation.time_methods import prefixes

MOST_TRACERS = 50
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_ACCEPTED = (
    f"a table of initial fields by name, such as {{'bell': 'cosine_bell', 'ones': 1.0}}, of at "
    f"most {MOST_TRACERS}; or names of shapes: {', '.join(SHAPES)}"
)


def check_tracers(equations: EquationSet, given: Any) -> tuple[Tracer, ...]:
    """The tracers that a run is to carry, in the order given.

    Args:
        equations: of the flow.
        given: None; initial field by name, a number or a name of `SHAPES`; or a list of these.

    Raises:
        InputError: the flow carries none, or one of them is not accepted.
    """
    if given is None or (isinstance(given, (Mapping, list, tuple)) and not given):
        return ()
    if isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given):
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"tracers names {twice!r} twice; leave one of them out")
        given = {name: name for name in given}
    if not isinstance(given, Mapping) or len(given) > MOST_TRACERS:
        raise refused("tracers", given, _ACCEPTED)
    if equations.name not in TRACED:
        raise InputError(
            f"tracers are given to the equations {equations.name!r}, which carry none; accepted: "
            f"cases of {', '.join(TRACED)}"
        )
    return tuple(_tracer(equations, name, start) for name, start in given.items())


def _tracer(equations: EquationSet, name: Any, start: Any) -> Tracer:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"a tracer is named {shown(name)}; accepted: a letter, then up to 39 letters, digits "
            "and underscores"
        )
    from sciprec.results.output.variables import VARIABLES  # it brings xarray

    taken = {*VARIABLES, *equations.variables, *equations.fields, *equations.budgets}
    if name in taken or name.startswith(("zonal_mean_", *prefixes())):
        raise InputError(
            f"a tracer is named {name!r}, which is the name of another variable; give it another"
        )
    if isinstance(start, str):
        if start not in SHAPES:
            raise InputError(
                f"tracer {name!r} begins as {start!r}, which is no known shape; known: "
                f"{', '.join(SHAPES)}, or a number{meant(start, SHAPES)}"
            )
        return Tracer(name, start)
    return Tracer(name, PARAMETER.number(f"the initial value of tracer {name!r}", start))
