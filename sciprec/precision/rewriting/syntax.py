"""Tools for syntax trees, and what a name stands for when a kernel is lifted."""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import inspect
import textwrap
import threading
import types as python_types
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

import numpy as np

from sciprec.foundation.errors import InputError

_UNKNOWN = object()
_REMEMBERING = type(functools.lru_cache(len))
_parser = threading.Lock()


class LiftError(InputError):
    """A kernel that cannot be lifted; the message names the construct, the place, and what to
    write instead.
    """


class Rewriting(Protocol):
    """The rewriter, as functions take it that rewrite calls, assignments, loops and the like in its
    place; its methods and attributes are those of `Rewriter`.
    """

    program: Any
    function: Any
    tree: ast.FunctionDef
    namespace: dict
    local: set[str]
    types: frozenset[str]
    counts: Any
    contractions: Any
    hooks: Any
    loops: tuple[int, ...]
    key: str
    frame_name: str
    counter: int
    parallel: bool
    serial: bool
    is_parallel: Any

    def visit(self, node) -> Any: ...
    def value_of(self, node: ast.expr) -> Any: ...
    def refuse(self, node, construct: str, advice: str) -> Any: ...
    def fresh(self, stem: str) -> str: ...
    def op(
        self, operation: str, node, *operands: ast.expr, array: str = "", named: str = ""
    ) -> ast.Call: ...
    def add_site(self, node, operation: str) -> int: ...
    def at_site(self, site: int) -> ast.Call: ...
    def key_of_call(self, called: str, node) -> ast.expr: ...
    def descended(self, key: ast.expr, counter: ast.expr) -> ast.Call: ...
    def imported(self, node, value, *facts: str) -> str: ...
    def literal(self, value: float) -> ast.expr: ...
    def literal_integer(self, node) -> int | None: ...
    def check_module(self, node: ast.Attribute) -> None: ...
    def seen(self, node, look: str = "viewed") -> ast.expr: ...
    def loaded(self, node, read: ast.expr, array: ast.expr) -> ast.Call: ...
    def taken(self, node, container: ast.expr, item: ast.expr) -> ast.Call: ...
    def container(self, node: ast.Subscript) -> tuple[ast.expr, ast.expr]: ...
    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]: ...
    def opened(self, call: ast.expr) -> ast.expr: ...


@dataclass(frozen=True)
class Site:
    """One operation in the source of a lifted kernel; `text` is its source."""

    function: str
    line: int
    column: int
    operation: str
    text: str = ""


@dataclass(frozen=True)
class Origin:
    """The place of an operation in a source.

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


@overload
def parse(text: str, mode: Literal["exec"] = ...) -> ast.Module: ...


@overload
def parse(text: str, mode: Literal["eval"]) -> ast.Expression: ...


def parse(text: str, mode: str = "exec") -> ast.AST:
    """`ast.parse`, for one thread at a time: up to Python 3.12 the trees that threads build at
    once share a count of their depth, and a wrong count is a SystemError.
    """
    with _parser:
        return ast.parse(text, mode=mode)


def compiled_tree(tree: ast.Module, file: str) -> python_types.CodeType:
    """`compile` of a tree, for one thread at a time: see `parse`."""
    with _parser:
        return compile(tree, file, "exec")


def static_value(node: ast.expr, namespace: dict, local: set[str]):
    """The object that a name or dotted name stands for when the kernel is lifted, or `_UNKNOWN`."""
    if isinstance(node, ast.Name):
        if node.id in local:
            return _UNKNOWN
        return namespace.get(node.id, getattr(builtins, node.id, _UNKNOWN))
    if isinstance(node, ast.Attribute):
        owner = static_value(node.value, namespace, local)
        is_named_tuple = isinstance(owner, tuple) and hasattr(owner, "_fields")
        if is_named_tuple or isinstance(owner, (python_types.ModuleType, type)):
            return getattr(owner, node.attr, _UNKNOWN)
        if isinstance(owner, (np.finfo, np.iinfo)):
            value = getattr(owner, node.attr, _UNKNOWN)
            return value.item() if isinstance(value, np.generic) else value
        if isinstance(owner, enum.Enum) and node.attr in ("value", "name"):
            return getattr(owner, node.attr)
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        function = static_value(node.func, namespace, local)
        kind = static_value(node.args[0], namespace, local)
        if (function is np.finfo or function is np.iinfo) and isinstance(kind, type):
            return function(kind)
        if function is np.dtype and isinstance(kind, type):
            return kind
    return _UNKNOWN


def is_known(value) -> bool:
    """Whether `static_value` found an object."""
    return value is not _UNKNOWN


def plain_function(value):
    """The plain Python function behind a kernel: itself, a jitted function's, a lifted kernel's; of
    a decorated one that gives what the function inside gives, the function inside; or None.
    """
    value = getattr(value, "py_func", value)
    while hasattr(value, "__wrapped__") and _hands_on(value):
        inner = value.__wrapped__
        value = getattr(inner, "py_func", inner)
    return value if isinstance(value, python_types.FunctionType) else None


def _hands_on(wrapper) -> bool:
    """Whether a wrapper gives what the function that it wraps gives: `functools.lru_cache`'s, and
    one of any arguments that returns a call with all of them, or a name that holds that.
    """
    if not isinstance(wrapper, python_types.FunctionType):
        return isinstance(wrapper, _REMEMBERING)
    try:
        tree = parse(textwrap.dedent(inspect.getsource(wrapper.__code__))).body[0]
    except (OSError, SyntaxError, IndexError):
        return False
    if not isinstance(tree, ast.FunctionDef) or not (tree.args.vararg and tree.args.kwarg):
        return False
    if tree.args.posonlyargs or tree.args.args or tree.args.kwonlyargs:
        return False
    every = f"(*{tree.args.vararg.arg}, **{tree.args.kwarg.arg})"
    inside = inspect.getclosurevars(wrapper).nonlocals
    inner = vars(wrapper)["__wrapped__"]
    calls = {f"{n}{every}" for n, value in inside.items() if value is inner}
    within = nodes(tree)
    assigned = [n for n in within if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for node in within:
        if isinstance(node, ast.Assign) and ast.unparse(node.value) in calls:
            target = ast.unparse(node.targets[0])
            if sum(n.id == target for n in assigned) == 1:
                calls.add(target)
    returned = [n.value for n in within if isinstance(n, ast.Return)]
    return bool(returned) and all(v is not None and ast.unparse(v) in calls for v in returned)


def nodes(tree: ast.AST) -> list[ast.AST]:
    """The nodes of a tree in the order of `ast.walk`, without contexts of names: several times as
    fast, and most of what lifting does with a source is to look through it.
    """
    result = [tree]
    for node in result:
        if type(node) not in _LEAVES:
            result += children(node)
    return result


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes immediately below one, in their order, without the context of a name."""
    result: list[ast.AST] = []
    kind = type(node)
    if kind in _LEAVES:
        return result
    if kind not in _inner:
        _inner[kind] = tuple(part for part in kind._fields if part not in ("ctx", "id", "attr"))
    for part in _inner[kind]:
        value = getattr(node, part, None)
        if isinstance(value, list):
            result += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            result.append(value)
    return result


_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue}.union(*(
    kind.__subclasses__() for kind in (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
)))  # fmt: skip
_inner: dict[type[ast.AST], tuple[str, ...]] = {}  # kind of node -> parts that may hold nodes


def name(identifier: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(identifier, ast.Load())


def assign(identifier: str, value: ast.expr) -> ast.Assign:
    """identifier = value."""
    return ast.Assign([ast.Name(identifier, ast.Store())], value)


def stored_names(statements: list[ast.stmt]) -> set[str]:
    """Names that statements assign, nested functions' bodies left out."""
    names: set[str] = set()
    todo: list[ast.AST] = list(statements)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif not isinstance(node, ast.Lambda):
            todo += children(node)
    return names


def targets_of(statement) -> list[ast.expr]:
    """The targets of an assignment, or of a loop."""
    return statement.targets if isinstance(statement, ast.Assign) else [statement.target]


def arguments_of(function: ast.FunctionDef) -> list[ast.arg]:
    """The parameters of a function, those of `*args` and `**kwargs` last."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return every + [a for a in (arguments.vararg, arguments.kwarg) if a]


def root_of(array: ast.expr) -> str:
    """The name that an array's elements are read by, through any number of indices; else ""."""
    while isinstance(array, ast.Subscript):
        array = array.value
    return array.id if isinstance(array, ast.Name) else ""


def called_name(node: ast.AST) -> str:
    """The name that an expression calls; else ""."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
