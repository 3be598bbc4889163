"""Runs of a kernel over perturbed inputs: parts of its lines pooled, and lines computed wider."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sciprec.foundation.course import tell
from sciprec.tools.trace.lines import LineGroup, products
from sciprec.tools.trace.origins import OriginGroup
from sciprec.tools.trace.problem import Problem
from sciprec.tools.trace.splitting import Errors, Split
from sciprec.tools.trace.verification import Changes, changes_of, pooled


class PerturbedInputs:
    """A kernel's arguments as they are, and perturbed.

    Args:
        problem: whose error it is.
        groups: all of its lines, those too that round nothing so far.
        whole: the error of the arguments as they are.

    Attributes:
        used: (arguments, their errors) of the inputs that were pooled over.
    """

    def __init__(self, problem: Problem, groups: Sequence[OriginGroup], errors: Errors) -> None:
        self.problem, self.groups = problem, list(groups)
        self._split = errors
        self.used: list[tuple[tuple, Errors]] = []

    def products(self, chosen: Sequence[int], samples: int) -> np.ndarray:
        """Scalar products of the error and the parts of some groups, pooled over inputs.

        Args:
            chosen: places of the groups.
            samples: how many arguments are run, the given ones and perturbed ones.
        """
        gram = np.zeros((len(chosen) + 1, len(chosen) + 1))
        for number, args in enumerate(self.problem.perturbed(samples) if chosen else []):
            tell("runs over perturbed inputs", number, samples)
            split = Split(self.problem, [self.groups[n] for n in chosen], args)
            if 2 * split.total.vector.size >= self._split.vector.size:
                gram += products(split.total.vector, [split.part(n) for n in range(len(chosen))])
                self.used.append((args, split.total))
        return gram

    def left(self, members: Sequence[int]) -> float:
        """Return the share of the errors that is left when some groups are computed in binary64."""
        wide, sizes = [self.groups[n] for n in members], []
        for args, before in self.used:
            after = Split(self.problem, [], args, wide=wide).total
            sizes.append((before.among(after), after.among(before)))
        return pooled(sizes)

    def predicted(self, group: LineGroup) -> float:
        """Return the share that is left without their parts."""
        return group.left

    def changes(self, members: Sequence[int], upward: bool) -> Changes:
        """Return how the parts of all other lines change when some lines are computed wider."""
        rest = [g for n, g in enumerate(self.groups) if n not in members]
        wide, runs = [self.groups[n] for n in members], []
        for args, _ in self.used:
            usual = Split(self.problem, rest, args)
            wider = Split(self.problem, rest, args, wide=wide)
            runs.append((usual.beside(wider, usual), wider.beside(usual, usual)))
        return changes_of(rest, runs)
