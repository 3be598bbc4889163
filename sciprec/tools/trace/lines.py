"""Parts of an error in words: lines, and groups of lines whose parts go together, since what one
of them adds another takes away, or adds too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

UNKNOWN = "unknown"
"""Name of the row of what is rounded and not seen."""
LANES = 8
"""Numbers beside each value: the whole error, and the parts of seven groups at once."""
CORRELATED = 0.5
"""|correlation| of the parts of two lines beyond which they are one group."""
LEAST_PART = 0.02
"""Least share of the error of a line that can be in a group."""


@dataclass(frozen=True)
class Line:
    """A line of the source, or whatever else the error is split by.

    Attributes:
        function, file, line: where its first operation begins (absolute line number).
        source: the text of the line; of an argument's conversion "argument x".
        name: "line 12", or what it is called by operation, variable, function, call or step.
        share: of the error of all outputs, signed: <its part, error> / <error, error>.
        rms: of its part over the outputs, in their unit; of several outputs each over its norm.
        shares: share of the error of each output, by its name.
        bits_lost: log2 of the relative error of a result over that of its operands, the largest
            over its operations and runs; exact operands count as rounded once.
        runs: how often it was executed.
        group: number of its group of lines whose parts go together; 0 where its part is small.
    """

    function: str
    file: str
    line: int
    source: str
    name: str
    share: float
    rms: float
    shares: Mapping[str, float] = field(default_factory=dict)
    bits_lost: float = 0.0
    runs: int = 0
    group: int = 0

    @property
    def percent(self) -> str:
        """The share in words: "+61.5%"."""
        return "0.0%" if abs(self.share) < 0.0005 else f"{self.share:+.1%}"


@dataclass(frozen=True)
class LineGroup:
    """Lines whose parts are correlated over results and perturbed inputs, so that none of them is
    worth changing alone; or a line by itself.

    Attributes:
        number: from 1, the largest share first.
        members: places of its lines among all lines of the trace.
        lines: its lines.
        share: of the error, pooled over inputs: <its part, error> / <error, error>.
        left: predicted error without its roundings: |error - part| / |error|.
        correlation: the one of largest size between two of its lines; 0 of a single line.
    """

    number: int
    members: tuple[int, ...]
    lines: tuple[Line, ...]
    share: float
    left: float
    correlation: float


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
