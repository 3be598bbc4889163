"""Runge-Kutta schemes: explicit ones, each a row whose tableau is all that a new one needs, and one
of third order with implicit gravity waves and the rest explicit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from fractions import Fraction as F

import numpy as np

from sciprec.climate.stepping.levels import Level
from sciprec.climate.stepping.schemes import (
    TIME_SCHEMES,
    WORK_ARRAYS,
    System,
    TimeScheme,
    time_scheme,
)
from sciprec.foundation.errors import InputError

_MOST_STAGES = WORK_ARRAYS - 2
IMPLICIT_SHARE = 0.5
"""gamma: every diagonal entry of the implicit table."""
EXPLICIT = ((F(1, 2),), (F(11, 18), F(1, 18)), (F(5, 6), F(-5, 6), F(1, 2)),
            (F(1, 4), F(7, 4), F(3, 4), F(-7, 4)))  # fmt: skip
"""Row i: weights of the explicit slopes at the start and at stages 1 to i - 1."""
IMPLICIT = ((), (F(1, 6),), (F(-1, 2), F(1, 2)), (F(3, 2), F(-3, 2), F(1, 2)))
"""Row i: weights of the implicit slopes at stages 1 to i - 1; gamma is that of stage i itself."""


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
    label, stages = f"the time scheme {name!r}", len(weights)
    if not 1 <= stages <= _MOST_STAGES or len(rows) != stages - 1:
        raise InputError(
            f"{label} has {stages} weights and {len(rows)} rows; accepted: 1 to {_MOST_STAGES} "
            "weights, and a row for each stage but the first"
        )
    for i, row in enumerate(rows, start=1):
        if len(row) != i:
            raise InputError(
                f"{label}: row {i} has {len(row)} numbers; accepted: {i}, one for each stage before"
            )
    total = math.fsum(float(b) for b in weights)
    if not abs(total - 1.0) < 1e-12:
        raise InputError(
            f"{label}: the weights sum to {total:.12g}; accepted: 1"
        )


runge_kutta(
    "ssprk3", order=3, source="Shu and Osher (1988), eq 2.18",
    rows=((1,), (0.25, 0.25)), weights=(Fraction(1, 6), Fraction(1, 6), Fraction(2, 3)),
)  # fmt: skip


def _weights() -> tuple[np.ndarray, ...]:
    """Return for each stage the weights of T_0, T_1, L z_1, T_2, L z_2, ...: see `imex_ars443`."""
    rows = []
    for explicit, implicit in zip(EXPLICIT, IMPLICIT, strict=True):
        row = [explicit[0]]
        for a, b in zip(explicit[1:], implicit, strict=True):
            row += [a, b - a]
        rows.append(np.array([float(x) for x in row]))
    return tuple(rows)


@time_scheme(
    "imex_ars443", order=3, tendencies=4, implicit_share=IMPLICIT_SHARE, tables=_weights(),
    source="Ascher, Ruuth and Spiteri (1997), section 2.8",
)  # fmt: skip
def imex_ars443(system: System, levels: list[Level]) -> None:
    """Four implicit and four explicit stages of order three; diffusion implicit after them.

    With stages u_i = u_0 + z_i, T the whole tendency and L its linear part:
    (1 - gamma dt L) z_i = dt (sum of a_ij T(u_j) + sum of (b_ij - a_ij) L z_j)
    The last stage is the step.

    Args:
        system: what to integrate.
        levels: the only one, changed in place.

    Source: Ascher, Ruuth and Spiteri (1997), section 2.8, scheme (4, 4, 3): a the explicit
        table, b the implicit one.
    Differs from the source: solved for the differences to the start, from which L u_0 drops out
        since the rows of both tables have one sum; no large L u is computed and subtracted again.
    """
    (level,) = levels
    slopes, change, explicit, stage = system.work[:7], *system.work[7:10]
    add, combine = system.kernels["stage_state"], system.kernels["weighted_sum"]
    system.tendency(level.values, slopes[0])
    for i, weights in enumerate(system.tables):
        combine(slopes, weights, weights.size, system.step, explicit)
        system.solve(explicit, change)
        if i + 1 < len(system.tables):
            add(level.values, change, 1.0, stage)
            system.tendency(stage, slopes[2 * i + 1])
            system.linear(change, slopes[2 * i + 2])
    system.addition.add(level, change)
