"""The drift of a run from that in fp64: an estimate from single steps, now and then.

Every K-th step is made in fp64, too, from the run's own state. Their difference d is what rounding
adds in one step. Where it were the same in all of N = n K steps, the sum of the n differences times
K would be what it adds in all of them; where it were another one each time, that sum would be too
large by sqrt(K). The differences among themselves tell how much of them is either: with their mean
m and variance V = sum |d - m|^2 / (n - 1),

    E^2 = N^2 max(|m|^2 - V / n, 0) + N V,

whose first term has the expectation of the systematic part, and whose second that of the rest.
What rounding the initial state has changed is known, and comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sciprec.tools.monitor.summaries import Allocator


@dataclass(frozen=True)
class StatePart:
    """The part of a flat state that is one variable.

    Args:
        places: of its elements.
        weights: of their squares in the norm, as many.
    """

    places: np.ndarray
    weights: np.ndarray

    def squared(self, values: np.ndarray, room: Allocator = np.empty) -> float:
        """The squared norm of the variable in a flat state."""
        part, weighted = (room(self.places.shape) for _ in range(2))
        np.take(values, self.places, out=part, mode="clip")
        with np.errstate(over="ignore", invalid="ignore"):
            np.multiply(self.weights, part, out=weighted)
            np.multiply(weighted, part, out=weighted)
            return float(np.sum(weighted))


class Drift:
    """Differences of single steps, and the estimate that they give.

    Args:
        parts: by name of a variable.
        every: K.

    Attributes:
        count: n, how many differences there are.
        initial: what rounding has changed in the initial state, flat; or empty.
    """

    def __init__(self, parts: Mapping[str, StatePart], every: int) -> None:
        self.parts, self.every = dict(parts), every
        self.count, self._total, self.initial = 0, np.zeros(0), np.zeros(0)
        self._squares = np.zeros(len(self.parts))
        self._steps: list[int] = []
        self._estimates: list[np.ndarray] = []

    def note(
        self, step: int, difference: np.ndarray, state: np.ndarray, room: Allocator = np.empty
    ) -> None:
        """Take down the difference that a step has made.

        Args:
            step: its number.
            difference: flat, that of the run less that of fp64.
            state: flat, after it.
            room: makes the arrays that are needed on the way.
        """
        self.count += 1
        if self.count == 1:
            self._total = difference.copy()
        else:
            np.add(self._total, difference, out=self._total)
        self._squares += [part.squared(difference, room) for part in self.parts.values()]
        self._steps.append(step)
        self._estimates.append(np.array([self._estimate(n, state, room) for n in self.parts]))

    def _estimate(self, name: str, state: np.ndarray, room: Allocator) -> float:
        """E of a variable over its norm; infinite where that is zero."""
        part, n = self.parts[name], self.count
        mean = part.squared(self._total, room) / n**2
        squares = float(self._squares[list(self.parts).index(name)])
        size = part.squared(state, room)
        if size == 0.0:
            return np.inf if squares > 0.0 else 0.0
        begun = part.squared(self.initial, room) if self.initial.size else 0.0
        return float(np.sqrt((begun + estimated(mean, squares, n, n * self.every)) / size))

    @property
    def steps(self) -> np.ndarray:
        """(n,), numbers of the steps that were made twice."""
        return np.array(self._steps, np.int64)

    @property
    def estimates(self) -> np.ndarray:
        """(variables, n), E after each of these steps, over the variable's norm then."""
        return np.array(self._estimates).reshape(-1, len(self.parts)).T

    @property
    def summed(self) -> np.ndarray:
        """The signed sum of the differences times K, with the initial one, a flat state; empty
        before the first.
        """
        moved = self.every * self._total
        return moved + self.initial if moved.size and self.initial.size else moved

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        return {
            "steps": self.steps, "estimates": self.estimates, "total": self._total.copy(),
            "squares": self._squares,
        }  # fmt: skip

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from such arrays."""
        self._steps, self._estimates = arrays["steps"].tolist(), list(arrays["estimates"].T)
        self.count, self._total = len(self._steps), np.array(arrays["total"], float)
        self._squares = np.array(arrays["squares"], float)


def estimated(mean: float, squares: float, count: int, steps: int) -> float:
    """E^2 of the module's formula.

    Args:
        mean: |m|^2.
        squares: sum of |d|^2.
        count: n; of one difference all is taken for systematic.
        steps: N.
    """
    if count < 2:
        return steps**2 * mean
    variance = max(squares - count * mean, 0.0) / (count - 1)
    return steps**2 * max(mean - variance / count, 0.0) + steps * variance
