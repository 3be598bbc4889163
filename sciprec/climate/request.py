"""Checks what `integrate` is asked to do: names, numbers, and steps that fit the output times."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY, SECONDS_PER_HOUR
from sciprec.climate.equations import EQUATIONS
from sciprec.climate.grid import Truncation, resolve_truncation
from sciprec.climate.initial import Case, resolve_case
from sciprec.climate.timestepping import TIME_SCHEMES, TimeScheme
from sciprec.errors import InputError
from sciprec.precision import Backend, resolve_backend
from sciprec.precision.compensation import Compensation, resolve_compensation

MODEL_PARAMETERS = {"diffusion_m4_per_s": 0.0}
"""Parameters that every case takes, and their usual values."""


@dataclass(frozen=True)
class Request:
    """A checked request.

    Args:
        case, truncation, scheme, backend: what was named.
        step_seconds: the time step.
        stops: numbers of steps after which a state is stored, ascending.
        case_parameters: keyword arguments of the case's function.
        diffusion_m4_per_s: nu4 of the hyperdiffusion.
        compensation: variable -> Compensation; empty: none.
    """

    case: Case
    truncation: Truncation
    scheme: TimeScheme
    backend: Backend
    step_seconds: float
    stops: tuple[int, ...]
    case_parameters: dict[str, float]
    diffusion_m4_per_s: float
    compensation: dict[str, Compensation]


def check_request(
    case, truncation, days, backend, step_seconds, output_hours, parameters, time_scheme,
    compensation=None,
) -> Request:  # fmt: skip
    """Check the arguments of `model.integrate`.

    Raises:
        InputError: something unknown or out of range was asked for.
    """
    found = resolve_case(case)
    row = resolve_truncation(truncation)
    if time_scheme not in TIME_SCHEMES:
        raise InputError(
            f"unknown time scheme {time_scheme!r}; known: {', '.join(TIME_SCHEMES)}"
            + _meant(time_scheme, TIME_SCHEMES)
        )
    given = _checked_parameters(found, parameters or {})
    days = _positive("days", days)
    interval = _positive("output_hours", output_hours) * SECONDS_PER_HOUR
    total = days * SECONDS_PER_DAY
    if step_seconds is None:
        step = _fitting_step(row.step_seconds, _common_span(interval, total))
    else:
        step = _positive("step_seconds", step_seconds)
    every, last = (_whole_steps(name, span, step) for name, span in
                   (("output_hours", min(interval, total)), ("days", total)))  # fmt: skip
    stops = (*range(every, last, every), last)
    return Request(
        case=found,
        truncation=row,
        scheme=TIME_SCHEMES[time_scheme],
        backend=resolve_backend(backend),
        step_seconds=step,
        stops=stops,
        case_parameters={k: v for k, v in given.items() if k in found.parameters},
        diffusion_m4_per_s=given["diffusion_m4_per_s"],
        compensation=_checked_compensation(found, compensation),
    )


def _checked_compensation(case: Case, compensation) -> dict[str, Compensation]:
    """A compensation for each variable that has one."""
    known = EQUATIONS[case.equations].prognostic
    resolved = resolve_compensation(compensation)
    if resolved is None:
        return {}
    if isinstance(resolved, Compensation):
        return dict.fromkeys(known, resolved)
    for name in compensation:
        if name not in known:
            raise InputError(
                f"compensation names the unknown variable {name!r}; known: {', '.join(known)}"
                + _meant(name, known)
            )
    return resolved


def _checked_parameters(case: Case, parameters: Mapping[str, float]) -> dict[str, float]:
    known = {**MODEL_PARAMETERS, **case.parameters}
    for name, value in parameters.items():
        if name not in known:
            raise InputError(
                f"unknown parameter {name!r} of case {case.name!r}; "
                f"known: {', '.join(sorted(known))}{_meant(name, known)}"
            )
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            raise InputError(f"parameter {name!r} is {value!r}; accepted: a finite number")
    given = {**known, **{name: float(value) for name, value in parameters.items()}}
    if given["diffusion_m4_per_s"] < 0:
        raise InputError(
            f"diffusion_m4_per_s is {given['diffusion_m4_per_s']}; accepted: zero or above, "
            "such as 5.0e15 at T42"
        )
    return given


def _positive(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(f"{name} is {value!r}; accepted: a number above zero")
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} is {value}; accepted: a number above zero")
    return float(value)


def _common_span(first: float, second: float) -> float:
    """The longest time (s) of which both are multiples, to a thousandth of a second."""
    return max(math.gcd(round(1000 * first), round(1000 * second)), 1000) / 1000


def _fitting_step(usual: float, span: float) -> float:
    """The longest step, at most the usual one, that divides a span of time (s)."""
    return span / math.ceil(span / usual - 1e-9)


def _whole_steps(name: str, span: float, step: float) -> int:
    """How many steps a span of time (s) takes."""
    count = round(span / step)
    if count < 1 or abs(count * step - span) > 1e-6 * step:
        fitting = _fitting_step(step, span)
        raise InputError(
            f"{name} is {span:g} s, which is no whole number of steps of {step:g} s; "
            f"with step_seconds = {fitting:.12g} it is"
        )
    return count


def _meant(name: str, known) -> str:
    close = difflib.get_close_matches(str(name), known, 1, 0.4)
    return f"; did you mean {close[0]!r}?" if close else ""
