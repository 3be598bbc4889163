"""`@climate.forcing`: a kernel that sees fields by name and adds tendencies, and its parameters."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sciprec.climate.physics.clock import Time
from sciprec.foundation.arguments import Range, refused
from sciprec.foundation.errors import InputError, meant
from sciprec.precision.rewriting.syntax import parse


class Fields(NamedTuple):
    """The fields that a forcing sees.

    Args:
        u, v, temperature: m/s and K, (level, lat, lon), from the top down and from south to north.
        surface_pressure: hPa (lat, lon).
        sigma: of the levels (level,).
        latitude: rad (lat,).
    """

    u: np.ndarray
    v: np.ndarray
    temperature: np.ndarray
    surface_pressure: np.ndarray
    sigma: np.ndarray
    latitude: np.ndarray


class Tendencies(NamedTuple):
    """The tendencies to which a forcing adds, each a day: m/s, m/s and K, (level, lat, lon)."""

    u: np.ndarray
    v: np.ndarray
    temperature: np.ndarray


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
    known = (*_BASES, *_TIMES)
    raise InputError(
        f"the unit of parameter '{name}' is {unit!r}; accepted: {', '.join(known)}, and the first "
        f"{len(_BASES)} of these per time, such as K/day{meant(unit, (*known, 'K/day', '1/day'))}"
    )


@dataclass(frozen=True)
class Forcing:
    """A forcing: its kernel and its parameters.

    Args:
        kernel: the plain function (fields, t, out), or (fields, t, p, out) with parameters.
        parameters: name -> (value, unit).
    """

    kernel: Callable
    parameters: Mapping[str, tuple[float, str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the kernel."""
        return self.kernel.__name__

    def values(self, given: Mapping[str, float]) -> dict[str, float]:
        """Parameters in the units that the kernel sees.

        Args:
            given: values in the place of the usual ones, in the units of the table.

        Raises:
            InputError: a parameter is unknown or no number.
        """
        for name in given:
            if name not in self.parameters:
                raise InputError(
                    f"forcing '{self.name}' has no parameter {name!r}; known: "
                    f"{', '.join(self.parameters) or 'none'}{meant(name, self.parameters)}"
                )
        return {
            name: in_units_of_forcings(name, given.get(name, value), unit)
            for name, (value, unit) in self.parameters.items()
        }

    def arguments(
        self, fields: Fields, time: Time, values: tuple[float, ...], out: Tendencies
    ) -> tuple:
        """The arguments of a call of the kernel; `values` are those of the parameters."""
        if not self.parameters:
            return fields, time, out
        return fields, time, _table(tuple(self.parameters))(*values), out


@lru_cache(maxsize=64)
def _table(names: tuple[str, ...]) -> Any:
    """The named tuple of parameters, one class for the same names."""
    return namedtuple("Parameters", names)


def forcing(
    *, parameters: Mapping[str, tuple[float, str]] | None = None
) -> Callable[[Callable], Forcing]:
    """Make a forcing of the decorated kernel, which adds tendencies of u, v and temperature.

    The kernel is written in plain operators and loops, is (fields, t, out), or (fields, t, p, out)
    where it has parameters, and is lifted to the arithmetic of a run. `fields` is a `Fields`, `t` a
    `Time`, `p` has the parameters by name, in the units of the fields and of days, and `out` is a
    `Tendencies`, zero before the call.

    Args:
        parameters: name -> (value, unit), such as {"heating": (5.0, "K/day")}.

    Raises:
        InputError: the kernel has other arguments or names a field that is not there, or a
            parameter has no value, unit or possible name.

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

    def decorate(kernel: Callable) -> Forcing:
        if not inspect.isfunction(kernel):
            raise refused("forcing", kernel, "a function (fields, t, out), decorated")
        given = tuple(inspect.signature(kernel).parameters)
        if len(given) != 3 + bool(table):
            wanted = "(fields, t, p, out)" if table else "(fields, t, out)"
            raise InputError(
                f"forcing '{kernel.__name__}' has the arguments ({', '.join(given)}); accepted: "
                f"{wanted}, as it has {'parameters' if table else 'no parameters'}"
            )
        known = [Fields._fields, Time._fields, *([tuple(table)] if table else ()),
                 Tendencies._fields]  # fmt: skip
        _require_known(kernel, dict(zip(given, known, strict=True)))
        return Forcing(kernel, table)

    return decorate


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


def _require_known(kernel: Callable, known: Mapping[str, tuple[str, ...]]) -> None:
    """Make sure that a kernel names only what its arguments have.

    Args:
        kernel: the function; one without a source is left to `lift`.
        known: the names of each argument.
    """
    try:
        tree = parse(textwrap.dedent(inspect.getsource(kernel)))
    except (OSError, TypeError, SyntaxError):
        return
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        whose, name = node.value.id, node.attr
        if whose in known and name not in known[whose]:
            line = kernel.__code__.co_firstlineno + node.lineno - 1
            raise InputError(
                f"forcing '{kernel.__name__}', line {line}: '{whose}' has no {name!r}; known: "
                f"{', '.join(known[whose])}{meant(name, known[whose])}"
            )
