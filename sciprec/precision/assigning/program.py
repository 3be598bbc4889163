"""Programs whose operations read their format from a table: one compilation for all assignments."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from sciprec.precision.assigning import rows
from sciprec.precision.assigning.operations import rounds
from sciprec.precision.assigning.origins import ProgramWithOrigins
from sciprec.precision.formats.backend import Backend, resolve_backend
from sciprec.precision.rewriting.layout import Frame, Row
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


class AssignedProgram(ProgramWithOrigins):
    """A program of binary64 whose operations have a row for every chain of calls.

    Args:
        kernel: the plain Python function.
        layout: of the rows, see `rows`.
        unit: what shares a row: an operation alone, or those of a line, a variable, a function.
            Within it numbers are in one format, and rounded once.
        backend: of the variables; left out, binary64.
        variant: what operations do with rows; left out, that of the layout.
        counts: whether operations count in their rows how often they are executed.
    """

    with_rows = "an assignment"

    def __init__(
        self, kernel, layout: str, unit: str = "operation", backend: Backend | None = None,
        variant: Variant | None = None, counts: bool = False,
    ) -> None:  # fmt: skip
        self.row_layout, self.unit, self._counts = layout, unit, counts
        variant = variant or Variant(f"by row, {layout}", rows.ROW_BYTES)
        super().__init__(kernel, backend or resolve_backend("fp64"), "auto", True, variant)

    def _arithmetic(self) -> str:
        place = "'sciprec.precision.assigning.operations', 'by_row'"
        how = ("atomic" if self.parallel else "plain") if self._counts else ""
        return f"sp_imported({place})({self.row_layout!r}, (), {how!r})"

    def frame(self, function: str) -> Frame:
        """The rows of a generated function."""
        return self.frames.setdefault(function, _Rows(self._place))

    def _place(self, site: int) -> Hashable:
        """What sites of one row have in common, in one function: all of it in the engine's."""
        origin = self.origins[site]
        if origin.of_engine or self.unit in ("function", "call"):
            return ""
        return {"line": origin.line, "variable": origin.variable}.get(self.unit, site)
