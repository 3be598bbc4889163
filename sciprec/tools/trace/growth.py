"""The growth of an error: the parts of a few lines by steps of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sciprec.tools.trace.examination import Examination, Step
from sciprec.tools.trace.lines import LEAST_PART
from sciprec.tools.trace.origins import OriginGroup
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.splitting import Split, share

MOST_STEPS = 28
MOST_LINES = 5


@dataclass(frozen=True)
class ShareGrowth:
    """Shares of the final error by the step in which they arose.

    Attributes:
        steps: of the run, in order.
        shares: name of a line, or "all others" -> its share by step.
        before: of the same -> its share that belongs to no step.
        unit: what steps are.
    """

    steps: tuple[Step, ...]
    shares: Mapping[str, np.ndarray]
    before: Mapping[str, float] = field(default_factory=dict)
    unit: str = "pass of the outermost loops"


def group_of_step(step: Step, steps: Sequence[Step], function) -> OriginGroup:
    """A step as a group of roundings."""
    code, span = function.__code__, (step.first, step.last)
    if step.origin is None:
        before = [s.origin for s in steps[: steps.index(step)] if s.origin]
        name = f"after the loop of line {before[-1].line}" if before else "before the loops"
        line = before[-1].line if before else code.co_firstlineno
        return OriginGroup(function.__name__, code.co_filename, line, name, name, (), steps=span)
    at, (first, last) = step.origin, step.passes
    which = f"pass {first}" if first == last else f"passes {first} to {last}"
    name = f"{which} of line {at.line}"
    return OriginGroup(at.function, at.file, at.line, at.source, name, (), steps=span)


def growth(
    problem: Problem, groups: Sequence[OriginGroup], parts: Sequence[float], exact_run: Examination
) -> ShareGrowth | None:
    """Return the growth of the largest lines' parts by steps; None without such a line, or without
    loops of the kernel's own.

    Args:
        problem: whose error it is.
        groups: what it was split by.
        parts: their sizes.
        exact_run: a run with exact values.
    """
    steps = exact_run.steps(MOST_STEPS)
    if len(steps) == 1 or not any(parts):
        return None
    order = np.argsort(-np.array(parts), kind="stable")
    least = LEAST_PART * max(parts, default=0.0)
    largest = [groups[n] for n in order[:MOST_LINES] if parts[n] > least]
    rest = [g for g in groups if g not in largest and g.rows]
    rows_of = {g.name: g.rows for g in largest if g.rows}
    if rest:
        rows_of["all others"] = tuple(n for g in rest for n in g.rows)
    by_step = [group_of_step(s, steps, problem.function) for s in steps]
    shares = {}
    for name, rows in rows_of.items():
        split = Split(problem, by_step, steps=exact_run.count_of_steps(), only=rows)
        error = split.total.vector
        shares[name] = np.array([share(split.part(n), error) for n in range(len(by_step))])
    return ShareGrowth(tuple(steps), shares)
