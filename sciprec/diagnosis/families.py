"""Lines whose parts go together: what one of them adds another takes away, or adds too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sciprec.diagnosis.origins import Group
from sciprec.diagnosis.problem import Problem
from sciprec.diagnosis.splitting import Split

CORRELATED = 0.5
"""|correlation| of the parts of two lines beyond which they are one family."""
LEAST_PART = 0.02
"""Of the error: lines with smaller parts stay alone."""


@dataclass(frozen=True)
class Family:
    """Lines whose parts are correlated over results and perturbed inputs.

    Attributes:
        number: from 1, the largest share first.
        members: numbers of the groups of operations.
        share: of the error of all inputs: <its part, error> / <error, error>.
        left: what would be left of the error without its roundings: |error - part| / |error|.
        correlation: the one of largest size between two of its lines; 0 of a single line.
    """

    number: int
    members: tuple[int, ...]
    share: float
    left: float
    correlation: float


def families(problem: Problem, groups: Sequence[Group], split: Split, samples: int):
    """The families of groups with a part of at least `LEAST_PART`, and [(input, its errors)]: what
    they were found with.

    Args:
        problem: whose error it is.
        groups: what it was split by.
        split: of the arguments as they are.
        samples: how many arguments are run, the given ones and perturbed ones; with one alone
            every group is a family.
    """
    error = split.whole.size
    parts = [split.part(n) for n in range(len(groups))]
    chosen = [n for n, p in enumerate(parts) if error and np.linalg.norm(p) > LEAST_PART * error]
    gram = np.zeros((len(chosen) + 1, len(chosen) + 1))
    inputs = problem.perturbed(samples) if chosen else []
    used = []
    for args in inputs:
        one = Split(problem, [groups[n] for n in chosen], args)
        stacked = [one.whole.vector, *(one.part(n) for n in range(len(chosen)))]
        if one.whole.vector.size == split.whole.vector.size:
            gram += np.array([[a @ b for b in stacked] for a in stacked])
            used.append((args, one.whole))
    return _joined(chosen, gram, len(used) > 1), used


def _joined(chosen: list[int], gram: np.ndarray, correlated: bool) -> list[Family]:
    """Families from scalar products: the error first, then the parts of the chosen groups."""
    sizes = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    correlation = gram / np.outer(sizes, sizes)
    count = len(chosen)
    family = list(range(count))
    for i in range(count if correlated else 0):
        for j in range(i):
            if abs(correlation[i + 1, j + 1]) > CORRELATED and family[i] != family[j]:
                old, new = family[i], family[j]
                family = [new if f == old else f for f in family]
    found = []
    for one in sorted(set(family)):
        members = [n for n in range(count) if family[n] == one]
        places = [n + 1 for n in members]
        square = gram[0, 0] or 1.0
        of_part = gram[0, places].sum()
        left = gram[0, 0] - 2.0 * of_part + gram[np.ix_(places, places)].sum()
        pairs = [correlation[i, j] for i in places for j in places if j < i]
        found.append(
            Family(
                0,
                tuple(chosen[n] for n in members),
                float(of_part / square),
                float(np.sqrt(max(left, 0.0) / square)),
                float(max(pairs, key=abs, default=0.0)),
            )
        )
    found.sort(key=lambda f: -abs(f.share))
    return [
        Family(n, f.members, f.share, f.left, f.correlation) for n, f in enumerate(found, 1)
    ]  # fmt: skip
