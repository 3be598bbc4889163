"""`integrate`: a case, a truncation and an arithmetic become a trajectory."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from sciprec.climate.constants import RADIUS_M, SECONDS_PER_DAY, Units
from sciprec.climate.diagnostics import budgets
from sciprec.climate.equations import EQUATIONS, EquationSet
from sciprec.climate.fourier import compensated_sum_of_rows, sum_of_rows
from sciprec.climate.grid import GaussianGrid, Truncation
from sciprec.climate.levels import addition
from sciprec.climate.request import Request, check_request
from sciprec.climate.state import Conversion, conversion
from sciprec.climate.timestepping import STEP_KERNELS, System
from sciprec.climate.transform import make_tables, rounded
from sciprec.precision import Backend, lift, quantize
from sciprec.precision.compensation import Compensation
from sciprec.precision.fixed_lifting import fixed_point_summary
from sciprec.precision.substitution import substitute

_STEPS_BETWEEN_CHECKS = 16


@dataclass(frozen=True)
class Trajectory:
    """What an integration made.

    Args:
        time_days: (nt,).
        lat, lon: degrees (nlat,) south to north, (nlon,) eastward.
        fields: height (m), u, v (m/s), vorticity, divergence (1/s): each (nt, nlat, nlon).
        budgets: mass (m), energy (m3/s2), potential_enstrophy (1/(m s2)): each (nt,).
        step_seconds: the time step.
        steps: how many were made.
        blow_up: None, or a sentence naming day, field, place and the usual remedy.
        seconds: wall time of the steps, compilation excluded.
        fixed_point: saturations, changes of units and places short of bits, as plain data (see
            `fixed_point_summary`), the step that compiles the kernels included; None in floats.
    """

    time_days: np.ndarray
    lat: np.ndarray
    lon: np.ndarray
    fields: dict[str, np.ndarray]
    budgets: dict[str, np.ndarray]
    step_seconds: float
    steps: int
    blow_up: str | None
    seconds: float
    fixed_point: dict | None = None


def integrate(
    case: str,
    truncation: str | int | Truncation,
    days: float,
    *,
    backend: str | Backend = "fp64",
    step_seconds: float | None = None,
    output_hours: float = 24.0,
    parameters: Mapping[str, float] | None = None,
    time_scheme: str = "rk4",
    compensation: str | Compensation | Mapping | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Integrate a test case with every operation of the model rounded in the backend's arithmetic.

    Args:
        case: name of a registered case, such as "williamson_5".
        truncation: "T42" or 42, from the table, or a Truncation of one's own.
        days: length of the integration.
        backend: name of the arithmetic, its spec string, or a Backend.
        step_seconds: time step; left out, the truncation's usual one, shortened to fit the output.
        output_hours: between stored states; the last state is stored in any case.
        parameters: of the case (angle_degrees) and of the model (diffusion_m4_per_s).
        time_scheme: name of a registered time scheme.
        compensation: of the state's updates: None, a name such as "carry", a Compensation, or one
            of these per prognostic variable.
        progress: called with the simulated days.

    Returns:
        The trajectory; where a value became infinite or NaN it ends, with a sentence in `blow_up`.

    Raises:
        InputError: something unknown or out of range was asked for.

    Precision: tables are made in binary64 and rounded once; the initial state is rounded; all steps
        run in the backend; fields and budgets are evaluated from the states in binary64.
    """
    request = check_request(
        case, truncation, days, backend, step_seconds, output_hours, parameters, time_scheme,
        compensation,
    )  # fmt: skip
    units = Units(request.step_seconds)
    grid = GaussianGrid(request.truncation)
    initial = request.case.initial(
        grid.lon_radians[:, None], grid.lat_radians[None, :], **request.case_parameters
    )
    convert = conversion(initial, request.truncation, units)
    convert = replace(convert, ground=quantize(convert.ground, request.backend))
    system, state, lifted = _system(request, units, convert, convert.to_state(initial))
    run = _Run(request, system, convert, state, lifted, progress)
    run.warm_up()
    run.to_the_end()
    return run.trajectory(grid)


def _system(request: Request, units: Units, convert: Conversion, state: np.ndarray):
    """The system of a request, the rounded initial state (flat), and all lifted kernels."""
    backend, equations = request.backend, EQUATIONS[request.case.equations]
    constants = rounded(convert.constants, backend)
    tables = rounded(make_tables(request.truncation), backend)
    work = equations.make_work(request.truncation, backend.carrier)
    tendency = lift(_tendency(request), backend, trust_inputs=True)
    implicit = lift(equations.implicit, backend, trust_inputs=True)
    shape = state.shape

    def flat_tendency(levels, out):
        tendency(levels.reshape(shape), out.reshape(shape), constants, tables, work)

    def flat_implicit(slope, previous, current, out):
        arrays = [x.reshape(shape) for x in (slope, previous, current)]
        implicit(*arrays, units.step, constants[0], out.reshape(shape))

    kernels = {n: lift(k, backend, trust_inputs=True) for n, k in STEP_KERNELS.items()}
    damping = rounded(_damping(request, units, convert, shape[1]), backend)
    compensation = request.compensation
    system = System(
        step=units.step,
        step_seconds=request.step_seconds,
        addition=addition(kernels, damping, compensation, equations.prognostic, backend),
        tendency=flat_tendency,
        implicit=flat_implicit,
        kernels=kernels,
        work=tuple(np.zeros(state.size, backend.carrier) for _ in range(6)),
    )
    return system, rounded(state.ravel(), backend), (tendency, implicit, *kernels.values())


def _tendency(request: Request) -> Callable:
    """The tendency kernel, with compensated sums in its transforms where that is asked for."""
    kernel = EQUATIONS[request.case.equations].tendency
    if any(compensation.sums for compensation in request.compensation.values()):
        return substitute(kernel, {sum_of_rows: compensated_sum_of_rows})
    return kernel


def _damping(request: Request, units: Units, convert: Conversion, columns: int) -> np.ndarray:
    """1 - 1 / (1 + t nu4 (l (l+1))**2) for t of one and of two steps, (2, size)."""
    degree = convert.transform.degree
    rate = request.diffusion_m4_per_s / RADIUS_M**4 * (degree * (degree + 1.0)) ** 2
    taken = np.array([steps * request.step_seconds * rate for steps in (1, 2)])
    return np.repeat(taken / (1.0 + taken), columns, axis=1)


class _Run:
    """The loop over steps and output times, and what it has gathered."""

    def __init__(self, request, system, convert, state, lifted, progress) -> None:
        self.request, self.system, self.convert = request, system, convert
        self.lifted, self.progress = lifted, progress
        self.levels = [system.addition.level(state)]
        self.columns = 2 * len(EQUATIONS[request.case.equations].prognostic)
        self.steps, self.seconds, self.blow_up = 0, 0.0, None
        self.times, self.snapshots = [], []
        self.store()

    def warm_up(self) -> None:
        """Compile what a step calls, on copies."""
        levels = [self.levels[0].copy()]
        for _ in range(self.request.scheme.levels):
            self.request.scheme.advance(self.system, levels)

    def to_the_end(self) -> None:
        """Advance from output time to output time until the end or a blow-up."""
        for stop in self.request.stops:
            while self.steps < stop and self.blow_up is None:
                self.advance(min(_STEPS_BETWEEN_CHECKS, stop - self.steps))
            if self.blow_up is not None:
                return
            self.store()

    def advance(self, count: int) -> None:
        """Make some steps, then look whether all values are finite."""
        before, days_before = self.levels[0].values.copy(), self.days
        start = time.perf_counter()
        for _ in range(count):
            self.request.scheme.advance(self.system, self.levels)
            self.steps += 1
            self.system.addition.forget(self.levels, self.steps)
        self.seconds += time.perf_counter() - start
        if not np.isfinite(self.levels[0].values).all():
            self.blow_up = self.sentence(before, days_before)
        elif self.progress is not None:
            self.progress(self.days)

    @property
    def days(self) -> float:
        """Simulated time so far."""
        return self.steps * self.request.step_seconds / SECONDS_PER_DAY

    def store(self) -> None:
        """Keep the fields of the current state."""
        self.times.append(self.days)
        self.snapshots.append(self.fields(self.levels[0].values))

    def fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """Fields in SI units of a state."""
        return self.convert.to_fields(state.reshape(-1, self.columns).astype(np.float64))

    def sentence(self, before: np.ndarray, days_before: float) -> str:
        """What blew up, when and where, and what usually helps."""
        equations: EquationSet = EQUATIONS[self.request.case.equations]
        finite = np.isfinite(self.levels[0].values.reshape(-1, len(equations.prognostic), 2))
        lost = [n for n, ok in zip(equations.prognostic, finite.all((0, 2)), strict=True) if not ok]
        last = self.fields(before)
        wind = np.hypot(last["u"], last["v"])
        row, column = np.unravel_index(int(wind.argmax()), wind.shape)
        grid = self.convert.transform.grid
        step = self.request.step_seconds
        return (
            f"blow-up between day {days_before:.3g} and day {self.days:.3g}: {' and '.join(lost)} "
            f"not finite; just before, the strongest wind was {wind.max():.3g} m/s at latitude "
            f"{grid.lat[row]:.1f}, longitude {grid.lon[column]:.1f}; usual remedies: a shorter "
            f"step (step_seconds = {step / 2:g} instead of {step:g}), more diffusion "
            "(diffusion_m4_per_s), or an arithmetic with more range"
        )

    def trajectory(self, grid: GaussianGrid) -> Trajectory:
        """Everything gathered."""
        names = self.snapshots[0]
        fields = {name: np.stack([s[name] for s in self.snapshots]) for name in names}
        coriolis = grid.to_output(self.convert.coriolis) * self.convert.units.vorticity
        return Trajectory(
            time_days=np.array(self.times),
            lat=grid.lat,
            lon=grid.lon,
            fields=fields,
            budgets=budgets(grid, fields, self.convert.orography, coriolis),
            step_seconds=self.request.step_seconds,
            steps=self.steps,
            blow_up=self.blow_up,
            seconds=self.seconds,
            fixed_point=fixed_point_summary(self.lifted),
        )
