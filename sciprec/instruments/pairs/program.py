"""Programs whose numbers are pairs: a kernel lifted as ever."""

from __future__ import annotations

from dataclasses import dataclass

from sciprec.instruments.pairs.functions import FUNCTIONS
from sciprec.instruments.pairs.technique import PAIRS
from sciprec.instruments.tracing.program import IMPORTS, Companions
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import LiftError

_DTYPES = "\nsp_wide = sp_narrow = sp_carrier = sp_dtype(1, paired=True)\n"
"""There is one format: binary32 means the backend's numbers, as in every other."""


@dataclass(frozen=True)
class _Pairs(Companions):
    """Numbers as pairs, whose rows are a place for marks alone."""

    technique: str = PAIRS
    lanes: int = 1

    holder = real_alone = "backend 'dd'"
    def imports(self, backend: Backend) -> str:
        """Return lines at the head of the generated module."""
        return IMPORTS + _DTYPES

    def operations(self, program: Program) -> str:
        """Return the operations on pairs."""
        return "sp_imported('sciprec.instruments.pairs.operations', 'pair_operations')()"


def pair_program(kernel) -> Program:
    """The program of a kernel in pairs.

    Raises:
        LiftError: an operation that was added has no form for pairs.
    """
    numbers = _Pairs()
    build = Build(trust_inputs=True, may_share=False, variant=numbers.variant, numbers=numbers)
    program = Program(kernel, resolve_backend("fp64"), build)
    for operation in program.operations.values():
        row = OPERATIONS.get(operation, NOTHING)
        if not (row.evaluate is None or row.of_bits or row.evaluate in FUNCTIONS):
            raise LiftError(
                f"kernel '{kernel.__name__}' has the operation '{operation}', which is added in "
                "binary64 and has no further bits for 'dd'; write it as a kernel"
            )
    return program
