"""A monitor's view of a run: its spectral state, increments and tendencies, now and then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.drifting import Drifting, in_fp64, is_fp64
from sciprec.climate.running.held_forcing import HeldForcing
from sciprec.climate.running.lifted_model import LiftedModel
from sciprec.climate.running.request import Request
from sciprec.climate.running.team import StepMaker
from sciprec.climate.stepping.levels import Addition, Level
from sciprec.climate.stepping.losses import EARLY_STEPS, UpdateLosses
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.instruments.assigning.scaling import DYNAMIC, ScaledBackend
from sciprec.tools.monitor.history import OFF, WHOLE, History
from sciprec.tools.monitor.lost import LostUpdates, alerts_of_sums, bits_of, size_of
from sciprec.tools.monitor.observed import Elements, Observed
from sciprec.tools.monitor.plan import INCREMENT, WatchPlan
from sciprec.tools.monitor.summaries import FormatEnds

_DRIFT, _LOST = "drift_", "lost_"
"""Begin the names of arrays of a checkpoint."""
NOT_AGAIN = "lost updates: scales are dynamic, and steps may be made again"


class Stepping(Protocol):
    """An object that makes steps, on one thread or several, in one arithmetic or several."""

    def advance(self, levels: list[Level], before: int, count: int) -> float:
        """Advance by `count` steps after `before` steps; the processor seconds that they took."""
        ...


class SteppingAlone(Stepping, Protocol):
    """An object that makes steps on one thread, perhaps under a forcing."""

    @property
    def forcing(self) -> HeldForcing | None:
        """The forcing of a user, or None."""
        ...


class RunObserver:
    """Looks at a run. The structural zeros of a spectral state are left out: the coefficients above
    the truncation, and the imaginary parts of order zero.

    Args:
        request: of the run; its `monitor` is a plan.
        convert: of its equation set.
        columns: name of the variable of each column of the state.

    Attributes:
        history: what was seen.
        drifting: steps beside those in fp64, or None.
        losses: what updates of the state lose; None where nobody looks.
        not_looked_at: why, in words; empty where the rule `lost` is off, too.
    """

    def __init__(self, request: Request, convert: Conversion, columns: np.ndarray) -> None:
        self.plan: WatchPlan = request.monitor
        number = request.truncation.number
        self.degree, self.order = coefficient_orders(number)
        self._columns = columns
        mask = (self.degree <= number)[:, None] & np.ones(columns.size, bool)
        mask[:, 1::2] &= (self.order > 0)[:, None]
        self._places = {
            name: np.flatnonzero((mask & (columns == name)).ravel())
            for name in dict.fromkeys(columns.tolist())
        }
        limits = FormatEnds.of(request.stored.initial.storage)
        bands = [self.degree[self._of(watched) // columns.size] for watched in self.plan.watch]
        self.history = History(self.plan.watch, limits, self.plan.level, True, bands)
        self._inside = any(":" in name for name in self.plan.watch)
        self.request, self._convert = request, convert
        self._start = np.zeros(0)
        drifts = self.plan.drift_every > 0 and not is_fp64(request)
        self.drifting = Drifting(request, convert, columns) if drifts else None
        self.losses = None
        is_wanted = "lost" in dict(self.plan.rules)
        self.not_looked_at = _not_looked_at(request) if is_wanted else ""
        if is_wanted and not self.not_looked_at:
            owners = [list(self._places).index(name) for name in columns]
            self._followed = slice(0, self.degree.size), np.array(owners)
            self.losses = UpdateLosses(*self._followed)
        self._steps_before, self._true = 0, (0, np.zeros(0, bool))
        self._heard: _RecordedSteps | None = None
        self._pool = Pool()

    def attach(self, steps: StepMaker) -> StepMaker:
        """The steps whose updates are looked at."""
        if self.losses is None:
            return steps
        addition = replace(steps.system.addition, losses=self.losses)
        return replace(steps, system=replace(steps.system, addition=addition))

    def pause(self, paused: bool) -> None:
        """Let updates pass that are none of the run's, or no longer."""
        if self.losses is not None:
            self.losses.pause(paused)

    def start(self, state: np.ndarray, exact: np.ndarray) -> None:
        """The run begins.

        Args:
            state: its initial state, flat.
            exact: the same before it was rounded.
        """
        self._start = exact
        if self.drifting is not None:
            self.drifting.drift.initial = state.astype(np.float64) - exact

    def advance(
        self, stepping: Stepping, serial: SteppingAlone, levels: list[Level], before: int,
        count: int,
    ) -> float:
        """Advance by `count` steps, looking at some; the processor seconds of the steps.

        Args:
            stepping: makes steps, perhaps on several threads.
            serial: makes the same steps on one.
            levels: of the time scheme, newest first.
        """
        seconds = 0.0
        for more in self.plan.pieces(before, count):
            before += more
            watched = self.plan.watches(before)
            drifting = self.drifting if self.plan.drifts(before) else None
            heard = self._hear(serial) if watched and self._inside else None
            alone = heard is not None or drifting is not None
            if not alone or more > 1:
                seconds += stepping.advance(levels, before - more, more - alone)
            if drifting is not None:
                drifting.begin(levels, before - 1, serial.forcing)
            if alone:
                steps = stepping if heard is None else heard.steps
                seconds += steps.advance(levels, before - 1, 1)
            if drifting is not None:
                drifting.end(levels, before)
            self._steps_before = before
            if watched:
                self.look(before, levels, heard)
        return seconds

    def look_at_end(self, stepping: Stepping, levels: list[Level], steps: int) -> None:
        """Look at what a run has left that is not finite any more."""
        if self.history.steps.size and self.history.steps[-1] == steps:
            return
        heard = None
        if self._inside:  # of the step that would follow
            heard = self._hear(stepping)
            self.pause(True)
            heard.steps.advance([level.copy() for level in levels], steps, 1)
        self.look(steps, levels, heard)

    def _hear(self, steps: Stepping) -> _RecordedSteps:
        """Steps that are listened to from now on, in the arrays of those before."""
        assert isinstance(steps, StepMaker)  # adaptive runs are not listened to
        if self._heard is None or self._heard.original is not steps:
            self._heard = _RecordedSteps(steps)
        self._heard.begun = False
        return self._heard

    def look(self, steps: int, levels: list[Level], heard: _RecordedSteps | None = None) -> None:
        """Take down what the variables hold after so many steps."""
        self._pool.reset()
        values = [self._elements_of(name, levels, heard) for name in self.plan.watch]
        self.history.note(steps, values, room=self._pool.array)
        if self.plan.told is not None:
            self.plan.told(lambda: self.observed(self._lost(levels, self._steps_before)))

    def _elements_of(
        self, watched: str, levels: list[Level], heard: _RecordedSteps | None
    ) -> np.ndarray:
        kind, colon, name = watched.rpartition(":")
        array = levels[0].values
        if colon:
            array = heard.increment if f"{kind}:" == INCREMENT else heard.tendency
        places, pool = self._places[name], self._pool
        values, result = pool.array(places.shape, array.dtype), pool.array(places.shape)
        np.take(array.reshape(-1), places, out=values, mode="clip")
        result[...] = values
        return result

    def _of(self, watched: str) -> np.ndarray:
        """Places of the elements of a watched variable in a flat state."""
        return self._places[watched.rpartition(":")[2]]

    def elements(self, watched: str) -> Elements:
        """Places of a watched variable's elements; the level only where there are several."""
        coefficient, column = np.divmod(self._of(watched), self._columns.size)
        columns = np.flatnonzero(self._columns == watched.rpartition(":")[2])
        level = np.searchsorted(columns, column) // 2 + 1
        places = {
            "total_wavenumber": (self.degree[coefficient], "total wavenumber"),
            "zonal_wavenumber": (self.order[coefficient], "zonal wavenumber"),
            "part": (column % 2, "part, 0 the real and 1 the imaginary one,"),
        }
        return places | ({"level": (level, "level, from the top,")} if columns.size > 2 else {})

    def place(self, watched: str, at: int) -> str:
        """A place in a watched variable in words."""
        where = {name: int(values[at]) for name, (values, _) in self.elements(watched).items()}
        words = f"total wavenumber {where['total_wavenumber']}, zonal {where['zonal_wavenumber']}"
        return words + (f", level {where['level']}" if "level" in where else "")

    def observed(self, sums: tuple[LostUpdates, ...] = ()) -> Observed:
        """The observations so far, with what updates have lost."""
        rules = dict(self.plan.rules)
        alerts = self.history.alerts(rules, self.place) + alerts_of_sums(sums, rules)
        drift = None if self.drifting is None else self.drifting.drift
        about = self.plan, self.history, alerts, self.request.step_seconds, drift
        return Observed(*about, sums=sums, not_looked_at=self.not_looked_at)

    def observed_at_end(self, levels: list[Level], steps: int) -> Observed:
        """The observations of the whole run, which has left these levels after so many steps."""
        fields = {} if self.drifting is None else self.drifting.fields(levels)
        names = self.plan.watch if self.plan.level >= WHOLE else ()
        elements = {watched: self.elements(watched) for watched in names}
        observed = self.observed(self._lost(levels, steps))
        return replace(observed, drift_fields=fields, elements=elements)

    def _lost(self, levels: list[Level], steps: int) -> tuple[LostUpdates, ...]:
        """Lost updates of each variable."""
        if self.losses is None:
            return ()
        stored, lost_sums = self.request.stored.initial, []
        losses = self.losses
        for number, name in enumerate(self._places):
            carries = name in self.request.compensation
            about = name, "", "", stored.name, bits_of(stored)
            totals = losses.totals(levels, number)
            loss = LostUpdates(*about, totals, size_of(totals), carries)
            if loss.is_suspect and not is_fp64(self.request):
                totals = losses.totals(levels, number, self._true_changes(steps))
                loss = LostUpdates(*about, totals, size_of(totals), carries, is_true=True)
            lost_sums.append(loss)
        return tuple(each for each in lost_sums if each.totals.additions)

    def _true_changes(self, steps: int) -> np.ndarray:
        """Whether fp64, too, is to change each element that is followed in the first steps, by at
        least half as much.
        """
        early = min(steps, EARLY_STEPS)
        if early == self._true[0]:
            return self._true[1]
        request = in_fp64(self.request)
        exact = LiftedModel(request, self._convert)
        losses = UpdateLosses(*self._followed)
        addition = replace(exact.steps.system.addition, losses=losses)
        system = replace(exact.steps.system, addition=addition)
        levels = [addition.level(self._start.copy())]
        replace(exact.steps, system=system).advance(levels, 0, early)
        changes, true_changes = self.losses.early(steps), losses.early(0)
        self._true = early, np.abs(true_changes) >= 0.5 * np.abs(changes)
        return self._true[1]

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        drift = {} if self.drifting is None else self.drifting.drift.arrays()
        lost = {} if self.losses is None else self.losses.arrays()
        more = {f"{_DRIFT}{n}": x for n, x in drift.items()}
        return self.history.arrays() | more | {f"{_LOST}{n}": x for n, x in lost.items()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from such arrays."""
        drift, lost = (
            {n.removeprefix(of): x for n, x in arrays.items() if n.startswith(of)}
            for of in (_DRIFT, _LOST)
        )
        arrays_of_history = {n: x for n, x in arrays.items() if not n.startswith((_DRIFT, _LOST))}
        self.history.restore(arrays_of_history)
        if self.drifting is not None:
            self.drifting.drift.restore(drift)
        if self.losses is not None:
            self.losses.restore(lost)


def _not_looked_at(request: Request) -> str:
    """Why nobody looks at what updates lose, in words; empty where somebody does."""
    backend = request.backend
    if isinstance(backend, ScaledBackend) and backend.scaling.mode == DYNAMIC:
        return NOT_AGAIN
    return ""


def observer_of(request: Request, convert: Conversion, columns: np.ndarray) -> RunObserver | None:
    """The observer of a run; None where nothing is to be watched."""
    if request.monitor is None or request.monitor.level == OFF:
        return None
    return RunObserver(request, convert, columns)


class _RecordedSteps:
    """Steps of a whole state whose tendency and increment are kept.

    Attributes:
        whole: what they are those of.
        steps: makes them.
        begun: whether the tendency of the step was heard.
        tendency: the first one of a step.
        increment: the last one of a step, before it is rounded into the state.
    """

    def __init__(self, steps: StepMaker) -> None:
        self.original, self.begun = steps, False
        self.tendency = self.increment = np.empty(0)
        system = replace(
            steps.system, tendency=self._tendency(steps.system.tendency),
            addition=self._addition(steps.system.addition),
        )  # fmt: skip
        self.steps = StepMaker(steps.scheme, system, steps.adjust, forcing=steps.forcing)

    def _tendency(self, tendency):
        def function(values: np.ndarray, out: np.ndarray) -> None:
            tendency(values, out)
            if not self.begun:
                self.begun, self.tendency = True, _copied(out, self.tendency)

        return function

    def _addition(self, addition: Addition) -> Addition:
        heard = self

        class Hearing(Addition):
            def add(self, level: Level, increment: np.ndarray, steps: int = 1) -> None:
                heard.increment = _copied(increment, heard.increment)
                super().add(level, increment, steps)

        return Hearing(*(getattr(addition, name) for name in Addition.__dataclass_fields__))


def _copied(values: np.ndarray, room: np.ndarray) -> np.ndarray:
    """A copy of an array, in another one where that has its shape and type."""
    if room.shape != values.shape or room.dtype != values.dtype:
        return values.copy()
    room[...] = values
    return room
