"""Traces of assignments: every operation in a format of its own, to which operands are rounded.

The bits are those of `lift`; what an operand loses is booked on the operation that takes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assigned_backend import AssignedBackend
from sciprec.instruments.assigning.by_row import BINARY64
from sciprec.instruments.assigning.matching import Matching
from sciprec.instruments.assigning.operations import InFormats, in_format
from sciprec.instruments.assigning.specialised import give_formats
from sciprec.instruments.tracing.numbers import CompanionNumber
from sciprec.instruments.tracing.operations import TracedOperations
from sciprec.instruments.tracing.program import Companions
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.formats.backend import Arithmetic, Backend, resolve_backend
from sciprec.precision.operations import keys
from sciprec.precision.rewriting.build import Build
from sciprec.precision.rewriting.layout import Frame
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.words import F64


class _Rows(Frame):
    """Rows of a function: products and sums have one each."""

    def add(self, site: int, operation: str, arity: int, array: str = "") -> int:
        """The first row of an operation."""
        first = super().add(site, operation, arity, array)
        self.shared.pop("accumulator", None)
        return first


@dataclass(frozen=True)
class _CompanionsInFormats(Companions):
    """Numbers with companions whose operations have the formats of an assignment."""

    def frame(self, program: Program) -> Frame:
        """Return rows for a function, none so far."""
        return _Rows()


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
    numbers = (_CompanionsInFormats if assigned else Companions)(technique, lanes)
    build = Build(
        trust_inputs=True, may_share=False, variant=numbers.variant, numbers=numbers
    )
    program = Program(kernel, resolve_backend("fp64") if assigned else backend, build)
    if assigned:
        program.lay_out()
        give_formats(program, Matching(backend.assignment, kernel, program).arithmetics)
    return program


class TracedOperationsInFormat(TracedOperations):
    """Operations on numbers with companions in one format; operands may be in any other.

    Args:
        arithmetic: of tested values.
        technique, lanes: see `TracedOperations`.
    """

    def __init__(self, arithmetic: Arithmetic, technique: str, lanes: int) -> None:
        self._own = arithmetic
        super().__init__(resolve_backend("fp64"), technique, lanes)
        self.storage = self.technique(rounder(BINARY64, F64, 0), lanes)
        self._plain = in_format(arithmetic)

    def _rounder(self, arithmetic: Arithmetic, others: tuple = ()) -> Companion:
        made = self.technique(rounder(self._own, F64, 0), self.lanes)
        made.takes = True
        return made

    def rounded(self, b, kind, value, role: Companion, key, salt: int):
        """A number of any real type in the role's format."""
        if isinstance(kind, CompanionNumber):
            return role.rounded(b, value, **self.draw(b, role, key, salt))
        return super().rounded(b, kind, value, role, key, salt)

    def _scalar(self, emit, kinds, key, places: bool):
        def codegen(context, b, signature, args):
            word, values = keys.split(key, args)
            operands = [
                value if kind == self.carrier
                else self.rounded(b, kind, value, self.storage, word, 0)
                for kind, value in zip(kinds, values, strict=True)
            ]  # fmt: skip
            return emit(context, b, operands, word)

        return self.carrier(*keys.join(key, kinds)), codegen

    def _by_plain(self, context, b, name: str, tested):
        """An operation on tested values as in a program without companions."""
        return self._plain._emitted(name, self._plain.compute)(context, b, tested, None)


@lru_cache(maxsize=64)
def _in_format(arithmetic: Arithmetic, technique: str, lanes: int) -> TracedOperationsInFormat:
    return TracedOperationsInFormat(arithmetic, technique, lanes)


@lru_cache(maxsize=64)
def in_formats(
    arithmetics: tuple[Arithmetic, ...], technique: str, lanes: int
) -> InFormats:
    """The (shared) operations in some formats."""
    return InFormats(*(_in_format(a, technique, lanes) for a in arithmetics))
