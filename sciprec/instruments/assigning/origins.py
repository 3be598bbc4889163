"""Where in the user's source the operations of a program stand."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from sciprec.precision.compiled.disk_cache import of_engine
from sciprec.precision.rewriting.layout import Row
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter


@dataclass(frozen=True)
class Origin:
    """Where in a source an operation stands.

    Args:
        function, file, line: of the expression's beginning.
        source: the line.
        variable: the name that the statement gives a value, "return", or "" for none.
        of_engine: whether it is in one of the engine's own kernels.
        loops: numbers of the loops of its function that it stands in, the outermost one first.
        carried: whether its statement's value feeds back into it through a loop's passes.
        twin, twins: which of the function's lines of this text it is, from 1, of how many.
    """

    function: str
    file: str
    line: int
    source: str
    variable: str
    of_engine: bool
    loops: tuple[int, ...] = ()
    carried: bool = False
    twin: int = 1
    twins: int = 1


@dataclass(frozen=True)
class Source:
    """A function as it is written.

    Args:
        function, file: where it is.
        first: the number of its first line.
        lines: its text.
    """

    function: str
    file: str
    first: int
    lines: tuple[str, ...]

    def has(self, line: int) -> bool:
        """Whether a line of the file is in the function."""
        return self.first <= line < self.first + len(self.lines)


class OriginRewriter(Rewriter):
    """Rewrites a kernel as ever; its program is told where sites stand.

    Attributes:
        at: the node that is being rewritten.
        variable: what its statement gives a value.
        loops, carries: see `Origin`.
    """

    at: Any = None
    variable, carries = "", False
    loops: tuple[int, ...] = ()

    def visit(self, node):
        """Any node; what it is part of is noted."""
        if hasattr(node, "lineno"):
            self.at = node
        if isinstance(node, ast.stmt):
            self.begin(node)
        return super().visit(node)

    def begin(self, node: ast.stmt) -> None:
        """Note what a statement gives a value."""
        self.variable = ""
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            self.variable = _root(target)
        elif isinstance(node, ast.Return):
            self.variable = "return"

    def add_site(self, node, operation: str) -> int:
        """The number of a new site, whose origin is noted."""
        number = super().add_site(node, operation)
        self.program.note_origin(number, self)
        return number


class ProgramWithOrigins(Program):
    """A program whose sites are known by where they stand.

    Attributes:
        origins: of every site but those where the kernel is entered.
    """

    rewriter = OriginRewriter

    def __init__(self, *args, **more) -> None:
        self.origins: dict[int, Origin] = {}
        super().__init__(*args, may_share=False, **more)

    def note_origin(self, number: int, rewriter: OriginRewriter) -> None:
        """Note where a site is."""
        function = rewriter.function
        line = self.sites[number].line
        lines = [text.strip() for text in self.sources[function.__code__].splitlines()]
        place = line - function.__code__.co_firstlineno
        text = lines[place] if 0 <= place < len(lines) else ""
        self.origins[number] = Origin(
            as_written(rewriter.label), function.__code__.co_filename, line,
            text, rewriter.variable,
            of_engine(function)
            and function is not self.kernel,
            rewriter.loops, rewriter.carries,
            lines[: place + 1].count(text), lines.count(text),
        )  # fmt: skip

    def functions(self) -> list[Source]:
        """The user's functions as they are written."""
        return [
            Source(code.co_name, code.co_filename, code.co_firstlineno, tuple(text.splitlines()))
            for code, text in self.sources.items()
        ]


def own_place(program: ProgramWithOrigins, row: Row) -> Origin:
    """The user's own place of a row: in a kernel of the engine, where it is called; of an argument
    the kernel's definition.
    """
    chain = chain_of(program, row)
    if not chain:
        kernel = program.kernel
        site = program.sites[row.site]
        code, text = kernel.__code__, f"argument {site.text}"
        text = "results returned" if site.operation == "returned" else text
        file, line = code.co_filename, code.co_firstlineno
        return Origin(kernel.__name__, file, line, text, "", False)
    return next((o for o in reversed(chain) if not o.of_engine), chain[-1])


def chain_of(program: ProgramWithOrigins, row: Row) -> list[Origin]:
    """The places of the calls that lead to a row, and its own."""
    return [program.origins[s] for s in (*row.calls, row.site) if s in program.origins]


def key_of(program: ProgramWithOrigins, row: Row, origin: Origin, by: str) -> tuple:
    """What rows of one line, operation, variable, function or call have in common; the last item
    is what it is called: what is done in the engine's own kernels by the call of them.
    """
    if by == "line":
        return origin.file, origin.line, origin.function, f"line {origin.line}"
    if by == "variable":
        return origin.file, origin.function, origin.variable or "(no variable)"
    if by == "function":
        return origin.file, origin.function
    own = [s for s in (*row.calls, row.site) if s in program.origins]
    own = [s for s in own if not program.origins[s].of_engine] or own
    site, inside = program.sites[own[-1]], own[-1] != row.site
    text = site.text or site.operation
    if by == "operation":
        label = text if inside else f"{site.operation.partition('(')[0]}: {text}"
        return origin.file, origin.line, site.column, site.operation, label
    lines = own if inside else own[:-1]
    path = [f"line {program.origins[s].line}" for s in lines]
    return origin.file, " > ".join([*path, text if inside else origin.function])


def _root(target) -> str:
    """The name that an assignment's target begins with."""
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Tuple) and target.elts:
        return ", ".join(map(_root, target.elts))
    return as_written(getattr(target, "id", ""))
