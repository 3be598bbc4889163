"""Branches, forcings and tracers that users bring to a run, checked.

A branch goes on from a state as its request holds it; a forcing has parameters, a tracer a name and
a beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.climate.equations.forced import FORCED
from sciprec.climate.equations.registry import EquationSet
from sciprec.climate.equations.tracers import GIVEN, SHAPES, TRACED, Tracer
from sciprec.climate.physics.forcings import Forcing
from sciprec.climate.stepping.levels import Level
from sciprec.foundation.arguments import refused, shown
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import PARAMETER
from sciprec.foundation.loading import loaded_file
from sciprec.foundation.time_methods import prefixes

if TYPE_CHECKING:
    from sciprec.results.output.given_fields import GivenFields

_ACCEPTED = "a kernel decorated by sciprec.climate.forcing, or FILE.py:NAME of one"
MOST_TRACERS = 50
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_ACCEPTED_TRACERS = (
    f"a table of initial fields by name, such as {{'bell': 'cosine_bell', 'ones': 1.0}}, of at "
    f"most {MOST_TRACERS}; or names of shapes: {', '.join(SHAPES)}"
)
_LONGEST_UNIT = 60


@dataclass(frozen=True)
class Start:
    """The state that a branch goes on from.

    Args:
        words: where it comes from, and what of it was dropped.
        digest: of its content.
        levels: of the time scheme, newest first, as they were; empty where the fields of the
            request are the state.
        is_same: whether levels and residuals are in the formats of the branch.
        kernels: from `compiled.kernel_states`; empty where they begin anew.
        perturbed: whether the perturbation of the branch is in them already.
        file: the path of a file of fields, empty for checkpoints.
        names: of its variables by field, where it has other ones.
        forced: tendencies of a forcing that the next step uses, or None.
    """

    words: str
    digest: str
    levels: tuple[Level, ...] = field(default=(), repr=False)
    is_same: bool = False
    kernels: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    perturbed: bool = False
    file: str = ""
    names: Mapping[str, str] | None = None
    forced: np.ndarray | None = field(default=None, repr=False)

    def levels_as(
        self, stored: Callable[[np.ndarray], np.ndarray], level: Callable, moved: np.ndarray | None
    ) -> list[Level]:
        """The levels in the formats of a model.

        Args:
            stored: rounds a state to the format between steps.
            level: makes a level of values, with an empty residual where there is one.
            moved: what a perturbation adds to the state, flat; None without any.
        """
        if self.is_same and moved is None:
            return [each.copy() for each in self.levels]
        more = 0.0 if moved is None else moved
        return [level(stored(each.values.astype(np.float64) + more)) for each in self.levels]


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


def from_initial(tracers: Any) -> tuple[str, ...]:
    """Names of the tracers that begin as fields of the initial dataset or file.

    Args:
        tracers: as in `check_tracers`, which checks it.
    """
    table = tracers.items() if isinstance(tracers, Mapping) else ()
    return tuple(str(name) for name, start in table if _start_and_units(start)[0] == GIVEN)


def check_tracers(
    equations: EquationSet, table: Any, initial: GivenFields | None = None
) -> tuple[Tracer, ...]:
    """The tracers that a run is to carry, in the order given.

    Args:
        equations: of the flow.
        table: None; initial field by name, a number, a name of `SHAPES` or `GIVEN`, or one of these
            and a unit; or a list of names of shapes.
        initial: the fields of the initial state that are given, or None.

    Raises:
        InputError: the flow carries none, or one of them is not accepted.
    """
    if table is None or (isinstance(table, (Mapping, list, tuple)) and not table):
        return ()
    if isinstance(table, (list, tuple)) and all(isinstance(name, str) for name in table):
        twice = next((name for name in table if table.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"tracers names {twice!r} twice; leave one of them out")
        table = {name: name for name in table}
    if not isinstance(table, Mapping) or len(table) > MOST_TRACERS:
        raise refused("tracers", table, _ACCEPTED_TRACERS)
    if equations.name not in TRACED:
        raise InputError(
            f"tracers are given to the equations {equations.name!r}, which carry none; accepted: "
            f"cases of {', '.join(TRACED)}"
        )
    tracers = (_tracer(equations, name, start) for name, start in table.items())
    return tuple(each if each.start != GIVEN else begun_as(each, initial) for each in tracers)


def begun_as(tracer: Tracer, fields: GivenFields | None) -> Tracer:
    """The tracer that begins as a field of its name, in the unit of that if it has none of its own.

    Raises:
        InputError: there is none, or it is in another unit.
    """
    if fields is None:
        raise InputError(
            f"tracer {tracer.name!r} begins as {GIVEN!r}, and initial is not given; give "
            f"initial, a dataset or file with a field {tracer.name!r} (with start_from, tracers "
            "of the file go on, whatever they begin as)"
        )
    from sciprec.results.output.given_units import is_same_unit

    units = str(fields.variables[tracer.name].attrs.get("units", "")).strip()
    if units and tracer.units and not is_same_unit(units, tracer.units):
        raise InputError(
            f"{fields.source}: '{fields.names[tracer.name]}' is in {units!r}, and tracer "
            f"{tracer.name!r} in {tracer.units!r}; give the tracer the unit of the file, or "
            "convert the field"
        )
    return replace(tracer, units=tracer.units or units, given=fields.alone(tracer.name))


def _start_and_units(start: Any) -> tuple[Any, Any]:
    """The start of a tracer and its unit, empty where it has none."""
    if isinstance(start, (list, tuple)) and len(start) == 2:
        return start[0], start[1]
    return start, ""


def _tracer(equations: EquationSet, name: Any, start: Any) -> Tracer:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"a tracer is named {shown(name)}; accepted: a letter, then up to 39 letters, digits "
            "and underscores"
        )
    from sciprec.results.output.variables import VARIABLES  # it brings xarray

    reserved = {*VARIABLES, *equations.variables, *equations.fields, *equations.budgets}
    if name in reserved or name.startswith(("zonal_mean_", *prefixes())):
        raise InputError(
            f"a tracer is named {name!r}, which is the name of another variable; give it another"
        )
    start, units = _start_and_units(start)
    if not isinstance(units, str) or units != units.strip() or len(units) > _LONGEST_UNIT:
        accepted = f"a text such as 'kg kg-1', of at most {_LONGEST_UNIT} characters"
        raise refused(f"the unit of tracer {name!r}", units, accepted)
    if isinstance(start, str):
        if start not in (*SHAPES, GIVEN):
            raise InputError(
                f"tracer {name!r} begins as {start!r}, which is no known shape; known: "
                f"{', '.join(SHAPES)}, or a number, or {GIVEN!r}, as a field of that dataset or "
                f"file{meant(start, (*SHAPES, GIVEN))}"
            )
        return Tracer(name, start, units)
    return Tracer(name, PARAMETER.number(f"the initial value of tracer {name!r}", start), units)
