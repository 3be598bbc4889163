"""Tolerances that know the number format: `8u`, `temperature=1e-3`, `auto`, and what they decide.

A variable is within its tolerances when its relative l2 error is at most rtol, or its largest error
is at most atol; and, where max_ulp is given, when its largest error in units in the last place is
at most that. max_ulp alone asks for nothing else. A changed pattern of NaN and infinities is beyond
every tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sciprec.foundation.arguments import refused, share
from sciprec.foundation.errors import InputError, meant
from sciprec.results.comparison.pointwise.number_format import DIRECTED, NumberFormat

WITHIN = ("identical", "noise", "empty")
"""Severities that miss no tolerance; of "empty" variables no value is finite in both. "still" ones
are within the tolerances, but have not moved where the truth has."""
SIGMAS = 4.0
OF_FILE = ": "
"""The separator between the names of a file and its variable, where folders are compared."""

Limit = float | str | Mapping[str, float | str] | Iterable[str]
"""A tolerance as it may be given: a number, a word, one of them by variable, or `NAME=VALUE`s."""


@dataclass(frozen=True)
class ToleranceLimits:
    """The tolerances of one variable as numbers; NaN where one is not asked for."""

    rtol: float = 0.0
    atol: float = 0.0
    max_ulp: float = math.nan

    def verdict(self, errors: Mapping[str, float], *, changed_nonfinite: int) -> str:
        """The verdict of other bits: noise (within) | changed (beyond) | broken (other NaN).

        Args:
            errors: values of the metrics relative_l2, max_abs and max_ulp.
            changed_nonfinite: pairs of which one only is finite, or two other non-finites.
        """
        if changed_nonfinite:
            return "broken"
        near = errors["relative_l2"] <= self.rtol or errors["max_abs"] <= self.atol
        close = math.isnan(self.max_ulp) or errors["max_ulp"] <= self.max_ulp
        has_limits = not (math.isnan(self.rtol) and math.isnan(self.atol))
        return "noise" if close and (near or not has_limits) else "changed"


@dataclass(frozen=True)
class Tolerances:
    """Tolerances: for every variable (key "") and for single ones.

    Args:
        rtol: relative l2 error: a number, `8u` (multiples of the unit roundoff), or `auto`.
        atol: largest error, in the variable's units.
        max_ulp: largest error in units in the last place of the run's format.
    """

    rtol: Mapping[str, str] = field(default_factory=dict)
    atol: Mapping[str, str] = field(default_factory=dict)
    max_ulp: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, *, rtol: Limit = (), atol: Limit = (), max_ulp: Limit = ()) -> Tolerances:
        """Tolerances as given on a command line or in Python.

        Raises:
            InputError: something is neither a number from 0 up nor, for rtol, `8u` or `auto`.
        """
        given_to = {"rtol": rtol, "atol": atol, "max-ulp": max_ulp}
        tolerances = cls(*(_by_variable(option, limit) for option, limit in given_to.items()))
        for option, values in zip(given_to, vars(tolerances).values(), strict=True):
            for value in values.values():
                _check(option, value)
        return tolerances

    def check_names(self, variables: Iterable[str]) -> None:
        """Make sure that every variable that is named was compared.

        Raises:
            InputError: one was not.
        """
        names = list(variables)
        known_names = list(dict.fromkeys(names + [name.rpartition(OF_FILE)[2] for name in names]))
        for name in (*self.rtol, *self.atol, *self.max_ulp):
            if name and name not in known_names:
                raise InputError(
                    f"a tolerance names the variable '{name}', which is not compared; compared: "
                    f"{', '.join(known_names)}{meant(name, known_names)}"
                )

    def limits(
        self, variable: str, number_format: NumberFormat | None, steps: int
    ) -> ToleranceLimits:
        """The tolerances of one variable as numbers.

        Args:
            variable: name.
            number_format: of the run; `u` is its unit roundoff.
            steps: of the run; 1 where it makes none.
        """
        rtol, atol, ulp = (
            next((table[name] for name in (variable, *_short(variable), "") if name in table), None)
            for table in (self.rtol, self.atol, self.max_ulp)
        )
        only_ulp = ulp is not None and rtol is None and atol is None
        usual = "nan" if only_ulp else "0"
        return ToleranceLimits(
            _number(usual if rtol is None else rtol, number_format, steps),
            float(usual if atol is None else atol),
            math.nan if ulp is None else float(ulp),
        )


def _short(variable: str) -> tuple[str, ...]:
    """The name of a variable without that of its file, where it has one."""
    file, _, name = variable.rpartition(OF_FILE)
    return (name,) if file else ()


def automatic(number_format: NumberFormat, steps: int) -> float:
    """The relative error that rounding alone leads to expect after a number of steps.

    4 sqrt(n) u where errors have either sign; 2 n u in the directed roundings, whose errors have
    one sign and are up to 2 u.

    Args:
        number_format: with unit roundoff u = 2^-p.
        steps: n.

    Source: Higham and Mary (2019), 10.1137/18M1226312: lambda sqrt(n) u, with lambda = 4.
    """
    n = max(steps, 1)
    u = number_format.unit_roundoff
    if number_format.rounding in DIRECTED:
        return 2.0 * n * u
    return SIGMAS * math.sqrt(n) * u


def _by_variable(option: str, limits: Limit) -> dict[str, str]:
    """Read tolerances by variable from words; "" stands for every variable.

    Raises:
        InputError: it is no number, text, mapping or list of these.
    """
    if isinstance(limits, Mapping):
        return {str(name): str(value) for name, value in limits.items()}
    if isinstance(limits, (str, int, float, np.number)):
        limits = [str(limits)]
    if not isinstance(limits, (list, tuple, set)):
        raise refused(option, limits, "a number from 0 up, a text, or one of these by variable")
    pairs = (str(text).rpartition("=")[::2] for text in limits)
    return {name.strip(): value.strip() for name, value in pairs}


def _check(option: str, text: str) -> None:
    """Refuse a text that is no tolerance."""
    words = ("auto",) if option == "rtol" else ()
    number = text[:-1] if option == "rtol" and text.endswith("u") else text
    try:
        good = text in words or (share if text.endswith("%") and words else float)(number) >= 0.0
    except ValueError:
        good = False
    if not good:
        other = (
            ", per cent, multiples of the unit roundoff such as 8u, or auto" if words else ""
        )
        raise InputError(
            f"--{option} is given '{text}'; it takes a number from 0 up{other}, for every variable "
            f"or for one as in --{option} temperature={'8u' if words else '0.5'}"
        )


def _number(text: str, number_format: NumberFormat, steps: int) -> float:
    """A relative tolerance as a number."""
    if text == "auto":
        return automatic(number_format, steps)
    if text.endswith("u"):
        return float(text[:-1]) * number_format.unit_roundoff
    return share(text)
