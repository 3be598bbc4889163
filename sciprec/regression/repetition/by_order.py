"""Lines that explain why runs differ with order: of sets, of files, of calls."""

from __future__ import annotations

import ast

from sciprec.regression.repetition.rules import DRAWN, Seen, explains, is_method
from sciprec.regression.repetition.sources import Scope

_EXACT = {"sorted", "len", "min", "max", "any", "all", "set", "frozenset"}
"""Functions whose result does not depend on the order of their arguments."""
_LISTS = {"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"}
_LISTING_METHODS = {"iterdir", "glob", "rglob"}


@explains("order of files", "order of runs")
def _lists_of_files(scope: Scope) -> Seen:
    ordered = _put_in_order(scope)
    for node in ast.walk(scope.node):
        called = scope.calls(node)
        method = is_method(node) and node.func.attr in _LISTING_METHODS
        if (called in _LISTS or (method and not called.startswith("glob."))) and id(
            node
        ) not in ordered:
            yield node.lineno, "files in the order of the system: put sorted() around it"


def _put_in_order(scope: Scope, *functions: str) -> set[int]:
    """The nodes in calls that do not depend on the order of their arguments; with a key, elements
    of equal key stay in that order.
    """
    return {
        id(inner) for node in ast.walk(scope.node)
        if scope.calls(node) in _EXACT.union(functions) and not _has_key(node)
        for inner in ast.walk(node)
    }  # fmt: skip


def _has_key(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and any(keyword.arg == "key" for keyword in node.keywords)


@explains("hash seed", "another process", "empty cache", "processes")
def _sets(scope: Scope) -> Seen:
    names = _names_of_sets(scope)

    def is_set(node: ast.AST) -> bool:
        if isinstance(node, (ast.Set, ast.SetComp)):
            return True
        if isinstance(node, ast.Call):
            method = is_method(node) and is_set(node.func.value)
            of_sets = ("union", "intersection", "difference", "symmetric_difference", "copy")
            return scope.calls(node) in ("set", "frozenset") or (
                method and node.func.attr in of_sets
            )
        if isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)
        ):
            return any(is_set(operand) or _is_view(operand) for operand in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return is_set(node.body) or is_set(node.orelse)
        return isinstance(node, ast.Name) and node.id in names

    def in_order_of(node: ast.AST) -> ast.AST | None:
        """The set whose order something follows."""
        if isinstance(node, (ast.For, ast.comprehension)) and is_set(node.iter):
            return node.iter
        if isinstance(node, ast.Starred) and is_set(node.value):
            return node.value
        if isinstance(node, ast.Assign) and is_set(node.value):
            return node.value if isinstance(node.targets[0], (ast.Tuple, ast.List)) else None
        if isinstance(node, ast.Call):
            if is_method(node) and node.func.attr == "pop" and is_set(node.func.value):
                return node.func.value
            joined = is_method(node) and node.func.attr == "join"
            follows = scope.calls(node) in (
                "sum", "list", "tuple", "iter", "enumerate", "zip", "map", "math.fsum", "reversed",
                "numpy.fromiter", "functools.reduce",
            ) or _has_key(node)  # fmt: skip
            sets = [a for a in node.args if is_set(a)] if joined or follows else []
            return sets[0] if sets else None
        return None

    ordered = _put_in_order(scope, "math.fsum")
    for node in ast.walk(scope.node):
        unordered = in_order_of(node)
        if unordered is not None and id(node) not in ordered:
            yield unordered.lineno, "a set has no order: put sorted() around it"
    for node in ast.walk(scope.node):
        if scope.calls(node) == "hash":
            yield node.lineno, "hashes of texts are other ones in every process"


def _names_of_sets(scope: Scope) -> set[str]:
    """Names that are given sets somewhere in the file."""
    names = set()
    for node in ast.walk(scope.module):
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None:
            is_set = isinstance(value, (ast.Set, ast.SetComp)) or (
                isinstance(value, ast.Call) and scope.calls(value) in ("set", "frozenset")
            ) or (isinstance(value, ast.BinOp) and any(map(_is_view, (value.left, value.right))))
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {t.id for t in targets if is_set and isinstance(t, ast.Name)}
    return names


def _is_view(node: ast.AST) -> bool:
    """Whether a node is a view of a table, of which operators make sets."""
    return is_method(node) and node.func.attr in ("keys", "items")


@explains("hash seed", "another process", "empty cache", "processes", last=True)
def _made_sets(scope: Scope) -> Seen:
    for node in ast.walk(scope.node):
        if isinstance(node, (ast.Set, ast.SetComp)) or scope.calls(node) in ("set", "frozenset"):
            yield node.lineno, "a set is made here, and has no order"


@explains("a second call", "order of runs")
def _kept_between_calls(scope: Scope) -> Seen:
    at_top = {
        t.id for node in scope.module.body if isinstance(node, (ast.Assign, ast.AnnAssign))
        for t in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(t, ast.Name)
    } | {node.name for node in scope.module.body if isinstance(node, ast.ClassDef)}  # fmt: skip
    for function in scope.functions():
        declared = {n for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal))
                    for n in node.names}  # fmt: skip
        local = _assigned(function) - declared | {a.arg for a in _parameters(function)}
        local -= _made_once(function)
        at_top = at_top | _made_once(function)
        yield from _changes(function, (at_top | declared) - local, declared)


@explains("a second call", "order of runs")
def _drawn_from_a_kept_state(scope: Scope) -> Seen:
    makers = ("numpy.random.default_rng", "numpy.random.RandomState", "random.Random")
    states = {
        t.id for node in scope.module.body
        if isinstance(node, ast.Assign) and scope.calls(node.value) in makers
        for t in node.targets if isinstance(t, ast.Name)
    }  # fmt: skip
    for node in ast.walk(scope.node):
        drawn = is_method(node) and isinstance(node.func.value, ast.Name) and (
            node.func.value.id in states
        )
        if drawn or DRAWN.match(scope.calls(node)):
            yield node.lineno, "random numbers of a state that is kept between calls"


def _parameters(function: ast.FunctionDef) -> list[ast.arg]:
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _made_once(function: ast.FunctionDef) -> set[str]:
    """Parameters whose default is made when the function is defined, and can be changed."""
    args = function.args
    last = [*args.posonlyargs, *args.args]
    pairs = [*zip(last[len(last) - len(args.defaults) :], args.defaults, strict=True),
             *zip(args.kwonlyargs, args.kw_defaults, strict=True)]  # fmt: skip
    mutable = (ast.List, ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.DictComp)
    return {arg.arg for arg, default in pairs if isinstance(default, mutable)}


def _assigned(function: ast.FunctionDef) -> set[str]:
    return {n.id for n in ast.walk(function) if isinstance(n, ast.Name)
            and isinstance(n.ctx, ast.Store)}  # fmt: skip


def _changes(function: ast.FunctionDef, shared: set[str], declared: set[str]) -> Seen:
    """Yield where a function changes objects that are kept between its calls."""
    methods = ("append", "extend", "update", "add", "pop", "insert", "setdefault", "clear", "fill")
    reason = "is kept between calls"
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                inner = target
                while isinstance(inner, (ast.Subscript, ast.Attribute)):
                    inner = inner.value
                stored = inner is not target or getattr(inner, "id", "") in declared
                if isinstance(inner, ast.Name) and stored and inner.id in shared | {function.name}:
                    yield node.lineno, f"'{inner.id}' {reason}"
        elif is_method(node) and node.func.attr in methods:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in shared:
                yield node.lineno, f"'{owner.id}' {reason}"
        if isinstance(node, ast.Call):
            steps = isinstance(node.func, ast.Name) and node.func.id == "next"
            changed = node.args[:1] if steps else []
            changed += [keyword.value for keyword in node.keywords if keyword.arg == "out"]
            for value in changed:
                if isinstance(value, ast.Name) and value.id in shared:
                    yield node.lineno, f"'{value.id}' {reason}"


