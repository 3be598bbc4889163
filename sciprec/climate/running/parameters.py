"""Checks the parameters of a run: those of the model, of its equation set, and of its case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sciprec.climate.cases.registry import Case
from sciprec.climate.equations.registry import EQUATIONS
from sciprec.climate.stepping.diffusion import DIFFUSION
from sciprec.climate.stepping.schemes import FILTER
from sciprec.climate.transform.spectral import FOURIER_STAGES
from sciprec.foundation.arguments import refused
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import PARAMETER

_EXAMPLES = {
    "viscosity": "1.0e5 (m2/s)", "diffusion_m4_per_s": "5.0e15 at T42",
    "diffusion_m8_per_s": "1.0e37 at T42", "diffusion_hours": "2.4 hours",
    "filter_nu": "0.1", "filter_alpha": "0.53",
}  # fmt: skip
MODEL: dict[str, Any] = {
    **dict.fromkeys(DIFFUSION, 0.0), **FILTER, "fourier": tuple(FOURIER_STAGES)
}  # fmt: skip
"""Parameters that every run takes, and their usual values."""


@dataclass(frozen=True)
class Parameters:
    """Checked parameters.

    Args:
        case: keyword arguments of the case's function.
        equations: parameters of the equation set.
        diffusion: coefficients by the names of `diffusion.DIFFUSION`.
        filter: nu and alpha of leapfrog's filter.
        fourier: the Fourier stage of the transforms.
    """

    case: dict[str, Any]
    equations: dict[str, Any]
    diffusion: dict[str, float]
    filter: tuple[float, float]
    fourier: str


def check_parameters(case: Case, replaced: Mapping[str, Any]) -> Parameters:
    """Fill in what was not given; a case's usual values go before those of its equations.

    Raises:
        InputError: an unknown name, or a value that is not accepted.
    """
    parameters = EQUATIONS[case.equations].parameters
    usual = {**MODEL, **parameters, **case.parameters}
    for name in replaced:
        if name not in usual:
            raise InputError(
                f"unknown parameter {name!r} of case {case.name!r}; "
                f"known: {', '.join(sorted(usual))}{meant(name, usual)}"
            )
    values = {name: _accepted(name, replaced.get(name), kind) for name, kind in usual.items()}
    for name in (*DIFFUSION, *FILTER):
        if values[name] < 0:
            raise InputError(
                f"{name} is {values[name]}; accepted: zero or above, such as {_EXAMPLES[name]}"
            )
    return Parameters(
        case={name: values[name] for name in case.parameters if name not in MODEL},
        equations={name: values[name] for name in parameters},
        diffusion={name: values[name] for name in DIFFUSION},
        filter=tuple(values[name] for name in FILTER),
        fourier=values["fourier"],
    )


def _accepted(name: str, value: Any, usual: Any) -> Any:
    """A value of the kind of the usual one, which stands where none was given."""
    if isinstance(usual, tuple):
        return _choice(name, usual[0] if value is None else value, usual)
    if value is None:
        return usual
    if isinstance(usual, bool):
        if isinstance(value, bool):
            return value
        raise refused(f"parameter {name!r}", value, "true or false")
    number = PARAMETER.number(f"parameter {name!r}", value)
    if not isinstance(usual, int):
        return number
    if number != int(number):
        raise refused(f"parameter {name!r}", value, "a whole number")
    return int(number)


def _choice(name: str, value: Any, words: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in words:
        return value
    raise refused(f"parameter {name!r}", value, f"{', '.join(words)}{meant(value, words)}")
