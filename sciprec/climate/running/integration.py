"""`integrate`: a case, a truncation and an arithmetic become a trajectory, by a loop over steps and
output times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.diagnostics.derived import derive
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.adapting import AdaptiveSteps
from sciprec.climate.running.checkpoint import Checkpoints, Saved
from sciprec.climate.running.dynamic_scales import scaled_model
from sciprec.climate.running.lifted_model import LiftedModel, conversion_of
from sciprec.climate.running.observing import RunObserver, observer_of
from sciprec.climate.running.records import InMemory, Recorded, States
from sciprec.climate.running.request import Request, check_request
from sciprec.climate.running.scaled_model import ScaledModel
from sciprec.climate.running.start import initial_state, require_possible_winds
from sciprec.climate.running.team import StepMaker, Team
from sciprec.climate.running.time_statistics import Evaluated, TimeStatistics
from sciprec.climate.stepping.levels import Level
from sciprec.climate.transform.compiled import Drawing, kernel_states, restore_kernels
from sciprec.climate.transform.grid import GaussianGrid
from sciprec.foundation.arguments import taking
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Sections, Timing
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.assigning.scaling import ScaledBackend
from sciprec.precision.formats.backend import HandedBackend
from sciprec.precision.lifting.fixed_lifting import fixed_point_summary
from sciprec.tools.adapt.blocks import Adapted
from sciprec.tools.monitor.observed import Observed


@dataclass(frozen=True)
class Trajectory:
    """The result of an integration.

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
        sample_seconds: from one state that statistics look at to the next.
        since_days: for each stored state when the interval of its statistics began.
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
    sample_seconds: float = 0.0
    since_days: Sequence[float] = ()


@taking(check_request)
def integrate(request: Request) -> Trajectory:
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
        stages: arithmetics of the stages of transforms: a name of `facets.stages`, as "mixed-m0",
            a table of the keys of `Stages`, or a Stages; left out: that of the backend.
        variables: names of what to keep, fields and derived variables such as zonal_mean_u and
            kinetic_energy_spectrum, and statistics of these between stored states, such as
            time_mean_u; all fields of the equation set when left out.
        checkpoints: a folder in which the run leaves a checkpoint at output times, and from which
            it goes on, with the same bits, where it was interrupted or has become longer; a
            Restart: its stored fields stay in a file there until they are asked for.
        progress: called with the simulated days.
        perturbation: of the initial state, for members of an ensemble.
        threads: how many make the steps together; they change no bit. Arithmetics with random bits
            or in fixed point, whose results depend on the calls before, and stages run on one.
        monitor: what is watched: prognostic variables, their increments and tendencies.
        adaptive: in place of a backend, a tolerance and the ladder of arithmetics that keeps it.
        initial: fields in the place of those of the case's initial state; `climate.run` reads them
            from a file or dataset.
        start_date: from which days count, such as "2000-01-01"; the trajectory itself has days.
        calendar: of CF, such as "noleap"; left out, "standard".
        tracers: initial field by name, a number or the name of a shape; or names of shapes.
        sample_every: steps from one state that statistics look at to the next.
        statistics_period: their intervals, a number of days, "month" or "year"; left out, from one
            stored state to the next.
        output_type: of the numbers of stored fields, "float64" or "float32".
        forcing: from `climate.forcing`, or "FILE.py:NAME" of one, which adds tendencies.
        forcing_parameters: its parameters, in the units of its table, in place of the usual ones.

    Returns:
        The trajectory; where a value became infinite or NaN it ends, with a sentence in `blow_up`.

    Raises:
        InputError: something unknown or out of range was asked for.

    Precision: tables are made in binary64 and rounded once; the initial state is rounded; all steps
        run in the backend; fields and budgets are evaluated from the states in binary64.
    """
    return integrate_request(request)


def integrate_request(request: Request) -> Trajectory:
    """Integrate what is asked for; see `integrate`."""
    grid = GaussianGrid(request.truncation)
    initial = initial_state(request, grid)
    convert = conversion_of(request, initial)
    moved = initial if request.perturbation is None else request.perturbation.of(initial)
    exact = convert.to_state(moved)
    require_possible_winds(request, initial, convert, exact)
    is_scaled = isinstance(request.backend, ScaledBackend)
    model = scaled_model(request, convert, exact) if is_scaled else LiftedModel(request, convert)
    state = model.stored(exact)
    levels = [model.steps.system.addition.level(state)]
    if request.start is not None and request.start.levels:
        added = None
        if request.perturbation is not None and not request.start.perturbed:
            added = (exact - convert.to_state(initial)).ravel()
        levels = request.start.levels_as(model.stored, model.steps.system.addition.level, added)
        state, exact = levels[0].values, levels[0].values.astype(np.float64)
    if model.forcing is not None and request.start is not None:
        model.forcing.restore(request.start.forced)
    checkpoints = None if request.checkpoints is None else Checkpoints(request.checkpoints, request)
    observer = observer_of(request, convert, model.columns)
    if observer is not None:
        observer.start(state, exact.ravel())
        model.steps = observer.attach(model.steps)
    team = model.team(request.threads) if request.adaptive is None else None
    adapting = None if request.adaptive is None else AdaptiveSteps(request, convert, model)
    lifted = model.lifted if adapting is None else adapting.lifted
    stepping = adapting or model.steps, convert, model.columns, levels, lifted
    run = Integration(request, *stepping, request.progress, checkpoints, team, observer)
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


def _trajectory(run: Integration, grid: GaussianGrid, model: LiftedModel) -> Trajectory:
    """Everything gathered."""
    stored, degree = run.request.stored, run.convert.transform.degree
    fields = run.states.arrays()
    if run.checkpoints is not None and not run.checkpoints.in_their_file:
        fields = {name: np.asarray(values) for name, values in fields.items()}
    observer = run.observer
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
        steps=run.steps - run.request.first,
        blow_up=run.blow_up,
        timing=run.clock.timing,
        stored=stored.in_words(degree),
        stored_bits=stored.bits(degree),
        fixed_point=fixed_point_summary(model.lifted),
        observed=None if observer is None else observer.observed_at_end(run.levels, run.steps),
        adapted=None if run.adapting is None else run.adapting.adapted,
        scaling=model.report() if isinstance(model, ScaledModel) else None,
        matrix_units=model.matrix_units,
        sample_seconds=run.request.sample_every * run.request.step_seconds,
        since_days=[run.days_of(n) for n in run.request.interval_starts(run.stored)],
    )


_STEPS_BETWEEN_CHECKS = 16


class Integration:
    """The loop over steps and output times.

    Args:
        request: what was asked for.
        steps: what makes steps of the whole state; of an adaptive run in blocks.
        convert: of the equation set.
        columns: name of the variable of each column of the state.
        levels: the initial ones of the time scheme, newest first, rounded.
        kernels: all that a step calls, from `compiled`.
        progress: called with the simulated days, or None.
        checkpoints: where the run goes on from and what it leaves behind, or None.
        team: the threads that make the steps together, or None.
        observer: what looks at the state now and then, or None.

    Attributes:
        levels: of the time scheme, newest first.
        steps: made so far.
        clock: the processor time of those steps, in sections of some.
        blow_up: None, or a sentence.
        stored: numbers of steps at which states were stored; `states` and `budgets` are theirs.
    """

    def __init__(
        self,
        request: Request,
        steps: StepMaker | AdaptiveSteps,
        convert: Conversion,
        columns: np.ndarray,
        levels: list[Level],
        kernels: list,
        progress: Callable[[float], None] | None,
        checkpoints: Checkpoints | None = None,
        team: Team | None = None,
        observer: RunObserver | None = None,
    ) -> None:
        self.request, self.convert = request, convert
        self.columns, self.progress = columns, progress
        self.kernels, self.checkpoints = kernels, checkpoints
        self._steps_alone, self._stepping, self.observer = steps, team or steps, observer
        self.adapting = steps if isinstance(steps, AdaptiveSteps) else None
        remembered = {} if request.start is None else request.start.kernels
        self._kernel_states = {name: values.copy() for name, values in remembered.items()}
        if request.perturbation is not None:
            for kernel in (k for k in kernels if isinstance(k, Drawing)):
                kernel.draw_for(request.perturbation.seed, request.perturbation.member)
        self.levels, state = levels, levels[0].values
        self._before, self._finite = np.empty_like(state), np.empty(state.shape, bool)
        self.steps, self.clock = request.first, Sections()
        self.blow_up: str | None = None
        self.stored: list[int] = []
        self.states: States = InMemory(
            len({request.first, *request.stops}), request.output_type
        )
        self.budgets: list[dict[str, np.ndarray]] = []
        self.statistics = TimeStatistics(
            request.variables, request.sample_every, request.step_seconds
        )
        if self.adapting is not None and self.statistics.names:
            self.adapting.pieces = self.statistics.pieces
        self.store() if checkpoints is None else self.resume(checkpoints)

    def warm_up(self) -> None:
        """Compile what a step calls, on copies; then kernels are as the checkpoint says."""
        levels = [self.levels[0].copy()]
        if self.observer is not None:
            self.observer.pause(True)
        for _ in range(self.request.scheme.levels):
            self._steps_alone.step(levels)
        if self.observer is not None:
            self.observer.pause(False)
        restore_kernels(self.kernels, self._kernel_states)

    def to_the_end(self) -> None:
        """Advance from output time to output time until the end or a blow-up.

        A run that has left its tolerance has a state like others, which is stored where that is
        due.
        """
        if not self._is_finite():
            self.blow_up = (
                f"blow-up at day {self.days:.3g}: {self.lost()} not finite once the initial "
                f"state is rounded to {self.request.stored.initial.name}; accepted: initial "
                "values within its range, or an arithmetic with more range"
            )
            return
        for stop in (s for s in self.request.stops if s > self.steps):
            while self.steps < stop and self.blow_up is None:
                self.advance(self._piece(stop))
            ended = "" if self.adapting is None else self.adapting.control.ended
            if self.steps == stop and (self.blow_up is None or self.blow_up == ended):
                self.store()
            if self.blow_up is not None:
                return
            self.save(last=stop == self.request.stops[-1])

    def _piece(self, stop: int) -> int:
        """The number of steps before the next look at the values."""
        if self.adapting is not None:
            return self.adapting.block(self.steps, stop)
        return min(_STEPS_BETWEEN_CHECKS, stop - self.steps)

    def resume(self, checkpoints: Checkpoints) -> None:
        """Go on where the checkpoint ends; without one, begin.

        Raises:
            InputError: it lies beyond the end of this run.
        """
        saved = checkpoints.load(self.levels[0], self.statistics)
        self.states = checkpoints.records
        if saved is None:
            return self.store()
        if saved.steps > self.request.stops[-1]:
            raise InputError(
                f"the checkpoint '{checkpoints.path}' is at day {self.days_of(saved.steps):g},"
                f" beyond the end of this run at day {self.days_of(self.request.stops[-1]):g}; "
                "give more days, or another folder"
            )
        self.steps, self.levels, self.clock = saved.steps, saved.levels, Sections(saved.timed)
        self._kernel_states = saved.kernels
        if self._steps_alone.forcing is not None and saved.forced is not None:
            self._steps_alone.forcing.restore(saved.forced)
        if self.observer is not None and saved.seen:
            self.observer.restore(saved.seen)
        if self.adapting is not None:
            self.adapting.control.restore(saved.ladder)
        of_this_run = [steps in (self.request.first, *self.request.stops) for steps in saved.stored]
        checkpoints.records.keep(of_this_run)
        for k in np.flatnonzero(of_this_run):
            self.stored.append(saved.stored[k])
            self.budgets.append({name: x[k] for name, x in saved.budgets.items()})

    def save(self, last: bool) -> None:
        """Leave a checkpoint where that was asked for."""
        if self.checkpoints is not None:
            progress = self.steps, self.levels, self.stored, stacked(self.budgets)
            timed = np.array(self.clock.done).reshape(-1, 2)
            observed = {} if self.observer is None else self.observer.arrays()
            ladder = {} if self.adapting is None else self.adapting.control.arrays()
            statistics = self.statistics.arrays()
            forced = None
            if self._steps_alone.forcing is not None and self.request.scheme.levels > 1:
                forced = self._steps_alone.forcing.state()
            saved = Saved(
                *progress, kernel_states(self.kernels), timed, observed, ladder, statistics, forced
            )
            self.checkpoints.save(saved, last)

    def advance(self, count: int) -> None:
        """Make some steps, then look whether all values are finite."""
        before, days_before = self._before, self.days
        before[:] = self.levels[0].values
        seconds = self._stepped(count)
        self.clock.done.append((count, seconds))
        self.steps += count
        if not self._is_finite():
            self.blow_up = self.sentence(before, days_before)
            if self.observer is not None:
                self.observer.look_at_end(self._steps_alone, self.levels, self.steps)
        elif self.adapting is not None and self.adapting.control.ended:
            self.blow_up = self.adapting.control.ended
        elif self.progress is not None:
            self.progress(self.days_of(self.steps - self.request.first))

    def _is_finite(self) -> bool:
        """Whether all values of the newest level are finite."""
        return bool(np.isfinite(self.levels[0].values, out=self._finite).all())

    def _stepped(self, count: int) -> float:
        """Make some steps, after which statistics look at some states; the processor seconds that
        the steps took.
        """
        if not self.statistics.names:
            return self._advanced(self.steps, count)
        if self.adapting is not None:
            seconds = self._advanced(self.steps, count)
            for values in self.adapting.seen:
                self._look_at(values)
            return seconds
        seconds, steps = 0.0, self.steps - self.request.first
        for more, sampled in self.statistics.pieces(steps, count):
            seconds += self._advanced(self.request.first + steps, more)
            steps += more
            if sampled:
                self._look_at(self.levels[0].values)
        return seconds

    def _look_at(self, values: np.ndarray) -> None:
        """Let statistics look at a state, which may not be finite any more."""
        with np.errstate(all="ignore"):
            self.statistics.take(self._evaluated(self.fields(values)))

    def _advanced(self, before: int, count: int) -> float:
        """Make some steps after those before; the processor seconds that they took."""
        if self.observer is None:
            return self._stepping.advance(self.levels, before, count)
        return self.observer.advance(self._stepping, self._steps_alone, self.levels, before, count)

    @property
    def days(self) -> float:
        """Simulated time so far."""
        return self.days_of(self.steps)

    def days_of(self, steps: int) -> float:
        """Convert a number of steps to days."""
        return steps * self.request.step_seconds / SECONDS_PER_DAY

    def store(self) -> None:
        """Keep the fields and budgets of the current state, and the statistics of those since the
        last interval. One that is cut short by the end of the run goes on in a longer run.
        """
        self.stored.append(self.steps)
        with np.errstate(invalid="ignore", over="ignore"):  # of a start that is not finite
            fields = self.fields(self.levels[0].values)
            evaluated = self._evaluated(fields)
            values = self.statistics.values(evaluated)
            self.states.append(
                {
                    name: values[name] if name in values else evaluated(name)
                    for name in self.request.variables
                }
            )
            self.budgets.append(self.convert.budgets(fields))
        if self.request.ends_interval(self.steps):
            self.statistics.begin()

    def _evaluated(self, fields: Mapping[str, np.ndarray]) -> Evaluated:
        """A function that gives the variable of a name in the state that has these fields."""
        how = self.convert.transform, self.request.case.radius_m
        return lambda name: fields[name] if name in fields else derive(name, fields, *how)

    def fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """Fields in SI units of a state."""
        return self.convert.to_fields(state.reshape(-1, self.columns.size).astype(np.float64))

    def sentence(self, before: np.ndarray, days_before: float) -> str:
        """Say what blew up, when and where, and what usually helps."""
        step, reason = self.request.step_seconds, self._steps_alone.reason
        return (
            f"blow-up between day {days_before:.3g} and day {self.days:.3g}: {self.lost()} not "
            f"finite; just before, {self.strongest(before)}; usual remedies: a shorter "
            f"step (step_seconds = {step / 2:g} instead of {step:g}), {self.semi_implicit()}more "
            "diffusion (diffusion_m4_per_s), or an arithmetic with more range"
            f"{reason and '; '}{reason}"
        )

    def semi_implicit(self) -> str:
        """The remedy for fast waves, where the equations have some and the scheme is explicit."""
        explicit = self.request.scheme.implicit_share == 0.0
        waves = "divergence" in self.request.equations.variables
        return "time_scheme = 'semi_implicit_leapfrog', " if explicit and waves else ""

    def lost(self) -> str:
        """Names of what is not finite, with levels where there are several, and a verb."""
        values = self.levels[0].values.reshape(-1, self.columns.size)
        finite = np.isfinite(values).all(axis=0)
        words = []
        for name in dict.fromkeys(self.columns):
            finite_rows = finite[self.columns == name].reshape(-1, 2).all(axis=1)
            if not finite_rows.all():
                where = (
                    "" if finite_rows.size == 1 else f" at level {int(finite_rows.argmin()) + 1}"
                )
                words.append(f"{name}{where}")
        return f"{' and '.join(words)} {'is' if len(words) == 1 else 'are'}"

    def strongest(self, state: np.ndarray) -> str:
        """The strongest wind of a state, or else its first field's largest value, and where."""
        fields = self.fields(state)
        if "u" in fields and "v" in fields:
            size, label, unit = np.hypot(fields["u"], fields["v"]), "the strongest wind", " m/s"
        else:
            name = next(iter(fields))
            size, label, unit = np.abs(fields[name]), f"the largest {name}", ""
        if np.isnan(size).all():
            return f"{label} was beyond binary64"
        *level, row, column = np.unravel_index(int(np.nanargmax(size)), size.shape)
        grid = self.convert.transform.grid
        place = f"latitude {grid.lat[row]:.1f}, longitude {grid.lon[column]:.1f}"
        place += f", level {level[0] + 1}" if level else ""
        return f"{label} was {np.nanmax(size):.3g}{unit} at {place}"


def stacked(rows: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Dictionaries of numbers, one per time, as one of arrays over time."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
