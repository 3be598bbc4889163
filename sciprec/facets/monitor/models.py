"""Observation of a user's model: what the model shows its monitor, step by step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from sciprec.foundation.errors import ModelError, meant
from sciprec.precision.formats.backend import Backend
from sciprec.tools.monitor.history import WHOLE, History, place_in
from sciprec.tools.monitor.lost import Updates, alerts_of_sums
from sciprec.tools.monitor.observed import Elements, Observed
from sciprec.tools.monitor.plan import WatchPlan
from sciprec.tools.monitor.summaries import FormatEnds


class ModelObserver:
    """Records the values that a model shows.

    Args:
        plan: what is to be watched.
        backend: the arithmetic of the run.

    Attributes:
        steps: how often the model has shown something.
        updates: what updates of the model's states lose; None where the rule `lost` is off.
    """

    def __init__(self, plan: WatchPlan, backend: Backend) -> None:
        self.plan, self.steps = plan, 0
        limits = FormatEnds.of(backend.storage)
        self.history = History(plan.watch, limits, plan.level, sketches=True)
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._last: list[np.ndarray] = []
        self.updates = Updates(backend) if "lost" in dict(plan.rules) else None
        self._names: dict[Hashable, str] = {}

    def show(self, values: Mapping[str, Any]) -> None:
        """A step of the model has ended with these values.

        Raises:
            ModelError: one that is to be watched is not among them, or is no array of real numbers.
        """
        self.steps += 1
        if self.updates is not None:
            self._names |= {id(value): name for name, value in values.items()}
        watched = self.plan.watches(self.steps)
        if not watched and self.history.steps.size:
            return
        self._last = [self._array(name, values) for name in self.plan.watch]
        if watched:
            self._note()

    def _note(self) -> None:
        self.history.note(self.steps, self._last)
        if self.plan.told is not None:
            self.plan.told(self.observed)

    def _array(self, name: str, values: Mapping[str, Any]) -> np.ndarray:
        if name not in values:
            raise ModelError(
                f"watch names {name!r}, which the model does not show; arithmetic.watch gives: "
                f"{', '.join(values)}{meant(name, values)}"
            )
        array = np.asarray(values[name])
        if array.dtype.kind not in "fiub":
            raise ModelError(
                f"arithmetic.watch was given {name} of type {array.dtype}; give real numbers"
            )
        shape = self._shapes.setdefault(name, array.shape)
        if shape != array.shape:
            raise ModelError(
                f"arithmetic.watch was given {name} of shape {array.shape} after one of shape "
                f"{shape}; give it in the same shape at each step"
            )
        return array.astype(np.float64)

    def observed_at_end(self) -> Observed:
        """The observations of the whole run; of fewer steps than `every` the last one."""
        if self.steps and not self.history.steps.size:
            self._note()
        return self.observed()

    def observed(self) -> Observed:
        """The observations so far."""
        def words(name: str, at: int) -> str:
            shape = self._shapes.get(name)
            return place_in(shape, at) if shape else ""

        rules = dict(self.plan.rules)
        sums = () if self.updates is None else self.updates.lost(self._names)
        alerts = self.history.alerts(rules, words) + alerts_of_sums(sums, rules)
        shapes = self._shapes if self.plan.level >= WHOLE else {}
        elements = {name: _indices(shape) for name, shape in shapes.items() if len(shape) > 1}
        return Observed(self.plan, self.history, alerts, elements=elements, sums=sums)

    def update_begins(self, state: np.ndarray) -> None:
        """An update of a state begins."""
        if self.updates is not None:
            self.updates.before(id(state), state.reshape(-1))

    def update_ends(
        self, state: np.ndarray, variable: str, increment: np.ndarray, owed: np.ndarray | None
    ) -> None:
        """An update has added an increment, flat; what it still owes is a residual."""
        if self.updates is None:
            return
        self.updates.after(id(state), state.reshape(-1), increment, owed)
        if id(state) not in self._names:
            self._names[id(state)] = variable or f"state {len(self._names) + 1}"


def _indices(shape: tuple[int, ...]) -> Elements:
    """The indices of an array's elements, for an array that is kept flat."""
    return {
        f"index_{axis}": (values.ravel(), f"index along axis {axis}")
        for axis, values in enumerate(np.indices(shape))
    }
