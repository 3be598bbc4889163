"""`@climate.forcing`: a kernel that sees fields by name and adds tendencies, and its parameters."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, overload

import numpy as np

from sciprec.climate.physics.clock import Time
from sciprec.foundation.arguments import Range, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.rewriting.syntax import parse

UNITS_OF_FIELDS = {
    "u": "m/s", "v": "m/s", "temperature": "K", "height": "m", "surface_pressure": "hPa",
    "sigma": "1", "latitude": "rad", "longitude": "rad",
}  # fmt: skip
"""Fields that a forcing may see, and their units; a model has some of them. u, v, temperature,
height and tracers are (level, lat, lon), from the top down and from south to north, also where
there is one level; surface_pressure is (lat, lon); sigma (level,), latitude (lat,), longitude
(lon,)."""
TENDENCIES = ("u", "v", "temperature", "height")
"""Fields that a forcing may change, besides tracers: tendencies a day."""


_BASES = {
    "1": 1.0, "K": 1.0, "m/s": 1.0, "hPa": 1.0, "Pa": 0.01, "kPa": 10.0, "rad": 1.0,
    "degrees": np.pi / 180.0,
}  # fmt: skip
"""Units of parameters, in those of the fields."""
_TIMES = {"s": 1 / 86400, "min": 1 / 1440, "h": 1 / 24, "day": 1.0}
_NUMBER = Range("a finite number")


def in_units_of_forcings(name: str, value: Any, unit: Any) -> float:
    """A parameter in the units of the fields and of days.

    Raises:
        InputError: it is no number, or in a unit that is unknown.
    """
    number = _NUMBER.number(name, value)
    if unit in _BASES:
        return number * _BASES[unit]
    if unit in _TIMES:
        return number * _TIMES[unit]
    base, slash, time = unit.rpartition("/") if isinstance(unit, str) else ("", "", "")
    if slash and base in _BASES and time in _TIMES:
        return number * _BASES[base] / _TIMES[time]
    units = (*_BASES, *_TIMES)
    raise InputError(
        f"the unit of parameter '{name}' is {unit!r}; accepted: {', '.join(units)}, and the first "
        f"{len(_BASES)} of these per time, such as K/day{meant(unit, (*units, 'K/day', '1/day'))}"
    )


@dataclass(frozen=True)
class Forcing:
    """A forcing: its kernel and its parameters.

    Args:
        kernel: the plain function (fields, t, out), or (fields, t, p, out) with parameters.
        parameters: name -> (value, unit).
        tracers: names of those that it sees or changes.
    """

    kernel: Callable
    parameters: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    tracers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.kernel.__name__

    def values(self, replaced: Mapping[str, float]) -> dict[str, float]:
        """Parameters in the units that the kernel sees.

        Args:
            replaced: values in the place of the usual ones, in the units of the table.

        Raises:
            InputError: a parameter is unknown or no number.
        """
        for name in replaced:
            if name not in self.parameters:
                raise InputError(
                    f"forcing '{self.name}' has no parameter {name!r}; known: "
                    f"{', '.join(self.parameters) or 'none'}{meant(name, self.parameters)}"
                )
        return {
            name: in_units_of_forcings(name, replaced.get(name, value), unit)
            for name, (value, unit) in self.parameters.items()
        }

    def as_json(self, replaced: Mapping[str, float]) -> str:
        """The parameters and their units, as text; `replaced` as in `values`."""
        table = {n: [replaced.get(n, value), unit] for n, (value, unit) in self.parameters.items()}
        return json.dumps(table, sort_keys=True)

    def arguments(self, fields: Any, time: Time, values: tuple[float, ...], out: Any) -> tuple:
        """The arguments of a call of the kernel.

        Args:
            fields, out: from `named`.
            time: when.
            values: of the parameters.
        """
        if not self.parameters:
            return fields, time, out
        return fields, time, named("Parameters", tuple(self.parameters))(*values), out

    def used(self, place: int, available: Sequence[str]) -> tuple[str, ...]:
        """The names of an argument that the kernel uses; all, where it hands it on as a whole.

        Args:
            place: of the argument: 0 is `fields`, -1 is `out`.
            available: names that the argument has.
        """
        read = _names_read(self.kernel)
        argument = tuple(inspect.signature(self.kernel).parameters)[place]
        if read is None or argument in read.handed_on:
            return tuple(available)
        return tuple(name for name in available if (argument, name) in read.names)

    def require_offered(self, fields: Sequence[str], out: Sequence[str], whose: str) -> None:
        """Make sure that a model has all that the kernel names.

        Args:
            fields, out: names that the model has.
            whose: the model in words, such as "the column".

        Raises:
            InputError: it has not.
        """
        lacking = next((name for name in self.tracers if name not in fields), None)
        if lacking is not None:
            raise InputError(
                f"forcing '{self.name}' sees or changes tracer {lacking!r}, which {whose} does not "
                f"carry; give tracers={{{lacking!r}: 0.0}} to climate.run{meant(lacking, fields)}"
            )
        read = _names_read(self.kernel)
        arguments = tuple(inspect.signature(self.kernel).parameters)
        for argument, names in ((arguments[0], fields), (arguments[-1], out)):
            for (owner, name), line in {} if read is None else read.names.items():
                if owner == argument and name not in names:
                    raise InputError(
                        f"forcing '{self.name}', line {line}: {whose} has no {owner}.{name}; it "
                        f"has {', '.join(names)}{meant(name, names)}"
                    )


def named(kind: str, names: tuple[str, ...]) -> Any:
    """The named tuple of these names, one class for the same names.

    Args:
        kind: of what, such as "Fields".
        names: of its fields.
    """
    identifier = "_".join((kind, *(f"{len(name)}{name}" for name in names)))
    if identifier not in globals():  # compiled code finds a class by its name in this module
        globals()[identifier] = namedtuple(identifier, names, module=__name__)
    return globals()[identifier]


@overload
def forcing(kernel: Callable, /) -> Forcing: ...
@overload
def forcing(
    *, parameters: Mapping[str, tuple[float, str]] | None = ..., tracers: Sequence[str] = ...
) -> Callable[[Callable], Forcing]: ...
def forcing(
    kernel: Callable | None = None, /, *,
    parameters: Mapping[str, tuple[float, str]] | None = None, tracers: Sequence[str] = (),
) -> Forcing | Callable[[Callable], Forcing]:  # fmt: skip
    """Make a forcing of the decorated kernel, which adds tendencies to a model; with parameters or
    tracers as `@climate.forcing(...)`, without as `@climate.forcing`.

    The kernel is written in plain operators and loops, is (fields, t, out), or (fields, t, p, out)
    where it has parameters, and is lifted to the arithmetic of a run. `fields` has u, v,
    temperature, height, tracers (level, lat, lon), surface_pressure (lat, lon), sigma (level,),
    latitude (lat,) and longitude (lon,), as far as the model has them; `t` is a `Time`; `p` has the
    parameters by name, in the units of the fields and of days; `out` has u, v, temperature, height
    and tracers, tendencies a day, zero before the call.

    Args:
        kernel: the function, where the decorator stands without arguments.
        parameters: name -> (value, unit), such as {"heating": (5.0, "K/day")}.
        tracers: names of tracers that it sees or changes.

    Raises:
        InputError: the kernel has other arguments, names a field that is not there or writes into
            one that it is given, or a parameter has no value, unit or possible name.

    Example:
        >>> import sciprec
        >>> @sciprec.climate.forcing(parameters={"rate": (0.1, "1/day")})
        ... def brake(fields, t, p, out):
        ...     for k in range(fields.u.shape[0]):
        ...         for j in range(fields.u.shape[1]):
        ...             for i in range(fields.u.shape[2]):
        ...                 out.u[k, j, i] -= p.rate * fields.u[k, j, i]
    """
    table = _checked_table({} if parameters is None else parameters)
    carried = _checked_tracers(tracers)

    def decorate(kernel: Callable) -> Forcing:
        if not inspect.isfunction(kernel):
            raise refused("forcing", kernel, "a function (fields, t, out), decorated")
        names = tuple(inspect.signature(kernel).parameters)
        if len(names) != 3 + bool(table):
            signature = "(fields, t, p, out)" if table else "(fields, t, out)"
            raise InputError(
                f"forcing '{kernel.__name__}' has the arguments ({', '.join(names)}); accepted: "
                f"{signature}, as it has {'parameters' if table else 'no parameters'}"
            )
        accepted = [(*UNITS_OF_FIELDS, *carried), Time._fields, *([tuple(table)] if table else ()),
                 (*TENDENCIES, *carried)]  # fmt: skip
        _require_known(kernel, dict(zip(names, accepted, strict=True)))
        return Forcing(kernel, table, carried)

    return decorate if kernel is None else decorate(kernel)


def _checked_table(parameters: Any) -> dict[str, tuple[float, str]]:
    """The table of parameters, each of them looked at."""
    accepted = 'a table such as {"heating": (5.0, "K/day")}'
    if not isinstance(parameters, Mapping):
        raise refused("parameters", parameters, accepted)
    for name, row in parameters.items():
        if not (isinstance(name, str) and name.isidentifier() and not name.startswith("_")):
            raise refused("the name of a parameter", name, "a name of Python, such as 'heating'")
        if not (isinstance(row, tuple) and len(row) == 2):
            raise refused(f"parameter '{name}'", row, f"(value, unit) in {accepted}")
        in_units_of_forcings(name, *row)
    return dict(parameters)


def _checked_tracers(names: Any) -> tuple[str, ...]:
    """Names of tracers, each of them looked at."""
    accepted = 'a list of names of tracers, such as ("age",)'
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise refused("tracers", names, accepted)
    for name in names:
        if not (isinstance(name, str) and name.isidentifier()) or name in UNITS_OF_FIELDS:
            raise refused("tracers", name, accepted)
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class _ReadNames:
    """The names that a kernel reads of its arguments.

    Args:
        names: (argument, name) -> the line where it stands first.
        handed_on: arguments that stand alone, which may be handed on.
        written: (argument, name, line) of each place that is written into.
    """

    names: dict[tuple[str, str], int]
    handed_on: frozenset[str]
    written: tuple[tuple[str, str, int], ...]


@lru_cache(maxsize=64)
def _names_read(kernel: Callable) -> _ReadNames | None:
    """The names that a kernel reads; None of one without a source."""
    try:
        tree = parse(textwrap.dedent(inspect.getsource(kernel)))
    except (OSError, TypeError, SyntaxError):
        return None
    first, owners, written = kernel.__code__.co_firstlineno - 1, set(), []
    names: dict[tuple[str, str], int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.setdefault((node.value.id, node.attr), first + node.lineno)
            owners.add(node.value)
            if isinstance(node.ctx, ast.Store):
                written.append((node.value.id, node.attr, first + node.lineno))
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            base = node.value
            while isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
                written.append((base.value.id, base.attr, first + node.lineno))
    alone = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in owners}
    return _ReadNames(names, frozenset(alone), tuple(written))


def _require_known(kernel: Callable, names_of: Mapping[str, tuple[str, ...]]) -> None:
    """Make sure that a kernel names only what its arguments have, and writes into the last alone.

    Args:
        kernel: the function; one without a source is left to `lift`.
        names_of: the names of each argument.
    """
    read, (*inputs, out) = _names_read(kernel), names_of
    if read is None:
        return
    for (whose, name), line in read.names.items():
        if whose in names_of and name not in names_of[whose]:
            raise InputError(
                f"forcing '{kernel.__name__}', line {line}: '{whose}' has no {name!r}; known: "
                f"{', '.join(names_of[whose])}{meant(name, names_of[whose])}"
            )
    for whose, name, line in read.written:
        if whose in inputs:
            raise InputError(
                f"forcing '{kernel.__name__}', line {line}: it writes into '{whose}.{name}', which "
                f"it is given; accepted: adding to '{out}', as in {out}.u[k, j, i] += ..."
            )
