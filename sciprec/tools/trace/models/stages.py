"""Stages of a model: their parts in its error, and what is left of it where one is kept wider."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import arithmetic_of
from sciprec.instruments.assigning.policies import Policy
from sciprec.instruments.assigning.stages import Stage
from sciprec.precision.formats.backend import TRUTH, Backend, resolve_backend
from sciprec.precision.rewriting.syntax import LiftError

SEEN, HELPS = 0.01, 0.7
"""Share from which on a stage is run wider; most of an error that is left by what helps."""
_WIDER = ("fp32", "fp64")


@dataclass(frozen=True)
class StagePart:
    """The part of a stage in the error of a model's results.

    Attributes:
        name: of the stage, of what the model is given, or of the rest.
        share: of the error, signed: a negative one takes away what others add.
        operations: that were executed.
        wide: the format in which it was kept in a run; "" where it was not run so.
        left: of the error in that run, all else in the arithmetic of the trace.
    """

    name: str
    share: float
    operations: int
    wide: str = ""
    left: float | None = None

    @property
    def percent(self) -> str:
        """The share in words: "+61.5%"."""
        return "0.0%" if abs(self.share) < 0.0005 else f"{self.share:+.1%}"

    @property
    def left_in_words(self) -> str:
        """The error left in words, and in which format the stage was kept."""
        return "–" if self.left is None else in_percent(self.left)


def in_percent(left: float) -> str:
    """The share of an error that is left, as "20 %"; a factor where it is more than twice."""
    if not math.isfinite(left):
        return "not finite"
    if left > 2.0:
        return f"{left:.2g} times"
    return f"{left:.1%}" if left < 0.1 else f"{left:.0%}"


def wider_than(backend: Backend) -> str:
    """The next wider of fp32 and fp64; "" where stages cannot be kept wider: of fp64, and of what
    has several formats.
    """
    try:
        bits = arithmetic_of(backend.name).format.significand_bits
    except InputError:
        return ""
    if resolve_backend(backend.name) != backend:
        return ""
    wider = (name for name in _WIDER if arithmetic_of(name).format.significand_bits > bits)
    return next(wider, "")


def kept_wide(backend: Backend, wide: str, names: Sequence[str]) -> Policy:
    """The policy that has some stages in a wider format, all else in an arithmetic."""
    return Policy("O3", backend.name, wide, deny=tuple(names))


class OrdinaryRuns:
    """Runs of a model as users make them, and their error against its run in fp64.

    Args:
        program: that of the trace.
        outputs: names of the results that count.
        timed: those of them that have a time axis.
        time: number of the stored state that counts.
        before: what the trace's own arithmetic gave.

    Attributes:
        error: of that.
    """

    def __init__(
        self, program: Callable[[Backend], Any], outputs: Sequence[str], timed: Sequence[str],
        time: int, before: Mapping[str, np.ndarray],
    ) -> None:  # fmt: skip
        self.program, self._outputs, self._timed, self._time = program, outputs, timed, time
        self._truth = self._states(program(resolve_backend(TRUTH)).values)
        self.error = self._error(before)

    def error_of(
        self, backend: Backend, program: Callable[[Backend], Any] | None = None
    ) -> float:
        """The relative l2 error of a run, of several results the root of the sum of squares;
        infinite where it is not finite, or ends with an error of its own.

        Args:
            backend: it is run in.
            program: another one; None: that of the trace.
        """
        try:
            results = (program or self.program)(backend)
        except ArithmeticError:
            return math.inf
        return self._error(results.values)

    def _states(self, values: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The results that count, of those in time the state that does."""
        return {
            name: np.asarray(values[name][self._time] if name in self._timed else values[name],
                             np.float64)
            for name in self._outputs
        }  # fmt: skip

    def _error(self, values: Mapping[str, Any]) -> float:
        total = 0.0
        for name, state in self._states(values).items():
            truth = self._truth[name]
            usable = np.isfinite(truth)
            if not np.isfinite(state[usable]).all():
                return math.inf
            size = float(np.linalg.norm(truth[usable]))
            far = float(np.linalg.norm(state[usable] - truth[usable]))
            total += (far / size if size else far) ** 2
        return math.sqrt(total)


def with_runs(
    parts: Sequence[StagePart], runs: OrdinaryRuns, stages: Sequence[Stage], backend: Backend,
    most: int, tell: Callable[[str, int, int], None],
) -> tuple[StagePart, ...]:  # fmt: skip
    """The parts of stages, each of those with a share kept wider in a run.

    Args:
        parts: of all stages.
        runs: of the model.
        stages: of the model.
        backend: of the trace.
        most: stages that are run, those with the largest shares.
        tell: told how many of the runs are made.
    """
    wide, names = wider_than(backend), {stage.name for stage in stages if not stage.always}
    ranked = sorted(parts, key=lambda p: -abs(p.share))
    todo = [p.name for p in ranked if p.name in names and abs(p.share) >= SEEN][:most]
    if not wide or not runs.error or not math.isfinite(runs.error):
        return tuple(parts)
    shares: dict[str, float] = {}
    for number, name in enumerate(todo):
        tell("stages kept wider", number, len(todo))
        with suppress(InputError, LiftError):  # of models that take no policy beside other keys
            policy = kept_wide(backend, wide, (name,)).of(stages)
            shares[name] = runs.error_of(policy.as_backend()) / runs.error
    return tuple(
        StagePart(p.name, p.share, p.operations, wide, shares[p.name]) if p.name in shares else p
        for p in parts
    )


def shares_alone(parts: Sequence[StagePart], backend: Backend) -> str:
    """Say what to do if no stage could be kept wider; "" where one was, or where no stage matters.
    """
    if any(p.left is not None for p in parts) or all(abs(p.share) < SEEN for p in parts):
        return ""
    if wider_than(backend):
        return (
            "stages have shares alone: no run has one of them kept wider beside the scenario's own "
            "formats ('stages', 'stored') or compensation; leave these out, or change the format "
            "of the stage with the largest share there"
        )
    try:
        arithmetic_of(backend.name)
    except InputError:
        return (
            f"stages have shares alone, since '{backend.name}' is no arithmetic of one format: "
            "trace the narrowest of its formats by itself, and keep the stage that helps most wider"
        )
    return (
        f"stages have shares alone, since nothing is wider than '{backend.name}' here: trace a "
        "narrower arithmetic, as fp32, to see what a stage kept wider leaves"
    )


def advice(parts: Sequence[StagePart], model: str, backend: str, error: float) -> str:
    """The sentence that a trace by stage begins with; "" where no stage was run wider."""
    ran = [p for p in parts if p.left is not None]
    if not ran:
        return ""
    best = min(ran, key=lambda p: (p.left, -abs(p.share)))
    of = f"of the error of '{model}' in {backend}, {error:.2g}"
    if best.left < HELPS:
        alternatives = [p for p in ran if p is not best and p.left < HELPS]
        also = "".join(f"; {p.name} alone: {in_percent(p.left)}" for p in alternatives[:1])
        return (
            f"Keep the {best.name} in {best.wide}: {in_percent(best.left)} {of}, is left "
            f"(measured){also}."
        )
    return (
        f"No stage alone makes the error: with the {best.name} in {best.wide} "
        f"{in_percent(best.left)} {of}, is left (measured), and with any other no less."
    )
