"""Lines whose parts go together: what one of them adds another takes away, or adds too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sciprec.tools.trace.lines import Line, LineGroup

CORRELATED = 0.5
"""|correlation| of the parts of two lines beyond which they are one group."""
LEAST_PART = 0.02
"""Least share of the error of a line that can be in a group."""


def large_parts(parts: Sequence[np.ndarray | None], error: np.ndarray) -> list[int]:
    """Places of the parts that are large enough to be in a group."""
    size = np.linalg.norm(error)
    return [
        n for n, part in enumerate(parts)
        if part is not None and size and np.linalg.norm(part) > LEAST_PART * size
    ]  # fmt: skip


def products(error: np.ndarray, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Scalar products of an error and its parts, the error first; those of several inputs are
    added up.
    """
    stacked = [error, *parts]
    return np.array([[a @ b for b in stacked] for a in stacked])


def grouped(
    lines: Sequence[Line], chosen: Sequence[int], gram: np.ndarray, correlated: bool,
    evidence: np.ndarray | None = None,
) -> tuple[list[Line], list[LineGroup]]:  # fmt: skip
    """The lines with the numbers of their groups, and the groups.

    Args:
        lines: all of a trace.
        chosen: places of those that are in groups.
        gram: `products` of the error and the chosen lines' parts.
        correlated: whether lines may be in one group; else each is by itself.
        evidence: the same of other results, which say what is correlated; left out, `gram`.
    """
    basis = gram if evidence is None else evidence
    families = _families(len(chosen), basis, correlated)
    square, described = gram[0, 0] or 1.0, []
    for family in families:
        places = [n + 1 for n in family]
        of_part = gram[0, places].sum()
        remaining = gram[0, 0] - 2.0 * of_part + gram[np.ix_(places, places)].sum()
        sizes = np.sqrt(np.maximum(np.diag(basis), 1e-300))
        pairs = [basis[i, j] / (sizes[i] * sizes[j]) for i in places for j in places if j < i]
        described.append((
            tuple(chosen[n] for n in family), float(of_part / square),
            float(np.sqrt(max(remaining, 0.0) / square)), float(max(pairs, key=abs, default=0.0)),
        ))  # fmt: skip
    described.sort(key=lambda item: -abs(item[1]))
    numbered = list(lines)
    for number, (members, *_) in enumerate(described, 1):
        for n in members:
            numbered[n] = replace(lines[n], group=number)
    groups = [
        LineGroup(number, members, tuple(numbered[n] for n in members), *rest)
        for number, (members, *rest) in enumerate(described, 1)
    ]
    return numbered, groups


def _families(count: int, gram: np.ndarray, correlated: bool) -> list[list[int]]:
    """Numbers of lines of which each is correlated with another one of its family."""
    sizes = np.sqrt(np.maximum(np.diag(gram), 1e-300))
    correlation = gram / np.outer(sizes, sizes)
    family = list(range(count))
    for i in range(count if correlated else 0):
        for j in range(i):
            if abs(correlation[i + 1, j + 1]) > CORRELATED and family[i] != family[j]:
                old, new = family[i], family[j]
                family = [new if f == old else f for f in family]
    return [[n for n in range(count) if family[n] == number] for number in sorted(set(family))]
