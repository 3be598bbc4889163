"""Observations of a path: the few numbers per path that a payment is made of.

Payoffs with equal observations share one: twenty strikes cost one observation and twenty payments.
An observation is a frozen class with `dates` (years, rising, the last one the maturity),
`every_step` (whether it is shown every step of the path, not the dates alone), and

    start(n_paths)             -> rows, binary64, shape (rows, n_paths)
    observe(rows, k, now, before)  k-th date (or step) of the path; changes rows in place

where now and before are Snapshots of the block at this date and at the one shown before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


class Observation:
    """The protocol of observations, also of a payoff of one's own; see the module's docstring."""

    every_step = False

    @property
    def dates(self) -> tuple[float, ...]:
        """Years, rising; the last one is the maturity."""
        raise NotImplementedError

    def start(self, n_paths: int) -> np.ndarray:
        """Return the rows before the first date, binary64, shape (rows, n_paths)."""
        raise NotImplementedError

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Change the rows in place at the k-th date, or at step k of all."""
        raise NotImplementedError


@dataclass(frozen=True)
class Terminal(Observation):
    """The spot at maturity: rows (S_T,)."""

    maturity: float

    @property
    def dates(self) -> tuple[float, ...]:
        """The maturity alone, in years."""
        return (self.maturity,)

    def start(self, n_paths: int) -> np.ndarray:
        """Return the empty row."""
        return np.empty((1, n_paths))

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Keep the spot."""
        rows[0] = now.spot


@dataclass(frozen=True)
class _AtFixings(Observation):
    """An observation at k maturity / fixings, k = 1 to fixings; today's spot is none of them."""

    maturity: float
    fixings: int

    @property
    def dates(self) -> tuple[float, ...]:
        """The fixing dates in years; the last one is the maturity, exactly."""
        return tuple(self.maturity * (k / self.fixings) for k in range(1, self.fixings + 1))


@dataclass(frozen=True)
class ArithmeticAverage(_AtFixings):
    """The mean of the spots at the fixings: rows (mean,)."""

    def start(self, n_paths: int) -> np.ndarray:
        """Return a row of zeros."""
        return np.zeros((1, n_paths))

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Add the spot; after the last one divide."""
        rows[0] += now.spot
        if k == self.fixings - 1:
            rows[0] /= self.fixings


@dataclass(frozen=True)
class GeometricAverage(_AtFixings):
    """The geometric mean of the spots at the fixings: rows (mean,)."""

    def start(self, n_paths: int) -> np.ndarray:
        """Return a row of zeros."""
        return np.zeros((1, n_paths))

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Add the log spot; after the last one divide and exponentiate."""
        rows[0] += now.log_spot
        if k == self.fixings - 1:
            rows[0] /= self.fixings
            np.exp(rows[0], out=rows[0])


@dataclass(frozen=True)
class Extremes(_AtFixings):
    """Terminal spot, lowest and highest spot at the fixings: rows (S_T, min, max)."""

    def start(self, n_paths: int) -> np.ndarray:
        """Return rows that any spot replaces."""
        rows = np.empty((3, n_paths))
        rows[1], rows[2] = np.inf, -np.inf
        return rows

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Keep the spot if it is an extreme one."""
        rows[0] = now.spot
        np.minimum(rows[1], now.spot, out=rows[1])
        np.maximum(rows[2], now.spot, out=rows[2])


@dataclass(frozen=True)
class StartAndEnd(Observation):
    """The spots at two dates: rows (S_start, S_T)."""

    start_years: float
    maturity: float

    @property
    def dates(self) -> tuple[float, ...]:
        """Start and maturity in years."""
        return (self.start_years, self.maturity)

    def start(self, n_paths: int) -> np.ndarray:
        """Return empty rows."""
        return np.empty((2, n_paths))

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Keep the spot."""
        rows[k] = now.spot


@dataclass(frozen=True)
class Survival(Observation):
    """Terminal spot and the chance of never having met a barrier: rows (S_T, probability).

    Between neighbouring points of the path the log spot is taken for a Brownian bridge with the
    variance w = (v + v') / 2 dt, which stays on one side of b = log(barrier) with probability
    1 - exp(-2 (x - b) (x' - b) / w) where both ends are on that side, 0 elsewhere.

    Args:
        maturity: years.
        barrier: in units of currency.
        side: 1 where the path has to stay above the barrier, -1 below.

    Source: Andersen and Brotherton-Ratcliffe (1996), "Exact exotics"; Glasserman (2004), sec. 6.4.
    """

    maturity: float
    barrier: float
    side: int
    every_step = True

    @property
    def dates(self) -> tuple[float, ...]:
        """The maturity alone, in years; in between every step is shown."""
        return (self.maturity,)

    def start(self, n_paths: int) -> np.ndarray:
        """Return survival probabilities at the start: all ones."""
        return np.ones((2, n_paths))

    def observe(self, rows: np.ndarray, k: int, now: Any, before: Any) -> None:
        """Multiply by the probability of surviving the step."""
        level = np.log(self.barrier)
        distance = np.maximum(self.side * (before.log_spot - level), 0.0)
        distance *= np.maximum(self.side * (now.log_spot - level), 0.0)
        spread = now.variance + before.variance
        np.maximum(spread, 0.0, out=spread)  # Euler's variances may be negative
        spread *= 0.25 * (now.time - before.time)  # w / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            exponent = np.where(distance > 0, -distance / spread, 0.0)
        rows[1] *= -np.expm1(exponent)
        rows[0] = now.spot
