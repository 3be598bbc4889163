"""How often operations are executed, by a profile: the oracle of what `tune` counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable

from sciprec.instruments.assigning.matching import program_of
from sciprec.instruments.assigning.operations import rounds
from sciprec.instruments.assigning.places import Place
from sciprec.precision.lifting.lifting import lift
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.program import Program

_FIRST_PRODUCT = 2
"""Of the rows of a whole power: the result and the operand are before it."""


def counted_call(
    kernel, args: tuple, place_of: Callable[[Program, Row], Place | None]
) -> Counter[Place]:
    """How often the operations of places are executed in a call in binary64, on copies. Those of
    the engine's own kernels, sums of arrays and products of matrices among them, count where they
    are called; a whole power counts every product that it takes.

    Args:
        kernel: the plain Python function.
        args: in the order of its parameters.
        place_of: the place of a row.
    """
    found: Counter[Place] = Counter()
    program, profile = program_of(kernel), lift(kernel, "fp64").profile(*args)
    with_format = {_shared(program, row): row for row in program.layout.rows}
    for row, runs in zip(profile.rows, profile.runs.tolist(), strict=True):
        if not runs or not _is_result(profile.sites[row.site].operation, row.part):
            continue
        place = place_of(program, with_format[_shared(program, row)])
        if place:
            found[place] += runs
    return found


def _is_result(operation: str, part: int) -> bool:
    """Whether a row of a profile counts results of an operation that has a format; other rows
    count loads, copies and operands.
    """
    if not rounds(operation):
        return False
    return part >= _FIRST_PRODUCT if operation.endswith(")") and "power" in operation else part == 0


def _shared(program: Program, row: Row) -> tuple[Hashable, ...]:
    """The common part of rows of one format: all of a call of one of the engine's kernels."""
    origin = program.origins.get(row.site)
    return (*row.calls, "engine" if origin and origin.of_engine else row.site)
