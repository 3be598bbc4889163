"""Programs whose operations read their format from a table: one compilation for all assignments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.operations import ELEMENTS, LITERALS, NUMBERS, rounds
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.layout import Frame, Row
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import Origin
from sciprec.precision.rounding.variant import Variant


class _Rows(Frame):
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


class RewriterOfEverything(Rewriter):
    """Rewrites a kernel so that what a line loads, stores, compares, casts or chooses from has the
    line's format, too.
    """

    def op(self, operation: str, node, *operands: ast.expr, array: str = "") -> ast.Call:
        """A call of an operation, and what brings numbers around it into the format."""
        chooses = OPERATIONS.get(operation, NOTHING).exact is not None  # one of its operands
        if chooses or rounds(operation):
            operands = tuple(map(self._bare, operands))
        if chooses:
            operands = tuple(self._narrowed(node, x) for x in operands)
        if operation in ("leave", "put"):
            operands = (operands[0], self._narrowed(node, operands[1], elements=True))
        made = super().op(operation, node, *operands, array=array)
        if chooses or operation in ("enter", "trusted", "cast", "cast_to"):
            return self._narrowed(node, made)
        if operation in ("viewed", "ordered"):
            return self._narrowed(node, made, elements=True)
        return made

    def literal(self, value: float) -> ast.expr:
        """A floating-point constant, in the format of its line."""
        return super().op(LITERALS, self.at, super().literal(value))

    def _bare(self, operand: ast.expr) -> ast.expr:
        """An operand; of a literal the number, which the operation rounds itself."""
        called = operand.func if isinstance(operand, ast.Call) else None
        literal = isinstance(called, ast.Name) and called.id == f"sp_{LITERALS}"
        return operand.args[-1] if literal else operand

    def _narrowed(self, node, operand: ast.expr, elements: bool = False) -> ast.Call:
        """A number as it is in the format of its line, and, if so, the elements of an array."""
        operand = super().op(ELEMENTS, node, operand) if elements else operand
        return super().op(NUMBERS, node, operand)


class AssignedProgram(Program):
    """A program of binary64 whose operations have a row for every chain of calls.

    Args:
        kernel: the plain Python function.
        layout: of the rows, see `rows`.
        unit: what shares a row: an operation alone, or those of a line, a variable, a function.
            Within it numbers are in one format, and rounded once.
        backend: of the variables; left out, binary64.
        variant: what operations do with rows; left out, that of the layout.
        counts: whether operations count in their rows how often they are executed.
        everything: whether loads, arguments and comparisons have rows, too.
    """

    with_rows = "an assignment"

    def __init__(
        self, kernel, layout: str, unit: str = "operation", backend: Backend | None = None,
        variant: Variant | None = None, counts: bool = False, everything: bool = False,
    ) -> None:  # fmt: skip
        self.everything = everything
        if everything:
            self.rewriter = RewriterOfEverything
        self.row_layout, self.unit, self._counts = layout, unit, counts
        variant = variant or Variant(f"by row, {layout}", rows.ROW_BYTES)
        backend = backend or resolve_backend("fp64")
        super().__init__(kernel, backend, "auto", True, variant, may_share=False)

    def _arithmetic(self) -> str:
        place = "'sciprec.instruments.assigning.operations', 'by_row'"
        how = ("atomic" if self.parallel else "plain") if self._counts else ""
        return f"sp_imported({place})({self.row_layout!r}, (), {how!r})"

    def entered(self, number: int, given: str) -> str:
        """The text of an argument as it enters the kernel, by its number."""
        made = super().entered(number, given)
        if not self.everything:
            return made
        prefix = self._entry_key(NUMBERS, number)
        return f"{self.operation(NUMBERS)}({prefix}{made})"

    def _entry_site(self, operation: str, text: str) -> int:
        """The site of something that happens where the kernel is entered; where an argument has a
        format, that is on the first line.
        """
        number = super()._entry_site(operation, text)
        if operation == NUMBERS:
            code = self.kernel.__code__
            first = self.sources[code].splitlines()[0].strip()
            self.origins[number] = Origin(
                self.kernel.__name__, code.co_filename, code.co_firstlineno, first, text, False
            )
        return number

    def frame(self, function: str) -> Frame:
        """The rows of a generated function."""
        return self.frames.setdefault(function, _Rows(self._place))

    def _place(self, site: int) -> Hashable:
        """What sites of one row have in common, in one function: all of it in the engine's."""
        origin = self.origins[site]
        if origin.of_engine or self.unit in ("function", "call"):
            return ""
        return {"line": origin.line, "variable": origin.variable}.get(self.unit, site)
