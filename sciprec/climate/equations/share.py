"""The share of a model that one of several threads does: some orders, longitudes and fields.

Every element of a result is made by one thread, by the operations that one thread alone would
make it by: its bits do not depend on how many there are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sciprec.climate.transform.grid import Truncation

FIRST, LAST, FIRST_ORDER, LAST_ORDER, WEST, EAST, PART, PARTS, KERNELS = range(9)
"""Places in the array of a share: coefficients, orders and longitudes from the first to before the
last; which of how many parts; whether it runs the kernels of the equations."""


@dataclass(frozen=True)
class Share:
    """A part of a truncation.

    Args:
        truncation: the truncation.
        part, parts: which of how many.
        kernels: whether it runs the kernels of the equations; one part does, where these do not
            look at their share.
    """

    truncation: Truncation
    part: int = 0
    parts: int = 1
    kernels: bool = True

    @property
    def orders(self) -> tuple[int, int]:
        """The first order, and that after the last: as many coefficients in every part, nearly."""
        begins = self._begins
        ends = begins[-1] * np.arange(self.parts + 1) / self.parts
        cuts = np.abs(begins[:, None] - ends).argmin(axis=0)
        return int(cuts[self.part]), int(cuts[self.part + 1])

    @property
    def rows(self) -> slice:
        """The coefficients of these orders."""
        first, last = self.orders
        return slice(int(self._begins[first]), int(self._begins[last]))

    @property
    def array(self) -> np.ndarray:
        """The share as kernels see it, int64."""
        nlon = self.truncation.nlon
        west, east = (nlon * part // self.parts for part in (self.part, self.part + 1))
        places = self.rows.start, self.rows.stop, *self.orders, west, east
        return np.array([*places, self.part, self.parts, int(self.kernels)], np.int64)

    @property
    def _begins(self) -> np.ndarray:
        """Return the places where the coefficients of each order begin, and their number."""
        number = self.truncation.number
        return np.concatenate([[0], np.cumsum(np.arange(number + 2, 1, -1))])


def first_field(fields, share, part):
    """The first of the fields of a part: two that lie side by side stay together."""
    pairs = (fields + 1) // 2
    return min(fields, 2 * (pairs * part // share[PARTS]))
