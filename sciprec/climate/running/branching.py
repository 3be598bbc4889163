"""Branches: runs that go on from the state of another one, out of its checkpoint or a file.

From a checkpoint with nothing changed, a branch has the bits of the run that was never stopped: all
levels of the time scheme, their residuals, and the streams and units that kernels remember go on.
What does not fit the branch is dropped, and told.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.running.checkpoint import FileOfState
from sciprec.climate.running.given import Start
from sciprec.climate.running.identity import parts_of
from sciprec.climate.running.request import Request
from sciprec.foundation.dates import StartDate, start_date
from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.scaling import ScaledBackend

_NEAR = 1e-6
"""Steps by which a time may miss a whole number of them."""


def branched(request: Request, file: FileOfState) -> Request | None:
    """The request as a branch of a run's checkpoint; None where its fields have to be taken, since
    the coefficients of the run are others than those of the request.

    Raises:
        InputError: the run has other equations, or its time is no whole number of steps.
    """
    about = file.about
    if about["equations"] != request.equations.name:
        raise InputError(
            f"start_from: {file.source} is of a run of the equations '{about['equations']}', and "
            f"case '{request.case.name}' has '{request.equations.name}'; give a file of those"
        )
    parts, stored_parts = parts_of(request), about["parts"]
    stored_parts = {"forcing": parts["forcing"]} | stored_parts
    equal = {name: parts[name] == stored_parts[name] for name in parts}
    has_own_scales = equal["format"] and equal["streams"]  # kernels remember them
    if not equal["frame"] or (isinstance(request.backend, ScaledBackend) and not has_own_scales):
        return None
    saved = file.saved
    levels, dropped = list(saved.levels), []
    if not equal["scheme"] and len(levels) > 1:
        levels = levels[:1]
        dropped.append("the older level of its time scheme, so that the first step is a start")
    if not equal["format"] and any(level.residual is not None for level in levels):
        dropped.append("the residuals of its compensation")
    if not (equal["format"] and equal["streams"]) and saved.kernels:
        dropped.append("its streams of random bits and units of fixed point, which begin anew")
    keeps_forced = equal["forcing"] and equal["format"] and len(levels) > 1
    if saved.forced is not None and not keeps_forced:
        dropped.append("the tendencies of its forcing at the older level")
    keeps_bits = all(equal.values())
    note = f" ({about['arithmetic']}, here {request.backend.name})" if not equal["format"] else ""
    words = f"goes on from {file.source}{note}"
    if not equal["forcing"] and "forcing" in about:  # not in checkpoints of earlier versions
        forcing = "none" if request.forcing is None else request.forcing.name
        clock = ", with other code, parameters or dates" * (forcing == about["forcing"])
        words += f"; its forcing is {about['forcing']}, here {forcing}{clock}"
    if dropped:
        words += f"; dropped: {'; '.join(dropped)}"
    elif keeps_bits:
        words += ", with the bits of the run that was not stopped"
    start = Start(
        words, file.digest, tuple(levels), equal["format"],
        saved.kernels if equal["format"] and equal["streams"] else {}, equal["perturbation"],
        forced=saved.forced if keeps_forced else None,
    )  # fmt: skip
    return going_on(request, start, saved.steps, file.since)


def from_fields(
    request: Request, initial: Any, seconds: float, since: StartDate, digest: str, words: str,
    file: str = "", names: Mapping[str, str] | None = None,
) -> Request:  # fmt: skip
    """The request as a branch that starts from fields, one level of them.

    Args:
        initial: the fields, `GivenFields`.
        seconds: their time since the date from which the branch counts.
        since: this date.
        digest: of what else the start depends on.
        words: where they come from.
        file, names: as `Start` has them.

    Raises:
        InputError: the time is no whole number of steps.
    """
    steps = seconds / request.step_seconds
    first = round(steps)
    if abs(steps - first) > _NEAR * max(1.0, abs(steps) * 1e-6) or first < 0:
        raise InputError(
            f"start_from: {words} is {seconds:.12g} s after {since.date}, which is no whole number "
            f"of steps of {request.step_seconds:g} s; give step_seconds = a divisor of it, such as "
            f"{seconds / max(1, np.ceil(steps)):.12g}"
        )
    several = request.scheme.levels > 1
    first_step = "; the first step is a start from one level" if several else ""
    start = Start(f"goes on from {words}{first_step}", digest, file=file, names=names)
    return going_on(replace(request, initial=initial), start, first, since)


def going_on(request: Request, start: Start, first: int, since: StartDate) -> Request:
    """The request, whose steps count on from a number of them."""
    stops = tuple(first + stop for stop in request.stops)
    return replace(request, start=start, first=first, stops=stops, since=since)


def require_its_time(file: FileOfState, time: str | None) -> None:
    """Make sure that a time is that of a checkpoint, which has one alone.

    Args:
        time: as it was given behind an @; None where none was.

    Raises:
        InputError: it is another one.
    """
    import cftime

    days = file.saved.steps * file.about["step_seconds"] / SECONDS_PER_DAY
    date = cftime.num2date(days, file.since.units, file.since.calendar).isoformat()
    if time in (None, "last"):
        return
    with contextlib.suppress(ValueError, InputError):
        if abs(float(time) - days) <= _NEAR:
            return
    with contextlib.suppress(InputError):
        if start_date(time, file.since.calendar).date == date:
            return
    raise InputError(
        f"start_from: {file.source} has no time '{time}': a checkpoint holds one time "
        f"only, {date}; leave out @TIME, or give a netCDF file that the run wrote"
    )


def seconds_since(number: float, units: str, calendar: str) -> tuple[float, StartDate]:
    """The time of a file as seconds, and the date from which they count.

    Args:
        number, units, calendar: as files have them.

    Raises:
        InputError: the unit says no date.
    """
    import cftime

    try:
        zero, unit = cftime.num2date([0, 1], units, calendar)
    except (ValueError, OverflowError):
        raise InputError(
            f"start_from: the time of the file is in '{units}' of the calendar '{calendar}', which "
            "says no date; accepted: a unit such as 'days since 2000-01-01'"
        ) from None
    return number * (unit - zero).total_seconds(), start_date(zero, calendar)


def is_checkpoint(path: str | Path) -> bool:
    """Whether a path is that of a checkpoint, by its ending."""
    return str(path).endswith(".npz")
