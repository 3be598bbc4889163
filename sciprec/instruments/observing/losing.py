"""An observer of carried sums: statements that add to what they assign, as in `x[i] = x[i] + d`.

The sum may have several terms, and what is carried may have a factor, as in `v = b * v + c`. A sum
that a function of NumPy's makes inside is none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sciprec.instruments.observing.carried_sums import PLACES
from sciprec.precision.rewriting.observer import Hooks, Observer
from sciprec.precision.rewriting.own_names import as_written
from sciprec.precision.rewriting.syntax import name, parse

_IMPORTS = """
from sciprec.instruments.observing.carried_sums import asked as sp_lose_asked
from sciprec.instruments.observing.carried_sums import begun as sp_lose_begun
from sciprec.instruments.observing.carried_sums import both as sp_lose_both
from sciprec.instruments.observing.carried_sums import stored as sp_lose_stored
"""


@dataclass(frozen=True)
class CarriedSum:
    """A statement that adds to what it assigns.

    Attributes:
        name: of what is carried: a variable or an array.
        line: in the file.
        text: of the statement.
    """

    name: str
    line: int
    text: str


class _SumHooks(Hooks):
    """Calls around the operands of carried sums, and behind the statements."""

    def __init__(self, kernel, sums: dict[CarriedSum, int], rewriter):
        self.sums = sums
        self.is_kernel = rewriter.function is kernel and rewriter.tree is rewriter.program.tree
        self.around = dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign), self._assigned)
        self.terms: dict[ast.AST, tuple[int, bool, bool]] = {}

    def _assigned(self, rewriter, node, rewrite) -> list[ast.stmt]:
        """A statement; behind a carried sum what was stored is looked at."""
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        terms = _terms(node, target)
        number = self._number(rewriter, node, target) if terms else None
        if number is not None:
            self.terms |= {t: (number, is_left, n == 0) for n, (t, is_left) in enumerate(terms)}
        result = rewrite(node)
        statements = result if isinstance(result, list) else [result]
        assigned = [s for s in statements if isinstance(s, ast.Assign)]
        if number is None or not assigned:
            return statements
        stored: Any = assigned[-1].targets[0]
        array, index = ast.Constant(0), ast.Constant(0)
        read = name(stored.id) if isinstance(stored, ast.Name) else None
        if isinstance(stored, ast.Subscript):
            array, index = stored.value, stored.slice
            read = ast.Subscript(array, index, ast.Load())
            index = index if _is_element(index) else ast.Constant(0)
        looked = ast.Call(name("sp_lose_stored"), [read, array, index, ast.Constant(number)], [])
        at = statements.index(assigned[-1]) + 1
        return [*statements[:at], ast.Expr(looked), *statements[at:]]

    def _number(self, rewriter, node, target) -> int | None:
        """The number of a sum; None of a field, and where there are too many sums."""
        root = target.value if isinstance(target, ast.Subscript) else target
        if not isinstance(root, ast.Name):
            return None
        line = rewriter.first + node.lineno - 1
        key = CarriedSum(as_written(root.id), line, as_written(ast.unparse(node)))
        if key not in self.sums and len(self.sums) == PLACES:
            return None
        return self.sums.setdefault(key, len(self.sums))

    def operands(
        self, rewriter, operation: str, node, operands: Sequence[ast.expr], named: str = ""
    ) -> Sequence[ast.expr]:
        """Look at what is carried, and at what is to be added to it."""
        term = self.terms.get(node)
        if term is None or len(operands) != 2 or operation not in _SIGNS:
            return operands
        number, is_left, is_first = term
        about = [ast.Constant(_SIGNS[operation]), ast.Constant(number)]
        if is_first:
            both = [*operands, *about, ast.Constant(1 if is_left else None)]
            return [ast.Starred(ast.Call(name("sp_lose_both"), both, []), ast.Load())]
        operands = list(operands)
        operands[is_left] = ast.Call(name("sp_lose_asked"), [operands[is_left], *about], [])
        return operands

    def defined(self, rewriter, function):
        """Begin anew where the kernel itself does."""
        if self.is_kernel:
            function.body[:0] = parse("sp_lose_begun()").body


_SIGNS = {"add": 1.0, "iadd": 1.0, "sub": -1.0, "isub": -1.0}
"""Sums -> the sign of what is added."""


def losing(kernel, sums: dict[CarriedSum, int]) -> Observer:
    """An observer of the carried sums of a kernel, which it numbers from 0 on in `sums`."""
    return Observer(partial(_SumHooks, kernel, sums), _IMPORTS, "sp_lose_")


def _terms(node, target: ast.expr) -> list[tuple[ast.AST, bool]]:
    """The additions of a statement that add to what it assigns, the first one first, each with
    whether its left operand has what is carried.
    """
    if isinstance(node, ast.AugAssign):
        return [(node, True)] if isinstance(node.op, (ast.Add, ast.Sub)) else []
    if node.value is None or isinstance(node, ast.Assign) and len(node.targets) > 1:
        return []
    carried = {_text(target)}
    if isinstance(target, ast.Subscript) and _text(target.slice) == ":":
        carried.add(_text(target.value))
    for is_carried in (lambda n: _text(n) in carried, lambda n: _is_multiple(n, carried)):
        if additions := _spine(node.value, is_carried):
            return additions
    return []


def _text(node: ast.expr) -> str:
    return ast.unparse(node)


def _is_multiple(node: ast.expr, carried: set[str]) -> bool:
    """Whether an expression is a product of what is carried and a factor."""
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    return product and not carried.isdisjoint((_text(node.left), _text(node.right)))


def _spine(node: ast.expr, is_carried: Callable[[ast.expr], bool]) -> list | None:
    """The additions between what is carried and the whole sum, from inside; None where it is no
    term.
    """
    if is_carried(node):
        return []
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
        return None
    for part, is_left in ((node.left, True), (node.right, False)):
        inside = _spine(part, is_carried)
        if inside is not None and (is_left or isinstance(node.op, ast.Add)):
            return [*inside, (node, is_left)]
    return None


def _is_element(index: ast.expr) -> bool:
    """Whether an index is one number, or some, and nothing but."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return not any(isinstance(p, (ast.Slice, ast.Starred, ast.Constant)) and not (
        isinstance(p, ast.Constant) and type(p.value) is int) for p in parts)  # fmt: skip
