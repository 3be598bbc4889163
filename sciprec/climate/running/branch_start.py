"""The state that a branch goes on from, as its request holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sciprec.climate.stepping.levels import Level


@dataclass(frozen=True)
class Start:
    """The state that a branch goes on from.

    Args:
        words: where it comes from, and what of it was dropped.
        digest: of its content.
        levels: of the time scheme, newest first, as they were; empty where the fields of the
            request are the state.
        is_same: whether levels and residuals are in the formats of the branch.
        kernels: from `compiled.kernel_states`; empty where they begin anew.
        perturbed: whether the perturbation of the branch is in them already.
        file: the path of a file of fields, empty for checkpoints.
        names: of its variables by field, where it has other ones.
        forced: tendencies of a forcing that the next step uses, or None.
    """

    words: str
    digest: str
    levels: tuple[Level, ...] = field(default=(), repr=False)
    is_same: bool = False
    kernels: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    perturbed: bool = False
    file: str = ""
    names: Mapping[str, str] | None = None
    forced: np.ndarray | None = field(default=None, repr=False)

    def levels_as(
        self, stored: Callable[[np.ndarray], np.ndarray], level: Callable, moved: np.ndarray | None
    ) -> list[Level]:
        """The levels in the formats of a model.

        Args:
            stored: rounds a state to the format between steps.
            level: makes a level of values, with an empty residual where there is one.
            moved: what a perturbation adds to the state, flat; None without any.
        """
        if self.is_same and moved is None:
            return [each.copy() for each in self.levels]
        more = 0.0 if moved is None else moved
        return [level(stored(each.values.astype(np.float64) + more)) for each in self.levels]
