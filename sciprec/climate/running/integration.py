"""`integrate`: a case, a truncation and an arithmetic become a trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sciprec.arrays.sums.compensation import Compensation
from sciprec.climate.running.adapting import AdaptiveSteps
from sciprec.climate.running.checkpoint import Checkpoints
from sciprec.climate.running.dynamic_scales import scaled_model
from sciprec.climate.running.lifted_model import Model, conversion_of
from sciprec.climate.running.loop import Run, stacked
from sciprec.climate.running.observing import observer_of
from sciprec.climate.running.perturbation import Perturbation
from sciprec.climate.running.records import Recorded
from sciprec.climate.running.request import Request, Restart, check_request
from sciprec.climate.running.scaled_in_binary32 import ScaledInFormatModel
from sciprec.climate.running.scaled_model import ScaledModel
from sciprec.climate.running.start import initial_state, require_possible_winds
from sciprec.climate.transform.grid import GaussianGrid, Truncation
from sciprec.foundation.timing import Timing
from sciprec.instruments.assigning.assigned_backend import AssignedBackend
from sciprec.instruments.assigning.scaling import ScaledBackend
from sciprec.precision import Backend
from sciprec.precision.formats.backend import HandedBackend
from sciprec.precision.formats.stages import Stages
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.tools.adapt.blocks import Adapted
from sciprec.tools.adapt.plan import Plan as Adaptive
from sciprec.tools.monitor.observed import Observed
from sciprec.tools.monitor.plan import Plan


@dataclass(frozen=True)
class Trajectory:
    """What an integration made.

    Args:
        time_days: (nt,).
        lat, lon: degrees (nlat,) south to north, (nlon,) eastward.
        fields: those of the equation set in SI units, such as height (m), u, v (m/s), vorticity and
            divergence (1/s): each (nt, nlat, nlon) or (nt, levels, nlat, nlon); derived variables
            have other last axes. Arrays, or, of a run with a Restart, what reads them from its
            file when it is indexed.
        budgets: those of the equation set, such as mass and energy: each (nt,).
        units: of variables whose unit is not the usual one.
        vertical: coordinates of the levels by name; empty where there are none.
        radius_m: of the sphere.
        step_seconds: the time step.
        steps: how many were made.
        stored: in words, how the state is kept between steps where it is a master copy or has
            formats by scale; else empty.
        stored_bits: of a significand of the state on average, where scales or a policy say so; or
            None.
        blow_up: None, or a sentence naming day, field, level, place and the usual remedy.
        timing: processor time of the steps, compilation excluded.
        fixed_point: saturations, changes of units and places short of bits, as plain data (see
            `fixed_point_summary`), the step that compiles the kernels included; None in floats.
        observed: what a monitor has seen, or None.
        adapted: what an adaptive run has done, or None.
        scaling: the scales of places and what changed them, as plain data; None without scales.
        matrix_units: what matrix units of the transforms keep and do, as plain data, or None.
    """

    time_days: np.ndarray
    lat: np.ndarray
    lon: np.ndarray
    fields: Mapping[str, np.ndarray | Recorded]
    budgets: dict[str, np.ndarray]
    units: Mapping[str, str]
    vertical: dict[str, np.ndarray]
    radius_m: float
    step_seconds: float
    steps: int
    blow_up: str | None
    timing: Timing
    stored: str
    stored_bits: float | None
    fixed_point: dict | None = None
    observed: Observed | None = None
    adapted: Adapted | None = None
    scaling: dict | None = None
    matrix_units: dict | None = None


def integrate(
    case: str,
    truncation: str | int | Truncation,
    days: float,
    *,
    backend: str | Backend | None = None,
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
    threads: int = 1,
    monitor: Plan | None = None,
    adaptive: Adaptive | None = None,
) -> Trajectory:
    """Integrate a test case with every operation of the model rounded in the backend's arithmetic.

    Args:
        case: name of a registered case, such as "williamson_5".
        truncation: "T42" or 42, from the table, or a Truncation of one's own.
        days: length of the integration.
        backend: name of the arithmetic, its spec string, or a Backend; left out, "fp64".
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
            Restart: its stored fields stay in a file there until they are asked for.
        progress: called with the simulated days.
        perturbation: of the initial state, for members of an ensemble.
        threads: how many make the steps together; they change no bit. Arithmetics with random bits
            or in fixed point, whose results depend on the calls before, and stages run on one.
        monitor: what is watched: prognostic variables, their increments and tendencies.
        adaptive: in place of a backend, a tolerance and the ladder of arithmetics that keeps it.

    Returns:
        The trajectory; where a value became infinite or NaN it ends, with a sentence in `blow_up`.

    Raises:
        InputError: something unknown or out of range was asked for.

    Precision: tables are made in binary64 and rounded once; the initial state is rounded; all steps
        run in the backend; fields and budgets are evaluated from the states in binary64.
    """
    return integrate_request(check_request(**locals()))


def integrate_request(request: Request) -> Trajectory:
    """Integrate what is asked for; see `integrate`."""
    grid = GaussianGrid(request.truncation)
    initial = initial_state(request, grid)
    convert = conversion_of(request, initial)
    moved = initial if request.perturbation is None else request.perturbation.of(initial)
    exact = convert.to_state(moved)
    require_possible_winds(request, initial, convert, exact)
    is_scaled = isinstance(request.backend, ScaledBackend)
    model = scaled_model(request, convert, exact) if is_scaled else Model(request, convert)
    state = model.stored(exact)
    kept = None if request.checkpoints is None else Checkpoints(request.checkpoints, request)
    team = model.team(request.threads)
    observer = observer_of(request, convert, model.columns)
    if observer is not None:
        observer.start(state, exact.ravel())
    adapting = None if request.adaptive is None else AdaptiveSteps(request, convert, model)
    lifted = model.lifted if adapting is None else adapting.lifted
    stepping = adapting or model.steps, convert, model.columns, state, lifted
    run = Run(request, *stepping, request.progress, kept, team, observer)
    try:
        if isinstance(request.backend, AssignedBackend):
            request.backend.require_all_met()  # all kernels are lifted, and none compiled yet
        if type(request.backend) is not HandedBackend:  # whose kernels are followed, trials too
            run.warm_up()
        run.to_the_end()
    finally:
        if team is not None:
            team.close()
    return _trajectory(run, grid, model)


def _trajectory(run: Run, grid: GaussianGrid, model: Model) -> Trajectory:
    """Everything gathered."""
    kept, degree = run.request.stored, run.convert.transform.degree
    fields = run.states.arrays()
    if run.checkpoints is not None and not run.checkpoints.in_their_file:
        fields = {name: np.asarray(values) for name, values in fields.items()}
    return Trajectory(
        time_days=np.array([run.days_of(steps) for steps in run.stored]),
        lat=grid.lat,
        lon=grid.lon,
        fields=fields,
        budgets=stacked(run.budgets),
        units=run.request.equations.units,
        vertical=run.convert.vertical,
        radius_m=run.request.case.radius_m,
        step_seconds=run.request.step_seconds,
        steps=run.steps,
        blow_up=run.blow_up,
        timing=run.clock.timing,
        stored=kept.in_words(degree),
        stored_bits=kept.bits(degree),
        fixed_point=fixed_point_summary(model.lifted),
        observed=None if run.observer is None else run.observer.observed_at_end(run.levels),
        adapted=None if run.adapting is None else run.adapting.adapted,
        scaling=model.report() if isinstance(model, ScaledModel | ScaledInFormatModel) else None,
        matrix_units=model.matrix_units,
    )
