"""Sigma levels and the finite differences of Simmons and Burridge between them.

sigma = pressure / surface pressure. Level k, 0 at the top, lies between half levels k and k + 1.
Temperatures are in units of geopotential (times the gas constant), so that no gas constant appears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.foundation.portable import portable
from sciprec.precision.operations.reduce import accumulate
from sciprec.precision.registry import kernel

_MOST_LEVELS = 200


@dataclass(frozen=True)
class SigmaLevels:
    """Sigma levels by the half levels around them.

    Args:
        half: sigma of the half levels, from 0 at the top to 1 at the ground (levels + 1,).

    Source: Simmons and Burridge (1981), eqs 3.13 to 3.21 with pressure = sigma surface pressure.
    Differs from the source: alpha of the top level is 1, the limit of the others, not ln 2: the
        pressure gradient of that level is then T grad ln ps too, and an isothermal atmosphere stays
        at rest over mountains.
    """

    half: tuple[float, ...]

    @property
    def count(self) -> int:
        """Number of levels."""
        return len(self.half) - 1

    @cached_property
    def full(self) -> np.ndarray:
        """sigma halfway between the half levels (levels,)."""
        half = np.array(self.half)
        return 0.5 * (half[:-1] + half[1:])

    @cached_property
    def thickness(self) -> np.ndarray:
        """Differences of the half levels (levels,)."""
        return np.diff(np.array(self.half))

    @cached_property
    def log_ratio(self) -> np.ndarray:
        """ln of the lower over the upper half level (levels,); zero at the top, where unused."""
        half = np.array(self.half)
        return np.concatenate([[0.0], portable(np.log, half[2:] / half[1:-1])])

    @cached_property
    def alpha(self) -> np.ndarray:
        """1 - upper half level / thickness * log_ratio (levels,); 1 at the top."""
        return 1.0 - np.array(self.half[:-1]) / self.thickness * self.log_ratio

    @property
    def column(self) -> tuple[np.ndarray, ...]:
        """Tables of the kernels, binary64: alpha, log_ratio, log_ratio / thickness, thickness,
        1 / (2 thickness), each (levels,); half (levels + 1,).
        """
        return (
            self.alpha,
            self.log_ratio,
            self.log_ratio / self.thickness,
            self.thickness,
            0.5 / self.thickness,
            np.array(self.half),
        )


def even_levels(count: int) -> SigmaLevels:
    """Levels of equal thickness."""
    return SigmaLevels(tuple(k / count for k in range(count + 1)))


def resolve_levels(levels: int | Sequence[float] | SigmaLevels) -> SigmaLevels:
    """Levels by their number (of equal thickness), by their half levels, or as they are.

    Raises:
        InputError: no such levels.
    """
    if isinstance(levels, SigmaLevels):
        return levels
    if isinstance(levels, (int, np.integer)) and not isinstance(levels, bool):
        if not 2 <= levels <= _MOST_LEVELS:
            raise InputError(f"levels is {levels}; accepted: 2 to {_MOST_LEVELS} even sigma levels")
        return even_levels(int(levels))
    try:
        half = tuple(float(s) for s in levels)
    except (TypeError, ValueError):
        raise InputError(
            f"levels is {levels!r}; accepted: a number of even levels, such as 20, or the sigma of "
            "the half levels from 0 to 1"
        ) from None
    ordered = all(a < b for a, b in zip(half, half[1:], strict=False))
    if not 3 <= len(half) <= _MOST_LEVELS + 1 or half[0] != 0 or half[-1] != 1 or not ordered:
        text = half if len(half) < 10 else f"{len(half)} numbers from {half[0]} to {half[-1]}"
        raise InputError(
            f"half levels are {text}; accepted: 3 to {_MOST_LEVELS + 1} ascending numbers, the "
            "first 0 and the last 1"
        )
    return SigmaLevels(half)


def hydrostatic_matrix(levels: SigmaLevels) -> np.ndarray:
    """A: geopotential above the ground = A temperature (levels, levels), binary64.

    Source: Simmons and Burridge (1981), eqs 3.20 and 3.21.
    """
    return np.triu(np.tile(levels.log_ratio, (levels.count, 1)), 1) + np.diag(levels.alpha)


def compression_matrix(levels: SigmaLevels) -> np.ndarray:
    """B: -(pressure velocity / pressure) = B divergence (levels, levels), binary64.

    B[k, j] = log_ratio[k] thickness[j] / thickness[k] for j < k, alpha[k] for j = k

    Source: Simmons and Burridge (1981), eq 3.19.
    """
    per_thickness = levels.log_ratio / levels.thickness
    return np.tril(np.outer(per_thickness, levels.thickness), -1) + np.diag(levels.alpha)


def gravity_wave_matrix(levels: SigmaLevels, reference: float, kappa: float) -> np.ndarray:
    """M of d2 D/dt2 = M laplacian D about an isothermal state of rest; eigenvalues: c**2.

    M = reference (kappa A B + 1 thickness^T)

    Args:
        levels: L of them.
        reference: temperature of the state of rest, in units of geopotential.
        kappa: gas constant over heat capacity.

    Returns:
        (L, L), binary64, in units of geopotential.
    """
    thermal = kappa * np.longdouble(hydrostatic_matrix(levels)) @ compression_matrix(levels)
    return np.float64(reference * (thermal + levels.thickness))


def implicit_inverses(
    levels: SigmaLevels, reference: float, kappa: float, friction: np.ndarray,
    largest_degree: int, time: float,
) -> np.ndarray:  # fmt: skip
    """Transposed inverses of 1 + c friction + c**2 l (l+1) M for every total wavenumber l.

    Args:
        levels, reference, kappa: as in `gravity_wave_matrix`.
        friction: (L,), 1 / time.
        largest_degree: largest l.
        time: c, the implicit time.

    Returns:
        (largest_degree + 1, L, L), binary64: [l, j, k] is what known[j] adds to divergence[k].
    """
    degree = np.arange(largest_degree + 1)
    wave = np.longdouble(time**2 * degree * (degree + 1.0))
    stiffness = wave[:, None, None] * gravity_wave_matrix(levels, reference, kappa)
    inverses = _inverses(stiffness + np.diag(1.0 + time * np.asarray(friction)))
    return np.ascontiguousarray(inverses.transpose(0, 2, 1), np.float64)


def _inverses(matrices: np.ndarray) -> np.ndarray:
    """Inverses of matrices (n, L, L) by Gauss and Jordan with pivots, in the matrices' precision:
    LAPACK's follow the processor.
    """
    count, size = matrices.shape[:2]
    all_of_them, unit = np.arange(count), np.eye(size, dtype=matrices.dtype)
    work = np.concatenate([matrices, np.broadcast_to(unit, matrices.shape)], axis=2)
    for k in range(size):
        pivot = k + np.abs(work[:, k:, k]).argmax(axis=1)
        row = work[all_of_them, pivot]
        work[all_of_them, pivot] = work[:, k]
        work[:, k] = row / row[:, k, None]
        factor = work[:, :, k, None].copy()
        factor[:, k] = 0.0
        work -= factor * work[:, None, k]
    return work[:, :, size:]


def _random(*shape):
    return np.random.default_rng(23).uniform(-1.0, 1.0, shape)


@kernel(example=lambda: (_random(8), 2, *even_levels(3).column[:2], np.zeros(7), 1))
def hydrostatic(values, first, alpha, log_ratio, out, start):
    """Geopotential above the ground of one coefficient: Phi = A T.

    Phi[k] = alpha[k] T[k] + sum over j > k of log_ratio[j] T[j]

    Args:
        values: (columns,): T[k] at first + 2 k and, its imaginary part, one further.
        first: column of T[0].
        alpha, log_ratio: (levels,).
        out: (columns,), 2 levels of them written: real and imaginary parts in turn.
        start: column of Phi[0].

    Precision: one sum per part from the ground upwards, in the accumulate role.
    """
    levels = alpha.shape[0]
    below_re = 0.0
    below_im = 0.0
    for n in range(levels):
        k = levels - 1 - n
        here_re = values[first + 2 * k]
        here_im = values[first + 2 * k + 1]
        re = start + 2 * k
        im = re + 1
        out[re] = accumulate(below_re, alpha[k] * here_re)
        out[im] = accumulate(below_im, alpha[k] * here_im)
        below_re = accumulate(below_re, log_ratio[k] * here_re)
        below_im = accumulate(below_im, log_ratio[k] * here_im)


@kernel(
    example=lambda: (
        _random(8), 2, *(even_levels(3).column[k] for k in (0, 2, 3)), np.zeros(9), 1
    )
)  # fmt: skip
def compression(values, first, alpha, log_per_thickness, thickness, out, start):
    """Compression of one coefficient, B D, and the column's whole divergence.

    B D[k] = alpha[k] D[k] + log_ratio[k] / thickness[k] * sum over j < k of thickness[j] D[j]

    Args:
        values: (columns,): D[k] at first + 2 k and, its imaginary part, one further.
        first: column of D[0].
        alpha, log_per_thickness, thickness: (levels,).
        out: (columns,), 2 levels + 2 of them written: B D and then the sum of thickness[k] D[k].
        start: column of B D[0].

    Precision: one sum per part from the top downwards, in the accumulate role.
    """
    levels = alpha.shape[0]
    above_re = 0.0
    above_im = 0.0
    for k in range(levels):
        here_re = values[first + 2 * k]
        here_im = values[first + 2 * k + 1]
        re = start + 2 * k
        im = re + 1
        out[re] = accumulate(alpha[k] * here_re, log_per_thickness[k] * above_re)
        out[im] = accumulate(alpha[k] * here_im, log_per_thickness[k] * above_im)
        above_re = accumulate(above_re, thickness[k] * here_re)
        above_im = accumulate(above_im, thickness[k] * here_im)
    out[start + 2 * levels] = above_re
    out[start + 2 * levels + 1] = above_im
