"""Requests of climate runs, checked: names, numbers, and steps that fit the output times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sciprec.arrays.sums.compensation import Compensation, resolve_compensation
from sciprec.climate import catalogue
from sciprec.climate.cases.registry import Case, resolve_case
from sciprec.climate.constants import SECONDS_PER_DAY, SECONDS_PER_HOUR
from sciprec.climate.diagnostics.derived import derived_names
from sciprec.climate.equations.forced import with_forcing, with_source
from sciprec.climate.equations.registry import EquationSet
from sciprec.climate.equations.tracers import Tracer, with_tracers
from sciprec.climate.physics.clock import Clock, rational
from sciprec.climate.physics.forcings import Forcing
from sciprec.climate.running.given import Start, check_forcing, check_tracers
from sciprec.climate.running.parameters import Parameters, check_parameters
from sciprec.climate.running.perturbation import Perturbation
from sciprec.climate.stages.matrix_legendre import require_unit
from sciprec.climate.stages.scales import SCALED_STAGES
from sciprec.climate.stages.staged_transform import require_rest
from sciprec.climate.stepping.schemes import FILTER, TimeScheme
from sciprec.climate.stepping.stored import StoredState, as_master_copy, resolve_stored
from sciprec.climate.transform.grid import Truncation, resolve_truncation
from sciprec.facets.stages.arithmetics import Stages, require_stages, resolve_stages
from sciprec.foundation.arguments import integer, names, refused, taking, word
from sciprec.foundation.dates import USUAL_START, StartDate
from sciprec.foundation.dates import start_date as dated
from sciprec.foundation.errors import InputError, meant
from sciprec.foundation.limits import (
    CLIMATE,
    MOST_SAMPLED_STEPS,
    OUTPUT_TYPES,
    THREADS,
    require_few_states,
)
from sciprec.foundation.time_methods import PERIODS, over_time, prefixes, statistics_of
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.assigning.policies import require_stages as require_stages_of
from sciprec.instruments.assigning.scaling import DYNAMIC, ScaledBackend
from sciprec.precision import Backend, resolve_backend
from sciprec.tools.adapt.plan import AdaptivePlan, require_variable
from sciprec.tools.monitor.plan import WatchPlan, require_known, with_changes

if TYPE_CHECKING:
    from sciprec.results.output.given_fields import GivenFields


@dataclass(frozen=True)
class Restart:
    """Checkpoints of a run whose stored fields stay in their file until they are asked for.

    Args:
        folder: of the checkpoint.
        after_seconds: before this time there is none.
        lasting: whether there is one at the end of the run, too; else they are for the case of an
            interruption only, and where one is damaged the run begins anew.
        told: called with a sentence where it does.
    """

    folder: Path
    after_seconds: float = 60.0
    lasting: bool = False
    told: Callable[[str], None] = lambda words: None


@dataclass(frozen=True)
class RunArguments:
    """Arguments of a climate run, unchecked: those of `sciprec.climate.integrate`, which says what
    each of them is for.
    """

    case: str
    truncation: str | int | Truncation
    days: float
    _: KW_ONLY
    backend: str | Backend | None = None
    step_seconds: float | None = None
    output_hours: float = 24.0
    parameters: Mapping[str, object] | None = None
    time_scheme: str | None = None
    compensation: str | Compensation | Mapping | None = None
    stored: str | Backend | None = None
    stages: str | Stages | Mapping | None = None
    variables: Sequence[str] | None = None
    checkpoints: str | Path | Restart | None = None
    progress: Callable[[float], None] | None = None
    perturbation: Perturbation | None = None
    threads: int = 1
    monitor: WatchPlan | None = None
    adaptive: AdaptivePlan | None = None
    initial: GivenFields | None = None
    start_date: Any = None
    calendar: str | None = None
    tracers: Mapping[str, Any] | Sequence[str] | None = None
    sample_every: int = 1
    statistics_period: str | float | None = None
    output_type: str = OUTPUT_TYPES[0]
    forcing: Forcing | str | None = None
    forcing_parameters: Mapping[str, float] | None = None


@dataclass(frozen=True)
class Request:
    """A checked request.

    Args:
        case, equations, truncation, scheme, backend: what was named.
        stored: how states are kept between steps.
        step_seconds: the time step.
        every: number of steps between stored states.
        stops: numbers of steps after which a state is stored, ascending.
        parameters: of the case, the equations and the diffusion.
        compensation: variable -> Compensation; empty: none.
        variables: names of the fields and derived variables to keep.
        perturbation: of the initial state, or None.
        stages: arithmetics of the transforms' stages, or None: those of the backend.
        monitor: what is watched, or None.
        adaptive: what an adaptive run is to keep, whose backend is the widest rung; or None.
        checkpoints: a folder, a Restart, or None.
        progress: called with the simulated days, or None.
        threads: how many make the steps together.
        initial: fields in the place of those of the case's initial state, or None.
        since: the date from which days count.
        tracers: that the flow carries; the equations are with them.
        forcing: of a user, or None; the equations are with it.
        forcing_parameters: values in the place of its usual ones.
        start: of a branch, what it goes on from; or None.
        first: number of the step after which it begins; 0 without one.
        sample_every: steps from one state that statistics look at to the next.
        period: steps of the intervals of these statistics, a name of `PERIODS`, or 0, from one
            stored state to the next.
        output_type: of the numbers of stored fields.
    """

    case: Case
    equations: EquationSet
    truncation: Truncation
    scheme: TimeScheme
    backend: Backend
    stored: StoredState
    step_seconds: float
    every: int
    stops: tuple[int, ...]
    parameters: Parameters
    compensation: dict[str, Compensation]
    variables: tuple[str, ...]
    perturbation: Perturbation | None = None
    stages: Stages | None = None
    monitor: WatchPlan | None = None
    adaptive: AdaptivePlan | None = None
    checkpoints: str | Path | Restart | None = None
    progress: Callable[[float], None] | None = None
    threads: int = 1
    initial: GivenFields | None = None
    since: StartDate = USUAL_START
    tracers: tuple[Tracer, ...] = ()
    forcing: Forcing | None = None
    forcing_parameters: Mapping[str, float] = field(default_factory=dict)
    start: Start | None = None
    first: int = 0
    sample_every: int = 1
    period: int | str = 0
    output_type: str = OUTPUT_TYPES[0]

    @property
    def update(self) -> Backend:
        """The arithmetic of the state's updates; its storage is the format of the state."""
        return self.stored.update

    @property
    def clock(self) -> Clock:
        """The dates of its steps."""
        return Clock(rational("step_seconds", self.step_seconds), self.since)

    def ends_interval(self, steps: int) -> bool:
        """Whether an interval of statistics ends with the state after so many steps. One of the
        calendar ends with the first stored state of the next.
        """
        count = steps - self.first
        if count % self.every:
            return False
        if not isinstance(self.period, str):
            return count % (self.period or self.every) == 0
        now, before = (self.clock.month(n) for n in (steps, steps - self.every))
        return now[0] != before[0] or (self.period == "month" and now != before)

    def interval_starts(self, stored: Sequence[int]) -> list[int]:
        """The steps after which the intervals of stored states began; of the first, its own."""
        starts, start = [], self.first
        for steps in stored:
            starts.append(start)
            start = steps if self.ends_interval(steps) else start
        return starts


@taking(RunArguments)
def check_request(arguments: RunArguments) -> Request:
    """Return the request of arguments that are accepted.

    Raises:
        InputError: something unknown or out of range was asked for.
    """
    case = resolve_case(arguments.case)
    truncation = resolve_truncation(arguments.truncation)
    equations = catalogue.EQUATIONS[case.equations]
    tracers = check_tracers(equations, arguments.tracers, arguments.initial)
    forcing, forcing_parameters = check_forcing(
        equations, arguments.forcing, arguments.forcing_parameters
    )
    equations = _with_physics(equations, tracers, forcing)
    scheme = _resolve_scheme(arguments, equations)
    parameters = check_parameters(case, arguments.parameters or {})
    days = CLIMATE["days"].number("days", arguments.days)
    hours = CLIMATE["output_hours"].number("output_hours", arguments.output_hours)
    require_few_states(days, hours)
    total = days * SECONDS_PER_DAY
    interval = min(hours * SECONDS_PER_HOUR, total)
    backend, stored, monitor = arguments.backend, arguments.stored, arguments.monitor
    if arguments.adaptive is not None:
        _require_fitting(arguments.adaptive, arguments, equations)
        backend, stored = arguments.adaptive.widest, "fp64"
    backend = resolve_backend("fp64" if backend is None else backend)
    backend.require_taken_by("the climate model")
    require_stages_of(backend, "climate")
    if arguments.step_seconds is None:
        step = _usual_step(truncation, interval, total)
    else:
        step = CLIMATE["step_seconds"].number("step_seconds", arguments.step_seconds)
    every, last = _whole_steps("output_hours", interval, step), _whole_steps("days", total, step)
    compensation = _checked_compensation(equations.variables, arguments.compensation)
    if monitor is not None:
        whose = f"the state of the equations '{equations.name}'"
        require_known(monitor, with_changes(equations.variables), whose)
    perturbation = arguments.perturbation
    if perturbation is not None and not isinstance(perturbation, Perturbation):
        raise refused("perturbation", perturbation, "a climate.Perturbation(member=3), or None")
    if stored is None and arguments.stages is None and not compensation:
        backend, stored = as_master_copy(backend, equations.name)
    sums = any(each.sums for each in compensation.values())
    if isinstance(backend, ScaledBackend):
        requested = {
            "stored": stored is not None, "stages": arguments.stages not in (None, "none"),
            "a compensation of sums": sums, "fourier": parameters.fourier != "fft",
        }  # fmt: skip
        _require_scalable(backend, equations, [name for name, on in requested.items() if on])
    if monitor is not None:
        monitor = watchable(monitor, backend, last)
    formats = resolve_stored(stored, backend, truncation.number)
    if formats.scales is not None and compensation:
        raise InputError(
            f"stored is '{formats.scales.text}' beside a compensation; bits by scale have no "
            "residual: leave one of them out"
        )
    stages = _checked_stages(arguments.stages, backend, truncation, parameters.fourier, sums)
    variables = _checked_variables(equations, arguments.variables)
    sample_every = _checked_sampling(arguments.sample_every, variables, every)
    since = dated(arguments.start_date, arguments.calendar)
    period = _checked_period(arguments.statistics_period, variables, every, step)
    threads = integer("threads", arguments.threads, *THREADS)
    progress = arguments.progress
    if progress is not None and not callable(progress):
        raise refused("progress", progress, "a function of the simulated days, or None")
    return Request(
        case=case,
        equations=equations,
        truncation=truncation,
        scheme=scheme,
        backend=backend,
        stored=formats,
        step_seconds=step,
        every=every,
        stops=(*range(every, last, every), last),
        parameters=parameters,
        compensation=compensation,
        variables=variables,
        perturbation=perturbation,
        stages=stages,
        monitor=monitor,
        adaptive=arguments.adaptive,
        checkpoints=arguments.checkpoints,
        progress=progress,
        threads=threads,
        initial=arguments.initial,
        since=since,
        tracers=tracers,
        sample_every=sample_every,
        period=period,
        output_type=word("output_type", arguments.output_type, OUTPUT_TYPES),
        forcing=forcing,
        forcing_parameters=forcing_parameters,
    )


def _with_physics(
    equations: EquationSet, tracers: tuple[Tracer, ...], forcing: Forcing | None
) -> EquationSet:
    """The equations of a flow with its tracers and its forcing."""
    carrying = with_tracers(with_source(equations, forcing), tracers)
    return with_forcing(carrying, forcing, tracers)


def carrying(request: Request, tracers: tuple[Tracer, ...]) -> Request:
    """The request with other starts of its tracers."""
    plain = catalogue.EQUATIONS[request.case.equations]
    equations = _with_physics(plain, tracers, request.forcing)
    return replace(request, tracers=tracers, equations=equations)


def _checked_stages(
    stages: object, arithmetic: Backend, row: Truncation, fourier: str, sums: bool
) -> Stages | None:
    """The arithmetics of the transforms' stages, which fit all else that was chosen.

    Args:
        sums: whether a compensation carries sums of tendencies.
    """
    chosen = resolve_stages(stages)
    if chosen is None:
        return None
    if isinstance(arithmetic, AssignedBackend) and not chosen.on_unit_alone:
        raise InputError(
            f"stages are given with '{arithmetic.name}', which gives formats to places of the "
            "model; leave them out, and give 'Legendre products' and others formats there (a "
            "matrix unit for 'legendre' alone is accepted)"
        )
    require_stages(chosen, arithmetic, fourier, sums)
    require_rest(row, chosen)
    for unit in chosen.units:
        require_unit(row, unit)
    return chosen


def _require_fitting(
    adaptive: AdaptivePlan, arguments: RunArguments, equations: EquationSet
) -> None:
    """Make sure that the other arguments of an adaptive run go with its plan.

    Raises:
        InputError: one of them does not, or the variable is unknown.
    """
    require_variable(adaptive, equations.variables)
    backend = arguments.backend
    named = adaptive.widest if backend is None else resolve_backend(backend).name
    if named != adaptive.widest:
        raise InputError(
            f"the backend '{named}' is given with adaptive, whose ladder names the "
            "arithmetics; leave the backend out"
        )
    for name in ("compensation", "stored", "stages", "monitor"):
        value = getattr(arguments, name)
        if value is not None and value != {} and value != "none":
            raise InputError(
                f"{name} is given with adaptive, whose state is in fp64 and whose file has a "
                f"history of its own; leave {name} out"
            )


def _require_scalable(backend: ScaledBackend, equations: EquationSet, options: list[str]) -> None:
    """Make sure that a model can have these scales.

    Args:
        backend: with the scaling.
        equations: of the model.
        options: names of what is given withs and has no scales.

    Raises:
        InputError: it cannot.
    """
    for stage, _ in backend.scaling.given:
        word("stage", stage, (*SCALED_STAGES, *equations.variables))
    if options:
        raise InputError(
            f"'{backend.name}' gives scales to places beside {options[0]}; leave one of them out"
        )
    if equations.adjust is not None:
        raise InputError(
            f"'{backend.name}' is given to the equations '{equations.name}', whose mass fixer has "
            "no scales; accepted: sets without one, such as shallow_water"
        )


def watchable(monitor: WatchPlan, backend: Backend, steps: int) -> WatchPlan:
    """The plan of a monitor for a run that shows what is inside its steps.

    Args:
        monitor: what is to be watched.
        backend: of the run; steps of dynamic scales may be made again.
        steps: of the run.

    Raises:
        InputError: it does not, or has no step that is made in fp64, too, where that is wanted.
    """
    dynamic = isinstance(backend, ScaledBackend) and backend.scaling.mode == DYNAMIC
    inside = [name for name in monitor.watch if ":" in name]
    if dynamic and inside:
        raise InputError(
            f"'{inside[0]}' cannot be watched with scaling = 'dynamic', which may repeat a step "
            "with other scales; accepted: variables of the state, such as "
            f"'{inside[0].partition(':')[2]}', or scaling = 'static'"
        )
    return monitor.within(steps)


def _resolve_scheme(arguments: RunArguments, equations: EquationSet) -> TimeScheme:
    """The registered time scheme; only leapfrog has a filter."""
    schemes, name = catalogue.TIME_SCHEMES, arguments.time_scheme
    name = word("time scheme", equations.time_scheme if name is None else name, schemes)
    keys = [key for key in FILTER if key in (arguments.parameters or {})]
    if keys and schemes[name].levels == 1:
        raise InputError(
            f"{keys[0]} is given, but the time scheme {name!r} has no filter; leave it out, or "
            "take time_scheme = 'semi_implicit_leapfrog'"
        )
    return schemes[name]


def _checked_variables(equations: EquationSet, requested) -> tuple[str, ...]:
    """The fields and derived variables to keep, in the order of the set."""
    plain = equations.fields + derived_names(equations.fields)
    accepted = plain + tuple(name for each in plain for name in statistics_of(each))
    chosen = equations.fields if requested is None else names("variables", requested)
    for name in chosen:
        if name not in accepted:
            raise InputError(
                f"unknown variable {name!r} of the equations {equations.name!r}; known: "
                f"{', '.join(plain)}, and {', '.join(prefixes())} before each of these"
                f"{meant(name, accepted)}"
            )
    return tuple(name for name in accepted if name in chosen)


def _checked_sampling(sample_every: object, variables: tuple[str, ...], every: int) -> int:
    """The steps between the states that statistics look at, which fit those between stored ones."""
    steps = integer("sample_every", sample_every, 1, MOST_SAMPLED_STEPS)
    if steps == 1:
        return steps
    if not any(over_time(name)[0] for name in variables):
        raise InputError(
            "sample_every is given without a variable such as time_mean_u; leave it out, or name "
            "one in variables"
        )
    if every % steps:
        raise InputError(
            f"sample_every = {steps} does not divide the {every} steps from one stored state to "
            f"the next; take a divisor of {every}, or another output_hours"
        )
    return steps


def _checked_period(
    period: object, variables: tuple[str, ...], every: int, step_seconds: float
) -> int | str:
    """The intervals of statistics, each of some of those from one stored state to the next."""
    if period is None:
        return 0
    if not any(over_time(name)[0] for name in variables):
        raise InputError(
            "statistics_period is given without a variable such as time_mean_u; leave it out, or "
            "name one in variables"
        )
    if isinstance(period, str) and period in PERIODS:
        rational("step_seconds", step_seconds)
        return period
    if isinstance(period, str):
        accepted = f"a number of days, {' or '.join(map(repr, PERIODS))}"
        raise InputError(
            f"statistics_period is {period!r}; accepted: {accepted}{meant(period, PERIODS)}"
        )
    days = CLIMATE["days"].number("statistics_period", period)
    steps = round(days * SECONDS_PER_DAY / step_seconds)
    if not steps or steps % every or abs(steps * step_seconds - days * SECONDS_PER_DAY) > 1e-3:
        hours = every * step_seconds / SECONDS_PER_HOUR
        raise InputError(
            f"statistics_period = {days:g} days is no multiple of output_hours = {hours:.12g}; "
            f"take a multiple of {hours / 24:.12g} days, or another output_hours"
        )
    return steps


def _checked_compensation(variables: tuple[str, ...], compensation) -> dict[str, Compensation]:
    """A compensation for each variable that has one."""
    resolved = resolve_compensation(compensation)
    if resolved is None:
        return {}
    if isinstance(resolved, Compensation):
        return dict.fromkeys(variables, resolved)
    for name in compensation:
        if name not in variables:
            raise InputError(
                f"compensation names the unknown variable {name!r}; known: {', '.join(variables)}"
                + meant(name, variables)
            )
    return resolved


def _usual_step(truncation: Truncation, interval: float, total: float) -> float:
    """The usual step, shortened so that output times and the end are whole numbers of steps.

    Raises:
        InputError: it would be less than half of the usual one, and of the time between outputs.
    """
    usual = truncation.step_seconds
    step = _fitting_step(usual, _common_span(interval, total))
    if step >= 0.5 * min(usual, interval):
        return step
    days = _nearest(total, _divisors(interval, usual)) / SECONDS_PER_DAY
    hours = _nearest(interval, _divisors(total, usual)) / SECONDS_PER_HOUR
    fitting = [f"{name} = {x:.12g}" for name, x in (("days", days), ("output_hours", hours)) if x]
    raise InputError(
        f"days = {total / SECONDS_PER_DAY:.12g} and output_hours = "
        f"{interval / SECONDS_PER_HOUR:.12g} leave a time step of {step:.12g} s, less than half of "
        f"the {min(usual, interval):g} s that {truncation.name} takes; what fits nearly: "
        f"{', or '.join(fitting) or 'whole hours and days'}; to take the short step, give "
        f"step_seconds = {step:.12g}"
    )


def _nearest(span: float, steps: Sequence[float]) -> float:
    """The whole number of one of the steps that is nearest to a span of time (s); 0 without any."""
    spans = (max(round(span / step), 1) * step for step in steps)
    return min(spans, key=lambda other: abs(other - span), default=0.0)


def _divisors(span: float, usual: float) -> list[float]:
    """Steps (s, whole ms) from half of the usual one to it, of which a span is a whole number."""
    most = 1000 * min(usual, span)
    steps = np.arange(math.ceil(most / 2), math.floor(most) + 1)
    return (steps[round(1000 * span) % steps == 0] / 1000).tolist()


def _common_span(first: float, second: float) -> float:
    """The longest time (s) of which both are multiples, to a thousandth of a second."""
    return max(math.gcd(round(1000 * first), round(1000 * second)), 1000) / 1000


def _fitting_step(usual: float, span: float) -> float:
    """The longest step, at most the usual one, that divides a span of time (s)."""
    return span / math.ceil(span / usual - 1e-9)


def _whole_steps(name: str, span: float, step: float) -> int:
    """The number of steps in a span of time (s)."""
    count = round(span / step)
    if count < 1 or abs(count * step - span) > 1e-6 * step:
        fitting = _fitting_step(step, span)
        raise InputError(
            f"{name} is {span:g} s, which is no whole number of steps of {step:g} s; "
            f"with step_seconds = {fitting:.12g} it is"
        )
    return count
