"""Compensation: a state update x <- x + dx that stores the loss of its rounding and adds it later.

Everything is computed in the arithmetic of the backend, the residual is kept in its storage format,
and one array of the state's shape is all that is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sciprec.foundation.arguments import Range, refused, shown
from sciprec.foundation.errors import InputError
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.registry import kernel

LARGEST_COEFFICIENT = 2.0
"""Above it a residual is answered by one that is larger, with the opposite sign."""
_COEFFICIENT = Range(
    f"a number from 0 to {LARGEST_COEFFICIENT:g}; alpha = 1 and beta = 0 carry the whole residual",
    least=0, most=LARGEST_COEFFICIENT,
)  # fmt: skip


@dataclass(frozen=True)
class Compensation:
    """The way in which the residual of a state update enters the next one.

    x' = fl(x + (dx + (alpha r + beta c))),    r' = r + dx - (x' - x)

    r: the residual, all that roundings have lost and the state still lacks (eps_prev).
    c: what the rounding of this very update, x + dx, would lose (eps_cur).

    Args:
        alpha: share of the kept residual that this update adds, from 0 to 2.
        beta: share of this update's own loss that is added beforehand, from 0 to 2.
        reset_every: forget the residual after so many updates; None: never.
        sums: compensate the long sums inside a model's tendency too, where it has such.

    Raises:
        InputError: a number out of range.

    Source: Kahan (1965), Further remarks on reducing truncation errors, and Moller (1965),
        Quasi double-precision in floating point addition: alpha = 1, beta = 0, the default.
        Error feedback (Seide et al. 2014, 1-bit stochastic gradient descent; Karimireddy et al.
        2019) is the same formula, with a quantiser in the place of the rounding. The published
        description of the MLU370 has (0.1, 0.9) and (0.15, 0.85).
    Differs from the source: the description adds alpha eps_prev + beta eps_cur in its formula and
        subtracts it in its code. With the residual defined as exact minus rounded the sign is
        plus; minus makes the error larger than no compensation. The residual kept is what is still
        missing after the whole update, so that nothing is lost whatever the coefficients are:
        the state lags by (m - beta E[c]) / alpha on average, where an update loses m on average.
        That is m where E[c] is m too and the coefficients add up to one, as the description's do;
        with increments below the last place E[c] is smaller than m, and the lag a multiple of m.
    """

    alpha: float = 1.0
    beta: float = 0.0
    reset_every: int | None = None
    sums: bool = False

    def __post_init__(self) -> None:
        for name in ("alpha", "beta"):
            value = _COEFFICIENT.number(f"compensation: {name}", getattr(self, name))
            object.__setattr__(self, name, value)
        every = self.reset_every
        is_integer = isinstance(every, (int, np.integer)) and not isinstance(every, bool)
        if every is not None and not (is_integer and every >= 1):
            words = "a whole number of updates >= 1, or nothing, to keep the residual for ever"
            raise refused("compensation: reset_every", every, words)
        if not isinstance(self.sums, bool):
            raise refused("compensation: sums", self.sums, "True or False")

    @property
    def is_carry(self) -> bool:
        """Whether the whole residual is carried and nothing else."""
        return self.alpha == 1.0 and self.beta == 0.0


COMPENSATIONS: dict[str, Compensation | None] = {
    "none": None,
    "carry": Compensation(),
    "carry-sums": Compensation(sums=True),
    "published-10-90": Compensation(0.1, 0.9),
    "published-15-85": Compensation(0.15, 0.85),
}
"""Compensations by name. The published pairs are those of the MLU370's description."""

OFF = Compensation(0.0, 0.0, 1)
"""The bits of an uncompensated update, for single variables of a compensated state."""


def resolve_compensation(spec) -> Compensation | dict[str, Compensation] | None:
    """A compensation from its name, from coefficients, or per variable.

    Args:
        spec: None, a name of `COMPENSATIONS`, a Compensation, or a mapping from names of variables
            to any of these.

    Returns:
        None, a Compensation, or a dictionary of them without the uncompensated variables.

    Raises:
        InputError: an unknown name, or something else.
    """
    if spec is None or isinstance(spec, Compensation):
        return spec
    if isinstance(spec, Mapping):
        compensations: dict[str, Compensation] = {}
        for name, value in spec.items():
            compensation = resolve_compensation(value)
            if isinstance(compensation, dict):
                raise InputError(
                    f"compensation of '{name}' is a mapping; accepted: a name or a Compensation"
                )
            if compensation is not None:
                compensations[str(name)] = compensation
        return compensations
    if isinstance(spec, str) and spec in COMPENSATIONS:
        return COMPENSATIONS[spec]
    raise InputError(
        f"unknown compensation {shown(spec)}; known: {', '.join(COMPENSATIONS)}, a "
        "sciprec.arrays.sums.Compensation(alpha=..., beta=..., reset_every=...), or a mapping from "
        "variables to these"
    )


@kernel(example=lambda: (1.0, 2.0**-12 + 2.0**-30, 1.0))
def lost_in_sum(a, b, total):
    """Return the loss of rounding a + b to `total`: a + b - total.

    Args:
        a, b: numbers.
        total: their rounded sum.

    Returns:
        smaller - (total - larger), larger and smaller by absolute value.

    Precision: exact for sums rounded to nearest (barring overflow). For every faithful rounding
        total - larger is exact, by Sterbenz's lemma: either a + b is representable, or total lies
        between half of larger and twice larger. Only the last subtraction rounds. Where truncation
        is the rounding and a and b have one sign the result is exact too; where the signs differ
        its relative error is below 2^(1-p), so that it misses less than 2^(2-2p) |total|.
        Where subnormals are flushed a loss below the smallest normal number becomes zero.
    Source: Dekker (1971), Fast2Sum; Boldo, Graillat and Muller (2017), 10.1145/3054947, for other
        roundings than to nearest.
    """
    larger = a if abs(a) >= abs(b) else b
    smaller = b if abs(a) >= abs(b) else a
    return smaller - (total - larger)


def _update_example(size: int = 9):
    rng = np.random.default_rng(5)
    state, residual = rng.uniform(-1, 1, size), 2.0**-26 * rng.uniform(-1, 1, size)
    return state, residual, 2.0 ** -rng.integers(0, 24, size) * rng.uniform(-1, 1, size)


@kernel(example=lambda: (*_update_example(1)[:2], 0, 0.001))
def add_with_carry(state, residual, i, step):
    """Update one element with alpha = 1 and beta = 0: the residual goes in, what is lost remains.

    Args:
        state, residual: (size,), changed in place at i.
        i: the element.
        step: what to add.

    Precision: the state is read back, so that the residual holds what storing it lost, too.
    Differs from the source: Kahan's sum forgets what step + residual loses; here it is kept.
    """
    x = state[i]
    kept = residual[i]
    whole = step + kept
    state[i] = x + whole
    residual[i] = lost_in_sum(x, whole, state[i]) + lost_in_sum(step, kept, whole)


@kernel(example=lambda: (*_update_example(1)[:2], 0, 0.001, 0.1, 0.9))
def add_with_shares(state, residual, i, step, alpha, beta):
    """Update one element with any coefficients.

    Args:
        state, residual: (size,), changed in place at i.
        i: the element.
        step: what to add.
        alpha, beta: as in `Compensation`.

    Precision: as `add_with_carry`, whose bits it gives for alpha = 1 and beta = 0, signs of zero
        and random roundings aside.
    """
    x = state[i]
    kept = residual[i]
    carry = alpha * kept + beta * lost_in_sum(x, step, x + step)
    whole = step + carry
    state[i] = x + whole
    left = (kept - carry) + lost_in_sum(step, carry, whole)
    residual[i] = lost_in_sum(x, whole, state[i]) + left


@kernel(example=lambda: _update_example())
def carried_update(state, residual, increment):
    """state <- state + increment, the whole residual carried (alpha = 1, beta = 0).

    Args:
        state, residual: (size,), changed in place.
        increment: (size,).
    """
    for i in range(state.shape[0]):
        add_with_carry(state, residual, i, increment[i])


@kernel(example=lambda: (*_update_example(), 0.15, 0.85))
def compensated_update(state, residual, increment, alpha, beta):
    """state <- state + increment, compensated with any coefficients.

    Args:
        state, residual: (size,), changed in place.
        increment: (size,).
        alpha, beta: as in `Compensation`.
    """
    for i in range(state.shape[0]):
        add_with_shares(state, residual, i, increment[i], alpha, beta)


@kernel(example=lambda: _update_example()[::2])
def plain_update(state, increment):
    """state <- state + increment, uncompensated.

    Args:
        state: (size,), changed in place.
        increment: (size,).
    """
    for i in range(state.shape[0]):
        state[i] = state[i] + increment[i]


class CarriedUpdate:
    """State updates x <- x + dx of one array in a backend, with or without compensation.

    Args:
        backend: name of the arithmetic, its spec string, or a Backend.
        compensation: None, a name, or a Compensation.
        trust_inputs: whether states and increments are in the storage format for certain.
        seed: chooses the random bits of stochastic rounding and noise.

    Attributes:
        lifted: the kernel that makes an update.
        residual: (size,) in the carrier dtype, what the state still lacks; None without
            compensation, and before the first update.
        updates: how many were made.
    """

    def __init__(
        self, backend: str | Backend, compensation: str | Compensation | None = "carry", *,
        trust_inputs: bool = True, seed: int = 0,
    ) -> None:  # fmt: skip
        self.backend = resolve_backend(backend)
        resolved = resolve_compensation(compensation)
        if isinstance(resolved, dict):
            raise InputError(
                "CarriedUpdate is given a compensation per variable; make one CarriedUpdate for "
                "each variable"
            )
        self.compensation = resolved
        self.residual: np.ndarray | None = None
        self.updates = 0
        self.lifted = lift(self._kernel(), self.backend, seed=seed, trust_inputs=trust_inputs)

    def _kernel(self):
        if self.compensation is None:
            return plain_update
        return carried_update if self.compensation.is_carry else compensated_update

    def __call__(self, state: np.ndarray, increment: np.ndarray) -> None:
        """Add an increment to the state in place.

        Args:
            state, increment: (size,), contiguous; where they are trusted, in the carrier dtype and
                the storage format (made by `quantize`).
        """
        self.updates += 1
        if self.compensation is None:
            self.lifted(state, increment)
            return
        if self.residual is None:
            self.residual = np.zeros(state.shape, state.dtype)
        if self.compensation.is_carry:
            self.lifted(state, self.residual, increment)
        else:
            shares = self.compensation.alpha, self.compensation.beta
            self.lifted(state, self.residual, increment, *shares)
        if due(self.compensation, self.updates):
            self.residual[:] = 0.0


def due(compensation: Compensation, updates: int) -> bool:
    """Whether the residual is forgotten after a number of updates."""
    every = compensation.reset_every
    return every is not None and updates % every == 0


def steady_lag(
    compensation: Compensation, mean_loss: float, own_loss: float | None = None
) -> float:
    """Return the mean lag of the state: (m - beta E[c]) / alpha.

    In the steady state the residual's mean no longer changes: what an update adds of it on average,
    alpha E[r] + beta E[c], is what it loses.

    Args:
        compensation: with alpha > 0.
        mean_loss: m, what an update loses on average: half a unit in the last place where the
            rounding truncates and increments are many units.
        own_loss: E[c], what the rounding of the state and the bare increment would lose on average;
            left out, m. For increments below the last place it is the truncated increments' mean.

    Returns:
        The mean residual, infinite where alpha is 0 and beta E[c] is not m.
    """
    excess = mean_loss - compensation.beta * (mean_loss if own_loss is None else own_loss)
    if compensation.alpha > 0.0:
        return excess / compensation.alpha
    return 0.0 if excess == 0.0 else math.copysign(math.inf, excess)


_SMALL_LOSS, _MEAN_SMALL = {True: 0.5, False: 0.62}, 1.0 / 6.0
"""The mean loss of truncated updates by increments below a third of a unit, with a carry and with
other coefficients (docs/reference/compensation.md), and the mean increment, in units in the last
place.
"""


def share_forgotten(compensation: Compensation) -> float:
    """Return the share of the loss without compensation that is lost with it, at its resets: the
    lag that each forgets, at most all that was lost since the last one.
    """
    if compensation.reset_every is None:
        return 0.0
    loss = _SMALL_LOSS[compensation.is_carry]
    lag = steady_lag(compensation, loss, _MEAN_SMALL)
    return min(1.0, lag / (compensation.reset_every * _MEAN_SMALL))


def reset_sentence(compensation: Compensation | None) -> str:
    """Return a sentence on the cost of resets; "" where there are none."""
    if compensation is None or compensation.reset_every is None:
        return ""
    share, every = share_forgotten(compensation), compensation.reset_every
    alpha, beta = f"alpha = {compensation.alpha:g}", f"beta = {compensation.beta:g}"
    effect = (
        "the compensation does nothing" if share == 1.0 else
        f"about {100.0 * share:.2g} % of what is lost without compensation stay lost"
    )  # fmt: skip
    advice = "" if share < 0.1 else "; reset less often, or never"
    updates = f"{every} update{'s' * (every > 1)}"
    return (
        f"a reset after every {updates} forgets what the state still lacks: with {alpha}, {beta} "
        f"and increments below a third of a unit in the last place, truncated, {effect}{advice}"
    )
