"""Rows of a table: which row belongs to which operation of which call.

Every function of a lifted program has a frame: rows of its own operations, then a part for each
of its calls, laid out as the called function's frame. So an operation has one row for every chain
of calls that leads to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.syntax import LiftError

_LARGEST_TABLE = 1 << 20


@dataclass(frozen=True)
class Row:
    """A row of the table.

    Args:
        site: number of the operation's site.
        part: 0 for the result; further parts are the operands of an operation on arrays or of a
            product, and the multiplications of a power.
        calls: the sites of the calls that lead here.
        group: rows of one group have one unit: the elements of an array, and the results that go
            straight into it; "" where the row is alone.
    """

    site: int
    part: int
    calls: tuple[int, ...] = ()
    group: str = ""


@dataclass
class Frame:
    """The rows and calls of one function.

    Args:
        apart: whether sums and products that belong to no loop's sum have a row each.
    """

    apart: bool = False
    rows: list[Row] = field(default_factory=list)
    calls: list[tuple[str, int, str]] = field(default_factory=list)
    shared: dict[str, int] = field(default_factory=dict)

    def add(self, site: int, operation: str, arity: int, array: str = "") -> int:
        """The first row of an operation. Products and sums of products of a function share their
        rows, where a loop forms them those of one sum; and so do all loads from one array.
        """
        row = OPERATIONS.get(operation, NOTHING)
        shared = f"accumulator {array}".rstrip() if row.role and (array or not self.apart) else ""
        if array and row.moves == "load":
            shared = f"elements of {array}"
        if shared in self.shared:
            return self.shared[shared]
        first = len(self.rows)
        for part in range(_rows_of(operation, arity)):
            self.rows.append(Row(site, part, group=array if part == 0 else ""))
        if shared:
            self.shared[shared] = first
        return first

    def regroup(self, first: int, array: str) -> None:
        """Let the result of an operation count in the unit of the array that it is stored into."""
        row = self.rows[first]
        self.rows[first] = Row(row.site, row.part, group=array)

    def add_call(self, called: str, site: int, constant: str) -> None:
        """Note a call; `constant` is the name under which its part's first row will be known."""
        self.calls.append((called, site, constant))


def _rows_of(operation: str, arity: int) -> int:
    if "power" in operation:
        exponent = int(operation.partition("(")[2].rstrip(")"))
        return 2 + 2 * abs(exponent).bit_length()
    return OPERATIONS.get(operation, NOTHING).rows or 1 + arity


class Layout:
    """The whole table of a program.

    Args:
        frames: the functions' frames by name.
        entry: name of the frame that the table starts with.
        what: has rows, in messages.

    Raises:
        LiftError: a kernel calls itself, or the table would be too long.
    """

    def __init__(self, frames: dict[str, Frame], entry: str, label: str):
        self.frames, self.what = frames, label
        self._sizes: dict[str, int] = {}
        self.constants: dict[str, int] = {}
        self._measure(entry, ())
        if self._sizes[entry] > _LARGEST_TABLE:
            raise LiftError(
                f"the kernel has {self._sizes[entry]} operations along its calls; up to "
                f"{_LARGEST_TABLE} can be, in {label}: call fewer kernels from kernels"
            )
        self.rows: list[Row] = []
        self._collect(entry, ())

    def size_of(self, name: str) -> int | None:
        """The number of rows of a function, with those of its callees; None of one without a frame.
        """
        return self._sizes.get(name)

    def _measure(self, name: str, callers: tuple[str, ...]) -> int:
        if name in callers:
            raise LiftError(
                f"kernel '{name.removeprefix('sp_k_')}' calls itself; in {self.what} every call "
                f"has {'units' if self.what == 'fixed point' else 'parts'} of its own: write a loop"
            )
        if name not in self._sizes:
            frame = self.frames.get(name, Frame())
            size = len(frame.rows)
            for called, _, constant in frame.calls:
                self.constants[constant] = size
                size += self._measure(called, (*callers, name))
            self._sizes[name] = size
        return self._sizes[name]

    def _collect(self, name: str, calls: tuple[int, ...]) -> None:
        frame = self.frames.get(name, Frame())
        for r in frame.rows:
            group = f"{name} {calls} {r.group}" if r.group else ""
            self.rows.append(Row(r.site, r.part, calls, group))
        for called, site, _ in frame.calls:
            self._collect(called, (*calls, site))
