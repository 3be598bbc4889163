"""Explicit Runge-Kutta schemes, each a row: its tableau is all that a new one needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from sciprec.climate.stepping.levels import Level
from sciprec.climate.stepping.schemes import TIME_SCHEMES, WORK_ARRAYS, System, TimeScheme
from sciprec.foundation.errors import InputError

_MOST_STAGES = WORK_ARRAYS - 2


def runge_kutta(
    name: str, *, order: int, rows: Sequence[Sequence[float | Fraction]],
    weights: Sequence[float | Fraction], source: str,
) -> TimeScheme:  # fmt: skip
    """Register an explicit Runge-Kutta scheme.

    k_i = T(u_0 + dt (sum of a_ij k_j over j < i)),  u_1 = u_0 + dt (sum of b_i k_i)

    Args:
        name: as in scenarios.
        order: of convergence in the step.
        rows: a_ij of the second stage, of the third, ...: 1, 2, ... numbers.
        weights: b_i, one more than there are rows.
        source: author, year.

    Raises:
        InputError: rows and weights are no explicit tableau, of too many stages, or not consistent.

    Precision: weights are rounded once, sums are taken in the order of the slopes, and then
        multiplied by dt.
    """
    _require_tableau(name, rows, weights)
    tables = tuple(np.array([float(a) for a in row]) for row in (*rows, weights))
    TIME_SCHEMES[name] = TimeScheme(name, order, len(weights), 1, 0.0, source, by_tableau, tables)
    return TIME_SCHEMES[name]


def by_tableau(system: System, levels: list[Level]) -> None:
    """A step of the scheme whose rows and weights are the system's tables; diffusion after it.

    Args:
        system: what to integrate.
        levels: the only one, changed in place.
    """
    (level,) = levels
    *rows, weights = system.tables
    slopes, (change, stage) = system.work[: weights.size], system.work[-2:]
    add, combine = system.kernels["stage_state"], system.kernels["weighted_sum"]
    system.tendency(level.values, slopes[0])
    for i, row in enumerate(rows, start=1):
        combine(slopes, row, row.size, system.step, change)
        add(level.values, change, 1.0, stage)
        system.tendency(stage, slopes[i])
    combine(slopes, weights, weights.size, system.step, change)
    system.addition.add(level, change)


def _require_tableau(name: str, rows: Sequence[Sequence], weights: Sequence) -> None:
    """Make sure that numbers are a consistent explicit tableau."""
    what, stages = f"the time scheme {name!r}", len(weights)
    if not 1 <= stages <= _MOST_STAGES or len(rows) != stages - 1:
        raise InputError(
            f"{what} has {stages} weights and {len(rows)} rows; accepted: 1 to {_MOST_STAGES} "
            "weights, and a row for each stage but the first"
        )
    for i, row in enumerate(rows, start=1):
        if len(row) != i:
            raise InputError(
                f"{what}: row {i} has {len(row)} numbers; accepted: {i}, one for each stage before"
            )
    total = math.fsum(float(b) for b in weights)
    if not abs(total - 1.0) < 1e-12:
        raise InputError(
            f"{what}: the weights sum to {total:.12g}; accepted: 1"
        )


runge_kutta(
    "ssprk3", order=3, source="Shu and Osher (1988), eq 2.18",
    rows=((1,), (0.25, 0.25)), weights=(Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)),
)  # fmt: skip
