"""Paths whose payoffs are looked at from several models at once, at dates that may be shifted.

The log of spot over forward knows neither the spot nor the rates, so that one simulation serves
every model that differs in these alone. Dates are shifted together by stretching the time up to the
first of them: steps there are shorter or longer, those after it as they are.
"""

import math
from dataclasses import dataclass

import numpy as np

from sciprec.heston.simulation import Simulation


@dataclass(frozen=True)
class Group:
    """Payoffs that are watched along the same paths.

    Args:
        payoffs: a tuple.
        first_years: the date up to which time is stretched: no payoff observes an earlier one,
            save those that are shown every step.
        smooth: whether the level of the spot at first_years is left to be integrated out.
    """

    payoffs: tuple
    first_years: float
    smooth: bool

    @property
    def watches(self):
        """The distinct observations."""
        return tuple(dict.fromkeys(payoff.observation for payoff in self.payoffs))

    def stops(self, n_steps, longest):
        """Return {step: [(observation, number of its date)]}, and the last step.

        Args:
            n_steps: from today to `longest` years.
        """
        stops, last = {}, 0
        for watch in self.watches:
            for k, date in enumerate(watch.dates):
                stops.setdefault(round(date / longest * n_steps), []).append((watch, k))
        last = max(stops)
        for watch in self.watches:
            if watch.every_step:
                end = round(watch.dates[-1] / longest * n_steps)
                stops[end].remove((watch, 0))
                for step in range(1, end + 1):
                    stops.setdefault(step, []).append((watch, step))
        stops.setdefault(round(self.first_years / longest * n_steps), [])
        return stops, last


@dataclass(frozen=True)
class Look:
    """What an observation sees: years, log spots, spots, and variances where it asks for them."""

    time: float
    log_spot: np.ndarray
    spot: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True)
class Watched:
    """What was seen.

    Attributes:
        rows: for every model {observation: rows}.
        mean, spread: M and W of sciprec.heston.level_payments, shape (n_paths,); None where the
            level was not left out.
    """

    rows: tuple
    mean: np.ndarray = None
    spread: np.ndarray = None


def watch(group, model, views, block, *, n_steps, longest, nearer=0.0, **options):
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
    """
    step_years = longest / n_steps
    first = round(group.first_years / longest * n_steps)
    short = step_years * (1 - nearer / group.first_years)
    simulation = Simulation(model, block, step_years=short, conditional=group.smooth, **options)
    stops, last = group.stops(n_steps, longest)
    rows = tuple({watch: watch.start(block.n_paths) for watch in group.watches} for _ in views)
    through = any(watch.every_step for watch in group.watches)
    before = _looks(simulation, views, 0.0, 0.0, through)
    level, spread = 0.0, None
    for step in sorted(stops):
        simulation.advance(step - simulation.step)
        if step == first and group.smooth:
            level = simulation.log_ratio()
            spread = np.maximum(simulation.conditional_variance(), 0.0)
        time = step * short if step < first else step * step_years - nearer
        now = _looks(simulation, views, time, level, through)
        for watch, k in stops[step]:
            for seen, look, earlier in zip(rows, now, before, strict=True):
                watch.observe(seen[watch], k, look, earlier)
        before = now
        if step == first < last:
            simulation.begin_stretch(step_years)
    return Watched(rows, level, spread) if group.smooth else Watched(rows)


def _looks(simulation, views, time, level, with_variance):
    """Return the Look of every view, with log spots less `level`."""
    log_ratio = simulation.log_ratio() - level
    variance = simulation.variance() if with_variance else None
    ratio = np.exp(log_ratio)
    looks = []
    for view in views:
        forward = view.forward(time)
        looks.append(Look(time, log_ratio + math.log(forward), forward * ratio, variance))
    return looks
