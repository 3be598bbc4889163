"""The changes that a time scheme asks of its levels, and how much of them rounding loses.

Every call of an addition changes levels by sums x <- x + d: an increment with implicit diffusion,
and the two displacements of leapfrog's filter. d is computed in binary64 from the numbers that the
call is given. Of a leapfrog the sums of both its chains of levels are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sciprec.climate.stepping.followed import before_filter, before_sum, taken
from sciprec.tools.monitor.lost import Sums, Totals, weight_of

FOLLOWED = 4096
"""Elements that are followed at most, but for the rest of a coefficient: those of each so many
coefficients, from the first one on."""
EARLY_STEPS = 16
"""Steps at the beginning of a run whose changes fp64 confirms."""


class UpdateLosses:
    """Sums over the updates of a state (coefficients, columns), flat.

    Args:
        rows: the coefficients, which one thread updates.
        owners: (columns,), the number of each column's variable, from 0 on.
        whole: the losses of all coefficients, where these are some of them.
    """

    def __init__(self, rows: slice, owners: np.ndarray, parent: UpdateLosses | None = None) -> None:
        self._owners, width, variables = owners, owners.size, 1 + int(owners.max())
        self._stride = 1 + (rows.stop * width - 1) // FOLLOWED if parent is None else parent._stride
        begin, end = (-(-edge // self._stride) for edge in (rows.start, rows.stop))
        self._shape = begin * self._stride - rows.start, self._stride, width
        size, self._variables = (end - begin) * width, variables
        self._before, self._changes, self._new = (np.zeros((2, size)) for _ in range(3))
        self._parts: list[UpdateLosses] = []
        self._step, self._paused = 0, False
        if parent is None:
            groups = variables * np.arange(end)[:, None] + owners
            self._sums, self._early = Sums(size, groups.ravel()), np.zeros(size)
            return
        part = slice(begin * width, end * width)
        self._sums = parent._sums.part(part, slice(begin * variables, end * variables))
        self._early = parent._early[part]

    def part(self, rows: slice) -> UpdateLosses:
        """The losses of neighbouring coefficients, which one thread updates."""
        self._parts.append(UpdateLosses(rows, self._owners, self))
        return self._parts[-1]

    def begin(self, step: int) -> None:
        """The step of that number begins."""
        self._step = step
        if step == EARLY_STEPS + 1:
            np.copyto(self._early, self._sums.d)

    def pause(self, paused: bool) -> None:
        """Let updates pass, or no longer."""
        self._paused = paused

    def before_sum(self, values: np.ndarray, increment: np.ndarray, damping: np.ndarray) -> None:
        """An increment is about to be added, with implicit diffusion."""
        if not self._paused:
            before_sum(values, increment, damping, *self._shape, self._before[0], self._changes[0])

    def before_filter(
        self, previous: np.ndarray, current: np.ndarray, following: np.ndarray, strength: float,
        share: float,
    ) -> None:  # fmt: skip
        """Levels are about to be filtered."""
        if not self._paused:
            states = previous, current, following
            how = float(strength), float(share)
            before_filter(*states, *how, *self._shape, self._before, self._changes)

    def after(self, *states: np.ndarray) -> None:
        """Note that one or two states were changed."""
        if self._paused:
            return
        weight = weight_of(self._step)
        for values, *about in zip(states, self._before, self._changes, self._new, strict=False):
            before, increment, new = about
            taken(values, *self._shape, new)
            self._sums.note(before, new, increment, weight)

    def early(self, steps: int) -> np.ndarray:
        """The changes asked of the elements that are followed in the early steps of a run.

        Args:
            steps: how many it has made.
        """
        return self._early if steps > EARLY_STEPS else self._sums.d

    def totals(
        self, levels: Sequence, variable: int, true: np.ndarray | None = None
    ) -> Totals:
        """The totals of a variable so far.

        Args:
            levels: of the scheme, newest first.
            variable: its number.
            true: whether the change of each element that is followed counts; None: all do.
        """
        self._gather()
        last, owed = (np.zeros(self._sums.r.size) for _ in range(2))
        taken(levels[0].values, *self._shape, last)
        carries = levels[0].residual is not None
        for level in levels if carries else ():
            more = np.zeros(owed.size)
            taken(level.residual, *self._shape, more)
            owed += more
        places = np.tile(self._owners == variable, self._sums.r.size // self._owners.size)
        groups = slice(variable, None, self._variables)
        totals = self._sums.totals(last, owed if carries else None, places, groups)
        if true is None:
            return totals
        judged = self._sums.totals(last, owed if carries else None, places & true, groups)
        return judged._replace(size=totals.size, additions=totals.additions)

    def _gather(self) -> None:
        """Count the updates that threads have made; all of them make the same ones."""
        if self._parts:
            self._sums.count += self._parts[0]._sums.count
            self._sums.weights += self._parts[0]._sums.weights
            for losses in self._parts:
                losses._sums.count = losses._sums.weights = 0

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        self._gather()
        sums = {name: getattr(self._sums, name).copy() for name in ("r", "d", "rows")}
        counts = np.array([self._sums.count, self._sums.weights])
        return sums | {"early": self._early.copy(), "counts": counts}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from such arrays."""
        for name in ("r", "d", "rows"):
            getattr(self._sums, name)[...] = arrays[name]
        self._early[...] = arrays["early"]
        self._sums.count, self._sums.weights = arrays["counts"].tolist()






