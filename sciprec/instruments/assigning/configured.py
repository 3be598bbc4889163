"""Kernels compiled once for all assignments, and their versions for known formats.

A program with rows has its functions once more for some formats, as they are compiled where these
are known. Where all rows of a function and of what it calls say such a format, a run takes that
version: in a search most functions are in one format most of the time. Operations on what looks
like integers read their rows in versions, too, and do not count: they hardly ever round.
"""

from __future__ import annotations

import ast
import copy
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numba.core import errors

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.operations import rounds
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.lifting.compiling import module_of
from sciprec.precision.lifting.lifted import last_reason
from sciprec.precision.operations.operation import NOTHING, OPERATIONS
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import LiftError, called_name, name

_VERSIONS_AFTER = 2.0
"""Seconds of calls, about what versions take to be compiled; the form that counts takes up to six
times as long for a call."""


class Configured:
    """A kernel compiled once for all assignments of a layout, in a form that counts operations, and
    once more where it is called for longer than that takes: without counters, which keep loops from
    vectorising, and with versions of its functions. Both have the same bits.

    Args:
        kernel: the plain Python function.
        layout: of the rows, see `rows`.
        by: what shares a row, see `InRows`.
        formats: of the versions, see `Versions`.
        after: seconds of calls before there are versions; left out, about what these take to be
            compiled.
        everything: whether loads, arguments and comparisons have formats, too.

    Attributes:
        program: with the rows of its operations, `program.layout.rows`.
    """

    def __init__(
        self, kernel, layout: str, by: str = "operation", formats: Sequence[Arithmetic] = (),
        after: float | None = None, everything: bool = False,
    ) -> None:  # fmt: skip
        self._numbers = InRows(layout, by, counts=True, everything=everything)
        self.program = self._counting = program_in_rows(kernel, self._numbers)
        self._kernel, self._formats = kernel, formats
        self._after = _VERSIONS_AFTER if after is None else after
        self._versions: Versions | None = None
        self._seconds, self._compiled, self._lock = 0.0, False, threading.Lock()
        if formats and self._after <= 0.0:
            self.program = self._bring_versions().program
        else:
            self._entry = module_of(self._counting).sp_entry

    def _bring_versions(self) -> Versions:
        """Go on with versions; tables from before choose none of these."""
        program = program_in_rows(self._kernel, replace(self._numbers, counts=False))
        versions = Versions(program, self._formats)
        entry = module_of(program).sp_entry
        self._spans, self._counted = versions.spans, versions.counted
        self._entry, self._versions = entry, versions
        return versions

    def table(self, arithmetics: list[Arithmetic]) -> np.ndarray:
        """The table that gives every row its arithmetic, in the rows' order."""
        row_of = {a: rows.row_of(a, self._numbers.layout) for a in set(arithmetics)}
        table = np.zeros((len(arithmetics) + 1, rows.WORDS))  # the last one is of no operation
        for number, arithmetic in enumerate(arithmetics):
            table[number] = row_of[arithmetic]
        return self.with_versions(table)

    def with_versions(self, table: np.ndarray) -> np.ndarray:
        """A table whose functions take a version of theirs where there is one and it has the bits;
        it is written.
        """
        words = table.view(np.int64)
        words[:, rows.VERSION] = 0
        formats = self._versions.program.formats if self._versions else ()
        for number, arithmetic in enumerate(formats, 1):
            row = rows.row_of(arithmetic, self._numbers.layout).view(np.int64)
            differs = (words[:-1, : rows.VERSION] != row[: rows.VERSION]).any(axis=1)
            before = np.concatenate([[0], np.cumsum(differs & self._counted)])
            same = before[self._spans[:, 0]] == before[self._spans[:, 1]]
            words[self._spans[same, 0], rows.VERSION] = number
        return table

    def __call__(self, table: np.ndarray, *args: Any) -> Any:
        """Run the kernel in the formats of a table; arrays are written as the kernel does."""
        began = time.perf_counter()
        try:
            return self._called(self._entry, table, args)
        finally:
            if self._formats and self._versions is None:
                self._called_for(time.perf_counter() - began)

    def counted(self, table: np.ndarray, *args: Any) -> tuple[Any, np.ndarray]:
        """Run like a call; also count how often each row's operations were executed, (rows,): a
        whole power counts every product that it takes.
        """
        scratch = table.copy()
        counts = scratch.view(np.int64)[:-1, rows.COUNT]
        counts[:] = 0
        return self._called(module_of(self._counting).sp_entry, scratch, args), counts

    def _called(self, entry, table: np.ndarray, args: tuple) -> Any:
        try:
            return entry(table.ctypes.data, *args)[0]
        except errors.NumbaError as error:
            raise LiftError(
                f"kernel '{self.program.kernel.__name__}' cannot run in an assignment: "
                f"{last_reason(str(error))}; an assignment takes what lift takes, but for complex "
                "numbers and functions as arguments"
            ) from None

    def _called_for(self, seconds: float) -> None:
        with self._lock:
            self._seconds += seconds if self._compiled else 0.0  # the first call compiles
            self._compiled = True
            if self._seconds > self._after and self._versions is None:
                self._bring_versions()


class Versions:
    """Versions of the functions of a program with rows, in some formats.

    Args:
        program: that gets them.
        formats: of the versions; none where a kernel takes several threads.
    """

    def __init__(self, program: Program, formats: Sequence[Arithmetic]) -> None:
        self.program = program
        program.formats = () if program.parallel else tuple(formats)
        definitions, program.definitions = program.definitions, []
        self._names: dict[tuple[str, int], str] = {}
        self.trees = {tree.name: tree for tree, _ in definitions}
        self.numbers = {name: _Integers(tree, program) for name, tree in self.trees.items()}
        self._with_versions = {f for f, tree in self.trees.items() if self._looks(tree)}
        numbers = range(1, len(program.formats) + 1)
        for number in numbers:
            _Version(self, number).define_all()
        for tree, parallel in definitions:
            if tree.name in self._with_versions:
                tree.body = [*(self._choice(tree, n) for n in numbers), *tree.body]
            program.add_definition(tree, parallel)

    def _looks(self, tree: ast.FunctionDef) -> bool:
        """Whether a function looks for a version of itself: one with loops, and with rows of its
        own, so that its first row is that of no other function.
        """
        kinds = {type(node) for node in ast.walk(tree)}
        plain = not tree.args.vararg and not kinds & {ast.Yield, ast.YieldFrom}
        loops = plain and bool(kinds & {ast.For, ast.While})
        return loops and bool(self.program.frame(tree.name).rows)

    def version_of(self, function: str, number: int) -> str:
        """The generated name of a function's version."""
        key = function, number
        if key not in self._names:
            stem = f"{function.removeprefix('sp_')}_in_{number}"
            self._names[key] = self.program.unique(stem)
        return self._names[key]

    def _choice(self, tree: ast.FunctionDef, number: int) -> ast.If:
        """Call a version where the function's first row says so."""
        args: list[ast.expr] = [name(a.arg) for a in tree.args.args]
        version = ast.Call(name(self.program.operation("version")), [name("sp_key")], [])
        test = ast.Compare(version, [ast.Eq()], [ast.Constant(number)])
        return ast.If(
            test, [ast.Return(ast.Call(name(self.version_of(tree.name, number)), args, []))], []
        )

    @property
    def spans(self) -> np.ndarray:
        """(functions along chains of calls, 2): the first row of each that looks for a version, and
        the row after its last one, those of what it calls among them.
        """
        spans: list[tuple[int, int]] = []
        layout = self.program.layout

        def collect(function: str, base: int) -> None:
            if function in self._with_versions:
                spans.append((base, base + (layout.size_of(function) or 0)))
            for called, _, constant in self.program.frame(function).calls:
                collect(called, base + layout.constants[constant])

        collect("sp_entry", 0)
        return np.array(spans, np.int64).reshape(-1, 2)

    @property
    def counted(self) -> np.ndarray:
        """(rows,), truths: rows that versions do not read."""
        unread: list[bool] = []

        def collect(function: str) -> None:
            integers = self.numbers.get(function)
            unread.extend(
                integers is None or number in integers.places
                for number in range(len(self.program.frame(function).rows))
            )
            for called, *_ in self.program.frame(function).calls:
                collect(called)

        collect("sp_entry")
        return np.array(unread, bool)


class _Integers:
    """Parts of a function that look as if they were made of integers alone.

    Args:
        tree: as it is generated.
        program: that it is part of.

    Attributes:
        places: numbers of rows with an operation that rounds and does not look so.
    """

    def __init__(self, tree: ast.FunctionDef, program: Program) -> None:
        self._operations = program.operations
        assigned: dict[str, list[ast.expr]] = {}
        indices: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned.setdefault(node.targets[0].id, []).append(node.value)
            if isinstance(node, ast.For) and called_name(node.iter) in ("range", "sp_prange"):
                ends = [*node.iter.args, node.target]  # type: ignore[attr-defined]
                indices.update(name for end in ends for name in self._indices(end))
            if isinstance(node, ast.Subscript):
                indices.update(self._indices(node.slice))
        self._names, before = indices | assigned.keys(), -1
        while before != len(self._names):
            before = len(self._names)
            self._names -= {
                name for name, values in assigned.items()
                if name not in indices and not all(map(self.look_so, values))
            }  # fmt: skip
        self.places = {
            place for node in ast.walk(tree) if (place := self.place_of(node)) is not None
        }

    def _indices(self, node: ast.AST | None) -> Iterator[str]:
        """The names in an index, of which it is made by operations on integers."""
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Tuple):
            for item in node.elts:
                yield from self._indices(item)
        elif isinstance(node, ast.Slice):
            for end in (node.lower, node.upper, node.step):
                yield from self._indices(end)
        elif isinstance(node, ast.Call) and self._is_of_integers(node):
            for operand in node.args[2:]:
                yield from self._indices(operand)

    def _is_of_integers(self, node: ast.Call) -> bool:
        """Whether a call is an operation that gives integers of integers."""
        stem = self._operations.get(called_name(node), "").removeprefix("i")
        return OPERATIONS.get(stem, NOTHING).whole is not None

    def look_so(self, node: ast.expr) -> bool:
        """Whether an expression looks like an integer."""
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        if isinstance(node, ast.Name):
            return node.id in self._names
        if isinstance(node, ast.Attribute):
            return node.attr in ("size", "ndim")
        if isinstance(node, ast.Subscript):
            return isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Attribute):
            return node.func.attr == "int64"
        return called_name(node) == "len" or (
            self._is_of_integers(node) and all(map(self.look_so, node.args[2:]))
        )

    def place_of(self, node: ast.AST) -> int | None:
        """The row, in the function, of an operation that may round numbers; None of others."""
        operation = self._operations.get(called_name(node), "")
        if not isinstance(node, ast.Call) or not rounds(operation):
            return None
        keyed = len(node.args) > 2 and isinstance(node.args[0], ast.Name)
        if not keyed or node.args[0].id != "sp_key" or not isinstance(node.args[1], ast.Constant):  # type: ignore[attr-defined]
            return None
        return None if all(map(self.look_so, node.args[2:])) else node.args[1].value


class _Version(ast.NodeTransformer):
    """Makes the functions of a program in one format.

    Args:
        versions: those of the program.
        number: of the format, from 1.
    """

    def __init__(self, versions: Versions, number: int) -> None:
        self.versions, self.number = versions, number

    def define_all(self) -> None:
        """All functions."""
        program = self.versions.program
        for function, tree in self.versions.trees.items():
            self._integers = self.versions.numbers[function]
            version = self.visit(copy.deepcopy(tree))
            if function in program.entered:
                program.entered.add(version.name)
            program.add_definition(ast.fix_missing_locations(version))

    def visit_FunctionDef(self, node: ast.FunctionDef):
        """The function under its other name."""
        if node.name in self.versions.trees:
            node.name = self.versions.version_of(node.name, self.number)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name):
        """Other functions, which have versions of the same format."""
        has_version = node.id in self.versions.trees
        return name(self.versions.version_of(node.id, self.number)) if has_version else node

    def visit_Call(self, node: ast.Call):
        """An operation in the format, without its row."""
        place = self._integers.place_of(node)
        if place is not None:
            called = node.func.id  # type: ignore[attr-defined]
            label = f"{called}_in_{self.number}"
            operations = self.versions.program.operations
            operations[label] = f"version_{self.number}.{operations[called]}"
            node = ast.Call(name(label), node.args[2:], [])
        return self.generic_visit(node)
