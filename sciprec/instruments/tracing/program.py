"""Programs whose numbers have companions: a kernel lifted as ever, a row for every rounding; and
the statements whose value a loop carries from one pass to the next.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sciprec.instruments.tracing.operations import (
    END,
    LOOP_BEGINS,
    LOOP_ENDS,
    OUTERMOST_PASS,
    PASS,
    PASS_BEGINS,
    TECHNIQUES,
)
from sciprec.instruments.tracing.technique import row_bytes
from sciprec.precision.formats.backend import Backend
from sciprec.precision.library import searching
from sciprec.precision.rewriting.build import Numbers
from sciprec.precision.rewriting.calls import call_kernel
from sciprec.precision.rewriting.layout import Frame
from sciprec.precision.rewriting.observer import Hooks
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.program import Program
from sciprec.precision.rewriting.rewrite import Rewriter
from sciprec.precision.rewriting.sources import source_tree
from sciprec.precision.rewriting.statements import named_range
from sciprec.precision.rewriting.symbols import PLACES
from sciprec.precision.rewriting.syntax import assign, name, nodes, plain_function, static_value
from sciprec.precision.rounding.variant import RowVariant

IMPORTS = """
from sciprec.instruments.tracing.nested import array_of as sp_array_of
from sciprec.instruments.tracing.numbers import CompanionDtype as sp_dtype
from sciprec.instruments.tracing.numbers import adopt as sp_adopt
from sciprec.instruments.tracing.numbers import constant_array as sp_constant_array
from sciprec.instruments.tracing.numbers import followed as sp_followed
from sciprec.instruments.tracing.numbers import release as sp_release
from sciprec.instruments.tracing.numbers import tested as sp_tested
from sciprec.instruments.tracing.numbers import type_of as sp_type_of
"""
_DTYPES = """
sp_wide, sp_narrow = sp_dtype({lanes}, False, {kinds}), sp_dtype({lanes}, True, {kinds})
sp_carrier = sp_dtype({lanes}, {narrow}, {kinds})
"""
_MAKERS = ("zeros", "ones", "empty")
_TO_INTEGER = {"int": "trunc", "math.trunc": "trunc", "math.floor": "floor", "math.ceil": "ceil"}
_CLASSIFIES = ("isnan", "isinf", "isfinite")
_SEARCHES = {"left": searching.search_left, "right": searching.search_right}
_COMPARISONS = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
_ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
_USERS = (ast.BinOp, ast.Compare, ast.Call, ast.AugAssign)
"""Operations, on whose lines their literals are converted."""
_SHAPE = ("shape", "size", "ndim", "dtype", "strides")
_PLAIN_ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


class _Following(Hooks):
    """Rows of literals, comparisons and passes of loops, which only traces follow.

    Args:
        rewriter: of the function.

    Attributes:
        users: node -> the operation that it is an operand of, the innermost one.
        carrying: see `carrying`.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        tree, kernel = rewriter.tree, rewriter.program.kernel
        users = [node for node in nodes(tree) if isinstance(node, _USERS)]
        self.users = {node: user for user in users for node in nodes(user)}
        self.carrying = carrying(tree)
        self.of_kernel = rewriter.function is kernel
        self.counts_passes = TECHNIQUES[rewriter.program.numbers.technique].counts_passes and (
            self.of_kernel or rewriter.function in _called_without_loops(kernel)
        )
        self.around = dict.fromkeys(_ASSIGNMENTS, self._assigned)
        self.around |= dict.fromkeys((ast.For, ast.While), self._looped)
        self.around |= {ast.Call: self._called, ast.Compare: self._compared}

    def result(self, rewriter, operation, node, call):
        """Book a literal on the line of the operation that uses it."""
        if operation.startswith("literal(") and node in self.users:
            line, sites = rewriter.first + self.users[node].lineno - 1, rewriter.program.sites
            sites[-1] = replace(sites[-1], line=line)
        return call

    def begun(self, rewriter: Rewriter, node: ast.For | ast.While) -> list[ast.stmt]:
        """Note a pass, with the loop's variable where that is a whole number."""
        program, index = rewriter.program, ast.Constant(-1)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and _is_range(node.iter):
            index = name(node.target.id)
        outermost = self.of_kernel and len(rewriter.loops) == 1
        noted = rewriter.op(OUTERMOST_PASS if outermost else PASS, node, index)
        site = program.passes[rewriter.loops[-1]] = len(program.sites) - 1
        if isinstance(index, ast.Name):
            program.loop_variables[site] = as_written(index.id)
        return [ast.Expr(noted)]

    def _assigned(self, rewriter: Rewriter, node, rewrite):
        """A statement that may feed back into itself."""
        rewriter.carried = id(node) in self.carrying
        return rewrite(node)

    def _looped(self, rewriter: Rewriter, node, rewrite) -> list[ast.stmt]:
        """A loop; of the kernel itself also where it ends. A parallel one is rewritten into a
        serial one, by a rewriter of its own.
        """
        inside, result = rewriter.loops, rewrite(node)
        if not inside and self.counts_passes:
            result = self._counted(rewriter, node, result)
        if self.of_kernel and not rewriter.loops and not rewriter.parallel:
            result = [*result, ast.Expr(rewriter.op(END, node, ast.Constant(0)))]
        return result

    def _counted(self, rewriter: Rewriter, node, statements: list[ast.stmt]) -> list[ast.stmt]:
        """A rewritten loop that no other of its function is around: its passes are counted, for
        whoever waits, where it goes over a range. One loop is counted at a time.
        """
        ranged = named_range(rewriter, statements)
        if not ranged:
            return statements
        counted, length = rewriter.fresh("counted"), ast.Call(name("len"), [name(ranged)], [])
        begins = assign(counted, rewriter.op(LOOP_BEGINS, node, length))
        loop: Any = statements.pop()
        loop.body.insert(0, ast.Expr(rewriter.op(PASS_BEGINS, node, name(counted))))
        return [*statements, begins, loop, ast.Expr(rewriter.op(LOOP_ENDS, node, name(counted)))]

    def _called(self, rewriter: Rewriter, node, rewrite) -> ast.expr:
        """A call; int(x), math.floor(x) and the like are decisions, a search is made of some."""
        called = rewriter.value_of(node.func)
        if called is np.searchsorted:
            return _search(rewriter, node)
        if called is np.digitize:
            looked_at = [rewriter.seen(a) for a in node.args]
            return call_kernel(rewriter, searching.digitize, node, looked_at)
        result = rewrite(node)
        function = getattr(result, "func", None)
        by = _TO_INTEGER.get(ast.unparse(function)) if function is not None else None
        if by and result.args:
            result.args[0] = rewriter.op(f"to_integer({by!r})", node, result.args[0])
        elif by is None and function is not None and result.args:
            if ast.unparse(function).removeprefix("np.").removeprefix("math.") in _CLASSIFIES:
                result.args[0] = rewriter.op("classified", node, result.args[0])
        return result

    def _compared(self, rewriter: Rewriter, node, rewrite) -> ast.expr:
        """A comparison, an operation but where Numba decides by types."""
        operation = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        operands = (node.left, *node.comparators)
        if operation is None or any(map(_decides_types, operands)):
            return rewrite(node)
        return rewriter.op(operation, node, *map(rewriter.visit, operands))


def _search(rewriter: Rewriter, node: ast.Call) -> ast.expr:
    """np.searchsorted, whose comparisons are seen one by one."""
    args = dict(zip(("a", "v", "side"), node.args, strict=False))
    args |= {k.arg: k.value for k in node.keywords}
    side = getattr(args.pop("side", ast.Constant("left")), "value", None)
    if side not in _SEARCHES or set(args) != {"a", "v"}:
        rewriter.refuse(node, "np.searchsorted with these arguments", "it takes (a, v, side), the "
                        "side one of 'left' and 'right'")  # fmt: skip
    plain = ast.copy_location(ast.Call(node.func, [], []), node)
    operands = [rewriter.seen(args[k]) for k in ("a", "v")]
    return call_kernel(rewriter, _SEARCHES[side], plain, operands)


class _Dtypes(ast.NodeTransformer):
    """Puts the dtypes of numbers with companions where arrays of floats are made."""

    def visit_Call(self, node):
        """Rewrite a call that makes an array, asks for a type, or computes an index."""
        self.generic_visit(node)
        called = getattr(node.func, "id", "")
        if called in PLACES.values():  # follows the tested run
            node.args = [ast.Call(name("sp_followed"), [x], []) for x in node.args]
        if called == "type":
            return ast.Call(name("sp_type_of"), node.args, [])
        if called == "isinstance":
            value, kinds = node.args
            kinds.elts = [name("float") if _is_dtype(k) else k for k in kinds.elts]
            return ast.Call(node.func, [ast.Call(name("sp_tested"), [value], []), kinds], [])
        maker = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if maker in _MAKERS and len(node.args) == 1 and _is_numpy(node.func.value):
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


def _called_without_loops(kernel) -> list:
    """The functions that a kernel without a loop calls."""
    inside = nodes(source_tree(kernel)[0])
    if any(isinstance(node, (ast.For, ast.While)) for node in inside):
        return []
    calls = [node.func for node in inside if isinstance(node, ast.Call)]
    return [plain_function(static_value(f, kernel.__globals__, set())) for f in calls]


def _decides_types(node) -> bool:
    """Whether Numba knows an operand when it compiles, and leaves out the other branch."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("ndim", "dtype", "shape")
    return isinstance(node, ast.Constant) and not isinstance(node.value, (int, float))


def _is_range(iterated: ast.expr) -> bool:
    """Whether a loop's variable is a whole number."""
    called = iterated.func if isinstance(iterated, ast.Call) else None
    return getattr(called, "id", getattr(called, "attr", "")) in ("range", "prange")


@dataclass(frozen=True)
class Companions(Numbers):
    """Numbers with companions.

    Args:
        technique: which companion, see `tracing.operations`.
        lanes: how many numbers are beside a value.
        in_formats: whether operations have formats of their own: sums and products then have a row
            each, those of the engine's kernels, too.
    """

    technique: str
    lanes: int
    in_formats: bool = False

    holder, sums_apart = "a trace", True
    constant, read = "sp_constant_array({}, sp_wide)", "sp_adopt({})"  # nothing beside it yet
    given, given_back = "sp_adopt({})", "sp_release({})"  # of a `CompanionArray`, tuples, arrays

    @property
    def variant(self) -> RowVariant:
        """The use that operations make of rows."""
        return RowVariant(self.technique, row_bytes(TECHNIQUES[self.technique], self.lanes))

    def imports(self, backend: Backend) -> str:
        """Return lines at the head of the generated module."""
        narrow = backend.carrier == np.float32
        kinds = f"{self.technique == 'twin'}, {self.technique == 'enclosure'}"
        return IMPORTS + _DTYPES.format(lanes=self.lanes, narrow=narrow, kinds=kinds)

    def operations(self, program: Program) -> str:
        """Return the operations of the arithmetic, or those of the program's formats."""
        place, of = "operations', 'traced_operations", repr(program.backend)
        if program.formats:
            place, of = "assigned', 'in_formats", repr(program.formats)
        maker = f"sp_imported('sciprec.instruments.tracing.{place}')"
        return f"{maker}({of}, {self.technique!r}, {self.lanes})"

    def hooks(self, rewriter: Rewriter) -> tuple[Hooks, ...]:
        """Return what is put into each function."""
        return (_Following(rewriter),)

    def literal(self, rewriter: Rewriter, value: float) -> ast.expr:
        """Return a constant of the source, rounded where the operation begins that uses it."""
        return rewriter.op(f"literal({value.hex()!r})", rewriter.at, ast.Constant(0))

    def array(self, program: Program, value: np.ndarray) -> np.ndarray:
        """Return a constant array as it is: its elements are rounded where they are read."""
        return value

    def frame(self, program: Program) -> Frame:
        """Return rows for a function, none so far."""
        return Frame(apart=self.in_formats)

    def definition(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """Return a finished function, its new arrays of numbers with companions."""
        definition: ast.FunctionDef = _Dtypes().visit(tree)
        return definition


def carrying(tree: ast.FunctionDef) -> set[int]:
    """The identities of statements whose value feeds back into them, by names alone: through a
    variable that a loop reads before it assigns it, or an array that it reads before it writes
    elements. What depends on such a state and does not feed back, as a variance of running sums, is
    not carried. What a call without a result is given may be written by it.
    """
    carried: set[int] = set()
    for loop in (n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))):
        statements = _in_order(loop.body)
        state, read = _state(loop, statements), [_read(s) for s in statements]
        for start, statement in enumerate(statements):
            fed, waiting = set(), [start]
            while waiting:
                place = waiting.pop()
                assigned = _written(statements[place])
                fed |= (new := {
                    n for n, names in enumerate(read)
                    if names & (assigned if n > place else assigned & state)
                } - fed)  # fmt: skip
                waiting += new
            if start in fed:
                carried.add(id(statement))
    return carried


def _state(loop: ast.For | ast.While, statements: list[ast.stmt]) -> set[str]:
    """Names that a loop reads before it writes them."""
    read = _read(loop.test) if isinstance(loop, ast.While) else set()
    settled: set[str] = set()
    state: set[str] = set()
    for statement in statements:
        read |= _read(statement) - settled
        state |= _written(statement) & read
        settled |= _assigned(statement)
    return state


def _in_order(body: list[ast.stmt]) -> list[ast.stmt]:
    """The assignments and calls of a block, in the order of the source."""
    statements: list[ast.stmt] = []
    for statement in body:
        called = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)
        if isinstance(statement, _PLAIN_ASSIGNMENTS) or called:
            statements.append(statement)
        for part in ("body", "orelse", "handlers", "finalbody"):
            statements += _in_order(getattr(statement, part, []))
    return statements


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if not isinstance(statement, _PLAIN_ASSIGNMENTS):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [t for each in targets for t in (each.elts if isinstance(each, ast.Tuple) else [each])]


def _assigned(statement: ast.stmt) -> set[str]:
    """Variables that a statement gives another value, as a whole."""
    return {t.id for t in _targets(statement) if isinstance(t, ast.Name)}


def _written(statement: ast.stmt) -> set[str]:
    """Variables that a statement gives a value, or whose elements it may write."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return {a.id for a in statement.value.args if isinstance(a, ast.Name)}
    return {root for target in _targets(statement) if (root := _root(target))}


def _root(target: ast.expr) -> str:
    while isinstance(target, (ast.Subscript, ast.Attribute, ast.Starred)):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""


def _read(node: ast.AST) -> set[str]:
    """Variables whose values, or those of their elements, a statement or expression reads."""
    apart: set[int] = set()
    for part in ast.walk(node):
        stores = isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
        if stores or isinstance(part, ast.Attribute) and part.attr in _SHAPE:
            apart.add(id(part.value))
    names = {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and id(part) not in apart
    }
    return names | {_root(node.target)} if isinstance(node, ast.AugAssign) else names
