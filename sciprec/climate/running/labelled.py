"""Climate runs, and stored solutions, as labelled datasets: `sciprec.climate.run`."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sciprec.climate.cases.registry import resolve_case
from sciprec.climate.constants import SECONDS_PER_DAY, SECONDS_PER_HOUR
from sciprec.climate.diagnostics.reference import Reference
from sciprec.climate.physics.forcings import Forcing
from sciprec.climate.running.branching import (
    branched,
    from_fields,
    is_checkpoint,
    require_its_time,
    seconds_since,
)
from sciprec.climate.running.checkpoint import FileOfState, read_checkpoint
from sciprec.climate.running.counted_stages import counted_stages
from sciprec.climate.running.drifting import in_fp64
from sciprec.climate.running.given import begun_as, from_initial
from sciprec.climate.running.integration import integrate_request
from sciprec.climate.running.lifted_model import conversion_of
from sciprec.climate.running.perturbation import FIELDS, Perturbation
from sciprec.climate.running.request import Request, Restart, carrying, check_request
from sciprec.climate.running.start import initial_state, start_in_words, wanted_fields
from sciprec.climate.stepping.schemes import FILTER
from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation
from sciprec.facets.adaptive.attributes import with_adapted
from sciprec.facets.matrix_unit.attributes import MATRIX_UNITS
from sciprec.facets.monitor.attributes import with_monitor
from sciprec.facets.scaling.attributes import SCALES
from sciprec.foundation.arguments import flag, refused
from sciprec.foundation.errors import InputError
from sciprec.foundation.whole import temporary_folder
from sciprec.instruments.assigning.assignment import every_place_met
from sciprec.instruments.assigning.policies import in_place_of
from sciprec.instruments.assigning.scaling import ScaledBackend, with_scaling
from sciprec.results.output import files
from sciprec.results.output.dataset import CONVENTIONS, trajectory_dataset
from sciprec.results.output.dates import with_dates
from sciprec.results.output.files import require_writable
from sciprec.results.output.given_fields import GivenFields, read_fields, split_time
from sciprec.results.output.stated import INITIAL_STATE, STAGE_WORK, STORED_BITS, STORED_STATE
from sciprec.results.output.variables import describe
from sciprec.tools.adapt.plan import AdaptivePlan
from sciprec.tools.adapt.plan import plan_from as adaptive_from
from sciprec.tools.monitor.plan import WatchPlan, plan_from

_ROUNDED_BY_BLOCK = (
    "Every operation of a tendency is rounded in the arithmetic of its block; the state, its "
    "update and the implicit solve are in binary64."
)


def run(
    case: str = "williamson_2",
    truncation: str | int = "T42",
    days: float = 5,
    backend: Any = None,
    compensation: str | Mapping | None = None,
    step_seconds: float | None = None,
    output_hours: float = 24,
    *,
    initial: xr.Dataset | str | Path | None = None,
    initial_fields: Mapping[str, str] | None = None,
    start_from: str | Path | None = None,
    start_date: Any = None,
    calendar: str | None = None,
    tracers: Mapping[str, Any] | Sequence[str] | None = None,
    forcing: Forcing | str | None = None,
    forcing_parameters: Mapping[str, float] | None = None,
    time_scheme: str | None = None,
    stored: Any = None,
    stages: Any = None,
    variables: Sequence[str] | None = None,
    sample_every: int = 1,
    statistics_period: str | float | None = None,
    output_type: str = "float64",
    file: str | Path | None = None,
    checkpoints: str | Path | Restart | None = None,
    progress: Callable[[float], None] | None = None,
    perturbation: Perturbation | None = None,
    threads: int = 1,
    policy: str | None = None,
    narrow: str | None = None,
    wide: str | None = None,
    monitor: WatchPlan | Mapping[str, Any] | None = None,
    adaptive: AdaptivePlan | Mapping[str, Any] | None = None,
    scaling: str = "none",
    scales: Mapping[str, float] | None = None,
    count_operations: bool = False,
    **case_parameters: Any,
) -> xr.Dataset:
    """Run a test case with every operation of the model rounded in the backend's arithmetic.

    Args:
        case: name of a registered case.
        truncation: such as "T42" or 42.
        days: length of the run.
        backend: name of the arithmetic, its spec string, or a Backend; left out, "fp64".
        compensation: of the state's updates: None, a name such as "carry", a Compensation, or one
            of these per prognostic variable.
        step_seconds: time step; left out, the truncation's usual one, shortened to fit the output
            times and refused where it would be less than half.
        output_hours: between stored states; the last state is stored in any case.
        initial: a dataset, netCDF file or Zarr store whose fields take the place of those of the
            case: wind, or vorticity and divergence; height, or temperature and surface pressure;
            orography, if there is one. "state.nc@2000-01-01T06" is one time of several; see
            docs/reference/climate.md.
        initial_fields: names of variables by field, {"temperature": "T2"}, where they are not found
            by their CF standard name, GRIB short name, or the name of the field itself.
        start_from: a checkpoint NAME.npz, or a netCDF file or Zarr store that a run wrote,
            FILE@TIME where it has several times, from which the run goes on for its number of days;
            a checkpoint with nothing changed gives the bits of the run that was not stopped. What
            is dropped, and what was interpolated, is told in the attribute initial_state; see
            docs/reference/climate.md.
        start_date: from which days count, a date such as "2000-01-01" or "1979-06-01T12:00" (left
            out, the first), or one of Python, NumPy or cftime.
        calendar: of the CF conventions: "standard", "noleap", "360_day" and so on.
        tracers: initial field by name, {"bell": "cosine_bell", "ones": 1.0}, a number, a shape, or
            "initial", the field of its name in `initial`; or one of these and a unit,
            {"q": ("initial", "kg kg-1")}; or names of shapes; see docs/reference/climate.md.
        forcing: from `climate.forcing`, or "FILE.py:NAME" of one, which adds tendencies to those
            of the equations; see docs/reference/climate.md.
        forcing_parameters: its parameters, in the units of its table, in place of the usual ones.
        time_scheme: name of a registered time scheme; left out, the usual one of the equations.
        stored: format in which the state and its residual are kept between steps, such as "fp16";
            a wider one than the backend's is a master copy, whose update is done in it; formats by
            total wavenumber "scales:0-10 fp32;11- 11", a number meaning bits, or by a law,
            "scales:30 - 3.5*log2(1+l)"; left out: that of the backend.
        stages: arithmetics of the transforms' stages: a name such as "mixed-m0" or a table of
            legendre, sums, fourier, kept, kept_orders and kept_degrees; left out: the backend's.
        variables: names of what to keep, fields and derived variables such as zonal_mean_u and
            kinetic_energy_spectrum; all fields of the equation set when left out. time_mean_u,
            time_maximum_u, time_minimum_u and time_sum_u are of the states since the stored one
            before, for any variable in the place of u; see docs/reference/climate.md.
        sample_every: steps from one state that these statistics look at to the next.
        statistics_period: their intervals, a number of days, "month" or "year"; each stored state
            has those since its interval began. Left out, from one stored state to the next.
        output_type: of the numbers of stored fields, "float64" or "float32".
        file: a netCDF file NAME.nc, or a Zarr store NAME.zarr, into which the run goes, so that it
            takes the memory of one stored state: states are appended to a file beside it as they
            are made, and what is returned reads its values from NAME when they are asked for.
        checkpoints: a folder in which the run leaves a checkpoint at output times, and from which
            it goes on, with the same bits, where it was interrupted or has become longer; a
            Restart of sciprec.climate.running.request: what it stores is read from there when
            it is asked for, so that the run takes the memory of one stored state.
        progress: called with the simulated days now and then.
        perturbation: of the initial state, such as `climate.Perturbation(member=3)`.
        threads: how many make the steps together; they change no bit. Worth it from about T42 with
            20 levels on; arithmetics with random bits or in fixed point, and stages, run on one.
        policy: in place of a backend, which stages of the model are narrow: "O0" none, "O1" those
            of an allow list, "O2" all but those of a deny list, the state's update above all, "O3"
            all; see `sciprec list policies`. Short for the backend
            "policy:O2,narrow=fp16,wide=fp32".
        narrow, wide: the formats of a policy.
        monitor: what is watched as it goes, such as {"watch": ["vorticity"], "level": 1, "every":
            36, "alerts": {"jump": 10.0}, "drift_every": 36}; see docs/reference/monitor.md.
        adaptive: in place of a backend: a tolerance of the relative l2 error against fp64 at the
            end, and the ladder of arithmetics that is to keep it, such as {"tolerance": 1e-3,
            "ladder": ["fp16", "mlu370", "fp32"]}; see docs/reference/adaptive.md.
        scaling: "static" gives every place of the model a scale, a power of two, from a profile of
            the first day; "dynamic" goes on from there, halves scales where numbers leave their
            range, makes the step again, and doubles them after 100 good ones; see
            docs/reference/scaling.md.
        scales: stage, or variable of the state, -> scale of its places, whatever the profile says.
        count_operations: whether operations, loads and stores of the stages of a step are counted,
            for the roofline on the page; takes seconds, and some 20 s the first time.
        case_parameters: of the case (angle_degrees=45), of its equations (formulation="naive") and
            of the model (viscosity in m2/s, diffusion_m4_per_s, diffusion_m8_per_s).

    Returns:
        An xarray Dataset with dimensions time, lat, lon (and sigma), the fields in SI units, the
        budgets over time, and as attributes what was run and the run's own numbers; `blow_up` is
        empty, or the sentence of why it ended early. Times are dates, of cftime where datetime64
        has no such date or calendar.

    Raises:
        InputError: something unknown or out of range was asked for.
    """
    keeping = adaptive_from(adaptive)
    counting = flag("count_operations", count_operations)
    chosen = in_place_of(backend, policy, narrow, wide, keeping.widest if keeping else "fp64")
    request = check_request(
        case, truncation, days, backend=with_scaling(chosen, scaling, scales),
        step_seconds=step_seconds, output_hours=output_hours, parameters=case_parameters,
        time_scheme=time_scheme, compensation=compensation, stored=stored, stages=stages,
        variables=variables, checkpoints=checkpoints, progress=progress, perturbation=perturbation,
        threads=threads, monitor=plan_from(monitor), adaptive=keeping,
        initial=fields_given(initial, initial_fields, case, start_from, tracers),
        start_date=start_date, calendar=calendar, tracers=tracers, sample_every=sample_every,
        statistics_period=statistics_period, output_type=output_type,
        forcing=forcing, forcing_parameters=forcing_parameters,
    )  # fmt: skip
    request = started_from(request, start_from, initial_fields, start_date, calendar)
    if file is not None:
        return run_into(request, file, counting)
    return with_dates(run_request(request, counting))


def run_into(request: Request, file: str | Path, count_operations: bool = False) -> xr.Dataset:
    """Run what is asked for into a file or store; see `run`.

    Args:
        request: what is run; its checkpoints, if there are any, hold the states meanwhile.
        file: NAME.nc or NAME.zarr; what is there is replaced when the run has ended.
        count_operations: as `run_request` has it.

    Returns:
        The dataset with dates, which reads large variables when they are asked for.

    Raises:
        InputError: the file cannot be written.
    """
    path = require_writable(file)
    lasting = request.checkpoints
    try:
        with contextlib.ExitStack() as stack:
            if lasting is None:
                room = stack.enter_context(temporary_folder("states", path.parent))
                lasting = Restart(room, after_seconds=math.inf)
            elif not isinstance(lasting, Restart):
                lasting = Restart(Path(lasting), lasting=True)
            dataset = run_request(replace(request, checkpoints=lasting), count_operations)
            files.write(dataset, path)
            del dataset
    except OSError as error:
        raise InputError(f"the file '{path}': {files.system_reason(error)}") from None
    return with_dates(files.available(path, look=lambda dataset: None))


def fields_given(
    initial: xr.Dataset | str | Path | None, names: Mapping[str, str] | None, case: str,
    start_from: str | Path | None = None, tracers: Any = None,
) -> GivenFields | None:
    """The fields that are to stand in the place of a case's initial state; None without any.

    Args:
        initial: a dataset or netCDF file, or None.
        names: of variables by field, or None.
        case: name of the case.
        start_from: what else these names are for, or None.
        tracers: as `run` has them, some of which may begin as fields.

    Raises:
        InputError: they are not there, or none that the case's equations take.
    """
    if initial is None:
        if names and start_from is None:
            raise InputError("initial_fields is given without initial; give the file, too")
        return None
    return read_fields(initial, *wanted_fields(resolve_case(case), from_initial(tracers)), names)


def started_from(
    request: Request, start_from: str | Path | None, names: Mapping[str, str] | None = None,
    start_date: Any = None, calendar: str | None = None,
) -> Request:  # fmt: skip
    """The request as a branch that goes on from a file; itself without one.

    Args:
        request: what is run, for its number of days.
        start_from: a checkpoint, a netCDF file or Zarr store, FILE@TIME of several times, or None.
        names: of variables by field, where the file has other ones, or None.
        start_date, calendar: as they were given, which files have of their own.

    Raises:
        InputError: the file is none to go on from, or is given with what contradicts it.
    """
    if start_from is None:
        return request
    if not isinstance(start_from, str | Path) or not str(start_from):
        accepted = "the path of a checkpoint, of a netCDF file or of a Zarr store"
        raise refused("start_from", start_from, accepted)
    for name, value in {"start_date": start_date, "calendar": calendar}.items():
        if value is not None:
            raise InputError(
                f"{name} is given with start_from, whose file has its own; leave {name} out"
            )
    if request.adaptive is not None:
        raise InputError(
            "adaptive is given with start_from, and its ladder shares out a whole run; leave one "
            "of them out"
        )
    path, time = split_time(str(start_from))
    inputs = wanted_fields(request.case, [tracer.name for tracer in request.tracers], True)
    if is_checkpoint(path):
        file = read_checkpoint(path)
        require_its_time(file, time)
        with_levels = branched(request, file)
        if with_levels is not None:
            return with_levels
        fields = read_fields(_fields_of(file), *inputs, names)
        request = _with_tracers_of(request, fields)
        fields = replace(fields, source=f"{file.source}, {_why_fields(request, file)}")
        seconds, since = file.saved.steps * file.about["step_seconds"], file.since
        return from_fields(request, fields, seconds, since, file.digest, file.source)
    if request.initial is not None:
        raise InputError(
            "initial is given with start_from, whose file has a state of its own; leave one of "
            "them out"
        )
    fields = read_fields(start_from, *inputs, names)
    seconds, since = 0.0, request.since
    if fields.time is not None:
        seconds, since = seconds_since(*fields.time)
    request = _with_tracers_of(request, fields)
    words = f"at {seconds!r} s", fields.source + _begun_anew(request)
    return from_fields(request, fields, seconds, since, *words, path, names)


def _with_tracers_of(request: Request, fields: GivenFields) -> Request:
    """The request whose tracers go on as fields of a file, where that has them."""
    if not request.tracers:
        return request
    return carrying(request, tuple(
        begun_as(tracer, fields) if tracer.name in fields.names else tracer
        for tracer in request.tracers
    ))  # fmt: skip


def _begun_anew(request: Request) -> str:
    """Name the tracers that a file does not have, as the end of a sentence."""
    named = [tracer.name for tracer in request.tracers if tracer.given is None]
    verb = "begins" if len(named) == 1 else "begin"
    return f"; {' and '.join(named)} {verb} anew" if named else ""


def _fields_of(file: FileOfState) -> xr.Dataset:
    """The fields of the state of a checkpoint, evaluated as its run would have."""
    about = file.about
    name, full = about["truncation"]
    step = about["step_seconds"]
    if not about["own_start"] or repr(resolve_truncation(name)) != full:
        raise InputError(
            f"start_from: {file.source} has its state as coefficients, whose meaning follows from "
            "an initial state that was given or a truncation that has no name; give the same ones "
            "again, or a netCDF file that its run wrote"
        )
    parent = check_request(
        about["case"], name, step / SECONDS_PER_DAY, step_seconds=step,
        output_hours=step / SECONDS_PER_HOUR, parameters=about["parameters"],
        tracers=dict(zip(about["tracers"], about.get("tracer_units", ()), strict=False)),
    )  # fmt: skip
    grid = GaussianGrid(parent.truncation)
    convert = conversion_of(parent, initial_state(parent, grid))
    level = file.saved.levels[0]
    values = level.values.astype(float)
    if level.residual is not None:
        values = values + level.residual
    count = convert.transform.degree.size
    fields = convert.to_fields(values.reshape(count, -1))
    coordinates = {"lat": grid.lat, "lon": grid.lon}
    if "sigma" in convert.vertical:
        coordinates["sigma"] = convert.vertical["sigma"]
    axes = ("sigma", "lat", "lon")
    return xr.Dataset({n: (axes[3 - x.ndim :], x) for n, x in fields.items()}, coordinates)


def _why_fields(request: Request, file: FileOfState) -> str:
    """Why the fields of a checkpoint are taken, and not its coefficients, in words."""
    about = file.about
    requested = {
        "truncation": request.truncation.name, "step_seconds": f"{request.step_seconds:g}",
        "case": request.case.name,
    }  # fmt: skip
    stored = {"truncation": about["truncation"][0], "step_seconds": f"{about['step_seconds']:g}",
           "case": about["case"]}  # fmt: skip
    changed = [f"{name} {stored[name]}" for name in requested if requested[name] != stored[name]]
    named = [tracer.name for tracer in request.tracers]
    if about.get("tracers", named) != named:  # not in checkpoints of earlier versions
        changed.append(f"tracers {' and '.join(about['tracers']) or 'none'}")
    parameters = request.parameters.case | request.parameters.equations
    for name, value in about["parameters"].items():
        if name in parameters and parameters[name] != value:
            changed.append(f"{name} {value}")
    if isinstance(request.backend, ScaledBackend) and about["arithmetic"] != request.backend.name:
        changed.append(f"arithmetic {about['arithmetic']}, whose scales are others")
    fallback = "other initial values, parameters or scales"
    return f"whose run has {', '.join(changed) or fallback}{_begun_anew(request)}"


def _apart_in_words(request: Request, dataset: xr.Dataset) -> str:
    """The distance of a branch from the file that it goes on from, where that has the branch's next
    stored time, too: what the start from one level, and whatever was changed, make together.
    """
    start, initial = request.start, request.initial
    if start is None or not start.file or initial is None or initial.time is None:
        return ""
    if dataset.sizes["time"] < 2:
        return ""
    number, units, calendar = initial.time
    passed = float(dataset["time"][1] - dataset["time"][0]) * SECONDS_PER_DAY
    later = number + passed / seconds_since(1.0, units, calendar)[0]
    try:
        file = read_fields(f"{start.file}@{later!r}", *wanted_fields(request.case), start.names)
    except InputError:  # it ends before
        return ""
    name = next((n for n in FIELDS if n in dataset and n in file.names), None)
    if name is None or name in file.per_gravity:
        return ""
    sigma = dataset["sigma"].values if "sigma" in dataset[name].dims else None
    stored = file.on_grid(dataset["lat"].values, dataset["lon"].values, sigma)[name]
    weights = dataset["cell_area"].values
    apart, size = (
        float(np.sqrt(np.sum(weights * x**2)))
        for x in (dataset[name].isel(time=1).values - stored, stored)
    )
    return f"; at its next stored time {name} is {apart / size:.2g} (relative l2) from the file's"


def run_request(request: Request, count_operations: bool = False) -> xr.Dataset:
    """Run what is asked for, and label it; see `run`. Times are numbers of days."""
    with every_place_met(request.backend):
        trajectory = integrate_request(request)
    dataset = trajectory_dataset(trajectory, request.since)
    dataset.attrs = _about(request) | dataset.attrs
    if trajectory.observed is not None:
        dataset = with_monitor(dataset, trajectory.observed)
    if trajectory.adapted is not None:
        dataset = with_adapted(dataset, trajectory.adapted, _ROUNDED_BY_BLOCK)
    dataset.attrs |= SCALES.written(trajectory.scaling)
    dataset.attrs |= MATRIX_UNITS.written(trajectory.matrix_units)
    if words := start_in_words(request):
        dataset.attrs[INITIAL_STATE] = words + _apart_in_words(request, dataset)
    if trajectory.stored:
        dataset.attrs[STORED_STATE] = trajectory.stored
    if trajectory.stored_bits is not None:
        dataset.attrs[STORED_BITS] = trajectory.stored_bits
    if count_operations:
        dataset.attrs[STAGE_WORK] = json.dumps(counted_stages(in_fp64(request)))
    return dataset


def _about(request: Request) -> dict[str, str]:
    """Attributes of a dataset and its file that say which run it is of."""
    parameters = request.parameters
    named = parameters.case | parameters.equations | parameters.diffusion
    named |= dict(zip(FILTER, parameters.filter, strict=True)) | {"fourier": parameters.fourier}
    carried = {name: repr(each) for name, each in sorted(request.compensation.items())}
    return {
        "Conventions": CONVENTIONS,
        "case": request.case.name,
        "equations": request.equations.name,
        "truncation": request.truncation.name,
        "arithmetic": request.backend.name,
        "compensation": json.dumps(carried) if carried else "none",
        "time_scheme": request.scheme.name,
        "parameters": json.dumps(named, sort_keys=True, default=repr),
    } | _about_physics(request)


def _about_physics(request: Request) -> dict[str, str]:
    """Attributes of tracers and a forcing, where there are some."""
    about = {}
    if request.tracers:
        about["tracers"] = json.dumps({
            each.name: [each.start, each.units] if each.units else each.start
            for each in request.tracers
        })  # fmt: skip
    if request.forcing is not None:
        about["forcing"] = request.forcing.name
        about["forcing_parameters"] = request.forcing.as_json(request.forcing_parameters)
    return about


def reference_dataset(path: str | Path, truncation: str | int) -> xr.Dataset:
    """Return a stored solution of high resolution on the grid of a truncation.

    It is for `error_budget(..., reference=...)`, which says how far a run in fp64 is from it, and
    whether rounding matters beside that.

    Args:
        path: of a file such as data/climate/williamson_6_day7.npz.
        truncation: of the runs that it is compared with, such as "T42".

    Returns:
        height, u, v, vorticity and divergence over lat and lon, in SI units.

    Raises:
        InputError: the file holds no such solution, or there is no such truncation.
    """
    grid = GaussianGrid(resolve_truncation(truncation))
    fields = Reference.load(path).fields(grid)
    names = ("height", "u", "v", "vorticity", "divergence")
    return xr.Dataset(
        {name: (("lat", "lon"), fields[name], describe(name).as_attributes()) for name in names},
        coords={"lat": grid.lat, "lon": grid.lon},
    )
