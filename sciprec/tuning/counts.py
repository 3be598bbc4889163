"""How often the operations of a call are executed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sciprec.precision.assigning.matching import program_of
from sciprec.precision.assigning.places import Place
from sciprec.precision.assigning.program import AssignedProgram
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.rewriting.layout import Row


def counted_call(
    kernel, args: tuple, place_of: Callable[[AssignedProgram, Row], Place | None]
) -> Counter[Place]:
    """How often the operations of places are executed in a call in binary64, on copies.

    Args:
        kernel: the plain Python function.
        args: in the order of its parameters.
        place_of: the place of a row.
    """
    found: Counter[Place] = Counter()
    program, profile = program_of(kernel), lift(kernel, "fp64").profile(*args)
    counts = {
        (row.site, row.calls): int(n)
        for row, n in zip(profile.rows, profile.runs, strict=True) if row.part == 0
    }  # fmt: skip
    for row in program.layout.rows:
        runs, place = counts.get((row.site, row.calls), 0), place_of(program, row)
        if runs and place:
            found[place] += runs
    return found
