"""Known formats: a program with rows where the format of each row is known.

A function is there once for every choice of formats along the chains of calls that lead to it, and
an operation is that of its format. Rows stay where they say more (`give_formats`), or are taken out
(`specialised_program`). The bits are those of the program with rows.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.by_row import BINARY64
from sciprec.instruments.assigning.operations import rounds
from sciprec.instruments.assigning.program import InRows, program_in_rows
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import called_name, name, nodes, parse

_CALLS = ("call", "call_normally")
"""Operations that call a kernel: its name, its key, its operands."""
_AFTER_KERNELS = MappingProxyType({"chosen": 2, "result_type": 1})
"""Operations of kernels -> how many of these they take, followed by as many keys."""
_WITHOUT_ROWS = MappingProxyType({"opened": 0, "closed": 0, "kept": 1})
"""Operations that need rows -> the operand that is left of them without."""


def specialised_program(
    kernel, arithmetics: Sequence[Arithmetic], everything: bool = False
) -> Program:
    """A program whose operations have the formats of one assignment, and no rows.

    Args:
        kernel: the plain Python function.
        arithmetics: of the rows of the program that reads them, in their order.
        everything: see `InRows`.
    """
    program = program_in_rows(kernel, InRows(rows.NEAREST, everything=everything))
    program.lay_out()
    give_formats(program, arithmetics, keep_rows=False)
    used = {n.id for n in nodes(_tree_of(program.entry_text)) if isinstance(n, ast.Name)}
    used = used.union(*program.mentions.values())
    program.operations = {n: o for n, o in program.operations.items() if n in used}
    program.drop_rows()
    return program


def give_formats(
    program: Program, arithmetics: Sequence[Arithmetic], keep_rows: bool = True
) -> None:
    """Give the operations of a program, which is laid out, the formats of their rows.

    Args:
        keep_rows: whether functions still take keys, and operations numbers of rows.
    """
    clones = _Clones(program, arithmetics, keep_rows)
    entry = clones.definition(_tree_of(program.entry_text), 0)
    program.entry_text = f"{ast.unparse(entry)}\n"


def _tree_of(text: str) -> ast.FunctionDef:
    (tree,) = parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    return tree


class _Clones:
    """Functions of a program, once for every choice of formats along the calls that lead to them.

    Attributes:
        operations: generated name -> operation, before formats were known.
    """

    def __init__(
        self, program: Program, arithmetics: Sequence[Arithmetic], keep_rows: bool
    ) -> None:
        self.program, self._arithmetics, self.keep_rows = program, list(arithmetics), keep_rows
        program.formats = tuple(dict.fromkeys([BINARY64, *arithmetics]))
        self._trees = {tree.name: (tree, parallel) for tree, parallel in program.definitions}
        self._clones: dict[tuple, str] = {}
        self._texts: dict[tuple[str, str], str] = {}
        program.definitions, program.mentions = [], {}
        self.operations = dict(program.operations)

    def definition(self, tree: ast.FunctionDef, base: int) -> ast.FunctionDef:
        """Return a function whose first row in the table is `base`, its formats known."""
        return ast.fix_missing_locations(_FormatGiver(self, base).definition(tree))

    def clone(self, function: str, base: int) -> str:
        """The name of a function whose first row in the table is `base`."""
        size = self.program.layout.size_of(function)
        key = (function, base) if size is None else (
            function, tuple(self._arithmetics[base : base + size])
        )  # fmt: skip
        if key not in self._clones:
            tree, parallel = self._trees[function]
            definition = self.definition(_copy(tree), base)
            text = ast.unparse(definition)
            label = self._texts.get((function, text))
            if label is None:
                label = self._texts[function, text] = self._new_name(function)
                definition.name = label
                if function in self.program.entered:
                    self.program.entered.add(label)
                self.program.add_definition(definition, parallel)
            self._clones[key] = label
        return self._clones[key]

    def _new_name(self, function: str) -> str:
        exists = any(cloned == function for cloned, _ in self._texts)
        return self.program.unique(function.removeprefix("sp_")) if exists else function

    def in_format(self, operation: str, row: int) -> str:
        """The generated name of an operation in the format of a row."""
        number = self.program.formats.index(self._arithmetics[row])
        if number == 0:
            return operation
        label = f"{operation}_in_{number}"
        self.program.operations[label] = f"in_{number}.{self.operations[operation]}"
        return label


class _FormatGiver(ast.NodeTransformer):
    """Gives the operations of a function their formats.

    Args:
        clones: functions that it calls.
        base: number of the function's first row.
    """

    def __init__(self, clones: _Clones, base: int) -> None:
        self.clones, self.bases = clones, {"sp_key": base}
        self.inner: dict[str, ast.FunctionDef] = {}
        self.copies: dict[str, list[ast.FunctionDef]] = {}

    def definition(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """Return the function, changed."""
        self.function = tree.name
        if not self.clones.keep_rows:
            tree.args.args = [a for a in tree.args.args if a.arg != "sp_key"]
        tree.body = self._block(tree.body)
        return tree

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.FunctionDef):
                self.inner[statement.name] = statement
                self.copies[statement.name] = []
                out.append(statement)
            elif (visited := self.visit(statement)) is not None:
                out.append(visited)
        return [s for node in out for s in self.copies.get(getattr(node, "name", ""), [node])]

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        """An assignment; the key of a call is noted, and goes where rows do."""
        base = self._base_of(node.value)
        if base is None:
            return self.generic_visit(node)
        self.bases[node.targets[0].id] = base  # type: ignore[attr-defined]
        return node if self.clones.keep_rows else None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """A call of an operation or a function."""
        if self._base_of(node) is not None:
            return node
        called, args, clone = called_name(node), node.args, self.clones.clone
        operation = self.clones.operations.get(called, "")
        stem = operation.partition("(")[0]
        if stem in _CALLS:
            args[0] = name(clone(args[0].id, self._base_of(args[1])))
        elif stem in _AFTER_KERNELS:
            count = _AFTER_KERNELS[stem]
            for place, key in enumerate(args[count : 2 * count]):
                kernel = args[place].id
                base = self._base_in_call(kernel) if _is_key(key) else self._base_of(key)
                args[place] = name(clone(kernel, base))
        elif operation and len(args) > 1 and _is_key(args[0]):
            base, place = self.bases["sp_key"], args[1]
            if isinstance(place, ast.Name):  # an operation that calls a kernel
                base += self.clones.program.layout.constants[place.id]
                args[2] = name(clone(args[2].id, base))
            elif rounds(operation):
                node.func = name(self.clones.in_format(called, base + place.value))
        elif not operation and args:
            base = self._base_of(args[0])
            if base is not None:
                function = self._inner(called, base) if called in self.inner else None
                node.func = name(function or clone(called, base))
        return self.generic_visit(node) if self.clones.keep_rows else self._without_rows(node, stem)

    def _without_rows(self, node: ast.Call, stem: str) -> ast.AST:
        """A call without keys and numbers of rows.

        Args:
            stem: of the operation, "" of a function.
        """
        if stem in _WITHOUT_ROWS:
            return self.visit(node.args[_WITHOUT_ROWS[stem]])
        of_row = bool(stem) and len(node.args) > 1 and _is_key(node.args[0])
        node.args = [a for a in node.args[2 * of_row :] if self._base_of(a) is None]
        if stem in _CALLS:
            node.func = name(self.clones.program.operation(f"{stem}({len(node.args) - 1})"))
        return self.generic_visit(node)

    def _base_in_call(self, function: str) -> int:
        """The first row of a function in the call of it."""
        calls = self.clones.program.frames[self.function].calls
        constant = next(constant for called, _, constant in calls if called == function)
        return self.bases["sp_key"] + self.clones.program.layout.constants[constant]

    def _inner(self, called: str, base: int) -> str:
        """The name of a function defined inside, whose first row is `base`."""
        inner = _FormatGiver(self.clones, base)
        inner.inner, inner.copies = self.inner, self.copies
        definition = inner.definition(_copy(self.inner[called]))
        text = ast.unparse(ast.fix_missing_locations(definition))
        for earlier in self.copies[called]:
            label, earlier.name = earlier.name, called
            same = ast.unparse(ast.fix_missing_locations(earlier)) == text
            earlier.name = label
            if same:
                return label
        definition.name = f"{called}_{len(self.copies[called])}" if self.copies[called] else called
        self.copies[called].append(definition)
        return definition.name

    def _base_of(self, node) -> int | None:
        """The first row that a key stands for; None of what is no key."""
        if isinstance(node, ast.Name):
            return self.bases.get(node.id)
        if isinstance(node, ast.Call) and called_name(node) == "sp_row":
            constant = self.clones.program.layout.constants[node.args[1].id]
            return self.bases[node.args[0].id] + constant
        return None


def _copy(node: Any) -> Any:
    """Return a copy of a tree, in which no node stands twice: each becomes another one."""
    if isinstance(node, list):
        return [_copy(n) for n in node]
    if not isinstance(node, ast.AST):
        return node
    return type(node)(**{field: _copy(value) for field, value in ast.iter_fields(node)})


def _is_key(node: ast.AST) -> bool:
    """Whether an operand is the key of the function itself."""
    return isinstance(node, ast.Name) and node.id == "sp_key"
