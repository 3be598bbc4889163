"""What a monitor sees of a run: its spectral state, increments and tendencies, now and then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sciprec.climate.running.request import Request
from sciprec.climate.running.team import Steps
from sciprec.climate.stepping.levels import Addition, Level
from sciprec.climate.transform.legendre import coefficient_orders
from sciprec.monitoring.history import OFF, History
from sciprec.monitoring.observed import Observed
from sciprec.monitoring.plan import INCREMENT, Plan
from sciprec.monitoring.summaries import Limits


class Observer:
    """Looks at a run. The structural zeros of a spectral state are left out: the coefficients above
    the truncation, and the imaginary parts of order zero.

    Args:
        request: of the run; its `monitor` is a plan.
        columns: name of the variable of each column of the state.

    Attributes:
        history: what was seen.
    """

    def __init__(self, request: Request, columns: np.ndarray) -> None:
        self.plan: Plan = request.monitor
        number = request.truncation.number
        self.degree, self.order = coefficient_orders(number)
        self._columns = columns
        held = (self.degree <= number)[:, None] & np.ones(columns.size, bool)
        held[:, 1::2] &= (self.order > 0)[:, None]
        self._places = {
            name: np.flatnonzero((held & (columns == name)).ravel())
            for name in dict.fromkeys(columns.tolist())
        }
        limits = Limits.of(request.stored.initial.storage)
        bands = [self.degree[self._of(one) // columns.size] for one in self.plan.watch]
        self.history = History(self.plan.watch, limits, self.plan.level, True, bands)
        self._inside = any(":" in name for name in self.plan.watch)
        self.request = request

    def advance(self, stepping, whole: Steps, levels: list[Level], before: int, count: int):
        """So many steps after those before, looking at some; the processor seconds of the steps.

        Args:
            stepping: makes steps, perhaps on several threads.
            whole: makes the same steps on one.
            levels: of the time scheme, newest first.
        """
        seconds = 0.0
        for more, watched in self.plan.pieces(before, count):
            if watched and self._inside:
                if more > 1:
                    seconds += stepping.advance(levels, before, more - 1)
                heard = _Heard(whole)
                seconds += heard.steps.advance(levels, before + more - 1, 1)
                self.look(before + more, levels, heard)
            else:
                seconds += stepping.advance(levels, before, more)
                if watched:
                    self.look(before + more, levels)
            before += more
        return seconds

    def look_at_end(self, whole: Steps, levels: list[Level], steps: int) -> None:
        """Look at what a run has left that is not finite any more."""
        if self.history.steps.size and self.history.steps[-1] == steps:
            return
        heard = None
        if self._inside:  # of the step that would follow
            heard = _Heard(whole)
            heard.steps.advance([level.copy() for level in levels], steps, 1)
        self.look(steps, levels, heard)

    def look(self, steps: int, levels: list[Level], heard: _Heard | None = None) -> None:
        """Take down what the variables hold after so many steps."""
        values = [self._taken(name, levels, heard) for name in self.plan.watch]
        self.history.note(steps, values)
        if self.plan.told is not None:
            self.plan.told(self.observed)

    def _taken(self, watched: str, levels: list[Level], heard: _Heard | None) -> np.ndarray:
        kind, colon, name = watched.rpartition(":")
        array = levels[0].values
        if colon:
            array = heard.increment if f"{kind}:" == INCREMENT else heard.tendency
        return np.asarray(array.reshape(-1)[self._places[name]], np.float64)

    def _of(self, watched: str) -> np.ndarray:
        """Where the elements of a watched variable are in a flat state."""
        return self._places[watched.rpartition(":")[2]]

    def place(self, watched: str, at: int) -> str:
        """A place in a watched variable in words."""
        name = watched.rpartition(":")[2]
        coefficient, column = divmod(int(self._of(watched)[at]), self._columns.size)
        mine = np.flatnonzero(self._columns == name)
        level = int(np.searchsorted(mine, column)) // 2
        where = f"total wavenumber {self.degree[coefficient]}, zonal {self.order[coefficient]}"
        return where + (f", level {level + 1}" if mine.size > 2 else "")

    def observed(self) -> Observed:
        """What was seen so far."""
        alerts = self.history.alerts(dict(self.plan.rules), self.place)
        return Observed(self.plan, self.history, alerts, self.request.step_seconds)


def observer_of(request: Request, columns: np.ndarray) -> Observer | None:
    """What looks at a run; None where nothing is to be watched."""
    if request.monitor is None or request.monitor.level == OFF:
        return None
    return Observer(request, columns)


class _Heard:
    """Steps of a whole state whose tendency and increment are kept.

    Attributes:
        steps: makes them.
        tendency: the first one of a step.
        increment: the last one of a step, before it is rounded into the state.
    """

    def __init__(self, whole: Steps) -> None:
        self.tendency = self.increment = np.empty(0)
        system = replace(
            whole.system, tendency=self._tendency(whole.system.tendency),
            addition=self._addition(whole.system.addition),
        )  # fmt: skip
        self.steps = Steps(whole.scheme, system, whole.adjust)

    def _tendency(self, tendency):
        def function(values: np.ndarray, out: np.ndarray) -> None:
            tendency(values, out)
            if not self.tendency.size:
                self.tendency = out.copy()

        return function

    def _addition(self, addition: Addition) -> Addition:
        heard = self

        class Hearing(Addition):
            def add(self, level: Level, increment: np.ndarray, steps: int = 1) -> None:
                heard.increment = increment.copy()
                super().add(level, increment, steps)

        return Hearing(*(getattr(addition, name) for name in Addition.__dataclass_fields__))
