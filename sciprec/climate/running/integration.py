"""`integrate`: a case, a truncation and an arithmetic become a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.checks.arguments import refused
from sciprec.climate.cases.registry import require_state
from sciprec.climate.constants import Units
from sciprec.climate.equations.registry import Conversion, columns_of
from sciprec.climate.equations.tendency import in_one_kernel, make_tendency_work, staged_tendency
from sciprec.climate.running.checkpoint import Checkpoints, Restart
from sciprec.climate.running.loop import Run, stacked
from sciprec.climate.running.perturbation import Perturbation
from sciprec.climate.running.request import Request, check_request
from sciprec.climate.stages.staged_transform import StagedTransform
from sciprec.climate.stepping.diffusion import damping, diffusion_rate
from sciprec.climate.stepping.levels import LEVEL_KERNELS, addition
from sciprec.climate.stepping.schemes import STEP_KERNELS, WORK_ARRAYS, System
from sciprec.climate.transform.aligned import aligned_zeros
from sciprec.climate.transform.compiled import compiled, staged
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.climate.transform.spectral import make_tables, reference_transform, rounded
from sciprec.precision import Backend
from sciprec.precision.formats.stages import Stages
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.precision.sums.compensation import Compensation
from sciprec.provenance.timing import Timing


@dataclass(frozen=True)
class Trajectory:
    """What an integration made.

    Args:
        time_days: (nt,).
        lat, lon: degrees (nlat,) south to north, (nlon,) eastward.
        fields: those of the equation set in SI units, such as height (m), u, v (m/s), vorticity and
            divergence (1/s): each (nt, nlat, nlon) or (nt, levels, nlat, nlon); derived variables
            have other last axes.
        budgets: those of the equation set, such as mass and energy: each (nt,).
        units: of variables whose unit is not the usual one.
        vertical: coordinates of the levels by name; empty where there are none.
        radius_m: of the sphere.
        step_seconds: the time step.
        steps: how many were made.
        blow_up: None, or a sentence naming day, field, level, place and the usual remedy.
        timing: processor time of the steps, compilation excluded.
        fixed_point: saturations, changes of units and places short of bits, as plain data (see
            `fixed_point_summary`), the step that compiles the kernels included; None in floats.
    """

    time_days: np.ndarray
    lat: np.ndarray
    lon: np.ndarray
    fields: dict[str, np.ndarray]
    budgets: dict[str, np.ndarray]
    units: Mapping[str, str]
    vertical: dict[str, np.ndarray]
    radius_m: float
    step_seconds: float
    steps: int
    blow_up: str | None
    timing: Timing
    fixed_point: dict | None = None


def integrate(
    case: str,
    truncation: str | int | Truncation,
    days: float,
    *,
    backend: str | Backend = "fp64",
    step_seconds: float | None = None,
    output_hours: float = 24.0,
    parameters: Mapping[str, object] | None = None,
    time_scheme: str | None = None,
    compensation: str | Compensation | Mapping | None = None,
    stored: str | Backend | None = None,
    stages: str | Stages | Mapping | None = None,
    variables: Sequence[str] | None = None,
    checkpoints: str | Path | Restart | None = None,
    progress: Callable[[float], None] | None = None,
    perturbation: Perturbation | None = None,
) -> Trajectory:
    """Integrate a test case with every operation of the model rounded in the backend's arithmetic.

    Args:
        case: name of a registered case, such as "williamson_5".
        truncation: "T42" or 42, from the table, or a Truncation of one's own.
        days: length of the integration.
        backend: name of the arithmetic, its spec string, or a Backend.
        step_seconds: time step; left out, the truncation's usual one, shortened to fit the output
            times and refused where it would be less than half.
        output_hours: between stored states; the last state is stored in any case.
        parameters: of the case (angle_degrees), of its equations (formulation) and of the model
            (diffusion_m4_per_s, diffusion_m8_per_s, viscosity in m2/s; filter_nu, filter_alpha of
            leapfrog's filter; fourier, "fft" or "matrix", the Fourier stage of the transforms).
        time_scheme: name of a registered time scheme; left out, the usual one of the equations.
        compensation: of the state's updates: None, a name such as "carry", a Compensation, or one
            of these per prognostic variable.
        stored: format in which the state and its residual are kept from one step to the next, such
            as "fp16"; left out: that of the backend.
        stages: arithmetics of the stages of transforms: a name of `formats.stages`, as "mixed-m0",
            a table of the keys of `Stages`, or a Stages; left out: that of the backend.
        variables: names of what to keep, fields and derived variables such as zonal_mean_u and
            kinetic_energy_spectrum; all fields of the equation set when left out.
        checkpoints: a folder in which the run leaves a checkpoint at output times, and from which
            it goes on, with the same bits, where it was interrupted or has become longer; a
            Restart: for interruptions only.
        progress: called with the simulated days.
        perturbation: of the initial state, for members of an ensemble.

    Returns:
        The trajectory; where a value became infinite or NaN it ends, with a sentence in `blow_up`.

    Raises:
        InputError: something unknown or out of range was asked for.

    Precision: tables are made in binary64 and rounded once; the initial state is rounded; all steps
        run in the backend; fields and budgets are evaluated from the states in binary64.
    """
    request = check_request(
        case, truncation, days, backend=backend, step_seconds=step_seconds,
        output_hours=output_hours, parameters=parameters, time_scheme=time_scheme,
        compensation=compensation, stored=stored, stages=stages, variables=variables,
        perturbation=perturbation,
    )  # fmt: skip
    grid = GaussianGrid(request.truncation)
    if progress is not None and not callable(progress):
        raise refused("progress", progress, "a function of the simulated days, or None")
    initial = request.case.initial(
        grid.lon_radians[:, None], grid.lat_radians[None, :], **request.parameters.case
    )
    require_state(request.case, request.equations.state, initial, grid)
    convert = _conversion(request, initial)
    model = _Model(request, convert)
    begun = initial if perturbation is None else perturbation.of(initial)
    state = rounded(convert.to_state(begun).ravel(), request.update)
    kept = None if checkpoints is None else Checkpoints(checkpoints, request)
    stepping = model.system, convert, model.columns, state, model.adjust, model.lifted
    run = Run(request, *stepping, progress, kept)
    run.warm_up()
    run.to_the_end()
    return _trajectory(run, grid, model)


def _conversion(request: Request, initial) -> Conversion:
    """The way between SI fields and the state, for the case's planet and the scheme's step."""
    units = Units(request.step_seconds, request.case.radius_m)
    return request.equations.conversion.of(
        initial,
        reference_transform(request.truncation),
        units,
        request.scheme.implicit_share * units.step,
        **request.parameters.equations,
    )


class _Model:
    """The lifted kernels of a request with their constants, tables and work arrays.

    Attributes:
        columns: name of the variable of each column of the state.
        system: what the time scheme sees.
        adjust: function (flat state) that changes it in place, or None.
        lifted: all lifted kernels.
    """

    def __init__(self, request: Request, convert: Conversion) -> None:
        self.request, self.backend = request, request.backend
        layout = request.equations.layout(request.parameters.equations)
        self.columns = columns_of(layout)
        self.shape = convert.transform.degree.size, self.columns.size
        self.constants = rounded(convert.constants, self.backend)
        self.tables = rounded(make_tables(request.truncation), self.backend)
        self.work = make_tendency_work(request.equations, convert, self.backend.carrier)
        self.lifted: list = []
        self.system = self._system(convert)
        self.adjust = self._adjust()

    def _system(self, convert: Conversion) -> System:
        request, equations, shape = self.request, self.request.equations, self.shape
        kernels = {
            name: self._lift(k, request.update if name in LEVEL_KERNELS else self.backend)
            for name, k in STEP_KERNELS.items()
        }
        linear, solve = (self._lift(k) for k in (equations.linear, equations.solve))
        constants, tendency = self.constants, self._tendency()
        degree = convert.transform.degree
        rate = diffusion_rate(degree, request.case.radius_m, request.parameters.diffusion)
        diffused = ~np.isin(self.columns, equations.undiffused)
        taken = rounded(damping(rate, request.step_seconds, diffused), self.backend)
        return System(
            step=convert.units.step,
            step_seconds=request.step_seconds,
            filter=request.parameters.filter,
            addition=addition(kernels, taken, request.compensation, self.columns, self.backend),
            tendency=lambda x, out: tendency(x.reshape(shape), out.reshape(shape)),
            linear=lambda x, out: linear(x.reshape(shape), constants, out.reshape(shape)),
            solve=lambda x, out: solve(x.reshape(shape), constants, out.reshape(shape)),
            kernels=kernels,
            work=aligned_zeros((WORK_ARRAYS, shape[0] * shape[1]), self.backend.carrier),
            tables=rounded(request.scheme.tables, self.backend),
        )

    def _tendency(self) -> Callable:
        """The function (state, out), both (coefficients, columns), of the right-hand side."""
        request = self.request
        if request.stages is not None:
            transform = StagedTransform(request.truncation, request.stages, self.backend)
            kernels = [self._lift(kernel) for kernel in request.equations.kernels]
            return staged_tendency(kernels, self.constants, self.work, transform)
        kernel, rest = self._lift(_tendency(request)), (self.constants, self.tables, self.work)
        return lambda x, out: kernel(x, out, *rest)

    def _adjust(self) -> Callable | None:
        if self.request.equations.adjust is None:
            return None
        adjust, rest = self._lift(self.request.equations.adjust), (self.tables, self.work)
        return lambda x: adjust(x.reshape(self.shape), self.constants, *rest)

    def _lift(self, kernel: Callable, backend: Backend | None = None):
        self.lifted.append(compiled(kernel, backend or self.backend))
        return self.lifted[-1]


def _tendency(request: Request) -> Callable:
    """The tendency kernel with the Fourier stage and the sums that are asked for."""
    sums = any(compensation.sums for compensation in request.compensation.values())
    return staged(in_one_kernel(*request.equations.kernels), request.parameters.fourier, sums)


def _trajectory(run: Run, grid: GaussianGrid, model: _Model) -> Trajectory:
    """Everything gathered."""
    return Trajectory(
        time_days=np.array([run.days_of(steps) for steps in run.stored]),
        lat=grid.lat,
        lon=grid.lon,
        fields=stacked(run.snapshots),
        budgets=stacked(run.budgets),
        units=run.request.equations.units,
        vertical=run.convert.vertical,
        radius_m=run.request.case.radius_m,
        step_seconds=run.request.step_seconds,
        steps=run.steps,
        blow_up=run.blow_up,
        timing=run.clock.timing,
        fixed_point=fixed_point_summary(model.lifted),
    )
