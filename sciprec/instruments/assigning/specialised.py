"""Programs compiled for one assignment: what a program with rows becomes where these are known.

A function is there once for every choice of formats along the chains of calls that lead to it;
keys and rows are gone, and an operation is that of its format. The bits are those of the program
with rows.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from types import MappingProxyType

from sciprec.instruments.assigning import rows
from sciprec.instruments.assigning.by_row import BINARY64
from sciprec.instruments.assigning.operations import NUMBERS, rounds
from sciprec.instruments.assigning.program import AssignedProgram
from sciprec.precision.formats.backend import Arithmetic
from sciprec.precision.rewriting.layout import Layout
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.syntax import name
from sciprec.precision.rounding.variant import FLOATS

_WITHOUT_MARKS = ("opened", "closed")


class Clones:
    """Functions of a program, once for every choice of formats along the calls that lead to them;
    beside `Program`.

    Attributes:
        arithmetics: of the rows of `layout`, in their order.
        formats: all of them, binary64 first.
        operations_of_rows: generated name -> operation, before formats were known.
    """

    layout: Layout
    arithmetics: list[Arithmetic]
    formats: list[Arithmetic]
    operations_of_rows: dict[str, str]
    _operations: dict[str, str]
    _definitions: list[tuple[ast.FunctionDef, bool]]
    _entered: set[str]

    def begin(self, arithmetics: Sequence[Arithmetic]) -> None:
        """Take over the definitions of functions, and forget them."""
        self.arithmetics = list(arithmetics)
        self.formats = list(dict.fromkeys([BINARY64, *arithmetics]))
        self._trees = {tree.name: (tree, parallel) for tree, parallel in self._definitions}
        self._clones: dict[tuple, str] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self._definitions, self._mentions = [], {}
        self.operations_of_rows = dict(self._operations)

    def specialiser(self, base: int) -> Specialiser:
        """What gives the operations of a function their formats."""
        return Specialiser(self, base)

    def clone(self, function: str, base: int) -> str:
        """The name of a function whose first row in the table is `base`."""
        size = self.layout.size_of(function)
        key = (function, base) if size is None else (
            function, tuple(self.arithmetics[base : base + size])
        )  # fmt: skip
        if key not in self._clones:
            tree, parallel = self._trees[function]
            made = self.specialiser(base).definition(copy.deepcopy(tree))
            text = ast.unparse(ast.fix_missing_locations(made))
            known = self._texts.get((function, text))
            if known is None:
                known = self._texts[function, text] = self._new_name(function)
                made.name = known
                if function in self._entered:
                    self._entered.add(known)
                self.add_definition(made, parallel)
            self._clones[key] = known
        return self._clones[key]

    def _new_name(self, function: str) -> str:
        taken = {known for (other, _), known in self._texts.items() if other == function}
        return self.unique(function.removeprefix("sp_")) if taken else function

    def in_format(self, operation: str, row: int) -> str:
        """The generated name of an operation in the format of a row."""
        number = self.formats.index(self.arithmetics[row])
        known = self.operations_of_rows[operation]
        if number == 0:
            self._operations[operation] = known
            return operation
        made = f"{operation}_in_{number}"
        self._operations[made] = f"in_{number}.{known}"
        return made

    def plain(self, operation: str) -> str:
        """The generated name of an operation that has no format."""
        self._operations[operation] = self.operations_of_rows[operation]
        return operation

    def named_functions(self) -> list:
        """What the generated module depends on and names by a row of a table only."""
        by_row, self._operations = self._operations, self.operations_of_rows
        try:
            return super().named_functions() + [a.rule.up for a in self.formats]  # type: ignore[misc]
        finally:
            self._operations = by_row


class SpecialisedProgram(Clones, AssignedProgram):
    """A program whose operations have the formats of one assignment.

    Args:
        kernel: the plain Python function.
        arithmetics: of the rows of `AssignedProgram(kernel, layout)`, in their order.
        everything: see `AssignedProgram`.
    """

    def __init__(self, kernel, arithmetics: Sequence[Arithmetic], everything: bool = False) -> None:
        super().__init__(kernel, rows.NEAREST, everything=everything)
        self._entry()  # calls the kernel
        self.layout = Layout(self.frames, "sp_entry", self.with_rows)
        self.begin(arithmetics)
        self.variant, self.rows, self.keyed = FLOATS, False, False
        self._operations = {}
        self.clone(self._names[kernel], self.layout.constants["sp_part_entry"])

    def entered(self, number: int, given: str) -> str:
        """The text of an argument as it enters the kernel: its row has its number."""
        if self.keyed or not self.everything:
            return super().entered(number, given)
        narrowed = self.in_format(f"sp_{NUMBERS}", number)
        return f"{narrowed}({Program.entered(self, number, given)})"

    def _arithmetic(self) -> str:
        place = "'sciprec.instruments.assigning.operations', 'in_formats'"
        return f"sp_imported({place})({tuple(self.formats)!r})"


class Specialiser(ast.NodeTransformer):
    """Takes rows out of a function.

    Args:
        program: that gets what is made.
        base: number of the function's first row.

    Attributes:
        calls: operations that call a kernel.
        after_kernels: operations of kernels -> how many of these they take, followed by as many
            keys.
    """

    calls = ("call", "call_normally")
    after_kernels = MappingProxyType({"chosen": 2, "result_type": 1})

    def __init__(self, program: Clones, base: int) -> None:
        self.program = program
        self.bases = {"sp_key": base}
        self.inner: dict[str, ast.FunctionDef] = {}
        self.made: dict[str, list[ast.FunctionDef]] = {}

    def definition(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """The function without its key."""
        self.function = tree.name
        tree.args.args = [a for a in tree.args.args if a.arg != "sp_key"]
        tree.body = self._block(tree.body)
        return tree

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.FunctionDef):
                self.inner[statement.name] = statement
                self.made[statement.name] = []
                out.append(statement)
                continue
            made = self.visit(statement)
            if made is not None:
                out.append(made)
        return [s for one in out for s in (self.made[one.name] if _is_inner(one) else [one])]

    def visit_Assign(self, node: ast.Assign):
        """What is assigned; the key of a call is none."""
        base = self._base_of(node.value)
        if base is None:
            return self.generic_visit(node)
        self.bases[node.targets[0].id] = base
        return None

    def visit_Call(self, node: ast.Call):
        """A call of an operation or a function, without a key."""
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        known = self.program.operations_of_rows.get(called, "")
        stem = known.partition("(")[0]
        if stem in _WITHOUT_MARKS:
            return self.visit(node.args[0])
        if stem == "kept":
            return self.visit(node.args[1])
        if stem in self.calls:
            function = self.program.clone(node.args[0].id, self._base_of(node.args[1]))
            operands = [name(function), *map(self.visit, node.args[2:])]
            operation = self.program.operation(f"{stem}({len(operands) - 1})")
            return ast.Call(name(operation), operands, [])
        if stem in self.after_kernels:
            return self._after_kernels(node, called, self.after_kernels[stem])
        if known and len(node.args) > 1 and self.is_key(node.args[0]):
            return self._operation(node, called, known)
        base = self._base_of(node.args[0]) if node.args else None
        if base is not None:
            node.args = node.args[1:]
            function = self._inner(called, base) if called in self.inner else None
            node.func = name(function or self.program.clone(called, base))
        elif known:
            node.func = name(self.program.plain(called))
        return self.generic_visit(node)

    def _after_kernels(self, node: ast.Call, called: str, count: int) -> ast.Call:
        """An operation whose first operands are so many kernels, and then their keys."""
        kernels, keys = node.args[:count], node.args[count : 2 * count]
        clones = []
        for kernel, key in zip(kernels, keys, strict=True):
            base = self._base_in_call(kernel.id) if self.is_key(key) else self._base_of(key)
            clones.append(self.program.clone(kernel.id, base))
        operands = [*map(name, clones), *map(self.visit, node.args[2 * count :])]
        return ast.Call(name(self.program.plain(called)), operands, [])

    def _base_in_call(self, function: str) -> int:
        """The first row of a function in the call of it."""
        calls = self.program.frames[self.function].calls
        constant = next(constant for called, _, constant in calls if called == function)
        return self.bases["sp_key"] + self.program.layout.constants[constant]

    def _operation(self, node: ast.Call, called: str, known: str) -> ast.Call:
        base, place = self.bases[node.args[0].id], node.args[1]
        if isinstance(place, ast.Name):  # an operation that calls a kernel
            base += self.program.layout.constants[place.id]
            function = self.program.clone(node.args[2].id, base)
            operands = [name(function), *map(self.visit, node.args[3:])]
            return ast.Call(name(self.program.plain(called)), operands, [])
        operands = [self.visit(a) for a in node.args[2:]]
        if not rounds(known):
            return ast.Call(name(self.program.plain(called)), operands, [])
        return ast.Call(name(self.program.in_format(called, base + place.value)), operands, [])

    def _inner(self, called: str, base: int) -> str:
        """The name of a function defined inside, whose first row is `base`."""
        inner = type(self)(self.program, base)
        inner.inner, inner.made = self.inner, self.made
        made = inner.definition(copy.deepcopy(self.inner[called]))
        text = ast.unparse(ast.fix_missing_locations(made))
        for other in self.made[called]:
            kept, other.name = other.name, called
            same = ast.unparse(ast.fix_missing_locations(other)) == text
            other.name = kept
            if same:
                return kept
        made.name = f"{called}_{len(self.made[called])}" if self.made[called] else called
        self.made[called].append(made)
        return made.name

    @staticmethod
    def is_key(node) -> bool:
        """Whether an operand is the key of the function itself."""
        return isinstance(node, ast.Name) and node.id == "sp_key"

    def _base_of(self, node) -> int | None:
        """The first row that a key stands for; None of what is no key."""
        if isinstance(node, ast.Name):
            return self.bases.get(node.id)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "sp_row":
            return self.bases[node.args[0].id] + self.program.layout.constants[node.args[1].id]
        return None


def _is_inner(node) -> bool:
    return isinstance(node, ast.FunctionDef)
