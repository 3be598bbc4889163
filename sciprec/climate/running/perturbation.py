"""Ensemble members: initial states that differ in the last places of one field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sciprec.foundation.arguments import integer
from sciprec.foundation.limits import PERTURBATION
from sciprec.precision.streams import seed_words, symmetric_uniform

FIELDS = ("temperature", "height", "vorticity")
"""Names of what is perturbed: the first one that an initial state has."""
_STREAM = 0x656E73  # the last word of the counter: no other use of the same seed has it
_MOST_MEMBERS = 2**32


@dataclass(frozen=True)
class Perturbation:
    """A small random change of the initial state; in arithmetics with random bits, other bits too.

    Args:
        member: number of the ensemble member; 0 is the undisturbed one.
        amplitude: the largest relative change of a value; left out, one unit in the last place of
            binary64. What is smaller than the rounding of the run's own format is lost when the
            initial state is rounded; random bits of a stochastic rounding differ all the same.
        seed: integer in [0, 2**64).

    Raises:
        InputError: a number outside its range.
    """

    member: int
    amplitude: float = 2.0**-52
    seed: int = 0

    def __post_init__(self) -> None:
        last = _MOST_MEMBERS - 1
        integer("member", self.member, 0, last, f"a whole number from 0 to {last}")
        PERTURBATION.number("the amplitude of a perturbation", self.amplitude)
        seed_words(self.seed)

    def of(self, initial: Any) -> Any:
        """The initial state of the member.

        x <- x (1 + amplitude xi), xi uniform in (-1, 1) and addressed by (seed, member, point)

        Args:
            initial: a dataclass of arrays in SI units, as the cases make it.

        Returns:
            The same with one field changed; member 0 has the very same values.
        """
        if self.member == 0:
            return initial
        name = next(name for name in FIELDS if hasattr(initial, name))
        values = np.asarray(getattr(initial, name), np.float64)
        factor = 1.0 + self.amplitude * self.uniform(values.size).reshape(values.shape)
        return replace(initial, **{name: values * factor})

    def uniform(self, points: int) -> np.ndarray:
        """Numbers (points,) in (-1, 1), odd multiples of 2^-32 less one.

        Args:
            points: at most 2**32.
        """
        return symmetric_uniform(points, self.seed, self.member, 0, _STREAM)
