"""Programs whose numbers have companions: a kernel lifted as ever, a row for every rounding."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import numpy as np

from sciprec.precision.formats.backend import Backend
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.syntax import name
from sciprec.precision.rounding.variant import Variant
from sciprec.precision.tracing.technique import row_bytes

_IMPORTS = """
from sciprec.precision.tracing.numbers import CompanionDtype as sp_dtype
from sciprec.precision.tracing.numbers import adopt as sp_adopt
from sciprec.precision.tracing.numbers import constant_array as sp_constant_array
from sciprec.precision.tracing.numbers import release as sp_release
from sciprec.precision.tracing.numbers import tested as sp_tested
from sciprec.precision.tracing.numbers import type_of as sp_type_of

sp_wide, sp_narrow = sp_dtype({lanes}, False, {twin}), sp_dtype({lanes}, True, {twin})
sp_carrier = sp_dtype({lanes}, {narrow}, {twin})
"""
_MAKERS = ("zeros", "ones", "empty")
_OF_TESTED_VALUES = ("sp_number_of_steps", "sp_index_of_rank", "sp_fraction_of_rank")
"""Arithmetic of indices: it follows the tested run."""
_COMPARISONS = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip


@dataclass(frozen=True)
class Origin:
    """Where in a source an operation stands.

    Args:
        function, file, line: of the expression's beginning.
        source: the line.
        variable: the name that the statement gives a value, "return", or "" for none.
        of_engine: whether it is in one of the engine's own kernels.
    """

    function: str
    file: str
    line: int
    source: str
    variable: str
    of_engine: bool


class _TracedRewriter(Rewriter):
    """Rewrites a kernel as ever; literals have rows, and comparisons are operations."""

    at, variable = None, ""

    def visit(self, node):
        """Any node; literals are booked where it stands."""
        if hasattr(node, "lineno"):
            self.at = node
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            self.variable = _root(target)
        elif isinstance(node, ast.Return):
            self.variable = "return"
        elif isinstance(node, ast.stmt):
            self.variable = ""
        return super().visit(node)

    def add_site(self, node, operation: str) -> int:
        """The number of a new site, whose origin is noted."""
        number = super().add_site(node, operation)
        self.program.note_origin(number, self.function, self.label, self.variable)
        return number

    def literal(self, value: float) -> ast.expr:
        """A floating-point constant, rounded where it stands."""
        return self.op(f"literal({float(value).hex()!r})", self.at or self.tree, ast.Constant(0))

    def visit_Compare(self, node):
        """A comparison, an operation but where Numba decides by types."""
        operation = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        if operation is None:
            return super().visit_Compare(node)
        right = node.comparators[0]
        if any(map(_decides_types, (node.left, right))):
            return super().visit_Compare(node)
        return self.op(operation, node, self.visit(node.left), self.visit(right))


class _Dtypes(ast.NodeTransformer):
    """Puts the dtypes of numbers with companions where arrays of floats are made."""

    def visit_Call(self, node):
        """What makes an array, asks for a type, or computes an index."""
        self.generic_visit(node)
        called = getattr(node.func, "id", "")
        if called in _OF_TESTED_VALUES:
            node.args = [ast.Call(name("sp_tested"), [x], []) for x in node.args]
        if called == "type":
            return ast.Call(name("sp_type_of"), node.args, [])
        if called == "isinstance":
            value, kinds = node.args
            kinds.elts = [name("float") if _is_dtype(k) else k for k in kinds.elts]
            return ast.Call(node.func, [ast.Call(name("sp_tested"), [value], []), kinds], [])
        made = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if made in _MAKERS and len(node.args) == 1 and _is_numpy(node.func.value):
            if not any(k.arg == "dtype" for k in node.keywords):
                node.args.append(name("sp_wide"))
        return node

    def visit_Attribute(self, node):
        """NumPy's dtypes of floats."""
        self.generic_visit(node)
        if _is_numpy(node.value) and node.attr in ("float64", "float32"):
            return name("sp_wide" if node.attr == "float64" else "sp_narrow")
        return node


def _is_dtype(node) -> bool:
    return isinstance(node, ast.Name) and node.id in ("sp_wide", "sp_narrow")


def _is_numpy(node) -> bool:
    return isinstance(node, ast.Name) and node.id == "np"


def _decides_types(node) -> bool:
    """Whether Numba knows an operand when it compiles, and leaves out the other branch."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("ndim", "dtype", "shape")
    return isinstance(node, ast.Constant) and not isinstance(node.value, (int, float))


def _root(target) -> str:
    """The name that an assignment's target begins with."""
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    if isinstance(target, ast.Tuple) and target.elts:
        return ", ".join(map(_root, target.elts))
    return as_written(getattr(target, "id", ""))


class TracedProgram(Program):
    """A program of numbers with companions.

    Args:
        kernel: the plain Python function.
        backend: the arithmetic of tested values.
        technique: which companion, see `tracing.operations`.
        lanes: how many numbers are beside a value.
    """

    rewriter, with_rows = _TracedRewriter, "a trace"

    def __init__(self, kernel, backend: Backend, technique: str, lanes: int):
        self.technique, self.lanes = technique, lanes
        self.origins: dict[int, Origin] = {}
        narrow = backend.carrier == np.float32
        self.imports = _IMPORTS.format(lanes=lanes, narrow=narrow, twin=technique == "twin")
        super().__init__(kernel, backend, "auto", True, Variant(technique, row_bytes(lanes)))

    def _arithmetic(self) -> str:
        maker = "'sciprec.precision.tracing.operations', 'traced_operations'"
        return f"sp_imported({maker})({self.backend!r}, {self.technique!r}, {self.lanes})"

    def note_origin(self, number: int, function, label: str, variable: str) -> None:
        """Note where a site is."""
        line = self.sites[number].line
        lines = self.sources[function.__code__].splitlines()
        place = line - function.__code__.co_firstlineno
        self.origins[number] = Origin(
            as_written(label), function.__code__.co_filename, line,
            lines[place].strip() if 0 <= place < len(lines) else "", variable,
            function.__module__.startswith("sciprec.precision.") and function is not self.kernel,
        )  # fmt: skip

    def array_text(self, text: str) -> str:
        """With nothing beside its numbers yet."""
        return f"sp_constant_array({text}, sp_wide)"

    def array_read(self, identifier: str) -> ast.expr:
        """As an array of such numbers."""
        return ast.Call(name("sp_adopt"), [name(identifier)], [])

    def held_array(self, value: np.ndarray) -> np.ndarray:
        """As it was given: its elements are rounded where they are read."""
        return value

    def given(self, parameter: str) -> str:
        """A `CompanionArray` as an array."""
        return f"sp_adopt({parameter})"

    def given_back(self, result: str) -> str:
        """Numbers as tuples, arrays with a further axis."""
        return f"sp_release({result})"

    def add_definition(self, tree: ast.FunctionDef, parallel: bool = False) -> None:
        """A finished function, its new arrays of numbers with companions."""
        super().add_definition(_Dtypes().visit(tree), parallel)
