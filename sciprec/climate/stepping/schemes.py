"""Time schemes: one decorated function each, its order declared there and measured in the tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sciprec.climate.stepping.levels import LEVEL_KERNELS, Addition, Level
from sciprec.foundation.registry import NamedRows
from sciprec.precision.registry import kernel


@dataclass(frozen=True)
class TimeScheme:
    """A registered time scheme.

    Args:
        name: as in scenarios.
        order: of convergence in the step.
        tendencies: how many a step evaluates.
        levels: how many it keeps from one step to the next.
        implicit_share: its implicit time in steps; 0: it is explicit.
        source: author, year.
        advance: function (system, levels) that moves the list of levels by one step, newest first.
            Besides calls of the system it makes each element of the others at its place alone:
            threads run it on parts of the levels.
        tables: its coefficients, arrays in binary64, for kernels that take them.
    """

    name: str
    order: int
    tendencies: int
    levels: int
    implicit_share: float
    source: str
    advance: Callable
    tables: tuple[np.ndarray, ...] = ()


TIME_SCHEMES: NamedRows[TimeScheme] = NamedRows("time scheme")
WORK_ARRAYS = 10
"""Arrays shaped as the state that a scheme may use."""


_Advance = Callable[["System", list[Level]], None]


def time_scheme(
    name: str, *, order: int, tendencies: int, source: str, levels: int = 1,
    implicit_share: float = 0.0, tables: tuple[np.ndarray, ...] = (),
) -> Callable[[_Advance], _Advance]:  # fmt: skip
    """Register the decorated function as a time scheme; it is returned unchanged."""

    def register(advance: _Advance) -> _Advance:
        how = tendencies, levels, implicit_share, source, advance, tables
        TIME_SCHEMES[name] = TimeScheme(name, order, *how)
        return advance

    return register


@dataclass(frozen=True)
class System:
    """The view of a model that a time scheme has: compiled kernels and flat arrays.

    Args:
        step: the time step in the model's unit, a power of two where units are scaled.
        step_seconds: the time step, s.
        filter: nu at steps of 1200 s, and alpha, of leapfrog's filter.
        addition: how an increment is added to a level.
        tendency: function (state, out): the whole right-hand side T.
        linear: function (state, out): L state, its stiff linear part.
        solve: function (known, out): (1 - c L)^-1 known for the scheme's implicit time c.
        kernels: the kernels of this module in the model's arithmetic, by name.
        work: (WORK_ARRAYS, size).
        tables: those of the scheme, rounded once.
    """

    step: float
    step_seconds: float
    filter: tuple[float, float]
    addition: Addition
    tendency: Callable
    linear: Callable
    solve: Callable
    kernels: dict[str, Callable]
    work: np.ndarray
    tables: tuple[np.ndarray, ...]


def _random(count, seed=3):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, count)


@kernel(example=lambda: (_random(6), _random(6, 4), 0.25, np.zeros(6)))
def stage_state(state, slope, weight, stage):
    """stage = state + weight * slope.

    Args:
        state, slope, stage: (size,); stage is written.
        weight: time from the state to the stage.
    """
    for i in range(state.shape[0]):
        stage[i] = state[i] + weight * slope[i]


@kernel(example=lambda: (*(_random(6, k) for k in range(4)), 0.25, np.zeros(6)))
def runge_kutta_increment(first, second, third, fourth, step, increment):
    """increment = dt ((k1 + k4) + 2 (k2 + k3)) / 6.

    Args:
        first, second, third, fourth: slopes (size,).
        step: dt, a power of two.
        increment: (size,), written.

    Precision: slopes are added first and divided by 3, since no binary format holds 1/6.
    """
    for i in range(increment.shape[0]):
        total = (first[i] + fourth[i]) + 2.0 * (second[i] + third[i])
        increment[i] = ((0.5 * step) * total) / 3.0


@kernel(example=lambda: (_random(6), _random(6, 4), np.zeros(6)))
def difference(previous, current, out):
    """out = previous - current.

    Args:
        previous, current, out: (size,); out is written.
    """
    for i in range(out.shape[0]):
        out[i] = previous[i] - current[i]


@kernel(example=lambda: (_random(6), _random(6, 4), 0.25, np.zeros(6)))
def leapfrog_known(tendency, correction, step, known):
    """known = 2 dt (tendency + correction).

    Args:
        tendency, correction: (size,).
        step: dt.
        known: (size,), written.
    """
    for i in range(known.shape[0]):
        known[i] = 2.0 * (step * (tendency[i] + correction[i]))


@kernel(example=lambda: (np.random.default_rng(7).uniform(-1, 1, (5, 6)), _random(5), 3, 0.25,
                         np.zeros(6)))  # fmt: skip
def weighted_sum(slopes, weights, count, step, out):
    """out = dt (sum of weights times slopes), in their order.

    Args:
        slopes: (at least count, size).
        weights: (at least count,).
        count: how many are added, at least one.
        step: dt.
        out: (size,), written.
    """
    for i in range(out.shape[0]):
        out[i] = weights[0] * slopes[0, i]
    for k in range(1, count):
        for i in range(out.shape[0]):
            out[i] = out[i] + weights[k] * slopes[k, i]
    for i in range(out.shape[0]):
        out[i] = step * out[i]


STEP_KERNELS = {
    k.__name__: k
    for k in (stage_state, runge_kutta_increment, difference, leapfrog_known, weighted_sum)
} | LEVEL_KERNELS
FILTER = {"filter_nu": 0.1, "filter_alpha": 0.53}
"""Parameters of leapfrog's filter and their usual values (Williams 2011); nu of a 1200 s step."""
_FILTER_STEP_SECONDS = 1200.0


@time_scheme(
    "rk4", order=4, tendencies=4, source="Hairer, Norsett and Wanner (1993), Table II.1.2"
)
def rk4(system: System, levels: list[Level]) -> None:
    """The classical Runge-Kutta scheme; diffusion implicit after it.

    Args:
        system: what to integrate.
        levels: the only one, changed in place.

    Source: Hairer, Norsett and Wanner (1993), Table II.1.2.
    """
    (level,) = levels
    state = level.values
    first, second, third, fourth, stage, increment = system.work[:6]
    to_stage = system.kernels["stage_state"]
    system.tendency(state, first)
    to_stage(state, first, 0.5 * system.step, stage)
    system.tendency(stage, second)
    to_stage(state, second, 0.5 * system.step, stage)
    system.tendency(stage, third)
    to_stage(state, third, system.step, stage)
    system.tendency(stage, fourth)
    slopes = first, second, third, fourth
    system.kernels["runge_kutta_increment"](*slopes, system.step, increment)
    system.addition.add(level, increment)


@time_scheme(
    "semi_implicit_leapfrog", order=2, tendencies=1, levels=2, implicit_share=1.0,
    source="Robert (1969); Hoskins and Simmons (1975); Williams (2009)",
)  # fmt: skip
def semi_implicit_leapfrog(system: System, levels: list[Level]) -> None:
    """Leapfrog with gravity waves semi-implicit and the Robert-Asselin-Williams filter.

    x = 2 dt (T + L (previous - current)) + dt L x is the increment from the previous level.
    The first step is one of Runge and Kutta.

    Args:
        system: what to integrate.
        levels: [state], or [state, state one step before]; the newest comes first afterwards.

    Source: Robert (1969), Hoskins and Simmons (1975), Williams (2009).
    Differs from the source: solved for the increment, so that small differences are computed
        first; the filter's nu is proportional to the step, since a constant nu makes the scheme
        first order.
    """
    if len(levels) == 1:
        levels.append(levels[0].copy())
        rk4(system, levels[:1])
        return
    current, previous = levels
    tendency, change, correction, explicit, increment = system.work[:5]
    system.tendency(current.values, tendency)
    system.kernels["difference"](previous.values, current.values, change)
    system.linear(change, correction)
    system.kernels["leapfrog_known"](tendency, correction, system.step, explicit)
    system.solve(explicit, increment)
    following = previous.copy_into(*system.work[5:7])
    system.addition.add(following, increment, steps=2)
    nu, share = system.filter
    strength = min(0.5 * nu / _FILTER_STEP_SECONDS * system.step_seconds, 0.5)
    system.addition.filter(previous, current, following, strength, share)
    previous.take(following)
    levels.reverse()
