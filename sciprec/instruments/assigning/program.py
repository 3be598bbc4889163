"""Programs whose operations read their format from a table: one compilation for all assignments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.operations import ELEMENTS, LITERALS, NUMBERS, rounds
from sciprec.precision.formats.backend import resolve_backend
from sciprec.precision.operations.operation import NOTHING, OPERATIONS, operation_named
from sciprec.precision.rewriting.build import Build, Numbers
from sciprec.precision.rewriting.layout import Frame, Row
from sciprec.precision.rewriting.observer import Hooks
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rounding.variant import RowVariant


class _SharedRows(Frame):
    """A frame whose operations that round share a row where their place is the same.

    Args:
        place: number of a site -> what sites of one row have in common.
    """

    def __init__(self, place: Callable[[int], Hashable]) -> None:
        super().__init__()
        self._place, self._known = place, {}

    def add(self, site: int, operation: str, arity: int, array: str = "") -> int:
        """The row of an operation; any number where it rounds nothing."""
        if not rounds(operation):
            return 0
        place = self._place(site)
        if place not in self._known:
            self._known[place] = len(self.rows)
            self.rows.append(Row(site, 0))
        return self._known[place]

    def regroup(self, first: int, array: str) -> None:
        """Rows have no units."""


class _Everything(Hooks):
    """The line's format for what a line loads, stores, compares, casts or chooses from, too."""

    def operands(self, rewriter, operation, node, operands, named=""):
        """Return the operands, in the format where the operation does not round them itself."""
        if operation in ("leave", "put"):
            return operands[0], _narrowed(rewriter, node, operands[1], elements=True)
        if _chooses(operation):
            return [_narrowed(rewriter, node, _bare(x)) for x in operands]
        return [_bare(x) for x in operands] if operation_named(operation).rounds else operands

    def result(self, rewriter, operation, node, call):
        """Return the result of an operation that does not round it itself, in the format."""
        looks = operation in ("viewed", "ordered")
        if looks or _chooses(operation) or operation in ("enter", "trusted", "cast", "cast_to"):
            return _narrowed(rewriter, node, call, elements=looks)
        return call


def _chooses(operation: str) -> bool:
    """Whether the result of an operation is one of its operands."""
    return OPERATIONS.get(operation, NOTHING).exact is not None


def _bare(operand: ast.expr) -> ast.expr:
    """An operand; of a literal the number, which the operation rounds itself."""
    called = operand.func if isinstance(operand, ast.Call) else None
    literal = isinstance(called, ast.Name) and called.id == f"sp_{LITERALS}"
    return operand.args[-1] if literal else operand


def _narrowed(rewriter: Rewriter, node, operand: ast.expr, elements: bool = False) -> ast.Call:
    """A number as it is in the format of its line, and, if so, the elements of an array."""
    operand = rewriter.op(ELEMENTS, node, operand) if elements else operand
    return rewriter.op(NUMBERS, node, operand)


@dataclass(frozen=True)
class InRows(Numbers):
    """Numbers of binary64 whose operations have a row for every chain of calls, with their format.

    Args:
        layout: of the rows, see `rows`.
        by: what shares a row: an operation alone, or those of a line, a variable, a function.
            Within it numbers are in one format, and rounded once.
        counts: whether operations count in their rows how often they are executed.
        everything: whether loads, arguments and comparisons have rows, too.
    """

    layout: str
    by: str = "operation"
    counts: bool = False
    everything: bool = False

    holder = "an assignment"

    @property
    def narrowing(self) -> str:  # type: ignore[override]
        """The operation that gives arguments a format."""
        return NUMBERS if self.everything else ""

    def operations(self, program: Program) -> str:
        """Return the operations that read rows, and those of the program's other formats."""
        place = "'sciprec.instruments.assigning.operations'"
        if not program.rows:
            return f"sp_imported({place}, 'in_formats')({program.formats!r})"
        how = ("atomic" if program.parallel else "plain") if self.counts else ""
        return f"sp_imported({place}, 'by_row')({self.layout!r}, {program.formats!r}, {how!r})"

    def hooks(self, rewriter: Rewriter) -> tuple[Hooks, ...]:
        """Return what is put into each function."""
        return (_Everything(),) if self.everything else ()

    def literal(self, rewriter: Rewriter, value: float) -> ast.expr:
        """Return a constant of the source, in the format of its line where everything has one."""
        number = super().literal(rewriter, value)
        return rewriter.op(LITERALS, rewriter.at, number) if self.everything else number

    def frame(self, program: Program) -> Frame:
        """Return rows for a function, shared as `by` says."""
        return _SharedRows(partial(self._place, program))

    def _place(self, program: Program, site: int) -> Hashable:
        """The key that sites of one row share in a function: one for all of the engine's own."""
        origin = program.origins[site]
        if origin.of_engine or self.by in ("function", "call"):
            return ""
        return {"line": origin.line, "variable": origin.variable}.get(self.by, site)


def program_in_rows(kernel, numbers: InRows, variant: RowVariant | None = None) -> Program:
    """A program whose operations have rows.

    Args:
        kernel: the plain Python function.
        numbers: contents of its variables.
        variant: what operations do with rows; left out, to read a format of `rows`.
    """
    variant = variant or RowVariant(f"by row, {numbers.layout}", rows.ROW_BYTES)
    build = Build(trust_inputs=True, may_share=False, variant=variant, numbers=numbers)
    return Program(kernel, resolve_backend("fp64"), build)
