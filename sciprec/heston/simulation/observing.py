"""A monitor's view of paths: the first ones of a run, made once more, step by step.

Paths know nothing of each other, so that a few tell what all of them do, and the run itself stays
as it is. A step is to add what fp64 makes of it from the path's own state, with what a carry owes
that state, on the same variates: d. What of it the state has not got is r.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.heston.parameters import Model
from sciprec.heston.simulation.block import Simulation, lifted
from sciprec.heston.simulation.paths import Block
from sciprec.precision import Backend, resolve_backend
from sciprec.tools.monitor.history import History
from sciprec.tools.monitor.lost import (
    LostUpdates,
    Sums,
    alerts_of_sums,
    bits_of,
    size_of,
    weight_of,
)
from sciprec.tools.monitor.observed import Observed
from sciprec.tools.monitor.plan import WatchPlan
from sciprec.tools.monitor.summaries import FormatEnds

STATES = "log_spot", "variance", "integrated_variance"
"""The states of a path, in the units of its scheme."""
FOLLOWED = 64
"""Paths that are looked at, at most."""
DRAWN = "lost updates: the scheme draws its steps, in binary64 alone"
_STEPS = 32
"""Steps that fp64 makes at a time."""


def observed_paths(
    model: Model, maturity: float, plan: WatchPlan, *,
    backend: str | Backend, scheme: str, n_paths: int | None, n_steps: int, seed: int,
    carried: bool = True, judged: Sequence[str] = STATES,
) -> Observed:  # fmt: skip
    """Simulate the first paths of a run, and look at them.

    Args:
        model: a Model.
        maturity: years.
        plan: of the monitor; its names are of STATES.
        backend, scheme, n_steps, seed: of the run.
        n_paths: that it has; None: not known.
        carried: whether states carry their rounding errors along, see Simulation.
        judged: states whose lost updates are looked at beside those of what is watched.

    Returns:
        What was seen.
    """
    judged = [name for name in STATES if name in judged or name in plan.watch]
    observer = PathObserver(plan.within(n_steps), resolve_backend(backend), judged)
    simulation = Simulation(
        model, Block(0, min(n_paths or FOLLOWED, FOLLOWED)), step_years=maturity / n_steps,
        backend=backend, scheme=scheme, seed=seed, carried=carried, watched=observer.note,
    )  # fmt: skip
    observer.begin(simulation)
    simulation.advance(n_steps)
    return observer.observed()


class PathLosses:
    """Sums over the steps of some paths.

    Args:
        simulation: of the paths, at its beginning.
    """

    def __init__(self, simulation):
        kernel, constants, state, rows = simulation.in_binary64()
        self._exact, self._constants = lifted(kernel, resolve_backend("fp64")), constants
        self._paths = paths = state[0].size
        self._states = np.empty((_STEPS + 1, 6, paths), state[0].dtype)
        self._draws = np.empty((rows, _STEPS, paths))
        self._states[0] = state
        self._waiting = 0
        self._sums = Sums(3 * paths, np.repeat(np.arange(3), paths))

    def note(self, draws, state):
        """Take down the variates of a step and the state that it has left."""
        self._draws[:, self._waiting] = draws
        self._waiting += 1
        self._states[self._waiting] = state
        if self._waiting == _STEPS:
            self._compare()

    def _compare(self):
        """Make the steps that wait in fp64, all at once, and add up what they lost."""
        count = self._waiting
        sums = np.zeros((3, 2, count * self._paths))
        with np.errstate(invalid="ignore", over="ignore"):  # paths that are not finite stay so
            states = self._states[: count + 1].astype(float)
            states = states[:, ::2] + states[:, 1::2]
            sums[:, 0] = np.moveaxis(states[:count], 1, 0).reshape(3, -1)
            draws = self._draws[:, :count].reshape(1, -1, count * self._paths)
            self._exact(self._constants, draws, *sums.reshape(6, -1))
            values, carries = np.moveaxis(sums.reshape(3, 2, count, -1), (1, 2), (0, 1))
            increments = (values - states[:count]) + carries
        states, increments = states.reshape(count + 1, -1), increments.reshape(count, -1)
        for before, new, d in zip(states[:-1], states[1:], increments, strict=True):
            self._sums.note(before, new, d, weight_of(self._sums.count + 1))
        self._states[0] = self._states[count]
        self._waiting, self._last = 0, states[-1]

    def totals(self, number):
        """The totals of a state so far.

        Sums of paths that are random walks have either sign. A loss goes one way, too, where it
        has the sign of the sum of d on most paths, as where these do not move.
        """
        if self._waiting:
            self._compare()
        places = slice(number * self._paths, (number + 1) * self._paths)
        totals = self._sums.totals(self._last, None, places, slice(number, number + 1))
        along = np.sign(self._sums.d[places]) * self._sums.r[places]
        net = float(along[np.isfinite(along)].sum()) ** 2
        return totals._replace(net_squares=max(totals.net_squares, net))


class PathObserver:
    """Looks at paths after each of their steps.

    Args:
        plan: of the monitor.
        backend: of the paths.
        judged: states whose lost updates are looked at.
    """

    def __init__(self, plan: WatchPlan, backend: Backend, judged: Sequence[str]) -> None:
        self.plan, self._backend, self._judged = plan, backend, judged
        ends = FormatEnds.of(backend.storage)
        self.history = History(plan.watch, ends, plan.level, sketches=True)
        self._losses: PathLosses | None = None
        self._not_looked_at, self._step, self._carries = "", 0, False

    def begin(self, simulation: Simulation) -> None:
        """The paths begin."""
        self._carries = simulation.carried
        if "lost" not in dict(self.plan.rules):
            return
        if simulation.lifts:
            self._losses = PathLosses(simulation)
        else:
            self._not_looked_at = DRAWN

    def note(self, draws: np.ndarray | None, state: Sequence[np.ndarray]) -> None:
        """A step has left this state."""
        self._step += 1
        if self._losses is not None:
            self._losses.note(draws, state)
        if self.plan.watches(self._step):
            self.history.note(self._step, [state[2 * STATES.index(n)] for n in self.plan.watch])
            if self.plan.told is not None:
                self.plan.told(self.observed)

    def observed(self) -> Observed:
        """The observations so far."""
        rules, sums = dict(self.plan.rules), self._lost()
        alerts = self.history.alerts(rules, lambda name, at: f"path {at}")
        alerts += alerts_of_sums(sums, rules)
        return Observed(
            self.plan, self.history, alerts, sums=sums, not_looked_at=self._not_looked_at
        )

    def _lost(self) -> tuple[LostUpdates, ...]:
        if self._losses is None:
            return ()
        about, losses = (self._backend.name, bits_of(self._backend)), []
        for name in self._judged:
            totals = self._losses.totals(STATES.index(name))
            how = totals, size_of(totals), self._carries
            losses.append(LostUpdates(name, "", "", *about, *how, is_true=True))
        return tuple(losses)
