"""Scenarios of kind "climate": a global model from one of its cases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from sciprec.facets.adaptive.keys import WithAdaptive
from sciprec.facets.policy.keys import WithPolicies
from sciprec.facets.scaling.keys import WithScaling
from sciprec.facets.stages.keys import MODEL_STAGES, StagesChoice, StagesKey
from sciprec.facets.tables import (
    KnownArithmetic,
    PlainValue,
    Registered,
    Section,
    as_tuple,
    key,
    limited,
)
from sciprec.foundation.errors import InputError
from sciprec.foundation.limits import CLIMATE as LIMITS
from sciprec.foundation.limits import MOST_SAMPLED_STEPS, SCALES, require_few_states
from sciprec.foundation.loading import load_plugins
from sciprec.foundation.time_methods import over_time
from sciprec.precision.formats.backend import TRUTH, resolve_backend
from sciprec.results.output.stated import stated
from sciprec.results.output.variables import ZONAL_MEAN
from sciprec.scenario.loading import Scenario
from sciprec.scenario.toml_file import inside, is_inside
from sciprec.scenario.variant import Variant
from sciprec.tools.monitor.plan import WatchPlan, with_changes
from sciprec.workbench.kinds.kind import Estimate, Kind, Surroundings

_TENDENCY = 6e-5, 1.3, 2.6
"""Seconds of a climate tendency in fp64 at T42: a V^b (T/42)^c for V prognostic fields, levels
counted; from docs/lab/climate_transform.md (V = 3) and docs/lab/climate_primitive.md (V = 61).
"""
_SAMPLE = 1.5
"""Tendencies in fp64 that the fields of a state for statistics over time take as long as."""
_ELEMENTS_OF_A_THREAD = 50_000
"""Elements of the state for each thread: T42L20 has 120,000, and half of its step takes 4 ms;
waiting of threads takes 0.5 ms.
"""
_ROUNDED = (
    "Every operation of a step is rounded in the arithmetic, and so is the state between "
    "steps{residuals}. Tables and initial state are made in binary64 and rounded once; fields "
    "and budgets are evaluated from the stored states in binary64."
)
_NO_KERNEL = {
    "days", "output_hours", "step_seconds", "truncation", "checkpoints", "variables",
    "count_operations", "initial", "initial_fields", "start_from", "start_date", "calendar",
    "sample_every", "statistics_period", "output_type", "forcing_parameters",
}  # fmt: skip
"""Keys of the table that no kernel depends on."""


def _truncation(value: Any) -> int | str:
    """The number of a truncation, or its name where its grid is linear."""
    from sciprec.climate.transform.grid import resolve_truncation

    truncation = resolve_truncation(value)
    return truncation.name if truncation.name.startswith("TL") else truncation.number


def _tracer_start(value: Any) -> Any:
    """The start of a tracer, or its start and its unit; the model checks them."""
    start, *unit = value if isinstance(value, list | tuple) else [value]
    if isinstance(start, bool) or not isinstance(start, int | float | str) or len(unit) > 1:
        raise ValueError("no start of a tracer")
    return (start, *unit) if unit else start


def _stored(text: str) -> str:
    """Check the format of a stored state: an arithmetic's name, or formats by scale."""
    from sciprec.climate.stepping.stored import read_scales

    if text.startswith(SCALES):
        read_scales(text)
    else:
        resolve_backend(text)
    return text


_TruncationKey = Annotated[
    int | str,
    PlainValidator(_truncation),
    WithJsonSchema({
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": 1023},
            {"type": "string", "pattern": "^TL?[1-9][0-9]{0,3}$"},
        ],
    }),
]  # fmt: skip
_START = {"type": ["number", "string"]}
_TracerStart = Annotated[
    Any,
    PlainValidator(_tracer_start),
    WithJsonSchema({
        "anyOf": [
            _START,
            {"type": "array", "prefixItems": [_START, {"type": "string"}], "minItems": 2,
             "maxItems": 2},
        ],
    }),
]  # fmt: skip
_StoredName = Annotated[str, AfterValidator(_stored), KnownArithmetic]
_SomeNames = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(as_tuple)]


def _cases() -> Mapping[str, Any]:
    from sciprec.climate.catalogue import CASES

    load_plugins()
    return CASES


def _time_schemes() -> Mapping[str, Any]:
    from sciprec.climate.catalogue import TIME_SCHEMES

    load_plugins()
    return TIME_SCHEMES


class ClimateRun(Section):
    """One integration of a global model."""

    case: Annotated[str, Registered("case", _cases)] = key(
        "the name of a registered initial state", 'case = "williamson_5"'
    )
    truncation: _TruncationKey = key(
        'a triangular truncation, a whole number from 1 to 1023, such as 42, or its name, "T42" '
        '("TL42" on a linear grid)', "truncation = 42",
    )  # fmt: skip
    days: float = limited(LIMITS["days"], "days = 5.0")
    step_seconds: float | None = limited(
        LIMITS["step_seconds"], "step_seconds = 600.0", default=None
    )
    output_hours: float = limited(LIMITS["output_hours"], "output_hours = 6.0", default=24.0)
    time_scheme: Annotated[str, Registered("time scheme", _time_schemes)] | None = Field(
        default=None, examples=['time_scheme = "rk4"'],
        description="the name of a registered time scheme; left out, the model chooses",
    )  # fmt: skip
    parameters: dict[str, PlainValue] = Field(
        default_factory=dict, examples=["parameters = { angle_degrees = 45.0 }"],
        description="a table of values that the case, its equations or the diffusion know",
    )  # fmt: skip
    variables: _SomeNames | None = Field(
        default=None, examples=['variables = ["height", "vorticity"]'],
        description="an array of names of fields to store, and of their statistics between stored "
        "states, such as time_mean_u; left out, all fields",
    )  # fmt: skip
    sample_every: int = Field(
        default=1, ge=1, le=MOST_SAMPLED_STEPS, examples=["sample_every = 6"],
        description="a whole number, from 1 to 1000000: steps from one state that statistics "
        "such as time_mean_u look at to the next", json_schema_extra={"unit": "steps"},
    )  # fmt: skip
    statistics_period: float | Literal["month", "year"] | None = Field(
        default=None, examples=['statistics_period = "month"', "statistics_period = 30.0"],
        description='a number of days, "month" or "year": the intervals of these statistics; left '
        "out, from one stored state to the next",
    )  # fmt: skip
    output_type: Literal["float64", "float32"] = Field(
        default="float64", examples=['output_type = "float32"'],
        description='"float64", or "float32", in which files of the fields take half the room: '
        "the type of their numbers",
    )  # fmt: skip
    stored: _StoredName | None = Field(
        default=None, examples=['stored = "fp16"'],
        description="the format of the state between steps in all runs but the truth, or formats "
        'by total wavenumber, as in "scales:0-10 fp32;11- 11" or "scales:30 - 3.5*log2(1+l)"',
    )  # fmt: skip
    count_operations: bool = Field(
        default=False, examples=["count_operations = true"],
        description="true or false: whether the truth counts operations and bytes of the stages of "
        "a step, for the roofline on the page",
    )  # fmt: skip
    initial: str | None = Field(
        default=None, min_length=1, max_length=1000, examples=['initial = "state.nc"'],
        description="a netCDF file or Zarr store with the fields of the initial state, or "
        "FILE@TIME, in place of the case's own",
    )  # fmt: skip
    initial_fields: dict[str, str] = Field(
        default_factory=dict, examples=['initial_fields = { temperature = "T2" }'],
        description="a table of names of variables in that file, by field",
    )  # fmt: skip
    start_from: str | None = Field(
        default=None, min_length=1, max_length=1000, examples=['start_from = "spin_up.npz"'],
        description="a checkpoint, a netCDF file or Zarr store that a run wrote, or FILE@TIME, "
        "from which runs go on for their days",
    )  # fmt: skip
    start_date: str | None = Field(
        default=None, examples=['start_date = "1979-01-01"'],
        description="the date from which days count, such as 1979-01-01T12:00; left out, that of "
        "2000-01-01",
    )  # fmt: skip
    calendar: str | None = Field(
        default=None, examples=['calendar = "noleap"'],
        description="a calendar of the CF conventions, such as 360_day; left out, standard",
    )  # fmt: skip
    tracers: dict[str, _TracerStart] = Field(
        default_factory=dict,
        examples=['tracers = { bell = "cosine_bell", q = ["initial", "kg kg-1"] }'],
        description="a table of tracers that the flow carries: a number, the name of a shape or "
        '"initial" (the field of the file initial), with which it begins, by name; or one of these '
        "and its unit",
    )  # fmt: skip
    forcing: str | None = Field(
        default=None, min_length=1, max_length=1000, examples=['forcing = "mine.py:heating"'],
        description="a kernel decorated by sciprec.climate.forcing, FILE.py:NAME, which adds "
        "tendencies",
    )  # fmt: skip
    forcing_parameters: dict[str, float] = Field(
        default_factory=dict, examples=["forcing_parameters = { rate = 0.2 }"],
        description="a table of its parameters, in the units of its own table",
    )  # fmt: skip
    checkpoints: str | None = Field(
        default=None, min_length=1, max_length=200, examples=['checkpoints = "checkpoints"'],
        description="a folder inside the output folder, whose checkpoints longer runs go on from",
    )  # fmt: skip

    @field_validator("checkpoints")
    @classmethod
    def _stays_inside(cls, folder: str | None) -> str | None:
        if folder is not None and not is_inside(folder):
            raise ValueError("it leaves the output folder")
        return folder

    @field_validator("start_date", mode="before")
    @classmethod
    def _as_text(cls, date: Any) -> Any:
        return date.isoformat() if hasattr(date, "isoformat") else date  # dates of TOML itself

    @model_validator(mode="after")
    def _states_fit_into_memory(self) -> ClimateRun:
        require_few_states(self.days, self.output_hours)
        return self


class ClimateScenario(WithScaling, WithPolicies, WithAdaptive, Scenario):
    """A scenario of kind "climate"."""

    kind: Literal["climate"] = key('"climate"', 'kind = "climate"')
    climate: ClimateRun = key("the table [climate]", "[climate]")
    stages: StagesKey = ()

    folders: ClassVar[tuple[str, ...]] = ("checkpoints",)
    together: ClassVar[tuple[tuple[str, ...], ...]] = (
        *WithScaling.together, *WithPolicies.together
    )  # fmt: skip

    @staticmethod
    def stages_of_policies() -> list[str]:
        """Names of the stages of the models."""
        from sciprec.climate.stages.policies import CLIMATE_STAGES

        return [stage.name for stage in CLIMATE_STAGES]

    def stage_choices(self) -> tuple[StagesChoice, ...]:
        """The stages that its runs take, one after another."""
        return self.stages or (MODEL_STAGES,)

    @property
    def stored_format(self) -> str | None:
        """The format of the state between steps, where it is not that of the arithmetic."""
        return self.climate.stored


def _request(table: ClimateRun, **options: Any) -> Any:
    """The checked request of a table [climate]; `options`: further or other arguments."""
    from sciprec.climate.running.labelled import fields_given, started_from
    from sciprec.climate.running.request import check_request

    handled_keys = {"checkpoints", "count_operations", "initial_fields", "start_from"}
    keys = table.model_dump(exclude=handled_keys)
    names = table.initial_fields
    about = table.case, table.start_from, table.tracers
    keys["initial"] = fields_given(table.initial, names, *about)
    request = check_request(**(keys | options))
    return started_from(request, table.start_from, names, table.start_date, table.calendar)


def _request_of(table: ClimateRun, variant: Variant, **options: Any) -> Any:
    """The checked request of a variant's run."""
    if variant.adaptive is not None:
        return _request(table, stored=None, adaptive=variant.adaptive.plan(), **options)
    return _request(
        table, stored=None if variant.is_truth else table.stored, backend=variant.backend,
        compensation=variant.compensation.resolved(), stages=variant.stages.resolved(), **options,
    )  # fmt: skip


def _run(table: ClimateRun, variant: Variant, around: Surroundings) -> xr.Dataset:
    """Integrate a global model; members differ by a perturbation of the initial state."""
    from sciprec.climate.running.labelled import run_request
    from sciprec.climate.running.perturbation import Perturbation
    from sciprec.climate.running.request import Restart

    options: dict[str, Any] = {}
    if table.checkpoints is not None:
        options["checkpoints"] = Restart(inside(around.folder, table.checkpoints), lasting=True)
    elif around.interrupted is not None:
        options["checkpoints"] = Restart(around.interrupted, told=around.told)
    if around.member is not None:
        options["perturbation"] = Perturbation(*vars(around.member).values())
    request = _request_of(
        table, variant, progress=around.listening,
        monitor=around.monitor,
        threads=min(around.threads, _worthwhile_threads(table)), **options,
    )  # fmt: skip
    alone = variant.is_truth and around.member is None
    return run_request(request, alone and table.count_operations)


def _worthwhile_threads(table: ClimateRun) -> int:
    """The number of threads that make a run shorter: they meet some ten times in a step."""
    from sciprec.climate.transform.legendre import coefficient_orders

    request = _request(table, stored=None)
    layout = request.equations.layout(request.parameters.equations)
    elements = 2 * coefficient_orders(request.truncation.number)[0].size
    return max(1, elements * sum(levels for _, levels in layout) // _ELEMENTS_OF_A_THREAD)


def _check(table: ClimateRun, variant: Variant) -> None:
    """Names of case, scheme and parameters; steps that fit the output times; arithmetics of the
    transforms' stages that the case, its parameters and backends take.
    """
    compensation = variant.compensation.resolved()
    try:
        if variant.adaptive is None:
            _request(table, compensation=compensation)
        _request_of(table, variant)
    except InputError as error:
        if variant.adaptive is not None:
            raise
        alone = _wrong_by_itself(table, compensation, variant.backend)
        raise InputError("\n".join(alone or [str(error)])) from None


def _watchable(table: ClimateRun, variant: Variant, plan: WatchPlan) -> None:
    """Steps that the run has, and does not make again."""
    from sciprec.climate.running.request import watchable

    request = _request_of(table, variant)
    watchable(plan, request.backend, request.stops[-1])


def _wrong_by_itself(table: ClimateRun, compensation: Any, backend: str) -> list[str]:
    """Complaints about single parts of a table whatever the others say, a sentence each."""
    plain: dict[str, Any] = {
        "parameters": {}, "variables": None, "stored": None, "time_scheme": None,
        "days": 1.0, "output_hours": 24.0, "step_seconds": None, "sample_every": 1,
        "statistics_period": None,
    }  # fmt: skip
    span = {name: getattr(table, name) for name in ("days", "output_hours", "step_seconds")}
    filtered = {"time_scheme": table.time_scheme}
    storage = {"stored": table.stored, "backend": backend}
    parts: list[dict[str, Any]] = [span, storage, {"compensation": compensation}]
    parts += [{"parameters": {n: value}} | filtered for n, value in table.parameters.items()]
    parts += [{"variables": [name]} for name in table.variables or ()]
    messages, table = [], table.model_copy(update={"start_from": None})
    for part in parts:
        try:
            _request(table, **(plain | part))
        except InputError as error:
            messages.append(str(error))
    return list(dict.fromkeys(messages))


def _variables(table: ClimateRun) -> tuple[str, ...]:
    """The variables that are kept, and the budgets of the equations."""
    request = _request(table)
    return (*request.variables, *request.equations.budgets)


def _estimate(table: ClimateRun, variant: Variant, slowness: float) -> Estimate:
    from sciprec.climate.running.needed_memory import bytes_of_run

    request = _request_of(table, variant)
    steps, number = request.stops[-1] - request.first, request.truncation.number
    scheme = request.scheme
    layout = request.equations.layout(request.parameters.equations)
    fields = sum(levels for _, levels in layout)
    a, b, c = _TENDENCY
    tendency = a * fields**b * (number / 42) ** c
    levels = max(levels for _, levels in layout)
    points = sum(_points(name, request.truncation) for name in request.variables)
    numbers = (len(request.stops) + 1) * levels * points
    samples = steps // table.sample_every if any(over_time(n)[0] for n in request.variables) else 0
    return Estimate(
        f"{steps:,} steps of {scheme.name} at {request.truncation.name}",
        (steps * scheme.tendencies * slowness + samples * _SAMPLE) * tendency,
        numbers * np.dtype(request.output_type).itemsize / 1e6,
        memory_megabytes=bytes_of_run(request) / 1e6,
    )


def _points(name: str, truncation: Any) -> int:
    """Values of a variable on one level."""
    _, name = over_time(name)
    if name.endswith("_spectrum"):
        return truncation.number + 1
    return truncation.nlat * (1 if name.startswith(ZONAL_MEAN) else truncation.nlon)


def _kernels(climate: ClimateRun, variant: Variant) -> dict[str, Any]:
    """The table without keys that change only sizes and numbers."""
    table = climate.model_dump(mode="json", exclude=_NO_KERNEL)
    table["parameters"] = {k: v for k, v in table["parameters"].items() if isinstance(v, str)}
    return table | {"stored": variant.stored}


def _brief(table: ClimateRun) -> ClimateRun:
    """Two steps of the same length."""
    from sciprec.climate.constants import SECONDS_PER_DAY

    seconds = 2 * _request(table).step_seconds
    return table.model_copy(
        update={
            "days": seconds / SECONDS_PER_DAY,
            "output_hours": seconds / 3600.0,
            "step_seconds": seconds / 2,
            "checkpoints": None,
            "start_from": None,
            "count_operations": False,
            "sample_every": 1,
            "statistics_period": None,
        }
    )


def _sources(table: ClimateRun) -> tuple[str]:
    from sciprec.climate.running.identity import code_behind

    return (code_behind(_request(table)),)


def _state(table: ClimateRun) -> str:
    from sciprec.climate.running.identity import state_behind

    return state_behind(_request(table))


def _residuals(table: ClimateRun) -> list[tuple[str, int, int]]:
    """Complex coefficients of each prognostic variable, one set for each level."""
    from sciprec.climate.transform.legendre import coefficient_orders

    request = _request(table, stored=None, variables=None)
    elements = 2 * coefficient_orders(request.truncation.number)[0].size
    layout = request.equations.layout(request.parameters.equations)
    return [(name, elements * count, request.scheme.levels) for name, count in layout]


def _fitting(table: ClimateRun, backend: str, length: float | None, times: int):
    """Names of the variables, and the error of a compensation."""
    from sciprec.climate.cases.registry import resolve_case
    from sciprec.climate.catalogue import EQUATIONS
    from sciprec.climate.diagnostics.budgets import scalar_errors, wind_errors
    from sciprec.climate.running.integration import integrate
    from sciprec.climate.running.labelled import fields_given
    from sciprec.climate.transform.grid import GaussianGrid, resolve_truncation

    days = times * (table.days / 10 if length is None else length)
    hours = min(table.output_hours, 24.0 * days)
    names = ("step_seconds", "time_scheme", "tracers", "forcing", "forcing_parameters")
    options = {name: getattr(table, name) for name in names} | {
        "output_hours": hours, "parameters": dict(table.parameters),
        "initial": fields_given(
            table.initial, table.initial_fields, table.case, None, table.tracers
        ),
    }  # fmt: skip
    equations = EQUATIONS[resolve_case(table.case).equations]
    if "height" not in equations.fields:
        raise InputError(
            f"case '{table.case}' of the equations '{equations.name}' has no height of a free "
            "surface, whose error is fitted; accepted: cases of shallow water, such as "
            "'williamson_5'"
        )
    grid = GaussianGrid(resolve_truncation(table.truncation))
    exact = integrate(table.case, table.truncation, days, backend=TRUTH, **options)
    truth = exact.fields
    if exact.blow_up is not None:
        raise InputError(
            f"case '{table.case}' breaks down in {TRUTH} already; fit a shorter run with "
            f"length=...: {exact.blow_up}"
        )

    def error(compensation) -> float:
        """The error that the fit makes small: that of a run with this compensation."""
        run = integrate(table.case, table.truncation, days, backend=backend,
                        compensation=compensation, **options)  # fmt: skip
        if run.blow_up is not None:
            return math.inf
        fields, each = run.fields, []
        for t in range(1, fields["height"].shape[0]):
            winds = [(f["u"][t], f["v"][t]) for f in (fields, truth)]
            height = scalar_errors(grid, fields["height"][t], truth["height"][t])["l2"]
            each.append((height, wind_errors(grid, *winds)["l2"]))
        return float(np.exp(np.mean(np.log(np.sqrt(np.mean(np.square(each), axis=0))))))

    return equations.variables, error


CLIMATE = Kind(
    "climate",
    ClimateScenario,
    _run,
    check=_check,
    attributes=stated(primary="height surface_pressure", rounded=_ROUNDED),
    variables=_variables,
    estimate=_estimate,
    length=lambda table: (table.days, "day"),
    compile_seconds=20.0,  # docs/lab/engine.md
    kernels=_kernels,
    brief=_brief,
    sources=_sources,
    state=_state,
    ensembles=True,
    restarts=True,
    residuals=_residuals,
    watched=lambda table: with_changes(_request(table).equations.variables),
    watchable=_watchable,
    drifts=True,
    fitting=_fitting,
)
