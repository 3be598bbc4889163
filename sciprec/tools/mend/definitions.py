"""The meaning of names before every statement of a function: a value numbering by blocks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sciprec.tools.mend.expressions import (
    FUNCTIONS,
    SUM,
    Filled,
    called,
    filled,
    is_number,
    names_in,
)

Known = dict[str, ast.expr]
"""Name -> the expression that it stands for, in names that still have the values they had then."""
_HARMLESS = FUNCTIONS.union("range prange len int float bool round zip enumerate".split())
"""Functions that change none of their arguments."""
_LONGEST = 400
"""Nodes of an expression that a name stands for."""


@dataclass(frozen=True)
class Place:
    """A statement that computes, with what names stand for before it.

    Attributes:
        statement: an assignment, an update or a return.
        known: name -> expression.
        value: what it computes, in terms of what is known.
    """

    statement: ast.Assign | ast.AugAssign | ast.Return
    known: Known
    value: ast.expr


def places_of(function: ast.FunctionDef) -> list[Place]:
    """All statements of a function that compute, in the order of the source."""
    return list(_places(function.body, {}))


def _places(body: list[ast.stmt], known: Known) -> Iterator[Place]:
    known = dict(known)
    for statement in body:
        computes = isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return))
        if computes and statement.value is not None:
            yield Place(statement, dict(known), _inlined(statement.value, known))
        inside: list[Place] = []
        if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
            inner = _surviving(known, written(statement))
            for block in (statement.body, getattr(statement, "orelse", [])):
                inside += _places(block, inner)
            yield from inside
        before, known = known, _surviving(known, written(statement))
        for name, value in _assigned(statement).items():
            value = _inlined(value, before)
            if not names_in(value) & written(statement) and len([*ast.walk(value)]) < _LONGEST:
                known[name] = value
        if isinstance(statement, ast.For):
            known |= _sums(statement, before, inside)


class _Inlined(Filled):
    """Names replaced by expressions, but in tests, which no rule may change."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(node.test, self.visit(node.body), self.visit(node.orelse))


def _inlined(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    return ast.fix_missing_locations(_Inlined(known).visit(copy.deepcopy(node)))


def _assigned(statement: ast.stmt) -> Known:
    """The names to which `name = value`, or `a, b = c, d`, gives values."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return {}
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    return {t.id: v for t, v in pairs if isinstance(t, ast.Name)}


def plainly_assigned(statement: ast.stmt) -> str | None:
    """The name that `name = value` assigns."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else None
    return None


def _surviving(known: Mapping[str, ast.expr], gone: set[str]) -> Known:
    return {n: e for n, e in known.items() if n not in gone and not names_in(e) & gone}


def written(statement: ast.stmt) -> set[str]:
    """Names that a statement may change: variables, arrays that are stored into, and those that
    are handed to a function that is none of `math`.
    """
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            found |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Call) and called(node) not in _HARMLESS and not _is_numeric(node):
            arguments = [*node.args, *(k.value for k in node.keywords)]
            found |= {a.id for a in arguments if isinstance(a, ast.Name)}
    return found


def _is_numeric(call: ast.Call) -> bool:
    """Whether a function of `math` or NumPy is called by the usual names."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "math")


def _sums(loop: ast.For, before: Known, inside: list[Place]) -> Known:
    """Variables that start at zero and to which a loop adds one term in each pass."""
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return {}
    changed, found = written(loop), {}
    if names_in(loop.iter) & changed:
        return {}
    for place in inside:
        update = updated(place.statement)
        if update is None or place.statement not in loop.body:
            continue
        name, sign = ast.unparse(update.target), update.sign
        start = before.get(name)
        if start is None or not is_number(start) or start.value != 0:
            continue
        stores = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name]
        term = filled(update.change, {n: e for n, e in place.known.items() if n != name})
        only = len(stores) == (1 if isinstance(place.statement, ast.AugAssign) else 2)
        if only and not names_in(term) & (changed - {loop.target.id}):
            call = ast.Call(ast.Name(SUM, ast.Load()), [term, loop.target, loop.iter], [])
            found[name] = call if sign > 0 else ast.UnaryOp(ast.USub(), call)
    return {n: ast.parse(ast.unparse(e), mode="eval").body for n, e in found.items()}


@dataclass(frozen=True)
class Update:
    """A statement `target += change` in any of its forms.

    Attributes:
        target: what is updated.
        change: what is added, or with sign -1 taken away.
        sign: of the change.
    """

    target: ast.expr
    change: ast.expr
    sign: int


def updated(statement: ast.stmt) -> Update | None:
    """The update that a statement makes, if it is one."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, (ast.Add, ast.Sub)):
        sign = -1 if isinstance(statement.op, ast.Sub) else 1
        return Update(statement.target, statement.value, sign)
    if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, (ast.Name, ast.Subscript)) or not isinstance(value, ast.BinOp):
        return None
    text = ast.unparse(target)
    if isinstance(value.op, (ast.Add, ast.Sub)) and ast.unparse(value.left) == text:
        return Update(target, value.right, -1 if isinstance(value.op, ast.Sub) else 1)
    if isinstance(value.op, ast.Add) and ast.unparse(value.right) == text:
        return Update(target, value.left, 1)
    return None

