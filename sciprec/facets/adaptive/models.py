"""Steps of a user's model whose arithmetic follows a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sciprec.foundation.arguments import shown
from sciprec.foundation.errors import InputError, ModelError
from sciprec.tools.adapt.blocks import Adapted, block, block_size
from sciprec.tools.adapt.control import Control
from sciprec.tools.adapt.plan import AdaptivePlan, require_variable

ModelState = dict[str, np.ndarray]
ModelStep = Callable[..., None]


class Advancing:
    """A model's steps on the rungs of a ladder.

    Args:
        plan: what the run is to keep.
        lifts: what lifts kernels, by rung.
        exact: what lifts them in fp64.

    Attributes:
        steps: made so far.
    """

    def __init__(
        self, plan: AdaptivePlan, lifts: Sequence[Callable[..., Any]], exact: Callable[..., Any]
    ) -> None:
        self.plan, self.steps = plan, 0
        self._lifts, self._exact = lifts, exact
        self._control: Control | None = None
        self._step: ModelStep | None = None
        self._judged: tuple[str, ...] = ()

    def advance(
        self, step: ModelStep, state: Mapping[str, np.ndarray], count: int, of: int
    ) -> None:
        """Advance a state, whose arrays are changed in place, by a number of steps.

        Args:
            step: function (lift, **state).
            state: arrays by name.
            count: how many.
            of: of the whole run; the same number in each call.

        Raises:
            ModelError: the state has not the variable that is judged; the run has other steps or a
                state of another size than before.
        """
        self._step = step
        control = self._begun(state, of)
        if self.steps + count > control.steps:
            raise ModelError(
                f"arithmetic.advance was given {count} steps after {self.steps} of "
                f"{control.steps}; give of=, the number of all steps of the run"
            )
        stop, values = self.steps + count, dict(state)
        while self.steps < stop:
            size = block_size(self.plan, self.steps, stop)
            values = block(self, control, values, self.steps, size)
            self.steps += size
            for name, array in state.items():
                array[...] = values[name]

    def _begun(self, state: Mapping[str, np.ndarray], of: int) -> Control:
        """The control of the run; the first call says for how many steps and of what."""
        if self._control is None:
            try:
                variable = require_variable(self.plan, tuple(state))
            except InputError as error:
                raise ModelError(f"{error}: what arithmetic.advance is given") from None
            self._judged = (variable,) if self.plan.variable else tuple(state)
            weights = [np.ones(state[name].size) for name in self._judged]
            self._control = Control(self.plan, of, weights)
        sizes = tuple(state[name].size for name in self._judged if name in state)
        if self._control.steps != of or self._control.sizes != sizes:
            raise ModelError(
                f"arithmetic.advance was given of={shown(of)} and {sizes} values of "
                f"{', '.join(self._judged)}, and before of={self._control.steps} and "
                f"{self._control.sizes}; give the same in each call"
            )
        return self._control

    @property
    def adapted(self) -> Adapted | None:
        """The history so far; None before the first step."""
        if self._control is None:
            return None
        history = self._control.arrays()["history"]
        return Adapted(self.plan, ", ".join(self._judged), history, self._control.ended)

    # ---- see `blocks.Rungs` --------------------------------------------------------------------

    def copied(self, state: ModelState) -> ModelState:
        """A state of its own."""
        return {name: array.copy() for name, array in state.items()}

    def advanced(self, state: ModelState, rung: int, before: int, count: int) -> None:
        """Advance a state by a number of steps on a rung."""
        assert self._step is not None
        for _ in range(count):
            self._step(self._lifts[rung], **state)

    def exact(self, state: ModelState, before: int) -> ModelState:
        """A step in fp64."""
        assert self._step is not None
        values = self.copied(state)
        self._step(self._exact, **values)
        return values

    def apart(self, state: ModelState, exact: ModelState) -> np.ndarray:
        """The differences of the judged variables."""
        return self.judged(state) - self.judged(exact)

    def judged(self, state: ModelState) -> np.ndarray:
        """The judged variables, one after another."""
        return np.concatenate([state[name].reshape(-1) for name in self._judged])


def checked_state(state: Mapping[str, Any]) -> None:
    """Make sure that steps can change a state in place, and that no step rounds it by itself.

    Raises:
        ModelError: there is none, or an array is not of binary64.
    """
    if not state:
        raise ModelError(
            "arithmetic.advance was given no state; give its arrays by name: x=x, speed=speed"
        )
    for name, array in state.items():
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            type_name = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise ModelError(
                f"arithmetic.advance was given {name} of type {type_name}; give arrays of float64, "
                "which steps change in place"
            )
