"""Steps whose scales follow the numbers: a step that overflows is made again with smaller ones.

Source: loss scaling of Micikevicius et al. (2018), Mixed precision training, section 3.2, by place:
where numbers have left their range is known from the same step without ranges.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from sciprec.arrays.aligned import Pool
from sciprec.climate.equations.registry import Conversion
from sciprec.climate.running.request import Request
from sciprec.climate.running.scaled_model import ScaledModel
from sciprec.climate.running.team import StepMaker
from sciprec.climate.stepping.levels import Level
from sciprec.instruments.assigning.scaling import DYNAMIC, reach


def scaled_model(request: Request, convert: Conversion, state: np.ndarray) -> ScaledModel:
    """The model of a request whose arithmetic is a `ScaledBackend`, its places with scales.

    Args:
        state: the initial one (coefficients, columns) in binary64, with which the profile begins.
    """
    model = ScaledModel(request, convert)
    model.find_scales(state)
    parts = model.steps.scheme, model.steps.system, model.steps.adjust
    is_dynamic = model.scales.scaling.mode == DYNAMIC
    forcing = {"forcing": model.forcing}
    model.steps = (
        DynamicSteps(*parts, model, **forcing) if is_dynamic else StaticSteps(*parts, **forcing)
    )
    return model


class StaticSteps(StepMaker):
    """Makes steps of a whole model at scales that stay."""

    @property
    def reason(self) -> str:
        """Why a run could not go on, beside the usual reasons."""
        return (
            "its scales are those of a profile of the first day, and stay; scaling = 'dynamic' "
            "makes them smaller where numbers leave their range"
        )


@dataclass(frozen=True)
class DynamicSteps(StepMaker):
    """Makes steps of a whole model; `step` is one at the scales in force.

    Args:
        model: whose scales are changed, and which notes how large numbers are.
        begun, pool: room for the levels before a step, and for what of one is finite.
    """

    model: ScaledModel
    begun: list[Level] = field(default_factory=list)
    pool: Pool = field(default_factory=Pool)

    @property
    def reason(self) -> str:
        """Why a run could not go on, beside the usual reasons."""
        return (
            "no smaller scales help: the step is not finite without limits of range, either, or "
            f"all scales are at 2^-{reach(self.model.scales.arithmetic)}, or nothing is left of "
            "the state at smaller ones"
        )

    def advance(self, levels: list[Level], before: int, count: int) -> float:
        """Advance by `count` steps; the processor seconds that they took, repeated steps included.

        A step that is not finite is made again, after the scales of places whose numbers have no
        room were halved. It is left as it is where it is not finite without ranges, too, and where
        no scale can be smaller; where its state is zero at smaller scales it counts as not finite,
        since such a run would go on with nothing. After `good_steps` finite ones all scales are
        doubled.
        """
        start, scales = time.thread_time(), self.model.scales
        begun = self.begun
        self.pool.reset()
        finite = self.pool.array(levels[0].values.shape, bool)
        for step in range(before + 1, before + count + 1):
            if len(begun) == len(levels):
                for saved, level in zip(begun, levels, strict=True):
                    saved.take(level)
            else:
                begun[:] = [level.copy() for level in levels]
            self.system.addition.begin(step)
            if self.forcing is not None:
                self.forcing.begin(step - 1, len(levels))
            self.step(levels)
            good = _all_finite(levels, finite)
            while not good and self._halved(begun, step - 1, finite):
                levels[:] = [level.copy() for level in begun]
                if self.forcing is not None:
                    self.forcing.again()
                self.step(levels)
                good = _all_finite(levels, finite)
                if good and begun[0].values.any() and not levels[0].values.any():
                    levels[0].values.fill(np.nan)
                    good = False
                    break
            if not good:
                break
            self.system.addition.forget(levels, step)
            scales.good += 1
            if scales.good >= scales.scaling.good_steps:
                scales.change(step, 1)
        return time.thread_time() - start

    def _halved(self, begun: list[Level], steps: int, finite: np.ndarray) -> bool:
        """Whether scales were halved where a step that begins with these levels needs room."""
        levels = [level.copy() for level in begun]
        if self.forcing is not None:
            self.forcing.again()
        notes = self.model.noted_step(levels)
        if not _all_finite(levels, finite):
            return False
        scales = self.model.scales
        beyond = scales.beyond(notes)
        is_beyond = any(sites.any() for sites in beyond.values())
        return scales.change(steps, -1, beyond if is_beyond else None)


def _all_finite(levels: list[Level], finite: np.ndarray) -> bool:
    """Whether all values and residuals are finite; `finite` is room for what is of one of them."""
    return all(
        math.isfinite(values.sum()) or bool(np.isfinite(values, out=finite).all())
        for level in levels
        for values in (level.values, level.residual)
        if values is not None
    )  # a sum may be infinite where no number is, but not the other way round
