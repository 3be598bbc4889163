"""The history of the watched variables, step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sciprec.foundation.arguments import integer
from sciprec.tools.monitor.alerts import Alert, alerts_of
from sciprec.tools.monitor.sketches import SIZE, sketch, sketch_by_band
from sciprec.tools.monitor.summaries import (
    BINS,
    COLUMNS,
    Allocator,
    FormatEnds,
    exponents,
    largest_errors,
    relative_error,
    row_of,
)

OFF, SUMMARIES, PLACES, WHOLE = range(4)
LEVELS = (OFF, SUMMARIES, PLACES, WHOLE)
"""Levels of a monitor: nothing; summaries of each watched step; these with exponents of each step
and places of the largest errors; these with whole arrays.
"""
WORST = 3
"""Places of the largest errors that are kept of each watched step."""


class History:
    """The summaries, and perhaps the values, of some variables in each watched step.

    Args:
        names: of the variables.
        limits: of their format.
        level: 1 to 3.
        sketches: whether sketches of the variables are kept, by which two runs that are not made
            side by side have their distance.
        bands: variable by variable the part that each element belongs to, from 0; from level 2 on
            parts have sketches of their own. None: there are none.

    Attributes:
        exponents: (variables, BINS), of all watched steps together.
    """

    def __init__(
        self, names: Sequence[str], limits: FormatEnds, level: int = SUMMARIES,
        sketches: bool = False, bands: Sequence[np.ndarray] | None = None,
    ) -> None:  # fmt: skip
        self.names, self.limits, self.level = tuple(names), limits, level
        self.sketches, self.bands = sketches, bands
        self._count = 0 if bands is None else 1 + max(int(b.max()) for b in bands)
        self.exponents = np.zeros((len(self.names), BINS), np.int64)
        self._columns: dict[str, list[np.ndarray]] = {}

    def note(
        self, step: int, values: Sequence[np.ndarray], truths: Sequence[np.ndarray] | None = None,
        room: Allocator = np.empty,
    ) -> None:
        """Take down what the variables hold in a step.

        Args:
            step: its number, above all before.
            values: one array for each variable.
            truths: the same in binary64, where that runs beside it.
            room: makes the arrays that are needed on the way, not those that are kept.
        """
        counts = np.array([exponents(v) for v in values]).reshape(len(self.names), BINS)
        self.exponents += counts
        self._keep("steps", step)
        self._keep("rows", [row_of(v, self.limits, room) for v in values])
        if self.sketches:
            self._keep("sketches", [sketch(v) for v in values])
        if self.bands is not None and self.level >= PLACES:
            pairs = zip(values, self.bands, strict=True)
            self._keep("bands", [sketch_by_band(v.ravel(), b, self._count) for v, b in pairs])
        if truths is not None:
            pairs = list(zip(values, truths, strict=True))
            self._keep("errors", [relative_error(*pair) for pair in pairs])
            if self.level >= PLACES:
                self._keep("worst", [largest_errors(*pair, WORST) for pair in pairs])
        if self.level >= PLACES:
            self._keep("histograms", counts)
        if self.level >= WHOLE:
            for number, value in enumerate(values):
                self._columns.setdefault(f"whole_{number}", []).append(
                    np.array(value, np.float64).ravel()
                )

    def _keep(self, name: str, value: Any) -> None:
        self._columns.setdefault(name, []).append(np.asarray(value))

    # ---- what was seen -------------------------------------------------------------------------

    @property
    def steps(self) -> np.ndarray:
        """(n,), numbers of the watched steps."""
        return np.array(self._columns.get("steps", []), np.int64)

    @property
    def rows(self) -> np.ndarray:
        """(n, variables, columns), see `summaries.COLUMNS`."""
        shape = -1, len(self.names), len(COLUMNS)
        return np.array(self._columns.get("rows", []), float).reshape(shape)

    def column(self, name: str) -> np.ndarray:
        """(n, variables), one of the columns."""
        return self.rows[:, :, COLUMNS.index(name)]

    @property
    def errors(self) -> np.ndarray | None:
        """(n, variables), relative l2 errors; None where no truth ran beside it."""
        return np.array(self._columns["errors"]) if "errors" in self._columns else None

    @property
    def worst(self) -> np.ndarray | None:
        """(n, variables, WORST, 2), places and sizes of the largest errors; or None."""
        return np.array(self._columns["worst"]) if "worst" in self._columns else None

    @property
    def sketched(self) -> np.ndarray | None:
        """(n, variables, SIZE), sketches; or None."""
        if "sketches" not in self._columns:
            return None
        return np.array(self._columns["sketches"]).reshape(-1, len(self.names), SIZE)

    @property
    def banded(self) -> np.ndarray | None:
        """(n, variables, parts, BAND_SIZE), sketches of the parts; or None."""
        return np.array(self._columns["bands"]) if "bands" in self._columns else None

    @property
    def histograms(self) -> np.ndarray | None:
        """(n, variables, BINS), counts of values by exponent, for each step; or None."""
        return np.array(self._columns["histograms"]) if "histograms" in self._columns else None

    def values_of(self, name: str) -> list[np.ndarray]:
        """The values of a variable in each watched step; empty below level 3."""
        return self._columns.get(f"whole_{self.names.index(name)}", [])

    def alerts(
        self, rules: Mapping[str, float], place: Callable[[str, int], str]
    ) -> tuple[Alert, ...]:
        """Apply the rules; the alerts, by step.

        Args:
            rules: from `alerts.checked_rules`.
            place: (variable, place in it) -> words.
        """
        steps, rows, alerts = self.steps, self.rows, []
        for number, name in enumerate(self.names):

            def words(at: int, name: str = name) -> str:
                return place(name, at)

            course = rows[:, number]
            filled = course[:, 0] > 0
            errors = None if self.errors is None else self.errors[filled, number]
            alerts += alerts_of(name, steps[filled], course[filled], rules, words, errors)
        return tuple(sorted(alerts, key=lambda alert: alert.step))

    # ---- interruptions -------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """All of it as arrays, for a checkpoint."""
        rows_by_name = {name: np.array(rows) for name, rows in self._columns.items()}
        return rows_by_name | {"exponents": self.exponents.copy()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go on from such arrays."""
        rows_by_name = {name: list(rows) for name, rows in arrays.items() if name != "exponents"}
        self.exponents, self._columns = np.array(arrays["exponents"], np.int64), rows_by_name


def place_in(shape: tuple[int, ...] | None, at: int) -> str:
    """A place in an array, or among the values of a step, in words."""
    if shape is None or at >= np.prod(shape):
        return f"value {at + 1} of the step"
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(at, shape))}]"


def checked_level(level: Any) -> int:
    """Check the level of a monitor.

    Raises:
        InputError: it is none.
    """
    return integer(
        "level", level, LEVELS[0], LEVELS[-1], "0 (off), 1 (summaries), 2 (also exponents of each "
        "step and places of the largest errors) or 3 (also whole arrays)",
    )  # fmt: skip
