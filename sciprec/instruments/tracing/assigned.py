"""Traces of assignments: every operation in a format of its own, to which operands are rounded.

The bits are those of `lift`; what an operand loses is booked on the operation that takes it.
"""

from __future__ import annotations

from functools import lru_cache

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assignment import AssignedBackend
from sciprec.instruments.assigning.matching import Matching
from sciprec.instruments.assigning.operations import InFormats
from sciprec.instruments.assigning.specialised import give_formats
from sciprec.instruments.tracing.operations import traced_operations
from sciprec.instruments.tracing.program import Companions
from sciprec.precision.formats.backend import Arithmetic, Backend, resolve_backend
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.program import Program


def traced_program(kernel, backend: Backend, technique: str, lanes: int) -> Program:
    """The program of numbers with companions of a kernel, in one arithmetic or in an assignment's.

    Args:
        kernel: the plain Python function.
        backend: the arithmetic of tested values.
        technique, lanes: see `Companions`.

    Raises:
        InputError: the assignment gives formats to more than operations.
    """
    assigned = isinstance(backend, AssignedBackend)
    if assigned and backend.assignment.everything:
        raise InputError(
            f"'{backend.name}' gives formats to loads, arguments and comparisons, too; trace "
            "and bound take assignments of operations alone: leave out rounds, or compare "
            "results with those of fp64 by study"
        )
    numbers = Companions(technique, lanes, in_formats=assigned)
    build = Build(trust_inputs=True, may_share=False, variant=numbers.variant, numbers=numbers)
    program = Program(kernel, resolve_backend("fp64") if assigned else backend, build)
    if assigned:
        program.lay_out()
        give_formats(program, Matching(backend.assignment, kernel, program).arithmetics)
    return program


@lru_cache(maxsize=64)
def in_formats(arithmetics: tuple[Arithmetic, ...], technique: str, lanes: int) -> InFormats:
    """The (shared) operations in some formats."""
    fp64 = resolve_backend("fp64")
    return InFormats(*(traced_operations(fp64, technique, lanes, a) for a in arithmetics))
