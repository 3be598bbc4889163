"""The meaning of names before every statement of a function: a value numbering by blocks."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sciprec.precision.rewriting.syntax import parse
from sciprec.tools.mend.expressions import (
    FUNCTIONS,
    SUM,
    Filled,
    called,
    filled,
    is_number,
    key,
    names_in,
)

Terms = dict[str, ast.expr]
"""Name -> the expression that it stands for, in names that still have the values they had then."""
_HARMLESS = FUNCTIONS.union("range prange len int float bool round zip enumerate".split())
"""Functions that change none of their arguments."""
_LONGEST = 400
"""Nodes of an expression that a name stands for."""


@dataclass(frozen=True)
class StatementPlace:
    """A statement that computes, with what names stand for before it.

    Attributes:
        statement: an assignment, an update or a return.
        terms: name -> expression.
        value: what it computes, in these terms.
        elements: normal form -> the element of an array, as text, that had that value.
    """

    statement: ast.Assign | ast.AugAssign | ast.Return
    terms: Terms
    value: ast.expr
    elements: Mapping[str, str]


def places_of(function: ast.FunctionDef) -> list[StatementPlace]:
    """All statements of a function that compute, in the order of the source."""
    return list(Numbering().places(function.body, {}))


class Numbering:
    """The walk over a function's blocks."""

    def __init__(self) -> None:
        self.elements: dict[str, str] = {}
        self.before: list[tuple[Terms, ast.For]] = []

    def places(
        self, body: list[ast.stmt], terms: Terms, after: Mapping[int, Terms] | None = None
    ) -> Iterator[StatementPlace]:
        """Statements of a block that compute.

        Args:
            body: of the block.
            terms: before it.
            after: a statement's `id` -> further terms once it has run.
        """
        terms = dict(terms)
        for statement in body:
            computes = isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return))
            if computes and statement.value is not None:
                value = self.inlined(statement.value, terms)
                yield StatementPlace(statement, dict(terms), value, self.elements)
            inside: list[StatementPlace] = []
            if isinstance(statement, (ast.For, ast.While, ast.If, ast.With)):
                inside = self.inside(statement, terms)
                yield from inside
            before, terms = terms, _surviving(terms, written(statement))
            for name, value in _assigned(statement).items():
                value = self.inlined(value, before)
                if not names_in(value) & written(statement) and len([*ast.walk(value)]) < _LONGEST:
                    terms[name] = value
            if isinstance(statement, ast.For):
                terms |= _sums(statement, before, inside) | _elements(statement, inside)
            terms |= (after or {}).get(id(statement), {})

    def inside(self, statement: ast.stmt, terms: Terms) -> list[StatementPlace]:
        """The places of a compound statement's blocks."""
        inner, names = _surviving(terms, written(statement)), []
        if isinstance(statement, ast.For) and all(statement is not loop for _, loop in self.before):
            self.before.append((terms, statement))
        for block in (statement.body, getattr(statement, "orelse", [])):
            places = list(self.places(block, inner))
            windows = _windows(statement, terms, places) if isinstance(statement, ast.For) else {}
            names += list(self.places(block, inner, windows)) if windows else places
        return names

    def loops(self, function: ast.FunctionDef) -> Iterator[tuple[Terms, ast.For]]:
        """All loops, each with what is known before it."""
        self.before = []
        list(self.places(function.body, {}))
        yield from self.before

    def inlined(self, node: ast.expr, terms: Mapping[str, ast.expr]) -> ast.expr:
        """An expression with names replaced by their terms."""
        visitor = _Inlined(terms)
        new = ast.fix_missing_locations(visitor.visit(copy.deepcopy(node)))
        self.elements |= visitor.elements
        return new


def base_of(name: str) -> str:
    """The variable of a name, or of an element."""
    return name.partition("[")[0]


class _Inlined(Filled):
    """Names and elements replaced by expressions, but in tests, which no rule may change.

    Attributes:
        elements: normal form -> the element that was replaced by it.
    """

    def __init__(self, values: Mapping[str, ast.expr]):
        super().__init__(values)
        self.elements: dict[str, str] = {}
        self._arrays = {base_of(n): (_counter(n), e) for n, e in values.items() if "[" in n}

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        array = node.value.id if isinstance(node.value, ast.Name) else ""
        if array not in self._arrays or isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return node
        counter, value = self._arrays[array]
        counters = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)} - names_in(value)
        if names_in(node.slice) & counters:
            return node
        new = filled(value, {counter: node.slice})
        self.elements[key(new)] = ast.unparse(node)
        return new

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(node.test, self.visit(node.body), self.visit(node.orelse))


def _assigned(statement: ast.stmt) -> Terms:
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


def _surviving(definitions: Mapping[str, ast.expr], gone: set[str]) -> Terms:
    return {n: e for n, e in definitions.items()
            if base_of(n) not in gone and not (names_in(e) - {_counter(n)}) & gone}  # fmt: skip


def _counter(name: str) -> str:
    """The expression that counts the elements of a known array."""
    return name.partition("[")[2][:-1]


def written(statement: ast.stmt) -> set[str]:
    """Names that a statement may change: variables, arrays that are stored into, and those that
    are handed to a function that is none of `math`.
    """
    names: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            names |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        if isinstance(node, ast.Call) and called(node) not in _HARMLESS and not _is_numeric(node):
            arguments = [*node.args, *(k.value for k in node.keywords)]
            names |= {a.id for a in arguments if isinstance(a, ast.Name)}
    return names


def _is_numeric(call: ast.Call) -> bool:
    """Whether a function of `math` or NumPy is called by the usual names."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "math")


def _sums(loop: ast.For, before: Terms, inside: list[StatementPlace]) -> Terms:
    """Variables that start at zero and to which a loop adds one term in each pass."""
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return {}
    changed, sums = written(loop), {}
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
        term = filled(update.change, {n: e for n, e in place.terms.items() if n != name})
        only = len(stores) == (1 if isinstance(place.statement, ast.AugAssign) else 2)
        if only and not names_in(term) & (changed - {loop.target.id}):
            call = ast.Call(ast.Name(SUM, ast.Load()), [term, loop.target, loop.iter], [])
            sums[name] = call if sign > 0 else ast.UnaryOp(ast.USub(), call)
    return {n: parse(ast.unparse(e), mode="eval").body for n, e in sums.items()}


def _elements(loop: ast.For, inside: list[StatementPlace]) -> Terms:
    """Arrays all of whose elements a loop gives the value of one expression: `array[k]` -> it."""
    if not isinstance(loop.target, ast.Name) or loop.orelse:
        return {}
    changed, elements = written(loop), {}
    for place in inside:
        statement = place.statement
        if statement not in loop.body or not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Subscript):
            continue
        where = f"{ast.unparse(target.value)}[{loop.target.id}]"
        stored = [ast.unparse(n.value) for n in ast.walk(loop)
                  if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]  # fmt: skip
        once = ast.unparse(target) == where and stored.count(base_of(where)) == 1
        if not once or is_number(place.value):
            continue
        if not names_in(place.value) & (changed - {loop.target.id}):
            elements[where] = place.value
    return elements


def _windows(loop: ast.For, before: Terms, inside: list[StatementPlace]) -> dict[int, Terms]:
    """Sums over a window that moves with a loop: `s += x[i]; if i >= w: s -= x[i - w]`.

    Returns:
        The `id` of the statement that ends an update -> the sum that is known then.
    """
    windows: dict[int, Terms] = {}
    for name, term, width, last in moving_sums(loop, before, inside):
        counter = loop.target.id
        text = f"{SUM}(v, {counter}_back, range(max({counter} - w + 1, 0), {counter} + 1))"
        back = filled(term, {counter: ast.Name(f"{counter}_back", ast.Load())})
        window = filled(parse(text, mode="eval").body, {"v": back, "w": width})
        windows.setdefault(id(last), {})[name] = window
    return windows


def moving_sums(
    loop: ast.For, before: Terms, inside: list[StatementPlace]
) -> Iterator[tuple[str, ast.expr, ast.expr, ast.stmt]]:
    """Name, term, width of each sum over a window that moves with a loop, and the statement after
    which it is whole.
    """
    if not isinstance(loop.target, ast.Name):
        return
    counter, changed = loop.target.id, written(loop)
    decisions = [s for s in loop.body if isinstance(s, ast.If) and not s.orelse]
    for place in inside:
        added = updated(place.statement)
        if added is None or added.sign < 0 or place.statement not in loop.body:
            continue
        name = ast.unparse(added.target)
        start = before.get(name)
        stores = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == name
                  and isinstance(n.ctx, ast.Store)]  # fmt: skip
        if start is None or not is_number(start) or start.value != 0 or len(stores) != 2:
            continue
        term = filled(added.change, {n: e for n, e in place.terms.items() if n != name})
        for other in inside:
            decision = next((d for d in decisions if other.statement in d.body), None)
            outgoing = updated(other.statement)
            if decision is None or outgoing is None or outgoing.sign > 0:
                continue
            width = _width(decision.test, counter)
            if width is None or ast.unparse(outgoing.target) != name:
                continue
            away = ast.BinOp(ast.Name(counter, ast.Load()), ast.Sub(), width)
            gone = filled(outgoing.change, {n: e for n, e in other.terms.items() if n != name})
            moved = key(filled(term, {counter: away})) == key(gone)
            if moved and not names_in(term) & (changed - {counter}):
                last = max(place.statement, decision, key=lambda s: s.lineno)
                yield name, term, width, last


def _width(test: ast.expr, counter: str) -> ast.expr | None:
    """w of a test `counter >= w`."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.GtE) and len(test.ops) == 1:
        left = test.left
        if isinstance(left, ast.Name) and left.id == counter:
            return test.comparators[0]
    return None


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
