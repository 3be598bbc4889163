"""Traces of assignments: every operation in a format of its own, to which operands are rounded.

The bits are those of `lift`; what an operand loses is booked on the operation that takes it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache

from sciprec.foundation.errors import InputError
from sciprec.instruments.assigning.assigned_backend import AssignedBackend
from sciprec.instruments.assigning.by_row import BINARY64
from sciprec.instruments.assigning.matching import Matching
from sciprec.instruments.assigning.operations import InFormats, in_format, rounds
from sciprec.instruments.assigning.specialised import Clones, Specialiser
from sciprec.instruments.tracing.numbers import CompanionNumber
from sciprec.instruments.tracing.operations import TracedOperations
from sciprec.instruments.tracing.program import TracedProgram
from sciprec.instruments.tracing.technique import Companion
from sciprec.precision.formats.backend import Arithmetic, Backend, resolve_backend
from sciprec.precision.operations import keys
from sciprec.precision.operations.operation import OPERATIONS
from sciprec.precision.rewriting.layout import Frame, Layout
from sciprec.precision.rewriting.syntax import name
from sciprec.precision.rounding.technique import rounder
from sciprec.precision.rounding.words import F64


class _Rows(Frame):
    """Rows of a function: products and sums have one each."""

    def add(self, site: int, operation: str, arity: int, array: str = "") -> int:
        """The first row of an operation."""
        first = super().add(site, operation, arity, array)
        self.shared.pop("accumulator", None)
        return first


class AssignedTracedProgram(Clones, TracedProgram):
    """A program of numbers with companions whose operations have the formats of an assignment.

    Args:
        kernel: the plain Python function.
        backend: of the assignment.
        technique, lanes: see `TracedProgram`.
    """

    def __init__(self, kernel, backend: AssignedBackend, technique: str, lanes: int) -> None:
        if backend.assignment.everything:
            raise InputError(
                f"'{backend.name}' gives formats to loads, arguments and comparisons, too; trace "
                "and bound take assignments of operations alone: leave out rounds, or compare "
                "results with those of fp64 by study"
            )
        super().__init__(kernel, resolve_backend("fp64"), technique, lanes)
        self._text_of_entry = super()._entry()
        self.layout = Layout(self.frames, "sp_entry", self.with_rows)
        self.begin(Matching(backend.assignment, kernel, self).arithmetics)
        self.clone(self._names[kernel], self.layout.constants["sp_part_entry"])

    def frame(self, function: str) -> Frame:
        """The rows of a generated function."""
        return self.frames.setdefault(function, _Rows())

    def specialiser(self, base: int) -> Specialiser:
        """What gives the operations of a function their formats; their rows stay."""
        return _WithRows(self, base)

    def _entry(self) -> str:
        return self._text_of_entry

    def _arithmetic(self) -> str:
        maker = "'sciprec.instruments.tracing.assigned', 'in_formats'"
        given = f"{tuple(self.formats)!r}, {self.technique!r}, {self.lanes}"
        return f"sp_imported({maker})({given})"


class _WithRows(Specialiser):
    """Gives operations their formats, and leaves their rows."""

    def definition(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function, with its key."""
        self.function = tree.name
        tree.body = self._block(tree.body)
        return tree

    def visit_Assign(self, node: ast.Assign):
        """What is assigned; the key of a call is noted."""
        base = self._base_of(node.value)
        if base is None:
            return self.generic_visit(node)
        self.bases[node.targets[0].id] = base
        return node

    def visit_Call(self, node: ast.Call):
        """A call of an operation or a function."""
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        known = self.program.operations_of_rows.get(called, "")
        stem = known.partition("(")[0]
        if self._base_of(node) is not None:
            return node
        if stem in self.calls:
            node.args[0] = name(self.program.clone(node.args[0].id, self._base_of(node.args[1])))
        elif stem in self.after_kernels:
            count = self.after_kernels[stem]
            for place in range(count):
                kernel, key = node.args[place], node.args[count + place]
                base = self._base_in_call(kernel.id) if self.is_key(key) else self._base_of(key)
                node.args[place] = name(self.program.clone(kernel.id, base))
        elif known and len(node.args) > 1 and self.is_key(node.args[0]):
            base, place = self.bases[node.args[0].id], node.args[1]
            if isinstance(place, ast.Name):  # an operation that calls a kernel
                base += self.program.layout.constants[place.id]
                node.args[2] = name(self.program.clone(node.args[2].id, base))
            elif rounds(known):
                node.func = name(self.program.in_format(called, base + place.value))
        elif not known and node.args:
            base = self._base_of(node.args[0])
            if base is not None:
                function = self._inner(called, base) if called in self.inner else None
                node.func = name(function or self.program.clone(called, base))
        return self.generic_visit(node)


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
        return self.technique(rounder(self._own, F64, 0), self.lanes)

    def rounded(self, b, kind, value, role: Companion, key, salt: int):
        """A number of any real type in the role's format."""
        if isinstance(kind, CompanionNumber):
            return role.rounded(b, value, **self.draw(b, role, key, salt))
        return super().rounded(b, kind, value, role, key, salt)

    def emit(self, name: str, role: Companion) -> Callable:
        """An operation, its operands rounded; what gives an operand takes it as it is."""
        made = self._emitted(name, role)
        if not OPERATIONS[name].rounds:
            return made

        def emitted(context, b, values, key):
            place = self.draw(b, role, key)
            return made(context, b, [role.rounded(b, x, **place) for x in values], key)

        return emitted

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

    def repeated(self, b, x, exponent: int, key):
        """x^exponent by repeated squaring, of a rounded x."""
        return super().repeated(
            b, self.compute.rounded(b, x, **self.draw(b, self.compute, key)), exponent, key
        )

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


def traced_program(kernel, backend: Backend, technique: str, lanes: int) -> TracedProgram:
    """The program of a kernel in one arithmetic, or in an assignment's."""
    if isinstance(backend, AssignedBackend):
        return AssignedTracedProgram(kernel, backend, technique, lanes)
    return TracedProgram(kernel, backend, technique, lanes)
