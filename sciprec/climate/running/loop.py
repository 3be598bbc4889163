"""A run of the model: the loop over steps and output times, and what it gathers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sciprec.climate.constants import SECONDS_PER_DAY
from sciprec.climate.diagnostics.derived import derive
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.adapting import AdaptiveSteps
from sciprec.climate.running.checkpoint import Checkpoints, Saved
from sciprec.climate.running.observing import Observer
from sciprec.climate.running.records import InMemory, States
from sciprec.climate.running.request import Request
from sciprec.climate.running.team import Steps, Team
from sciprec.climate.transform.compiled import Drawing, kernel_states, restore_kernels
from sciprec.foundation.errors import InputError
from sciprec.foundation.timing import Sections

_STEPS_BETWEEN_CHECKS = 16


class Run:
    """The loop over steps and output times.

    Args:
        request: what was asked for.
        steps: what makes steps of the whole state; of an adaptive run in blocks.
        convert: of the equation set.
        columns: name of the variable of each column of the state.
        state: the initial state (size,), rounded.
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
        steps: Steps | AdaptiveSteps,
        convert: Conversion,
        columns: np.ndarray,
        state: np.ndarray,
        kernels: list,
        progress: Callable[[float], None] | None,
        checkpoints: Checkpoints | None = None,
        team: Team | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.request, self.convert = request, convert
        self.columns, self.progress = columns, progress
        self.kernels, self.checkpoints = kernels, checkpoints
        self._whole, self._stepping, self.observer = steps, team or steps, observer
        self.adapting = steps if isinstance(steps, AdaptiveSteps) else None
        self._kernel_states: dict[str, np.ndarray] = {}
        if request.perturbation is not None:
            for kernel in (k for k in kernels if isinstance(k, Drawing)):
                kernel.draw_for(request.perturbation.seed, request.perturbation.member)
        self.levels = [steps.system.addition.level(state)]
        self._before, self._finite = np.empty_like(state), np.empty(state.shape, bool)
        self.steps, self.clock, self.blow_up = 0, Sections(), None
        self.stored: list[int] = []
        self.states: States = InMemory(len({0, *request.stops}))
        self.budgets: list[dict[str, float]] = []
        self.resume() if checkpoints is not None else self.store()

    def warm_up(self) -> None:
        """Compile what a step calls, on copies; then kernels are as the checkpoint says."""
        levels = [self.levels[0].copy()]
        for _ in range(self.request.scheme.levels):
            self._whole.step(levels)
        restore_kernels(self.kernels, self._kernel_states)

    def to_the_end(self) -> None:
        """Advance from output time to output time until the end or a blow-up.

        A run that has left its tolerance has a state like others, which is stored where that is
        due.
        """
        if not self._is_finite():
            self.blow_up = (
                f"blow-up at day {self.days:.3g}: {self.lost()} not finite as soon as the initial "
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
        """How many steps to make before the next look at the values."""
        if self.adapting is not None:
            return self.adapting.block(self.steps, stop)
        return min(_STEPS_BETWEEN_CHECKS, stop - self.steps)

    def resume(self) -> None:
        """Go on where the checkpoint ends; without one, begin.

        Raises:
            InputError: it lies beyond the end of this run.
        """
        saved = self.checkpoints.load(self.levels[0])
        self.states = self.checkpoints.records
        if saved is None:
            return self.store()
        if saved.steps > self.request.stops[-1]:
            raise InputError(
                f"the checkpoint '{self.checkpoints.path}' is at day {self.days_of(saved.steps):g},"
                f" beyond the end of this run at day {self.days_of(self.request.stops[-1]):g}; "
                "give more days, or another folder"
            )
        self.steps, self.levels, self.clock = saved.steps, saved.levels, Sections(saved.timed)
        self._kernel_states = saved.kernels
        if self.observer is not None and saved.seen:
            self.observer.restore(saved.seen)
        if self.adapting is not None:
            self.adapting.control.restore(saved.ladder)
        of_this_run = [steps in (0, *self.request.stops) for steps in saved.stored]
        self.checkpoints.records.keep(of_this_run)
        for k in np.flatnonzero(of_this_run):
            self.stored.append(saved.stored[k])
            self.budgets.append({name: x[k] for name, x in saved.budgets.items()})

    def save(self, last: bool) -> None:
        """Leave a checkpoint where that was asked for."""
        if self.checkpoints is not None:
            done = self.steps, self.levels, self.stored, stacked(self.budgets)
            timed = np.array(self.clock.done).reshape(-1, 2)
            seen = {} if self.observer is None else self.observer.arrays()
            ladder = {} if self.adapting is None else self.adapting.control.arrays()
            saved = Saved(*done, kernel_states(self.kernels), timed, seen, ladder)
            self.checkpoints.save(saved, last)

    def advance(self, count: int) -> None:
        """Make some steps, then look whether all values are finite."""
        before, days_before = self._before, self.days
        before[:] = self.levels[0].values
        seconds = self._made(count)
        self.clock.done.append((count, seconds))
        self.steps += count
        if not self._is_finite():
            self.blow_up = self.sentence(before, days_before)
            if self.observer is not None:
                self.observer.look_at_end(self._whole, self.levels, self.steps)
        elif self.adapting is not None and self.adapting.control.ended:
            self.blow_up = self.adapting.control.ended
        elif self.progress is not None:
            self.progress(self.days)

    def _is_finite(self) -> bool:
        """Whether all values of the newest level are finite."""
        return bool(np.isfinite(self.levels[0].values, out=self._finite).all())

    def _made(self, count: int) -> float:
        """Make some steps; the processor seconds that they took."""
        if self.observer is None:
            return self._stepping.advance(self.levels, self.steps, count)
        both = self._stepping, self._whole
        return self.observer.advance(*both, self.levels, self.steps, count)

    @property
    def days(self) -> float:
        """Simulated time so far."""
        return self.days_of(self.steps)

    def days_of(self, steps: int) -> float:
        """So many steps in days."""
        return steps * self.request.step_seconds / SECONDS_PER_DAY

    def store(self) -> None:
        """Keep the fields and budgets of the current state."""
        self.stored.append(self.steps)
        how = self.convert.transform, self.request.case.radius_m
        with np.errstate(invalid="ignore", over="ignore"):  # of a start that is not finite
            fields = self.fields(self.levels[0].values)
            self.states.append(
                {
                    name: fields[name] if name in fields else derive(name, fields, *how)
                    for name in self.request.variables
                }
            )
            self.budgets.append(self.convert.budgets(fields))

    def fields(self, state: np.ndarray) -> dict[str, np.ndarray]:
        """Fields in SI units of a state."""
        return self.convert.to_fields(state.reshape(-1, self.columns.size).astype(np.float64))

    def sentence(self, before: np.ndarray, days_before: float) -> str:
        """What blew up, when and where, and what usually helps."""
        step, reason = self.request.step_seconds, self._whole.reason
        return (
            f"blow-up between day {days_before:.3g} and day {self.days:.3g}: {self.lost()} "
            f"not finite; just before, {self.strongest(before)}; usual remedies: a shorter "
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
        """Names, and levels from the top where there are several, of what is not finite."""
        values = self.levels[0].values.reshape(-1, self.columns.size)
        finite = np.isfinite(values).all(axis=0)
        words = []
        for name in dict.fromkeys(self.columns):
            whole = finite[self.columns == name].reshape(-1, 2).all(axis=1)
            if not whole.all():
                where = "" if whole.size == 1 else f" at level {int(whole.argmin()) + 1}"
                words.append(f"{name}{where}")
        return " and ".join(words)

    def strongest(self, state: np.ndarray) -> str:
        """The strongest wind of a state, or else its first field's largest value, and where."""
        fields = self.fields(state)
        if "u" in fields and "v" in fields:
            size, what, unit = np.hypot(fields["u"], fields["v"]), "the strongest wind", " m/s"
        else:
            name = next(iter(fields))
            size, what, unit = np.abs(fields[name]), f"the largest {name}", ""
        if np.isnan(size).all():
            return f"{what} was beyond binary64"
        *level, row, column = np.unravel_index(int(np.nanargmax(size)), size.shape)
        grid = self.convert.transform.grid
        place = f"latitude {grid.lat[row]:.1f}, longitude {grid.lon[column]:.1f}"
        place += f", level {level[0] + 1}" if level else ""
        return f"{what} was {np.nanmax(size):.3g}{unit} at {place}"


def stacked(rows: list[dict[str, float]]) -> dict[str, np.ndarray]:
    """Dictionaries of numbers, one per time, as one of arrays over time."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
