"""A third-order implicit-explicit Runge-Kutta scheme: gravity waves implicit, the rest explicit."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np

from sciprec.climate.stepping.levels import Level
from sciprec.climate.stepping.schemes import System, time_scheme

IMPLICIT_SHARE = 0.5
"""gamma: every diagonal entry of the implicit table."""
EXPLICIT = ((F(1, 2),), (F(11, 18), F(1, 18)), (F(5, 6), F(-5, 6), F(1, 2)),
            (F(1, 4), F(7, 4), F(3, 4), F(-7, 4)))  # fmt: skip
"""Row i: weights of the explicit slopes at the start and at stages 1 to i - 1."""
IMPLICIT = ((), (F(1, 6),), (F(-1, 2), F(1, 2)), (F(3, 2), F(-3, 2), F(1, 2)))
"""Row i: weights of the implicit slopes at stages 1 to i - 1; gamma is that of stage i itself."""


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
