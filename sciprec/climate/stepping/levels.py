"""States of a model from one step to the next, and how increments are added to them.

A level is the state and, where it is compensated, its residual: what the roundings of its updates
have lost. The residual belongs to the level: leapfrog makes the new level from the previous one,
so that its residual goes with it, and the filter moves two levels, each with its own residual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from sciprec.arrays.quantization import quantize
from sciprec.arrays.sums.compensation import (
    OFF,
    Compensation,
    add_with_carry,
    add_with_shares,
    due,
)
from sciprec.climate.stepping.losses import UpdateLosses
from sciprec.precision import Backend
from sciprec.precision.registry import kernel


def _random(count, seed=3):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, count)


@kernel(example=lambda: (_random(6), 0.01 * _random(6, 4), 0.01 * _random(6, 5) ** 2, np.zeros(6)))
def apply_increment(state, increment, damping, updated):
    """updated = state + (increment - damping (state + increment)).

    Implicit diffusion: the factor 1 / (1 + d) of a backward Euler step is 1 - damping.

    Args:
        state, increment, damping: (size,).
        updated: (size,), written; may be the state itself.

    Precision: one small increment is added to the state, so that 1 - damping is never rounded.
    """
    for i in range(state.shape[0]):
        lost = damping[i] * (state[i] + increment[i])
        updated[i] = state[i] + (increment[i] - lost)


def _small_residual():
    return 2.0**-26 * _random(6, 8)


@kernel(
    example=lambda: (
        _random(6), _small_residual(), 0.01 * _random(6, 4), 0.01 * _random(6, 5) ** 2
    )
)  # fmt: skip
def carry_increment(state, residual, increment, damping):
    """`apply_increment` with the whole residual carried.

    Args:
        state, residual: (size,), changed in place.
        increment, damping: (size,).

    Precision: as `apply_increment`, the step's loss kept. Diffusion is that of the state without
        its residual: less than damping times a unit in the last place.
    """
    for i in range(state.shape[0]):
        lost = damping[i] * (state[i] + increment[i])
        add_with_carry(state, residual, i, increment[i] - lost)


@kernel(
    example=lambda: (
        _random(6), _small_residual(), 0.01 * _random(6, 4), 0.01 * _random(6, 5) ** 2,
        np.linspace(0.0, 1.0, 6), np.linspace(1.0, 0.0, 6)
    )
)  # fmt: skip
def share_increment(state, residual, increment, damping, alpha, beta):
    """`carry_increment` with coefficients of each element's own.

    Args:
        state, residual: (size,), changed in place.
        increment, damping, alpha, beta: (size,).
    """
    for i in range(state.shape[0]):
        lost = damping[i] * (state[i] + increment[i])
        add_with_shares(state, residual, i, increment[i] - lost, alpha[i], beta[i])


@kernel(example=lambda: (_random(6), _random(6, 1), _random(6, 2), 0.05, 0.53))
def filter_levels(previous, current, following, strength, share):
    """Robert-Asselin-Williams filter of three levels of a leapfrog.

    d = strength ((previous - current) + (following - current))
    current += share d, following -= (1 - share) d

    Args:
        previous: (size,), already filtered.
        current, following: (size,), changed in place.
        strength: half of the filter's nu.
        share: alpha, 1 for Robert and Asselin's filter.

    Source: Williams (2009), eqs 7 to 9.
    """
    for i in range(current.shape[0]):
        curvature = (previous[i] - current[i]) + (following[i] - current[i])
        displaced = strength * curvature
        current[i] = current[i] + share * displaced
        following[i] = following[i] - (1.0 - share) * displaced


@kernel(
    example=lambda: (
        _random(6), _random(6, 1), _small_residual(), _random(6, 2), _small_residual(), 0.05, 0.53,
        np.linspace(0.0, 1.0, 6), np.linspace(1.0, 0.0, 6)
    )
)  # fmt: skip
def filter_carried_levels(
    previous, current, current_residual, following, following_residual, strength, share, alpha, beta
):
    """`filter_levels`, both updates compensated.

    Args:
        previous: (size,), already filtered.
        current, current_residual, following, following_residual: (size,), changed in place.
        strength, share: as there.
        alpha, beta: (size,), coefficients of the compensation.
    """
    for i in range(current.shape[0]):
        curvature = (previous[i] - current[i]) + (following[i] - current[i])
        displaced = strength * curvature
        back = (1.0 - share) * displaced
        add_with_shares(current, current_residual, i, share * displaced, alpha[i], beta[i])
        add_with_shares(following, following_residual, i, -back, alpha[i], beta[i])


LEVEL_KERNELS = {
    k.__name__: k
    for k in (
        apply_increment, carry_increment, share_increment, filter_levels, filter_carried_levels
    )
}  # fmt: skip


@dataclass
class Level:
    """A state (size,) and its residual (size,), None where nothing is compensated."""

    values: np.ndarray
    residual: np.ndarray | None = None

    def copy(self) -> Level:
        """Return a level of its own with the same values."""
        return Level(self.values.copy(), None if self.residual is None else self.residual.copy())

    def in_dtype(self, dtype: DTypeLike) -> Level:
        """Return a copy in arrays of another type."""
        residual = None if self.residual is None else self.residual.astype(dtype)
        return Level(self.values.astype(dtype), residual)

    def copy_into(self, values: np.ndarray, residual: np.ndarray) -> Level:
        """Copy the level into arrays that are there, and return it."""
        copy = Level(values, None if self.residual is None else residual)
        copy.take(self)
        return copy

    def take(self, other: Level) -> None:
        """Become equal to another level, in place."""
        self.values[:] = other.values
        if self.residual is not None:
            self.residual[:] = other.residual


@dataclass(frozen=True)
class Addition:
    """The addition of increments to levels: plain, or with a compensation per variable.

    Args:
        kernels: those of `LEVEL_KERNELS`, in the model's arithmetic.
        damping: (2, size): the part that diffusion takes from a state in one and in two steps.
        shares: (2, size): alpha and beta of each element, or None: uncompensated.
        is_carry: whether every alpha is 1 and every beta 0.
        resets: (compensation, elements) of variables whose residuals are forgotten now and then.
        losses: takes down what levels were to change by, and do not; or None.
    """

    kernels: dict[str, Callable]
    damping: np.ndarray
    shares: np.ndarray | None = None
    is_carry: bool = False
    resets: tuple[tuple[Compensation, np.ndarray], ...] = ()
    losses: UpdateLosses | None = None

    def level(self, values: np.ndarray) -> Level:
        """A level of these values, nothing lost yet."""
        return Level(values, None if self.shares is None else np.zeros_like(values))

    def begin(self, step: int) -> None:
        """The step of that number begins."""
        if self.losses is not None:
            self.losses.begin(step)

    def add(self, level: Level, increment: np.ndarray, steps: int = 1) -> None:
        """level <- level + increment over one or two steps, with implicit diffusion."""
        values, damping = level.values, self.damping[steps - 1]
        if self.losses is not None:
            self.losses.before_sum(values, increment, damping)
        if self.shares is None:
            self.kernels["apply_increment"](values, increment, damping, values)
        elif self.is_carry:
            self.kernels["carry_increment"](values, level.residual, increment, damping)
        else:
            pair = level.values, level.residual
            self.kernels["share_increment"](*pair, increment, damping, *self.shares)
        if self.losses is not None:
            self.losses.after(values)

    def filter(self, previous: Level, current: Level, following: Level, *how: float) -> None:
        """Filter the levels of a leapfrog; `how` is (strength, share) of `filter_levels`."""
        values = previous.values, current.values, following.values
        if self.losses is not None:
            self.losses.before_filter(*values, *how)
        if self.shares is None:
            self.kernels["filter_levels"](*values, *how)
        else:
            moved = current.values, current.residual, following.values, following.residual
            self.kernels["filter_carried_levels"](previous.values, *moved, *how, *self.shares)
        if self.losses is not None:
            self.losses.after(*values[1:])

    def forget(self, levels: list[Level], steps: int) -> None:
        """Set to zero the residuals that are due to be forgotten after a number of steps."""
        for compensation, elements in self.resets:
            if due(compensation, steps):
                for level in levels:
                    level.residual[elements] = 0.0


def addition(
    kernels: dict[str, Callable],
    damping: np.ndarray,
    compensation: dict[str, Compensation],
    columns: np.ndarray,
    backend: Backend,
) -> Addition:
    """The addition for a compensation per variable; an empty one compensates nothing.

    Args:
        kernels, damping: as in `Addition`.
        compensation: variable -> Compensation.
        columns: name of the variable of each column of the state.
        backend: the model's arithmetic, in which the coefficients are rounded.
    """
    if not compensation:
        return Addition(kernels, damping)
    rows = damping.shape[1] // len(columns)
    each = [compensation.get(name, OFF) for name in columns]
    shares = np.array([[c.alpha for c in each] * rows, [c.beta for c in each] * rows])
    owners = np.tile(columns, rows)
    resets = tuple(
        (compensation.get(name, OFF), owners == name)
        for name in dict.fromkeys(columns)
        if compensation.get(name, OFF).reset_every is not None
    )
    return Addition(
        kernels=kernels,
        damping=damping,
        shares=np.ascontiguousarray(quantize(shares, backend).astype(backend.carrier)),
        is_carry=all(c.is_carry for c in each),
        resets=resets,
    )
