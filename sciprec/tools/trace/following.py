"""The state of the exact values at a run's end: known, or lost on the way.

They are pairs of binary64 numbers, and what is beside them says by how much they may be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sciprec.foundation.listing import counted
from sciprec.instruments.tracing.technique import SEEN_BITS
from sciprec.instruments.tracing.twin import SURELY
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.program import Program
from sciprec.tools.trace.attribution import Result
from sciprec.tools.trace.splitting import CANCELLED, Errors, Split, norm

PAIRS, FUNCTIONS, PARTS = 106, 49, 53
"""Bits of exact values, of elementary functions' in narrow formats, and of an error in parts."""
APART = 0.1
"""Share of an error by which the sum of its parts may miss it; beyond, the parts are lost."""


@dataclass(frozen=True)
class Followed:
    """The exact values of a run's results, as far as they are known.

    Attributes:
        errors: name of a result -> its relative l2 error; of one whose exact values are zero, or
            cannot be told from that, the l2 norm of its error; NaN where it is not known.
        lost: name of a result whose exact values are lost -> how many of its numbers are in doubt.
        absolute: names of results whose error is known, but relative to nothing.
        doubtful: whether one of these may as well be no zero.
        bits: of what exact values are made of at least.
    """

    errors: dict[str, float] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    absolute: tuple[str, ...] = ()
    doubtful: bool = False
    bits: int = PAIRS

    def sentence(self, traced: str, backend: str) -> str:
        """The verdict in place of shares."""
        where = ", ".join(f"{counted(n, 'number')} of {name}" for name, n in self.lost.items())
        return (
            f"Exact values cannot be followed here: they need more than {self.bits} bits ({where})."
            f" The error of '{traced}' in {backend}, and where it arises, is not known; look at a "
            "shorter run."
        )

    @property
    def before(self) -> str:
        """The words before the verdict where no error has a size to be relative to."""
        if not self.doubtful or set(self.errors) - set(self.absolute):
            return ""
        return (
            f"Exact values cannot be followed here: they need more than {self.bits} bits, or are "
            "zero; the error itself is known, and is absolute. "
        )

    def in_words(self, name: str, error: float) -> str:
        """The error of a result by any metric, with its name."""
        if name in self.lost:
            return f"{name} not known"
        is_norm = name in self.absolute and error == self.errors[name]
        return f"{name} {error:.2g}" + " (absolute)" * is_norm


def doubt_of(result: Result) -> np.ndarray:
    """Return the largest error of the exact values themselves, for a run that followed them."""
    drift, doubt = result.beside[..., 2], result.beside[..., 3]
    with np.errstate(over="ignore"):
        return SURELY * np.nan_to_num(abs(drift) + abs(doubt), nan=np.inf)


def followed(
    results: Sequence[Result], of_results: Errors, split: Split, program: Program, bits: int
) -> Followed:
    """Judge the exact values of all results.

    Args:
        results: of a run with exact values.
        of_results: their errors.
        split: the same errors in parts.
        program: of that run.
        bits: of its widest format.
    """
    errors: dict[str, float] = {}
    lost: dict[str, int] = {}
    absolute: list[str] = []
    doubtful = in_parts = False
    for place, result in enumerate(results):
        usable, compared = of_results.usable[place], split.total.usable[place]
        doubt, error = doubt_of(result)[usable], norm(of_results.errors[place][usable])
        size, unsure = norm(result.beside[..., 0][usable]), norm(doubt)
        parts = sum(norm(part[place][compared]) for part in split.parts)
        enough = max(0.5 * error, CANCELLED * parts, split.least * norm(result.tested[usable]))
        is_absolute = error > 0.0 and 2.0 * unsure >= size
        errors[result.name] = error if is_absolute or not size else error / size
        high, low = (result.beside[..., lane][usable] for lane in (0, 1))
        with np.errstate(all="ignore"):
            twin = (result.tested[usable] - high) - low
            apart = np.nan_to_num(abs(of_results.errors[place][usable] - twin))
        parts_lost = (
            not is_absolute and enough < norm(apart) / APART and norm(apart) > APART * error
        )
        if unsure <= enough and parts_lost:
            in_parts, doubt, unsure = True, apart, math.inf
        if unsure > enough:
            each = enough / max(doubt.size, 1) ** 0.5
            lost[result.name] = max(int((doubt > each).sum()), 1)
            errors[result.name] = math.nan
        elif is_absolute:
            absolute.append(result.name)
            doubtful |= unsure > 0.0
    made_of = PARTS if in_parts else _bits(program, bits)
    return Followed(errors, lost, tuple(absolute), doubtful, made_of)


def _bits(program: Program, bits: int) -> int:
    """Return the bits of the exact values of elementary functions, where there are some."""
    if bits > SEEN_BITS:
        return PAIRS
    operations = (program.sites[row.site].operation for row in program.layout.rows)
    evaluated = (OPERATIONS.get(o, NOTHING).evaluate is not None for o in operations)
    return FUNCTIONS if any(evaluated) else PAIRS
