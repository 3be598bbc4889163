"""Expressions as sums and products, and their normal form: a polynomial with exact coefficients."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from sciprec.precision.rewriting.syntax import parse

NumberedPart = tuple[int, ast.expr]
"""A term with its sign, or a factor with 1 or, of a divisor, -1."""
Monomial = tuple[tuple[str, int], ...]
"""Atoms, as text, with their powers."""
Polynomial = dict[Monomial, Fraction]
SUM, MAX, FIRST, POWER = "SUM", "MAX", "FIRST", "POWER"
"""Calls that stand for statements: SUM(e, k, range) is the sum of e over k, MAX its largest,
FIRST the first; POWER(e) is a power of two near e, 1 where e is 0 or not finite."""
_POWERS = (2, 3, 4)
_MOST_TERMS = 40
_ALIASES = {
    "fabs": "abs", "absolute": "abs", "maximum": "max", "minimum": "min", "arccos": "acos",
    "arcsin": "asin", "arctan": "atan", "arctan2": "atan2", "power": "pow",
}  # fmt: skip
FUNCTIONS = frozenset(
    "sqrt sin cos tan atan asin acos exp log expm1 log1p sinh cosh tanh hypot atan2 abs max min "
    "mean sum fma".split()
)
"""Functions that rows may name beside `SUM`, `MAX`, `FIRST` and `POWER`."""


def parsed(text: str) -> ast.expr:
    """The tree of an expression."""
    return parse(text, mode="eval").body


def called(node: ast.AST) -> str:
    """The function that a call is of, by its name in `math`; "" of anything else."""
    if not isinstance(node, ast.Call) or node.keywords:
        return ""
    if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
        return _ALIASES.get(node.func.attr, node.func.attr)
    return _ALIASES.get(node.func.id, node.func.id) if isinstance(node.func, ast.Name) else ""


def is_number(node: ast.AST) -> bool:
    """Whether a node is a literal number."""
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, (int, float))
        and not isinstance(node.value, bool)
    )


def _is_minus_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == -1


def terms(node: ast.expr, sign: int = 1) -> list[NumberedPart]:
    """The terms of a sum, with their signs."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        other = -sign if isinstance(node.op, ast.Sub) else sign
        return terms(node.left, sign) + terms(node.right, other)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return terms(node.operand, -sign)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        parts = factors(node)
        rest = [part for part in parts if not _is_minus_one(part[1])]
        if len(rest) < len(parts):
            flips = len(parts) - len(rest)
            return [(-sign if flips % 2 else sign, product_of(rest))]
    return [(sign, node)]


def factors(node: ast.expr, power: int = 1) -> list[NumberedPart]:
    """The factors of a product: 1 beside one, -1 beside a divisor."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.Mult, ast.Div)):
            other = -power if isinstance(node.op, ast.Div) else power
            return factors(node.left, power) + factors(node.right, other)
        if isinstance(node.op, ast.Pow) and is_number(node.right) and node.right.value in _POWERS:
            return factors(node.left, power) * int(node.right.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        if not is_number(node.operand):
            return [(1, ast.Constant(-1)), *factors(node.operand, power)]
    return [(power, node)]


def sum_of(parts: Sequence[NumberedPart]) -> ast.expr:
    """A sum, in order; a term that is added comes first."""
    return _joined(parts, ast.Add, ast.Sub, 0, lambda n: ast.UnaryOp(ast.USub(), n))


def product_of(parts: Sequence[NumberedPart]) -> ast.expr:
    """A product, in order; divisors do not come first."""
    return _joined(
        parts, ast.Mult, ast.Div, 1, lambda n: ast.BinOp(ast.Constant(1.0), ast.Div(), n)
    )


def _joined(parts: Sequence[NumberedPart], plus, minus, nothing: int, turned) -> ast.expr:
    if not parts:
        return ast.Constant(nothing)
    ordered = list(parts)
    if ordered[0][0] < 0:
        ordered.sort(key=lambda part: -part[0])
    sign, result = ordered[0]
    if sign < 0:
        result = turned(result)
    for sign, node in ordered[1:]:
        result = ast.BinOp(result, plus() if sign > 0 else minus(), node)
    return result


def added(p: Polynomial, q: Polynomial, by: int = 1) -> Polynomial:
    """p + by q."""
    result = dict(p)
    for monomial, coefficient in q.items():
        result[monomial] = result.get(monomial, Fraction(0)) + by * coefficient
        if not result[monomial]:
            del result[monomial]
    return result


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for (left, c), (right, d) in itertools.product(p.items(), q.items()):
        powers: dict[str, int] = {}
        for atom, power in left + right:
            powers[atom] = powers.get(atom, 0) + power
        monomial = tuple(sorted((a, n) for a, n in powers.items() if n))
        result = added(result, {monomial: c * d})
    return result


def polynomial(node: ast.expr) -> Polynomial:
    """The normal form: a polynomial of atoms, which may have negative powers. Calls, elements and
    sums that divide are atoms.
    """
    if is_number(node):
        finite = abs(node.value) < float("inf")
        if not finite:
            return _atom(ast.unparse(node))
        return {(): Fraction(node.value)} if node.value else {}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return added({}, polynomial(node.operand), -1)
    if isinstance(node, ast.BinOp):
        left, right = polynomial(node.left), polynomial(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return added(left, right, 1 if isinstance(node.op, ast.Add) else -1)
        if isinstance(node.op, ast.Mult) and len(left) * len(right) < _MOST_TERMS:
            return _times(left, right)
        if isinstance(node.op, ast.Div) and len(right) == 1:
            ((monomial, coefficient),) = right.items()
            return _times(left, {tuple((a, -n) for a, n in monomial): 1 / coefficient})
        if isinstance(node.op, ast.Div):
            return _times(left, _atom(f"(1 / ({_text(right)}))"))
        if isinstance(node.op, ast.Pow) and is_number(node.right) and node.right.value in _POWERS:
            power = left
            for _ in range(int(node.right.value) - 1):
                if len(power) * len(left) >= _MOST_TERMS:
                    return _atom(f"({ast.unparse(node)})")
                power = _times(power, left)
            return power
    if name := called(node):
        return _atom(f"{name}({', '.join(_text(polynomial(a)) for a in node.args)})")
    if isinstance(node, (ast.Name, ast.Subscript, ast.Attribute)):
        return _atom(ast.unparse(node))
    return _atom(f"({ast.unparse(node)})")


def _atom(text: str) -> Polynomial:
    return {((text, 1),): Fraction(1)}


def key(node: ast.expr) -> str:
    """The normal form as text: the same for expressions that are equal as polynomials."""
    return _key(ast.unparse(node))


@lru_cache(maxsize=20_000)
def _key(text: str) -> str:
    return _text(polynomial(parsed(text)))


def _text(p: Polynomial) -> str:
    return ast.unparse(written(p))


def written(p: Polynomial) -> ast.expr:
    """The expression of a polynomial: terms that are added first, one divisor a quotient."""
    parts: list[NumberedPart] = []
    for monomial, coefficient in sorted(p.items(), key=lambda item: (item[1] < 0, str(item[0]))):
        above: list[NumberedPart] = [(1, parsed(a)) for a, n in monomial for _ in range(n)]
        below: list[NumberedPart] = [(1, parsed(a)) for a, n in monomial for _ in range(-n)]
        number, divisor = _number(abs(coefficient))
        if number.value != 1 or not above:
            above.insert(0, (1, number))
        if divisor is not None:
            below.insert(0, (1, divisor))
        size = product_of(above)
        if below:
            size = ast.BinOp(size, ast.Div(), product_of(below))
        parts.append((-1 if coefficient < 0 else 1, size))
    return sum_of(parts)


def _number(value: Fraction) -> tuple[ast.Constant, ast.Constant | None]:
    """A coefficient as a literal, and its divisor where a literal cannot hold it."""
    if value.denominator == 1:
        return ast.Constant(value.numerator), None
    if Fraction(float(value)) == value:
        return ast.Constant(float(value)), None
    return ast.Constant(value.numerator), ast.Constant(value.denominator)


def is_shorter(node: ast.expr) -> bool:
    """Whether a difference has fewer terms as a polynomial than its two sides together."""
    assert isinstance(node, ast.BinOp)
    left, right = polynomial(node.left), polynomial(node.right)
    return len(added(left, right, -1)) < len(left) + len(right)


class Filled(ast.NodeTransformer):
    """Names replaced by expressions; `simp(e)` becomes e as a polynomial is written."""

    def __init__(self, values: Mapping[str, ast.expr]):
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.values.get(node.id, node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_simplified = called(node) == "simp"
        node.args = [self.visit(a) for a in node.args]
        return written(polynomial(node.args[0])) if is_simplified else node


def filled(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of an expression with its names replaced."""
    return ast.fix_missing_locations(Filled(values).visit(copy.deepcopy(node)))


def names_in(node: ast.AST) -> set[str]:
    """Names that an expression reads, but for what its own `SUM`s count with."""
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
    counters = {n.args[1].id for n in ast.walk(node) if called(n) in (SUM, MAX, FIRST)}
    return names - counters - _functions_of(node)


def _functions_of(node: ast.AST) -> set[str]:
    calls: Iterable[ast.Call] = (n for n in ast.walk(node) if isinstance(n, ast.Call))
    return {c.func.id for c in calls if isinstance(c.func, ast.Name)}


class _Tidied(ast.NodeTransformer):
    """Signs that cancel are left out, and sums of negatives become differences: no bit changes."""

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.USub) and (positive := _without_sign(inner)) is not None:
            return positive
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            if (positive := _without_sign(node.right)) is not None:
                turned = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
                return ast.BinOp(node.left, turned, positive)
        return node


def _without_sign(node: ast.expr) -> ast.expr | None:
    """The negative of an expression that begins with a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        left = _without_sign(node.left)
        return None if left is None else ast.BinOp(left, node.op, node.right)
    if is_number(node) and node.value < 0:
        return ast.Constant(-node.value)
    return None


def tidied(node: ast.expr) -> ast.expr:
    """An expression without signs that cancel."""
    return ast.fix_missing_locations(_Tidied().visit(parsed(ast.unparse(node))))
