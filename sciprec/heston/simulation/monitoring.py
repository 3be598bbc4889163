"""Payments of any payoffs along one set of paths, seen from one model or from several at once.

The paths run from date to date on a grid of equal steps that contains every date. What several
payoffs observe alike is observed once, so that many strikes and maturities cost one simulation.

The log of spot over forward knows neither the spot nor the rates, so that one simulation serves
every model that differs in these alone. Dates are shifted together by stretching the time up to the
first of them: steps there are shorter or longer, those after it as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from sciprec.foundation.arguments import at_least, refused
from sciprec.foundation.errors import InputError
from sciprec.heston.observations import Observation
from sciprec.heston.parameters import Model
from sciprec.heston.payoff_registry import Payoff, check_payoffs
from sciprec.heston.simulation.block import Simulation
from sciprec.precision import Backend

ON_GRID = 1e-9  # by which share of a step a date may miss the grid


@dataclass(frozen=True)
class MonitoredPayoffs:
    """Payoffs that are watched along the same paths.

    Args:
        payoffs: a tuple.
        first_years: the date up to which time is stretched: no payoff observes an earlier one,
            save those that are shown every step.
        smooth: whether the level of the spot at first_years is left to be integrated out.
    """

    payoffs: tuple[Payoff, ...]
    first_years: float
    smooth: bool

    @property
    def watches(self) -> tuple[Observation, ...]:
        """The distinct observations."""
        return tuple(dict.fromkeys(payoff.observation for payoff in self.payoffs))


@dataclass(frozen=True)
class Look:
    """The paths at one date, as an observation sees them; all is computed once, in binary64.

    Args:
        time: years.
        forward: of a model at this date.
        log_ratio: log(S_t / F_t), less a level that is left out, shape (n_paths,).
        ratio: returns S_t / F_t, less that level.
        variance: per year, shape (n_paths,), or None where nobody looks at it.
    """

    time: float
    forward: float
    log_ratio: np.ndarray
    ratio: Callable[[], np.ndarray]
    variance: np.ndarray | None

    @cached_property
    def log_spot(self) -> np.ndarray:
        """log S_t."""
        return self.log_ratio + math.log(self.forward)

    @cached_property
    def spot(self) -> np.ndarray:
        """S_t."""
        with np.errstate(over="ignore"):  # counted as nonfinite by those who average
            return self.forward * self.ratio()


@dataclass(frozen=True)
class MonitoredPaths:
    """The observations of a run.

    Attributes:
        rows: for every model {observation: rows}.
        mean, spread: M and W of options.level_payments, shape (n_paths,); None where the
            level was not left out.
    """

    rows: tuple[dict[Observation, np.ndarray], ...]
    mean: np.ndarray | None = None
    spread: np.ndarray | None = None


def observed_payments(
    model: Model,
    payoffs: Payoff | Sequence[Payoff],
    block: Any,
    *,
    n_steps: int,
    backend: str | Backend = "fp64",
    scheme: str = "quadratic_exponential_martingale",
    seed: int = 0,
    **options: Any,
) -> np.ndarray:
    """Simulate one block of paths and return what every payoff pays on every path.

    Args:
        model: a Model.
        payoffs: one payoff or a sequence, of any maturities.
        block: a Block (first_path, n_paths).
        n_steps: steps from today to the longest maturity, an integer; every date that a payoff
            observes has to be a whole number of steps (see `steps_for`).
        backend: arithmetic of the paths, a name, a spec string or a Backend.
        scheme: name of a registered path scheme.
        seed: integer in [0, 2**64).
        options: draws_per_step, mirrored and carried of Simulation.

    Returns:
        Undiscounted payments in binary64, shape (payoffs, block.n_paths), each due at its
        payoff's maturity; not finite where a path left the range of the backend.

    Raises:
        InputError: a date off the grid, a barrier already hit, an argument outside its domain.

    Precision: every operation of the paths is rounded in the backend. The log spot and its
        carried rounding error are then added in binary64, in which all payments are made. Stops
        on the way change no bit (but for backends with random bits).
    """
    payoffs = payoff_tuple(payoffs)
    check_payoffs(payoffs, model)
    n_steps = at_least("n_steps", n_steps, 1)
    longest = _longest(payoffs)
    simulation = Simulation(
        model, block, step_years=longest / n_steps, backend=backend, scheme=scheme, seed=seed,
        **options,
    )  # fmt: skip
    group = MonitoredPayoffs(payoffs, longest, False)

    def time_at(step: int) -> float:
        return step * longest / n_steps

    with np.errstate(over="ignore", invalid="ignore"):  # nonfinite paths stay nonfinite
        (rows,) = _walk(simulation, group, [model], n_steps, longest, time_at).rows
        return np.stack([payoff.payment(rows[payoff.observation]) for payoff in payoffs])


def watch(
    group: MonitoredPayoffs,
    model: Model,
    views: Sequence[Model],
    block: Any,
    *,
    n_steps: int,
    longest: float,
    nearer: float = 0.0,
    **options: Any,
) -> MonitoredPaths:
    """Simulate one block of paths and show it to the observations of a group.

    Args:
        group: a Group.
        model: of the paths.
        views: Models that differ in spot and rate; each sees its own spots.
        block: a Block.
        n_steps: from today to `longest` years.
        nearer: years by which all dates come nearer; below zero they move away.
        options: backend, scheme, seed, draws_per_step and carried of Simulation.

    Returns:
        A Watched.

    Raises:
        InputError: as observed_payments.
    """
    step_years = longest / n_steps
    first = round(group.first_years / longest * n_steps)
    short = step_years * (1 - nearer / group.first_years)
    simulation = Simulation(model, block, step_years=short, conditional=group.smooth, **options)

    def time_at(step: int) -> float:
        return step * short if step < first else step * step_years - nearer

    return _walk(simulation, group, views, n_steps, longest, time_at)


def steps_for(payoffs: Payoff | Sequence[Payoff], least: int) -> int:
    """Return the smallest n_steps of at least `least` that puts every date on the grid.

    Args:
        payoffs: one payoff or a sequence.
        least: integer of at least 1.

    Returns:
        An integer: a multiple of the least one possible, so that its multiples serve as well.

    Raises:
        InputError: the dates have no common step of a reasonable length.
    """
    payoffs = payoff_tuple(payoffs)
    longest = _longest(payoffs)
    common = 1
    for date in sorted({date for payoff in payoffs for date in payoff.observation.dates}):
        share = Fraction(date / longest).limit_denominator(10**6)
        common = math.lcm(common, share.denominator)
        if abs(float(share) * longest - date) > ON_GRID * longest / common or common > 10**7:
            raise InputError(
                f"the dates of the payoffs, up to {date} of {longest} years, have no common step; "
                "accepted: dates whose ratios are fractions: price them by separate calls"
            )
    return common * -(-at_least("n_steps", least, 1) // common)


def payoff_tuple(payoffs: Payoff | Sequence[Payoff]) -> tuple[Payoff, ...]:
    """Return one payoff or a sequence of them as a tuple.

    Raises:
        InputError: nothing given, or something that is no payoff.
    """
    result = tuple(payoffs) if isinstance(payoffs, list | tuple) else (payoffs,)
    for payoff in result:
        if not isinstance(payoff, Payoff):
            raise refused(
                "payoff", payoff,
                "a payoff such as Call(strike=100, maturity=1), or a sequence of them",
            )  # fmt: skip
    if not result:
        raise InputError("no payoff was given; accepted: one payoff or a sequence of them")
    return result


def _walk(
    simulation: Simulation,
    group: MonitoredPayoffs,
    views: Sequence[Model],
    n_steps: int,
    longest: float,
    time_at: Callable[[int], float],
) -> MonitoredPaths:
    """Run the paths over all stops, each shown to those who watch it."""
    stops = _schedule(group, n_steps, longest)
    first, last = round(group.first_years / longest * n_steps), max(stops)
    rows = tuple({w: w.start(simulation.block.n_paths) for w in group.watches} for _ in views)
    level, spread = 0.0, None

    def looks(time: float, with_variance: bool) -> list[Look]:
        log_ratio = simulation.log_ratio() - level
        ratio = cache(lambda: np.exp(log_ratio))
        variance = simulation.variance() if with_variance else None
        return [Look(time, view.forward(time), log_ratio, ratio, variance) for view in views]

    through = any(each.every_step for each in group.watches)
    before = looks(0.0, True) if through else [None for _ in views]
    for step in sorted({*stops, first}):
        simulation.advance(step - simulation.step)
        if step == first and group.smooth:
            level = simulation.log_ratio()
            spread = np.maximum(simulation.conditional_variance(), 0.0)
        watchers = stops.get(step, [])
        now = looks(time_at(step), any(each.every_step for each, _ in watchers))
        for observation, k in watchers:
            for state, look, earlier in zip(rows, now, before, strict=True):
                observation.observe(state[observation], k, look, earlier)
        before = now
        if step == first < last:
            simulation.begin_stretch(longest / n_steps)
    return MonitoredPaths(rows, level, spread) if group.smooth else MonitoredPaths(rows)


def _schedule(
    group: MonitoredPayoffs, n_steps: int, longest: float
) -> dict[int, list[tuple[Observation, int]]]:
    """Return {step: [(observation, number of its date or step)]}."""
    stops: dict[int, list[tuple[Observation, int]]] = {}
    for observation in group.watches:
        steps = [_step_of(date, group, n_steps, longest) for date in observation.dates]
        numbered = list(enumerate(steps))
        if observation.every_step:
            numbered = [(step, step) for step in range(1, steps[-1] + 1)]
        for k, step in numbered:
            stops.setdefault(step, []).append((observation, k))
    return stops


def _step_of(date: float, group: MonitoredPayoffs, n_steps: int, longest: float) -> int:
    """Return the step at a date, or say that there is none."""
    step = round(date / longest * n_steps)
    if step < 1 or abs(date / longest * n_steps - step) > ON_GRID * n_steps:
        raise InputError(
            f"the date {date} is no whole number of steps of {longest / n_steps:.6g} "
            f"years; accepted: n_steps a multiple of {steps_for(group.payoffs, 1)}: try "
            f"{steps_for(group.payoffs, n_steps)} in place of {n_steps}"
        )
    return step


def _longest(payoffs: Sequence[Payoff]) -> float:
    """Return the longest maturity in years."""
    return max(payoff.maturity for payoff in payoffs)
