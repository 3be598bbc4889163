"""The choice of a rung of the ladder for each block of steps, by what single steps add.

At the end of a block its last step is made in fp64, too, and on the narrower rungs. The difference
d of a rung is what it adds in one step. Two differences d', d of one rung, of blocks one after the
other, have what is systematic in common: |m|^2 = <d', d> and V = |d - d'|^2 / 2 stand for one step,
and m |m| + sqrt(m V) for so many (`monitoring.drift` says why). The sum of the blocks' differences,
signed, each times the steps of its block, less what the random part of a difference has too much in
it, is the estimate E of the error so far; with the steps that are left at a rung's rate it is the
forecast of the error at the end.

- A block after whose n steps E is above limit * n / N is repeated on the next rung from its
  beginning: each block has its share, and what earlier ones have left.
- The next block is on the narrowest rung whose forecast is within the limit; on a narrower one than
  now only within a part of it (`HYSTERESIS`), and not before it has waited 4, 16, 64, ...
  blocks since it was last left.
- The limit is a part of the tolerance (`SHARE`): the growth of errors by the flow is in no d.

Squares are summed exactly and rounded once: decisions depend on no machine's way of adding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.tools.adapt.plan import AdaptivePlan

SHARE = 0.35
"""The share of the tolerance that the estimated error may use up."""
HYSTERESIS = 0.7
"""The share of the limit below which a forecast lets a run step down to fewer bits."""
UNTRIED = 0.05
"""Least share of a squared difference that counts as systematic, on a rung that does not run:
states that the rung has not made itself do not yet lean to its side.
"""
COLUMNS = ("first", "steps", "rung", "kept", "estimate", "forecast")
"""Columns of the history: the number of a block's first step, its steps, its rung, whether it was
kept, the relative errors estimated after it and forecast for the end on its rung.
"""

_MOST = 1e120
"""A larger value is no error of rounding but the end of a run."""


@dataclass(frozen=True)
class StepError:
    """The error that one step of a rung adds: |m| and V of each variable."""

    systematic: np.ndarray
    variance: np.ndarray


class Control:
    """The rung of each block of a run.

    Args:
        plan: what it is to keep.
        steps: N, of the whole run.
        weights: for each judged variable those of the squares of its elements in its norm. Values
            of these variables are given as one flat array, one after another, and the largest of
            their relative errors counts.

    Attributes:
        rung: of the next block.
        history: a row of `COLUMNS` for each block, repeated ones included.
        ended: empty, or a sentence: the widest rung has left the tolerance.
    """

    def __init__(self, plan: AdaptivePlan, steps: int, weights: Sequence[np.ndarray]) -> None:
        self.plan, self.steps = plan, steps
        self.sizes = tuple(each.size for each in weights)
        self._weights = np.concatenate([np.asarray(each, float) for each in weights])
        count = len(plan.ladder)
        self.rung, self.ended = 0, ""
        self.history: list[tuple[float, ...]] = []
        self._last: list[np.ndarray] = [np.zeros(0)] * count
        self._fails, self._until = [0] * count, [0] * count
        nothing = np.zeros(len(self.sizes))
        self._sum, self._excess, self._random = np.zeros(self._weights.size), nothing, nothing
        self._other, self._products, self._apart = np.zeros((3, self._weights.size))

    # ---- differences ---------------------------------------------------------------------------

    def _dot(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the weighted scalar product of each variable."""
        products = np.multiply(self._weights, x, out=self._products)
        np.multiply(products, y, out=products)
        ends = np.cumsum(self.sizes).tolist()
        parts = (products[e - n : e] for e, n in zip(ends, self.sizes, strict=True))
        return np.array([math.fsum(memoryview(each)) for each in parts])

    def _rate(self, rung: int, difference: np.ndarray) -> StepError:
        """Return how fast a rung adds error, from its difference and the one before. A first
        difference counts as systematic.
        """
        before = self._last[rung]
        if not _usable(difference):
            return StepError(*np.full((2, len(self.sizes)), np.inf))
        squares = self._dot(difference, difference)
        if not before.size:
            return StepError(np.sqrt(squares), np.zeros_like(squares))
        apart = np.subtract(difference, before, out=self._apart)
        least = (0.0 if rung == self.rung else UNTRIED) * squares
        common = np.maximum(self._dot(difference, before), least)
        return StepError(np.sqrt(common), 0.5 * self._dot(apart, apart))

    def begin(self, differences: Mapping[int, np.ndarray], state: np.ndarray) -> None:
        """Choose the first rung.

        Args:
            differences: rung -> of the step after the initial state.
            state: the judged variables then.
        """
        size = self._size(state)
        rates = {rung: self._rate(rung, difference) for rung, difference in differences.items()}
        self._remember(differences)
        fitting = [r for r in sorted(rates) if self._forecast(rates[r], 0, size) <= self._limit]
        self.rung = fitting[0] if fitting else len(self.plan.ladder) - 1

    def _remember(self, differences: Mapping[int, np.ndarray]) -> None:
        for rung, difference in differences.items():
            if not _usable(difference):
                self._last[rung] = np.zeros(0)
            elif self._last[rung].size:
                self._last[rung][:] = difference
            else:
                self._last[rung] = difference.copy()

    def _size(self, state: np.ndarray) -> np.ndarray:
        """The norm of each variable."""
        if not _usable(state):
            return np.full(len(self.sizes), np.nan)
        return np.sqrt(self._dot(state, state))

    # ---- errors --------------------------------------------------------------------------------

    @property
    def _limit(self) -> float:
        return SHARE * self.plan.tolerance

    @property
    def _systematic(self) -> np.ndarray:
        """The excess of the signed sum over that of its random part."""
        return np.sqrt(np.maximum(self._dot(self._sum, self._sum) - self._excess, 0.0))

    def _forecast(self, rate: StepError, step: int, size: np.ndarray) -> float:
        """The error at the end if all that is left is made at a rate, over the norm."""
        ahead = self.steps - step
        systematic = self._systematic + ahead * rate.systematic if ahead else self._systematic
        random = self._random + ahead * rate.variance if ahead else self._random
        return _over(np.sqrt(systematic**2 + random), size)

    # ---- decisions -----------------------------------------------------------------------------

    def keep(
        self, before: int, count: int, differences: Mapping[int, np.ndarray], state: np.ndarray
    ) -> bool:
        """Whether a block stays, or is to be repeated on the rung that `rung` says by then.

        Args:
            before: steps before it.
            count: its steps.
            differences: rung -> of its last step, of its own rung and of the narrower ones.
            state: the judged variables after it.
        """
        current, step, size = self.rung, before + count, self._size(state)
        rates = {rung: self._rate(rung, difference) for rung, difference in differences.items()}
        before_block = self._sum, self._excess, self._random
        rate = rates[current]
        if np.isfinite(rate.systematic).all():
            self._sum = np.multiply(count, differences[current], out=self._other)
            np.add(before_block[0], self._sum, out=self._sum)
            self._other = before_block[0]
            self._excess = self._excess + count * count * rate.variance
            self._random = self._random + count * rate.variance
            estimate = _over(np.sqrt(self._systematic**2 + self._random), size)
        else:
            estimate = math.inf
        forecast = self._forecast(rate, step, size)
        widest = current == len(self.plan.ladder) - 1
        good = estimate <= self._limit * step / self.steps or widest
        row = before + 1, count, current, good, estimate, forecast
        self.history.append(tuple(map(float, row)))
        if not good:
            if self._sum is not before_block[0]:
                self._other = self._sum
            self._sum, self._excess, self._random = before_block
            self._leave(current)
            return False
        self._remember(differences)
        if widest and not estimate <= self.plan.tolerance:
            self.ended = self._sentence(step, estimate)
        self._choose(rates, forecast, step, size)
        return True

    def _choose(
        self, rates: Mapping[int, StepError], forecast: float, step: int, size: np.ndarray
    ) -> None:
        """The rung of the next block."""
        if not forecast <= self._limit:
            self._leave(self.rung)
        for rung in sorted(rates):
            if rung >= self.rung or len(self.history) < self._until[rung]:
                continue
            if self._forecast(rates[rung], step, size) <= HYSTERESIS * self._limit:
                self.rung = rung
                return

    def _leave(self, rung: int) -> None:
        """Go to the next rung, and remember for how long this one has failed."""
        if rung < len(self.plan.ladder) - 1:
            self._fails[rung] += 1
            self._until[rung] = len(self.history) + 4 ** self._fails[rung]
            self.rung = rung + 1

    def _sentence(self, step: int, estimate: float) -> str:
        return (
            f"the tolerance of {self.plan.tolerance:g} is less than the ladder keeps: after step "
            f"{step} of {self.steps} the error is estimated at {estimate:.2g} on its widest rung "
            f"'{self.plan.widest}'; give a larger tolerance, a wider rung, or a shorter run"
        )

    # ---- interruptions -------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the state as arrays, for a checkpoint."""
        last = {f"last_{rung}": difference.copy() for rung, difference in enumerate(self._last)}
        return last | {
            "sum": self._sum.copy(), "parts": np.array([self._excess, self._random]),
            "rungs": np.array([self._fails, self._until]), "rung": np.array(self.rung),
            "history": rows_of(self.history),
        }  # fmt: skip

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from such arrays."""
        self._last = [arrays[f"last_{rung}"] for rung in range(len(self.plan.ladder))]
        self._sum, (self._excess, self._random) = arrays["sum"], arrays["parts"]
        self._fails, self._until = arrays["rungs"].tolist()
        self.rung = int(arrays["rung"])
        self.history = [tuple(row) for row in arrays["history"].tolist()]


def rows_of(history: Sequence[tuple[float, ...]]) -> np.ndarray:
    """(n, columns), a history as an array."""
    return np.array(history, float).reshape(-1, len(COLUMNS))


def vain_attempts(history: np.ndarray) -> int:
    """Blocks that were made in vain, and rungs that were stepped down to and left again after their
    first block.

    Args:
        history: (n, columns).
    """
    rung, is_kept = (history[:, COLUMNS.index(name)] for name in ("rung", "kept"))
    repeated = int(np.sum(is_kept == 0.0))
    chosen = rung[is_kept == 1.0]
    short = (chosen[1:-1] < chosen[:-2]) & (chosen[1:-1] < chosen[2:])
    return repeated + int(np.sum(short))


def _usable(values: np.ndarray) -> bool:
    """Whether values can be squared and summed."""
    if not values.size:
        return True
    return bool(-_MOST < values.min() and values.max() < _MOST)  # of NaN it is false


def _over(errors: np.ndarray, sizes: np.ndarray) -> float:
    """The largest relative error; where there is nothing to compare with, all or nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(errors == 0.0, 0.0, errors / sizes)
    return float(np.max(ratios))
