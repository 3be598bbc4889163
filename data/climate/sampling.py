"""How far a climate may lie from another one of the same model: finite samples of changing weather.

A climate, the time mean of a finite run, differs from run to run. The distance of a run in some
arithmetic from the mean of an ensemble in binary64 means something only beside the distances of the
ensemble's own members, each from the mean of the others, over as many days.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import t as student

CONFIDENCE = 0.99
"""Probability with which a further member of the ensemble keeps within each of its limits."""
MEASURES = ("mean", "rms", "largest")


def block_means(stored: np.ndarray, first: int, block: int) -> np.ndarray:
    """Means over blocks of stored times.

    Args:
        stored: (nt, ...).
        first: number of the first time that counts; what comes before is spin-up.
        block: times in a block.

    Returns:
        (blocks, ...); times at the end that fill no block are left out.
    """
    count = max(0, (stored.shape[0] - first) // block)
    kept = stored[first : first + count * block]
    return kept.reshape(count, block, *stored.shape[1:]).mean(axis=1)


def departure(mean: np.ndarray, reference: np.ndarray, shares: np.ndarray) -> dict[str, float]:
    """How far one time mean lies from another.

    mean = sum of shares (x - r); rms = sqrt(sum of shares (x - r)**2); largest = max abs(x - r)

    Args:
        mean, reference: zonal means (levels, nlat).
        shares: of the air (levels, nlat), adding up to 1: thickness of the level times weight of
            the latitude.

    Returns:
        The numbers by the names in `MEASURES`, in the fields' unit.
    """
    apart = mean - reference
    return {
        "mean": float(np.sum(shares * apart)),
        "rms": float(np.sqrt(np.sum(shares * apart**2))),
        "largest": float(np.abs(apart).max()),
    }


def own_departures(members: Sequence[np.ndarray], shares: np.ndarray) -> list[dict[str, float]]:
    """The `departure` of each member of an ensemble from the mean of the others.

    Args:
        members: two or more time means (levels, nlat).
        shares: as in `departure`.
    """
    total = np.sum(members, axis=0)
    others = len(members) - 1
    return [departure(one, (total - one) / others, shares) for one in members]


def limits(own: Sequence[dict[str, float]]) -> dict[str, float]:
    """Distances from the ensemble's mean that a further member keeps within.

    Prediction intervals for one more draw of a normal distribution, Student's t with N - 1 degrees
    of freedom, each at 99 per cent. For mean, two-sided about zero:
    t(0.995) s sqrt(1 + 1/N), s the standard deviation of the members' means. For rms and largest,
    one-sided: average + t(0.99) s sqrt(1 + 1/N) of the own departures.

    Args:
        own: from `own_departures`, N of them.

    Returns:
        The numbers by the names in `MEASURES`.

    Precision: a member's departure from the N - 1 others has N / (N - 1) times the
        variance of one draw, a further run's departure from all N has 1 + 1/N times it; the limits
        of rms and largest are not corrected for that, two per cent for N = 5.
    """
    count = len(own)
    wider = np.sqrt(1.0 + 1.0 / count)
    values = {name: np.array([one[name] for one in own]) for name in MEASURES}
    spread = {name: float(np.std(x, ddof=1)) * wider for name, x in values.items()}
    both, one = student.ppf([0.5 * (1.0 + CONFIDENCE), CONFIDENCE], count - 1)
    out = {name: float(values[name].mean() + one * spread[name]) for name in ("rms", "largest")}
    return {"mean": float(both * spread["mean"]) * (count - 1) / count, **out}


def is_within(found: dict[str, float], allowed: dict[str, float]) -> bool:
    """Whether a departure keeps within all limits."""
    return all(abs(found[name]) <= allowed[name] for name in MEASURES)
