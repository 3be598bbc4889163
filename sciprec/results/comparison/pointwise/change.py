"""The change of a variable in time: how far truth and run have moved from where they began."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.results.comparison.pointwise.blocks import BLOCK, cut_up

TIMES = ("time", "update")
"""Names of axes along which a variable changes."""
BEYOND_NOISE, BACK, STILL = 10.0, 10.0, 0.5
"""A change counts from ten times truth's own error on, at the end where truth has not been more
than ten times as far away before; a run with less than half of truth's change
stands still, if it has not been further away before, as a chaotic one has."""
_LOOKS = 16
"""Times between the first and the last one at which changes are measured, at most."""


@dataclass(frozen=True)
class Change:
    """The change of a variable from the first stored time to the last, as root mean squares that
    are weighted as those of errors are.

    Args:
        truth, run: how far each has moved from its own first values.
        error: of run - truth at the last time.
        most: the largest change of the truth at up to 16 times between, and at the end.
        noise: truth's own error, u |x| sqrt(n), of values x with unit roundoff u after n steps.
        most_of_run: the largest change of the run at these times; 0 in files of earlier versions.
    """

    truth: float
    run: float
    error: float
    most: float
    noise: float
    most_of_run: float = 0.0

    @property
    def counts(self) -> bool:
        """Whether truth has changed, beyond its own error, and has not come back to its start."""
        moved = math.isfinite(self.truth) and self.truth > BEYOND_NOISE * self.noise
        return moved and self.most <= BACK * self.truth

    @property
    def share(self) -> float:
        """The error over truth's change; NaN where that does not count."""
        return self.error / self.truth if self.counts else math.nan

    @property
    def is_still(self) -> bool:
        """Whether truth changes and the run does not: by less than half as much, at no time."""
        return self.counts and max(self.run, self.most_of_run) < STILL * self.truth


def change_of(
    both: tuple[Any, Any], weights: np.ndarray, dims: Sequence[str],
    start: tuple[np.ndarray, np.ndarray] | None, noise: float,
) -> Change | None:  # fmt: skip
    """The change of a variable along its axis of time, or of a result that a kernel was given and
    changed; None where there is neither, or one time only.

    Args:
        both: truth and run.
        weights, dims, start: as in `VariablePair`.
        noise: of truth's values, relative to them: u sqrt(n).
    """
    ends = _along_time(both, weights, dims)
    if ends is None and start is not None:
        ends = start, both, (), weights
    if ends is None:
        return None
    first, last, between, weights = ends
    norms = [_Norm() for _ in range(4)]
    looks = [[_Norm() for _ in between] for _ in range(2)]
    for cut in cut_up(np.shape(first[0]), BLOCK):
        begun, begun_run, truth, run = (_block(x, cut) for x in (*first, *last))
        weight = _block(np.broadcast_to(weights, np.shape(first[0])), cut)
        with np.errstate(over="ignore", invalid="ignore"):
            values = truth - begun, run - begun_run, run - truth, truth
            usable = np.logical_and.reduce([np.isfinite(v) for v in values])
            for norm, value in zip(norms, values, strict=True):
                norm.add(value[usable], weight[usable])
            for side, start_of, along in zip((0, 1), (begun, begun_run), looks, strict=True):
                for norm, at in zip(along, between, strict=True):
                    moved = _block(at(side), cut) - start_of
                    is_finite = np.isfinite(moved)
                    norm.add(moved[is_finite], weight[is_finite])
    moved, of_run, error, size = (norm.root for norm in norms)
    most, most_of_run = (
        max((end, *(norm.root for norm in along)))
        for end, along in zip((moved, of_run), looks, strict=True)
    )
    return Change(moved, of_run, error, most, noise * size, most_of_run)


def _along_time(
    both: tuple[Any, Any], weights: np.ndarray, dims: Sequence[str]
) -> tuple[Any, Any, tuple[Callable[[int], Any], ...], Any] | None:
    """First and last values of truth and run, theirs (0, 1) at some times between, and weights."""
    axis = next((dims.index(name) for name in TIMES if name in dims), None)
    if axis is None or (count := np.shape(both[0])[axis]) < 2:
        return None
    along = (slice(None),) * axis

    def at(values: Any, place: int) -> Any:
        return values[(*along, place)]

    between = np.unique(np.linspace(0, count - 1, _LOOKS + 2).astype(int))[1:-1].tolist()
    if weights.ndim:
        weights = at(weights, -1)
    looks = tuple(lambda side, place=place: at(both[side], place) for place in between)
    return [at(x, 0) for x in both], [at(x, count - 1) for x in both], looks, weights


def _block(values: Any, cut: tuple[slice, ...]) -> np.ndarray:
    return np.ascontiguousarray(values[cut] if cut else values, np.float64).reshape(-1)


class _Norm:
    """A weighted root mean square, gathered block by block without over- or underflow."""

    def __init__(self) -> None:
        self._exponent, self._squares, self._weight = -1100, 0.0, 0.0

    def add(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Take up finite values."""
        self._weight += float(np.sum(weights))
        largest = float(np.max(np.abs(values), initial=0.0))
        if largest == 0.0:
            return
        exponent = max(self._exponent, math.frexp(largest)[1])
        self._squares = math.ldexp(self._squares, 2 * (self._exponent - exponent))
        self._exponent = exponent
        self._squares += float(np.sum(weights * np.ldexp(values, -exponent) ** 2))

    @property
    def root(self) -> float:
        """The root mean square; NaN of nothing."""
        if not self._weight:
            return math.nan
        return math.ldexp(math.sqrt(self._squares / self._weight), self._exponent)
