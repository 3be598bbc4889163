"""Statements whose value a loop carries from one pass to the next, and comes back to them."""

from __future__ import annotations

import ast

_SHAPE = ("shape", "size", "ndim", "dtype", "strides")
_ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)


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
        if isinstance(statement, _ASSIGNMENTS) or called:
            statements.append(statement)
        for part in ("body", "orelse", "handlers", "finalbody"):
            statements += _in_order(getattr(statement, part, []))
    return statements


def _targets(statement: ast.stmt) -> list[ast.expr]:
    if not isinstance(statement, _ASSIGNMENTS):
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
