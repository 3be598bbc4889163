"""`column`: one column of air, levels alone, under a forcing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import xarray as xr

from sciprec.arrays.quantization import quantize
from sciprec.arrays.sums.compensation import CarriedUpdate, Compensation
from sciprec.climate.equations.vertical import SigmaLevels, resolve_levels
from sciprec.climate.physics.clock import DAY, Clock, rational
from sciprec.climate.physics.forcings import Forcing, named
from sciprec.climate.transform.compiled import compiled
from sciprec.foundation.arguments import Range, refused, word
from sciprec.foundation.dates import StartDate
from sciprec.foundation.dates import start_date as dated
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import CLIMATE, require_few_states
from sciprec.instruments.assigning.assignment import every_place_met
from sciprec.precision import Backend, resolve_backend
from sciprec.precision.registry import kernel
from sciprec.results.output.dataset import CONVENTIONS
from sciprec.results.output.dates import with_dates
from sciprec.results.output.variables import describe

SCHEMES = ("leapfrog", "euler")
_STATE = "u", "v", "temperature"
_FIELDS = *_STATE, "surface_pressure", "sigma", "latitude", "longitude"
_LATITUDE = Range("degrees north, from -90 to 90", least=-90, most=90)
_LONGITUDE = Range("degrees east, from -180 to 360", least=-180, most=360)
_PRESSURE = Range("hPa, from 1 to 2000", least=1, most=2000)


def _small():
    """(tendency, step, out) of three numbers."""
    return np.array([0.3, -1.7, 2.9]), 0.0139, np.zeros(3)


@kernel(example=lambda: _small())
def increment_of(tendency, step, out):
    """out = step * tendency.

    Args:
        tendency, out: (size,); out is written.
        step: in days.
    """
    for i in range(tendency.shape[0]):
        out[i] = step * tendency[i]


def column(
    forcing: Forcing,
    days: float,
    *,
    backend: str | Backend = "fp64",
    step_seconds: float | Fraction = 1200,
    output_hours: float | Fraction = 24,
    temperature: Any = 280.0,
    u: Any = 0.0,
    v: Any = 0.0,
    surface_pressure: float = 1000.0,
    latitude: float = 0.0,
    longitude: float = 0.0,
    levels: int | tuple[float, ...] | SigmaLevels = 20,
    time_scheme: str = "leapfrog",
    compensation: str | Compensation | None = None,
    parameters: Mapping[str, float] | None = None,
    start_date: Any = None,
    calendar: str | None = None,
) -> xr.Dataset:
    """Run a forcing on one column of air without dynamics, every operation in an arithmetic.

    x(n+1) = x(n-1) + 2 dt F(x(n-1), t(n-1)), after one step of Euler's scheme; or that scheme alone

    Args:
        forcing: from `climate.forcing`; its fields are (level, 1, 1).
        days: length of the run.
        backend: the arithmetic.
        step_seconds, output_hours: steps, and times between stored states; fractions are exact.
        temperature, u, v: at the start, K and m/s: one number, or one per level (levels,).
        surface_pressure: hPa; it stays.
        latitude, longitude: degrees north and east.
        levels: their number, or half levels of sigma.
        time_scheme: "leapfrog", without a filter, or "euler".
        compensation: of the state's updates, such as "carry".
        parameters: of the forcing, in the units of its table, in the place of its usual ones.
        start_date, calendar: of step 0, as in `climate.run`.

    Returns:
        temperature, u and v over time and sigma. The attribute `blow_up` is empty, or names the
        tendency that is not finite, with which the run ended.

    Raises:
        InputError: something unknown or out of range was asked for.
        LiftError: the kernel of the forcing does not lift.

    Precision: initial values, parameters, the step in days and the phases of the clock are rounded
        to the format; tendencies, increments and updates run in the arithmetic. The clock itself is
        a number of steps times a fraction.
    """
    if not isinstance(forcing, Forcing):
        raise refused("forcing", forcing, "a kernel decorated by sciprec.climate.forcing")
    forcing.require_offered(_FIELDS, _STATE, "the column")
    arithmetic = resolve_backend(backend)
    arithmetic.require_taken_by("the column")
    if arithmetic.fixed:
        raise InputError(
            f"the column is given '{arithmetic.name}', whose units are not known for a forcing; "
            "accepted: floating-point arithmetics"
        )
    word("time scheme", time_scheme, SCHEMES)
    step = rational("step_seconds", step_seconds)
    span, between = rational("days", days), rational("output_hours", output_hours)
    CLIMATE["days"].number("days", float(span))
    require_few_states(float(span), float(between))
    every = _in_steps("output_hours", between * 3600, step)
    last = _in_steps("days", span * DAY, step)
    sigma = resolve_levels(levels)
    start = {"u": u, "v": v, "temperature": temperature}
    state = np.stack([_profile(name, start[name], sigma.count) for name in _STATE])
    changed = {} if parameters is None else parameters
    if not isinstance(changed, Mapping):
        raise refused("parameters", parameters, f"a table of parameters of '{forcing.name}'")
    values = forcing.values(changed)
    pressure = _PRESSURE.number("surface_pressure", surface_pressure)
    north = np.radians(_LATITUDE.number("latitude", latitude))
    east = np.radians(_LONGITUDE.number("longitude", longitude))
    columns = (np.array([[pressure]]), sigma.full, np.array([north]), np.array([east]))
    clock = Clock(step, dated(start_date, calendar))
    with every_place_met(arithmetic):
        starts = [_rounded(state, arithmetic) for _ in range(1 + (time_scheme == "leapfrog"))]
        run = _Column(
            forcing, arithmetic, clock, tuple(_rounded(x, arithmetic) for x in columns),
            tuple(float(x) for x in _rounded(np.array([*values.values()]), arithmetic)),
            [_ColumnLevel(start, CarriedUpdate(arithmetic, compensation)) for start in starts],
        )  # fmt: skip
        states = run.to(last, every)
    about = {
        "Conventions": CONVENTIONS, "forcing": forcing.name, "arithmetic": arithmetic.name,
        "compensation": repr(compensation) if compensation else "none", "time_scheme": time_scheme,
        "parameters": forcing.as_json(changed),
        "step_seconds": float(step),
    }  # fmt: skip
    return _labelled(states, clock, sigma, about | {"blow_up": run.blow_up})


@dataclass
class _ColumnLevel:
    """A time level: its state (3, levels), and the update that keeps its residual."""

    state: np.ndarray
    update: CarriedUpdate


class _Column:
    """The loop over steps.

    Args:
        forcing, arithmetic, clock: of the run.
        given: surface pressure, sigma, latitude and longitude, rounded.
        values: of the parameters, rounded.
        levels: oldest first: one, or the two of the leapfrog, alike.
    """

    def __init__(
        self, forcing: Forcing, arithmetic: Backend, clock: Clock, arrays: tuple, values: tuple,
        levels: list[_ColumnLevel],
    ) -> None:  # fmt: skip
        self.forcing, self.arithmetic, self.clock = forcing, arithmetic, clock
        self.given, self.values, self.levels = arrays, values, levels
        self.kernel = compiled(forcing.kernel, arithmetic)
        self.increment = compiled(increment_of, arithmetic)
        self.tendency, self.change = (np.zeros_like(levels[0].state) for _ in range(2))
        self.blow_up = ""

    def to(self, last: int, every: int) -> dict[int, np.ndarray]:
        """Numbers of steps and their states, from the first to the last or a blow-up."""
        states = {0: self.levels[-1].state.copy()}
        for n in range(last):
            self._step(n)
            if self.blow_up:
                return states
            if (n + 1) % every == 0 or n + 1 == last:
                states[n + 1] = self.levels[-1].state.copy()
        return states

    def _step(self, n: int) -> None:
        """Advance from step n to step n + 1."""
        first = n == 0 or len(self.levels) == 1
        level = self.levels[-1 if first else 0]
        count = 1 if first else 2
        self.tendency[:] = 0.0
        shaped = [row.reshape(-1, 1, 1) for row in level.state]
        out = named("Tendencies", _STATE)(*(row.reshape(-1, 1, 1) for row in self.tendency))
        time = self.clock.time(n + 1 - count, self.arithmetic)
        fields = named("Fields", _FIELDS)(*shaped, *self.given)
        self.kernel(*self.forcing.arguments(fields, time, self.values, out))
        if self._lost(n, self.tendency, f"the forcing '{self.forcing.name}' sets the tendency of"):
            return
        days = _rounded(np.array([float(count * self.clock.step / DAY)]), self.arithmetic)[0]
        self.increment(self.tendency.reshape(-1), days, self.change.reshape(-1))
        level.update(level.state.reshape(-1), self.change.reshape(-1))
        if not first:
            self.levels.reverse()
        self._lost(n + 1, level.state, f"the forcing '{self.forcing.name}' has driven")

    def _lost(self, n: int, values: np.ndarray, words: str) -> bool:
        """Whether a value is not finite; which is told in `blow_up`, after the words."""
        places = np.argwhere(~np.isfinite(values))
        if places.size:
            row, level = places[0]
            day = float(n * self.clock.step / DAY)
            self.blow_up = (
                f"blow-up at day {day:.3g}: {words} {_STATE[row]} to {values[row, level]} at level "
                f"{level + 1} (sigma {float(self.given[1][level]):.3g}); look there for a division "
                f"by zero or a number beyond the range of {self.arithmetic.name}"
            )
        return places.size > 0


def _rounded(values: np.ndarray, backend: Backend) -> np.ndarray:
    return np.asarray(quantize(np.asarray(values, float), backend), backend.carrier)


def _profile(name: str, value: Any, count: int) -> np.ndarray:
    """An initial value at every level."""
    accepted = f"one finite number, or one per level ({count})"
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        raise refused(name, value, accepted) from None
    if values.shape not in ((), (count,)) or not np.isfinite(values).all():
        raise refused(name, value, accepted)
    return np.broadcast_to(values, count)


def _in_steps(name: str, seconds: Fraction, step: Fraction) -> int:
    """The number of steps of a span of time."""
    steps = seconds / step
    if steps.denominator != 1:
        raise InputError(
            f"{name} is {float(seconds):g} s, which is no whole number of steps of "
            f"{float(step):g} s; accepted: a multiple; give another step_seconds"
        )
    return steps.numerator


def _labelled(
    states: dict[int, np.ndarray], clock: Clock, levels: SigmaLevels, about: dict[str, Any]
) -> xr.Dataset:
    """The dataset of the stored states."""
    since: StartDate = clock.since
    days = np.array([float(n * clock.step / DAY) for n in states])
    values = np.stack(list(states.values())).astype(float)
    dataset = xr.Dataset(
        {
            name: (("time", "sigma"), values[:, row], describe(name).as_attributes())
            for row, name in enumerate(_STATE)
        },
        {
            "time": ("time", days, {"units": since.units, "calendar": since.calendar}),
            "sigma": ("sigma", levels.full, describe("sigma").as_attributes()),
        },
        about,
    )
    return with_dates(dataset)
