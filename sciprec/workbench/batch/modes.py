"""The machine's modes: which arithmetic and which compensation are in force, and who said so.

| MLU_PRECISION_MODE | backend |
|---|---|
| fp32 | mlu370 |
| fp32_noguard | mlu370-noguard |
| fp32_noise | mlu370-noise |
| mix_fp32_fix16 | mix-fp32-fix16 |
| fix32 | fixed32 |
| fix16 | fixed16 |

The machine's `fp32` is its own float, of which 20 of 23 stored bits take part: the backend
`mlu370`. IEEE binary32 is the backend `fp32`, which is no mode of this machine.

Precedence: a scenario's keys, then the environment, then the defaults (no arithmetic chosen, no
compensation). The environment as a whole is one compensation: where a scenario has the key
`compensation`, none of the variables of compensation counts.

Source: published description of the Cambricon MLU370 (names of modes and variables).
Differs from the source: the modes fp32_noguard and fp32_noise, and MLU_COMP_RESET, are additions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sciprec.arrays.sums.compensation import (
    LARGEST_COEFFICIENT,
    Compensation,
    reset_sentence,
)
from sciprec.foundation.errors import InputError

MODES = {
    "fp32": "mlu370",
    "fp32_noguard": "mlu370-noguard",
    "fp32_noise": "mlu370-noise",
    "mix_fp32_fix16": "mix-fp32-fix16",
    "fix32": "fixed32",
    "fix16": "fixed16",
}
"""Mode of the machine -> name of a backend."""

PRECISION, ENABLE = "MLU_PRECISION_MODE", "MLU_ENABLE_COMPENSATION"
ALPHA, BETA, RESET = "MLU_COMP_ALPHA", "MLU_COMP_BETA", "MLU_COMP_RESET"
VARIABLES = (PRECISION, ENABLE, ALPHA, BETA, RESET)
"""The environment variables that are read."""

_SWITCH = {"1": True, "true": True, "yes": True, "on": True}
_SWITCH |= {"0": False, "false": False, "no": False, "off": False}
_DEFAULT = "default"


@dataclass(frozen=True)
class Setting:
    """A setting in force.

    Args:
        name: precision, compensation, alpha, beta or reset_every.
        value: as text, for people.
        source: "scenario key 'NAME'", "environment variable NAME" or "default".
    """

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class InForce:
    """The settings of a run where nothing else is given.

    Args:
        backends: names of backends; empty where neither scenario nor environment names one.
        compensation: what the scenario's key `compensation` holds; else a Compensation from the
            environment, or None.
        settings: each value with where it comes from.
        notes: sentences on what is set and has little effect.
    """

    backends: tuple[str, ...]
    compensation: Any
    settings: tuple[Setting, ...]
    notes: tuple[str, ...] = ()

    def as_rows(self) -> list[dict[str, str]]:
        """The settings as plain data."""
        return [vars(setting) for setting in self.settings]


def in_force(environ: Mapping[str, str], scenario_keys: Mapping[str, Any] | None = None) -> InForce:
    """The arithmetics and the compensation in force, and where each value comes from.

    Args:
        environ: environment variables; an empty value counts as not set.
        scenario_keys: the keys of a scenario that say something: `backends` and `compensation`,
            left out or empty where it does not.

    Returns:
        An InForce. The same arguments give the same answer; nothing else is looked at.

    Raises:
        InputError: a variable has a value that is not accepted (also where a scenario's key takes
            precedence), or its name is none that is known.
    """
    values = {name: environ[name].strip() for name in VARIABLES if environ.get(name, "").strip()}
    _refuse_misspelt(environ)
    keys = {name: value for name, value in (scenario_keys or {}).items() if value}
    mode = _mode(values)
    enabled, coefficients = _switch(values), _coefficients(values)
    backends, precision = _precision(keys, mode)
    if "compensation" in keys:
        chosen = _scenario_setting("compensation", keys["compensation"])
        return InForce(backends, keys["compensation"], (precision, chosen))
    settings = [precision, _setting("compensation", "on" if enabled else "off", ENABLE, values)]
    if not enabled:
        return InForce(backends, None, tuple(settings))
    for name, variable in (("alpha", ALPHA), ("beta", BETA), ("reset_every", RESET)):
        settings.append(_setting(name, _text(coefficients[name]), variable, values))
    compensation = Compensation(**coefficients)
    sentence = reset_sentence(compensation)
    notes = (f"{RESET}={compensation.reset_every}: {sentence}",) if sentence else ()
    return InForce(backends, compensation, tuple(settings), notes)


def shell_assignments(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are set, as NAME=value, for a command line that makes a run again."""
    return tuple(f"{name}={environ[name].strip()}" for name in VARIABLES if environ.get(name))


def _precision(keys: Mapping[str, Any], mode: str | None) -> tuple[tuple[str, ...], Setting]:
    """Names of backends, and the line that says where they come from."""
    if "backends" in keys:
        return tuple(keys["backends"]), _scenario_setting("backends", keys["backends"], "precision")
    if mode is None:
        return (), Setting("precision", "none chosen", _DEFAULT)
    backend = MODES[mode]
    text = f"{mode} (backend {backend})"
    return (backend,), Setting("precision", text, f"environment variable {PRECISION}")


def _scenario_setting(key: str, value: Any, name: str = "") -> Setting:
    """A line for a value of a scenario."""
    entries = value if isinstance(value, (tuple, list)) else (value,)
    return Setting(name or key, ", ".join(map(str, entries)), f"scenario key '{key}'")


def _setting(name: str, value: str, variable: str, values: Mapping[str, str]) -> Setting:
    """A line for a value that a variable gives, where it is set."""
    source = f"environment variable {variable}" if variable in values else _DEFAULT
    return Setting(name, value, source)


def _text(value: float | int | None) -> str:
    """A coefficient for people."""
    return "never" if value is None else f"{value:g}"


def _mode(values: Mapping[str, str]) -> str | None:
    """The mode that the environment names, or None."""
    value = values.get(PRECISION)
    if value is not None and value not in MODES:
        raise InputError(_refusal(PRECISION, value, f"accepted: {', '.join(MODES)}"))
    return value


def _switch(values: Mapping[str, str]) -> bool:
    """Whether compensation is on."""
    value = values.get(ENABLE, "0")
    if value.lower() not in _SWITCH:
        raise InputError(_refusal(ENABLE, value, f"accepted: {', '.join(_SWITCH)}"))
    return _SWITCH[value.lower()]


def _coefficients(values: Mapping[str, str]) -> dict[str, Any]:
    """alpha, beta and reset_every; those of a full carry where they are not given."""
    plain = Compensation()
    return {
        "alpha": _number(ALPHA, values[ALPHA]) if ALPHA in values else plain.alpha,
        "beta": _number(BETA, values[BETA]) if BETA in values else plain.beta,
        "reset_every": _steps(values[RESET]) if RESET in values else plain.reset_every,
    }


def _number(variable: str, text: str) -> float:
    """A coefficient."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= LARGEST_COEFFICIENT:
        accepted = f"accepted: a number from 0 to {LARGEST_COEFFICIENT:g}, such as 0.9"
        raise InputError(_refusal(variable, text, accepted))
    return value


def _steps(text: str) -> int:
    """A number of steps."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        accepted = "accepted: a whole number of updates > 0; leave it out to never reset"
        raise InputError(_refusal(RESET, text, accepted))
    return int(text)


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """A name that begins like ours and is not ours would be silently without effect."""
    for name in environ:
        beginnings = ("MLU_COMP_", "MLU_ENABLE_COMP", "MLU_PRECISION")
        if name.startswith(beginnings) and name not in VARIABLES:
            raise InputError(
                f"environment variable {name} is set but not known; known: {', '.join(VARIABLES)}; "
                "rename or unset it"
            )


def _refusal(variable: str, value: str, accepted: str) -> str:
    """The one sentence for a wrong value."""
    return (
        f"environment variable {variable} is '{value}'; {accepted}; set it to an accepted value, "
        "or unset it"
    )
