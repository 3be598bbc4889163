"""Payments of any payoffs along one set of paths.

The paths run from date to date on a grid of equal steps that contains every date. What several
payoffs observe alike is observed once, so that many strikes and maturities cost one simulation.
"""

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from sciprec.arguments import refused
from sciprec.errors import InputError
from sciprec.heston.payoff_registry import Payoff
from sciprec.heston.simulation import Simulation

ON_GRID = 1e-9  # by which share of a step a date may miss the grid


class Snapshot:
    """A block of paths at one date; what is looked at is computed once, in binary64.

    Attributes:
        time: years.
        log_ratio: log(S_t / F_t); log_spot: log S_t; spot: S_t; variance: per year, or None where
            nobody looks at it; all of shape (n_paths,).
    """

    def __init__(self, simulation, time, with_variance):
        self.time = time
        self._forward = simulation.model.forward(time)
        self.log_ratio = simulation.log_ratio()
        self.variance = simulation.variance() if with_variance else None

    @cached_property
    def log_spot(self):
        """log S_t."""
        return self.log_ratio + math.log(self._forward)

    @cached_property
    def spot(self):
        """S_t."""
        with np.errstate(over="ignore"):  # counted as nonfinite by those who average
            return self._forward * np.exp(self.log_ratio)


def observed_payments(
    model,
    payoffs,
    block,
    *,
    backend="fp64",
    scheme="quadratic_exponential_martingale",
    n_steps,
    seed=0,
    words=None,
    draws_per_step=1,
    mirrored=False,
    carried=True,
):
    """Simulate one block of paths and return what every payoff pays on every path.

    Args:
        model: a Model.
        payoffs: a sequence of payoffs, of any maturities.
        block: a Block (first_path, n_paths).
        backend: arithmetic of the paths, a name, a spec string or a Backend.
        scheme: name of a registered path scheme.
        n_steps: steps from today to the longest maturity, an integer; every date that a payoff
            observes has to be a whole number of steps (see `steps_for`).
        seed: integer in [0, 2**64).
        words: None for Philox words of the seed, or random words of another kind: int64, shape
            (n_steps, 2, block.n_paths).
        draws_per_step: r; these paths then see the same Brownian motion as those of r n_steps.
        mirrored: run the antithetic paths.
        carried: whether states carry their rounding errors along, see Simulation.

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
    for payoff in payoffs:
        payoff.check(model)
    n_steps = _steps(n_steps)
    schedule = _schedule(payoffs, n_steps)
    step_years = _longest(payoffs) / n_steps
    simulation = Simulation(
        model,
        block,
        step_years=step_years,
        backend=backend,
        scheme=scheme,
        seed=seed,
        words=words,
        draws_per_step=draws_per_step,
        mirrored=mirrored,
        carried=carried,
    )
    with np.errstate(over="ignore", invalid="ignore"):  # nonfinite paths stay nonfinite
        rows = _observe(simulation, schedule, _longest(payoffs), n_steps)
        return np.stack([payoff.payment(rows[payoff.observation]) for payoff in payoffs])


def steps_for(payoffs, least):
    """Return the smallest n_steps of at least `least` that puts every date on the grid.

    Args:
        payoffs: a sequence of payoffs.
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
    return common * -(-_steps(least) // common)


def payoff_tuple(payoffs):
    """Return one payoff or a sequence of them as a tuple.

    Raises:
        InputError: nothing given, or something that is no payoff.
    """
    payoffs = tuple(payoffs) if isinstance(payoffs, list | tuple) else (payoffs,)
    for payoff in payoffs:
        if not isinstance(payoff, Payoff):
            raise refused(
                "payoff", payoff,
                "a payoff such as Call(strike=100, maturity=1), or a sequence of them",
            )  # fmt: skip
    if not payoffs:
        raise InputError("no payoff was given; accepted: one payoff or a sequence of them")
    return payoffs


def _observe(simulation, schedule, longest, n_steps):
    """Run the paths over all stops; return {observation: rows}."""
    n_paths = simulation.block.n_paths
    rows = {watch: watch.start(n_paths) for stops in schedule.values() for watch, _ in stops}
    last = {watch: step for step, stops in schedule.items() for watch, _ in stops}
    through = [watch for watch in rows if watch.every_step]
    before = Snapshot(simulation, 0.0, True) if through else None
    for step in range(1, max(schedule) + 1):
        watching = [watch for watch in through if step <= last[watch]]
        if not watching and step not in schedule:
            continue
        simulation.advance(step - simulation.step)
        now = Snapshot(simulation, step * longest / n_steps, bool(watching))
        for watch in watching:
            watch.observe(rows[watch], step, now, before)
        for watch, k in schedule.get(step, ()):
            if not watch.every_step:
                watch.observe(rows[watch], k, now, before)
        before = now
    return rows


def _schedule(payoffs, n_steps):
    """Return {step: [(observation, number of its date)]}, each observation once."""
    longest = _longest(payoffs)
    schedule = {}
    for watch in dict.fromkeys(payoff.observation for payoff in payoffs):
        for k, date in enumerate(watch.dates):
            step = round(date / longest * n_steps)
            if step < 1 or abs(date / longest * n_steps - step) > ON_GRID * n_steps:
                raise InputError(
                    f"the date {date} is no whole number of steps of {longest / n_steps:.6g} "
                    f"years; accepted: n_steps a multiple of {steps_for(payoffs, 1)}: try "
                    f"{steps_for(payoffs, n_steps)} in place of {n_steps}"
                )
            schedule.setdefault(step, []).append((watch, k))
    return schedule


def _longest(payoffs):
    """Return the longest maturity in years."""
    return max(payoff.maturity for payoff in payoffs)


def _steps(value):
    """Return n_steps as an integer of at least 1, or say that it is none."""
    if isinstance(value, bool) or not hasattr(value, "__index__") or int(value) < 1:
        raise InputError(f"n_steps is {value!r}; accepted: an integer of at least 1")
    return int(value)
